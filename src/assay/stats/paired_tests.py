"""Paired tests (sign flips, Student, Wilcoxon) and effect sizes of a paired difference.

*Sign flips*: if A and B do not differ, every unit's difference could as well have had the other sign. p is the share of
the 2ⁿ sign vectors whose |Σ ±dᵢ| reaches the observed |Σ dᵢ|. It is exact wherever that is possible:

- by counting, when few sign vectors reach the observed sum;
- by convolution, when the differences lie on a lattice (for 0/1 scores it is McNemar's exact test);
- by two sorted halves that meet in the middle, when there are few units, or few that differ from the rest;
- by inverting the characteristic function Π cos(u dᵢ) otherwise, under an exponential tilt that puts the observed
  sum at the centre, so that a p-value of 10⁻³⁰ has as many correct digits as one of 0.3 (Lugannani and Rice 1980
  use the same tilt for their approximation). Where it does not decay it is cut off and smoothed, and recorded;
- of many units none of which is large, by the same inversion from their moments (`assay.stats.many_flips`);
- by random flips only where that would blur p by more than 0.2 %, p = (1 + #) / (1 + B).

The observed sum is one of the 2ⁿ, so p is never 0. Sums equal to the observed one up to rounding count as reaching
it.

*Effect sizes*: d_z, d_av and Hedges' g, each with an interval (C5). The t statistic of a standardised difference is
noncentral t; the limits of its noncentrality, scaled by se/sd, are the limits of the effect size (Cumming and Finch
2001; Algina and Keselman 2003 for d_av). With clusters or unequal denominators the standard error is the linearised one
and the degrees of freedom are those of the clusters.
"""

from dataclasses import dataclass
from math import ceil, exp, expm1, frexp, hypot, isfinite, lgamma, log, pi, sqrt, tanh

import numpy as np
from numpy.typing import NDArray

from assay.stats.bootstrap.exact import Lattice, find_lattice
from assay.stats.bootstrap.fourier import (
    BLOCK,
    CHUNK,
    DECAYED,
    LONGEST,
    WORK,
    Complexes,
    last_revival,
    one_clump,
    powers_of,
)
from assay.stats.in_blocks import MANY
from assay.stats.many_flips import many_flips
from assay.stats.numerics import SMALLEST_P, increasing_root, noncentrality
from assay.stats.records import Estimate, Fallback, Interval, Test
from assay.stats.streams import signs, stream_key
from assay.stats.units import Floats, Units, deviation_of_difference, standard_error, weighted_deviation

_MOST_COUNTED = 1 << 16  # sign vectors
_ALL_TINY = 1100  # units: with more than these, what can be counted has a probability that underflows
_MOST_HALVED = 18  # log₂ of the sums of either half
_EQUAL = 1e-12  # differences closer than this are equal up to rounding
_TIE = 1e-9  # of Σ|d|: sums closer than this to the observed one are equal to it
_REACH = 7.7  # Hoeffding: a sum of ±d strays further than this many √Σd² with probability 3e-13
_MOST_DISTINCT = 4096  # sizes on one lattice
_MOST_LATTICE = 1 << 18  # points
_MOST_FACTORS = 1 << 22  # points × distinct sizes
_MOST_SMOOTHED = 0.06  # s × kernel width: its square, halved, is the relative bias of p
STAND_IN_FLIPS = 20_000
RANDOM_FLIPS = f"{STAND_IN_FLIPS:,} random sign flips"


def sign_flip(differences: Floats, *, seed: int = 0, name: str = "sign-flip") -> tuple[Test, tuple[Fallback, ...]]:
    """Two-sided sign-flip test of paired differences (for clustered data: of the clusters' sums).

    >>> import numpy as np
    >>> test, _ = sign_flip(np.array([1.0, 2.0, 3.0, 4.0, 5.0]))
    >>> test.p_value  # only all plus and all minus reach |15|: 2 of 32
    0.0625
    """
    n = len(differences)
    if n >= MANY and (many := many_flips(differences)) is not None:
        return _test_of(name, *many, n), ()
    size = np.sort(np.abs(differences[differences != 0]))
    if not len(size):
        return Test(name, 0.0, 1.0, n, None if n else "no pairs"), ()
    scale = sqrt(float((size / size[-1] * (size / size[-1])).sum())) * float(size[-1])
    size, observed = size / scale, abs(float((differences / scale).sum()))
    p, fallbacks = _p_value(size, observed, seed)
    return _test_of(name, float((differences / scale).sum()), p, n), fallbacks


