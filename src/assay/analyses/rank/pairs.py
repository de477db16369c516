"""All pairs of models: tested, adjusted for their number, decided.

One rule: a pair is told apart where its adjusted p-value is at most 1 − level, and there its interval leaves out 0.
Beside p-values that are adjusted for any false claim (Holm, max-T) stand intervals that hold for all pairs at once:
each at the level 1 − α/P, or as far as the largest of all differences reaches by chance. A step-down test may reject
where such an interval still has 0 in it; the limit that belongs to it is then just beside 0 (Guilbaud 2008,
*Simultaneous confidence regions corresponding to Holm's step-down procedure and other closed-testing procedures*).
Benjamini and Hochberg's p-values have no such intervals: beside them each interval is of its pair alone.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import get_args

import numpy as np

from assay.analyses.contrast import moved_limits
from assay.analyses.rank.pair_tests import PairEvidence, evidence_of
from assay.analyses.rank.records import Adjust, PairVerdict, RankedPair
from assay.design import DEFAULT_RESAMPLES, Design
from assay.errors import UsageError
from assay.stats.effects import ArmValues, effect_sizes, hedges_factor
from assay.stats.grid import Grid
from assay.stats.interval_and_test import agreeing
from assay.stats.multiplicity import benjamini_hochberg, holm
from assay.stats.numerics import t_quantile
from assay.stats.ranking import Fitted
from assay.stats.ranking.pairs import Pairs, PairTests, pairs_of, squared_gaps
from assay.stats.ranking.shared_signs import Flips, Maxima, critical_value, maxima, quantile_of, step_down
from assay.stats.records import Estimate, Interval, Test
from assay.stats.units import Floats, Truths

MOST_WITH_EFFECT_INTERVALS = 300  # pairs; an interval of an effect size takes 2 ms


def check_adjust(adjust: str, design: Design) -> None:
    if adjust not in get_args(Adjust):
        raise UsageError(f"adjust must be one of {', '.join(get_args(Adjust))}, but got {adjust!r}.")
    if adjust == "max-t" and design.test in ("t", "wilcoxon"):
        raise UsageError(f"max-t is of sign flips, but the test is {design.test}; adjust that with holm or bh.")
    least = round(1 / (1 - design.level))
    resamples = design.resamples or DEFAULT_RESAMPLES
    if adjust == "max-t" and resamples < least:
        raise UsageError(
            f"resamples must be at least {least:,} at this level, but got {resamples:,}; raise --resamples, or lower "
            "the level."
        )


@dataclass(frozen=True, eq=False)
class PairDecisions:
    """All pairs i < j of the grid, with what was found out about them."""

    evidence: PairEvidence
    adjusted: Floats  # (P,) NaN where there is no test
    adjusted_test: Floats  # (P,) what the test alone would give
    better: Truths  # (k, k) whether i was shown to be better than j
    low: Floats  # (P,) limits of i less j, which leave out 0 where the pair is told apart; NaN where there are none
    high: Floats  # (P,)
    method: str  # of the limits
    family: str | None  # how limits hold for all pairs at once: "bonferroni", "max-t"; None: for each pair alone
    design: Design

    @property
    def pairs(self) -> Pairs:
        return self.evidence.pairs

    @property
    def tests(self) -> PairTests:
        return self.evidence.tests

    @property
    def different(self) -> Truths:
        return np.asarray(self.better | self.better.T)

    @property
    def intervals(self) -> str:
        """How the intervals were made."""
        if len(self.low) == 1:
            return self.method
        if self.family is None:
            return f"{self.method}, for each pair alone: not adjusted"
        return f"{self.method}, for all pairs at once ({'Bonferroni' if self.family == 'bonferroni' else 'max-T'})"


def decide(
    grid: Grid, found: Fitted, design: Design, adjust: Adjust, *, lower_is_better: bool, scores: bool = True
) -> PairDecisions:
    """Test every pair, and decide which are told apart at the level of the design."""
    pairs = pairs_of(grid)
    alpha, count = 1 - design.level, max(int((pairs.units > 0).sum()), 1)
    level = 1 - alpha / count if adjust == "holm" and count > 1 else design.level
    evidence = evidence_of(pairs, design, level, scores=scores)
    return decided_of(evidence, found, design, adjust, lower_is_better=lower_is_better)


def decided_of(
    evidence: PairEvidence, found: Fitted, design: Design, adjust: Adjust, *, lower_is_better: bool
) -> PairDecisions:
    """The decisions that the evidence allows, which is at the level that the adjustment needs."""
    alpha, pairs = 1 - design.level, evidence.pairs
    if adjust == "max-t" and len(pairs.units) > 1:
        alone, low, high, method = _max_t(evidence, found, design)
        adjusted = np.maximum(alone, evidence.tests.p_values)  # never below that of the pair alone
        family: str | None = "max-t"
    else:
        adjusted, alone = (_adjusted(p, adjust) for p in (evidence.tests.p_values, evidence.test_p))
        low, high, method = evidence.low, evidence.high, evidence.method
        family = "bonferroni" if adjust == "holm" else None
    rejected = _at_most(adjusted, alpha)
    if design.paired:
        beside = evidence.tests.p_values if adjust == "bh" else adjusted  # what the limits belong to
    elif adjust == "holm" and len(pairs.units) > 1:
        beside = _adjusted(evidence.own_p, adjust)
    else:
        beside = np.where((low > 0) | (high < 0), 0.0, 1.0)  # as computed
    low, high = _agreed(low, high, beside, alpha, pairs.difference)
    if not design.paired:  # a verdict needs the interval as well
        rejected &= evidence.degenerate | (low > 0) | (high < 0)
    better = _better(pairs, rejected, lower_is_better=lower_is_better)
    return PairDecisions(evidence, adjusted, alone, better, low, high, method, family, design)


def _at_most(p: Floats, alpha: float) -> Truths:
    return np.asarray(np.where(np.isnan(p), 1.0, p) <= alpha)


def _agreed(low: Floats, high: Floats, p: Floats, alpha: float, difference: Floats) -> tuple[Floats, Floats]:
    """Limits that say what p says; a collapsed interval stays, for there the test alone decides."""
    lowest, highest = agreeing(low, high, p, alpha, np.nan_to_num(difference))
    kept = (low == high) | np.isnan(low)
    return np.where(kept, low, lowest), np.where(kept, high, highest)


def _better(pairs: Pairs, rejected: Truths, *, lower_is_better: bool) -> Truths:
    above = pairs.difference < 0 if lower_is_better else pairs.difference > 0
    better = np.zeros((pairs.grid.k, pairs.grid.k), dtype=bool)
    i, j = pairs.index
    better[i, j], better[j, i] = rejected & above, rejected & ~above & (pairs.difference != 0)
    return better


def _adjusted(p: Floats, adjust: Adjust) -> Floats:
    defined = ~np.isnan(p)
    adjusted, some = np.full(len(p), np.nan), p[defined]
    adjusted[defined] = holm(some) if adjust == "holm" else benjamini_hochberg(some) if adjust == "bh" else some
    return adjusted


def _max_t(evidence: PairEvidence, found: Fitted, design: Design) -> tuple[Floats, Floats, Floats, str]:
    """Step-down p-values, and limits as far as the largest of all pairs reaches by chance."""
    pairs, tango = evidence.pairs, evidence.counts if design.method in ("auto", "tango") else None
    flips = Flips.of(pairs.grid, seed=design.seed)
    largest = maxima(flips, pairs.evidence, pairs.norm, design.resamples or DEFAULT_RESAMPLES)
    adjusted = np.where(np.isnan(evidence.test_p), np.nan, step_down(largest, pairs.evidence))
    reach, method = _reach(found, largest, design, plain=tango is not None and tango.plain)
    if tango is not None:
        low, high = tango.limits_at(np.full(len(tango.b), reach))
        defined = pairs.groups > 1
        return adjusted, np.where(defined, low, np.nan), np.where(defined, high, np.nan), "tango"
    wide = reach * pairs.standard_error
    return adjusted, pairs.difference - wide, pairs.difference + wide, method


def _reach(found: Fitted, largest: Maxima, design: Design, *, plain: bool) -> tuple[float, str]:
    """In standard errors: of Tango's statistic, which flips give as it is, or of residuals, studentized."""
    if plain:
        return quantile_of(largest, design.level), "tango"
    i, j = np.triu_indices(len(found.estimates), 1)
    norms = np.sqrt(squared_gaps(found.influence)[i, j])
    flips = Flips(np.ascontiguousarray(found.influence), seed=design.seed, purpose="max-t intervals")
    reach = critical_value(flips, norms, design.level, design.resamples or DEFAULT_RESAMPLES)
    if reach is not None:
        return reach, "t"
    return t_quantile(1 - (1 - design.level) / (2 * len(i)), found.groups - 1), "bonferroni-t"


