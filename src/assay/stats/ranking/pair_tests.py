"""Paired tests of all k(k − 1)/2 pairs of systems at once.

The sign-flip test is exact where that is quick: for 0/1 scores it is McNemar's test, a binomial probability for every
pair; for few pairs the distribution over all sign vectors is computed pair by pair (`assay.stats.paired_tests`).
Otherwise the signs are shared by all pairs (`assay.stats.ranking.shared_signs`): all sign vectors of up to 16 groups,
random ones of more.

B random flips cannot show a p-value below 1/(B + 1), which after adjusting for a thousand pairs is nothing. But a
weighted sum of signs has tails at most c = 1/(4·P(Z ≥ √2)) ≈ 3.18 times as heavy as the normal ones (Bentkus and
Dzindzalieta 2015): p ≤ 2c·P(Z ≥ z) with z = |Σd| / √Σd², whatever the differences. Where this bound is below what the
flips show it is taken instead; where that is not small enough to settle the matter and few pairs are concerned, they
are computed exactly.

0/1 scores: on how many items one system alone is right, and what clusters and weights take off these counts, as
`assay.stats.proportions.effective_counts` gives them for one pair. The tests and intervals of counts are there.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import inf, sqrt

import numpy as np

from assay.stats.numerics import SMALLEST_P, critical_values, normal_cdf
from assay.stats.paired_tests import sign_flip, wilcoxon
from assay.stats.proportions import FEWEST_DF, design_effects, mcnemar_p, score_p, score_statistic, tango_limits
from assay.stats.ranking.flips import flips_of
from assay.stats.ranking.pairs import Pairs, added_up, answers_only, discordant
from assay.stats.ranking.shared_signs import count_reached, share_reached
from assay.stats.records import Fallback
from assay.stats.units import Floats, Grid, Integers, Truths

STAND_IN_FLIPS = 10_000
EXACT_SECONDS = 1.5  # what exact tests of all pairs may take
_PER_PAIR, _PER_GROUP = 2e-3, 7e-7  # seconds of an exact test: 3 ms at 1,000 groups, 6 ms at 6,000
_HEAVIEST = 0.25 / normal_cdf(-sqrt(2))  # Bentkus and Dzindzalieta's constant, 3.178
_FEW_REACHED = 100  # flips: fewer, and their share is uncertain by more than a tenth
_CLEAR = 1e-3  # a bound this small, times the number of pairs, needs no further digit


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
    sampled: Truths | None = None  # (P,) whether p is a share of random sign flips; None: none is


@dataclass(frozen=True, eq=False, slots=True)
class FixedWays:
    """How some pairs are tested, whatever the number of pairs and the time that it takes."""

    fixed: Truths  # (P,) which pairs
    sampled: Truths  # (P,) by random sign flips; otherwise exactly


def sign_flips(
    pairs: Pairs,
    *,
    resamples: int | None = None,
    seed: int = 0,
    chosen: Truths | None = None,
    ways: FixedWays | None = None,
) -> PairTests:
    """Sign-flip tests of all pairs, or the chosen ones; ``resamples=None`` is exact wherever that is quick.

    ``ways`` says of some pairs whether they are tested exactly; where none of them is sampled, no other is.

    >>> import numpy as np
    >>> scores = np.array([[1.0, 2, 4], [2, 4, 6], [3, 6, 9], [4, 8, 8], [5, 10, 9]])
    >>> from assay.stats.ranking.pairs import pairs_of
    >>> sign_flips(pairs_of(Grid(scores, np.ones(5)))).p_values  # 2 of 32 sign vectors reach |15| and |16|
    array([0.0625, 0.0625, 0.25  ])
    """
    grid, chosen = pairs.grid, np.ones(len(pairs.units), dtype=bool) if chosen is None else chosen
    if resamples is None and grid.clusters is None and grid.equal_weights:
        binary = right_or_wrong(pairs) & chosen
        if binary.all():
            return _mcnemar(pairs, binary)
        if binary.any():
            others = _flipped(pairs, resamples, seed, chosen & ~binary, ways)
            return _mixed(binary, _mcnemar(pairs, binary), others)
    return _flipped(pairs, resamples, seed, chosen, ways)


def _mixed(binary: Truths, right: PairTests, others: PairTests) -> PairTests:
    """Each pair with the test that it would have by itself."""
    return replace(
        others,
        name=f"{right.name} and {others.name}",
        p_values=np.where(binary, right.p_values, others.p_values),
        names=tuple(np.where(binary, right.name, others.name).tolist()),
        sampled=None if others.sampled is None else others.sampled & ~binary,
    )


def _flipped(pairs: Pairs, resamples: int | None, seed: int, chosen: Truths, ways: FixedWays | None) -> PairTests:
    wanted = np.flatnonzero(chosen)
    told = ways is not None and bool((ways.fixed & chosen).any())
    quick = _seconds(pairs, wanted) <= EXACT_SECONDS
    if told and ways is not None:
        quick = not (ways.sampled & chosen).any()
    if resamples is None and quick:
        p = np.full(len(pairs.units), np.nan)
        p[wanted], fallbacks = _exact(pairs, wanted, seed)
        return PairTests("sign-flip", p, _signed(pairs), "exact", None, fallbacks)
    return _shared(pairs, resamples, seed, chosen, ways)


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


def _mcnemar(pairs: Pairs, binary: Truths) -> PairTests:
    """McNemar's exact test of pairs of 0/1 scores: where exactly one is right, either is with probability ½."""
    b, c = (np.where(binary, part, 0.0) for part in _alone(pairs))
    p = np.where(pairs.units > 0, mcnemar_p(b, c, exact=True), np.nan)
    return PairTests("mcnemar", p, _signed(pairs), "exact")


