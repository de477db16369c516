"""How high a score can get: the ceiling that sampling noise puts on any predictor (S6, C1)."""

from collections.abc import Iterator
from dataclasses import replace

import msgspec
import numpy as np

from assay.analyses.contrast import moved_limits
from assay.analyses.survey.baseline_tests import against_baselines
from assay.analyses.survey.evidence import FEW_RESPONDENTS, LEFT_OUT, Survey, overall, segments_alike, shared_cells
from assay.analyses.survey.intervals import beyond_ceiling
from assay.analyses.survey.respondents import categories_of
from assay.analyses.survey.result import SurveyAnalysis
from assay.analyses.survey.scores import FOUR, number
from assay.analyses.survey.sentences import Advice, Statement
from assay.design import Design
from assay.results import words
from assay.results.figures import Mark
from assay.results.parts import Column, Fact, ResultTable
from assay.stats.bootstrap import interval
from assay.stats.records import Estimate
from assay.stats.units import Floats, Units, standard_error

_PERCENT = words.fixed(1, percent=True)
HIGH_ENOUGH = 0.9  # of the cells should be able to reach the threshold
MANY_SMALL = 0.25  # of the segments: more than that should not be small
CLOSE = 0.5  # of the range: a model in the lower half adds little to the marginal
LEAST_RANGE = 0.01  # between marginal and ceiling: a share of less means nothing


class CeilingOf(msgspec.Struct, frozen=True):
    """What a perfect prediction of some cells scores on average, and how many cells are above the threshold."""

    name: str
    cells: int
    respondents: float  # per cell, the mean
    ceiling: float
    source_ceiling: float
    above: float  # the share of cells whose ceiling reaches the threshold
    source_above: float


class ReachedRange(msgspec.Struct, frozen=True):
    """A model between the marginal (0) and a perfect prediction (1)."""

    model: str
    score: float | None
    marginal: float | None  # on the cells that the model has, the segment left out
    ceiling: float | None
    fraction: Estimate  # (score − marginal) / (ceiling − marginal); the interval draws questions
    beyond: bool = False  # the score is shown to be above the ceiling


