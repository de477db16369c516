"""What speaks about each pair of models: the p-value of a test, the limits of an interval, and the interval's own p.

The same as `assay compare` takes for two models, pair by pair: Tango's interval with McNemar's mid-p where all scores
of the pair are 0/1 (clusters and weights by the design effect), otherwise t-hall or BCa with sign flips; Student's t
for the interval where there are too many pairs for those. Where both are left to us p is the larger of the two, so that
either says the same of 0.
"""

from dataclasses import dataclass, replace
from math import inf

import numpy as np

from assay.analyses.contrast import check_test
from assay.design import DESIGN_EFFECT_LIMIT, Design
from assay.stats.interval_and_test import joint_p
from assay.stats.numerics import critical_values, two_sided
from assay.stats.ranking.pair_counts import PairCounts, counts_of, right_or_wrong
from assay.stats.ranking.pair_tests import FixedWays, PairTests, sign_flips, t_tests, wilcoxon_tests
from assay.stats.ranking.pairs import Pairs
from assay.stats.records import Fallback
from assay.stats.suites.all_pairs import PairTotals, pair_totals
from assay.stats.units import Floats, Texts, Truths, Units, design_effect, effective_number, mean_of_draws
from assay.stats.which_interval import UnitFacts, interval_for

INTERVAL_SECONDS = 1.5  # what intervals of all pairs may take, if they are not closed forms
_PER_INTERVAL, _PER_T_HALL, _PER_GROUP, _PER_DRAW = 1.5e-3, 5e-4, 4e-7, 4e-9  # seconds
_FEWEST_BEYOND = 10  # resamples beyond a limit, for it to be read from them
_TESTS = {"tango": "mcnemar-score", "degenerate": "sign-flip"}  # of totals, by their intervals
_PER_UNEQUAL, _FEW_GROUPS = 3e-2, 200  # seconds for few groups of unequal weight, whose ratio is inverted at every step


@dataclass(frozen=True, eq=False, slots=True)
class PairLimits:
    """(P,) Intervals of all pairs, NaN where there is none."""

    low: Floats
    high: Floats
    methods: Texts


@dataclass(frozen=True, eq=False, slots=True)
class Carried:
    """What a board that is continued has chosen: choices that depend on the number of pairs are not made again."""

    ways: FixedWays  # of the tests of its pairs
    one_by_one: bool | None  # whether its intervals took their time; None: it had none that do


@dataclass(frozen=True, eq=False)
class PairEvidence:
    """Of every pair i < j of a grid, i less j; NaN where there is none."""

    pairs: Pairs
    tests: PairTests  # the p-values are those that are shown
    test_p: Floats  # (P,) of the test alone
    own_p: Floats  # (P,) of the interval alone: the smallest α at which it leaves out 0
    low: Floats  # (P,) limits, each of ``level``
    high: Floats  # (P,)
    level: float
    methods: Texts  # (P,) of the limits
    alone: PairLimits  # of the level of the design: each pair by itself
    counts: PairCounts | None  # of 0/1 scores, where a pair has them; not of several tasks
    fallbacks: tuple[Fallback, ...] = ()
    totals: PairTotals | None = None  # of several tasks

    @property
    def degenerate(self) -> Truths:
        """(P,) Whether all differences are equal, so that there is no interval: the test alone decides."""
        return np.asarray(self.low == self.high)


def evidence_of(
    pairs: Pairs, design: Design, level: float, *, scores: bool, carried: Carried | None = None
) -> PairEvidence:
    """Test every pair, and compute its interval at ``level``; ``scores``: the values are scores, and may be 0/1."""
    taken = None if carried is None else carried.one_by_one
    if pairs.grid.strata is not None:
        return _of_tasks(pairs, design, level, taken=taken)
    counts = counts_of(pairs) if scores and right_or_wrong(pairs).any() else None
    tests = _tests(pairs, counts, design, None if carried is None else carried.ways)
    low, high, own, methods, fallbacks = _limits(pairs, counts, design, level, taken=taken)
    alone, own_alone = PairLimits(low, high, methods), own
    if level != design.level:
        first, last, own_alone, kinds, more = _limits(pairs, counts, design, design.level, taken=taken)
        alone, fallbacks = PairLimits(first, last, kinds), [*more, *fallbacks]
    shown = tests
    if design.paired:
        joint = joint_p(tests.p_values, np.where(np.isnan(own_alone), 0.0, own_alone))
        shown = replace(tests, p_values=np.where(_binary(pairs, counts), tests.p_values, joint))
    noted = tuple(dict.fromkeys([*tests.fallbacks, *fallbacks]))
    return PairEvidence(pairs, shown, tests.p_values, own, low, high, level, methods, alone, counts, noted)


