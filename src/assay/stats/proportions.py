"""Paired 0/1 scores: McNemar's tests and Tango's score interval, for one pair of systems or for all of them at once.

Of n items B alone is right on b and A alone on c. The difference of the shares is (b − c)/n.

- Test: McNemar's mid-p, 2·P(X < s) + P(X = s) with X ~ Bin(b + c, ½) and s = min(b, c), or the exact p 2·P(X ≤ s).
- Interval: the δ whose score statistic (b − c − nδ)/√(n(2q + δ(1 − δ))) is within the critical value, q the likeliest
  share of c under δ (Tango 1998). It needs no pair that differs.
- Clusters or weights: n, b and c are divided by the design effect of the difference (at least Kish's of the weights,
  since light items show nothing of heavy ones), and Student's t with Satterthwaite's degrees of freedom takes the place
  of the normal distribution. The test is the score statistic at 0, |b − c|/√((b + c)·deff), so that it and the interval
  agree by themselves.

`assay.stats.interval_and_test` makes the first pair agree. Coverage and size: `benchmarks/calibration_verdicts.py`.
Everything takes and gives arrays; numbers are arrays of one. No scipy: importing it takes 0.3 s.
"""

from dataclasses import dataclass
from math import inf, log, log1p, pi

import numpy as np
from numpy.typing import ArrayLike

from assay.stats.interval_and_test import agreeing
from assay.stats.numerics import SMALLEST_P, critical_values, two_sided
from assay.stats.units import Floats, Integers, Units, effective_number, shape, standard_error

FEWEST_DF = 2.0  # degrees of freedom that clusters and weights leave at least
_HALVINGS = 53
_BLOCK = 8192  # pairs whose arrays fit the cache


@dataclass(frozen=True, eq=False, slots=True)
class PairedShares:
    """The p-value of each pair and the limits of its difference, which leave out 0 exactly where p ≤ 1 − level."""

    low: Floats  # (P,)
    high: Floats  # (P,)
    p: Floats  # (P,)


def paired_shares(
    b: ArrayLike,
    c: ArrayLike,
    n: ArrayLike,
    *,
    level: float,
    exact: bool = False,
    deff: ArrayLike | None = None,
    df: ArrayLike | None = None,
) -> PairedShares:
    """Test and interval of the differences (b − c)/n of independent items, or, with ``deff`` and ``df``, of others.

    ``exact`` takes McNemar's exact p for the mid-p. For a family give the level of each interval (such as Šidák's),
    adjust the p-values, and hand limits and p to `agreement.agreeing` with the family's α.

    >>> found = paired_shares(1, 7, 21, level=0.95)  # the contact lenses of Tango (1998)
    >>> round(float(found.low[0]), 3), round(float(found.high[0]), 3), round(float(found.p[0]), 4)
    (-0.517, -0.026, 0.0391)
    """
    b, c, n = _rows(b, c, n)
    if deff is None or df is None:
        p = mcnemar_p(b, c, exact=exact)
        low, high = tango_limits(b, c, n, critical_values(level, inf))
    else:
        shrink = np.asarray(deff, dtype=np.float64)
        p = score_p(b, c, shrink, df)
        low, high = tango_limits(b / shrink, c / shrink, n / shrink, critical_values(level, df))
    return PairedShares(*agreeing(low, high, p, 1 - level, (b - c) / n), p)


def _rows(*parts: ArrayLike) -> tuple[Floats, ...]:
    whole = np.broadcast_arrays(*(np.atleast_1d(np.asarray(part, dtype=np.float64)) for part in parts))
    return tuple(whole)


# ---------------------------------------------------------------------------------------------------------------- tests


def mcnemar_p(b: ArrayLike, c: ArrayLike, *, exact: bool = False) -> Floats:
    """McNemar's mid-p (or exact p) of each pair of counts; 1 where no item differs, never 0."""
    b, c = (np.atleast_1d(np.asarray(part)).astype(np.int64) for part in (b, c))
    total, least = b + c, np.minimum(b, c)
    own = binomial_half(total, least)
    below = own * _ratio_below(total, least)
    p = 2 * (below + own) if exact else 2 * below + own
    return np.clip(np.where(2 * least == total, 1.0, p), SMALLEST_P, 1.0)


def binomial_half(n: ArrayLike, k: ArrayLike) -> Floats:
    """P(X = k), X ~ Bin(n, ½), to 13 digits however large n is."""
    n, k = (np.asarray(part, dtype=np.float64) for part in np.broadcast_arrays(n, k))
    with np.errstate(under="ignore"):
        return np.asarray(np.where((k > 0) & (k < n), binomial_mass(n, k, 0.5), np.exp2(-n)))


