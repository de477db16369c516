"""Scores with intervals that allow for who happened to be asked: the noise of the sample taken off (S3, C3).

The score of a sample is too low, and drawing the sample again makes it lower still. `assay.stats.survey.denoised` knows
which mean root of the divergences to expect for any true one at these numbers of respondents: the estimate is where
the expected root is the measured one, and the limits are where they differ by as much as chance allows. The spread of
a model's divergences has to be estimated too, and its error is added; and limits allow for two families of
distributions. The mean divergence itself needs no inversion:
JSD(p̂, q) less its expected excess is unbiased, and so is a mean of such terms, with a variance in closed form.

Nobody who was not shown the answers of these respondents can predict them better than the true shares do. A score above
the ceiling says that the sample, or a part of it, went into the model. Corrections for noise assume that a prediction
does not know the noise, so such a model gets none.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import exp, sqrt
from typing import TYPE_CHECKING

import msgspec
import numpy as np

from assay.analyses.survey.evidence import Breakdown, Survey, means_by, overall, segments_alike, shared_cells
from assay.analyses.survey.respondents import DEFAULT_RESPONDENT_RESAMPLES, NoisyAnswers
from assay.analyses.survey.result import SurveyAnalysis
from assay.analyses.survey.scores import FOUR, number
from assay.analyses.survey.sentences import Advice, Statement
from assay.data.survey.predictions import SCORE_ONLY
from assay.design import Design
from assay.results import words
from assay.results.parts import Column, ResultTable
from assay.stats.bootstrap import interval
from assay.stats.numerics import normal_quantile
from assay.stats.records import Estimate, Interval
from assay.stats.survey.denoised import ExpectedRoots
from assay.stats.units import Floats, Integers, Truths, Units

if TYPE_CHECKING:
    from scipy.sparse import csr_array


class ScoreInterval(msgspec.Struct, frozen=True):
    """One model's score under resampling of the respondents."""

    model: str
    score: float | None  # as measured
    bias: float | None  # by how much sampling noise lowers it
    corrected: Estimate  # the score against the true shares
    percentile: Interval | None  # adds the noise a second time
    divergence: Estimate  # the mean JSD without its noise


class PartScore(msgspec.Struct, frozen=True):
    """One model on one question or segment."""

    model: str
    part: str
    score: float | None
    corrected: Estimate


class ScoreIntervals(SurveyAnalysis, frozen=True, tag="intervals"):
    """Every model's score, overall and by segment and question, with the noise of the respondents taken off."""

    models: tuple[ScoreInterval, ...]  # the best first
    segments: tuple[PartScore, ...]
    questions: tuple[PartScore, ...]
    resamples: int
    level: float
    categories: tuple[PartScore, ...] = ()
    by: Breakdown | None = None  # which of these are shown
    statements: tuple[Statement, ...] = ()

    @property
    def tables(self) -> tuple[ResultTable, ...]:
        level, models = words.percent(self.level), self.models
        columns = (
            Column("model", [m.model for m in models], may_shorten=True),
            Column("score", [m.score for m in models], FOUR),
            Column(f"without noise [{level}]", [m.corrected for m in models], FOUR, key="corrected"),
            Column(f"plain percentile [{level}]", [m.percentile for m in models], FOUR, key="percentile"),
            Column(f"mean JSD, debiased [{level}]", [m.divergence for m in models], FOUR, key="divergence"),
        )
        about = f"respondents drawn again, {self.resamples:,} times"
        return (ResultTable("intervals", "intervals", columns, about), *self._table_by())

    def _table_by(self) -> Iterator[ResultTable]:
        if self.by is None:
            return
        parts = {"category": self.categories, "segment": self.segments, "question": self.questions}[self.by]
        columns = (
            Column(self.by, [one.part for one in parts]),
            Column("model", [one.model for one in parts], may_shorten=True),
            Column("score", [one.score for one in parts], FOUR),
            Column(
                f"without noise [{words.percent(self.level)}]", [one.corrected for one in parts], FOUR, key="corrected"
            ),
        )
        yield ResultTable(f"by {self.by}", "intervals", columns, f"by {self.by}")

    @property
    def corrected(self) -> Mapping[str, Estimate]:
        return {one.model: one.corrected for one in self.models}

    def advice(self) -> Iterator[Advice]:
        limits = [m.corrected.interval for m in self.models if m.corrected.interval is not None]
        known = [m.score for m in self.models if m.score is not None]
        if not limits or len(known) < 2:
            return
        half = max((one.high - one.low) / 2 for one in limits)
        steps = [a - b for a, b in pairwise(known)]
        close = sum(step < 2 * half for step in steps)
        if close:
            yield Advice(
                "Publish every score as point ± interval.",
                f"{close} of {len(steps)} neighbours in the ranking are closer than the interval of a score is wide "
                f"(±{half:.4f}, from the respondents alone).",
            )

    def sentences(self) -> Iterator[Statement]:
        missed = [
            m
            for m in self.models
            if m.percentile is not None and m.score is not None and not m.percentile.low <= m.score <= m.percentile.high
        ]
        if missed:
            yield Statement(
                "The percentile intervals that the benchmark's analysis proposes miss the score itself for "
                f"{len(missed)} of {len(self.models)} models, because resampling adds the noise a second time; "
                "corrected ones are given.",
                holds=True,
            )