def _test_of(name: str, statistic: float, p: float, n: int) -> Test:
    reason = None if p >= SMALLEST_P else f"p is below {SMALLEST_P:g}"
    return Test(name, statistic, min(1.0, max(p, SMALLEST_P)), n, reason)


def _p_value(size: Floats, observed: float, seed: int) -> tuple[float, tuple[Fallback, ...]]:
    """Both tails; ``size`` is sorted, positive, and has Σ size² = 1."""
    if observed <= _TIE:
        return 1.0, ()
    for exact in (_by_counting, _by_convolution, _by_halves):
        p = exact(size, observed)
        if p is not None:
            return p, ()
    why = "the characteristic function does not decay: few units carry the spread"
    inverted = _by_inversion(size, observed)
    if inverted is None:
        used = Fallback("exact sign flips", RANDOM_FLIPS, why)
        return by_random_flips(size, observed, STAND_IN_FLIPS, seed), (used,)
    p, width = inverted
    smoothed = Fallback("exact sign flips", f"exact sign flips, smoothed by {width:.1g} standard deviations", why)
    return p, (smoothed,) if width else ()


def _by_counting(size: Floats, observed: float) -> float | None:
    """Count the subsets that may be flipped from all-plus without falling below the observed sum."""
    total = float(size.sum())
    budget = (total - observed + _TIE * total) / 2
    most = _MOST_COUNTED if len(size) <= _ALL_TINY else _ALL_TINY
    flipped = np.zeros(1)
    for d in size.tolist():
        if d > budget:
            break
        flipped = np.concatenate([flipped, flipped[flipped + d <= budget] + d])
        if len(flipped) > most:
            return None
    return float(2 * len(flipped) * 0.5 ** len(size))


def _by_halves(size: Floats, observed: float) -> float | None:
    """All sums, each as one of the first half plus one of the sorted second half; equal differences go together."""
    first = np.flatnonzero(np.diff(size, prepend=-1.0) > _EQUAL)
    value, count = size[first], np.diff(first, append=len(size))
    if max(float(np.log2(count[start::2] + 1.0).sum()) for start in (0, 1)) > _MOST_HALVED:
        return None
    sums, mass = _all_sums(value[::2], count[::2])
    others, weight = _all_sums(value[1::2], count[1::2])
    order = np.argsort(others)
    tail = np.append(np.cumsum(weight[order][::-1])[::-1], 0.0)
    reached = np.searchsorted(others[order], observed - _TIE * float(size.sum()) - sums)
    return 2 * float((mass * tail[reached]).sum())


def _all_sums(value: Floats, count: NDArray[np.int64]) -> tuple[Floats, Floats]:
    """Every sum of ±value, each ``count`` times, and its probability."""
    sums, mass = np.zeros(1), np.ones(1)
    for d, c in zip(value.tolist(), count.tolist(), strict=True):
        ratios = np.arange(c, 0, -1) / np.arange(1, c + 1)  # C(c, k)/C(c, k − 1)
        chosen = np.exp(np.append(0.0, np.cumsum(np.log(ratios))) - c * log(2))
        sums = np.add.outer(sums, d * np.arange(-c, c + 1, 2)).ravel()
        mass = np.multiply.outer(mass, chosen).ravel()
    return sums, mass


def _tilt(size: Floats, observed: float) -> tuple[float, float]:
    """The s with Σ d·tanh(s·d) = observed, and log of E exp(s(T − observed))."""
    s = increasing_root(lambda x: float((size * np.tanh(x * size)).sum()) - observed, observed, 0.5)
    x = s * size
    log_cosh = x + np.log1p(np.exp(-2 * x)) - log(2)
    return s, float(log_cosh.sum()) - s * observed


def _lattice(size: Floats) -> Lattice | None:
    if int((size[1:] != size[:-1]).sum()) >= _MOST_DISTINCT:  # sorted, so that they are counted in no time
        return None
    return find_lattice(np.concatenate([[0.0], size]), most_distinct=_MOST_DISTINCT, thorough=True)


