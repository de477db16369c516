"""Do models predict better when told more about a segment (S9)? The slope in the number of context questions."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import exp, sqrt

import msgspec
import numpy as np
from numpy.typing import NDArray

from assay.analyses.survey.evidence import Survey
from assay.analyses.survey.intervals import KNOWS_THE_SAMPLE, beyond_ceiling, not_corrected
from assay.analyses.survey.respondents import NoisyAnswers, categories_of, resample_sums
from assay.analyses.survey.result import SurveyAnalysis
from assay.analyses.survey.sentences import Statement
from assay.data.survey.predictions import UNKNOWN_CONTEXT
from assay.design import Design
from assay.results import words
from assay.results.figures import Axes, Curve, Series
from assay.results.parts import Column, Fact, ResultTable
from assay.stats.multiplicity import benjamini_hochberg
from assay.stats.numerics import normal_quantile
from assay.stats.records import Estimate, Interval
from assay.stats.regression import Slope, slope, slope_limits, within_items
from assay.stats.survey.denoised import GRID
from assay.stats.units import Floats, Integers

METHOD = "respondents, bias-corrected"


class ContextSlope(msgspec.Struct, frozen=True):
    """One model, in all segments or in those of a category."""

    model: str
    category: str | None  # None: all
    levels: tuple[int, ...]  # numbers of context questions
    means: tuple[float, ...]  # score at each, over questions and segments asked at several
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
        return f"{self.model}: {words.placed(value, 4, sign=True)}, {words.p_value(self.p_adjusted)}"


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

    @property
    def main_fact(self) -> Fact | None:
        whole = [one for one in self.slopes if one.category is None and one.p_adjusted is not None]
        if not whole:
            return None
        better = [
            one for one in whole if (one.p_adjusted or 0) <= 1 - self.level and (one.slope.estimate.value or 0) > 0
        ]
        return Fact("context helps", len(better), None, f"{len(better)} of {words.count(len(whole), 'model')}")

    def sentences(self) -> Iterator[Statement]:
        if self.reason is not None:
            yield Statement(f"The effect of context cannot be measured: {self.reason}.", holds=False)
            return
        yield from _about_all(self.slopes, self.level)
        yield from _about_categories(self.slopes, self.level)


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
            yield Statement(
                f"The effect of context cannot be measured for {found.model}: {found.slope.test.reason}.", holds=False
            )
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


@dataclass(frozen=True, eq=False)
class SlopeNoise:
    """Slopes in the number of context questions without the noise of who was asked, on these questions.

    A slope is a sum over levels of context, each with its own limits, which are combined with the correlations of the
    replicates (Zou 2007, *Toward using confidence intervals to compare correlations*): answers of a model at two
    levels are compared with the same respondents.
    """

    survey: Survey
    within: Floats  # (R,) context less its mean over the answers of the model about the cell; 0 where it says nothing
    drawn: Floats  # (G, B, M, L) Σ within · score, by category, model and level
    beyond: Sequence[bool]  # (M,) models whose noise cannot be taken off

    def slope(self, model: int, categories: Sequence[int], level: float) -> Estimate:
        """The slope of a model in these categories against the true shares."""
        survey, predictions = self.survey, self.survey.predictions
        rows = np.flatnonzero((predictions.model == model) & self._of(categories))
        spread = float((self.within[rows] ** 2).sum())
        reason = not_corrected(survey, model) or (None if spread > 0 else "no question was asked at two levels")
        reason = KNOWS_THE_SAMPLE if reason is None and self.beyond[model] else reason
        if reason is not None:
            return Estimate(None, None, None, len(rows), reason)
        value = float(self.within[rows] @ np.nan_to_num(survey.row_scores[rows]))
        levels = list(self._levels(model, rows, categories, level))
        value += sum(found.off for found, _ in levels)
        together = _correlations([drawn for _, drawn in levels])
        shape = normal_quantile(0.5 + level / 2) * sum(found.shape for found, _ in levels)
        down, up = (
            sqrt(max(float(reach @ together @ reach), 0.0) + shape**2)
            for reach in (np.array([found.down for found, _ in levels]), np.array([found.up for found, _ in levels]))
        )
        limits = Interval((value - down) / spread, (value + up) / spread, level, METHOD)
        error = (limits.high - limits.low) / (2 * normal_quantile(0.5 + level / 2))
        return Estimate(value / spread, limits, error, len(rows))

    def _levels(
        self, model: int, rows: Integers, categories: Sequence[int], level: float
    ) -> Iterator[tuple["_LevelNoise", Floats]]:
        """For every number of context questions: its contribution and its replicates."""
        answers, context = self.survey.noisy[model], self.survey.predictions.context
        used = np.isin(answers.rows, rows) & (self.within[answers.rows] != 0)
        for place, number in enumerate(self.survey.predictions.contexts):
            own = used & (context[answers.rows] == number)
            if own.any():
                drawn = self.drawn[list(categories), :, model, place].sum(axis=0)
                yield _level(_chosen(answers, own), self.within[answers.rows[own]], level), drawn

    def _of(self, categories: Sequence[int]) -> "np.ndarray[tuple[int], np.dtype[np.bool_]]":
        """(R,) Which answers are about segments of these categories."""
        return np.isin(categories_of(self.survey.truth)[self.survey.predictions.cell], categories)


def slope_noise(survey: Survey, within: Floats, design: Design) -> SlopeNoise:
    drawn = resample_sums(survey.truth, survey.predictions, within, design)
    return SlopeNoise(survey, within, drawn, beyond_ceiling(survey, design.level))


@dataclass(frozen=True, slots=True)
class _LevelNoise:
    """One number of context questions in Σ within · score."""

    off: float  # how much noise lowers it
    down: float  # how far the corrected limits are below and above
    up: float
    shape: float  # its change with one standard error of the shape of the divergences


def _level(answers: NoisyAnswers, within: Floats, level: float) -> _LevelNoise:
    spread = answers.spread
    off, down, up = _corrected(answers, within, spread.shape, level)
    less, more = (
        _corrected(answers, within, spread.shape * exp(sign * spread.log_error), level)[0] for sign in (-1, 1)
    )
    return _LevelNoise(off, down, up, (more - less) / 2)


def _corrected(answers: NoisyAnswers, within: Floats, shape: float, level: float) -> tuple[float, float, float]:
    weights = np.full((len(answers.cells), 1), 1 / len(answers.cells))
    found = mean, deviation, ratio = answers.expected(shape)
    curve, measured = answers.curves_of(found, weights)[0], answers.measured_roots(weights)[0]
    at, z = curve.root_of(measured), normal_quantile(0.5 + level / 2)
    expected, spread = (_between(part, at) for part in (mean, deviation))
    off = expected - ratio * np.sqrt(answers.spread.relative) * at
    per_cell = np.add.reduceat(np.abs(within) * spread, answers.starts)
    many = float(np.sqrt((per_cell**2).sum())) / max(curve.error_at(measured), 1e-300)  # mean roots in Σ within · root
    better, worse = (many * abs(curve.solved(measured) - curve.solved(measured, reach)) for reach in (z, -z))
    return float(within @ off), *((worse, better) if within.sum() >= 0 else (better, worse))


def _correlations(replicates: Sequence[Floats]) -> Floats:
    """(L, L) Correlations of the parts of a slope, as the same respondents were drawn for all."""
    off = np.array([part - part.mean() for part in replicates])
    sizes = np.sqrt((off**2).sum(axis=1))
    scaled = np.divide(off, sizes[:, None], out=np.zeros(off.shape), where=sizes[:, None] > 0)
    found = scaled @ scaled.T
    np.fill_diagonal(found, 1.0)
    return np.asarray(found)


def _between(values: Floats, at: float) -> Floats:
    """(r,) Values (grid, r) interpolated at a point of the grid."""
    low = int(np.clip(np.searchsorted(GRID, at, side="right") - 1, 0, len(GRID) - 2))
    share = (at - GRID[low]) / (GRID[low + 1] - GRID[low])
    return np.asarray(values[low] + share * (values[low + 1] - values[low]))


def _chosen(answers: NoisyAnswers, own: "np.ndarray[tuple[int], np.dtype[np.bool_]]") -> NoisyAnswers:
    """Some of the answers, with each of their cells counting the same."""
    noise, cell = answers.noise, answers.cell[own]
    parts = {name: getattr(noise, name)[own] for name in ("excess", "variance", "scale", "freedom", "doubt")}
    per_cell = np.bincount(cell)
    return NoisyAnswers(
        answers.rows[own],
        cell,
        1 / per_cell[cell],
        answers.measured[own],
        replace(noise, **parts),
        replace(answers.spread, relative=answers.spread.relative[own]),
    )


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
    chosen = range(len(names)) if category is None else [names.index(category)]
    rows = _rows(survey) & (predictions.model == model) & np.isin(categories_of(truth)[predictions.cell], chosen)
    at, score, cell = predictions.context[rows], survey.row_scores[rows], predictions.cell[rows]
    levels = np.unique(at)
    means = tuple(float(score[at == number].mean()) for number in levels)
    found = slope(at.astype(np.float64), score, cell, truth.question[cell], confidence_level=level)
    drawn = noise.slope(model, chosen, level)
    return ContextSlope(survey.models[model], category, tuple(levels.tolist()), means, found, None, None, drawn, None)


def _rows(survey: Survey) -> NDArray[np.bool_]:
    """(R,) Answers with a score and a level, about a question and segment that the model was asked at several."""
    item, level = _items(survey), survey.predictions.context
    rows = (level != UNKNOWN_CONTEXT) & ~np.isnan(survey.row_scores)
    least = np.full(int(item.max(initial=0)) + 1, np.iinfo(np.int64).max)
    most = np.full(len(least), np.iinfo(np.int64).min)
    np.minimum.at(least, item[rows], level[rows])
    np.maximum.at(most, item[rows], level[rows])
    return np.asarray(rows & (least < most)[item])


def _items(survey: Survey) -> NDArray[np.int64]:
    """(R,) A model asked about a cell."""
    return np.asarray(survey.predictions.cell * len(survey.models) + survey.predictions.model)


def levels_within(survey: Survey) -> Floats:
    """(R,) The level less its mean over the answers of the model about the cell; 0 of answers that do not count."""
    rows, within = _rows(survey), np.zeros(len(survey.predictions))
    within[rows] = within_items(survey.predictions.context[rows].astype(np.float64), _items(survey)[rows])
    return within


def _adjusted(slopes: Sequence[ContextSlope], level: float) -> list[ContextSlope]:
    """The slopes with p-values and limits adjusted for their number."""
    known = [i for i, found in enumerate(slopes) if found.slope.test.p_value is not None]
    p = np.array([slopes[i].slope.test.p_value for i in known], dtype=np.float64)
    out, adjusted = list(slopes), np.minimum(1.0, len(p) * p)
    for i, first, second in zip(known, adjusted.tolist(), benjamini_hochberg(p).tolist(), strict=True):
        together = slope_limits(out[i].slope, first, confidence_level=level, family=len(p))
        out[i] = msgspec.structs.replace(out[i], p_adjusted=first, benjamini_hochberg=second, together=together)
    return out
