"""Scores with intervals that allow for who happened to be asked (S3, C3)."""

from collections.abc import Iterator, Mapping, Sequence

import msgspec
import numpy as np

from assay.analyses.survey.cells import means_by, overall
from assay.analyses.survey.denoised import (
    KNOWS_THE_SAMPLE,
    beyond_ceiling,
    corrected,
    divergence_of,
    overall_weights,
    parts_of,
    weights_within,
)
from assay.analyses.survey.evidence import Survey
from assay.analyses.survey.respondents import DEFAULT_RESPONDENT_RESAMPLES
from assay.analyses.survey.result import SurveyAnalysis
from assay.analyses.survey.scores import FOUR, number
from assay.analyses.survey.sentences import Statement
from assay.design import Design
from assay.results import words
from assay.results.parts import Column, ResultTable
from assay.stats.records import Estimate, Interval
from assay.stats.units import Floats


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
        return (ResultTable("intervals", "intervals", columns, f"respondents drawn again, {self.resamples:,} times"),)

    @property
    def corrected(self) -> Mapping[str, Estimate]:
        return {one.model: one.corrected for one in self.models}

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
    segments, questions = survey.truth.segments, survey.truth.questions
    cut = len(segments)
    return ScoreIntervals(
        tuple(models),
        _parts(survey, [s.id for s in segments], means_by(panel, "segment"), [own[:cut] for own in each]),
        _parts(survey, [q.id for q in questions], means_by(panel, "question"), [own[cut:] for own in each]),
        design.resamples or DEFAULT_RESPONDENT_RESAMPLES,
        design.level,
    )


def _all_weights(survey: Survey, model: int) -> Floats:
    """(C, 1 + S + Q) Of a cell in the overall score, and in those of segments and of questions."""
    truth = survey.truth
    by_segment = weights_within(survey, model, truth.segment, len(truth.segments))
    by_question = weights_within(survey, model, truth.question, len(truth.questions))
    return np.hstack([overall_weights(survey, model), by_segment, by_question])


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
