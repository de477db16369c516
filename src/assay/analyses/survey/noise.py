"""How much of a score can be had at all: the ceiling that sampling noise puts on any predictor (S6, C1)."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from assay.analyses import wording
from assay.analyses.sheet import Sheet
from assay.analyses.survey.loaded import Survey
from assay.analyses.survey.scores import number, shown
from assay.analyses.survey.section import Section, Statement
from assay.data.panel import Floats
from assay.design import Design
from assay.stats.bootstrap import interval
from assay.stats.records import Estimate
from assay.stats.units import Units, standard_error


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

    def sheets(self) -> list[Sheet]:
        header = [
            "cells",
            "number",
            "respondents",
            "ceiling",
            f"≥ {self.threshold:g}",
            "source's",
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
        head = ["model", "score", "marginal", "ceiling", f"of the range [{wording.percent(self.level)}]"]
        return [
            Sheet(("noise", "what a perfect prediction would score"), header, cells),
            Sheet(("reachable range", "from the marginal, left out, to the ceiling"), head, models),
        ]

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
        for m in self.models:
            limits = m.fraction.interval
            if limits is not None and limits.low > 1:
                text = f"{m.model} scores more than a perfect prediction would: it knows the sample itself."
                said.append(Statement(text, holds=False))
        best = next((m for m in self.models if m.fraction.value is not None), None)
        if best is not None and best.fraction.value is not None:
            limits = best.fraction.interval
            inside = (
                ""
                if limits is None
                else f" ({wording.percent(limits.level)} interval {_percent(limits.low)} to {_percent(limits.high)})"
            )
            said.append(
                Statement(
                    f"Of the range between the marginal and a perfect prediction, the best model, {best.model}, "
                    f"covers {_percent(best.fraction.value)}{inside}.",
                    holds=limits is not None and limits.low > 0,
                )
            )
        return said


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
    models = [_reach(survey, m, design) for m in range(len(survey.models))]
    models.sort(key=lambda one: (-1.0 if one.score is None else -one.score, one.model))
    return Noise(
        _level(survey, "all", np.ones(len(truth), dtype=bool)),
        tuple(_level(survey, name, category == code) for code, name in enumerate(truth.categories)),
        tuple(_level(survey, s.id, truth.segment == code) for code, s in enumerate(truth.segments)),
        tuple(_level(survey, q.id, truth.question == code) for code, q in enumerate(truth.questions)),
        tuple(models),
        survey.threshold,
        design.level,
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
    values = np.column_stack([survey.scores[:, m], survey.baseline_scores["marginal, left out"], survey.ceiling])
    both = np.asarray(~np.isnan(values).any(axis=1))
    name = survey.models[m]
    if not both.any():
        missing = Estimate(None, None, None, 0, "no cell that the model and the marginal both have")
        return Reach(name, number(survey.overall(survey.scores)[m]), None, None, missing)
    score, marginal, ceiling = survey.overall(np.where(both[:, None], values, np.nan)).tolist()
    grid = survey.grid(np.where(both[:, None], values, np.nan))
    units = Units(grid.sums[:, 0] - grid.sums[:, 1], grid.sums[:, 2] - grid.sums[:, 1])
    return Reach(name, score, marginal, ceiling, _ratio(units, design, int(both.sum())))


def _ratio(units: Units, design: Design, n: int) -> Estimate:
    """A ratio of sums over questions; where some have no range at all, by linearisation."""
    if float(units.denominators.sum()) <= 0:
        return Estimate(
            None, None, None, n, "the marginal scores as much as a perfect prediction would: no range is left"
        )
    if units.n < 2:
        return Estimate(units.estimate, None, None, n, "one question has no standard error")
    method = design.method if bool((units.denominators > 0).all()) else "t"
    found = interval(
        units, method=method, confidence_level=design.level, n_resamples=design.resamples, seed=design.seed
    )
    return Estimate(units.estimate, found.interval, standard_error(units), n)
