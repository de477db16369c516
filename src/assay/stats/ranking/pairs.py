"""The differences of all pairs of systems, with their errors.

What is found of a pair depends on nothing but the two systems and the units: not on the other systems, nor on how many
there are, nor on where the two stand among them, to the last bit. So a system that joins a leaderboard moves no number
of the pairs that were there. For this sums are added one unit after the other, whatever the shape of the array; and
columns are not centred at what all systems have in common.

Strata (tasks) are drawn apart, and a system's estimate is the mean of its strata with the weight that the units of each
have together. A pair has the mean of its differences in every stratum, on the units that both have there; its variance
is the sum of those of the strata, and what a cluster adds to several of them is summed before it is squared.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from assay.stats.compiled import Backend, compiles, compiling
from assay.stats.rounding import NOISE, TOLERANCE, without_residue
from assay.stats.units import Floats, Grid, Integers, Truths, grouped

_COMPILE_SQUARES_ABOVE = 1e9  # twice the differences: about as long as loading the compiled loops, 0.7 s of numpy's
_GAP_SUMS = "assay.stats.ranking.kernels.gap_sums"
_MOST_CANCELLED = 0.5  # of a sum of squares, one bit
_TILE, _ROWS = 64, 1_000  # systems and units at a time: they stay in the cache


@dataclass(frozen=True, eq=False)
class Pairs:
    """Every pair i < j on the units that both have: system i less system j. NaN where they share none."""

    grid: Grid
    units: Integers  # (P,) how many both have; 0 also where they share none of a stratum
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


@dataclass(frozen=True, eq=False, slots=True)
class _Sums:
    """What the pairs' numbers are made of, (P,) each."""

    units: Floats
    groups: Floats
    mass: Floats
    total: Floats  # Σd
    norm: Floats  # Σd²
    squares: Floats  # of the residuals, with n/(n − 1)
    apart: Floats  # of those of single units

    @classmethod
    def joined(cls, parts: "Sequence[_Sums]") -> "_Sums":
        return cls(*(np.concatenate([getattr(part, name) for part in parts]) for name in cls.__slots__))


def pairs_of(grid: Grid, *, backend: Backend = "auto") -> Pairs:
    """Differences and errors of all pairs."""
    if grid.strata is not None:
        return _pairs(grid, _Sums.joined([_by_stratum(grid, i) for i in range(grid.k - 1)]))
    return _pairs(grid, _whole_sums(grid, backend) if grid.whole else _sums_with_holes(grid, backend))


def added_up(values: Floats) -> Floats:
    """(m,) Sums of the columns of (n, m), one row after the other, however many columns there are.

    >>> import numpy as np
    >>> rows = np.array([[1e16], [1.0], [1.0]])
    >>> float(added_up(rows)[0]) == float(added_up(np.tile(rows, (1, 3)))[2]) == (1e16 + 1.0) + 1.0
    True
    """
    m = values.shape[1]
    rows = np.ascontiguousarray(values if m > 1 else np.repeat(values, 2, axis=1))  # one column is summed pairwise
    return np.asarray(np.add.reduce(rows, axis=0)[:m])


def _whole_sums(grid: Grid, backend: Backend) -> _Sums:
    """Of pairs that have every unit; those of right and wrong answers from how often the two differ."""
    plain = grid.clusters is None and bool((grid.weights == 1).all())
    right = answers_only(grid.values) if plain else np.zeros(grid.k, dtype=bool)
    if right.all():
        return _counted_sums(grid)
    found = _general_sums(grid, backend, plain=plain)
    if right.sum() > 1:
        _put(found, grid.k, np.flatnonzero(right), _counted_sums(grid.of_systems(np.flatnonzero(right))))
    return found


def answers_only(values: Floats) -> Truths:
    """(k,) Whether every value of a system is 0 or 1: right or wrong."""
    first = values[:_ROWS]
    found = np.asarray(((first == 0) | (first == 1)).all(axis=0))
    for place in np.flatnonzero(found).tolist():
        column = values[:, place]
        found[place] = ((column == 0) | (column == 1)).all()
    return found


