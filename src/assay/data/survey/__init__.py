"""Surveys: what was really answered, what models predicted, another round, and the published summary."""

from collections.abc import Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import Any

from assay.data.survey.parsing import is_json
from assay.data.survey.predictions import (
    ERROR,
    OK,
    SCORE_ONLY,
    STATUS_NAMES,
    UNKNOWN_CONTEXT,
    UNPARSEABLE,
    WRONG_LENGTH,
    Predictions,
)
from assay.data.survey.results import Progress, Variants, read_results
from assay.data.survey.survey_json import PublishedSummary, read_summary, read_survey
from assay.data.survey.tables import read_prediction_tables, read_truth_table
from assay.data.survey.truth import Question, Segment, Truth, matched, prior_shares
from assay.errors import InputError, UsageError
from assay.stats.units import Truths

__all__ = [
    "ERROR",
    "OK",
    "SCORE_ONLY",
    "STATUS_NAMES",
    "UNKNOWN_CONTEXT",
    "UNPARSEABLE",
    "WRONG_LENGTH",
    "Predictions",
    "Progress",
    "PublishedSummary",
    "Question",
    "Segment",
    "SurveySource",
    "Truth",
    "Variants",
    "matched",
    "prior_shares",
    "read_predictions",
    "read_summary",
    "read_truth",
]


SurveySource = str | PathLike[str] | Mapping[str, Any] | Any


def read_truth(source: SurveySource) -> Truth:
    """A survey: SURVEY.json, or a table of question, segment, n and a column per option."""
    if isinstance(source, str | PathLike) and is_json(Path(source)):
        return read_survey(Path(source))
    return read_truth_table(source)


def read_predictions(
    sources: Sequence[SurveySource],
    truth: Truth,
    *,
    left_out: Truths | None = None,
    variants: Variants = "apart",
    progress: Progress | None = None,
) -> Predictions:
    """Predictions: result files and folders of them, or tables; not both at once.

    ``left_out`` (C,) are cells of the survey that are not looked at.
    """
    if not sources:
        raise UsageError("survey needs predictions; name result files, a folder of them, or a table.")
    paths = [Path(source) for source in sources if isinstance(source, str | PathLike)]
    results = [
        path for path in paths if path.is_dir() or is_json(path) or (path.suffix == ".json" and not path.exists())
    ]
    if not results:
        return read_prediction_tables(sources, truth, left_out=left_out)
    if len(results) < len(sources):
        raise InputError(f"{results[0]} and tables of predictions: give result files or tables, not both.")
    return read_results(results, truth, left_out=left_out, variants=variants, progress=progress)