def binomial_mass(n: Floats, k: Floats, p: float) -> Floats:
    """P(X = k), X ~ Bin(n, p), 0 < p < 1, by Stirling's error and deviances (Loader 2000)."""
    inner = (k > 0) & (k < n)
    safe_n, safe_k = np.where(inner, n, 2.0), np.where(inner, k, 1.0)
    rest = safe_n - safe_k
    error = _stirling_error(safe_n) - _stirling_error(safe_k) - _stirling_error(rest)
    spread = _deviance(safe_k, safe_n * p) + _deviance(rest, safe_n * (1 - p))
    with np.errstate(under="ignore"):
        found = np.exp(error - spread) * np.sqrt(safe_n / (2 * pi * safe_k * rest))
        return np.asarray(np.where(inner, found, np.exp(n * np.where(k > 0, log(p), log1p(-p)))))


def binomial_cdf(n: Floats, k: Floats, p: float) -> Floats:
    """P(X ≤ k), X ~ Bin(n, p), 0 ≤ k < n, summed on k's side of the mean; without scipy, which loads long."""
    if not 0 < p < 1:
        return np.full(n.shape, 1.0 if p <= 0 else 0.0)
    below = k < n * p
    own, chance = np.where(below, k, n - k - 1), np.where(below, p, 1 - p)
    found = np.empty(n.shape)
    for side in (below, ~below):
        if side.any():
            q = float(chance[side][0])
            found[side] = binomial_mass(n[side], own[side], q) * (1 + _ratio_below(n[side], own[side], (1 - q) / q))
    return np.where(below, found, 1 - found)


def _ratio_below(n: Integers | Floats, k: Integers | Floats, odds: float = 1.0) -> Floats:
    """P(X < k)/P(X = k), X ~ Bin(n, p), odds (1 − p)/p, k ≤ np: Σ Π odds·(k − i + 1)/(n − k + i), term by term."""
    out, at = np.zeros(n.shape), np.arange(len(n))
    top, rest, term, i = k.astype(np.float64), (n - k).astype(np.float64), np.ones(n.shape), 0
    while len(at):
        i += 1
        term = term * (top - i + 1) / (rest + i) * odds
        out[at] += term
        going = term > 1e-17 * out[at]
        if not going.all():
            at, top, rest, term = at[going], top[going], rest[going], term[going]
    return out


def _stirling_error(n: Floats) -> Floats:
    """The logarithm of n! / (√(2πn) (n/e)ⁿ), by its series from 16 on and by the recurrence below."""
    shift = np.where(n < 16, 16.0, 0.0)
    x = n + shift
    y = 1 / (x * x)
    series = (1 / 12 - y * (1 / 360 - y * (1 / 1260 - y * (1 / 1680 - y / 1188)))) / x
    small = np.where(n < 16, n, 1.0)
    steps = np.arange(16)
    each = small[..., None] + steps
    down = ((each + 0.5) * np.log1p(1 / each) - 1).sum(axis=-1)
    return np.asarray(series + np.where(n < 16, down, 0.0))


def _deviance(x: Floats, mean: Floats) -> Floats:
    """x·log(x/mean) + mean − x, also where x is close to the mean."""
    gap = (x - mean) / mean
    with np.errstate(divide="ignore", invalid="ignore"):
        direct = (1 + gap) * np.log1p(gap) - gap
    v = gap / (2 + gap)  # log(1 + gap) = 2·atanh(v)
    w, term, odd = np.zeros_like(v), v, 1
    for _ in range(8):  # |gap| < 0.1: v² < 0.003
        term, odd = term * v * v, odd + 2
        w = w + term / odd
    close = v * gap + 2 * (1 + gap) * w
    return np.asarray(mean * np.where(np.abs(gap) < 0.1, close, direct))


def score_p(b: ArrayLike, c: ArrayLike, deff: ArrayLike, df: ArrayLike) -> Floats:
    """Two-sided p of (b − c)/√((b + c)·deff) against Student's t; 1 where nothing differs."""
    return two_sided(score_statistic(b, c, deff), df)


def score_statistic(b: ArrayLike, c: ArrayLike, deff: ArrayLike = 1.0) -> Floats:
    """(b − c)/√((b + c)·deff), 0 where nothing differs: Tango's statistic at a difference of 0."""
    b, c, deff = (np.asarray(part, dtype=np.float64) for part in (b, c, deff))
    total = (b + c) * deff
    return np.asarray((b - c) / np.sqrt(np.where(total > 0, total, 1.0)))


# ------------------------------------------------------------------------------------------------------------- interval