def discordant(right: Truths, wrong: Truths) -> Floats:
    """(k, k) On how many units system i is right and j is wrong, from (n, k) each; sums of counts are exact."""
    kind = np.float32 if len(right) < 2**24 else np.float64
    return np.asarray(right.astype(kind).T @ wrong.astype(kind), dtype=np.float64)


def _counted_sums(grid: Grid) -> _Sums:
    """Of 0/1 scores: Σd = b − c and Σd² = b + c, b and c the counts of units that one of the two alone has right."""
    alone, (i, j) = discordant(grid.values == 1, grid.values == 0), np.triu_indices(grid.k, 1)
    total, norm = alone[i, j] - alone[j, i], alone[i, j] + alone[j, i]
    squares, n = norm - total * total / grid.n, np.full(len(i), float(grid.n))
    return _Sums(n, n, n, total, norm, _corrected(squares, n), squares)


def _general_sums(grid: Grid, backend: Backend, *, plain: bool) -> _Sums:
    """The residuals of a difference are differences of the systems' own residuals, so that all come from columns."""
    i, j = np.triu_indices(grid.k, 1)
    columns, mass = np.ascontiguousarray(grid.sums), float(grid.mass.sum())
    totals = added_up(columns)
    total, norm = (part[i, j] for part in gap_sums(columns, backend))
    if plain:
        squares = apart = _around_means(columns, total, norm, (i, j))
    else:
        squares = squared_gaps(columns - totals / mass * grid.mass[:, None], backend)[i, j]
        apart = squared_gaps((grid.values - totals / mass) * np.sqrt(grid.weights)[:, None], backend)[i, j]
    if grid.clusters is not None:  # sums of a cluster that differ by their rounding only do not differ
        size = np.sqrt(added_up(grid.grouped(np.abs(grid.products)) ** 2))
        nothing = norm <= (TOLERANCE * (size[i] + size[j])) ** 2
        total, norm, squares = (np.where(nothing, 0.0, part) for part in (total, norm, squares))
    units, groups = (np.full(len(i), float(count)) for count in (grid.n, grid.groups))
    return _Sums(units, groups, np.full(len(i), mass), total, norm, _corrected(squares, groups), apart)


def _around_means(columns: Floats, total: Floats, norm: Floats, index: tuple[Integers, Integers]) -> Floats:
    """(P,) Σ(d − d̄)²: Σd² less (Σd)²/n where that is small, and otherwise, for digits would cancel, summed."""
    (i, j), n = index, len(columns)
    taken = total * total / n
    squares = np.asarray(norm - taken)
    for r in np.flatnonzero(taken > _MOST_CANCELLED * norm).tolist():
        gaps = columns[:, i[r]] - columns[:, j[r]]
        squares[r] = added_up(((gaps - total[r] / n) ** 2)[:, None])[0]
    return squares


def _sums_with_holes(grid: Grid, backend: Backend) -> _Sums:
    """System by system against all later ones; two that have every unit are summed as if nobody had holes."""
    found = _Sums.joined([_against_later(grid, i) for i in range(grid.k - 1)])
    whole = np.flatnonzero(grid.present.all(axis=0))
    if len(whole) < 2:
        return found
    _put(found, grid.k, whole, _whole_sums(grid.of_systems(whole), backend))
    return found


def _put(found: _Sums, k: int, systems: Integers, own: _Sums) -> None:
    """In the place of what was found of the pairs of some systems."""
    i, j = np.triu_indices(k, 1)
    place = np.isin(i, systems) & np.isin(j, systems)
    for name in _Sums.__slots__:
        getattr(found, name)[place] = getattr(own, name)


