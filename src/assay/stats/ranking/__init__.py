"""k systems on the same units: their estimates, and how often each is best.

Replicates of all estimates share their draws. An estimate is linear in its units up to terms of order 1/n, so a
replicate is Σ cᵤ ψᵤ with the counts c of a bootstrap draw and the influence ψᵤ of each unit (or cluster) on the k
estimates.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from math import ceil, sqrt

import numpy as np
from numpy.typing import NDArray

from assay.stats.bootstrap.resampling import resampled_counts
from assay.stats.bootstrap.simultaneous import MOST_GROUPS
from assay.stats.ranking.pairs import drawn_by_stratum
from assay.stats.rounding import without_residue
from assay.stats.units import Floats, Grid, Integers

_ROWS = 2_000  # units at a time
_AT_A_TIME = 1 << 18  # values of replicates: they stay in the cache
_STEP = 1e-9  # of the spread of the replicates: what is closer is a tie that rounding broke


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
        squares = np.einsum("gk,gk->k", self.influence, self.influence)
        return np.asarray(np.sqrt(squares * self.groups / (self.groups - 1)))

    def error_of(self, i: int) -> Floats:
        """(k,) Standard errors of the differences from system i."""
        squares = np.zeros(self.influence.shape[1])
        for first in range(0, self.groups, _ROWS):  # some at a time: there may be many
            gaps = self.influence[first : first + _ROWS, [i]] - self.influence[first : first + _ROWS]
            squares += np.einsum("gk,gk->k", gaps, gaps)
        return np.asarray(np.sqrt(squares * self.groups / (self.groups - 1)))


def connected(grid: Grid) -> NDArray[np.bool_]:
    """(k,) Which systems can be compared with the first, directly or through others that share units with both.

    Of strata, all must connect a system.
    """
    if grid.strata is not None:
        parts = [grid.values[grid.strata == code] for code in range(len(grid.stratum_mass))]
        return np.asarray(np.all([connected(Grid(part, np.ones(len(part)))) for part in parts], axis=0))
    if grid.whole:
        return np.ones(grid.k, dtype=bool)
    shares = (grid.present.T.astype(np.float64) @ grid.present.astype(np.float64)) > 0
    reached = shares[0].copy()
    while bool((grown := shares[reached].any(axis=0) & ~reached).any()):
        reached |= grown
    return np.asarray(reached)


def fitted(grid: Grid) -> Fitted:
    """The weighted mean of every system, as if it had answered all units.

    Where answers are missing, the mean over those that are there depends on which units they are. So units have an
    effect too: x = aᵢ + bᵤ + noise is fitted by weighted least squares, and the estimate of a system is aᵢ plus the
    mean effect of all units. The systems must be connected. Without holes it is the plain weighted mean. Strata are
    fitted one by one, and the estimate is their mean, with the weight that the units of each have together.
    """
    if grid.strata is not None:
        return _by_stratum(grid)
    if grid.whole:
        whole = float(grid.mass.sum())
        estimates = grid.sums.sum(axis=0) / whole
        pull = np.empty_like(grid.sums)
        for first in range(0, len(pull), _ROWS):  # some at a time: there may be many
            part = slice(first, first + _ROWS)
            sums, mass = grid.sums[part], grid.mass[part, None]
            pull[part] = without_residue(sums - estimates * mass, np.abs(sums)) / whole
        return Fitted(estimates, pull)
    return _with_unit_effects(grid)


def _by_stratum(grid: Grid) -> Fitted:
    """The influence of units is centred in their stratum, and scaled to its n/(n − 1) instead of that of all groups."""
    assert grid.strata is not None
    estimates, influence = np.zeros(grid.k), np.empty((grid.n, grid.k))
    drawn = drawn_by_stratum(grid, np.ones((grid.n, 1), dtype=bool))[:, 0]
    shares = grid.stratum_mass / grid.stratum_mass.sum()
    for code, (share, n) in enumerate(zip(shares.tolist(), drawn.tolist(), strict=True)):
        rows = np.flatnonzero(grid.strata == code)
        found = fitted(Grid(grid.values[rows], grid.weights[rows]))
        estimates += share * found.estimates
        influence[rows] = share * sqrt(n / (n - 1) if n > 1 else 1.0) * found.influence
    pull = without_residue(grid.grouped(influence), grid.grouped(np.abs(influence)))
    return Fitted(estimates, pull * sqrt((grid.groups - 1) / grid.groups))


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
    sizes = (np.abs(values).max(axis=1) * weights / whole)[:, None]
    return Fitted(systems + level, without_residue(grid.grouped(pull), grid.grouped(sizes)))


def deviations(found: Fitted, resamples: int, seed: int = 0, *, answers: Floats | None = None) -> Floats:
    """(B, k) Bootstrap deviations θ* − θ of all estimates, from the same draws of groups.

    ``answers`` (n, k) are the values themselves where they are right and wrong answers of equal weight, none missing:
    sums of how often each was drawn are whole numbers, and single precision, which takes half the time, is exact.
    """
    factor = sqrt(found.groups / (found.groups - 1))  # draws have the variance of n, not of n − 1
    kind = np.float64 if answers is None or len(answers) > MOST_GROUPS else np.float32
    columns = _dealt(found.influence) if answers is None or kind == np.float64 else answers.astype(kind)
    out, first = np.empty((resamples, columns.shape[1])), 0
    for counts in resampled_counts(len(columns), resamples, seed, "ranking", kind):
        part = out[first : first + len(counts)]
        part[:] = counts @ columns
        if kind == np.float32:
            part -= len(columns) * found.estimates
            part /= len(columns)
        part *= factor
        first += len(counts)
    return out


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
    total = np.zeros(len(goodness))
    for replicates in _in_steps(goodness, draws):
        best = replicates == replicates.max(axis=1, keepdims=True)
        total += (best / best.sum(axis=1, keepdims=True)).sum(axis=0)
    return np.asarray(total / len(draws))


def rank_quantiles(goodness: Floats, draws: Floats, level: float) -> list[tuple[int, int]]:
    """The central interval of each system's rank over the replicates; of those that tie, the first is ahead."""
    (count, k), bits = draws.shape, len(goodness).bit_length()
    ranked = np.zeros(k * k, dtype=np.int64)
    for steps in _in_steps(goodness, draws):
        keys = steps
        keys *= -(1 << bits)
        keys += np.arange(k)
        keys.sort(axis=1)  # sorting whole numbers that hold the place is several times as fast as argsort
        keys &= (1 << bits) - 1
        keys *= k
        keys += np.arange(k)
        ranked += np.bincount(keys.ravel(), minlength=k * k)
    ranked = ranked.reshape(k, k).cumsum(axis=1)  # (system, rank)
    tail = 0.5 - level / 2
    low, high = ((ranked <= _place(q, count)).sum(axis=1) + 1 for q in (tail, 1 - tail))
    return list(zip(low.tolist(), high.tolist(), strict=True))


def _place(q: float, count: int) -> int:
    """Where a quantile is among the sorted values: the inverse of their distribution function."""
    return max(ceil(count * q - 1), 0)


def _in_steps(goodness: Floats, draws: Floats) -> Iterator[Integers]:
    """(rows, k) The replicates in whole steps, so that rounding breaks no tie: 0/1 scores often tie; some at a time."""
    middle = float(goodness.mean())
    spread = max(float(draws.max()), -float(draws.min()), float(np.abs(goodness - middle).max())) or 1.0
    rows = max(_AT_A_TIME // draws.shape[1], draws.shape[1])  # no fewer than what is tallied for them
    for first in range(0, len(draws), rows):
        steps = draws[first : first + rows] * (1 / (_STEP * spread))
        steps += (goodness - middle) / (_STEP * spread)
        yield np.rint(steps, out=steps).astype(np.int64)
