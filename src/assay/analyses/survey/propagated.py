"""The replicates of the respondents carried to gaps and slopes, with their bias taken off (S3, C2, C3).

The same draws as for the scores, once for all models. A replicate is drawn from shares that are noisy already, so that
its mean is too low and it varies too much; what is carried is its deviation from the mean of the replicates, scaled to
the standard error that sampling has, and by how much the correction of the score magnifies it. So what goes together
stays together: the answers of a model at two levels of context are compared with the same respondents.

A gap is inverted (`assay.stats.survey.gaps`). A slope is a sum over levels of context, each with its own limits,
which are put together with the correlations of the replicates (Zou 2007, *Toward using confidence intervals to compare
correlations*).

This is the noise of who was asked. Questions are taken as they are: whether other questions would show the same is what
the tests with questions as clusters say.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from math import exp, sqrt

import numpy as np

from assay.analyses.survey.denoised import KNOWS_THE_SAMPLE, beyond_ceiling, parts_of, weights_within
from assay.analyses.survey.evidence import Survey
from assay.analyses.survey.respondents import NoisyAnswers, resample_sums
from assay.data.survey.predictions import SCORE_ONLY
from assay.design import Design
from assay.stats.numerics import normal_quantile
from assay.stats.records import Estimate, Interval
from assay.stats.survey.denoised import GRID
from assay.stats.survey.gaps import NoisySegment, sampling_gap
from assay.stats.units import Floats, Integers

SCORES_ONLY = "the results have scores without distributions, whose noise is not known"
NOTHING_READ = "no answer has a distribution"
METHOD = "respondents, bias-corrected"


@dataclass(frozen=True, eq=False)
class SegmentNoise:
    """Every segment, without the questions that define it, as it is measured and with replicates of its error."""

    segments: Sequence[Sequence[NoisySegment | None]]  # [model][segment]
    reasons: Sequence[str | None]  # [model] why nothing can be said

    def gap(self, chosen: Sequence[int], model: int, level: float) -> Estimate:
        """The true gap of a model between some segments."""
        own = [one for one in (self.segments[model][s] for s in chosen) if one is not None]
        reason = self.reasons[model] or (None if len(own) > 1 else "fewer than two segments have answers")
        if reason is not None:
            return Estimate(None, None, None, len(own), reason)
        return sampling_gap(own, confidence_level=level)


def segment_noise(survey: Survey, design: Design) -> SegmentNoise:
    """From the same replicates as the scores."""
    models = range(len(survey.models))
    drawn = survey.resampled(design).compared
    beyond = beyond_ceiling(survey, design.level)
    reasons = [KNOWS_THE_SAMPLE if beyond[m] else _reason(survey, m) for m in models]
    return SegmentNoise([_segments(survey, m, drawn[:, m]) for m in models], reasons)


def _segments(survey: Survey, model: int, drawn: Floats) -> list[NoisySegment | None]:
    codes = np.where(survey.truth.defining, -1, survey.truth.segment)
    parts = parts_of(survey, model, weights_within(survey, model, codes, len(drawn)))
    if not len(parts.answers.rows):
        return [None] * len(drawn)
    curves, measured = parts.answers.curves(parts.weights), parts.measured
    return [
        NoisySegment(float(parts.whole[s]), measured[s], curves[s], _scaled(drawn[s], 1.0)) if parts.read[s] else None
        for s in range(len(drawn))
    ]


def _scaled(replicates: Floats, error: float) -> Floats:
    """Deviations from their mean, with this standard deviation."""
    off = replicates - replicates.mean()
    deviation = float(off.std())
    return np.asarray(off * (error / deviation) if deviation > 0 else 0 * off)


def _reason(survey: Survey, model: int) -> str | None:
    status = survey.predictions.status[survey.predictions.model == model]
    if (status == SCORE_ONLY).any():
        return SCORES_ONLY
    return None if len(survey.noisy[model].rows) else NOTHING_READ


# ------------------------------------------------------------------------------------------------------------ slopes


@dataclass(frozen=True, eq=False)
class SlopeNoise:
    """What slopes in the number of context questions are made of, and the replicates of its parts."""

    survey: Survey
    within: Floats  # (R,) context less its mean over the answers of the model about the cell; 0 where it says nothing
    drawn: Floats  # (G, B, M, L) Σ within · score, by category, model and level
    beyond: Sequence[bool]  # (M,) models whose noise cannot be taken off

    def slope(self, model: int, categories: Sequence[int], level: float) -> Estimate:
        """The slope of a model in these categories against the true shares."""
        survey, predictions = self.survey, self.survey.predictions
        rows = np.flatnonzero((predictions.model == model) & self._of(categories))
        spread = float((self.within[rows] ** 2).sum())
        reason = _reason(survey, model) or (None if spread > 0 else "no question was asked at two levels")
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
    ) -> Iterator[tuple["_Level", Floats]]:
        """For every number of context questions: what is known of it, and its replicates."""
        answers, context = self.survey.noisy[model], self.survey.predictions.context
        used = np.isin(answers.rows, rows) & (self.within[answers.rows] != 0)
        for place, number in enumerate(self.survey.predictions.contexts):
            own = used & (context[answers.rows] == number)
            if own.any():
                drawn = self.drawn[list(categories), :, model, place].sum(axis=0)
                yield _level(_chosen(answers, own), self.within[answers.rows[own]], level), drawn

    def _of(self, categories: Sequence[int]) -> "np.ndarray[tuple[int], np.dtype[np.bool_]]":
        """(R,) Which answers are about segments of these categories."""
        truth, names = self.survey.truth, list(self.survey.truth.categories)
        chosen = np.array([names.index(segment.category) in categories for segment in truth.segments])
        return np.asarray(chosen[truth.segment[self.survey.predictions.cell]])


def slope_noise(survey: Survey, within: Floats, design: Design) -> SlopeNoise:
    drawn = resample_sums(survey.truth, survey.predictions, within, design)
    return SlopeNoise(survey, within, drawn, beyond_ceiling(survey, design.level))


@dataclass(frozen=True, slots=True)
class _Level:
    """At one number of context questions, of Σ within · score:"""

    off: float  # what noise takes from it
    down: float  # how far the limits of what is left are below and above it
    up: float
    shape: float  # how that changes with one standard error of how divergences are spread


def _level(answers: NoisyAnswers, within: Floats, level: float) -> _Level:
    spread = answers.spread
    off, down, up = _corrected(answers, within, spread.shape, level)
    less, more = (
        _corrected(answers, within, spread.shape * exp(sign * spread.log_error), level)[0] for sign in (-1, 1)
    )
    return _Level(off, down, up, (more - less) / 2)


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
    """(L, L) Of the parts of a slope: what goes together because the same respondents were drawn."""
    off = np.array([part - part.mean() for part in replicates])
    sizes = np.sqrt((off**2).sum(axis=1))
    scaled = np.divide(off, sizes[:, None], out=np.zeros(off.shape), where=sizes[:, None] > 0)
    found = scaled @ scaled.T
    np.fill_diagonal(found, 1.0)
    return np.asarray(found)


def _between(values: Floats, at: float) -> Floats:
    """(r,) Of (grid, r), at a place between two of the grid."""
    low = int(np.clip(np.searchsorted(GRID, at, side="right") - 1, 0, len(GRID) - 2))
    share = (at - GRID[low]) / (GRID[low + 1] - GRID[low])
    return np.asarray(values[low] + share * (values[low + 1] - values[low]))


def _chosen(answers: NoisyAnswers, own: "np.ndarray[tuple[int], np.dtype[np.bool_]]") -> NoisyAnswers:
    """Some of the answers, each cell of them counting the same."""
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
