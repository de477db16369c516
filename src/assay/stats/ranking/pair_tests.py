"""Paired tests of all k(k − 1)/2 pairs of systems at once.

The sign-flip test is exact where that is quick: for 0/1 scores it is McNemar's test, a binomial probability for every
pair; for few pairs the distribution over all sign vectors is computed pair by pair (`assay.stats.paired_tests`), for
many at once, where there are many units and none is large (`assay.stats.ranking.sign_moments`).
Otherwise the signs are shared by all pairs (`assay.stats.ranking.shared_signs`): all sign vectors of up to 16 groups,
random ones of more.

B random flips cannot show a p-value below 1/(B + 1), which after adjusting for a thousand pairs is nothing. But a
weighted sum of signs has tails at most c = 1/(4·P(Z ≥ √2)) ≈ 3.18 times as heavy as the normal ones (Bentkus and
Dzindzalieta 2015): p ≤ 2c·P(Z ≥ z) with z = |Σd| / √Σd², whatever the differences. Where this bound is below what the
flips show it is taken instead; where that is not small enough to settle the matter and few pairs are concerned, they
are computed exactly.
"""

from dataclasses import dataclass, replace
from math import erfc, sqrt

import numpy as np

from assay.stats.numerics import SMALLEST_P, normal_cdf
from assay.stats.paired_tests import sign_flip, wilcoxon
from assay.stats.proportions import mcnemar_p
from assay.stats.ranking.flips import flips_of
from assay.stats.ranking.pair_counts import alone_right, right_or_wrong
from assay.stats.ranking.pairs import Pairs
from assay.stats.ranking.shared_signs import count_reached, share_reached
from assay.stats.ranking.sign_moments import exact_p_values, moments_serve
from assay.stats.records import Fallback
from assay.stats.units import Floats, Integers, Truths

STAND_IN_FLIPS = 10_000
EXACT_SECONDS = 1.5  # what exact tests of all pairs may take
_PER_PAIR, _PER_GROUP = 2e-3, 7e-7  # seconds of an exact test: 3 ms at 1,000 groups, 6 ms at 6,000
_MOMENTS_PER_PAIR, _MOMENTS_PER_GROUP = 2e-5, 6e-9  # of one among many that are computed from moments
MOMENT_SECONDS = 0.3  # what they may take: less than flips of as many pairs
_FAR = 10.0  # evidence: p is below 1e-22, and a bound that is three times as large will do
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
    >>> from assay.stats.units import Grid
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
    told = ways is not None and bool((ways.fixed & chosen).any())
    drawn = told and ways is not None and bool((ways.sampled & chosen).any())
    if resamples is None and not drawn:
        wanted = np.flatnonzero(chosen)
        known = _from_moments(pairs, wanted)
        left = wanted[np.isnan(known[wanted])]
        if told or _seconds(pairs, left) <= EXACT_SECONDS:
            known[left], fallbacks = _exact(pairs, left, seed)
            return PairTests("sign-flip", known, _signed(pairs), "exact", None, fallbacks)
        return _shared(pairs, resamples, seed, chosen, ways, known)
    return _shared(pairs, resamples, seed, chosen, ways, np.full(len(pairs.units), np.nan))


def _from_moments(pairs: Pairs, wanted: Integers) -> Floats:
    """(P,) Exact p-values of the wanted pairs where moments settle them in time, else NaN.

    Which pairs they settle depends on nothing but the two systems. Far out, where they cannot, the bound is taken.
    """
    p = np.full(len(pairs.units), np.nan)
    if not moments_serve(pairs.grid) or _moments_seconds(pairs, wanted) > min(MOMENT_SECONDS, EXACT_SECONDS):
        return p
    p[wanted] = exact_p_values(pairs, wanted)
    far = wanted[np.isnan(p[wanted]) & (pairs.evidence[wanted] > _FAR)]
    p[far] = np.maximum(_bounds(pairs.evidence[far]), _least_p(pairs.groups[far]))
    return p


def _moments_seconds(pairs: Pairs, wanted: Integers) -> float:
    return float((_MOMENTS_PER_PAIR + _MOMENTS_PER_GROUP * pairs.groups[wanted]).sum())


def _bounds(evidence: Floats) -> Floats:
    """(m,) What no p-value exceeds: 2c·P(Z ≥ z)."""
    return _HEAVIEST * np.array([erfc(z) for z in (evidence / sqrt(2)).tolist()])


def _least_p(groups: Integers) -> Floats:
    """(m,) No sign vector is rarer than 2 of all."""
    return np.asarray(np.maximum(2.0 ** (1 - groups), SMALLEST_P))


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
    b, c = (np.where(binary, part, 0.0) for part in alone_right(pairs))
    p = np.where(pairs.units > 0, mcnemar_p(b, c, exact=True), np.nan)
    return PairTests("mcnemar", p, _signed(pairs), "exact")


def _shared(
    pairs: Pairs, resamples: int | None, seed: int, chosen: Truths, ways: FixedWays | None, known: Floats
) -> PairTests:
    """By random flips that all pairs share, but for those whose exact p is ``known``, and what flips leave open."""
    flips = flips_of(pairs, seed)
    count, sampled = flips.count(resamples or STAND_IN_FLIPS), chosen & np.isnan(known)
    bound = _bounds(pairs.evidence)
    wanted = np.ones_like(chosen) if flips.exact else sampled & (bound * (1 + count) > 1)  # others take their bound
    reached = count_reached(flips, pairs.total, pairs.norm, count, wanted)
    p = share_reached(reached, count, exact=flips.exact)
    if flips.exact:
        return PairTests("sign-flip", np.where(pairs.units > 0, p, np.nan), _signed(pairs), "exact")
    fallbacks: tuple[Fallback, ...] = ()
    p = np.clip(np.minimum(p, bound), _least_p(pairs.groups), 1.0)
    if resamples is None:
        unclear = sampled & (reached < _FEW_REACHED) & (bound * len(p) > _CLEAR)
        exactly, fallbacks = _settled(pairs, unclear, ways, seed)
        known = np.where(np.isnan(known), exactly, known)
        p, sampled = np.where(np.isnan(known), p, known), sampled & np.isnan(known)
    p = np.where(pairs.units > 0, p, np.nan)
    return PairTests("sign-flip", p, _signed(pairs), "shared signs", count, fallbacks, sampled=sampled)


def _settled(pairs: Pairs, unclear: Truths, ways: FixedWays | None, seed: int) -> tuple[Floats, tuple[Fallback, ...]]:
    """(P,) Exact p-values after all of pairs that flips do not settle, if there is time; and of those fixed so."""
    free = np.flatnonzero(unclear if ways is None else unclear & ~ways.fixed)
    fixed = free[:0] if ways is None else np.flatnonzero(ways.fixed & ~ways.sampled)
    p = np.where(np.isin(np.arange(len(unclear)), free), _from_moments(pairs, free), np.nan)
    p[fixed] = exact_p_values(pairs, fixed) if moments_serve(pairs.grid) else np.nan
    free, fixed = free[np.isnan(p[free])], fixed[np.isnan(p[fixed])]
    some = np.union1d(free if _seconds(pairs, free) <= EXACT_SECONDS else free[:0], fixed)
    p[some], fallbacks = _exact(pairs, some, seed)
    return p, fallbacks


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
