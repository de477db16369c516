"""All pairs of models: tested, adjusted for their number, decided."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, get_args

import numpy as np

from assay.analyses.leaderboard_parts import Pair, PairVerdict
from assay.design import DEFAULT_RESAMPLES, Design
from assay.errors import UsageError
from assay.stats.allpairs import Pairs, PairTests, pairs_of, sign_flips, squared_gaps, t_tests, wilcoxon_tests
from assay.stats.bootstrap import interval
from assay.stats.effects import Arms, effect_sizes, hedges_factor
from assay.stats.grid import Grid, Truths
from assay.stats.multiplicity import benjamini_hochberg, holm
from assay.stats.ranking import Fitted
from assay.stats.records import Estimate, Fallback, Interval, Test
from assay.stats.shared_signs import Flips, critical_value, maxima, step_down
from assay.stats.special import t_quantile
from assay.stats.units import Floats

Adjust = Literal["holm", "bh", "max-t", "none"]

MOST_WITH_EFFECT_INTERVALS = 300  # pairs; an interval of an effect size takes 2 ms
_INTERVAL_SECONDS = 1.5  # what intervals of all pairs may take, if they are not closed forms
_PER_INTERVAL, _PER_GROUP, _PER_DRAW = 1e-3, 4e-7, 4e-9  # seconds
_PER_UNEQUAL, _FEW_GROUPS = 3e-2, 200  # seconds for few groups of unequal weight, whose ratio is inverted at every step


def check_adjust(adjust: str, design: Design) -> None:
    if adjust not in get_args(Adjust):
        raise UsageError(f"adjust must be one of {', '.join(get_args(Adjust))}, but got {adjust!r}.")
    if adjust == "max-t" and design.test not in ("auto", "sign-flip", "mcnemar"):
        raise UsageError(f"max-t is of sign flips, but the test is {design.test}; adjust that with holm or bh.")
    least = round(1 / (1 - design.level))
    if adjust == "max-t" and (design.resamples or DEFAULT_RESAMPLES) < least:
        raise UsageError(f"resamples must be at least {least:,} at this level, but got {design.resamples:,}.")


@dataclass(frozen=True, eq=False)
class Decided:
    """All pairs i < j of the grid, with what was found out about them."""

    pairs: Pairs
    tests: PairTests
    adjusted: Floats  # (P,) NaN where there is no test
    better: Truths  # (k, k) whether i was shown to be better than j
    design: Design
    reach: float | None = None  # of intervals that hold for all pairs at once, in standard errors
    reach_method: str = "t"
    fallbacks: list[Fallback] = field(default_factory=list)  # grows while the records are made

    @property
    def different(self) -> Truths:
        return np.asarray(self.better | self.better.T)


def decide(grid: Grid, found: Fitted, design: Design, adjust: Adjust, *, lower_is_better: bool) -> Decided:
    """Test every pair, and decide which are told apart at the level of the design."""
    pairs = pairs_of(grid)
    tests = _tests(pairs, design)
    adjusted = _adjusted(pairs, tests, design, adjust)
    shown = np.where(np.isnan(adjusted), 1.0, adjusted) <= 1 - design.level
    above = pairs.difference < 0 if lower_is_better else pairs.difference > 0
    better = np.zeros((grid.k, grid.k), dtype=bool)
    i, j = pairs.index
    better[i, j], better[j, i] = shown & above, shown & ~above & (pairs.difference != 0)
    reach, method = _reach(found, design) if adjust == "max-t" else (None, "t")
    return Decided(pairs, tests, adjusted, better, design, reach, method, list(tests.fallbacks))


def _tests(pairs: Pairs, design: Design) -> PairTests:
    if design.test == "t":
        return t_tests(pairs)
    if design.test == "wilcoxon":
        return wilcoxon_tests(pairs)
    if design.test == "mcnemar" and not pairs.grid.binary:
        raise UsageError(
            "mcnemar needs 0/1 scores without weights and clusters; --test sign-flip is the same test in general."
        )
    exact = design.test == "mcnemar"
    found = sign_flips(pairs, n_resamples=None if exact else design.resamples, seed=design.seed)
    return found if design.test == "auto" else replace(found, name=design.test)


def _adjusted(pairs: Pairs, tests: PairTests, design: Design, adjust: Adjust) -> Floats:
    defined = ~np.isnan(tests.p_values)
    if adjust == "max-t":
        flips = Flips.of(pairs.grid, seed=design.seed)
        found = maxima(flips, pairs.evidence, pairs.norm, design.resamples or DEFAULT_RESAMPLES)
        return np.where(defined, step_down(found, pairs.evidence), np.nan)
    adjusted, p = np.full(len(defined), np.nan), tests.p_values[defined]
    adjusted[defined] = holm(p) if adjust == "holm" else benjamini_hochberg(p) if adjust == "bh" else p
    return adjusted


def _reach(found: Fitted, design: Design) -> tuple[float, str]:
    """Of intervals for all pairs at once, from the influences of the units on the estimates."""
    i, j = np.triu_indices(len(found.estimates), 1)
    norms = np.sqrt(squared_gaps(found.influence)[i, j])
    flips = Flips(np.ascontiguousarray(found.influence), seed=design.seed, purpose="max-t intervals")
    reach = critical_value(flips, norms, design.level, design.resamples or DEFAULT_RESAMPLES)
    if reach is not None:
        return reach, "max-t"
    return t_quantile(1 - (1 - design.level) / (2 * len(i)), found.groups - 1), "bonferroni-t"


def pair_records(decided: Decided, systems: Sequence[str], order: Sequence[int]) -> tuple[tuple[Pair, ...], str]:
    """A record for each pair, the better rank first, in the order of the ranks; and how their intervals were made."""
    pairs = decided.pairs
    at = {(i, j): r for r, (i, j) in enumerate(pairs.index.T.tolist())}
    resampled = decided.reach is None and _quick(pairs, decided.design)
    made = _Made(decided, resampled, effects=len(pairs.units) <= MOST_WITH_EFFECT_INTERVALS)
    records = []
    for place, a in enumerate(order):
        for b in order[place + 1 :]:
            forward = a < b
            r = at[a, b] if forward else at[b, a]
            verdict: PairVerdict = (
                "better" if decided.better[a, b] else "worse" if decided.better[b, a] else "not told apart"
            )
            test, p = made.test(r, forward=forward), float(decided.adjusted[r])
            records.append(
                Pair(
                    systems[a],
                    systems[b],
                    made.difference(r, (a, b)),
                    test,
                    None if np.isnan(p) else p,
                    made.effects_of(r, (a, b)),
                    verdict,
                )
            )
    return tuple(records), made.method


def _quick(pairs: Pairs, design: Design) -> bool:
    """Whether the design's own interval can be had for every pair."""
    draws = _PER_DRAW * (design.resamples or 0) * pairs.groups
    unequal = (np.ptp(pairs.grid.mass) > 0) & (pairs.groups < _FEW_GROUPS)
    each = np.where(unequal, _PER_UNEQUAL, _PER_INTERVAL) + _PER_GROUP * pairs.groups + draws
    return design.method == "t" or float(each.sum()) <= _INTERVAL_SECONDS