def _by_convolution(size: Floats, observed: float) -> float | None:
    """Differences on a lattice: the distribution of the tilted sum by one FFT pair."""
    lattice = _lattice(size)
    if lattice is None:
        return None
    step, count = np.unique(lattice.steps[1:], return_counts=True)  # the distinct sizes, as integers
    span, top = lattice.span, int((step * count).sum())
    least = round((top + observed / span) / 2)  # the sum of the positive differences that is just reached
    if least >= top:
        return float(2 * 0.5 ** len(size))
    window = int(min(2 * top + 1, _REACH / span + 3))  # with 2·top nothing from below the observed sum wraps above it
    half = 1 << (window.bit_length() - 1)
    if 2 * half > _MOST_LATTICE or 2 * half * len(step) > _MOST_FACTORS:
        return None
    s, log_scale = _tilt(size, observed)
    angle = pi / half * np.arange(half + 1)
    transform = np.exp(-1j * angle * least)  # the observed sum comes to index 0
    for q, c in zip(step.tolist(), count.tolist(), strict=True):
        plus = 0.5 * (1 + tanh(s * span * q))
        transform = transform * (1 - plus + plus * np.exp(1j * (angle * q))) ** c
    mass = np.fft.irfft(np.conj(transform))[:half]
    above = np.maximum(mass, 0) * np.exp(-2 * s * span * np.arange(half))
    return 2 * exp(log_scale) * float(above.sum())


def _by_inversion(size: Floats, observed: float) -> tuple[float, float] | None:
    """P(T ≥ t) = e^{K(s) − st} ∫₀^∞ e^{−sz} f(t + z) dz for the tilted density f, as a Fourier series.

    Also how far the series was smoothed, in standard deviations; ``None`` if that would bias p by more than 0.2 %.
    """
    lattice = _lattice(size)
    t = observed - (lattice.span if lattice else 0.0)  # on a fine lattice half-way to the sum below, so that ties count
    s, log_scale = _tilt(size, t)
    first = pi / _REACH
    psi, decayed = _characteristic(size, np.tanh(s * size), first)
    u = first * np.arange(1, len(psi) + 1)
    width = 0.0 if decayed else sqrt(-2 * log(DECAYED)) / float(u[-1])
    if s * width > _MOST_SMOOTHED:
        return None
    centred = psi * np.exp(-1j * u * t - 0.5 * (width * u) ** 2)
    slope = s + 1j * u
    area = (centred * (1 - np.exp(-slope * _REACH)) / slope).real.sum()
    centre = -expm1(-s * _REACH) / s if s > 0 else _REACH
    above = exp(log_scale) * (centre + 2 * float(area)) / (2 * _REACH)
    own = 0.0 if lattice else 0.5 ** len(size)  # without a lattice, half of the observed sum's own atom is below t
    return 2 * above + own, width


