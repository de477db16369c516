"""Would the same models score the same again (S4)? Repeated runs, where there are any."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from assay.analyses.reliability import reliability
from assay.analyses.reliability.result import Reliability
from assay.analyses.survey.loaded import Survey
from assay.analyses.survey.result import SurveyAnalysis
from assay.analyses.survey.sentences import Statement
from assay.design import Design
from assay.errors import InputError
from assay.results import words
from assay.results.table import ResultTable
from assay.stats.planning.plans import Goal

_ONCE = "every answer was given once; ask several times, or at temperature 0, where answers repeat"


class RepeatedRuns(SurveyAnalysis, frozen=True, tag="repeats"):
    """How far runs agree, over the answers that every run has; the overall score weighs segments as published."""

    found: Reliability | None
    reason: str | None  # why there is nothing
    statements: tuple[Statement, ...] = ()

    @property
    def tables(self) -> tuple[ResultTable, ...]:
        own = () if self.found is None else self.found.tables
        return tuple(replace(table, key=f"repeats {table.key}", title=f"repeats: {table.title}") for table in own)

    def sentences(self) -> Iterator[Statement]:
        if self.found is None:
            yield Statement(f"Nothing is said of noise between runs: {self.reason}.", holds=False)
            return
        yield Statement(self.found.sentence, holds=True)
        least = self.found.detectable.one_run
        if least is not None:
            yield Statement(
                f"Between single runs, differences of scores below {least:.4f} are within run-to-run noise "
                f"({words.percent(self.found.goal.power)} power).",
                holds=True,
            )


def repeats(survey: Survey, design: Design) -> RepeatedRuns:
    """The agreement of runs of the models that have several."""
    predictions = survey.predictions
    runs = np.zeros(len(survey.models), dtype=np.int64)
    there = ~np.isnan(survey.row_scores)
    np.maximum.at(runs, predictions.model[there], predictions.run[there] + 1)
    rows = np.flatnonzero(there & (runs >= 2)[predictions.model])
    if not len(rows):
        return RepeatedRuns(None, _ONCE)
    try:
        found = reliability(_columns(survey, rows), goal=Goal(level=design.level), cluster="question")
    except InputError as error:  # runs that share no answer: the other analyses still stand
        return RepeatedRuns(None, f"the runs cannot be compared ({str(error).rstrip('.')})")
    return RepeatedRuns(found, None)


def _columns(survey: Survey, rows: "np.ndarray[tuple[int], np.dtype[np.int64]]") -> dict[str, Any]:
    """A table of scores: an item is a question asked of a segment at a number of context questions."""
    predictions, truth = survey.predictions, survey.truth
    cell = predictions.cell[rows]
    questions = [truth.questions[q].id for q in truth.question[cell].tolist()]
    segments = [truth.segments[s].id for s in truth.segment[cell].tolist()]
    contexts = predictions.context[rows].tolist()
    return {
        "model": [survey.models[m] for m in predictions.model[rows].tolist()],
        "item": [f"{q} · {s} · {c}" for q, s, c in zip(questions, segments, contexts, strict=True)],
        "run": (predictions.run[rows] + 1).tolist(),
        "score": survey.row_scores[rows].tolist(),
        "weight": survey.weights[cell].tolist(),
        "question": questions,
    }
