"""Confidence intervals of a ratio of sums: BCa, percentile, studentized, t, t with Hall's; and their p-values.

An interval's *own p* is the smallest α at which it leaves out 0. A BCa limit is read from the bootstrap distribution at
Φ(z0 + (z0 ± z)/(1 − a(z0 ± z))). It touches 0 where that is F(0), which is solved for z in closed form, and z for α;
the other intervals likewise. F(0) = P(Σ Nᵢ·numᵢ ≤ 0) does not depend on the denominators; where it is too small for
the distribution to tell, it comes from the saddlepoint approximation r* = w + log(u/w)/w (Barndorff-Nielsen 1991),
whose relative error is about 1/n.

References: Efron (1987), *Better bootstrap confidence intervals*; DiCiccio and Efron (1996), *Bootstrap confidence
intervals*; Hesterberg (2015), *What teachers should know about the bootstrap*, for the widened levels.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import inf, isfinite, log, sqrt
from typing import NamedTuple

import numpy as np

from assay.stats.bootstrap.drawn import DRAWN_FROM, drawn_replicates
from assay.stats.bootstrap.exact import BootstrapDistribution, bootstrap_distribution
from assay.stats.bootstrap.resampling import Replicates, replicates, studentized_replicates
from assay.stats.bootstrap.t_hall import limits as t_hall_limits
from assay.stats.bootstrap.t_hall import moments
from assay.stats.bootstrap.t_hall import own_p as t_hall_own_p
from assay.stats.bootstrap.tilted import Tilted
from assay.stats.compiled import Backend, compiling
from assay.stats.in_blocks import MANY
from assay.stats.numerics import increasing_root, normal_cdf, normal_quantile, t_quantile, two_sided
from assay.stats.records import Fallback, Interval, IntervalName
from assay.stats.student import t_reach
from assay.stats.units import Floats, Shape, Units, shape, standard_error
from assay.stats.which_interval import UnitFacts, interval_for

_RESOLVED = 1e-7  # of probability: what a Fourier series or a convolution can tell from 0
_BESIDE = 1e-11  # of the range of the values: beyond rounding, nearer than any atom
_RATIO_LOOP = "assay.stats.bootstrap.kernels_ratio.ratio_series"
STAND_IN_RESAMPLES = 10_000  # where there is no exact distribution and no number was requested


class Drawing(NamedTuple):
    """How random resamples are drawn."""

    seed: int
    backend: Backend = "auto"
    whole: bool = False  # of many units from the exact distribution, where it is known


@dataclass(frozen=True, slots=True)
class Mirrored:
    """The distribution of the negated estimate."""

    of: BootstrapDistribution

    @property
    def method(self) -> str:
        return self.of.method

    @property
    def note(self) -> str | None:
        return self.of.note

    def cdf(self, x: float) -> float:
        """P(R ≤ x); an atom at x counts half."""
        return 1 - self.of.cdf(-x)

    def quantiles(self, p: Sequence[float]) -> Floats:
        """The limits x with P(R ≤ x) = p."""
        return -self.of.quantiles([1 - one for one in p])


@dataclass(frozen=True, slots=True)
class IntervalResult:
    """An interval, where its distribution came from, and which fallbacks were taken."""

    interval: Interval
    source: str  # "characteristic function", "lattice", "enumeration", "resampling", "closed form"
    resamples: int | None  # random replicates used, if any
    degenerate: bool = False
    fallbacks: tuple[Fallback, ...] = ()
    own_p: float | None = None  # the smallest α at which it leaves out 0; None: not requested


def interval(
    units: Units,
    *,
    method: IntervalName = "bca",
    confidence_level: float = 0.95,
    resamples: int | None = None,
    seed: int = 0,
    backend: Backend = "auto",
    own_p: bool = False,
    drawn_whole: bool = False,
) -> IntervalResult:
    """The interval of Σ num / Σ den; ``resamples=None`` takes the distribution over infinitely many resamples.

    ``drawn_whole`` draws the resamples of many units from that distribution, and not unit by unit. ``auto`` is
    ``t-hall`` for few units and ``bca`` for others (`assay.stats.which_interval`). ``own_p`` asks for the interval's
    own p-value too.

    >>> import numpy as np
    >>> from assay.stats.units import Units
    >>> data = Units(np.array([3.0, 1, 4, 1, 5, 9, 2, 6, 5, 3]), np.ones(10))
    >>> found = interval(data, method="bca-plain")
    >>> found.source, round(found.interval.low, 2), round(found.interval.high, 2)
    ('lattice', 2.7, 5.6)
    """
    if method not in ("bca", "bca-plain", "percentile"):  # which need no facts
        method = interval_for(method, UnitFacts.of(units))
    drawing = Drawing(seed, backend, drawn_whole)
    if _leans_left(units):
        turned = Units(-units.numerators, units.denominators, units.probabilities)
        turned.__dict__["estimate"] = -units.estimate  # as a cached property keeps it
        found = _of_method(turned, method, confidence_level, resamples, drawing, own_p=own_p)
        if "exact_distribution" in turned.__dict__:
            units.__dict__["exact_distribution"] = Mirrored(turned.__dict__["exact_distribution"])
        low, high = 0.0 - found.interval.high, 0.0 - found.interval.low
        made = Interval(low, high, confidence_level, found.interval.method)
        return IntervalResult(made, found.source, found.resamples, found.degenerate, found.fallbacks, found.own_p)
    return _of_method(units, method, confidence_level, resamples, drawing, own_p=own_p)


def _leans_left(units: Units) -> bool:
    """Whether to compute B − A as A − B and mirror it, so that the two have the same limits to the last digit."""
    if units.estimate != 0:
        return units.estimate < 0
    scaled = units.numerators / (float(np.abs(units.numerators).max()) or 1.0)  # no cube over- or underflows
    return float((scaled**3).sum()) < 0


def _of_method(
    units: Units,
    method: IntervalName,
    confidence_level: float,
    resamples: int | None,
    drawing: Drawing,
    *,
    own_p: bool,
) -> IntervalResult:
    seed, backend = drawing.seed, drawing.backend
    if backend == "compiled" and not own_p and resamples is None and method not in ("t", "t-hall", "studentized"):
        found = _compiled(units, method, confidence_level)
        if found is not None:
            return found
    if units.n < 2 or units.degenerate:
        return _collapsed(units, method, confidence_level)
    if method == "t":
        return _linearised(units, confidence_level)
    if method == "t-hall":
        return _t_hall(units, confidence_level, own_p=own_p)
    if method == "studentized":
        return _studentized(units, confidence_level, resamples, seed, backend)
    distribution, fallbacks, used = _distribution(units, method, resamples, drawing)
    form = distribution.shape if isinstance(distribution, Tilted) else shape(units)
    p = bca_own_p(units, form, method, distribution) if own_p else None
    limits = bca_levels(units.n, form, method, confidence_level, distribution.cdf(units.estimate))
    if limits is None:
        fallbacks.append(
            Fallback(
                method, "percentile", "the acceleration is undefined: the jackknife variance is zero or too skewed"
            )
        )
        method, limits = "percentile", _central(confidence_level)
    least, most = units.extremes  # which a smoothed distribution might overstep
    low, high = (min(max(limit, least), most) for limit in distribution.quantiles(limits).tolist())
    made = Interval(low, high, confidence_level, method)
    return IntervalResult(made, distribution.method, used, fallbacks=tuple(fallbacks), own_p=p)


def _collapsed(units: Units, method: str, level: float) -> IntervalResult:
    why = "one unit" if units.n < 2 else "all units have the same value"
    fallback = Fallback(method, "collapsed interval", f"{why}: there is no spread to resample")
    return IntervalResult(
        Interval(units.estimate, units.estimate, level, "degenerate"),
        "closed form",
        None,
        degenerate=True,
        fallbacks=(fallback,),
        own_p=1.0 if units.estimate == 0 else 0.0,
    )


def _linearised(units: Units, level: float) -> IntervalResult:
    """R̂ ± t·se with n − 1 degrees of freedom, se by linearisation (Taylor, delta method)."""
    error = standard_error(units)
    assert error is not None  # n ≥ 2 was checked
    reach = t_quantile(0.5 + level / 2, units.n - 1) * error
    limits = Interval(units.estimate - reach, units.estimate + reach, level, "t")
    return IntervalResult(limits, "closed form", None, own_p=t_own_p(units))


def _t_hall(units: Units, level: float, *, own_p: bool) -> IntervalResult:
    found = moments(units)
    made = Interval(*t_hall_limits(found, level), level, "t-hall")
    return IntervalResult(made, "closed form", None, own_p=t_hall_own_p(found) if own_p else None)


def _studentized(units: Units, level: float, resamples: int | None, seed: int, backend: Backend) -> IntervalResult:
    """R̂ − q·se with the quantiles q of (R* − R̂)/se*."""
    count = resamples or STAND_IN_RESAMPLES
    error, values = standard_error(units), studentized_replicates(units, count, seed, backend)
    assert error is not None
    if len(values) < 2 or not np.ptp(values) > 1e-9:
        why = "every resample with spread has the same studentized value: too few different units"
        return replace(_linearised(units, level), fallbacks=(Fallback("studentized", "t", why),))
    tail = 0.5 - level / 2
    high, low = np.quantile(values, [tail, 1 - tail]).tolist()
    made = Interval(units.estimate - low * error, units.estimate - high * error, level, "studentized")
    lost = count - len(values)
    why = f"{lost} of {count} resamples drew units without spread and have no standard error"
    fallbacks = (Fallback("studentized", "the other resamples", why),) if lost else ()
    p = studentized_own_p(units.estimate / error, values)
    return IntervalResult(made.around(units.estimate), "resampling", count, fallbacks=fallbacks, own_p=p)


def _distribution(
    units: Units, method: str, resamples: int | None, drawing: Drawing
) -> tuple[BootstrapDistribution, list[Fallback], int | None]:
    seed = drawing.seed
    if resamples is not None:
        known = _exact(units, drawing.backend) if drawing.whole and units.n >= DRAWN_FROM else None
        if known is not None and known.note is None:
            return drawn_replicates(known, resamples, seed), [], resamples
        return replicates(units, resamples, seed, drawing.backend), [], resamples
    exact = _exact(units, drawing.backend)
    if exact is None:
        why = "the distribution is too uneven to invert to 1 % of a standard error (a dominating unit among many)"
        used = Fallback(f"exact {method}", f"{STAND_IN_RESAMPLES} random resamples", why)
        return replicates(units, STAND_IN_RESAMPLES, seed), [used], STAND_IN_RESAMPLES
    if exact.note is None:
        return exact, [], None
    why = "its characteristic function does not decay: few units carry the spread"
    return exact, [Fallback(f"exact {method}", f"exact {method}, {exact.note}", why)], None


def _exact(units: Units, backend: Backend) -> BootstrapDistribution | None:
    """The distribution over all resamples; that of many units is kept with them, for the chart needs it again."""
    if units.n < MANY:
        return _ratio(units, backend) or bootstrap_distribution(units)
    kept = units.__dict__
    if "exact_distribution" not in kept:
        kept["exact_distribution"] = bootstrap_distribution(units)
    found: BootstrapDistribution | None = kept["exact_distribution"]
    return found


def _ratio(units: Units, backend: Backend) -> BootstrapDistribution | None:
    """The distribution of a ratio of unequal sums by compiled loops, where they were asked for and apply.

    Their last digits are not those of numpy, so that they are never taken unasked: the same data have the same limits
    wherever and however often they are computed.
    """
    if backend != "compiled" or units.equal_denominators:
        return None
    from assay.stats.bootstrap.kernels_ratio import compiled_ratio  # late: importing numba takes half a second

    with compiling(_RATIO_LOOP):
        return compiled_ratio(units)


def bootstrap_of(units: Units, *, resamples: int | None = None, seed: int = 0) -> BootstrapDistribution:
    """The distribution that bootstrap intervals of these units are read from."""
    return _distribution(units, "", resamples, Drawing(seed))[0]


def _central(level: float) -> tuple[float, float]:
    return 0.5 - level / 2, 0.5 + level / 2


def _compiled(units: Units, method: IntervalName, level: float) -> IntervalResult | None:
    """The exact interval in compiled passes, where they apply."""
    from assay.stats.bootstrap.kernels_exact import compiled_series  # late: importing numba takes half a second

    series = compiled_series(units)
    limits = None if series is None else bca_levels(units.n, series.shape, method, level, series.cdf(series.estimate))
    if series is None or limits is None:
        return None
    low, high = series.quantiles(limits).tolist()
    if not low <= high:  # also where Newton's method gave up
        return None
    return IntervalResult(Interval(low, high, level, method), series.method, None)


def bca_levels(n: int, form: Shape | None, method: str, level: float, below: float) -> tuple[float, float] | None:
    """The two probabilities at which the bootstrap distribution is read; ``None`` where BCa's are undefined."""
    low, high = _central(level)
    if method == "percentile":
        return low, high
    bias = normal_quantile(below)
    if form is None or not isfinite(bias):
        return None
    if method == "bca-plain":
        z, trust = normal_quantile(high), 1.0
    else:
        z, trust = _widened(form, n, level), form.trust
    return _corrected(trust * bias, trust * form.acceleration, z)


