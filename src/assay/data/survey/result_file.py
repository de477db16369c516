"""Parse one result file, full or light: which models answered which questions, and how."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from assay.data.survey.parsing import field, finite_numbers, keyed_percentages, optional, percentages, shares_of
from assay.data.survey.predictions import ERROR, OK, SCORE_ONLY, UNKNOWN_CONTEXT, UNPARSEABLE, WRONG_LENGTH, Answer
from assay.data.survey.truth import Truth
from assay.errors import InputError

_SUFFIX = re.compile(r"\[(?:temp|sp_idx|sys|top_p|seed|n)[:=][^\]]*\]")
_BATCH = re.compile(r"batch-(\d{1,9})-")
_WEIGHTS = "__promptWeights"  # sits among the prompts and is none
_MOST_CONTEXT = 10**6  # questions: more are none
_DIFFERENT = 0.6  # percentage points: more than rounding to whole per cents explains
_BROKEN = re.compile(r"\s*<+\s*error", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class AskedQuestion:
    """A question in a prompt: its cell, its key in a batched answer, and its index among the prompt's points."""

    cell: int
    options: int
    key: str | None
    point: int


@dataclass(frozen=True, slots=True)
class ResultFile:
    label: str
    segment: str
    context: int
    timestamp: str
    identity: tuple[str, ...]  # the same for the full and the light form of a run
    experiment: bool
    models: frozenset[str]
    asked: dict[str, list[AskedQuestion]]  # by prompt
    responses: dict[str, Any]
    coverage: dict[str, Any]
    errors: dict[str, Any]


def model_name(model_id: str) -> str:
    """A model id without the suffixes of its settings.

    >>> model_name("openrouter:x/large[sp_idx:0][temp:0.3]")
    'openrouter:x/large'
    """
    return _SUFFIX.sub("", model_id).strip()


def is_result(data: Any) -> bool:
    """Whether a JSON object is a result of the survey benchmark."""
    return isinstance(data, dict) and isinstance(data.get("evaluationResults"), dict) and _about(data) is not None


def _about(data: dict[str, Any]) -> dict[str, Any] | None:
    config = data.get("config")
    context = config.get("context") if isinstance(config, dict) else None
    found = context.get("dtef") if isinstance(context, dict) else None
    if isinstance(found, dict):
        return found
    other = data.get("dtefMetadata")
    if isinstance(other, dict) and isinstance(other.get("segmentIds"), list) and other["segmentIds"]:
        return {**other, "segmentId": other["segmentIds"][0]}
    return None


def result_file(data: dict[str, Any], label: str, truth: Truth) -> ResultFile:
    """Check a parsed file against the survey."""
    about = _about(data)
    assert about is not None  # is_result has looked
    survey, segment = about.get("surveyId"), field(about, "segmentId", str, label)
    if survey is not None and truth.survey_id is not None and survey != truth.survey_id:
        raise InputError(f"{label}: a result of the survey {survey!r}, but {truth.source} is {truth.survey_id!r}.")
    config = optional(data, "config", dict, label)
    responses = _by_model(data, "allFinalAssistantResponses", label)
    coverage = _by_model(data["evaluationResults"], "llmCoverageScores", label)
    name, run, time = (_text(data.get(key) or config.get(key)) for key in ("configId", "runLabel", "timestamp"))
    experiment = bool(about.get("experimentId")) or any(
        str(tag).startswith("experiment:") for tag in optional(config, "tags", list, label)
    )
    known = segment in truth.segment_codes
    return ResultFile(
        label,
        segment,
        _context(about, name),
        time,
        (name, run, time) if name and time else (label,),
        experiment,
        frozenset(_texts(optional(data, "effectiveModels", list, label), f"{label}, effectiveModels"))
        | {m for by in coverage.values() for m in by},
        _asked(about, config, {**responses, **coverage}, (label, segment), truth) if known and not experiment else {},
        responses,
        coverage,
        _by_model(data, "errors", label),
    )


def _by_model(data: dict[str, Any], name: str, label: str) -> dict[str, dict[str, Any]]:
    """One part of the file, by prompt and model."""
    found = optional(data, name, dict, label)
    return {prompt: optional(found, prompt, dict, f"{label}, {name}") for prompt in found if prompt != _WEIGHTS}


def _texts(values: list[Any], where: str) -> list[str]:
    for value in values:
        if not isinstance(value, str):
            raise InputError(f"{where}: must be texts, but got {type(value).__name__}.")
    return values


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _context(about: dict[str, Any], name: str) -> int:
    given = about.get("contextQuestionCount")
    if isinstance(given, int) and not isinstance(given, bool) and 0 <= given <= _MOST_CONTEXT:
        return given
    suffix = re.search(r"-c(\d{1,6})$", name)
    if suffix:
        return int(suffix[1])
    ids = about.get("contextQuestionIds")
    if isinstance(ids, list) and ids:
        return len(ids)
    return UNKNOWN_CONTEXT if "-ctx" in name else 0


