"""All pairs of a leaderboard as columns, in the order of the ranks: what was decided, with the effect sizes."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import isnan

import numpy as np

from assay.analyses.contrast import Reliance, moved_limits
from assay.analyses.rank.pairs import PairDecisions
from assay.analyses.rank.records import EstimateColumns, LimitColumns, PairTestColumns, PairVerdict, RankedPairs
from assay.stats.paired_tests import ArmValues, effect_sizes, hedges_factor
from assay.stats.records import Estimate
from assay.stats.units import Floats, Integers, Texts, Truths

MOST_WITH_EFFECT_INTERVALS = 300  # pairs; an interval of an effect size takes 2 ms
_NOTHING_SHARED, _NO_SPREAD = "no unit in common", "the differences have no spread"


def ranked_pairs(decided: PairDecisions, systems: Sequence[str], order: Sequence[int]) -> RankedPairs:
    """All pairs, the better rank first, in the order of the ranks."""
    made, names = _Columns.of(decided, np.array(order)), np.array(systems, dtype=object)
    better, worse = decided.better[made.a, made.b], decided.better[made.b, made.a]
    kinds = np.array(["not told apart", "better", "worse"], dtype=object)
    verdicts: list[PairVerdict] = kinds[better + 2 * worse.astype(np.int64)].tolist()
    return RankedPairs(
        level=decided.design.level,
        a=tuple(names[made.a].tolist()),
        b=tuple(names[made.b].tolist()),
        verdict=tuple(verdicts),
        difference=made.difference(),
        test=made.test(),
        p_adjusted=_numbers(decided.adjusted[made.r]),
        effect_sizes=made.effect_sizes(),
        reliance=made.reliance(),
        alone=made.alone(),
    )


def _numbers(values: Floats) -> tuple[float | None, ...]:
    """NaN is what is undefined."""
    found: list[float | None] = values.tolist()
    for place in np.flatnonzero(np.isnan(values)).tolist():
        found[place] = None
    return tuple(found)


@dataclass(frozen=True, eq=False)
class _Columns:
    """The pairs in their new order: ``a`` less ``b``, and where among all pairs each was."""

    decided: PairDecisions
    a: Integers
    b: Integers
    r: Integers

    @classmethod
    def of(cls, decided: PairDecisions, order: Integers) -> "_Columns":
        i, j = np.triu_indices(len(order), 1)
        a, b = order[i], order[j]
        place = np.zeros((len(order), len(order)), dtype=np.int64)
        place[tuple(decided.pairs.index)] = np.arange(len(i))
        return cls(decided, a, b, place[np.minimum(a, b), np.maximum(a, b)])

    @property
    def forward(self) -> Truths:
        """Whether a pair stays the way round that it was tested."""
        return np.asarray(self.a < self.b)

    @property
    def units(self) -> Integers:
        return np.asarray(self.decided.pairs.units[self.r])

    @property
    def sign(self) -> Floats:
        return np.where(self.forward, 1.0, -1.0)

    def test(self) -> PairTestColumns:
        tests = self.decided.tests
        statistic, p, n = tests.statistics[self.r], tests.p_values[self.r], self.units
        turned = ~self.forward & (statistic != 0) & (tests.name != "wilcoxon")
        return PairTestColumns(
            name=tests.name if tests.names is None else tuple(tests.names[r] for r in self.r.tolist()),
            statistic=_numbers(np.where(turned, -statistic, statistic)),
            p_value=_numbers(p),
            n=tuple(n.tolist()),
            reason=_chosen([np.isnan(p) & (n == 0), np.isnan(p)], [_NOTHING_SHARED, _NO_SPREAD], None),
            sampled=self._sampled(),
        )

    def _sampled(self) -> bool | tuple[bool, ...]:
        sampled = self.decided.tests.sampled
        if sampled is None or not sampled.any():
            return False
        return True if sampled.all() else tuple(sampled[self.r].tolist())

    def reliance(self) -> Reliance | tuple[Reliance, ...]:
        found: list[Reliance] = self.decided.reliance[self.r].tolist()
        return found[0] if len(set(found)) == 1 else tuple(found)

    def difference(self) -> EstimateColumns:
        decided, pairs, n = self.decided, self.decided.pairs, self.units
        value, shared, bounded = self.value, n > 0, pairs.groups[self.r] > 1
        *ends, flat = self._turned(decided.low, decided.high)
        totals = decided.evidence.totals
        errors = pairs.standard_error if totals is None else totals.error
        low, high, error = (np.where(bounded, part, np.nan) for part in (*ends, errors[self.r]))
        alone = "one unit or cluster in common has no standard error"
        reasons = [_NOTHING_SHARED, alone, "no spread"]
        return EstimateColumns(
            value=_numbers(np.where(shared, value, np.nan)),
            low=_numbers(low),
            high=_numbers(high),
            method=_chosen([~bounded, flat], [None, "degenerate"], decided.methods[self.r]),
            standard_error=_numbers(error),
            n=tuple(n.tolist()),
            reason=_chosen([~shared, ~bounded, flat], reasons, None),
        )

    @property
    def value(self) -> Floats:
        return self.decided.pairs.difference[self.r] * self.sign + 0.0

    def _turned(self, low: Floats, high: Floats) -> tuple[Floats, Floats, Truths]:
        """Limits of a less b, around the value; and whether they collapse."""
        first, last, value = low[self.r], high[self.r], self.value
        low, high = np.where(self.forward, first, -last + 0.0), np.where(self.forward, last, -first + 0.0)
        flat = low == high
        return np.where(flat, value, np.minimum(low, value)), np.where(flat, value, np.maximum(high, value)), flat

    def alone(self) -> LimitColumns | None:
        """The limits of each pair by itself, where the others are of all pairs at once."""
        decided = self.decided
        if decided.family is None or len(self.r) == 1:
            return None
        bounded = decided.pairs.groups[self.r] > 1
        low, high, flat = self._turned(decided.alone.low, decided.alone.high)
        return LimitColumns(
            low=_numbers(np.where(bounded, low, np.nan)),
            high=_numbers(np.where(bounded, high, np.nan)),
            method=_chosen([~bounded, flat], [None, "degenerate"], decided.alone.methods[self.r]),
        )

    def effect_sizes(self) -> dict[str, EstimateColumns]:
        if len(self.r) > MOST_WITH_EFFECT_INTERVALS:
            return self._sizes_alone()
        found = [self._sizes_of(*pair) for pair in zip(self.r.tolist(), self.a.tolist(), self.b.tolist(), strict=True)]
        names = dict.fromkeys(name for sizes in found for name in sizes) or ("d_z",)
        lacking = [Estimate(None, None, None, n, _NO_SPREAD) for n in self.units.tolist()]
        return {
            name: EstimateColumns.of([sizes.get(name, none) for sizes, none in zip(found, lacking, strict=True)])
            for name in names
        }

    def _sizes_of(self, r: int, a: int, b: int) -> dict[str, Estimate]:
        """Of a less b, with limits that say of 0 what the p-value of this pair alone does."""
        grid, design = self.decided.pairs.grid, self.decided.design
        both = grid.present[:, a] & grid.present[:, b]
        if not both.any():
            return {}
        arms = ArmValues(grid.values[both, b], grid.values[both, a], grid.weights[both])
        p = float(self.decided.tests.p_values[r])
        found = effect_sizes(arms, grid.pair(a, b), design.level)
        return {name: _beside(size, p) if design.paired else size for name, size in found.items()}

    def _sizes_alone(self) -> dict[str, EstimateColumns]:
        """Without intervals: each takes 2 ms."""
        pairs, n = self.decided.pairs, tuple(self.units.tolist())
        df, spread = pairs.groups[self.r] - 1, pairs.spread[self.r]
        defined = (df > 1) & (spread > 0)
        value = np.divide(pairs.difference[self.r], spread, out=np.full(len(n), np.nan), where=defined) * self.sign
        kinds, which = np.unique(df, return_inverse=True)
        factor = np.array([hedges_factor(float(one)) or 1.0 for one in kinds.tolist()])[which]
        why = f"no intervals of effect sizes beyond {MOST_WITH_EFFECT_INTERVALS} pairs"
        none = (None,) * len(n)
        reason = _chosen([defined], [why], _NO_SPREAD)
        return {
            name: EstimateColumns(
                value=_numbers(values), low=none, high=none, method=none, standard_error=none, n=n, reason=reason
            )
            for name, values in (("d_z", value), ("hedges_g", factor * value))
        }


def _chosen(
    conditions: Sequence[Truths], texts: Sequence[str | None], other: str | Texts | None
) -> tuple[str | None, ...]:
    """The text of the first condition that holds, for each pair."""
    if not any(condition.any() for condition in conditions):
        return tuple(other.tolist()) if isinstance(other, np.ndarray) else (other,) * len(conditions[0])
    choices = [np.full(len(conditions[0]), text, dtype=object) for text in (*texts, other)]
    return tuple(np.select(list(conditions), choices[:-1], choices[-1]).tolist())


def _beside(effect: Estimate, p: float) -> Estimate:
    limits = effect.interval
    if limits is None or effect.value is None or limits.method == "degenerate":
        return effect
    return replace(effect, interval=moved_limits(limits, None if isnan(p) else p, effect.value))