def _against_later(grid: Grid, i: int) -> _Sums:
    both, gaps, weights = _shared(grid, i)
    sums = without_residue(grid.grouped(gaps * weights), grid.grouped(np.abs(gaps) * weights))  # (G, m)
    mass = grid.grouped(weights)
    total, whole = added_up(sums), added_up(mass)
    mean = np.divide(total, whole, out=np.zeros(len(total)), where=whole > 0)
    squares, apart = added_up((sums - mean * mass) ** 2), added_up(weights * (gaps - mean) ** 2)
    units, groups = (np.count_nonzero(part, axis=0).astype(np.float64) for part in (both, mass))
    return _Sums(units, groups, whole, total, added_up(sums * sums), _corrected(squares, groups), apart)


def _shared(grid: Grid, i: int) -> tuple[Truths, Floats, Floats]:
    """(n, m) each: which units system i and a later one both have, their differences there, and their weights."""
    both = grid.present[:, [i]] & grid.present[:, i + 1 :]
    gaps = np.where(both, grid.values[:, [i]] - grid.values[:, i + 1 :], 0.0)
    return both, gaps, np.where(both, grid.weights[:, None], 0.0)


def _corrected(squares: Floats, groups: Floats) -> Floats:
    with np.errstate(divide="ignore", invalid="ignore"):
        return squares * groups / (groups - 1)


def _pairs(grid: Grid, found: _Sums) -> Pairs:
    with np.errstate(divide="ignore", invalid="ignore"):
        difference = found.total / found.mass
        error = np.sqrt(found.squares) / found.mass
        spread = np.sqrt(found.apart / found.mass * found.units / (found.units - 1))
    if grid.whole:
        largest = np.maximum(grid.values.max(axis=0), -grid.values.min(axis=0))
    else:
        largest = np.abs(np.where(grid.present, grid.values, 0.0)).max(axis=0)
    i, j = np.triu_indices(grid.k, 1)
    subtracted = NOISE * (largest[i] + largest[j])
    rounding = np.maximum(1e-12 * np.abs(difference), subtracted)  # less is what rounding leaves of equal differences
    error, spread = (np.where(values <= rounding, 0.0, values) for values in (error, spread))
    units, groups = found.units.astype(np.int64), found.groups.astype(np.int64)
    return Pairs(grid, units, groups, difference, error, found.total, np.sqrt(found.norm), spread)


def squared_gaps(columns: Floats, backend: Backend = "auto") -> Floats:
    """(k, k) Σ (column i − column j)² for i < j; not from products of columns, whose digits would cancel."""
    return gap_sums(columns, backend, sums=False)[1]


def gap_sums(columns: Floats, backend: Backend = "auto", *, sums: bool = True) -> tuple[Floats, Floats]:
    """(k, k) Σ (column i − column j) for i < j, and of its squares; not from sums of columns, which are large."""
    k = columns.shape[1]
    added, squares = np.zeros((2, k, k))
    if compiles(backend, columns.size * k, _COMPILE_SQUARES_ABOVE, _GAP_SUMS):
        with compiling(_GAP_SUMS):
            from assay.stats.ranking import kernels as kernels_rank  # late: importing numba takes half a second

            kernels_rank.gap_sums(np.ascontiguousarray(columns), added, squares)
        return added, squares
    for left in range(0, k, _TILE):
        tile = np.ascontiguousarray(columns[:, left : left + _TILE])
        for i in range(min(left + _TILE, k) - 1):
            some = max(i + 1 - left, 0)
            later = slice(left + some, left + tile.shape[1])
            added[i, later], squares[i, later] = _gaps_added_up(columns[:, i, None], tile[:, some:], sums=sums)
    return added, squares


def _gaps_added_up(own: Floats, others: Floats, *, sums: bool) -> tuple[Floats, Floats]:
    """(m,) Sums of own − others, and of its squares, one row after the other: a block goes on with what was before."""
    n, m = others.shape
    width = max(m, 2)  # one column is summed pairwise
    room, (total, square) = np.empty((min(n, _ROWS) + 1, width)), np.zeros((2, width))
    for first in range(0, n, _ROWS):
        rows = room[: min(_ROWS, n - first) + 1]
        np.subtract(own[first : first + _ROWS], others[first : first + _ROWS], out=rows[1:, :m])
        rows[1:, m:] = 0.0
        if sums:
            rows[0] = total
            total = np.add.reduce(rows, axis=0)
        np.multiply(rows[1:], rows[1:], out=rows[1:])
        rows[0] = square
        square = np.add.reduce(rows, axis=0)
    return total[:m], square[:m]


