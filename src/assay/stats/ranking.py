"""How sure is an order of k systems: who may be the best, at which ranks, and how good is the one that came out first?

All questions are about the k estimates together, so they are answered from replicates of all of them that share their
draws. An estimate is linear in its units up to terms of order 1/n, so a replicate is Σ cᵤ ψᵤ with the counts c of a
bootstrap draw and the influence ψᵤ of each unit (or cluster) on the k estimates.

References: Hansen, Lunde and Nason (2011), *The model confidence set*; Zrnic and Fithian (2024), *Locally simultaneous
inference*; Andrews, Kitagawa and McCloskey (2024), *Inference on winners*.
"""

from dataclasses import dataclass
from functools import cached_property
from math import inf, sqrt

import numpy as np
from numpy.typing import NDArray

from assay.stats.allpairs import squared_gaps
from assay.stats.grid import Grid
from assay.stats.resampling import Engine, resampled_sums
from assay.stats.shared_signs import running_maxima
from assay.stats.simultaneous import MOST_GROUPS
from assay.stats.special import normal_quantile, t_cdf, t_quantile
from assay.stats.units import Floats

_COMPILE_ABOVE = 3e7  # draws × columns
_PLAUSIBLE = 0.1  # of 1 − level: the risk that a system which could have come first is not counted among the rivals


@dataclass(frozen=True, eq=False)
class Fitted:
    """k estimates and the influence of each group on them."""

    estimates: Floats  # (k,)
    influence: Floats  # (G, k), columns sum to 0

    @property
    def groups(self) -> int:
        return len(self.influence)

    @cached_property
    def errors(self) -> Floats:
        """(k,) Linearised standard errors."""
        return np.asarray(np.sqrt((self.influence**2).sum(axis=0) * self.groups / (self.groups - 1)))

    def error_of(self, i: int) -> Floats:
        """(k,) Standard errors of the differences from system i."""
        gaps = self.influence[:, [i]] - self.influence
        return np.asarray(np.sqrt((gaps * gaps).sum(axis=0) * self.groups / (self.groups - 1)))


def connected(grid: Grid) -> NDArray[np.bool_]:
    """(k,) Which systems can be compared with the first, directly or through others that share units with both."""
    shares = (grid.present.T.astype(np.float64) @ grid.present.astype(np.float64)) > 0
    reached = shares[0].copy()
    while bool((grown := shares[reached].any(axis=0) & ~reached).any()):
        reached |= grown
    return np.asarray(reached)


def fitted(grid: Grid) -> Fitted:
    """The weighted mean of every system, as if it had answered all units.

    Where answers are missing, the mean over those that are there depends on which units they are. So units have an
    effect too: x = aᵢ + bᵤ + noise is fitted by weighted least squares, and the estimate of a system is aᵢ plus the
    mean effect of all units. The systems must be connected. Without holes it is the plain weighted mean.
    """
    if grid.whole:
        whole = float(grid.mass.sum())
        estimates = grid.sums.sum(axis=0) / whole
        return Fitted(estimates, (grid.sums - estimates * grid.mass[:, None]) / whole)
    return _with_unit_effects(grid)


def _with_unit_effects(grid: Grid) -> Fitted:
    present, weights, whole = grid.present.astype(np.float64), grid.weights, float(grid.weights.sum())
    answers = present.sum(axis=1)
    values = np.where(grid.present, grid.values, 0.0)
    share = present * (weights / answers)[:, None]  # (n, k)
    normal = np.diag(weights @ present) - present.T @ share
    right = (values * weights[:, None]).sum(axis=0) - share.T @ values.sum(axis=1)
    inverse = np.linalg.pinv(normal, hermitian=True)
    systems = inverse @ right
    units = (values.sum(axis=1) - present @ systems) / answers
    level = float(weights @ units) / whole
    residuals = present * (values - systems - units[:, None]) * weights[:, None]
    pull = residuals @ inverse
    pull += (weights * (units - level) / whole - pull @ share.sum(axis=0) / whole)[:, None]
    return Fitted(systems + level, grid.grouped(pull))


def deviations(found: Fitted, n_resamples: int, seed: int = 0, engine: Engine = "auto") -> Floats:
    """(B, k) Bootstrap deviations θ* − θ of all estimates, from the same draws of groups."""
    columns = _dealt(found.influence)
    if engine == "auto" and n_resamples * columns.size > _COMPILE_ABOVE:
        engine = "compiled"
    sums = resampled_sums(columns, None, n_resamples, seed, purpose="ranking", engine=engine)
    return sums * sqrt(found.groups / (found.groups - 1))  # draws have the variance of n, not of n − 1