def _shared(pairs: Pairs, resamples: int | None, seed: int, chosen: Truths, ways: FixedWays | None) -> PairTests:
    flips = flips_of(pairs, seed)
    count = flips.count(resamples or STAND_IN_FLIPS)
    bound = np.array([2 * _HEAVIEST * normal_cdf(-z) for z in pairs.evidence.tolist()])
    wanted = np.ones_like(chosen) if flips.exact else chosen & (bound * (1 + count) > 1)  # others take their bound
    reached = count_reached(flips, pairs.total, pairs.norm, count, wanted)
    p = share_reached(reached, count, exact=flips.exact)
    if flips.exact:
        return PairTests("sign-flip", np.where(pairs.units > 0, p, np.nan), _signed(pairs), "exact")
    fallbacks: tuple[Fallback, ...] = ()
    sampled = chosen.copy()
    if resamples is None:
        exactly = _doubtful(pairs, chosen & (reached < _FEW_REACHED) & (bound * len(p) > _CLEAR), ways)
        p[exactly], fallbacks = _exact(pairs, exactly, seed)
        bound[exactly], sampled[exactly] = np.inf, False
    least = np.maximum(2.0 ** (1 - pairs.groups), SMALLEST_P)  # no sign vector is rarer than 2 of all
    p = np.where(pairs.units > 0, np.clip(np.minimum(p, bound), least, 1.0), np.nan)
    return PairTests("sign-flip", p, _signed(pairs), "shared signs", count, fallbacks, sampled=sampled)


def _doubtful(pairs: Pairs, unclear: Truths, ways: FixedWays | None) -> Integers:
    """Which pairs are tested exactly after all: those that flips do not settle, if they are few; and as was fixed."""
    free = np.flatnonzero(unclear if ways is None else unclear & ~ways.fixed)
    some = free if _seconds(pairs, free) <= EXACT_SECONDS else free[:0]
    return some if ways is None else np.union1d(some, np.flatnonzero(ways.fixed & ~ways.sampled))


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


@dataclass(frozen=True, eq=False, slots=True)
class PairCounts:
    """For every pair i < j: the items that i alone has right, those that j alone has, and all; times their weights."""

    b: Floats  # (P,)
    c: Floats  # (P,)
    n: Floats  # (P,)
    deff: Floats  # (P,) the design effect; 1 without clusters and weights
    df: Floats  # (P,) infinite without them
    plain: bool
    binary: Truths  # (P,) whether a pair's scores are 0/1; others have no counts

    def p_values(self, *, exact: bool = False) -> Floats:
        """McNemar's mid-p, or its exact p; with clusters or weights that of the score statistic."""
        return mcnemar_p(self.b, self.c, exact=exact) if self.plain else score_p(self.b, self.c, self.deff, self.df)

    def own_p(self) -> Floats:
        """The smallest α at which Tango's interval leaves out 0."""
        return score_p(self.b, self.c, self.deff, self.df)

    def statistics(self) -> Floats:
        return score_statistic(self.b, self.c, self.deff)

    def limits(self, level: float) -> tuple[Floats, Floats]:
        """Tango's limits of each pair's difference."""
        df, place = np.unique(self.df, return_inverse=True)
        return self.limits_at(critical_values(level, df)[place])

    def limits_at(self, reach: Floats) -> tuple[Floats, Floats]:
        """The same at a critical value."""
        return tango_limits(self.b / self.deff, self.c / self.deff, self.n / self.deff, reach)


