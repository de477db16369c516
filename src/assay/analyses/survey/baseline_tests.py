"""Every model against a baseline on the cells that both have, questions as clusters.

A model may *be* the baseline: a marginal that somebody computed, rounded and wrote into a table. Rounding moves every
question a little the same way, so that a test finds a difference. It is called equal if the whole interval lies within
a margin that nobody would care about, or if it reaches into the margin and every predicted share is the baseline's to
a percentage point.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Literal

import msgspec
import numpy as np

from assay.analyses.contrast import moved_limits
from assay.analyses.survey.cells import segment_weights, segments_alike, shared_cells
from assay.analyses.survey.evidence import LEFT_OUT, POOLED, Survey
from assay.data import Panel
from assay.data.survey.predictions import ERROR, OK
from assay.design import Design
from assay.stats.interval_and_test import joint_p
from assay.stats.paired_tests import ArmValues, effect_sizes, sign_flip, t_test, wilcoxon
from assay.stats.records import Estimate, Interval, Test
from assay.stats.rounding import TOLERANCE
from assay.stats.units import Units, standard_error

MARGIN = 0.001  # of the score: a tenth of the last digit that the benchmark publishes
_POINT = 0.01 + 1e-9

Position = Literal["above", "below", "equal", "not told apart"]


class Against(msgspec.Struct, frozen=True):
    """A model less a baseline."""

    model: str
    baseline: str
    difference: Estimate
    test: Test  # of no difference; its p-value and the interval of the difference agree about 0
    p_adjusted: float | None  # Bonferroni's, over all models and baselines
    effect_sizes: dict[str, Estimate]
    n_questions: int
    margin: float
    together: Interval | None  # of the difference, for all models and baselines at once: agrees with p_adjusted
    same: bool  # every predicted share is the baseline's, to a percentage point

    @property
    def simultaneous(self) -> Estimate:
        """The difference with the interval that holds for all models and baselines."""
        return replace(self.difference, interval=self.together)

    @property
    def position(self) -> Position:
        """Where the model is shown to be. Equal comes first: a difference within the margin is none, however sure."""
        limits = self.together
        if limits is not None and self._equal(limits):
            return "equal"
        if limits is None or self.p_adjusted is None or self.p_adjusted > 1 - limits.level:
            return "not told apart"
        return "above" if limits.low > 0 else "below"

    def _equal(self, limits: Interval) -> bool:
        within = -self.margin < limits.low and limits.high < self.margin
        return within or (self.same and limits.low < self.margin and limits.high > -self.margin)


@dataclass(frozen=True, eq=False, slots=True)
class _Pair:
    """A model and a baseline on the cells that both have."""

    model: str
    baseline: str
    panel: Panel | None  # None: there are none
    same: bool

    @property
    def cells(self) -> int:
        return 0 if self.panel is None else self.panel.n

    @property
    def units(self) -> Units:
        """By question, so that segments count alike."""
        assert self.panel is not None
        return segments_alike(self.panel).grid.pair(0, 1)

    @property
    def reason(self) -> str | None:
        """Why nothing can be tested."""
        if self.panel is None:
            return "no question and segment in common"
        return "one question has no standard error" if self.units.n < 2 else None


@lru_cache(maxsize=1)
def against_baselines(survey: Survey, design: Design) -> tuple[Against, ...]:
    """Every model against every baseline; of the two marginals without the segment, against the one asked for."""
    other = {LEFT_OUT, POOLED} - {survey.reference}
    return against(survey, [name for name in survey.baseline_scores if name not in other], design)


def against(survey: Survey, baselines: Iterable[str], design: Design) -> tuple[Against, ...]:
    """Every model against every one of these baselines; p-values and limits allow for their number."""
    pairs = [_pair(survey, m, name) for name in baselines for m in range(len(survey.models))]
    family = sum(pair.reason is None for pair in pairs)
    return tuple(_tested(pair, family, design) if pair.reason is None else _untested(pair, design) for pair in pairs)


def _pair(survey: Survey, m: int, name: str) -> _Pair:
    both = survey.panel.pair(m, len(survey.models) + list(survey.baseline_scores).index(name))
    panel = shared_cells(both)
    return _Pair(survey.models[m], name, None if panel is None else _levelled(panel), _same(survey, m, name))


def _levelled(panel: Panel) -> Panel:
    """The baseline's scores, with the model's where they differ by rounding only.

    Rounding is in the divergence, a sum of terms up to 1 in size; its root makes more of it the nearer a score is to 1.
    """
    scores, baseline = panel.values.T
    close = np.abs((1 - baseline) ** 2 - (1 - scores) ** 2) <= TOLERANCE
    return panel.with_numerators(np.column_stack([scores, np.where(close, scores, baseline)]))


def _same(survey: Survey, m: int, name: str) -> bool:
    """Whether every share that a model predicts is the baseline's, or that in whole percentages, to a point."""
    rows = np.flatnonzero((survey.predictions.model == m) & (survey.predictions.status != ERROR))
    if name not in survey.baselines or (survey.predictions.status[rows] != OK).any():
        return False
    shares = survey.baselines[name][survey.predictions.cell[rows]]
    there = ~np.isnan(shares).any(axis=1)
    whole = np.round(100 * shares)
    whole /= np.maximum(whole.sum(axis=1, keepdims=True), 1.0)
    off = [np.abs(survey.predictions.shares[rows] - one).max(axis=1) for one in (shares, whole)]
    return bool(there.any() and (np.minimum(*off)[there] <= _POINT).all())