def intervals(survey: Survey, design: Design) -> ScoreIntervals:
    """Intervals for every model, overall and by segment and question."""
    drawn, panel = survey.resampled(design).overall, survey.of_models  # (M, B)
    scores = overall(panel)
    models, each, beyond = [], [], beyond_ceiling(survey, design.level)
    for m, name in enumerate(survey.models):
        parts = parts_of(survey, m, _all_weights(survey, m))
        found = corrected(parts, design.level)
        if beyond[m]:
            found = [Estimate(None, None, None, one.n, KNOWS_THE_SAMPLE) for one in found]
        value, true = number(scores[m]), found[0].value
        bias = None if value is None or true is None else value - true
        percentile = _percentile(drawn[m], design.level)
        jsd = found[0] if beyond[m] else divergence_of(parts, design.level)
        models.append(ScoreInterval(name, value, bias, found[0], percentile, jsd))
        each.append(found[1:])
    models.sort(key=lambda one: (-1.0 if one.score is None else -one.score, one.model))
    segments, questions, categories = survey.truth.segments, survey.truth.questions, list(survey.truth.categories)
    cut, last = len(segments), len(segments) + len(questions)
    of_categories = np.array([overall(panel.rows(one)) for one in _cells_by_category(survey)])
    return ScoreIntervals(
        tuple(models),
        _parts(survey, [s.id for s in segments], means_by(panel, "segment"), [own[:cut] for own in each]),
        _parts(survey, [q.id for q in questions], means_by(panel, "question"), [own[cut:last] for own in each]),
        design.resamples or DEFAULT_RESPONDENT_RESAMPLES,
        design.level,
        _parts(survey, categories, of_categories, [own[last:] for own in each]),
        survey.by,
    )


def _cells_by_category(survey: Survey) -> list[Truths]:
    """For each category, which units of the panel are its."""
    codes = survey.panel.label("segment").codes
    return [np.isin(codes, segments) for segments in survey.truth.categories.values()]


