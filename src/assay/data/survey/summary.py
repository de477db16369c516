"""The summary that the benchmark publishes: scores without sample sizes, to compare ours with."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from assay.data.json_text import read_json
from assay.data.survey.documents import field, finite_numbers, optional
from assay.data.survey.result_file import model_name
from assay.errors import InputError
from assay.names import one_line


@dataclass(frozen=True, slots=True)
class Summary:
    """Published numbers."""

    source: str
    survey_id: str | None
    overall: Mapping[str, float]  # by model, without suffixes
    segments: Mapping[str, Mapping[str, float]]  # by model, by segment
    slopes: Mapping[str, float]  # on context, by model
    baselines: Mapping[str, float]


def read_summary(path: Path) -> Summary:
    """The summary in a file."""
    return summary_of(read_json(path), one_line(str(path)))


def summary_of(data: Any, label: str) -> Summary:
    if not isinstance(data, dict) or not isinstance(data.get("aggregation"), dict):
        raise InputError(f"{label}: not a summary of the survey benchmark, for it has no 'aggregation'.")
    overall: dict[str, float] = {}
    segments: dict[str, dict[str, float]] = {}
    for entry in field(data["aggregation"], "modelResults", list, label):
        name = model_name(field(entry, "modelId", str, label))
        overall[name] = _score(field(entry, "overallScore", (int, float), f"{label}, model {name!r}"), label, name)
        scores = entry.get("segmentScores")
        segments[name] = {
            str(one["segmentId"]): float(one["avgCoverageExtent"])
            for one in (scores if isinstance(scores, list) else [])
            if isinstance(one, dict) and _is_number(one.get("avgCoverageExtent")) and "segmentId" in one
        }
    survey = data.get("surveyId")
    return Summary(
        label,
        survey if isinstance(survey, str) else None,
        overall,
        segments,
        _slopes(data["aggregation"]),
        {name: float(v) for name, v in optional(data, "baselines", dict, label).items() if _is_number(v)},
    )


def _slopes(aggregation: dict[str, Any]) -> dict[str, float]:
    analysis = aggregation.get("contextAnalysis")
    models = analysis.get("models") if isinstance(analysis, dict) else None
    return {
        model_name(str(one["modelId"])): float(one["overallSlope"])
        for one in (models if isinstance(models, list) else [])
        if isinstance(one, dict) and "modelId" in one and _is_number(one.get("overallSlope"))
    }


def _score(value: float, label: str, name: str) -> float:
    if not _is_number(value):
        raise InputError(f"{label}, model {name!r}: 'overallScore' must be a finite number.")
    return float(value)


def _is_number(value: Any) -> bool:
    return finite_numbers([value]) is not None
