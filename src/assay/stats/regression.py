"""Slopes and means of points that are not independent: within items and clusters, or from step to step.

**Within items**: how a score changes with a number, when the same items are seen at several of its values.
y = aᵢ + b·x + e, with an intercept aᵢ of its own for every item i (in a survey: a question asked of a segment), so that
easy items at one x and hard ones at another do not make a slope. Where every item has the same values of x this is the
plain least-squares slope. The error allows for whatever goes together within a cluster (a question, asked of many
segments): Liang and Zeger's (1986) variance with the usual correction for few clusters, and Student's t with as many
degrees of freedom as clusters less one (Cameron and Miller 2015, *A practitioner's guide to cluster-robust inference*).

**Step by step**: the mean or the slope of a series whose points resemble their neighbours. Points are averaged in
blocks, at most thirty, so that what is fast in the noise is gone and what is slow is left. The block means are taken
for a line with noise of autocorrelation ρ from block to block (Prais and Winsten 1954). ρ is not plugged in, which
makes errors too small: every ρ gives an error and a Student distribution, and these are mixed by how likely each ρ is,
given the blocks and nothing else (the restricted likelihood of Harville 1974, a flat prior).
"""

from dataclasses import dataclass
from functools import lru_cache
from math import sqrt

import numpy as np

from assay.stats.interval_and_test import agreeing
from assay.stats.numerics import SMALLEST_P, critical_values, increasing_root, t_cdf, t_quantile
from assay.stats.records import Estimate, Interval, Test
from assay.stats.rounding import TOLERANCE, levelled
from assay.stats.units import Floats, Integers

_ROUNDING = 1e-12
WINDOW = 50  # logged points that are averaged (T4)
BLOCKS = 30
_NODES = 64
_FURTHEST = 0.99  # of ρ: beyond, noise is not to be told from a drift


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


# ----------------------------------------------------------------------------------------------------- series of steps


def window_of(points: int) -> int:
    """How many logged points a smoothed loss averages: 50, or a fifth of a short log."""
    return min(WINDOW, max(2, points // 5)) if points > 1 else 1


def smoothed(values: Floats, window: int) -> Floats:
    """The mean of each point and those before it, at most ``window`` in all."""
    if not len(values):
        return values
    first = values[0]  # sums of what is left are small, and those of a level loss 0
    sums = np.concatenate([[0.0], np.cumsum(values - first)])
    stop = np.arange(1, len(values) + 1)
    start = np.maximum(stop - window, 0)
    return np.asarray(first + (sums[stop] - sums[start]) / (stop - start), dtype=np.float64)


def mean_of(values: Floats, level: float) -> Estimate:
    """The mean of neighbouring points; the error is that of the noise around a line, as the loss may still fall."""
    n = len(values)
    if n < 3:
        return Estimate(float(values.mean()) if n else None, None, None, n, f"{n} points: no spread to measure")
    values = levelled(values)
    mean = float(values[0] + (values - values[0]).mean())
    return _estimate(mean, np.arange(n, dtype=np.float64), values, 0, level)


def change_of(steps: Floats, values: Floats, level: float) -> Estimate:
    """How much a straight line through the points rises or falls from the first step to the last.

    Points that differ by rounding only do not change.
    """
    n, span = len(steps), float(np.ptp(steps)) if len(steps) else 0.0
    if n < 3 or span <= 0:
        return Estimate(None, None, None, n, "fewer than three points")
    x = (steps - steps.mean()) / span  # a slope per span is the change
    values = levelled(values)
    return _estimate(float(x @ (values - values[0]) / (x @ x)), x, values, 1, level)


def _estimate(value: float, x: Floats, values: Floats, column: int, level: float) -> Estimate:
    error, reach = error_of(x, values, column, level)
    return Estimate(value, Interval(value - reach, value + reach, level, "autocorrelated"), error, len(values))


# ---------------------------------------------------------------------------------------------- autocorrelated noise


def blocks_of(values: Floats) -> Floats:
    """Means of as many equal blocks as there may be; of the first points some are left out."""
    size = -(-len(values) // BLOCKS)
    count = len(values) // size
    return np.asarray(values[len(values) - count * size :].reshape(count, size).mean(axis=1), dtype=np.float64)


def error_of(x: Floats, values: Floats, column: int, level: float) -> tuple[float, float]:
    """The standard error of the level (column 0) or of the slope on x (column 1), and the half of their interval."""
    places, means = blocks_of(x), blocks_of(values)
    design = np.column_stack([np.ones(len(means)), places - places.mean()])
    df = len(means) - 2
    likely, errors = _mixture(design, means, column)
    if not errors.any():
        return 0.0, 0.0
    return float(np.sqrt(likely @ errors**2)), _reach(likely, errors, df, level)


def _mixture(design: Floats, values: Floats, column: int) -> tuple[Floats, Floats]:
    """(nodes,) How likely each ρ is, and the standard error of the least-squares line if it is the one."""
    rho, weight = _nodes()
    white_x, white_y = _whitened(design, rho), _whitened(values[:, None], rho)[:, :, 0]
    gram = np.einsum("gik,gil->gkl", white_x, white_x)
    cross = np.einsum("gik,gi->gk", white_x, white_y)
    solved = np.linalg.solve(gram, cross[:, :, None])[:, :, 0]
    rest = white_y - np.einsum("gik,gk->gi", white_x, solved)
    squares, df = np.einsum("gi,gi->g", rest, rest), len(values) - design.shape[1]
    if squares.max() <= len(values) * (TOLERANCE * np.abs(values).max()) ** 2:  # a line without noise
        return weight, np.zeros(_NODES)
    log_likelihood = 0.5 * np.log(1 - rho**2) - 0.5 * np.linalg.slogdet(gram)[1] - 0.5 * df * np.log(squares)
    likely = weight * np.exp(log_likelihood - log_likelihood.max())
    return likely / likely.sum(), np.sqrt(squares / df * _spread(design, column, rho))


def _whitened(columns: Floats, rho: Floats) -> Floats:
    """(nodes, n, k) Each point less ρ times the one before it; the first is scaled to the same variance."""
    first = np.sqrt(1 - rho**2)[:, None, None] * columns[:1]
    return np.concatenate([first, columns[1:] - rho[:, None, None] * columns[:-1]], axis=1)


def _spread(design: Floats, column: int, rho: Floats) -> Floats:
    """(nodes,) The variance of a least-squares coefficient, in units of that of the whitened noise."""
    weights = np.linalg.solve(design.T @ design, design.T)[column]
    apart = np.correlate(weights, weights, mode="full")[len(weights) - 1 :]  # by how many blocks
    powers = rho[:, None] ** np.arange(len(weights))
    return np.asarray((2 * powers @ apart - apart[0]) / (1 - rho**2), dtype=np.float64)


def _reach(likely: Floats, errors: Floats, df: int, level: float) -> float:
    """How far the interval reaches: beyond it lies 1 − level of the mixture of Student distributions."""
    from scipy.special import stdtr  # late: scipy takes long to import

    scale = float(errors.max())

    def excess(reach: float) -> float:
        return float(likely @ stdtr(df, reach * scale / errors)) - (0.5 + level / 2)

    return scale * float(increasing_root(excess, 1.0, 0.5))


@lru_cache(maxsize=1)
def _nodes() -> tuple[Floats, Floats]:
    """ρ and weights: the rule of Gauss and Legendre over Fisher's z, on which the likelihood is about normal."""
    z, weight = np.polynomial.legendre.leggauss(_NODES)
    rho = np.tanh(np.arctanh(_FURTHEST) * z)
    return rho, weight * (1 - rho**2)