def tango_limits(b: ArrayLike, c: ArrayLike, n: ArrayLike, reach: ArrayLike) -> tuple[Floats, Floats]:
    """Tango's limits of (b − c)/n, by bisection; ``reach`` is the critical value. Counts need not be whole numbers."""
    b, c, n, reach = _rows(b, c, n, reach)
    if len(b) > _BLOCK and np.ptp(n) == np.ptp(reach) == 0:  # many pairs share their counts
        counts, place = np.unique(b + 1j * c, return_inverse=True)
        low, high = _tango(counts.real, counts.imag, np.full(len(counts), n[0]), np.full(len(counts), reach[0]))
        return low[place], high[place]
    return _tango(b, c, n, reach)


def _tango(b: Floats, c: Floats, n: Floats, reach: Floats) -> tuple[Floats, Floats]:
    low, high = np.empty(b.shape), np.empty(b.shape)
    for first in range(0, len(b), _BLOCK):
        rows = slice(first, first + _BLOCK)
        low[rows] = -_upper(c[rows], b[rows], n[rows], reach[rows])
        high[rows] = _upper(b[rows], c[rows], n[rows], reach[rows])
    return low, high


def tango_statistic(b: Floats, c: Floats, n: Floats, delta: Floats) -> Floats:
    """The score statistic of "the difference is delta"; it falls as delta grows."""
    variance = tango_variance(b, c, n, delta)
    top = b - c - n * delta
    return np.asarray(top / np.sqrt(np.where(variance > 0, variance, np.inf)))


def tango_variance(b: Floats, c: Floats, n: Floats, delta: Floats) -> Floats:
    """The variance of b − c if the difference is delta, with the likeliest share of c under it."""
    slope = (2 * n - b + c) * delta - b - c
    root = np.sqrt(np.maximum(slope * slope + 8 * n * c * delta * (1 - delta), 0.0))
    share = np.maximum(root - slope, 0.0) / (4 * n)  # q
    return np.asarray(n * (2 * share + delta * (1 - delta)))


def _upper(b: Floats, c: Floats, n: Floats, reach: Floats) -> Floats:
    """The largest difference whose statistic is still −reach or more."""
    low, high = (b - c) / n, np.ones(b.shape)
    for _ in range(_HALVINGS):
        middle = 0.5 * (low + high)
        inside = tango_statistic(b, c, n, middle) >= -reach
        low, high = np.where(inside, middle, low), np.where(inside, high, middle)
    return np.asarray(0.5 * (low + high))


# ------------------------------------------------------------------------------------------------- clusters and weights


def design_effects(
    variance: ArrayLike, b: ArrayLike, c: ArrayLike, n: ArrayLike, kish: ArrayLike, least: ArrayLike = 1.0
) -> Floats:
    """By how much clusters and weights multiply the variance of (b − c)/n, at least ``least``.

    ``variance`` is the estimate's, linearised (`units.standard_error` squared); b and c are n times the weighted
    shares; ``kish`` is the effective number of units drawn, with which n is compared where no difference is spread.

    ``least`` is Kish's design effect of the items' weights. Where the few items that differ happen to be light, what
    they show of the variance is next to nothing, although a heavy one might as well have differed.
    """
    b, c, n, variance, kish = (np.asarray(part, dtype=np.float64) for part in (b, c, n, variance, kish))
    independent = (b + c - (b - c) ** 2 / n) / (n * np.maximum(n - 1, 1))
    spread = independent > 1e-12 / n
    ratio = np.where(spread, variance / np.where(spread, independent, 1.0), n / kish)
    return np.asarray(np.maximum(ratio, least))


@dataclass(frozen=True, slots=True)
class Effective:
    """Counts of a pair whose items come in clusters or with weights, for `paired_shares`."""

    b: float
    c: float
    n: float
    deff: float
    df: float


def effective_counts(differences: Floats, weights: Floats, drawn: Units) -> Effective:
    """Counts b and c as n times their weighted shares, the design effect, and Satterthwaite's degrees of freedom.

    ``differences`` (n,) are −1, 0 or 1; ``drawn`` are the units (items or clusters) with their sums of weighted
    differences and of weights.
    """
    n, total = len(differences), float(weights.sum())
    least = n / effective_number(weights)
    b, c = (n * float(weights[differences == sign].sum()) / total for sign in (1, -1))
    mass = drawn.denominators / drawn.denominators.sum()
    kish, error = 1 / float((mass * mass).sum()), standard_error(drawn)
    deff = n / kish if error is None else float(design_effects(error**2, b, c, n, kish, least))
    form = shape(drawn)
    df = float(drawn.n - 1) if form is None else form.degrees_of_freedom
    return Effective(b, c, float(n), deff, max(df, FEWEST_DF))