def _dealt(columns: Floats) -> Floats:
    """Sums of at most 2,000 hands, dealt in turn, so that the work does not grow with the number of groups."""
    if len(columns) <= MOST_GROUPS:
        return np.ascontiguousarray(columns)
    rounds = -(-len(columns) // MOST_GROUPS)
    padded = np.zeros((rounds * MOST_GROUPS, columns.shape[1]))
    padded[: len(columns)] = columns
    return np.asarray(padded.reshape(rounds, MOST_GROUPS, -1).sum(axis=0))


def probability_best(goodness: Floats, draws: Floats) -> Floats:
    """(k,) The share of the replicates in which each system is the best; those that tie share it."""
    replicates = goodness + draws
    best = replicates >= replicates.max(axis=1, keepdims=True)
    return np.asarray((best / best.sum(axis=1, keepdims=True)).mean(axis=0))


def rank_quantiles(goodness: Floats, draws: Floats, level: float) -> list[tuple[int, int]]:
    """The central interval of each system's rank over the replicates."""
    order = np.argsort(-(goodness + draws), axis=1, kind="stable")
    ranks = np.empty_like(order)
    np.put_along_axis(ranks, order, np.arange(1, len(goodness) + 1)[None, :], axis=1)
    tail = 0.5 - level / 2
    low, high = (np.quantile(ranks, q, axis=0, method="inverted_cdf").astype(int) for q in (tail, 1 - tail))
    return list(zip(low.tolist(), high.tolist(), strict=True))


def confidence_set(goodness: Floats, draws: Floats, groups: float = inf) -> Floats:
    """(k,) P-values of Hansen, Lunde and Nason's model confidence set: those above α hold the best with 1 − α.

    T_R: as long as several are left, the largest studentized difference among them is tested, and the worse of the two
    goes. Its p-value is the largest so far. Which goes when depends on the estimates only, so the replicates' largest
    differences can be built up from the last two on, a system at a time. The errors are estimated from ``groups`` of
    units, which the replicates do not show: a statistic counts as the normal one that is as rare as it is among t.
    """
    errors = np.sqrt(squared_gaps(draws) / len(draws))
    errors += errors.T
    leaving, statistics = _elimination(goodness, errors)
    added = leaving[::-1]
    later, earlier = np.tril_indices(len(added), -1)  # every system with those that leave after it, the last two first
    pairs = np.array(added)[np.stack([later, earlier])]
    last = np.cumsum(np.arange(1, len(added))) - 1  # the pair that completes a system
    least = np.full(len(later), inf)
    least[last] = [_rarity(t, groups) for t in statistics[::-1]]
    reached, _ = running_maxima(draws, pairs, _inverse(errors[pairs[0], pairs[1]]), least * (1 - 1e-12))
    own = (1 + reached[last][::-1]) / (1 + len(draws))
    p = np.ones(len(goodness))
    p[leaving[:-1]] = np.maximum.accumulate(own)
    return p


def _rarity(t: float, groups: float) -> float:
    return -normal_quantile(t_cdf(-t, groups - 1)) if groups < inf else t


def _elimination(goodness: Floats, errors: Floats) -> tuple[list[int], list[float]]:
    """The order in which systems leave, the last one included, and the statistic by which each of the others did."""
    statistics = (goodness[None, :] - goodness[:, None]) * _inverse(errors)  # [i, j]: by how much i is worse than j
    left, leaving, found = list(range(len(goodness))), [], []
    while len(left) > 1:
        among = statistics[np.ix_(left, left)]
        worst = int(np.argmax(among.max(axis=1)))
        found.append(float(among.max()))
        leaving.append(left.pop(worst))
    return leaving + left, found


def _inverse(errors: Floats) -> Floats:
    """1 / error; 0 for systems that do not differ at all."""
    return np.divide(1.0, errors, out=np.zeros_like(errors), where=errors > 0)


@dataclass(frozen=True, slots=True)
class Winner:
    """What is known of the system that came out first, allowing for its having been chosen."""

    bias: float  # by how much the best of k is too good on average
    low: float  # limits of its true value, in goodness
    high: float
    rivals: int  # how many others could have come first


def winner(goodness: Floats, found: Fitted, draws: Floats, level: float, first: int) -> Winner:
    """The winner's curse: the best of k estimates is biased upward, the more the closer its rivals are.

    The bias is the bootstrap's: by how much a replicate's winner exceeds its own true value, which is the estimate. The
    limits allow for the choice among the systems that could have come first: those within twice a simultaneous band
    of the winner. The lower limit is max-T over these; for the upper one nothing is to be paid, since the winner is
    measured no lower and is no better in truth than the best system.
    """
    count = len(goodness)
    chosen = np.argmax(goodness + draws, axis=1)
    bias = float(np.mean(draws[np.arange(len(draws)), chosen] - draws[:, first]))  # whose own mean is 0
    alpha, df, errors = 1 - level, float(found.groups - 1), found.errors
    pairs = count * (count - 1) / 2
    band = t_quantile(1 - _PLAUSIBLE * alpha / (2 * pairs), df) * found.error_of(first)
    rivals = goodness[first] - goodness <= 2 * band
    tail = (1 - _PLAUSIBLE) * alpha / 2
    usable = rivals & (errors > 0)
    if not usable[first]:
        return Winner(0.0, float(goodness[first]), float(goodness[first]), int(rivals.sum()) - 1)
    largest = (draws[:, usable] / errors[usable]).max(axis=1)
    reach = float(np.quantile(largest, 1 - tail)) * t_quantile(1 - tail, df) / normal_quantile(1 - tail)
    top = float(goodness[first])
    high = top + t_quantile(1 - tail, df) * float(errors[usable].max())
    return Winner(bias, top - reach * float(errors[first]), high, int(rivals.sum()) - 1)
