"""The scores as the benchmark computes them, and with failures counted apart (S1)."""

from collections.abc import Iterator, Mapping

import msgspec
import numpy as np

from assay.analyses.survey.evidence import OwnScore, Survey, means_by, overall
from assay.analyses.survey.result import SurveyAnalysis
from assay.analyses.survey.sentences import NOTABLE, Advice, Statement
from assay.data.survey.predictions import ERROR, OK, SCORE_ONLY, UNPARSEABLE, WRONG_LENGTH
from assay.design import Design
from assay.results import words
from assay.results.figures import Forest, Line, SecondMark
from assay.results.parts import Column, ResultTable
from assay.stats.units import Floats

FOUR = words.fixed(4)  # decimal places of a score in tables


class ModelScore(msgspec.Struct, frozen=True):
    """One model's scores and what became of its answers."""

    model: str
    score: float | None  # mean over segments of the mean over questions, as the benchmark has it
    honest: float | None  # the same over the answers that could be read
    segment_std: float | None  # of the segments' scores
    best: str | None  # segment
    worst: str | None
    cells: int  # questions × segments with an answer
    answers: int
    read: int
    unparseable: int
    wrong_length: int
    no_answer: int
    score_only: int
    off_reported: float | None  # the largest difference from a score in the files
    published: float | None  # in the summary

    @property
    def failed(self) -> float:
        """The share of failures among the answers that were given."""
        given = self.answers - self.no_answer
        return (self.unparseable + self.wrong_length) / given if given else 0.0


class Scores(SurveyAnalysis, frozen=True, tag="scores"):
    """The score of every model."""

    models: tuple[ModelScore, ...]  # the best score first
    n_cells: int
    n_questions: int
    n_segments: int
    contexts: tuple[int, ...]
    runs: int
    own: tuple[OwnScore, ...] = ()  # each model on everything it answered, if models answered different cells

    statements: tuple[Statement, ...] = ()

    @property
    def tables(self) -> tuple[ResultTable, ...]:
        models = self.models
        columns = [
            Column("model", [m.model for m in models], may_shorten=True),
            Column("score", [m.score for m in models], FOUR),
            Column("honest", [m.honest for m in models], FOUR),
            Column("sd of segments", [m.segment_std for m in models], FOUR),
            Column("cells", [m.cells for m in models]),
            Column("failed", [m.unparseable + m.wrong_length for m in models]),
            Column("of those given", [m.failed for m in models], words.fixed(1, percent=True), key="failed_share"),
            Column("no answer", [m.no_answer for m in models]),
        ]
        if any(m.published is not None for m in models):
            columns.append(Column("published", [m.published for m in models], FOUR))
        what = f"1 − √JSD, on the {self.n_cells:,} cells that every model has" if self.own else "1 − √JSD"
        return (ResultTable("scores", "scores", tuple(columns), what), *self._own_table())

    def _own_table(self) -> Iterator[ResultTable]:
        if self.own:
            columns = (
                Column("model", [one.model for one in self.own], may_shorten=True),
                Column("score", [one.score for one in self.own], FOUR),
                Column("cells", [one.cells for one in self.own]),
            )
            yield ResultTable(
                "own cells",
                "own cells",
                columns,
                "each model on everything it answered; these scores cannot be compared",
            )

    def figures(self, beside: Mapping[str, SurveyAnalysis]) -> tuple[Forest, ...]:
        """Every model's score, with lines for what baselines and a perfect prediction score."""
        found = {model: one for analysis in beside.values() for model, one in analysis.corrected.items()}
        lines = [
            Line(m.model, m.score, others=(SecondMark.of(found[m.model]),) if m.model in found else ())
            for m in self.models
            if m.score is not None
        ]
        if not lines:
            return ()
        marks = sorted((mark for analysis in beside.values() for mark in analysis.marks), key=lambda mark: mark.place)
        about = "Dots: scores as published."
        if any(mark.value is not None for line in lines for mark in line.others):  # not of models above the ceiling
            about += " Open diamonds: without the noise of the respondents, with its interval."
        named = "; ".join(f"{mark.label} {mark.place:.3f}" for mark in marks)
        return (
            Forest(
                "scores",
                "Scores between baselines and ceiling",
                (about, *([f"Lines: {named}."] if marks else [])),
                "score (1 − √JSD), higher is better",
                tuple(lines),
                tuple(marks),
            ),
        )

    def advice(self) -> Iterator[Advice]:
        bad = [model for model in self.models if model.failed >= NOTABLE]
        if bad:
            worst = max(bad, key=lambda model: model.failed)
            yield Advice(
                "Repair the answers that could not be read before models are compared, or report the honest score.",
                f"{words.count(len(bad), 'model')} failed in 1% of the answers or more, {worst.model} in "
                f"{100 * worst.failed:.1f}%.",
            )

    def sentences(self) -> Iterator[Statement]:
        yield from self._about_failures()
        yield from self._about_published()

    def _about_failures(self) -> list[Statement]:
        bad = [m for m in self.models if m.failed >= NOTABLE]
        if not bad:
            return [Statement("At least 99% of the answers of every model could be read.", holds=True)]
        return [
            Statement(
                f"{100 * m.failed:.1f}% of the answers of {m.model} could not be compared (unparseable: "
                f"{m.unparseable:,}, wrong length: {m.wrong_length:,}); the benchmark scores them 0 and 0.1, which "
                f"gives {FOUR(m.score)} instead of {FOUR(m.honest)}.",
                holds=True,
            )
            for m in bad
        ]

    def _about_published(self) -> list[Statement]:
        own = {one.model: one.score for one in self.own}  # what is published is over all that a model answered
        scores = [(m, own.get(m.model, m.score)) for m in self.models]
        off = [(m, abs(m.published - score)) for m, score in scores if m.published is not None and score is not None]
        if not off:
            return []
        worst, most = max(off, key=lambda pair: pair[1])
        published = f"The published scores of {len(off)} models are"
        if most < NOTABLE / 2 + 1e-9:
            return [Statement(f"{published} reproduced to within {most:.4f} ({worst.model}).", holds=True)]
        text = f"{published} not reproduced: that of {worst.model} is off by {most:.4f}."
        return [Statement(text, holds=True, warning=True)]


