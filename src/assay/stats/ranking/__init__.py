"""k systems on the same units: their estimates, the differences of all pairs, and how often each is best.

Replicates of all estimates share their draws. An estimate is linear in its units up to terms of order 1/n, so a
replicate is Σ cᵤ ψᵤ with the counts c of a bootstrap draw and the influence ψᵤ of each unit (or cluster) on the k
estimates.
"""

from dataclasses import dataclass
from functools import cached_property
from math import sqrt

import numpy as np
from numpy.typing import NDArray

from assay.stats.bootstrap.resampling import Engine, resampled_sums
from assay.stats.bootstrap.simultaneous import MOST_GROUPS
from assay.stats.ranking.shared_signs import Flips
from assay.stats.rounding import NOISE, TOLERANCE, without_residue
from assay.stats.units import Floats, Grid, Integers

_COMPILE_ABOVE = 3e7  # draws × columns
_COMPILE_SQUARES_ABOVE = 2e8


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
        pull = grid.sums - estimates * grid.mass[:, None]
        return Fitted(estimates, without_residue(pull, np.abs(grid.sums)) / whole)
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
    sizes = (np.abs(values).max(axis=1) * weights / whole)[:, None]
    return Fitted(systems + level, without_residue(grid.grouped(pull), grid.grouped(sizes)))


def deviations(found: Fitted, resamples: int, seed: int = 0, engine: Engine = "auto") -> Floats:
    """(B, k) Bootstrap deviations θ* − θ of all estimates, from the same draws of groups."""
    columns = _dealt(found.influence)
    if engine == "auto" and resamples * columns.size > _COMPILE_ABOVE:
        engine = "compiled"
    sums = resampled_sums(columns, None, resamples, seed, purpose="ranking", engine=engine)
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


@dataclass(frozen=True, eq=False)
class Pairs:
    """Every pair i < j on the units that both have: system i less system j. NaN where they share none."""

    grid: Grid
    units: Integers  # (P,) how many both have
    groups: Integers  # (P,) clusters of them
    difference: Floats  # (P,)
    standard_error: Floats  # (P,) linearised; NaN for a single group
    total: Floats  # (P,) Σd, d the weighted differences summed by group
    norm: Floats  # (P,) √Σd²
    spread: Floats  # (P,) standard deviation of the units' differences

    @cached_property
    def index(self) -> Integers:
        """(2, P) i and j."""
        return np.stack(np.triu_indices(self.grid.k, 1))

    @cached_property
    def evidence(self) -> Floats:
        """(P,) |Σd| / √Σd², the statistic of a sign-flip test; 0 where all differences are."""
        return np.divide(np.abs(self.total), self.norm, out=np.zeros(len(self.norm)), where=self.norm > 0)


def pairs_of(grid: Grid, *, engine: Engine = "auto") -> Pairs:
    """Differences and errors of all pairs."""
    return _whole_pairs(grid, engine) if grid.whole else _pairs_with_holes(grid)


def _whole_pairs(grid: Grid, engine: Engine) -> Pairs:
    """The residuals of a difference are differences of the systems' own residuals, so that all come from columns."""
    i, j = np.triu_indices(grid.k, 1)
    columns, total_mass = Flips.of(grid).columns, float(grid.mass.sum())
    totals = columns.sum(axis=0)
    residuals = columns - totals / total_mass * grid.mass[:, None]
    squares = squared_gaps(residuals, engine)[i, j]
    if grid.clusters is None and bool((grid.weights == 1).all()):
        apart = squares
    else:
        values = grid.values - grid.values.mean(axis=1, keepdims=True) - totals / total_mass
        apart = squared_gaps(values * np.sqrt(grid.weights)[:, None], engine)[i, j]
    total, norm = totals[i] - totals[j], squared_gaps(columns, engine)[i, j]
    if grid.clusters is not None:  # sums of a cluster that differ by their rounding only do not differ
        size = np.sqrt((grid.grouped(np.abs(grid.products)) ** 2).sum(axis=0))
        nothing = norm <= (TOLERANCE * (size[i] + size[j])) ** 2
        total, norm, squares = (np.where(nothing, 0.0, part) for part in (total, norm, squares))
    return _pairs(
        grid,
        (np.full(len(i), grid.n), np.full(len(i), grid.groups), np.full(len(i), total_mass)),
        (total, norm, squares, apart),
    )


def _pairs_with_holes(grid: Grid) -> Pairs:
    """System by system against all later ones."""
    parts = [_against_later(grid, i) for i in range(grid.k - 1)]
    units, groups, mass, total, norm, squares, apart = (
        np.concatenate([part[field] for part in parts]) for field in range(7)
    )
    return _pairs(grid, (units.astype(np.int64), groups.astype(np.int64), mass), (total, norm, squares, apart))


def _against_later(grid: Grid, i: int) -> tuple[Floats, ...]:
    both = grid.present[:, [i]] & grid.present[:, i + 1 :]  # (n, m)
    gaps = np.where(both, grid.values[:, [i]] - grid.values[:, i + 1 :], 0.0)
    weights = np.where(both, grid.weights[:, None], 0.0)
    sums = without_residue(grid.grouped(gaps * weights), grid.grouped(np.abs(gaps) * weights))  # (G, m)
    mass = grid.grouped(weights)
    total, whole = sums.sum(axis=0), mass.sum(axis=0)
    mean = np.divide(total, whole, out=np.zeros(len(total)), where=whole > 0)
    squares, apart = (sums - mean * mass) ** 2, weights * (gaps - mean) ** 2
    counts = both.sum(axis=0).astype(np.float64), (mass > 0).sum(axis=0).astype(np.float64)
    return *counts, whole, total, (sums * sums).sum(axis=0), squares.sum(axis=0), apart.sum(axis=0)


def _pairs(grid: Grid, counts: tuple[Integers, Integers, Floats], sums: tuple[Floats, Floats, Floats, Floats]) -> Pairs:
    units, groups, mass = counts
    total, norm, squares, apart = sums
    with np.errstate(divide="ignore", invalid="ignore"):
        difference = total / mass
        error = np.sqrt(squares * groups / (groups - 1)) / mass
        spread = np.sqrt(apart / mass * units / (units - 1))
    largest = np.abs(np.where(grid.present, grid.values, 0.0)).max(axis=0)
    i, j = np.triu_indices(grid.k, 1)
    subtracted = NOISE * (largest[i] + largest[j])
    rounding = np.maximum(1e-12 * np.abs(difference), subtracted)  # less is what rounding leaves of equal differences
    error, spread = (np.where(values <= rounding, 0.0, values) for values in (error, spread))
    return Pairs(grid, units, groups, difference, error, total, np.sqrt(norm), spread)


def squared_gaps(columns: Floats, engine: Engine = "auto") -> Floats:
    """(k, k) Σ (column i − column j)² for i < j; not from products of columns, whose digits would cancel."""
    k, out = columns.shape[1], np.zeros((columns.shape[1], columns.shape[1]))
    if engine == "compiled" or (engine == "auto" and columns.size * k > _COMPILE_SQUARES_ABOVE):
        from assay.stats.ranking import kernels as kernels_rank  # late: importing numba takes half a second

        kernels_rank.squared_gaps(np.ascontiguousarray(columns), out)
        return out
    for i in range(k - 1):
        gap = columns[:, i, None] - columns[:, i + 1 :]
        out[i, i + 1 :] = (gap * gap).sum(axis=0)
    return out