def _characteristic(size: Floats, tilt: Floats, first: float) -> tuple[Complexes, bool]:
    """(K,) Π (cos ud + i·tanh(sd)·sin ud) until it has decayed, and whether it has within the budget."""
    budget = min(max(WORK / len(size), BLOCK), LONGEST)
    least = _last_revival(size, tilt) / first
    psi = np.empty(0, dtype=np.complex128)
    while len(psi) < budget:
        begun = len(psi) // BLOCK
        blocks = min(max(begun, 1), max(CHUNK // len(size), 1), ceil(budget / BLOCK) - begun)
        found = _product(size, tilt, first, begun, blocks)
        psi = np.concatenate([psi, found.ravel()])
        quiet = np.flatnonzero((np.abs(found[:, -4:]) < DECAYED).all(axis=1))
        for done in (BLOCK * (begun + 1 + quiet)).tolist():
            # Near a lattice ψ decays and revives: one quiet block proves nothing.
            if done >= least and (not least or bool((np.abs(psi[done // 2 : done]) < DECAYED).all())):
                return psi[:done], True
    return psi, False


def _last_revival(size: Floats, tilt: Floats) -> float:
    """From which frequency on the characteristic function of the flipped sum cannot revive."""
    if one_clump(-float(size[-1]), size, -size):
        return 0.0
    return last_revival(np.concatenate([size, -size]), np.tile(0.5 * (1 - tilt * tilt), 2))


def _product(size: Floats, tilt: Floats, first: float, begun: int, blocks: int) -> Complexes:
    """(blocks, BLOCK) of the product, after so many that were begun before."""
    total = np.ones((blocks, BLOCK), dtype=np.complex128)
    for low in range(0, len(size), CHUNK):
        angle = first * size[low : low + CHUNK]
        factors = powers_of(angle, BLOCK)
        if begun:
            turned = BLOCK * np.arange(begun, begun + blocks)[:, None] * angle
            factors = factors * (np.cos(turned) + 1j * np.sin(turned))[:, None]  # (blocks, BLOCK, n)
        factors.imag *= tilt[low : low + CHUNK]
        total *= factors.prod(axis=-1)
    return total


def by_random_flips(size: Floats, observed: float, resamples: int, seed: int) -> float:
    """(1 + #{|Σ ±d| ≥ observed}) / (1 + B)."""
    key, n = stream_key(seed, "sign-flip"), len(size)
    threshold = observed - _TIE * float(size.sum())
    batch, reached = max(1, (1 << 22) // n), 0
    for first in range(0, resamples, batch):
        rows = min(batch, resamples - first)
        plus = signs(key, first, rows, n)
        sums = 2 * np.where(plus, size, 0.0).sum(axis=1) - size.sum()
        reached += int((np.abs(sums) >= threshold).sum())
    return (1 + reached) / (1 + resamples)


def t_test(units: Units) -> Test:
    """R̂/se against Student's t with n − 1 degrees of freedom; with equal denominators the paired t-test."""
    error = standard_error(units)
    if error is None or error <= 0 or units.degenerate:
        reason = "one unit" if error is None else "all differences are equal: the standard error is 0"
        return Test("t", None, None, units.n, reason)
    from scipy.special import stdtr  # late

    statistic = units.estimate / error
    return Test("t", statistic, max(float(2 * stdtr(units.n - 1, -abs(statistic))), SMALLEST_P), units.n)


def wilcoxon(differences: Floats) -> Test:
    """Wilcoxon's signed-rank test of the units' values num/den, zero differences by Pratt's rule."""
    n = len(differences)
    if not np.any(differences):
        return Test("wilcoxon", 0.0, 1.0, n, "all differences are 0")
    from scipy.stats import wilcoxon as scipy_wilcoxon  # late

    found = scipy_wilcoxon(differences, zero_method="pratt")
    p = float(found.pvalue)
    if not isfinite(p):
        return Test("wilcoxon", float(found.statistic), None, n, "the ranks have no variance")
    return Test("wilcoxon", float(found.statistic), max(p, SMALLEST_P), n)


@dataclass(frozen=True, slots=True)
class ArmValues:
    """The two arms unit by unit: values num/den and the weights den."""

    a: Floats  # (n,)
    b: Floats  # (n,)
    weights: Floats  # (n,)


def effect_sizes(arms: ArmValues, drawn: Units, confidence_level: float) -> dict[str, Estimate]:
    """d_z (difference over its own spread), Hedges' g (d_z without its bias), d_av (over the arms' mean spread)."""
    arms, drawn = _in_range(arms, drawn)
    n, difference = len(arms.a), drawn.estimate
    error = standard_error(drawn)
    spread = deviation_of_difference(arms.a, arms.b, arms.weights) or 0.0
    average = hypot(*(weighted_deviation(arm, arms.weights) or 0.0 for arm in (arms.a, arms.b))) / sqrt(2)
    if error is None or error <= 0 or spread <= 0 or drawn.degenerate:
        reason = "one unit" if error is None else "all differences are equal"
        return {name: Estimate(None, None, None, n, reason) for name in ("d_z", "hedges_g", "d_av")}
    df = drawn.n - 1
    t, tail = difference / error, 0.5 - confidence_level / 2
    limits = (noncentrality(1 - tail, t, df), noncentrality(tail, t, df))

    def scaled(by: float) -> Estimate:
        low, high = (limit * error * by for limit in limits)
        return Estimate(difference * by, Interval(low, high, confidence_level, "noncentral t"), None, n)

    unbiased = hedges_factor(df)
    return {
        "d_z": scaled(1 / spread),
        "hedges_g": Estimate(None, None, None, n, "two units: d_z has no expectation to correct")
        if unbiased is None
        else scaled(unbiased / spread),
        "d_av": scaled(1 / average),  # an arm varies, as the differences do
    }


def _in_range(arms: ArmValues, drawn: Units) -> tuple[ArmValues, Units]:
    """The same in a unit in which the largest value is about 1: an effect size has none, and 1/1e-320 is no number."""
    largest = max(max(float(arm.max()), -float(arm.min())) for arm in (arms.a, arms.b))
    power = -frexp(largest)[1]
    if abs(power) < 900:
        return arms, drawn
    a, b, top = (np.ldexp(part, power) for part in (arms.a, arms.b, drawn.numerators))
    return ArmValues(a, b, arms.weights), Units(top, drawn.denominators, drawn.probabilities)


def hedges_factor(df: float) -> float | None:
    """Hedges' J: the exact factor that removes the bias of a standardised difference; none for 1 degree of freedom."""
    return exp(lgamma(df / 2) - lgamma((df - 1) / 2) - 0.5 * log(df / 2)) if df > 1 else None
