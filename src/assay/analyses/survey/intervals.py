"""Scores with intervals that allow for who happened to be asked (S3, C3)."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from assay.analyses.sheet import Sheet
from assay.analyses.survey.beyond import KNOWS_THE_SAMPLE, beyond_ceiling
from assay.analyses.survey.correction import corrected, divergence_of, overall_weights, parts_of, weights_within
from assay.analyses.survey.loaded import Survey
from assay.analyses.survey.resampled import DEFAULT_RESPONDENT_RESAMPLES
from assay.analyses.survey.scores import number, shown
from assay.analyses.survey.section import Section, Statement
from assay.design import Design
from assay.results import words
from assay.stats.records import Estimate, Interval
from assay.stats.units import Floats


@dataclass(frozen=True, slots=True)
class ScoreInterval:
    """One model's score under resampling of the respondents."""

    model: str
    score: float | None  # as measured
    bias: float | None  # by how much sampling noise lowers it
    corrected: Estimate  # the score against the true shares
    percentile: Interval | None  # adds the noise a second time
    divergence: Estimate  # the mean JSD without its noise


@dataclass(frozen=True, slots=True)
class Part:
    """One model on one question or segment."""

    model: str
    part: str
    score: float | None
    corrected: Estimate


@dataclass(frozen=True, slots=True)
class Intervals(Section):
    name: ClassVar[str] = "intervals"

    models: tuple[ScoreInterval, ...]  # the best first
    segments: tuple[Part, ...]
    questions: tuple[Part, ...]
    resamples: int
    level: float

    def sheets(self) -> list[Sheet]:
        level = words.percent(self.level)
        header = [
            "model",
            "score",
            f"without noise [{level}]",
            f"plain percentile [{level}]",
            f"mean JSD, debiased [{level}]",
        ]
        cells = [
            [m.model, shown(m.score), _shown(m.corrected), _limits(m.percentile), _shown(m.divergence)]
            for m in self.models
        ]
        return [Sheet(("intervals", f"respondents drawn again, {self.resamples:,} times"), header, cells)]

    def sentences(self) -> list[Statement]:
        missed = [
            m
            for m in self.models
            if m.percentile is not None and m.score is not None and not m.percentile.low <= m.score <= m.percentile.high
        ]
        if not missed:
            return []
        text = (
            f"The percentile intervals that the benchmark's analysis proposes miss the score itself for {len(missed)} "
            f"of {len(self.models)} models, because resampling adds the noise a second time; corrected ones are given."
        )
        return [Statement(text, holds=True)]


def _shown(found: Estimate) -> str:
    return "–" if found.value is None else f"{found.value:.4f} {_limits(found.interval)}".rstrip(" –")


def _limits(limits: Interval | None) -> str:
    return "–" if limits is None else f"[{limits.low:.4f} to {limits.high:.4f}]"


def intervals(survey: Survey, design: Design) -> Intervals:
    """Intervals for every model, overall and by segment and question."""
    drawn, scores = survey.resampled(design).overall, survey.overall(survey.scores)  # (M, B), (M,)
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
    return Intervals(
        tuple(models),
        _parts(survey, [s.id for s in segments], survey.by_segment(survey.scores), [own[:cut] for own in each]),
        _parts(survey, [q.id for q in questions], survey.by_question(survey.scores), [own[cut:] for own in each]),
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
) -> tuple[Part, ...]:
    return tuple(
        Part(model, name, number(scores[g, m]), found[m][g])
        for g, name in enumerate(names)
        for m, model in enumerate(survey.models)
        if not np.isnan(scores[g, m])
    )
