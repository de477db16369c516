"""All pairs of models: tested, adjusted for their number, decided.

One rule: a pair is told apart where its adjusted p-value is at most 1 − level, and there its interval leaves out 0;
not where what the two share is too little to rely on (`assay.analyses.contrast.reliance_of`).
Beside p-values that are adjusted for any false claim (Holm, max-T) stand intervals that hold for all pairs at once:
each at the level 1 − α/P, or as far as the largest of all differences reaches by chance. A step-down test may reject
where such an interval still has 0 in it; the limit that belongs to it is then just beside 0 (Guilbaud 2008,
*Simultaneous confidence regions corresponding to Holm's step-down procedure and other closed-testing procedures*).
Benjamini and Hochberg's p-values have no such intervals: beside them each interval is of its pair alone.
"""

from dataclasses import dataclass
from functools import cache
from typing import get_args

import numpy as np

from assay.analyses.contrast import reliance_of
from assay.analyses.rank.pair_tests import Carried, PairEvidence, PairLimits, evidence_of, takes_tango
from assay.analyses.rank.records import Adjust
from assay.design import DEFAULT_RESAMPLES, Design
from assay.errors import UsageError
from assay.stats.interval_and_test import agreeing
from assay.stats.multiplicity import benjamini_hochberg, holm
from assay.stats.numerics import t_quantile, two_sided
from assay.stats.ranking import Fitted
from assay.stats.ranking.flips import Flips, flips_of
from assay.stats.ranking.pair_counts import PairCounts
from assay.stats.ranking.pair_tests import PairTests
from assay.stats.ranking.pairs import Pairs, pairs_of, squared_gaps
from assay.stats.ranking.shared_signs import critical_value, maxima, quantile_of, step_down
from assay.stats.units import Floats, Grid, Texts, Truths, effective_number