@dataclass(frozen=True, eq=False)
class _Made:
    """The parts of the records, one pair at a time."""

    decided: Decided
    resampled: bool
    effects: bool

    @property
    def method(self) -> str:
        decided = self.decided
        if decided.reach is not None:
            return f"{decided.reach_method}, for all pairs at once"
        return f"{decided.design.method if self.resampled else 't'}, for each pair alone"

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

    def difference(self, r: int, pair: tuple[int, int]) -> Estimate:
        pairs, design = self.decided.pairs, self.decided.design
        n = int(pairs.units[r])
        if n == 0:
            return Estimate(None, None, None, 0, "no unit in common")
        value = float(pairs.difference[r]) * (1 if pair[0] < pair[1] else -1) + 0.0
        if pairs.groups[r] < 2:
            return Estimate(value, None, None, n, "one unit or cluster in common has no standard error")
        error = float(pairs.standard_error[r])
        if error == 0:
            return Estimate(value, Interval(value, value, design.level, "degenerate"), 0.0, n, "no spread")
        return Estimate(value, self._limits(r, pair, value, error), error, n)

    def _limits(self, r: int, pair: tuple[int, int], value: float, error: float) -> Interval:
        decided, design = self.decided, self.decided.design
        if self.resampled:
            found = interval(
                decided.pairs.grid.pair(*pair),
                method=design.method,
                confidence_level=design.level,
                n_resamples=design.resamples,
                seed=design.seed,
            )
            decided.fallbacks.extend(f for f in found.fallbacks if f not in decided.fallbacks)
            return found.interval
        reach = decided.reach or t_quantile(0.5 + design.level / 2, int(decided.pairs.groups[r]) - 1)
        return Interval(value - reach * error, value + reach * error, design.level, decided.reach_method)

    def effects_of(self, r: int, pair: tuple[int, int]) -> dict[str, Estimate]:
        pairs, grid = self.decided.pairs, self.decided.pairs.grid
        n, df = int(pairs.units[r]), int(pairs.groups[r]) - 1
        if self.effects and n:
            both = grid.present[:, pair[0]] & grid.present[:, pair[1]]
            arms = Arms(grid.values[both, pair[1]], grid.values[both, pair[0]], grid.weights[both])
            return effect_sizes(arms, grid.pair(*pair), self.decided.design.level)
        if not (df > 1 and pairs.spread[r] > 0):
            return {"d_z": Estimate(None, None, None, n, "the differences have no spread")}
        value = float(pairs.difference[r] / pairs.spread[r]) * (1 if pair[0] < pair[1] else -1)
        factor, why = (
            hedges_factor(df) or 1.0,
            f"no intervals of effect sizes beyond {MOST_WITH_EFFECT_INTERVALS} pairs",
        )
        return {name: Estimate(d, None, None, n, why) for name, d in (("d_z", value), ("hedges_g", factor * value))}