class NoiseCeiling(SurveyAnalysis, frozen=True, tag="noise"):
    """What a perfect prediction would score, and how much of the range below it each model covers."""

    overall: CeilingOf
    categories: tuple[CeilingOf, ...]
    segments: tuple[CeilingOf, ...]
    questions: tuple[CeilingOf, ...]
    models: tuple[ReachedRange, ...]  # the best first
    threshold: float
    level: float
    reference: str = LEFT_OUT
    statements: tuple[Statement, ...] = ()

    @property
    def tables(self) -> tuple[ResultTable, ...]:
        return (self._ceiling_table(), self._range_table())

    def _ceiling_table(self) -> ResultTable:
        rows, reaching = (self.overall, *self.categories), f"≥ {self.threshold:g}"
        columns = (
            Column("cells", [one.name for one in rows]),
            Column("number", [one.cells for one in rows]),
            Column("respondents", [one.respondents for one in rows], words.fixed(0)),
            Column("ceiling", [one.ceiling for one in rows], FOUR),
            Column(reaching, [one.above for one in rows], _PERCENT, key="above"),
            Column("benchmark's", [one.source_ceiling for one in rows], FOUR, key="benchmark_ceiling"),
            Column(reaching, [one.source_above for one in rows], _PERCENT, key="benchmark_above"),
        )
        return ResultTable("noise", "noise", columns, "what a perfect prediction would score")

    def _range_table(self) -> ResultTable:
        covered = f"of the range [{words.percent(self.level)}]"
        columns = (
            Column("model", [one.model for one in self.models], may_shorten=True),
            Column("score", [one.score for one in self.models], FOUR),
            Column("marginal", [one.marginal for one in self.models], FOUR),
            Column("ceiling", [one.ceiling for one in self.models], FOUR),
            Column(covered, [one.fraction for one in self.models], _PERCENT, key="covered"),
        )
        about = f"from “{self.reference}” to the ceiling{self._why()}"
        return ResultTable("reachable range", "reachable range", columns, about)

    @property
    def main_fact(self) -> Fact | None:
        """How much of the reachable range the best model covers."""
        best = next((one for one in self.models if one.fraction.value is not None), None)
        if best is None:
            return None
        return Fact(f"{best.model}, of the range marginal to ceiling", best.fraction, None, _PERCENT(best.fraction))

    @property
    def marks(self) -> tuple[Mark, ...]:
        return (Mark(self.overall.ceiling, "ceiling", dashed=False),)

    @property
    def above_ceiling(self) -> tuple[str, ...]:
        return tuple(one.model for one in self.models if one.beyond)

    def _why(self) -> str:
        """Why there is no range, if no model has one."""
        reasons = {one.fraction.reason for one in self.models if one.fraction.value is None}
        return f": {reasons.pop()}" if len(reasons) == 1 and all(m.fraction.value is None for m in self.models) else ""

    def advice(self) -> Iterator[Advice]:
        low = [part for part in self.segments if part.ceiling < self.threshold]
        few = sum(part.respondents < FEW_RESPONDENTS for part in self.segments)
        if self.overall.above < HIGH_ENOUGH or few > MANY_SMALL * len(self.segments):
            yield Advice(
                f"Raise the minimum number of respondents (`min_n={FEW_RESPONDENTS}`), or merge small segments "
                "(`merge`).",
                f"{100 * self.overall.above:.0f}% of the questions × segments can reach {self.threshold:g} at all; "
                f"{few} of {len(self.segments)} segments have fewer than {FEW_RESPONDENTS} respondents"
                + (f", and in {len(low)} even a perfect prediction stays below it on average." if low else "."),
            )
        shares = [m.fraction.value for m in self.models if m.fraction.value is not None]
        if shares and max(shares) < CLOSE:
            yield Advice(
                "Report how much of the reachable range a model covers beside its score.",
                f"No model covers more than {100 * max(shares):.0f}% of the range between the population marginal and "
                "a perfect prediction, whatever its score.",
            )

    def sentences(self) -> Iterator[Statement]:
        o = self.overall
        yield Statement(
            f"With these numbers of respondents a perfect prediction would score {o.ceiling:.3f} on average "
            f"(the benchmark's own formula, which is not the JSD's, says {o.source_ceiling:.3f}).",
            holds=True,
        )
        yield Statement(
            f"{_PERCENT(o.above)} of the questions × segments can reach a score of {self.threshold:g} "
            f"({_PERCENT(o.source_above)} by the benchmark's formula).",
            holds=True,
        )
        yield from self._about_beyond()
        yield from self._about_range()

    def _about_beyond(self) -> Iterator[Statement]:
        for m in self.models:
            if m.beyond:
                yield Statement(
                    f"{m.model} scores {FOUR(m.score)}, more than the {FOUR(m.ceiling)} of a perfect prediction: it "
                    "must have seen the answers of these respondents, so its score is not a forecast.",
                    holds=True,
                    warning=True,
                )

    def _about_range(self) -> Iterator[Statement]:
        """How far the best model gets, leaving out models that must have seen the sample."""
        fair = [m for m in self.models if not m.beyond and m.score is not None]
        if not fair:
            return
        best, who = fair[0], "The model" if len(self.models) == 1 else "The best model"
        value, limits = best.fraction.value, best.fraction.interval
        between = "the range between the population marginal and a perfect prediction"
        if value is None or limits is None:
            yield Statement(f"No share of {between} is given for {best.model}: {best.fraction.reason}.", holds=False)
            return
        inside = f"{words.percent(limits.level)} CI {_PERCENT(limits.low)} to {_PERCENT(limits.high)}"
        found, named = f"{_PERCENT(value)} of {between} ({inside})", f"{who}, {best.model},"
        if limits.low > 0:
            yield Statement(f"{named} covers {found}.", holds=True)
        elif limits.high < 0:
            yield Statement(f"{named} is below the population marginal: {found}.", holds=True)
        else:
            yield Statement(f"{named} is not shown to cover any of the range: {found}.", holds=False)