def _of_tasks(pairs: Pairs, design: Design, level: float, *, taken: bool | None) -> PairEvidence:
    """The total over the tasks and its test, as `assay.analyses.suite` has them of two models."""
    found = pair_totals(pairs, one_by_one=taken)
    low, high = found.limits(level)
    alone = PairLimits(*found.limits(design.level), found.methods)
    spread = np.divide(found.value, found.error, out=np.full(len(found.value), np.nan), where=found.error > 0)
    names = tuple(_TESTS.get(method, method) for method in found.methods.tolist())
    kinds = sorted(set(names))
    tests = PairTests(" and ".join(kinds), found.p, spread, "closed form", names=None if len(kinds) == 1 else names)
    why = "t-hall of so many pairs and tasks takes too long"
    fallbacks = (Fallback("t-hall", "t", why),) if "t" in found.methods else ()
    return PairEvidence(pairs, tests, found.p, found.p, low, high, level, found.methods, alone, None, fallbacks, found)


def _binary(pairs: Pairs, counts: PairCounts | None) -> Truths:
    """(P,) Whether the scores of a pair are 0/1."""
    return np.zeros(len(pairs.units), dtype=bool) if counts is None else counts.binary


def takes_tango(design: Design) -> bool:
    """Whether pairs of 0/1 scores have Tango's interval."""
    return interval_for(design.method, UnitFacts("0/1 pairs")) == "tango"


def _tests(pairs: Pairs, counts: PairCounts | None, design: Design, ways: FixedWays | None) -> PairTests:
    if design.test == "t":
        return t_tests(pairs)
    if design.test == "wilcoxon":
        return wilcoxon_tests(pairs)
    binary = _binary(pairs, counts)
    check_test(design, plain=counts is not None and counts.plain and bool(binary.all()))
    if counts is None or design.test == "sign-flip":
        return sign_flips(pairs, resamples=design.resamples, seed=design.seed, ways=ways)
    right = _mcnemar(pairs, counts, exact=design.test == "mcnemar")
    if binary.all():
        return right
    flips = sign_flips(pairs, resamples=design.resamples, seed=design.seed, chosen=~binary, ways=ways)
    return replace(
        flips,
        name=f"{right.name} and {flips.name}",
        p_values=np.where(binary, right.p_values, flips.p_values),
        statistics=np.where(binary, right.statistics, flips.statistics),
        names=tuple(np.where(binary, right.name, flips.name).tolist()),
    )


def _mcnemar(pairs: Pairs, counts: PairCounts, *, exact: bool) -> PairTests:
    name = "mcnemar-score" if not counts.plain else "mcnemar" if exact else "mcnemar-midp"
    there = pairs.units > 0
    p, statistics = (np.where(there, part, np.nan) for part in (counts.p_values(exact=exact), counts.statistics()))
    return PairTests(name, p, statistics, "exact" if counts.plain else "closed form")


def _limits(
    pairs: Pairs, counts: PairCounts | None, design: Design, level: float, *, taken: bool | None
) -> tuple[Floats, Floats, Floats, Texts, list[Fallback]]:
    """Low, high, the interval's own p-value and the method; no limits for pairs of less than two groups."""
    binary = _binary(pairs, counts)
    if not binary.all():
        interval_for(design.method, UnitFacts())  # refuses what is for 0/1 scores alone
    tango = binary if takes_tango(design) else np.zeros_like(binary)
    parts, others, fallbacks = _other_limits(pairs, ~tango, design, level, taken=taken)
    if counts is not None and tango.any():
        closed = (*counts.limits(level), counts.own_p)
        parts = tuple(np.where(tango, ours, other) for ours, other in zip(closed, parts, strict=True))
    low, high, own = (np.where(pairs.groups > 1, part, np.nan) for part in parts)
    return low, high, own, np.where(tango, "tango", others).astype(object), fallbacks