def _asked(
    about: dict[str, Any], config: dict[str, Any], seen: dict[str, Any], where: tuple[str, str], truth: Truth
) -> dict[str, list[AskedQuestion]]:
    """The questions of each prompt."""
    label, segment = where
    shown = about.get("groundTruthDistributions")
    expected = shown if isinstance(shown, dict) else {}
    points = {
        str(p["id"]): optional(p, "points", list, f"{label}, prompt {p['id']!r}")
        for p in optional(config, "prompts", list, label)
        if isinstance(p, dict) and "id" in p
    }
    prompts = [prompt for prompt in dict.fromkeys([*points, *seen]) if prompt != _WEIGHTS]
    batches = sorted((p for p in prompts if _BATCH.match(p)), key=lambda p: int(_BATCH.match(p)[1]))  # type: ignore[index]
    found = _batched(batches, points, expected, where, truth)
    for prompt in prompts:
        if prompt in found:
            continue
        question = prompt.removesuffix(f"-{segment}")
        truths = [*_expected(points.get(prompt, [])), expected.get(prompt), expected.get(question)]
        found[prompt] = [_cell(question, None, 0, (label, segment), truth, truths)]
    return found


def _expected(points: list[Any]) -> list[Any]:
    return [_arguments(point).get("expected") for point in points]


def _arguments(point: Any) -> dict[str, Any]:
    found = point.get("fnArgs") if isinstance(point, dict) else None
    return found if isinstance(found, dict) else {}


def _batched(
    batches: list[str], points: dict[str, list[Any]], expected: dict[str, Any], where: tuple[str, str], truth: Truth
) -> dict[str, list[AskedQuestion]]:
    """Questions of batched prompts, which name none: those of the ground truth, in order."""
    names = list(expected)
    found: dict[str, list[AskedQuestion]] = {}
    for batch in batches:
        size = len(points.get(batch, []))
        if not size or size > len(names):
            raise InputError(
                f"{where[0]}, prompt {batch!r}: which questions it asks is not in the file; give the full result, with "
                "config.prompts[].points and groundTruthDistributions."
            )
        own, names = names[:size], names[size:]
        found[batch] = []
        for i, (question, point) in enumerate(zip(own, points[batch], strict=True)):
            arguments = _arguments(point)
            key = _text(arguments.get("questionKey")) or f"Q{i + 1}"
            truths = [arguments.get("expected"), expected[question]]
            found[batch].append(_cell(question, key, i, where, truth, truths))
    return found


def _cell(
    question: str, key: str | None, point: int, where: tuple[str, str], truth: Truth, expected: list[Any]
) -> AskedQuestion:
    label, segment = where
    cell = truth.place.get((question, segment))
    if cell is None:
        what = (
            "the survey has no such question" if question not in truth.question_codes else "not asked of that segment"
        )
        raise InputError(
            f"{label}, question {question!r}, segment {segment!r}: {what}; check that the survey is the right one."
        )
    options = int(truth.options[cell])
    for values in expected:
        numbers = finite_numbers(values)
        if numbers is not None and not _same(numbers, truth, cell):
            raise InputError(
                f"{label}, question {question!r}, segment {segment!r}: its ground truth {numbers} is not the survey's; "
                "it belongs to another round or version of the survey."
            )
    return AskedQuestion(cell, options, key, point)


def _same(numbers: list[float], truth: Truth, cell: int) -> bool:
    options, total = int(truth.options[cell]), sum(numbers)
    if len(numbers) != options or total <= 0:
        return False
    pairs = zip(numbers, truth.shares[cell, :options].tolist(), strict=True)
    return all(abs(100 * v / total - 100 * share) <= _DIFFERENT for v, share in pairs)


def answers_in(file: ResultFile, truth: Truth) -> Iterator[Answer]:
    """Yield every answer of every model in a file."""
    if file.segment not in truth.segment_codes:
        raise InputError(
            f"{file.label}: the survey has no segment {file.segment!r}; check that it is the right survey."
        )
    for prompt, questions in file.asked.items():
        texts, scores, errors = (part.get(prompt) or {} for part in (file.responses, file.coverage, file.errors))
        for model in sorted({*texts, *scores, *(m for m in file.models if m in errors)}):
            for asked in questions:
                yield _answer(model, asked, file.context, texts.get(model), scores.get(model), errors.get(model))


def _answer(model: str, asked: AskedQuestion, context: int, text: Any, scored: Any, error: Any) -> Answer:
    reported = _reported(scored, asked)
    if isinstance(text, str) and not error and not _BROKEN.match(text):
        numbers = percentages(text) if asked.key is None else keyed_percentages(text, asked.key)
        if numbers is not None and len(numbers) != asked.options:
            return Answer(model, asked.cell, context, None, WRONG_LENGTH, reported)
        shares = None if numbers is None else shares_of(numbers)
        if numbers is None or shares is None:
            return Answer(model, asked.cell, context, None, UNPARSEABLE, reported)
        return Answer(model, asked.cell, context, shares, OK, reported, sum(numbers))
    failed = error or isinstance(text, str) or (isinstance(scored, dict) and scored.get("error"))
    status = SCORE_ONLY if not failed and reported == reported else ERROR  # noqa: PLR0124  # NaN is not itself
    return Answer(model, asked.cell, context, None, status, reported)


def _reported(scored: Any, asked: AskedQuestion) -> float:
    """The file's own score, taken from the point: the average over points is rounded to two decimals."""
    if not isinstance(scored, dict):
        return float("nan")
    points = scored.get("pointAssessments")
    if isinstance(points, list) and asked.point < len(points) and isinstance(points[asked.point], dict):
        value = points[asked.point].get("coverageExtent")
    else:
        value = scored.get("avgCoverageExtent") if asked.key is None else None
    numbers = finite_numbers([value])
    return numbers[0] if numbers else float("nan")
