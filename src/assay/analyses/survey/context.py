"""Do models predict better when they are told more about a segment (S9)? The slope in the number of questions told."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from assay.analyses.sheet import Sheet
from assay.analyses.survey.carried import SlopeNoise, slope_noise
from assay.analyses.survey.loaded import Survey
from assay.analyses.survey.section import Section, Statement
from assay.data.survey.predictions import UNKNOWN_CONTEXT
from assay.design import Design
from assay.results import words
from assay.stats.multiplicity import benjamini_hochberg
from assay.stats.records import Estimate, Interval
from assay.stats.regression import Slope, slope, slope_limits, within_items
from assay.stats.units import Floats


@dataclass(frozen=True, slots=True)
class ContextSlope:
    """One model, in all segments or in those of a category."""

    model: str
    category: str | None  # None: all
    levels: tuple[int, ...]  # numbers of context questions
    means: tuple[float, ...]  # of the scores at each, of questions and segments that were asked at several
    slope: Slope  # of the score, for one more context question
    p_adjusted: float | None = None  # Bonferroni's, over the models; of categories, over models × categories
    benjamini_hochberg: float | None = None
    sampling: Estimate | None = None  # the slope against the true shares, on these questions: respondents drawn again
    together: Interval | None = None  # of the slope, for the same family at once: leaves out 0 where p_adjusted rejects


@dataclass(frozen=True, slots=True)
class Context(Section):
    """What context does for every model."""

    name: ClassVar[str] = "context"
    level: float
    slopes: tuple[ContextSlope, ...]
    reason: str | None  # why there are none

    def sheets(self) -> list[Sheet]:
        if self.reason is not None:
            return [Sheet(("context", "no slope"), ("", ""), [("reason", self.reason)])]
        names = dict.fromkeys(found.category for found in self.slopes)
        return [_sheet(name, [found for found in self.slopes if found.category == name], self.level) for name in names]

    def sentences(self) -> list[Statement]:
        if self.reason is not None:
            return [Statement(f"Nothing is said of the use of context: {self.reason}.", holds=False)]
        return [*_about_all(self.slopes, self.level), *_about_categories(self.slopes, self.level)]


def context(survey: Survey, design: Design) -> Context:
    """The slope of every model, over all segments and within each category."""
    known = survey.predictions.context != UNKNOWN_CONTEXT
    if len(np.unique(survey.predictions.context[known])) < 2:
        return Context(design.level, (), "all answers were given with the same number of context questions")
    noise = slope_noise(survey, levels_within(survey), design)
    everywhere = [_slope(survey, m, None, noise, design.level) for m in range(len(survey.models))]
    within = [
        _slope(survey, m, category, noise, design.level)
        for category in survey.truth.categories
        for m in range(len(survey.models))
        if len(survey.truth.categories) > 1
    ]
    return Context(design.level, (*_adjusted(everywhere, design.level), *_adjusted(within, design.level)), None)


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
    return ContextSlope(survey.models[model], category, tuple(levels.tolist()), means, found, sampling=drawn)


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
        out[i] = replace(out[i], p_adjusted=first, benjamini_hochberg=second, together=together)
    return out


# ------------------------------------------------------------------------------------------ for people


def _sheet(category: str | None, slopes: Sequence[ContextSlope], level: float) -> Sheet:
    about = "all segments" if category is None else category
    percent = words.percent(level)
    drawn = f"without noise, these questions [{percent}]"
    header = ("model", "levels", f"slope per question [{percent}, simultaneous]", drawn, "R²", "p, adjusted")
    cells = [
        (
            found.model,
            ", ".join(map(str, found.levels)) or "–",
            _estimate(replace(found.slope.estimate, interval=found.together or found.slope.estimate.interval)),
            "–" if found.sampling is None else _estimate(found.sampling),
            "–" if found.slope.r_squared is None else f"{found.slope.r_squared:.3f}",
            "–" if found.p_adjusted is None else f"{found.p_adjusted:.2g}",
        )
        for found in slopes
    ]
    return Sheet(("context", about), header, cells)


def _estimate(estimate: Estimate) -> str:
    if estimate.value is None or estimate.interval is None:
        return f"undefined: {estimate.reason}"
    return words.estimate(estimate.value, estimate.interval, sign=True)


def _about_all(slopes: Sequence[ContextSlope], level: float) -> Iterator[Statement]:
    for found in (one for one in slopes if one.category is None):
        estimate = found.slope.estimate
        within = found.together or estimate.interval
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