def counts_of(pairs: Pairs) -> PairCounts:
    """The counts of all pairs; those that share no unit have 0 of 1."""
    grid, units, binary = pairs.grid, np.maximum(pairs.units, 1).astype(np.float64), right_or_wrong(pairs)
    if grid.equal_weights and grid.clusters is None:
        b, c = (np.where(binary, part, 0.0) for part in _alone(pairs))
        return PairCounts(b, c, units, np.ones(len(b)), np.full(len(b), inf), plain=True, binary=binary)
    found = _Drawn.joined([_drawn_against_later(grid, i) for i in range(grid.k - 1)])
    shared, kish = np.where(found.mass > 0, found.mass, 1.0), np.maximum(found.kish, 1.0)
    b, c = (np.where(binary, units * part / shared, 0.0) for part in (found.b, found.c))
    variance = np.nan_to_num(pairs.standard_error) ** 2
    effects = design_effects(variance, b, c, units, kish, found.of_weights)
    deff = np.where(np.isfinite(pairs.standard_error), effects, units / kish)
    df = np.where(pairs.groups > 1, found.df, pairs.groups - 1.0)
    return PairCounts(b, c, units, deff, np.maximum(df, FEWEST_DF), plain=False, binary=binary)


def _alone(pairs: Pairs) -> tuple[Floats, Floats]:
    """(P,) How many items one of the two alone has right: counts, so sums are exact."""
    grid, (i, j) = pairs.grid, pairs.index
    alone = discordant(grid.values == 1, grid.values == 0)
    return np.asarray(alone[i, j]), np.asarray(alone[j, i])


def right_or_wrong(pairs: Pairs) -> Truths:
    """(P,) Whether every score of the items that both have is 0 or 1."""
    grid, (i, j) = pairs.grid, pairs.index
    if grid.whole:
        single = answers_only(grid.values)
        return np.asarray(single[i] & single[j])
    partial = np.where(grid.present & (grid.values != 0) & (grid.values != 1), 1.0, 0.0)
    if not partial.any():
        return np.ones(len(i), dtype=bool)
    shared = partial.T @ grid.present.astype(np.float64)  # [i, j]: items of both where i has neither
    return np.asarray((shared[i, j] == 0) & (shared[j, i] == 0))


@dataclass(frozen=True, eq=False, slots=True)
class _Drawn:
    """(P,) Of units in clusters or with weights, as `assay.stats.proportions.effective_counts` has them of one pair."""

    b: Floats  # the weight of what i alone has right
    c: Floats
    mass: Floats  # of what both have
    of_weights: Floats  # Kish's design effect of those weights
    kish: Floats  # his number of what is drawn
    df: Floats  # Satterthwaite's degrees of freedom

    @classmethod
    def joined(cls, parts: "Sequence[_Drawn]") -> "_Drawn":
        return cls(*(np.concatenate([getattr(part, name) for part in parts]) for name in cls.__slots__))


def _drawn_against_later(grid: Grid, i: int) -> _Drawn:
    """From the jackknife deviations of the ratios, as `units.shape` has them for one."""
    both = grid.present[:, [i]] & grid.present[:, i + 1 :]  # (n, m)
    weights = np.where(both, grid.weights[:, None], 0.0)
    gaps = np.where(both, grid.values[:, [i]] - grid.values[:, i + 1 :], 0.0)
    b, c = (added_up(np.where(ahead, weights, 0.0)) for ahead in (gaps > 0, gaps < 0))
    num, den = grid.grouped(gaps * weights), grid.grouped(weights)  # (G, m)
    drawn = den > 0
    n, total = drawn.sum(axis=0), added_up(den)
    rest = total - den
    left_out = np.divide(added_up(num) - num, rest, out=np.zeros_like(num), where=drawn & (rest > 0))
    mean = added_up(left_out) / np.maximum(n, 1)
    square = np.where(drawn, left_out - mean, 0.0) ** 2
    second = added_up(square)
    kurtosis = np.divide(n * added_up(square * square), second**2, out=np.zeros(len(n)), where=second > 0)
    some = np.maximum(2 * n / np.where(kurtosis > 1, kurtosis - 1, 1.0), 1.0)
    df = np.where(kurtosis > 1, np.minimum(n - 1.0, some), n - 1.0)
    kish = total**2 / np.maximum(added_up(den * den), 1e-300)
    return _Drawn(b, c, total, _of_weights(grid, weights), kish, df)


def _of_weights(grid: Grid, weights: Floats) -> Floats:
    """(m,) Kish's design effect of the weights of the items that a pair shares."""
    if grid.equal_weights:
        return np.ones(weights.shape[1])
    share = weights / grid.weights.max()
    mass, n = added_up(share), np.count_nonzero(weights, axis=0)
    return np.asarray(np.maximum(n * added_up(share * share) / np.where(mass > 0, mass, 1.0) ** 2, 1.0))
