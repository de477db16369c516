"""Intervals of several ratios of sums that hold all at once, and p-values adjusted for how many there are: max-T.

The ratios R_k = Σᵢ num_ik / Σᵢ den_ik share their clusters i (documents), so their errors are correlated, and whole
clusters are drawn with replacement for all ratios together. With t*_k = (R*_k − R_k) / se*_k in a resample, the
critical value c is the quantile of max_k |t*_k|; R_k ± c·se_k then holds for all k at once, and the adjusted p-value of
R_k = 0 is P(max |t*| ≥ |R_k / se_k|). Both come from the same replicates, so p ≤ 1 − level exactly where the interval
leaves out 0.

References: Westfall and Young (1993), *Resampling-based multiple testing*, single-step max-T; Romano and Wolf (2005),
*Exact and approximate stepdown methods for multiple hypothesis testing*, for the studentized bootstrap.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, sqrt

import numpy as np
from numpy.typing import NDArray

from assay.errors import UsageError
from assay.stats.bootstrap.resampling import loop_of, resampled_sums
from assay.stats.compiled import Backend, compiles
from assay.stats.numerics import SMALLEST_P, t_cdf, t_quantile
from assay.stats.records import Estimate, Interval, Test
from assay.stats.units import Floats, Units, shape, standard_error

FEWEST = 10  # clusters: below, too many resamples hold one cluster only, and have no standard error
MOST_GROUPS = 2_000  # more clusters are drawn in so many groups, whose sums have the same skewness in total
_LOST = 0.02  # of 1 − level: the share of resamples without spread up to which a ratio can be resampled
_COMPILE_ABOVE = 3e7  # draws × columns


@dataclass(frozen=True, eq=False, slots=True)
class Family:
    """K ratios of sums over the same n clusters; a cluster whose denominator is 0 has no part in that ratio."""

    numerators: Floats  # (n, K), 0 where the denominator is
    denominators: Floats  # (n, K), 0 or positive

    @property
    def size(self) -> int:
        return int(self.numerators.shape[1])

    def units(self, k: int) -> Units | None:
        """The clusters of one ratio; ``None`` where it has none."""
        present = self.denominators[:, k] > 0
        if not present.any():
            return None
        return Units(self.numerators[present, k], self.denominators[present, k])


@dataclass(frozen=True, slots=True)
class Simultaneous:
    """For each ratio its estimate with an interval that holds for all at once, and its adjusted test of 0."""

    estimates: tuple[Estimate, ...]
    tests: tuple[Test, ...]
    critical_value: float | None  # in standard errors; None: no ratio could be resampled


@dataclass(frozen=True, slots=True)
class _Ratio:
    """One ratio, its error, and whether it has one."""

    value: float | None
    error: float | None
    n: int
    reason: str | None  # why there is no interval, or why it has collapsed
    degrees_of_freedom: float = 0.0  # Satterthwaite's, of the error: few where few clusters carry the spread

    @property
    def spread(self) -> bool:
        return self.reason is None

    @property
    def statistic(self) -> float:
        assert self.value is not None
        assert self.error is not None
        return self.value / self.error


def simultaneous(
    family: Family,
    *,
    confidence_level: float = 0.95,
    resamples: int = 10_000,
    seed: int = 0,
    purpose: str = "max-t",
    backend: Backend = "auto",
) -> Simultaneous:
    """Max-T intervals and p-values of a family of ratios of sums.

    A ratio with fewer than 10 clusters, or with few that carry its spread, cannot be resampled; it gets its
    Bonferroni share of 1 − level and Student's t, the others share what is left.

    >>> import numpy as np
    >>> values = np.random.default_rng(5).normal([0.0, 0.0, 1.0], 1.0, (50, 3))
    >>> found = simultaneous(Family(values, np.ones((50, 3))))
    >>> [test.p_value <= 0.05 for test in found.tests]
    [False, False, True]
    """
    ratios = [_ratio(family.units(k)) for k in range(family.size)]
    counted = [k for k, ratio in enumerate(ratios) if ratio.spread]
    many = [k for k in counted if ratios[k].n >= FEWEST]
    alpha = 1 - confidence_level
    statistics = _resampled(family, many, resamples, seed, purpose, backend)
    kept = _with_spread(statistics, _LOST * alpha)
    largest = np.sort(statistics[:, kept].max(axis=1, initial=0.0))
    resampled = [k for k, keep in zip(many, kept, strict=True) if keep]
    share = len(resampled) / max(len(counted), 1)
    critical = critical_value_of(largest, alpha * share) if resampled else None
    pairs = []
    for k, ratio in enumerate(ratios):
        if not ratio.spread:
            pairs.append(_without_spread(ratio, confidence_level))
        elif critical is not None and k in resampled:
            p = _p_of_max(largest, abs(ratio.statistic)) / share
            pairs.append(_adjusted(ratio, critical, p, "max-t", confidence_level))
        else:
            pairs.append(_bonferroni(ratio, confidence_level, len(counted)))
    return Simultaneous(tuple(pair[0] for pair in pairs), tuple(pair[1] for pair in pairs), critical)


def _ratio(units: Units | None) -> _Ratio:
    if units is None:
        return _Ratio(None, None, 0, "no cluster has it")
    if units.n < 2:
        return _Ratio(units.estimate, None, 1, "one cluster has no standard error")
    error = standard_error(units)
    assert error is not None
    form = shape(units)
    if units.degenerate or error <= 0 or form is None:
        return _Ratio(units.estimate, error, units.n, "all clusters have the same value")
    return _Ratio(units.estimate, error, units.n, None, round(form.degrees_of_freedom, 6))


def _without_spread(ratio: _Ratio, level: float) -> tuple[Estimate, Test]:
    limits = None
    if ratio.error is not None and ratio.value is not None:
        limits = Interval(ratio.value, ratio.value, level, "degenerate")
    equal = limits is not None and ratio.value == 0
    test = Test("max-t", None, 1.0 if equal else None, ratio.n, ratio.reason)
    return Estimate(ratio.value, limits, ratio.error, ratio.n, ratio.reason), test


def _adjusted(ratio: _Ratio, reach: float, p: float, method: str, level: float) -> tuple[Estimate, Test]:
    assert ratio.value is not None
    assert ratio.error is not None
    limits = Interval(ratio.value - reach * ratio.error, ratio.value + reach * ratio.error, level, method)
    p = min(1.0, max(p, SMALLEST_P))
    return Estimate(ratio.value, limits, ratio.error, ratio.n), Test(method, ratio.statistic, p, ratio.n)


def _bonferroni(ratio: _Ratio, level: float, count: int) -> tuple[Estimate, Test]:
    reach = t_quantile(1 - (1 - level) / (2 * count), ratio.degrees_of_freedom)
    p = 2 * t_cdf(-abs(ratio.statistic), ratio.degrees_of_freedom) * count
    return _adjusted(ratio, reach, p, "bonferroni-t", level)


def critical_value_of(largest: Floats, alpha: float) -> float:
    """The order statistic above which p = (1 + #) / (1 + B) is at most alpha."""
    place = ceil((1 - alpha) * (len(largest) + 1) - 1e-9)
    if place > len(largest):
        least = ceil((1 - alpha) / alpha)
        raise UsageError(
            f"resamples must be at least {least:,} at this level, but got {len(largest):,}; raise `resamples`, or "
            "lower the level."
        )
    return float(largest[place - 1])


def _p_of_max(largest: Floats, statistic: float) -> float:
    reached = len(largest) - int(np.searchsorted(largest, statistic))
    return (1 + reached) / (1 + len(largest))


def _with_spread(statistics: Floats, most_lost: float) -> NDArray[np.bool_]:
    """(K,) Which ratios have a standard error in all but a few resamples; those few count as infinite."""
    lost = np.isinf(statistics).mean(axis=0)
    return np.asarray(lost <= most_lost)


def _resampled(
    family: Family, chosen: Sequence[int], resamples: int, seed: int, purpose: str, backend: Backend
) -> Floats:
    """(B, K) |R* − R| / se* of the chosen ratios in every resample; infinite where the resample has no spread."""
    if not chosen:
        return np.empty((resamples, 0))
    parts = [_columns(family, k) for k in chosen]  # (n, 5) each
    columns = _grouped(np.concatenate([columns for columns, _ in parts], axis=1))
    loop = loop_of(*columns.shape, weighted=False)
    if compiles(backend, resamples * columns.size, _COMPILE_ABOVE, loop):
        backend = "compiled"
    sums = resampled_sums(columns, None, resamples, seed, purpose=purpose, backend=backend)
    found = [_studentized(sums[:, 5 * i : 5 * i + 5], n) for i, (_, n) in enumerate(parts)]
    return np.column_stack(found)


def _columns(family: Family, k: int) -> tuple[Floats, int]:
    """(n, 5) x, t, x², xt, t² with the residuals x = num − R·den, centred so that squares do not cancel."""
    num, den = family.numerators[:, k], family.denominators[:, k]
    present = den > 0
    residual = np.where(present, num - num.sum() / den.sum() * den, 0.0)
    x = residual / np.abs(residual).max()
    t = den / den[present].mean()
    return np.column_stack([x, t, x * x, x * t, t * t]), int(present.sum())


def _grouped(columns: Floats) -> Floats:
    """(g, c) At most 2,000 sums of clusters, so that the work does not grow with their number."""
    n = len(columns)
    if n <= MOST_GROUPS:
        return columns
    return np.add.reduceat(columns[np.argsort(np.arange(n) % MOST_GROUPS, kind="stable")], _starts(n), axis=0)


def _starts(n: int) -> NDArray[np.int64]:
    """Where each group begins among n clusters dealt out in turn."""
    sizes = np.full(MOST_GROUPS, n // MOST_GROUPS)
    sizes[: n % MOST_GROUPS] += 1
    return np.concatenate([[0], np.cumsum(sizes)[:-1]])


def _studentized(sums: Floats, n: int) -> Floats:
    """(B,) |t*| from the sums of x, t, x², xt, t² over each resample."""
    x, t, xx, xt, tt = sums.T
    drawn = t > 0
    shift = np.divide(x, t, out=np.full(len(t), np.inf), where=drawn)
    with np.errstate(invalid="ignore"):
        squares = xx - 2 * shift * xt + shift * shift * tt
    spread = drawn & (squares > 1e-12 * xx)  # less is what rounding leaves of the same cluster drawn every time
    out = np.full(len(t), np.inf)
    out[spread] = np.abs(x[spread]) / np.sqrt(squares[spread]) / sqrt(n / (n - 1))
    return out