def _widened(form: Shape, n: int, level: float) -> float:
    """Student's t for the normal quantile, and n/(n − 1): the variance was estimated, from few units or heavy tails."""
    return t_reach(level, round(form.degrees_of_freedom, 6)) * sqrt(n / (n - 1))


def _corrected(bias: float, acceleration: float, z: float) -> tuple[float, float] | None:
    """Efron's Φ(z0 + (z0 ± z)/(1 − a(z0 ± z)))."""
    low, high = bias - z, bias + z
    below, above = 1 - acceleration * low, 1 - acceleration * high
    if below <= 0 or above <= 0:
        return None
    return normal_cdf(bias + low / below), normal_cdf(bias + high / above)


# ----------------------------------------------------------------------------------------------- own p-values


def bca_own_p(units: Units, form: Shape | None, method: str, distribution: BootstrapDistribution) -> float:
    """The own p-value of a ``bca``, ``bca-plain`` or ``percentile`` interval read from this distribution."""
    estimate = units.estimate
    if estimate == 0:
        return 1.0
    side = 1 if estimate > 0 else -1
    return own_p_at(
        side, _z_of_zero(units, distribution, side), units.n, form, method, normal_quantile(distribution.cdf(estimate))
    )


def own_p_at(side: int, z_of_zero: float, n: int, form: Shape | None, method: str, bias: float) -> float:
    """The same, from Φ⁻¹(F(0)) and Φ⁻¹(F(estimate)); ``side`` is the sign of the estimate."""
    percentile = min(1.0, 2 * normal_cdf(side * z_of_zero))
    if method == "percentile" or form is None or not abs(bias) < inf:
        return percentile
    trust = form.trust if method == "bca" else 1.0
    bias, acceleration = trust * bias, trust * form.acceleration
    gap = z_of_zero - bias
    if not abs(gap) < inf:
        return 0.0
    divisor = 1 + acceleration * gap
    if divisor <= 0:  # no z is large enough
        return 0.0
    z = side * (bias - gap / divisor)
    if z <= 0:
        return 1.0
    if method == "bca-plain":
        return float(two_sided(z, inf)[0])
    return float(two_sided(z / sqrt(n / (n - 1)), form.degrees_of_freedom)[0])


