"""All k(k − 1)/2 pairs of systems: differences, standard errors and paired tests.

The sign-flip test is exact where that is quick: for 0/1 scores it is McNemar's test, a binomial probability for every
pair; for few pairs the distribution over all sign vectors is computed pair by pair (`assay.stats.paired_tests`).
Otherwise the signs are shared by all pairs (`assay.stats.ranking.shared_signs`): all sign vectors of up to 16 groups,
random ones of more.

B random flips cannot show a p-value below 1/(B + 1), which after adjusting for a thousand pairs is nothing. But a
weighted sum of signs has tails at most c = 1/(4·P(Z ≥ √2)) ≈ 3.18 times as heavy as the normal ones (Bentkus and
Dzindzalieta 2015): p ≤ 2c·P(Z ≥ z) with z = |Σd| / √Σd², whatever the differences. Where this bound is below what the
flips show it is taken instead; where that is not small enough to settle the matter and few pairs are concerned, they
are computed exactly.
"""

from dataclasses import dataclass
from functools import cached_property
from math import sqrt

import numpy as np

from assay.stats.bootstrap.resampling import Engine
from assay.stats.numerics import SMALLEST_P, normal_cdf
from assay.stats.paired_tests import sign_flip, wilcoxon
from assay.stats.proportions import mcnemar_p
from assay.stats.ranking.shared_signs import Flips, count_reached, share_reached
from assay.stats.records import Fallback
from assay.stats.rounding import NOISE, TOLERANCE, without_residue
from assay.stats.units import Floats, Grid, Integers, Truths

STAND_IN_FLIPS = 10_000
EXACT_SECONDS = 1.5  # what exact tests of all pairs may take
_PER_PAIR, _PER_GROUP = 2e-3, 7e-7  # seconds of an exact test: 3 ms at 1,000 groups, 6 ms at 6,000
_COMPILE_ABOVE = 2e8  # squares
_HEAVIEST = 0.25 / normal_cdf(-sqrt(2))  # Bentkus and Dzindzalieta's constant, 3.178
_FEW_REACHED = 100  # flips: fewer, and their share is uncertain by more than a tenth
_CLEAR = 1e-3  # a bound this small, times the number of pairs, needs no further digit


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
    if engine == "compiled" or (engine == "auto" and columns.size * k > _COMPILE_ABOVE):
        from assay.stats.ranking import kernels as kernels_rank  # late: importing numba takes half a second

        kernels_rank.squared_gaps(np.ascontiguousarray(columns), out)
        return out
    for i in range(k - 1):
        gap = columns[:, i, None] - columns[:, i + 1 :]
        out[i, i + 1 :] = (gap * gap).sum(axis=0)
    return out


@dataclass(frozen=True, eq=False, slots=True)
class PairTests:
    """The same test of every pair: (P,) p-values, NaN where a pair has none, and how they came about."""

    name: str
    p_values: Floats
    statistics: Floats
    how: str  # "exact", "shared signs", "closed form"
    resamples: int | None = None
    fallbacks: tuple[Fallback, ...] = ()
    names: tuple[str, ...] | None = None  # (P,) of each pair, where not all have the same test


def sign_flips(
    pairs: Pairs,
    *,
    n_resamples: int | None = None,
    seed: int = 0,
    engine: Engine = "auto",
    chosen: Truths | None = None,
) -> PairTests:
    """Sign-flip tests of all pairs, or the chosen ones; ``n_resamples=None`` is exact wherever that is quick.

    >>> import numpy as np
    >>> scores = np.array([[1.0, 2, 4], [2, 4, 6], [3, 6, 9], [4, 8, 8], [5, 10, 9]])
    >>> sign_flips(pairs_of(Grid(scores, np.ones(5)))).p_values  # 2 of 32 sign vectors reach |15| and |16|
    array([0.0625, 0.0625, 0.25  ])
    """
    if n_resamples is None and pairs.grid.binary:
        return _mcnemar(pairs)
    chosen = np.ones(len(pairs.units), dtype=bool) if chosen is None else chosen
    wanted = np.flatnonzero(chosen)
    if n_resamples is None and _seconds(pairs, wanted) <= EXACT_SECONDS:
        p = np.full(len(pairs.units), np.nan)
        p[wanted], fallbacks = _exact(pairs, wanted, seed)
        return PairTests("sign-flip", p, _signed(pairs), "exact", None, fallbacks)
    return _shared(pairs, n_resamples, seed, engine, chosen)


