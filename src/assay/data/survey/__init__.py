"""Surveys: what was really answered, what models predicted, another round, and the published summary."""

from assay.data.survey.match import matched, prior_shares
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
from assay.data.survey.results import Progress, Variants
from assay.data.survey.sources import SurveySource, read_predictions, read_truth
from assay.data.survey.summary import Summary, read_summary
from assay.data.survey.truth import Question, Segment, Truth

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
    "Question",
    "Segment",
    "Summary",
    "SurveySource",
    "Truth",
    "Variants",
    "matched",
    "prior_shares",
    "read_predictions",
    "read_summary",
    "read_truth",
]
