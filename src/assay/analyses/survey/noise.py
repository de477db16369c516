"""How much of a score can be had at all: the ceiling that sampling noise puts on any predictor (S6, C1)."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from assay.analyses.contrast import moved_limits
from assay.analyses.sheet import Sheet
from assay.analyses.survey.against import against_baselines
from assay.analyses.survey.beyond import beyond_ceiling
from assay.analyses.survey.loaded import LEFT_OUT, Survey
from assay.analyses.survey.scores import number, shown
from assay.analyses.survey.section import Section, Statement
from assay.design import Design
from assay.results import words
from assay.stats.bootstrap import interval
from assay.stats.records import Estimate
from assay.stats.units import Floats, Units, standard_error

LEAST_RANGE = 0.01  # between marginal and ceiling: a share of less is a share of nothing


@dataclass(frozen=True, slots=True)
class Level:
    """What a perfect prediction of some cells scores on average, and how many cells are above the threshold."""

    name: str
    cells: int
    respondents: float  # per cell, the mean
    ceiling: float
    source_ceiling: float
    above: float  # the share of cells whose ceiling reaches the threshold
    source_above: float


@dataclass(frozen=True, slots=True)
class Reach:
    """A model between the marginal (0) and a perfect prediction (1)."""

    model: str
    score: float | None
    marginal: float | None  # on the cells that the model has, the segment left out
    ceiling: float | None
    fraction: Estimate  # (score − marginal) / (ceiling − marginal); the interval draws questions
    beyond: bool = False  # the score is shown to be above the ceiling


@dataclass(frozen=True, slots=True)
class Noise(Section):
    name: ClassVar[str] = "noise"

    overall: Level
    categories: tuple[Level, ...]
    segments: tuple[Level, ...]
    questions: tuple[Level, ...]
    models: tuple[Reach, ...]  # the best first
    threshold: float
    level: float
    reference: str = LEFT_OUT

    def sheets(self) -> list[Sheet]:
        header = [
            "cells",
            "number",
            "respondents",
            "ceiling",
            f"≥ {self.threshold:g}",
            "benchmark's",
            f"≥ {self.threshold:g}",
        ]
        cells = [
            [
                one.name,
                f"{one.cells:,}",
                f"{one.respondents:.0f}",
                f"{one.ceiling:.4f}",
                _percent(one.above),
                f"{one.source_ceiling:.4f}",
                _percent(one.source_above),
            ]
            for one in (self.overall, *self.categories)
        ]
        models = [
            [one.model, shown(one.score), shown(one.marginal), shown(one.ceiling), _fraction(one.fraction)]
            for one in self.models
        ]
        head = ["model", "score", "marginal", "ceiling", f"of the range [{words.percent(self.level)}]"]
        return [
            Sheet(("noise", "what a perfect prediction would score"), header, cells),
            Sheet(("reachable range", f"from “{self.reference}” to the ceiling{self._why()}"), head, models),
        ]

    def _why(self) -> str:
        """Why there is no range, where no model has one."""
        reasons = {one.fraction.reason for one in self.models if one.fraction.value is None}
        return f": {reasons.pop()}" if len(reasons) == 1 and all(m.fraction.value is None for m in self.models) else ""

    def sentences(self) -> list[Statement]:
        o = self.overall
        said = [
            Statement(
                f"With these numbers of respondents a perfect prediction would score {o.ceiling:.3f} on average "
                f"(the benchmark's own formula says {o.source_ceiling:.3f}, which is not that of the JSD).",
                holds=True,
            ),
            Statement(
                f"{_percent(o.above)} of the questions × segments can reach a score of {self.threshold:g} "
                f"({_percent(o.source_above)} by the benchmark's formula).",
                holds=True,
            ),
        ]
        return [*said, *self._about_beyond(), *self._about_range()]

    def _about_beyond(self) -> Iterator[Statement]:
        for m in self.models:
            if m.beyond:
                yield Statement(
                    f"{m.model} scores {shown(m.score)}, more than the {shown(m.ceiling)} of a perfect prediction: it "
                    "knows the answers of these respondents, so that its score is no forecast.",
                    holds=True,
                    warning=True,
                )

    def _about_range(self) -> Iterator[Statement]:
        """How far the best model gets; nothing of models that know the sample."""
        fair = [m for m in self.models if not m.beyond and m.score is not None]
        if not fair:
            return
        best, who = fair[0], "the model" if len(self.models) == 1 else "the best model"
        value, limits = best.fraction.value, best.fraction.interval
        between = "the range between the population marginal and a perfect prediction"
        if value is None or limits is None:
            yield Statement(f"What {best.model} covers of {between} is not said: {best.fraction.reason}.", holds=False)
            return
        inside = f"{words.percent(limits.level)} interval {_percent(limits.low)} to {_percent(limits.high)}"
        found = f"{_percent(value)} of {between} ({inside})"
        if limits.low > 0:
            yield Statement(f"{who.capitalize()}, {best.model}, covers {found}.", holds=True)
        elif limits.high < 0:
            yield Statement(f"{who.capitalize()}, {best.model}, is below the population marginal: {found}.", holds=True)
        else:
            yield Statement(f"That {who}, {best.model}, covers any of the range is not shown: {found}.", holds=False)


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %"


def _fraction(found: Estimate) -> str:
    if found.value is None:
        return "–"
    limits = found.interval
    return _percent(found.value) + ("" if limits is None else f" [{_percent(limits.low)} to {_percent(limits.high)}]")


def noise(survey: Survey, design: Design) -> Noise:
    """The ceilings of cells, and where the models are below them."""
    truth = survey.truth
    category = np.array([list(truth.categories).index(s.category) for s in truth.segments])[truth.segment]
    beyond = beyond_ceiling(survey, design.level)
    models = [replace(_reach(survey, m, design), beyond=beyond[m]) for m in range(len(survey.models))]
    models.sort(key=lambda one: (-1.0 if one.score is None else -one.score, one.model))
    return Noise(
        _level(survey, "all", np.ones(len(truth), dtype=bool)),
        tuple(_level(survey, name, category == code) for code, name in enumerate(truth.categories)),
        tuple(_level(survey, s.id, truth.segment == code) for code, s in enumerate(truth.segments)),
        tuple(_level(survey, q.id, truth.question == code) for code, q in enumerate(truth.questions)),
        tuple(models),
        survey.threshold,
        design.level,
        survey.reference,
    )


def _level(survey: Survey, name: str, cells: "np.ndarray[tuple[int], np.dtype[np.bool_]]") -> Level:
    weights = survey.weights[cells]

    def mean(values: Floats) -> float:
        return float((values[cells] * weights).sum() / weights.sum()) if cells.any() else float("nan")

    ours, theirs = survey.ceiling, survey.source_ceiling
    return Level(
        name,
        int(cells.sum()),
        float(survey.truth.n[cells].mean()) if cells.any() else 0.0,
        mean(ours),
        mean(theirs),
        mean((ours >= survey.threshold).astype(np.float64)),
        mean((theirs >= survey.threshold).astype(np.float64)),
    )


def _reach(survey: Survey, m: int, design: Design) -> Reach:
    values = np.column_stack([survey.scores[:, m], survey.baseline_scores[survey.reference], survey.ceiling])
    both = np.asarray(~np.isnan(values).any(axis=1))
    name = survey.models[m]
    if not both.any():
        missing = Estimate(None, None, None, 0, "no cell that the model and the marginal both have")
        return Reach(name, number(survey.overall(survey.scores)[m]), None, None, missing)
    score, marginal, ceiling = survey.overall(np.where(both[:, None], values, np.nan)).tolist()
    grid = survey.grid(np.where(both[:, None], values, np.nan))
    units = Units(grid.sums[:, 0] - grid.sums[:, 1], grid.sums[:, 2] - grid.sums[:, 1])
    return Reach(
        name,
        score,
        marginal,
        ceiling,
        _agreeing(survey, name, _ratio(units, grid.mass, design, int(both.sum())), design),
    )


def _agreeing(survey: Survey, model: str, share: Estimate, design: Design) -> Estimate:
    """A share that leaves out 0 exactly where the model is told from the marginal, among all models and baselines."""
    if share.value is None or share.interval is None:
        return share
    found = against_baselines(survey, design)
    p = next(one.p_adjusted for one in found if (one.model, one.baseline) == (model, survey.reference))
    return replace(share, interval=moved_limits(share.interval, p, share.value))


def _no_range(ranges: Units, level: float) -> str | None:
    """Why nothing can be divided by the range: it is none, or the questions do not even show that there is one."""
    size = ranges.estimate
    if size < LEAST_RANGE:
        return f"the marginal scores within {LEAST_RANGE:g} of a perfect prediction, so that no range is left"
    if ranges.n > 1 and interval(ranges, method="t", confidence_level=level).interval.low <= 0:
        return f"the range is {size:.4f} on average, but differs so much between questions that it may be 0"
    return None


def _ratio(units: Units, mass: Floats, design: Design, n: int) -> Estimate:
    """A ratio of sums over questions; where some have no range at all, by linearisation."""
    reason = _no_range(Units(units.denominators, mass), design.level)
    if reason is not None:
        return Estimate(None, None, None, n, reason)
    if units.n < 2:
        return Estimate(units.estimate, None, None, n, "one question has no standard error")
    asked = design if bool((units.denominators > 0).all()) else replace(design, method="t")
    found = asked.interval(units)
    return Estimate(units.estimate, found.interval, standard_error(units), n)