def _signed(pairs: Pairs) -> Floats:
    return np.where(pairs.units > 0, np.sign(pairs.total) * pairs.evidence, np.nan)


def _seconds(pairs: Pairs, chosen: Integers) -> float:
    return float((_PER_PAIR + _PER_GROUP * pairs.groups[chosen]).sum())


def _exact(pairs: Pairs, chosen: Integers, seed: int) -> tuple[Floats, tuple[Fallback, ...]]:
    p, fallbacks = np.full(len(chosen), np.nan), {}
    for place, r in enumerate(chosen.tolist()):
        if not pairs.units[r]:
            continue
        test, noted = sign_flip(pairs.grid.pair(*pairs.index[:, r].tolist()).numerators, seed=seed)
        p[place] = test.p_value
        fallbacks.update(dict.fromkeys(noted))
    return p, tuple(fallbacks)


def _mcnemar(pairs: Pairs) -> PairTests:
    """McNemar's exact test of all pairs: where exactly one is right, either is with probability ½."""
    present = pairs.grid.present.astype(np.float64)
    right = np.where(pairs.grid.present, pairs.grid.values, 0.0)
    alone = right.T @ (present - right)  # counts, so sums are exact
    i, j = pairs.index
    p = np.where(pairs.units > 0, mcnemar_p(alone[i, j], alone[j, i], exact=True), np.nan)
    return PairTests("mcnemar", p, _signed(pairs), "exact")


def _shared(pairs: Pairs, n_resamples: int | None, seed: int, engine: Engine, chosen: Truths) -> PairTests:
    flips = Flips.of(pairs.grid, seed=seed, engine=engine)
    count = flips.count(n_resamples or STAND_IN_FLIPS)
    reached = count_reached(flips, pairs.total, pairs.norm, count)
    p = share_reached(reached, count, exact=flips.exact)
    if flips.exact:
        return PairTests("sign-flip", np.where(pairs.units > 0, p, np.nan), _signed(pairs), "exact")
    bound = np.array([2 * _HEAVIEST * normal_cdf(-z) for z in pairs.evidence.tolist()])
    fallbacks: tuple[Fallback, ...] = ()
    if n_resamples is None:
        doubtful = np.flatnonzero(chosen & (reached < _FEW_REACHED) & (bound * len(p) > _CLEAR))
        if _seconds(pairs, doubtful) <= EXACT_SECONDS:
            p[doubtful], fallbacks = _exact(pairs, doubtful, seed)
            bound[doubtful] = np.inf
    least = np.maximum(2.0 ** (1 - pairs.groups), SMALLEST_P)  # no sign vector is rarer than 2 of all
    p = np.where(pairs.units > 0, np.clip(np.minimum(p, bound), least, 1.0), np.nan)
    return PairTests("sign-flip", p, _signed(pairs), "shared signs", count, fallbacks)


def t_tests(pairs: Pairs) -> PairTests:
    """Difference / linearised standard error against Student's t, for all pairs."""
    from scipy.special import stdtr  # late

    usable = pairs.standard_error > 0
    t = np.divide(pairs.difference, pairs.standard_error, out=np.full(len(usable), np.nan), where=usable)
    p = np.maximum(2 * stdtr(pairs.groups - 1.0, -np.abs(t)), SMALLEST_P)
    equal = (pairs.norm == 0) & (pairs.units > 0)  # identical systems
    return PairTests("t", np.where(equal, 1.0, p), np.where(equal, 0.0, t), "closed form")


def wilcoxon_tests(pairs: Pairs) -> PairTests:
    """Wilcoxon's signed-rank test of the groups' mean differences, pair by pair."""
    p, statistics = np.full(len(pairs.units), np.nan), np.full(len(pairs.units), np.nan)
    for r, (i, j) in enumerate(pairs.index.T.tolist()):
        if pairs.units[r]:
            units = pairs.grid.pair(i, j)
            test = wilcoxon(units.numerators / units.denominators)
            p[r] = np.nan if test.p_value is None else test.p_value
            statistics[r] = np.nan if test.statistic is None else test.statistic
    return PairTests("wilcoxon", p, statistics, "closed form")
