"""Slopes: how a score changes with a number, when the same items are seen at several of its values.

y = aᵢ + b·x + e, with an intercept aᵢ of its own for every item i (in a survey: a question asked of a segment), so that
easy items at one x and hard ones at another do not make a slope. Where every item has the same values of x this is the
plain least-squares slope. The error allows for whatever goes together within a cluster (a question, asked of many
segments): Liang and Zeger's (1986) variance with the usual correction for few clusters, and Student's t with as many
degrees of freedom as clusters less one (Cameron and Miller 2015, *A practitioner's guide to cluster-robust inference*).
"""

from dataclasses import dataclass
from math import sqrt

import numpy as np

from assay.stats.interval_and_test import agreeing
from assay.stats.numerics import SMALLEST_P, critical_values, t_cdf, t_quantile
from assay.stats.records import Estimate, Interval, Test
from assay.stats.units import Floats, Integers

_ROUNDING = 1e-12


@dataclass(frozen=True, slots=True)
class Slope:
    """The change of y for one more of x."""

    estimate: Estimate  # n: rows
    test: Test  # of a slope of 0, two-sided; n: clusters
    r_squared: float | None  # the share of the variance within items that x explains


def slope(x: Floats, y: Floats, items: Integers, clusters: Integers, *, confidence_level: float = 0.95) -> Slope:
    """The slope within items, clusters being sets of items; all arrays (n,), items and clusters as codes.

    >>> import numpy as np
    >>> x, item = np.tile([0.0, 5.0, 10.0], 4), np.repeat(np.arange(4), 3)
    >>> found = slope(x, 0.5 + 0.01 * x + 0.1 * item + 0.001 * (x == 5) * (item - 1), item, item)
    >>> round(found.estimate.value, 6), found.test.n
    (0.01, 4)
    """
    x, y = within_items(x, items), within_items(y, items)
    spread = float((x * x).sum())
    kept = np.bincount(items, x * x)[items] > 0  # an item at one x only says nothing
    n, groups = int(kept.sum()), len(np.unique(clusters[kept]))
    if not spread > 0:
        return _undefined("no item was seen at two values", n, groups)
    b = float((x * y).sum()) / spread
    residual = y - b * x
    total = float((y * y)[kept].sum())
    explained = None if total <= _ROUNDING**2 * n else min(1.0, max(0.0, 1 - float((residual**2)[kept].sum()) / total))
    if groups < 2:
        reason = "one cluster has no standard error"
        return Slope(Estimate(b, None, None, n, reason), Test("t", None, None, groups, reason), explained)
    error = _error(x, residual, clusters, spread, (n, groups))
    return _tested(b, error, (n, groups), explained, confidence_level, float(np.abs(y).max()) / sqrt(spread))


def slope_limits(found: Slope, p: float, *, confidence_level: float, family: int) -> Interval | None:
    """Limits of a slope as one of a family that hold all at once (Bonferroni), with ``p`` adjusted alike."""
    value, error, limits = found.estimate.value, found.estimate.standard_error, found.estimate.interval
    if value is None or error is None or limits is None:
        return None
    if limits.method == "degenerate":
        return limits
    reach = float(critical_values(1 - (1 - confidence_level) / family, found.test.n - 1)[0]) * error
    low, high = agreeing(value - reach, value + reach, p, 1 - confidence_level, value)
    return Interval(float(low), float(high), confidence_level, f"{limits.method}, simultaneous")


def within_items(values: Floats, items: Integers) -> Floats:
    """Values less the mean of their item.

    >>> import numpy as np
    >>> within_items(np.array([0.0, 4.0, 1.0]), np.array([0, 0, 1])).tolist()
    [-2.0, 2.0, 0.0]
    """
    count = np.bincount(items)
    return np.asarray(values - (np.bincount(items, values) / np.maximum(count, 1))[items])


def _error(x: Floats, residual: Floats, clusters: Integers, spread: float, sizes: tuple[int, int]) -> float:
    n, groups = sizes
    scores = np.bincount(clusters, x * residual)
    correction = groups / (groups - 1) * (n - 1) / (n - 2)
    return sqrt(correction * float((scores**2).sum())) / spread


def _undefined(reason: str, n: int, groups: int) -> Slope:
    return Slope(Estimate(None, None, None, n, reason), Test("t", None, None, groups, reason), None)


def _tested(
    b: float, error: float, sizes: tuple[int, int], explained: float | None, level: float, scale: float
) -> Slope:
    n, groups = sizes
    if error <= _ROUNDING * scale:  # an exact line, or no change at all
        reason = "every cluster has the same slope"
        none = abs(b) <= _ROUNDING * scale
        limits = (
            Interval(min(b, 0.0), max(b, 0.0), level, "degenerate") if none else Interval(b, b, level, "degenerate")
        )
        test = Test("t", None, 1.0 if none else None, groups, reason)
        return Slope(Estimate(b, limits, error, n, reason), test, explained)
    reach = t_quantile(0.5 + level / 2, groups - 1) * error
    p = max(min(1.0, 2 * t_cdf(-abs(b / error), groups - 1)), SMALLEST_P)
    low, high = agreeing(b - reach, b + reach, p, 1 - level, b)
    limits = Interval(float(low), float(high), level, "cluster-robust t")
    return Slope(Estimate(b, limits, error, n), Test("t", b / error, p, groups), explained)