# ------------------------------------------------------------------------------------------------------------- records


def pair_records(decided: PairDecisions, systems: Sequence[str], order: Sequence[int]) -> tuple[RankedPair, ...]:
    """A record for each pair, the better rank first, in the order of the ranks."""
    pairs = decided.pairs
    at = {(i, j): r for r, (i, j) in enumerate(pairs.index.T.tolist())}
    made = _Made(decided, effects=len(pairs.units) <= MOST_WITH_EFFECT_INTERVALS)
    records = []
    for place, a in enumerate(order):
        for b in order[place + 1 :]:
            forward = a < b
            r = at[a, b] if forward else at[b, a]
            verdict: PairVerdict = (
                "better" if decided.better[a, b] else "worse" if decided.better[b, a] else "not told apart"
            )
            p = float(decided.adjusted[r])
            records.append(
                RankedPair(
                    systems[a],
                    systems[b],
                    verdict,
                    made.difference(r, forward=forward),
                    made.test(r, forward=forward),
                    None if np.isnan(p) else p,
                    made.effects_of(r, (a, b)),
                )
            )
    return tuple(records)


@dataclass(frozen=True, eq=False)
class _Made:
    """The parts of the records, one pair at a time."""

    decided: PairDecisions
    effects: bool

    def test(self, r: int, *, forward: bool) -> Test:
        pairs, tests = self.decided.pairs, self.decided.tests
        statistic, p, n = float(tests.statistics[r]), float(tests.p_values[r]), int(pairs.units[r])
        signed = tests.name != "wilcoxon" and not forward
        reason = None
        if np.isnan(p):
            reason = "no unit in common" if n == 0 else "the differences have no spread"
        return Test(
            tests.name,
            None if np.isnan(statistic) else (-statistic if signed and statistic else statistic),
            None if np.isnan(p) else p,
            n,
            reason,
        )

    def difference(self, r: int, *, forward: bool) -> Estimate:
        decided, pairs = self.decided, self.decided.pairs
        n = int(pairs.units[r])
        if n == 0:
            return Estimate(None, None, None, 0, "no unit in common")
        value = float(pairs.difference[r]) * (1 if forward else -1) + 0.0
        if pairs.groups[r] < 2:
            return Estimate(value, None, None, n, "one unit or cluster in common has no standard error")
        error, low, high = float(pairs.standard_error[r]), float(decided.low[r]), float(decided.high[r])
        low, high = (low, high) if forward else (-high + 0.0, -low + 0.0)
        if low == high:
            return Estimate(value, Interval(value, value, decided.design.level, "degenerate"), error, n, "no spread")
        return Estimate(value, Interval(low, high, decided.design.level, decided.method).around(value), error, n)

    def effects_of(self, r: int, pair: tuple[int, int]) -> dict[str, Estimate]:
        pairs, grid = self.decided.pairs, self.decided.pairs.grid
        n, df = int(pairs.units[r]), int(pairs.groups[r]) - 1
        if self.effects and n:
            both = grid.present[:, pair[0]] & grid.present[:, pair[1]]
            arms = ArmValues(grid.values[both, pair[1]], grid.values[both, pair[0]], grid.weights[both])
            found = effect_sizes(arms, grid.pair(*pair), self.decided.design.level)
            return {name: self._beside(r, effect) for name, effect in found.items()}
        if not (df > 1 and pairs.spread[r] > 0):
            return {"d_z": Estimate(None, None, None, n, "the differences have no spread")}
        value = float(pairs.difference[r] / pairs.spread[r]) * (1 if pair[0] < pair[1] else -1)
        factor, why = (
            hedges_factor(df) or 1.0,
            f"no intervals of effect sizes beyond {MOST_WITH_EFFECT_INTERVALS} pairs",
        )
        return {name: Estimate(d, None, None, n, why) for name, d in (("d_z", value), ("hedges_g", factor * value))}

    def _beside(self, r: int, effect: Estimate) -> Estimate:
        """With limits that say of 0 what the p-value of this pair alone does."""
        limits = effect.interval
        if not self.decided.design.paired or limits is None or effect.value is None or limits.method == "degenerate":
            return effect
        p = float(self.decided.tests.p_values[r])
        return replace(effect, interval=moved_limits(limits, None if np.isnan(p) else p, effect.value))