# --------------------------------------------------------------------------------------------------------------- strata


@dataclass(frozen=True, eq=False, slots=True)
class StratumPairs:
    """System i less each of the m later ones, stratum by stratum, on the units that both have."""

    both: Truths  # (n, m)
    gaps: Floats  # (n, m) 0 where not both have a unit
    weights: Floats  # (n, m) of the units, such that every stratum weighs what it does in the grid
    value: Floats  # (T, m) the mean difference; NaN where the two share no unit

    @classmethod
    def of(cls, grid: Grid, i: int) -> "StratumPairs":
        assert grid.strata is not None
        both, gaps, weights = _shared(grid, i)
        mass = grouped(weights, grid.strata)  # (T, m)
        with np.errstate(divide="ignore", invalid="ignore"):
            weights = weights * (grid.stratum_mass[:, None] / mass)[grid.strata]
            value = grouped(gaps * weights, grid.strata) / grid.stratum_mass[:, None]
        weights = np.where(both, weights, 0.0)  # 0 · ∞ where a stratum is not shared
        return cls(both, gaps, weights, np.where(mass > 0, value, np.nan))

    @property
    def compared(self) -> Truths:
        """(m,) Whether the two share a unit of every stratum."""
        return np.asarray(~np.isnan(self.value).any(axis=0))


def _by_stratum(grid: Grid, i: int) -> _Sums:
    assert grid.strata is not None
    found = StratumPairs.of(grid, i)
    sums = flipped(grid, i, found)
    value = np.nan_to_num(found.value)
    total = added_up(grid.stratum_mass[:, None] * value)
    drawn = np.where(found.compared, 1.0, np.nan)
    residuals = grid.grouped(found.weights * (found.gaps - value[grid.strata]) * _factors(grid, found)[grid.strata])
    whole = np.full(len(total), float(grid.stratum_mass.sum()))
    apart = added_up(found.weights * (found.gaps - total / whole) ** 2)
    units = np.where(found.compared, np.count_nonzero(found.both, axis=0), 0.0)
    groups = np.where(found.compared, np.count_nonzero(grid.grouped(found.weights), axis=0), 0.0)
    square, norm = added_up(residuals * residuals), added_up(sums * sums)
    return _Sums(units, groups, whole, total * drawn, norm, square * np.where(groups > 1, drawn, np.nan), apart)


def flipped(grid: Grid, i: int, found: StratumPairs | None = None) -> Floats:
    """(G, m) The weighted differences of system i and each later one, summed by group."""
    found = StratumPairs.of(grid, i) if found is None else found
    weighted = found.gaps * found.weights
    return without_residue(grid.grouped(weighted), grid.grouped(np.abs(weighted)))


def _factors(grid: Grid, found: StratumPairs) -> Floats:
    """(T, m) √(n/(n − 1)), n the units or clusters of a stratum that both have; 1 for a single one."""
    n = drawn_by_stratum(grid, found.both)
    return np.sqrt(np.where(n > 1, n / np.where(n > 1, n - 1, 1.0), 1.0))


def drawn_by_stratum(grid: Grid, there: Truths) -> Floats:
    """(T, m) How many units of a stratum, or clusters of it, are there."""
    assert grid.strata is not None
    if grid.clusters is None:
        return grouped(there.astype(np.float64), grid.strata)
    count = int(grid.clusters.max()) + 1
    codes, cell = np.unique(grid.strata * count + grid.clusters, return_inverse=True)
    some = grouped(there.astype(np.float64), cell.astype(np.int64, copy=False)) > 0  # (cells, m)
    return grouped(some.astype(np.float64), codes // count)
