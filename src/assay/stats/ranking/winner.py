"""The interval of the best system, which allows for its having been the best of k.

The best of k estimates is partly the luckiest, and
its own standard error does not show it: a lucky score near 1 has a small one. So the spread is *pooled* over the
systems, and the level alone pays for the choice:

- below, the limit is that of a single system at α/(2k): by the union bound, whatever their dependence, the limits of
  all k hold together;
- above, at α/2: the limits share one spread, so that the winner's is the highest of all k, and it is no better in truth
  than the best system, whose own limit holds.

Scores from 0 to 1 have Clopper and Pearson's limits at an effective number of items n_e, with p(1 − p) / n_e the pooled
variance: n for right and wrong answers, more for partial credit, less with clusters and unequal weights. Other values
have Student's t, with the variance pooled over the systems that could have come first. The point is what the best of K
equal systems exceeds half of the time, K the number that could have come first, each counted by how close it is.

References: Clopper and Pearson (1934), *The use of confidence or fiducial limits illustrated in the case of the
binomial*; Korn and Graubard (1998), *Confidence intervals for proportions with small expected number of positive counts
estimated from survey data*, for n_e and its degrees of freedom.
"""

from dataclasses import dataclass
from math import inf, sqrt

import numpy as np

from assay.stats.bounded_mean import jeffreys_quantile, share_limits
from assay.stats.numerics import normal_quantile, t_quantile
from assay.stats.ranking import Fitted
from assay.stats.units import Floats, Grid

_CLOSEST = 1 - 1e-6  # a correlation beyond this counts as this
_PSEUDO = 2.0  # items that differ, added to every pair: none seen is not none to come


@dataclass(frozen=True, slots=True)
class Winner:
    """What is known of the system that came out first, in goodness: the larger, the better."""

    value: float  # its estimate without the luck
    low: float
    high: float
    method: str
    rivals: float  # how many others could have come first, each counted by how close it is: 0 … k − 1


def winner(
    grid: Grid, found: Fitted, first: int, level: float = 0.95, *, bounded: bool, lower_is_better: bool = False
) -> Winner:
    """The value of system ``first``, the best of all; ``bounded``: values are scores from 0 to 1.

    >>> import numpy as np
    >>> from assay.stats.ranking import fitted
    >>> right = np.zeros((100, 2))
    >>> right[:90, 0] = right[10:95, 1] = 1  # 90 and 85 of 100
    >>> grid = Grid(right, np.ones(100))
    >>> top = winner(grid, fitted(grid), 0, bounded=True)
    >>> round(top.value, 3), round(top.low, 3), round(top.high, 3)
    (0.889, 0.812, 0.951)
    """
    goodness = -found.estimates if lower_is_better else found.estimates
    if not bounded:
        return _unbounded(found, goodness, first, level)
    shift = 1.0 if lower_is_better else 0.0
    top = _bounded(grid, found, np.clip(goodness + shift, 0.0, 1.0), first, level)
    return Winner(top.value - shift, top.low - shift, top.high - shift, top.method, top.rivals)


def _bounded(grid: Grid, found: Fitted, shares: Floats, first: int, level: float) -> Winner:
    items, known = effective_items(grid, found, shares)
    alpha, p, n = 1 - level, float(shares[first]), items
    if not known:
        n *= (normal_quantile(1 - alpha / 2) / t_quantile(1 - alpha / 2, found.groups - 1)) ** 2
    low, high = share_limits(p * n, n, alpha / (2 * len(shares)), alpha / 2)
    close = _closeness(found, shares, first, _PSEUDO / items**2)
    equal = 0.0 if grid.right_or_wrong else 1.0  # all right may be luck; 0.3 in every item is none
    alike = min(
        _correlation(found, close, first, equal), max(1 - 1 / items, 0.0)
    )  # as if one more item told them apart
    apart = items / (1 - alike)  # what systems share moves all of them, and decides nothing
    luck = jeffreys_quantile(p * apart, apart, 0.5) - jeffreys_quantile(p * apart, apart, 1 - 0.5 ** (1 / close.sum()))
    centre = float((close * shares).sum() / close.sum())
    least = centre - sqrt(centre * (1 - centre) / items)  # near 1 with few items the quantile runs away
    return Winner(min(max(p - luck, least, low), high), low, high, "Clopper-Pearson", float(close.sum()) - 1)


def effective_items(grid: Grid, found: Fitted, shares: Floats) -> tuple[float, bool]:
    """n_e with p(1 − p) / n_e the pooled variance; and whether it is known: right or wrong, no weights, no clusters."""
    kish = float(grid.weights.sum()) ** 2 / float((grid.weights**2).sum())
    if grid.binary and grid.whole:
        return float(grid.n), True
    most = kish if grid.right_or_wrong else inf
    if grid.clusters is not None and grid.whole:  # clusters whose items differ more than others do not add any
        most = min(most, _items(shares, _error_apart(grid, found), inf))
    return min(most, _items(shares, found.errors**2, kish if grid.clusters is None else float(grid.groups))), False


def _items(shares: Floats, variances: Floats, without_spread: float) -> float:
    top, total = float((shares * (1 - shares)).sum()), float(variances.sum())
    return top / total if top > 0 and total > 0 else without_spread  # a mean may round to 1 where a value is not


def _error_apart(grid: Grid, found: Fitted) -> Floats:
    """(k,) The variances as if no items were in a cluster together."""
    share = grid.weights[:, None] / grid.weights.sum()
    return np.asarray(((share * (grid.values - found.estimates)) ** 2).sum(axis=0) * grid.n / (grid.n - 1))


def _unbounded(found: Fitted, goodness: Floats, first: int, level: float) -> Winner:
    alpha, top, own = 1 - level, float(goodness[first]), found.errors
    close = _closeness(found, goodness, first, 0.0)
    pooled = sqrt(float((close * own**2).sum() / close.sum()))
    below, above = (t_quantile(1 - tail, found.groups - 1) for tail in (alpha / (2 * len(own)), alpha / 2))
    error = max(pooled, float(own[first]))
    high = max(float((goodness + above * own).max()), top + above * pooled)  # no lower than that of the best in truth
    alike = _correlation(found, close, first)
    luck = normal_quantile(0.5 ** (1 / float(close.sum()))) * error * sqrt(1 - alike)
    return Winner(top - luck, top - below * error, high, "t", float(close.sum()) - 1)


def _closeness(found: Fitted, goodness: Floats, first: int, pseudo: float) -> Floats:
    """(k,) exp(−gap² / 4se²): 1 for the winner and those level with it, 0 for those far behind."""
    gap, variance = goodness[first] - goodness, found.error_of(first) ** 2 + pseudo
    ratio = np.divide(gap * gap, 4 * variance, out=np.where(gap > 0, inf, 0.0), where=variance > 0)
    close = np.exp(-ratio)
    close[first] = 1.0
    return np.asarray(close)


def _correlation(found: Fitted, close: Floats, first: int, without_spread: float = 0.0) -> float:
    """The mean correlation of the winner with its rivals, 0 at least; and that of those that do not vary at all."""
    size = np.sqrt(np.einsum("gk,gk->k", found.influence, found.influence))  # without a copy: it may be large
    product = size * size[first]
    shared = found.influence[:, first] @ found.influence
    neither = (size == 0) & (size[first] == 0)
    alike = np.divide(shared, product, out=np.where(neither, without_spread, 0.0), where=product > 0)
    rivals = close.copy()
    rivals[first] = 0.0
    mean = float((rivals * alike).sum() / rivals.sum()) if rivals.sum() > 0 else 0.0
    return min(max(mean, 0.0), _CLOSEST)
