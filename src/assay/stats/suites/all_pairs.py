"""The totals of all pairs of systems over the strata (tasks) of a grid: each is that of `assay.stats.suites.total`.

Scores that are right or wrong, without clusters and with equal weights inside every task, need nothing but counts: the
items of each task that one of the two alone has right. Their totals are computed for all pairs at once. Other pairs
are taken one by one; where that would take too long, Student's t with the strata's variances stands in.

As everywhere with pairs, no number depends on the other systems.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from math import inf

import numpy as np

from assay.stats.numerics import critical_values, normal_quantile, two_sided
from assay.stats.proportions import FEWEST_DF, Effective, effective_counts, score_p, tango_limits
from assay.stats.ranking.pairs import Pairs, StratumPairs
from assay.stats.suites import TaskDifferences
from assay.stats.suites.total import LARGEST_SHARE, LEAST_P, MOST_P, Summed, summed
from assay.stats.units import Floats, Grid, Integers, Texts, Truths, Units, grouped, without_noise

SECONDS = 8.0  # what totals that are taken one by one may take
_PER_TASK, _PER_UNIT = 2.2e-4, 3e-8  # seconds of one pair
_TOLERANCE = 1e-9  # of a critical value
_ROUNDS = 80

_Limits = Callable[[float], tuple[Floats, Floats]]


@dataclass(frozen=True, eq=False)
class PairTotals:
    """System i less system j of every pair, NaN where they share no unit of a task; limits before they agree with p."""

    by_task: Floats  # (T, P) the differences
    value: Floats  # (P,)
    error: Floats  # (P,)
    p: Floats  # (P,)
    methods: Texts  # (P,)
    _limits: tuple[tuple[Integers, _Limits], ...]  # which pairs, and how

    def limits(self, level: float) -> tuple[Floats, Floats]:
        """(P,) Limits of every pair at this level."""
        low, high = np.full((2, len(self.value)), np.nan)
        for places, made in self._limits:
            low[places], high[places] = made(level)
        return low, high


@dataclass(frozen=True, eq=False, slots=True)
class _Found:
    """Of some pairs."""

    value: Floats
    error: Floats
    p: Floats
    method: str | Texts
    limits: _Limits


def pair_totals(pairs: Pairs, *, one_by_one: bool | None = None) -> PairTotals:
    """The totals of all pairs; ``one_by_one``: whether those that counts do not tell may take their time."""
    grid = pairs.grid
    counts = _Counts.of(grid)
    shared = pairs.units > 0
    closed = counts.plain & shared
    parts = [(np.flatnonzero(closed), _of_counts(counts.where(closed), _shares(grid)))]
    rest = np.flatnonzero(shared & ~closed)
    if len(rest):
        timely = _seconds(pairs, rest) <= SECONDS if one_by_one is None else one_by_one
        parts.append((rest, _each(pairs, rest) if timely else _student(pairs, rest)))
    value, error, p = np.full((3, len(shared)), np.nan)
    methods = np.full(len(shared), "degenerate", dtype=object)
    for places, found in parts:
        value[places], error[places], p[places], methods[places] = found.value, found.error, found.p, found.method
    return PairTotals(counts.value, value, error, p, methods, tuple((places, found.limits) for places, found in parts))


def _shares(grid: Grid) -> Floats:
    return np.asarray(grid.stratum_mass / grid.stratum_mass.sum())


def _added(parts: Floats) -> Floats:
    """(P,) Of (T, P): task after task, however many pairs there are."""
    found = np.zeros(parts.shape[1])
    for part in parts:
        found = found + part
    return found


# --------------------------------------------------------------------------------------------------------------- counts


@dataclass(frozen=True, eq=False, slots=True)
class _Counts:
    """(T, P): items that i alone has right, that j alone has, and all that both have answered."""

    b: Floats
    c: Floats
    n: Floats
    value: Floats  # the difference of the means
    plain: Truths  # (P,) whether counts say everything

    @classmethod
    def of(cls, grid: Grid) -> "_Counts":
        parts = [_counted(grid, i) for i in range(grid.k - 1)]
        b, c, n, value = (np.concatenate([part[0][field] for part in parts], axis=1) for field in range(4))
        return cls(b, c, n, value, np.concatenate([part[1] for part in parts]))

    def where(self, chosen: Truths) -> "_Counts":
        b, c, n, value = (part[:, chosen] for part in (self.b, self.c, self.n, self.value))
        return _Counts(b, c, n, value, self.plain[chosen])


def _counted(grid: Grid, i: int) -> tuple[tuple[Floats, Floats, Floats, Floats], Truths]:
    assert grid.strata is not None
    found = StratumPairs.of(grid, i)
    b, c, n = (grouped(part.astype(np.float64), grid.strata) for part in (found.gaps > 0, found.gaps < 0, found.both))
    partial_credit = grid.present & (grid.values != 0) & (grid.values != 1)
    either = (partial_credit[:, [i]] | partial_credit[:, i + 1 :]) & found.both
    plain = np.full(b.shape[1], grid.together is None and _equal_inside(grid)) & ~either.any(axis=0)
    return (b, c, n, found.value), plain


def _equal_inside(grid: Grid) -> bool:
    """Whether the units of a task weigh the same."""
    assert grid.strata is not None
    n = np.bincount(grid.strata)
    return bool(np.allclose(grid.weights, (grid.stratum_mass / n)[grid.strata], rtol=1e-9, atol=0.0))


def _of_counts(found: _Counts, shares: Floats) -> _Found:
    """Effective Tango, or MOVER where one task has more than half of Σ w²/n."""
    w = shares[:, None]
    parts = w**2 / found.n
    mover = np.asarray(parts.max(axis=0, initial=0.0) / _added(parts) > LARGEST_SHARE)
    value = _added(w * (found.b - found.c) / found.n)
    spread = np.maximum(found.b + found.c - (found.b - found.c) ** 2 / found.n, 0.0)
    variances = w**2 * spread / (found.n * np.maximum(found.n - 1, 1))
    error = np.sqrt(_added(variances))
    b, c, n, df = _effective(found, w, value, variances)
    method = np.where(mover, "mover", "tango").astype(object)
    p = score_p(b, c, 1.0, df)
    p[mover] = _mover_p(found.where(mover), w, value[mover])
    return _Found(value, error, p, method, partial(_tango_or_mover, (b, c, n, df), found, w, value, mover))


def _effective(found: _Counts, w: Floats, value: Floats, variances: Floats) -> tuple[Floats, Floats, Floats, Floats]:
    """(P,) Counts of one task that would have the same difference, share of items that differ, and variance."""
    only_i, only_j = _added(w * found.b / found.n), _added(w * found.c / found.n)
    variance, differing = _added(variances), only_i + only_j - value**2
    known = (variance > 0) & (differing > 0)
    sizes = w**2 / found.n
    n = np.where(known, differing / np.where(known, variance, 1.0), 1 / _added(sizes))
    used, most = np.where(known, variances, sizes), np.maximum(found.n - 1, FEWEST_DF)
    freedom = np.where(known, _satterthwaite(found, most), most)
    df = _added(used) ** 2 / _added(used**2 / freedom)
    return n * only_i, n * only_j, n, np.maximum(df, FEWEST_DF)


def _satterthwaite(found: _Counts, most: Floats) -> Floats:
    """(T, P) Degrees of freedom of each task's variance, from the kurtosis of b ones, c minus ones and zeros."""
    mean = (found.b - found.c) / found.n
    same, up, down, flat = found.n - found.b - found.c, (1 - mean) ** 2, (1 + mean) ** 2, mean**2
    second = found.b * up + found.c * down + same * flat
    fourth = found.b * up * up + found.c * down * down + same * flat * flat
    spread = second > 0
    kurtosis = np.where(spread, found.n * fourth / np.where(spread, second, 1.0) ** 2, 0.0)
    heavy = kurtosis > 1
    some = np.maximum(2 * found.n / np.where(heavy, kurtosis - 1, 1.0), FEWEST_DF)
    return np.where(heavy, np.minimum(most, some), most)