def _all_weights(survey: Survey, model: int) -> "csr_array":
    """(C, 1 + S + Q + G) The weight of each cell in the overall score, those of segments, questions and categories.

    A cell is in a few of them; the matrix of 80,000 cells and 10,000 questions would be 6.4 GB.
    """
    from scipy.sparse import csr_array, hstack  # late

    truth = survey.truth
    by_segment = weights_within(survey, model, truth.segment, len(truth.segments))
    kept = [[s for s in segments if by_segment[:, s].any()] for segments in truth.categories.values()]
    by_category = np.column_stack([by_segment[:, own].sum(axis=1) / max(len(own), 1) for own in kept])
    cells, groups, own_weights = _placed_within(survey, model, truth.question, len(truth.questions))
    by_question = csr_array((own_weights, (cells, groups)), shape=(len(truth), len(truth.questions)))
    parts = [csr_array(overall_weights(survey, model)), csr_array(by_segment), by_question, csr_array(by_category)]
    return csr_array(hstack(parts))


def _percentile(draws: Floats, level: float) -> Interval | None:
    if np.isnan(draws).any():
        return None
    low, high = np.quantile(draws, [0.5 - level / 2, 0.5 + level / 2]).tolist()
    return Interval(low, high, level, "percentile")


def _parts(
    survey: Survey, names: Sequence[str], scores: Floats, found: Sequence[Sequence[Estimate]]
) -> tuple[PartScore, ...]:
    return tuple(
        PartScore(model, name, number(scores[g, m]), found[m][g])
        for g, name in enumerate(names)
        for m, model in enumerate(survey.models)
        if not np.isnan(scores[g, m])
    )


METHOD = "inverted noise"
_WHY = "no answer of the model has a distribution"


def weights_within(survey: Survey, model: int, groups: Integers, count: int) -> Floats:
    """(C, P) The weight of a cell in the model's score on its group (C,), −1 for none: means of cells."""
    weights = np.zeros((len(survey.truth), count))
    cells, of, own = _placed_within(survey, model, groups, count)
    weights[cells, of] = own
    return weights


def _placed_within(survey: Survey, model: int, groups: Integers, count: int) -> tuple[Integers, Integers, Floats]:
    """The cells that count for their group, the group of each, and its weight there."""
    there = np.flatnonzero(~np.isnan(survey.scores[:, model]) & (groups >= 0))
    per_group = np.bincount(groups[there], minlength=count)
    return there, groups[there], np.asarray(1 / per_group[groups[there]])


def overall_weights(survey: Survey, model: int) -> Floats:
    """(C, 1) The weight of a cell in the model's overall score: means of cells, then of segments."""
    within = weights_within(survey, model, survey.truth.segment, len(survey.truth.segments))
    return np.asarray(within.sum(axis=1, keepdims=True) / max(int((within.sum(axis=0) > 0).sum()), 1))


@dataclass(frozen=True, eq=False)
class CellSets:
    """Sets of cells of one model: the fixed part of their scores, and the part that depends on noise."""

    answers: NoisyAnswers
    weights: "Floats | csr_array"  # (cells that were read, P)
    whole: Floats  # (P,) the score without any divergence: what was read, and failures at their fixed scores
    read: Integers  # (P,) answers

    @property
    def measured(self) -> list[float]:
        """(P,) Mean √JSD."""
        return list(self.answers.measured_roots(self.weights))


def parts_of(survey: Survey, model: int, weights: "Floats | csr_array") -> CellSets:
    """The sets, given the weight of every cell in each (C, P)."""
    answers, predictions = survey.noisy[model], survey.predictions
    own = np.flatnonzero((predictions.model == model) & ~np.isnan(survey.row_scores))
    best = survey.row_scores[own].copy()
    best[np.isin(own, answers.rows)] = 1.0
    per_cell = np.bincount(predictions.cell[own], minlength=len(survey.truth))
    fixed = np.bincount(predictions.cell[own], best, len(survey.truth)) / np.maximum(per_cell, 1)
    count = np.bincount(answers.cell, minlength=len(survey.truth))
    return CellSets(answers, weights[answers.cells], fixed @ weights, np.asarray(count @ (weights > 0), dtype=np.int64))