def _untested(pair: _Pair, design: Design) -> Against:
    value = None if pair.panel is None else pair.units.estimate
    nothing = Estimate(value, None, None, pair.cells, pair.reason)
    test = Test("sign-flip", None, None, pair.cells, pair.reason)
    questions, margin = 0 if pair.panel is None else 1, design.margin or MARGIN
    return Against(pair.model, pair.baseline, nothing, test, None, {}, questions, margin, None, pair.same)


def _tested(pair: _Pair, family: int, design: Design) -> Against:
    units, panel = pair.units, pair.panel
    assert panel is not None
    found = [design.interval(units, 1 - (1 - design.level) / count, own_p=True) for count in (1, family)]
    test = _test(units, found[0].own_p or 0.0, design)
    alone, together = (
        _agreeing(one.interval, test.p_value, count, units.estimate, design.level)
        for one, count in zip(found, (1, family), strict=True)
    )
    by_segment = panel.rows(
        np.argsort(panel.label("segment").codes, kind="stable")
    )  # the order in which they are summed
    model, baseline = by_segment.values.T
    arms = ArmValues(baseline, model, segment_weights(by_segment.label("segment").codes))
    return Against(
        pair.model,
        pair.baseline,
        Estimate(units.estimate, alone, standard_error(units), pair.cells),
        test,
        None if test.p_value is None else min(1.0, family * test.p_value),
        effect_sizes(arms, units, design.level),
        units.n,
        design.margin or MARGIN,
        together,
        pair.same,
    )


def _test(units: Units, own_p: float, design: Design) -> Test:
    """The paired test, its p raised to the interval's own: a verdict needs both."""
    if design.test == "wilcoxon":
        found = wilcoxon(units.numerators / units.denominators)
    elif design.test == "t":
        found = t_test(units)
    else:
        found = sign_flip(units.numerators, seed=design.seed)[0]
    return found if found.p_value is None else replace(found, p_value=float(joint_p(found.p_value, own_p)))


def _agreeing(limits: Interval, p: float | None, family: int, estimate: float, level: float) -> Interval:
    """Limits that leave out 0 exactly where p · family ≤ 1 − level."""
    method = limits.method if family == 1 else f"{limits.method}, simultaneous"
    return moved_limits(
        replace(limits, level=level, method=method), None if p is None else min(1.0, p * family), estimate
    )


def placed(found: Sequence[Against], baseline: str) -> dict[Position, list[str]]:
    """The models above, below, equal to and not told apart from a baseline."""
    places: dict[Position, list[str]] = {"above": [], "below": [], "equal": [], "not told apart": []}
    for one in found:
        if one.baseline == baseline and one.difference.value is not None:
            places[one.position].append(one.model)
    return places
