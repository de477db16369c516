"""A survey and its results as the benchmark writes them, to be spoiled in one place at a time."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

OPTIONS = {"q1": ["yes", "no"], "q2": ["low", "middle", "high"], "q3": ["a", "b", "c"]}
SEGMENTS = {"age:young": 40, "age:old": 55, "town": 35}


def survey() -> dict[str, Any]:
    segments = []
    for s, (name, n) in enumerate(SEGMENTS.items()):
        responses = [
            {"questionId": q, "distribution": _percent(len(options), s + i)}
            for i, (q, options) in enumerate(OPTIONS.items())
        ]
        attributes = {name.partition(":")[0]: name.partition(":")[2]} if ":" in name else {}
        segments.append({"id": name, "label": name, "attributes": attributes, "sampleSize": n, "responses": responses})
    questions = {q: {"text": f"Text of {q}?", "type": "single-select", "options": o} for q, o in OPTIONS.items()}
    return {"surveyId": "made-up", "surveyName": "Made up", "questions": questions, "segments": segments}


def _percent(k: int, turn: int) -> list[float]:
    whole = {2: [70.0, 30.0], 3: [50.0, 30.0, 20.0]}[k]
    return whole[turn % k :] + whole[: turn % k]


def truth_of(segment: str, question: str) -> list[float]:
    entry = next(s for s in survey()["segments"] if s["id"] == segment)
    found: list[float] = next(r["distribution"] for r in entry["responses"] if r["questionId"] == question)
    return found


def result(
    segment: str, answers: dict[str, dict[str, str | None]], context: int = 0, time: str = "t1"
) -> dict[str, Any]:
    """``answers`` are texts by question and model."""
    prompts = [
        {
            "id": f"{q}-{segment}",
            "points": [{"fn": "distribution_metric", "fnArgs": {"expected": truth_of(segment, q)}}],
        }
        for q in answers
    ]
    scores = {
        f"{q}-{segment}": {
            m: {"avgCoverageExtent": 0.5, "pointAssessments": [{"coverageExtent": 0.512345}]} for m in by
        }
        for q, by in answers.items()
    }
    about = {
        "surveyId": "made-up",
        "segmentId": segment,
        "groundTruthDistributions": {f"{q}-{segment}": truth_of(segment, q) for q in answers},
        "contextQuestionCount": context,
    }
    config = {
        "configId": f"made-up-{segment}-c{context}",
        "prompts": prompts,
        "context": {"dtef": about},
        "tags": ["dtef"],
    }
    return {
        "configId": config["configId"],
        "runLabel": "run",
        "timestamp": time,
        "config": config,
        "effectiveModels": sorted({m for by in answers.values() for m in by}),
        "allFinalAssistantResponses": {"__promptWeights": {}, **{f"{q}-{segment}": by for q, by in answers.items()}},
        "evaluationResults": {"llmCoverageScores": scores},
    }


def batched(segment: str, models: dict[str, str]) -> dict[str, Any]:
    """All questions in two batches; ``models`` are the answers to the first."""
    data = result(segment, {})
    batches = [["q1", "q2"], ["q3"]]
    about = data["config"]["context"]["dtef"]
    about["groundTruthDistributions"] = {q: truth_of(segment, q) for batch in batches for q in batch}
    data["config"]["prompts"] = [
        {
            "id": f"batch-{i}-{segment}",
            "points": [
                {"fnArgs": {"expected": truth_of(segment, q), "questionKey": f"Q{j + 1}"}} for j, q in enumerate(batch)
            ],
        }
        for i, batch in enumerate(batches)
    ]
    data["allFinalAssistantResponses"] = {
        f"batch-0-{segment}": models,
        f"batch-1-{segment}": dict.fromkeys(models, '{"Q1": [60, 20, 20]}'),
    }
    data["effectiveModels"] = list(models)
    return data


def write(folder: Path, name: str, data: Any, change: Callable[[Any], None] | None = None) -> Path:
    if change is not None:
        change(data)
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(data), encoding="utf-8")
    return path
