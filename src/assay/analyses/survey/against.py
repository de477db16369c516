"""Every model against a baseline on the cells that both have, questions as clusters.

A model may *be* the baseline: a marginal that somebody computed, rounded and wrote into a table. Rounding moves every
question a little the same way, so that a test finds a difference; it is called equal if the whole interval lies within
a margin that nobody would care about.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from assay.analyses.survey.loaded import Survey
from assay.data.panel import Floats
from assay.design import Design
from assay.stats.bootstrap import interval
from assay.stats.effects import Arms, effect_sizes
from assay.stats.multiplicity import holm
from assay.stats.paired import wilcoxon
from assay.stats.permutation import sign_flip
from assay.stats.records import Estimate, Test
from assay.stats.units import standard_error

MARGIN = 0.001  # of the score: a tenth of the last digit that the benchmark publishes

Place = Literal["above", "below", "equal", "not told apart"]


@dataclass(frozen=True, slots=True)
class Against:
    """A model less a baseline."""

    model: str
    baseline: str
    difference: Estimate
    test: Test
    p_adjusted: float | None  # Holm, over all models and baselines
    effect_sizes: dict[str, Estimate]
    n_questions: int
    margin: float = MARGIN

    @property
    def place(self) -> Place:
        """Where the model is shown to be. Equal comes first: a difference within the margin is none, however sure."""
        limits = self.difference.interval
        if limits is not None and -self.margin < limits.low and limits.high < self.margin:
            return "equal"
        if limits is None or self.p_adjusted is None or self.p_adjusted > 1 - limits.level:
            return "not told apart"
        return "above" if limits.low > 0 else "below"


def against(survey: Survey, baselines: dict[str, Floats], design: Design) -> tuple[Against, ...]:
    """Every model against every baseline (C,), adjusted for their number."""
    found = [
        _one(survey, m, name, scores, design) for name, scores in baselines.items() for m in range(len(survey.models))
    ]
    tested = [i for i, one in enumerate(found) if one.test.p_value is not None]
    adjusted = holm(np.array([found[i].test.p_value for i in tested], dtype=np.float64))
    for i, p in zip(tested, adjusted.tolist(), strict=True):
        found[i] = replace(found[i], p_adjusted=p)
    return tuple(found)


def _one(survey: Survey, m: int, name: str, baseline: Floats, design: Design) -> Against:
    values = np.column_stack([survey.scores[:, m], baseline])
    both = np.asarray(~np.isnan(values).any(axis=1))
    if not both.any():
        nothing = Estimate(None, None, None, 0, "no question and segment in common")
        return Against(survey.models[m], name, nothing, Test("sign-flip", None, None, 0, nothing.reason), None, {}, 0)
    grid = survey.grid(np.where(both[:, None], values, np.nan))
    units, n = grid.pair(0, 1), int(both.sum())
    if units.n < 2:
        lone = Estimate(units.estimate, None, None, n, "one question has no standard error")
        return Against(survey.models[m], name, lone, Test("sign-flip", None, None, n, lone.reason), None, {}, 1)
    limits = interval(
        units, method=design.method, confidence_level=design.level, n_resamples=design.resamples, seed=design.seed
    ).interval
    arms = Arms(grid.values[:, 1], grid.values[:, 0], grid.weights)
    return Against(
        survey.models[m],
        name,
        Estimate(units.estimate, limits, standard_error(units), n),
        _test(units.numerators, units.denominators, design),
        None,
        effect_sizes(arms, units, design.level),
        units.n,
        design.margin or MARGIN,
    )


def _test(numerators: Floats, denominators: Floats, design: Design) -> Test:
    if design.test == "wilcoxon":
        return wilcoxon(numerators / denominators)
    return sign_flip(numerators, seed=design.seed)[0]


def placed(found: Sequence[Against], baseline: str) -> dict[Place, list[str]]:
    """The models above, below, equal to and not told apart from a baseline."""
    places: dict[Place, list[str]] = {"above": [], "below": [], "equal": [], "not told apart": []}
    for one in found:
        if one.baseline == baseline and one.difference.value is not None:
            places[one.place].append(one.model)
    return places