def check_adjust(adjust: str, design: Design) -> None:
    if adjust not in get_args(Adjust):
        raise UsageError(f"adjust must be one of {', '.join(get_args(Adjust))}, but got {adjust!r}.")
    if adjust == "max-t" and design.test in ("t", "wilcoxon"):
        raise UsageError(f"max-t is of sign flips, but the test is {design.test}; adjust that with holm or bh.")
    least = round(1 / (1 - design.level))
    resamples = design.resamples or DEFAULT_RESAMPLES
    if adjust == "max-t" and resamples < least:
        raise UsageError(
            f"resamples must be at least {least:,} at this level, but got {resamples:,}; raise `resamples`, or lower "
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
    methods: Texts  # (P,) of the limits
    alone: PairLimits  # of each pair by itself, which leave out 0 where its own p rejects
    family: str | None  # how limits hold for all pairs at once: "bonferroni", "max-t"; None: for each pair alone
    reliance: Texts  # (P,) whether a verdict may rest on what the two share: one of `Reliance`
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

    def p_of_best(self, *, lower_is_better: bool) -> Floats:
        """(k,) The smallest adjusted p-value of a system's pairs in which the other is ahead; 1 where none is."""
        (i, j), ahead = self.pairs.index, -self.pairs.difference if lower_is_better else self.pairs.difference
        p, smallest = np.where(np.isnan(self.adjusted), 1.0, self.adjusted), np.ones(self.pairs.grid.k)
        for behind, which in ((j, ahead > 0), (i, ahead < 0)):
            np.minimum.at(smallest, behind[which], p[which])
        return smallest

    @property
    def method(self) -> str:
        """Of the limits: one, or all that the pairs have."""
        names = set(self.methods.tolist())
        return " and ".join(sorted(names - {"degenerate"} or names, reverse=True))

    @property
    def intervals(self) -> str:
        """How the intervals were made."""
        if len(self.low) == 1:
            return self.method
        if self.family is None:
            return f"{self.method}, for each pair alone: not adjusted"
        return f"{self.method}, for all pairs at once ({'Bonferroni' if self.family == 'bonferroni' else 'max-T'})"


def decide(
    grid: Grid,
    found: Fitted,
    design: Design,
    adjust: Adjust,
    *,
    lower_is_better: bool,
    scores: bool = True,
    carried: Carried | None = None,
) -> PairDecisions:
    """Test every pair, and decide which are told apart at the level of the design."""
    pairs = pairs_of(grid)
    alpha, count = 1 - design.level, max(int((pairs.units > 0).sum()), 1)
    level = 1 - alpha / count if adjust == "holm" and count > 1 else design.level
    evidence = evidence_of(pairs, design, level, scores=scores, carried=carried)
    return decided_of(evidence, found, design, adjust, lower_is_better=lower_is_better)


def decided_of(
    evidence: PairEvidence, found: Fitted, design: Design, adjust: Adjust, *, lower_is_better: bool
) -> PairDecisions:
    """The decisions that the evidence allows, which is at the level that the adjustment needs."""
    alpha, pairs = 1 - design.level, evidence.pairs
    if adjust == "max-t" and len(pairs.units) > 1:
        alone, low, high, methods = _max_t(evidence, found, design)
        adjusted = np.maximum(alone, evidence.tests.p_values)  # never below that of the pair alone
        family: str | None = "max-t"
    else:
        adjusted, alone = (_adjusted(p, adjust) for p in (evidence.tests.p_values, evidence.test_p))
        low, high, methods = evidence.low, evidence.high, evidence.methods
        family = "bonferroni" if adjust == "holm" else None
    rejected = _at_most(adjusted, alpha)
    if design.paired:
        beside = evidence.tests.p_values if adjust == "bh" else adjusted  # what the limits belong to
    elif adjust == "holm" and len(pairs.units) > 1:
        beside = _adjusted(evidence.own_p, adjust)
    else:
        beside = np.where((low > 0) | (high < 0), 0.0, 1.0)  # as computed
    low, high = _agreed(low, high, beside, alpha, pairs.difference)
    alone_limits = _alone(evidence, design)
    if not design.paired:  # a verdict needs the interval as well
        rejected &= evidence.degenerate | (low > 0) | (high < 0)
    reliance = _reliance(evidence)
    better = _better(pairs, rejected & (reliance != "too few"), lower_is_better=lower_is_better)
    limits = low, high, methods, alone_limits
    return PairDecisions(evidence, adjusted, alone, better, *limits, family, reliance, design)


def _alone(evidence: PairEvidence, design: Design) -> PairLimits:
    """As `compare` has them of two models: agreeing with the pair's own p where both are left to us."""
    found = evidence.alone
    if not design.paired:
        return found
    p, difference = evidence.tests.p_values, evidence.pairs.difference
    low, high = _agreed(found.low, found.high, p, 1 - design.level, difference)
    return PairLimits(low, high, found.methods)


def _reliance(evidence: PairEvidence) -> Texts:
    """(P,) As `compare` has it of each pair alone."""
    pairs = evidence.pairs
    groups, effective, methods = pairs.groups, _effective(pairs), evidence.methods
    if all(bool((column == column[0]).all()) for column in (groups, effective, methods)):
        return np.full(len(groups), reliance_of(int(groups[0]), float(effective[0]), methods[0]), dtype=object)
    drawn = zip(groups.tolist(), effective.tolist(), methods.tolist(), strict=True)
    of_kind = cache(reliance_of)  # most pairs are of one
    return np.array([of_kind(*one) for one in drawn], dtype=object)


def _effective(pairs: Pairs) -> Floats:
    """(P,) Kish's number of the groups that both have; 0 where there are none."""
    grid = pairs.grid
    if grid.whole:
        return np.full(len(pairs.units), effective_number(grid.mass))
    found = []
    for i in range(grid.k - 1):
        both = grid.present[:, [i]] & grid.present[:, i + 1 :]
        mass = grid.grouped(np.where(both, grid.weights[:, None], 0.0))  # (G, m)
        found += [effective_number(column[column > 0]) if column.any() else 0.0 for column in mass.T]
    return np.array(found)


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


def _max_t(evidence: PairEvidence, found: Fitted, design: Design) -> tuple[Floats, Floats, Floats, Texts]:
    """Step-down p-values, and limits as far as the largest of all pairs reaches by chance.

    Flips give Tango's statistic as it is; with clusters or weights, and for other scores, residuals do, studentized.
    Of several tasks every pair has its own interval, at the level that this reach has.
    """
    pairs, counts = evidence.pairs, evidence.counts if takes_tango(design) else None
    flips = flips_of(pairs, design.seed)
    largest = maxima(flips, pairs.evidence, pairs.norm, design.resamples or DEFAULT_RESAMPLES)
    adjusted = np.where(np.isnan(evidence.test_p), np.nan, step_down(largest, pairs.evidence))
    if counts is not None and counts.plain and counts.binary.all():
        return adjusted, *_tango(pairs, counts, quantile_of(largest, design.level)), evidence.methods
    reach, method = _reach(found, design)
    if evidence.totals is not None:
        return adjusted, *evidence.totals.limits(1 - float(two_sided(reach, found.groups - 1.0)[0])), evidence.methods
    low, high = pairs.difference - reach * pairs.standard_error, pairs.difference + reach * pairs.standard_error
    methods = np.full(len(low), method, dtype=object)
    if counts is not None:
        right = _tango(pairs, counts, quantile_of(largest, design.level) if counts.plain else reach)
        low, high = (np.where(counts.binary, *both) for both in zip(right, (low, high), strict=True))
        methods[counts.binary] = "tango"
    return adjusted, low, high, methods


def _tango(pairs: Pairs, counts: PairCounts, reach: float) -> tuple[Floats, Floats]:
    low, high = (np.where(pairs.groups > 1, limit, np.nan) for limit in counts.limits_at(np.full(len(counts.b), reach)))
    return low, high


def _reach(found: Fitted, design: Design) -> tuple[float, str]:
    """In standard errors of residuals, studentized."""
    i, j = np.triu_indices(len(found.estimates), 1)
    norms = np.sqrt(squared_gaps(found.influence)[i, j])
    flips = Flips(np.ascontiguousarray(found.influence), seed=design.seed, purpose="max-t intervals")
    reach = critical_value(flips, norms, design.level, design.resamples or DEFAULT_RESAMPLES)
    if reach is not None:
        return reach, "t"
    return t_quantile(1 - (1 - design.level) / (2 * len(i)), found.groups - 1), "bonferroni-t"