def _tango_or_mover(
    effective: tuple[Floats, Floats, Floats, Floats],
    found: _Counts,
    w: Floats,
    value: Floats,
    mover: Truths,
    level: float,
) -> tuple[Floats, Floats]:
    b, c, n, df = effective
    low, high = tango_limits(b, c, n, _reach(level, df))
    if mover.any():
        low[mover], high[mover] = _mover_limits(found.where(mover), w, value[mover], np.full(mover.sum(), _z(level)))
    return low, high


def _reach(level: float, df: Floats) -> Floats:
    distinct, place = np.unique(df, return_inverse=True)
    return critical_values(level, distinct)[place]


def _z(level: float) -> float:
    return -normal_quantile((1 - level) / 2)


def _mover_limits(found: _Counts, w: Floats, value: Floats, z: Floats) -> tuple[Floats, Floats]:
    """(P,) D ∓ √Σ w² (D_t − limit_t)², each task's limits at the critical value z of the pair."""
    each = (found.b - found.c) / found.n
    reach = np.broadcast_to(z, each.shape)
    limits = tango_limits(*(part.ravel() for part in (found.b, found.c, found.n, reach)))
    low, high = (limit.reshape(each.shape) for limit in limits)
    return value - np.sqrt(_added(w**2 * (each - low) ** 2)), value + np.sqrt(_added(w**2 * (each - high) ** 2))


def _mover_p(found: _Counts, w: Floats, value: Floats) -> Floats:
    """(P,) The α at which a limit reaches 0, for every pair by itself."""
    if not len(value):
        return np.zeros(0)

    def beyond(z: Floats) -> Floats:
        low, high = _mover_limits(found, w, value, z)
        return np.where(value > 0, -low, high)

    least, most = (np.full(len(value), _z(1 - alpha)) for alpha in (MOST_P, LEAST_P))
    at_least, at_most = beyond(least), beyond(most)
    z = _roots(beyond, least, most, at_least, at_most)
    p = two_sided(z, np.full(len(z), inf))
    return np.where((value == 0) | (at_least >= 0), 1.0, np.where(at_most <= 0, LEAST_P, p))