def corrected(parts: CellSets, level: float) -> list[Estimate]:
    """(P,) The score of each part against the true shares."""
    if not len(parts.answers.rows):
        return [Estimate(None, None, None, 0, _WHY)] * len(parts.whole)
    spread = parts.answers.spread
    shapes = [None, *(spread.shape * exp(sign * spread.log_error) for sign in (-1, 1))]
    own_curves = [parts.answers.curves(parts.weights, shape) for shape in shapes]
    curves = zip(*own_curves, parts.answers.curves(parts.weights, family="log-normal"), strict=True)
    z, measured = normal_quantile(0.5 + level / 2), parts.measured
    return [
        _corrected(list(own), (measured[p], float(parts.whole[p]), int(parts.read[p])), z, level)
        for p, own in enumerate(curves)
    ]


def _corrected(curves: list[ExpectedRoots], part: tuple[float, float, int], z: float, level: float) -> Estimate:
    measured, whole, read = part
    if not read:
        return Estimate(None, None, None, 0, _WHY)
    value, one, two = (curve.solved(measured) for curve in curves[:3])
    shape = z * abs(one - two) / 2
    ends = [_ends(curve, measured, z, shape) for curve in (curves[0], curves[3])]
    low, high = max(min(low for low, _ in ends), 0.0), max(high for _, high in ends)
    limits = Interval(max(whole - high, 0.0), whole - low, level, METHOD)
    return Estimate(whole - value, limits, (limits.high - limits.low) / (2 * z), read)


def _ends(curve: ExpectedRoots, measured: float, z: float, shape: float) -> tuple[float, float]:
    """Limits of the true mean root, with the error of the shape."""
    value, low, high = (curve.solved(measured, reach) for reach in (0.0, z, -z))
    return value - sqrt((value - low) ** 2 + shape**2), value + sqrt((high - value) ** 2 + shape**2)


def divergence_of(parts: CellSets, level: float) -> Estimate:
    """The mean JSD of the first part without its noise; of answers that were read."""
    answers, first = parts.answers, parts.weights[:, [0]]
    weights = np.asarray(first if isinstance(first, np.ndarray) else first.toarray())[:, 0]
    share = float(answers.by_cell(np.ones(len(answers.rows))) @ weights) if len(answers.rows) else 0.0
    if not share > 0:
        return Estimate(None, None, None, 0, _WHY)
    mean = float(answers.by_cell(answers.jsd) @ weights) / share
    error = sqrt(float(answers.by_cell(np.sqrt(answers.noise.variance)) ** 2 @ weights**2)) / share
    reach = normal_quantile(0.5 + level / 2) * error
    limits = Interval(max(mean - reach, 0.0), min(max(mean + reach, 0.0), 1.0), level, "normal")
    return Estimate(max(mean, 0.0), limits, error, int(parts.read[0]))


KNOWS_THE_SAMPLE = (
    "the model scores above a perfect prediction: it must have seen the sample, so noise cannot be removed"
)


def beyond_ceiling(survey: Survey, level: float) -> tuple[bool, ...]:
    """(M,) Whether each model is shown to be above the ceiling, questions as clusters, at the level for all of them."""
    alone = 1 - 2 * (1 - level) / max(len(survey.models), 1)  # one-sided, Bonferroni
    return tuple(_beyond(survey, m, alone) for m in range(len(survey.models)))


def _beyond(survey: Survey, m: int, level: float) -> bool:
    panel = shared_cells(survey.panel_of(survey.scores[:, m], survey.ceiling))
    if panel is None:
        return False
    found: Units = segments_alike(panel).grid.pair(0, 1)
    return found.n > 1 and interval(found, method="t", confidence_level=level).interval.low > 0


SCORES_ONLY = "the results have scores but no distributions, so their noise is unknown"
NOTHING_READ = "no answer has a distribution"


def not_corrected(survey: Survey, model: int) -> str | None:
    status = survey.predictions.status[survey.predictions.model == model]
    if (status == SCORE_ONLY).any():
        return SCORES_ONLY
    return None if len(survey.noisy[model].rows) else NOTHING_READ