def scores(survey: Survey, design: Design) -> Scores:  # noqa: ARG001  # every analysis is called with a design
    """The score of every model."""
    panel = survey.of_models
    found = overall(panel), overall(survey.panel_of(survey.honest)), means_by(panel, "segment")
    rows = [_model(survey, m, found) for m in range(len(survey.models))]
    rows.sort(key=lambda row: (-1.0 if row.score is None else -row.score, row.model))
    truth = survey.truth
    return Scores(
        tuple(rows),
        len(truth),
        len(truth.questions),
        len(truth.segments),
        survey.predictions.contexts,
        survey.predictions.runs,
        survey.own,
    )


def _model(survey: Survey, m: int, found: tuple[Floats, Floats, Floats]) -> ModelScore:
    score, honest, segments = found
    own = segments[:, m]
    there = np.flatnonzero(~np.isnan(own))
    counts = {status: int(survey.predictions.counts(status)[m]) for status in range(5)}
    names = [segment.id for segment in survey.truth.segments]
    published = None if survey.summary is None else survey.summary.overall.get(survey.models[m])
    return ModelScore(
        survey.models[m],
        number(score[m]),
        number(honest[m]),
        float(own[there].std()) if len(there) > 1 else None,
        names[there[int(np.argmax(own[there]))]] if len(there) else None,
        names[there[int(np.argmin(own[there]))]] if len(there) else None,
        int(survey.of_models.answered[:, m].sum()),
        sum(counts.values()),
        counts[OK],
        counts[UNPARSEABLE],
        counts[WRONG_LENGTH],
        counts[ERROR],
        counts[SCORE_ONLY],
        _off_reported(survey, m),
        published,
    )


def _off_reported(survey: Survey, m: int) -> float | None:
    rows = (survey.predictions.model == m) & (survey.predictions.status == OK)
    gaps = np.abs(survey.row_scores[rows] - survey.predictions.reported[rows])
    gaps = gaps[~np.isnan(gaps)]
    return float(gaps.max()) if len(gaps) else None


def number(value: float) -> float | None:
    """``None`` for NaN."""
    return None if np.isnan(value) else float(value)
