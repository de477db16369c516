"""Do models predict better when they are told more about a segment (S9)? The slope in the number of questions told."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import msgspec
import numpy as np
from numpy.typing import NDArray

from assay.analyses.survey.evidence import Survey
from assay.analyses.survey.propagated import SlopeNoise, slope_noise
from assay.analyses.survey.result import SurveyAnalysis
from assay.analyses.survey.sentences import Statement
from assay.data.survey.predictions import UNKNOWN_CONTEXT
from assay.design import Design
from assay.results import words
from assay.results.figures import Axes, Curve, Series
from assay.results.parts import Column, ResultTable
from assay.stats.multiplicity import benjamini_hochberg
from assay.stats.records import Estimate, Interval
from assay.stats.regression import Slope, slope, slope_limits, within_items
from assay.stats.units import Floats


class ContextSlope(msgspec.Struct, frozen=True):
    """One model, in all segments or in those of a category."""

    model: str
    category: str | None  # None: all
    levels: tuple[int, ...]  # numbers of context questions
    means: tuple[float, ...]  # of the scores at each, of questions and segments that were asked at several
    slope: Slope  # of the score, for one more context question
    p_adjusted: float | None  # Bonferroni's, over the models; of categories, over models × categories
    benjamini_hochberg: float | None
    sampling: Estimate | None  # the slope against the true shares, on these questions: respondents drawn again
    together: Interval | None  # of the slope, for the same family at once: leaves out 0 where p_adjusted rejects

    @property
    def simultaneous(self) -> Estimate:
        """The slope with the interval that holds for the whole family, where there is one."""
        return replace(self.slope.estimate, interval=self.together or self.slope.estimate.interval)

    @property
    def label(self) -> str:
        """The model, with its slope in words."""
        value = self.slope.estimate.value
        if value is None or self.p_adjusted is None:
            return f"{self.model}: no slope"
        return f"{self.model}: {value:+.4f}, {words.p_value(self.p_adjusted)}"


class ContextSlopes(SurveyAnalysis, frozen=True, tag="context"):
    """What context does for every model."""

    level: float
    slopes: tuple[ContextSlope, ...]
    reason: str | None  # why there are none
    statements: tuple[Statement, ...] = ()

    @property
    def tables(self) -> tuple[ResultTable, ...]:
        names = dict.fromkeys(found.category for found in self.slopes)
        return tuple(
            _table(name, [found for found in self.slopes if found.category == name], self.level) for name in names
        )

    def figures(self, beside: Mapping[str, SurveyAnalysis]) -> tuple[Curve, ...]:  # noqa: ARG002
        """Mean scores by the number of context questions, a line per model, with its slope in words."""
        found = [one for one in self.slopes if one.category is None and len(one.levels) > 1]
        if not found:
            return ()
        found.sort(key=lambda one: -one.means[-1])  # the legend in the order of the lines
        series = tuple(Series(one.label, tuple(map(float, one.levels)), one.means) for one in found)
        about = "Mean scores of questions × segments asked at several levels; slope per context question, p adjusted."
        axes = (Axes("score (1 − √JSD)", series),)
        return (Curve("context", "Does context help?", (about,), "context questions", axes),)

    def sentences(self) -> Iterator[Statement]:
        if self.reason is not None:
            yield Statement(f"Nothing is said of the use of context: {self.reason}.", holds=False)
            return
        yield from _about_all(self.slopes, self.level)
        yield from _about_categories(self.slopes, self.level)


def context(survey: Survey, design: Design) -> ContextSlopes:
    """The slope of every model, over all segments and within each category."""
    known = survey.predictions.context != UNKNOWN_CONTEXT
    if len(np.unique(survey.predictions.context[known])) < 2:
        return ContextSlopes(design.level, (), "all answers were given with the same number of context questions")
    noise = slope_noise(survey, levels_within(survey), design)
    everywhere = [_slope(survey, m, None, noise, design.level) for m in range(len(survey.models))]
    within = [
        _slope(survey, m, category, noise, design.level)
        for category in survey.truth.categories
        for m in range(len(survey.models))
        if len(survey.truth.categories) > 1
    ]
    return ContextSlopes(design.level, (*_adjusted(everywhere, design.level), *_adjusted(within, design.level)), None)


def _slope(survey: Survey, model: int, category: str | None, noise: SlopeNoise, level: float) -> ContextSlope:
    predictions, truth, names = survey.predictions, survey.truth, list(survey.truth.categories)
    rows = _rows(survey) & (predictions.model == model)
    if category is not None:
        own = np.zeros(len(truth.segments), dtype=bool)
        own[truth.categories[category]] = True
        rows &= own[truth.segment[predictions.cell]]
    at, score, cell = predictions.context[rows], survey.row_scores[rows], predictions.cell[rows]
    levels = np.unique(at)
    means = tuple(float(score[at == number].mean()) for number in levels)
    found = slope(at.astype(np.float64), score, cell, truth.question[cell], confidence_level=level)
    drawn = noise.slope(model, range(len(names)) if category is None else [names.index(category)], level)
    return ContextSlope(survey.models[model], category, tuple(levels.tolist()), means, found, None, None, drawn, None)


def _rows(survey: Survey) -> NDArray[np.bool_]:
    """(R,) Answers with a score and a level, about a question and segment that the model was asked at several."""
    predictions = survey.predictions
    rows = (predictions.context != UNKNOWN_CONTEXT) & ~np.isnan(survey.row_scores)
    return np.asarray(rows & _seen_at_several(_items(survey), predictions.context, rows))


def _items(survey: Survey) -> NDArray[np.int64]:
    """(R,) A model asked about a cell."""
    return np.asarray(survey.predictions.cell * len(survey.models) + survey.predictions.model)


def levels_within(survey: Survey) -> Floats:
    """(R,) The level less its mean over the answers of the model about the cell; 0 of answers that do not count."""
    rows, within = _rows(survey), np.zeros(len(survey.predictions))
    within[rows] = within_items(survey.predictions.context[rows].astype(np.float64), _items(survey)[rows])
    return within


def _seen_at_several(cell: NDArray[np.int64], level: NDArray[np.int64], rows: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """(R,) Whether the item of a row has rows at another level as well."""
    least = np.full(int(cell.max(initial=0)) + 1, np.iinfo(np.int64).max)
    most = np.full(len(least), np.iinfo(np.int64).min)
    np.minimum.at(least, cell[rows], level[rows])
    np.maximum.at(most, cell[rows], level[rows])
    return np.asarray((least < most)[cell])


def _adjusted(slopes: Sequence[ContextSlope], level: float) -> list[ContextSlope]:
    """With p-values and limits that allow for as many slopes as there are."""
    known = [i for i, found in enumerate(slopes) if found.slope.test.p_value is not None]
    p = np.array([slopes[i].slope.test.p_value for i in known], dtype=np.float64)
    out, adjusted = list(slopes), np.minimum(1.0, len(p) * p)
    for i, first, second in zip(known, adjusted.tolist(), benjamini_hochberg(p).tolist(), strict=True):
        together = slope_limits(out[i].slope, first, confidence_level=level, family=len(p))
        out[i] = msgspec.structs.replace(out[i], p_adjusted=first, benjamini_hochberg=second, together=together)
    return out


# ------------------------------------------------------------------------------------------ for people


def _table(category: str | None, slopes: Sequence[ContextSlope], level: float) -> ResultTable:
    about = "all segments" if category is None else category
    percent = words.percent(level)
    slope, drawn = f"slope per question [{percent}, simultaneous]", f"without noise, these questions [{percent}]"
    columns = (
        Column("model", [one.model for one in slopes], may_shorten=True),
        Column("levels", [", ".join(map(str, one.levels)) or None for one in slopes], right=True),
        Column(slope, [one.simultaneous for one in slopes], _signed, key="slope"),
        Column(drawn, [one.sampling for one in slopes], _signed, key="sampling"),
        Column("R²", [one.slope.r_squared for one in slopes], words.fixed(3), key="r_squared"),
        Column("p, adjusted", [one.p_adjusted for one in slopes], words.p_alone, key="p_adjusted"),
    )
    return ResultTable("context" if category is None else f"context {category}", "context", columns, about)


def _signed(found: Estimate | None) -> str:
    return "–" if found is None else words.with_interval(found, sign=True)


def _about_all(slopes: Sequence[ContextSlope], level: float) -> Iterator[Statement]:
    for found in (one for one in slopes if one.category is None):
        estimate = found.slope.estimate
        within = found.simultaneous.interval
        if found.p_adjusted is None or within is None or estimate.value is None:
            yield Statement(f"Nothing is said of context for {found.model}: {found.slope.test.reason}.", holds=False)
            continue
        limits = words.interval(within, sign=True)
        numbers = f"{words.percent(level)} simultaneous interval {limits}, adjusted {words.p_value(found.p_adjusted)}"
        if found.p_adjusted <= 1 - level:
            change = "improve" if estimate.value > 0 else "get worse"
            value = words.placed(estimate.value, words.decimals(within), sign=True)
            yield Statement(
                f"Predictions of {found.model} {change} with context: {value} per context question ({numbers}).",
                holds=True,
            )
        else:
            text = f"No effect of context is shown for {found.model} (slope per context question: {numbers})."
            yield Statement(text, holds=False)


def _about_categories(slopes: Sequence[ContextSlope], level: float) -> Iterator[Statement]:
    within = [one for one in slopes if one.category is not None and one.p_adjusted is not None]
    shown = [one for one in within if one.p_adjusted is not None and one.p_adjusted <= 1 - level]
    if within:
        yield Statement(
            f"Within single categories of segments, {len(shown)} of {len(within)} slopes differ from 0 "
            "(adjusted for the number of models and categories).",
            holds=True,
        )