def noise(survey: Survey, design: Design) -> NoiseCeiling:
    """The ceilings of cells, and where the models are below them."""
    truth = survey.truth
    category = categories_of(truth)
    beyond = beyond_ceiling(survey, design.level)
    models = [msgspec.structs.replace(_reach(survey, m, design), beyond=beyond[m]) for m in range(len(survey.models))]
    models.sort(key=lambda one: (-1.0 if one.score is None else -one.score, one.model))
    return NoiseCeiling(
        _level(survey, "all", np.ones(len(truth), dtype=bool)),
        tuple(_level(survey, name, category == code) for code, name in enumerate(truth.categories)),
        tuple(_level(survey, s.id, truth.segment == code) for code, s in enumerate(truth.segments)),
        tuple(_level(survey, q.id, truth.question == code) for code, q in enumerate(truth.questions)),
        tuple(models),
        survey.threshold,
        design.level,
        survey.reference,
    )


def _level(survey: Survey, name: str, cells: "np.ndarray[tuple[int], np.dtype[np.bool_]]") -> CeilingOf:
    weights = survey.weights[cells]

    def mean(values: Floats) -> float:
        return float((values[cells] * weights).sum() / weights.sum()) if cells.any() else float("nan")

    ours, theirs = survey.ceiling, survey.source_ceiling
    return CeilingOf(
        name,
        int(cells.sum()),
        float(survey.truth.n[cells].mean()) if cells.any() else 0.0,
        mean(ours),
        mean(theirs),
        mean((ours >= survey.threshold).astype(np.float64)),
        mean((theirs >= survey.threshold).astype(np.float64)),
    )


def _reach(survey: Survey, m: int, design: Design) -> ReachedRange:
    values = survey.scores[:, m], survey.baseline_scores[survey.reference], survey.ceiling
    panel, name = shared_cells(survey.panel_of(*values)), survey.models[m]
    if panel is None:
        missing = Estimate(None, None, None, 0, "no cell that the model and the marginal both have")
        return ReachedRange(name, number(overall(survey.of_models)[m]), None, None, missing)
    score, marginal, ceiling = overall(panel).tolist()
    grid = segments_alike(panel).grid
    units = Units(grid.sums[:, 0] - grid.sums[:, 1], grid.sums[:, 2] - grid.sums[:, 1])
    return ReachedRange(
        name,
        score,
        marginal,
        ceiling,
        _agreeing(survey, name, _ratio(units, grid.mass, design, panel.n), design),
    )


def _agreeing(survey: Survey, model: str, share: Estimate, design: Design) -> Estimate:
    """A share whose interval excludes 0 exactly if the model is told apart from the marginal, adjusted for all."""
    if share.value is None or share.interval is None:
        return share
    found = against_baselines(survey, design)
    p = next(one.p_adjusted for one in found if (one.model, one.baseline) == (model, survey.reference))
    return replace(share, interval=moved_limits(share.interval, p, share.value))


def _no_range(ranges: Units, level: float) -> str | None:
    """Why the range is no denominator: it is too small, or the questions do not show that it is above 0."""
    size = ranges.estimate
    if size < LEAST_RANGE:
        return f"the marginal scores within {LEAST_RANGE:g} of a perfect prediction, so no range is left"
    if ranges.n > 1 and interval(ranges, method="t", confidence_level=level).interval.low <= 0:
        return f"the range is {size:.4f} on average, but differs so much between questions that it may be 0"
    return None


def _ratio(units: Units, mass: Floats, design: Design, n: int) -> Estimate:
    """A ratio of sums over questions; by linearisation if some have no range at all."""
    reason = _no_range(Units(units.denominators, mass), design.level)
    if reason is not None:
        return Estimate(None, None, None, n, reason)
    if units.n < 2:
        return Estimate(units.estimate, None, None, n, "one question has no standard error")
    asked = design if bool((units.denominators > 0).all()) else replace(design, method="t")
    found = asked.interval(units)
    return Estimate(units.estimate, found.interval, standard_error(units), n)