def _roots(function: Callable[[Floats], Floats], low: Floats, high: Floats, at_low: Floats, at_high: Floats) -> Floats:
    """(P,) Where an increasing function is 0, by the Illinois method; each pair stops by itself."""
    low, high, at_low, at_high = low.copy(), high.copy(), at_low.copy(), at_high.copy()
    with np.errstate(divide="ignore", invalid="ignore"):
        for _ in range(_ROUNDS):
            going = (high - low > _TOLERANCE) & (at_low < 0) & (at_high > 0)
            if not going.any():
                break
            guess = low - at_low * (high - low) / (at_high - at_low)
            inside = np.minimum(np.maximum(guess, low + _TOLERANCE / 4), high - _TOLERANCE / 4)
            found = function(inside)
            right = found >= 0
            at_high = np.where(going, np.where(right, found, at_high / 2), at_high)
            at_low = np.where(going, np.where(right, at_low / 2, found), at_low)
            high, low = np.where(going & right, inside, high), np.where(going & ~right, inside, low)
    return np.where(at_low >= 0, low, 0.5 * (low + high))


# ----------------------------------------------------------------------------------------------------------- one by one


def _seconds(pairs: Pairs, chosen: Integers) -> float:
    return float(len(chosen) * (_PER_TASK * len(pairs.grid.stratum_mass) + _PER_UNIT * pairs.grid.n))


def _each(pairs: Pairs, chosen: Integers) -> _Found:
    shares = _shares(pairs.grid)
    found = [summed(task_differences(pairs.grid, *pairs.index[:, r].tolist()), shares) for r in chosen.tolist()]
    value, error, p = (np.array([getattr(one, name) for one in found]) for name in ("value", "error", "p"))
    methods = np.array([one.method for one in found], dtype=object)
    return _Found(value, error, p, methods, partial(_limits_of_each, found))


def _limits_of_each(found: Sequence[Summed], level: float) -> tuple[Floats, Floats]:
    low, high = np.array([one.limits(level) for one in found]).T
    return low, high


def task_differences(grid: Grid, i: int, j: int) -> list[TaskDifferences]:
    """System i less system j on each task, as `compare` has them of two systems."""
    assert grid.strata is not None
    both = grid.present[:, i] & grid.present[:, j]
    rows = [np.flatnonzero(both & (grid.strata == code)) for code in range(len(grid.stratum_mass))]
    return [_differences(grid, i, j, own) for own in rows]


def _differences(grid: Grid, i: int, j: int, rows: Integers) -> TaskDifferences:
    a, b = grid.values[rows, i], grid.values[rows, j]
    equal = bool((grid.weights[rows] == grid.weights[rows[0]]).all())
    weights = np.ones(len(rows)) if equal else grid.weights[rows]
    owners = None if grid.together is None else grid.together[rows]
    clusters = None
    if grid.clusters is not None:
        distinct, first, codes = np.unique(grid.clusters[rows], return_index=True, return_inverse=True)
        if len(distinct) < len(rows) and owners is not None:  # clusters of one unit each are none
            clusters, owners = codes.astype(np.int64, copy=False), owners[first]
    single = (a - b) * weights
    sums, mass = (part if clusters is None else grouped(part, clusters) for part in (single, weights))
    sizes = (np.abs(a) + np.abs(b)) * weights
    drawn = without_noise(Units(sums, mass), sizes if clusters is None else grouped(sizes, clusters))
    right = bool((((a == 0) | (a == 1)) & ((b == 0) | (b == 1))).all())
    return TaskDifferences(
        drawn, _effective_of(single, weights, drawn, plain=equal and clusters is None, right=right), owners
    )


def _effective_of(single: Floats, weights: Floats, drawn: Units, *, plain: bool, right: bool) -> Effective | None:
    signs = np.sign(single)
    if not right or (not plain and drawn.n < 2):
        return None
    if plain:
        b, c = (float((signs == sign).sum()) for sign in (1, -1))
        return Effective(b, c, float(len(signs)), 1.0, inf)
    return effective_counts(signs, weights, drawn)


def _student(pairs: Pairs, chosen: Integers) -> _Found:
    """The difference over its error, by what is drawn less one for every task."""
    value, error = pairs.difference[chosen], pairs.standard_error[chosen]
    df = np.maximum(pairs.groups[chosen] - float(len(pairs.grid.stratum_mass)), 1.0)
    spread = error > 0
    t = np.divide(value, error, out=np.zeros(len(value)), where=spread)
    p = np.where(spread, two_sided(t, df), np.where(value == 0, 1.0, 0.5 ** (pairs.groups[chosen] - 1.0)))
    return _Found(
        value, error, p, "t", lambda level: (value - _reach(level, df) * error, value + _reach(level, df) * error)
    )