def _other_limits(
    pairs: Pairs, chosen: Truths, design: Design, level: float, *, taken: bool | None
) -> tuple[tuple[Floats, ...], Texts, list[Fallback]]:
    """Limits and own p-values of the chosen pairs, by the design's method or, where that takes too long, by t."""
    closed = np.full(len(pairs.units), "t", dtype=object)
    if design.method == "t" or not (_quick(pairs, chosen, design) if taken is None else taken):
        return _closed_form(pairs, level), closed, []
    parts, methods, fallbacks = _one_by_one(pairs, chosen, design, level)
    drawn = chosen & (methods != "t-hall") & (methods != "degenerate")
    if level > design.level and (design.resamples or inf) * (1 - level) < 2 * _FEWEST_BEYOND and drawn.any():
        why = f"{design.resamples:,} resamples are too few for intervals that hold for all pairs at once"
        fallbacks = [Fallback(name, "t", why) for name in sorted(set(methods[drawn].tolist()))]
        parts = tuple(np.where(drawn, t, other) for t, other in zip(_closed_form(pairs, level), parts, strict=True))
        methods = np.where(drawn, closed, methods)
    return parts, methods, fallbacks


def _quick(pairs: Pairs, chosen: Truths, design: Design) -> bool:
    """Whether the design's own interval can be had for every chosen pair; a single one has it, as in `compare`."""
    if len(pairs.units) == 1 or not chosen.any():
        return True
    groups = pairs.groups[chosen]
    draws = _PER_DRAW * (design.resamples or 0) * groups
    unequal = (np.ptp(pairs.grid.mass) > 0) & (groups < _FEW_GROUPS)
    each = np.where(unequal, _PER_UNEQUAL, _PER_INTERVAL) + _PER_GROUP * groups + draws
    if interval_for(design.method, UnitFacts(effective=effective_number(pairs.grid.mass))) == "t-hall":
        each = np.full(len(groups), _PER_T_HALL) + _PER_GROUP * groups
    return float(each.sum()) <= INTERVAL_SECONDS


def _closed_form(pairs: Pairs, level: float) -> tuple[Floats, Floats, Floats]:
    df, place = np.unique(np.maximum(pairs.groups - 1.0, 1.0), return_inverse=True)
    reach = critical_values(level, df)[place] * pairs.standard_error
    spread = pairs.standard_error > 0
    t = np.divide(pairs.difference, pairs.standard_error, out=np.zeros(len(spread)), where=spread)
    known: dict[str, Floats] = pairs.__dict__.setdefault("own_p_by_t", {})  # the same at every level
    if "p" not in known:
        known["p"] = np.where(spread, two_sided(t, df[place]), np.where(pairs.difference == 0, 1.0, 0.0))
    return pairs.difference - reach, pairs.difference + reach, known["p"]


def _one_by_one(
    pairs: Pairs, chosen: Truths, design: Design, level: float
) -> tuple[tuple[Floats, ...], Texts, list[Fallback]]:
    found, methods = np.full((3, len(pairs.units)), np.nan), np.full(len(pairs.units), "degenerate", dtype=object)
    fallbacks: dict[Fallback, None] = {}
    for r in np.flatnonzero(chosen & (pairs.groups > 1)).tolist():
        one = design.interval(drawn_units(pairs.grid.pair(*pairs.index[:, r].tolist())), level, own_p=True)
        low, high = one.interval.low, one.interval.high
        if one.degenerate:  # exactly the difference: sums in another order would not be
            low = high = float(pairs.difference[r])
        found[:, r] = low, high, np.nan if one.own_p is None else one.own_p
        methods[r] = one.interval.method
        fallbacks.update(dict.fromkeys(f for f in one.fallbacks if not one.degenerate))
    return (found[0], found[1], found[2]), methods, list(fallbacks)


def drawn_units(whole: Units) -> Units:
    """What `compare` draws: units ∝ their weight where weights are nearly equal, else units uniformly."""
    return mean_of_draws(whole) if design_effect(whole.denominators) <= DESIGN_EFFECT_LIMIT else whole