def t_own_p(units: Units) -> float:
    """The own p-value of R̂ ± t·se: Student's test."""
    error = standard_error(units)
    assert error is not None  # there are two units
    return float(two_sided(units.estimate / error, units.n - 1)[0])


def studentized_own_p(statistic: float, values: Floats) -> float:
    """The own p-value of R̂ − q·se: the share of the sorted studentized replicates (R* − R̂)/se* beyond R̂/se, twice."""
    share = float(np.interp(abs(statistic), np.sort(np.sign(statistic) * values), np.linspace(0, 1, len(values))))
    return min(1.0, 2 * (1 - share))


def _z_of_zero(units: Units, distribution: BootstrapDistribution, side: int) -> float:
    """Φ⁻¹ of the probability that a resample is on the other side of 0, or at 0."""
    least, most = units.extremes
    if side * (least if side > 0 else most) > 0:  # all units are on one side, and so is every resample
        return -side * inf
    beside = side * _BESIDE * (most - least)
    if isinstance(distribution, Replicates):  # whose limits are interpolated
        return normal_quantile(distribution.place_of(beside))
    below = distribution.cdf(beside)
    tail = below if side > 0 else 1 - below
    if tail > _RESOLVED or distribution.method == "enumeration":
        return normal_quantile(below)
    return -side * _far_from_zero(side * units.numerators, units.probabilities)


def _far_from_zero(values: Floats, probabilities: Floats | None) -> float:
    """The r with Φ(−r) = P(Σ of n draws ≤ 0), for values with a positive mean and a smallest one of 0 or less."""
    n, y = len(values), values / np.abs(values).max()
    share = np.full(n, 1 / n) if probabilities is None else probabilities
    if y.min() == 0:  # only draws of nothing but zeros are not above 0
        return _z_of_power(float(share[y == 0].sum()), n)

    def tilted(s: float) -> Floats:
        weight = share * np.exp(s * y - (s * y).max())
        return np.asarray(weight / weight.sum())

    s = increasing_root(lambda x: float((tilted(x) * y).sum()), -1.0, 1.0)
    weight = tilted(s)
    top = float((s * y).max())
    cumulant = top + log(float((share * np.exp(s * y - top)).sum()))  # of one draw, below 0
    mean = float((weight * y).sum())
    w = sqrt(-2 * n * cumulant)
    u = -s * sqrt(n * float((weight * (y - mean) ** 2).sum()))
    return w + log(u / w) / w


def _z_of_power(share: float, n: int) -> float:
    """The r with Φ(−r) = shareⁿ; where that underflows, by the tail's own approximation φ(r)/r."""
    log_p = n * log(share)
    if log_p > -700:
        return -normal_quantile(share**n)
    r = sqrt(-2 * log_p)
    for _ in range(4):
        r = sqrt(-2 * (log_p + log(r) + 0.5 * log(2 * np.pi)))
    return r
