"""Read the benchmark's published JSON: the survey (SURVEY.json), and the summary of scores."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from assay.data.survey.parsing import field, finite_numbers, optional
from assay.data.survey.result_file import model_name
from assay.data.survey.truth import Cell, Question, Segment, Truth, check_respondents, check_shares, truth_of
from assay.errors import InputError
from assay.files.reading import read_json
from assay.names import one_line

_MOST_DECIMALS = 12
_HINT = "correct one of them, or leave out 'counts' if the percentages are weighted"


def read_survey(path: Path) -> Truth:
    """The survey in a file."""
    return survey_of(read_json(path), one_line(str(path)))


def survey_of(data: Any, label: str) -> Truth:
    """The survey in a parsed JSON object."""
    if not isinstance(data, dict) or "questions" not in data or "segments" not in data:
        raise InputError(f"{label}: not a survey: it has no 'questions' and 'segments'; name the SURVEY.json.")
    questions = list(_questions(field(data, "questions", dict, label), label))
    codes = {question.id: code for code, question in enumerate(questions)}
    segments: list[Segment] = []
    cells: list[Cell] = []
    for i, entry in enumerate(field(data, "segments", list, label)):
        segment, own = _segment(entry, f"{label}, segments[{i}]", len(segments), questions, codes)
        if any(segment.id == other.id for other in segments):
            raise InputError(f"{label}: the segment {segment.id!r} is there twice; keep one, or give each its own id.")
        segments.append(segment)
        cells += own
    name = data.get("surveyId")
    return truth_of(label, name if isinstance(name, str) else None, (questions, segments), cells)


def _questions(entries: dict[str, Any], label: str) -> Iterator[Question]:
    for name, entry in entries.items():
        where = f"{label}, question {name!r}"
        options = field(entry, "options", list, where)
        if len(options) < 2 or not all(isinstance(option, str) for option in options):
            raise InputError(f"{where}: options must be two texts or more, but got {options!r:.80}.")
        text = entry.get("text")
        yield Question(name, text if isinstance(text, str) else name, tuple(options))


def _segment(
    entry: Any, where: str, code: int, questions: list[Question], codes: dict[str, int]
) -> tuple[Segment, list[Cell]]:
    name = field(entry, "id", str, where)
    where = f"{where.partition(', segments')[0]}, segment {name!r}"
    size = entry.get("sampleSize")
    if size is not None:
        size = check_respondents(size, where)
    cells: list[Cell] = []
    for answer in field(entry, "responses", list, where):
        asked = field(answer, "questionId", str, where)
        at = f"{where}, question {asked!r}"
        if asked not in codes:
            raise InputError(f"{at}: no such question in the survey; add it to 'questions', or take the answer out.")
        if any(cell.question == codes[asked] for cell in cells):
            raise InputError(f"{at}: answered twice; keep one of the two.")
        cells.append(_cell(answer, at, codes[asked], code, (questions[codes[asked]], size)))
    respondents = size if size is not None else max((cell.n for cell in cells), default=0)
    label = entry.get("label")
    return Segment(name, label if isinstance(label, str) else name, _category(entry, name), respondents), cells


def _cell(answer: Any, at: str, question: int, segment: int, known: tuple[Question, int | None]) -> Cell:
    asked, size = known
    shares = finite_numbers(answer.get("distribution"))
    if shares is None:
        raise InputError(f"{at}: 'distribution' must be a list of percentages.")
    check_shares(shares, len(asked.options), at)
    own = answer.get("n")
    counts = counts_in(answer, len(shares), at)
    if own is None and counts is not None:
        own = sum(counts)  # of those who answered; the segment may be larger
    n = check_respondents(own if own is not None else size, at)
    if counts is not None:
        check_counts(counts, shares, n, at)
    return Cell(question, segment, shares, n)


def _category(entry: dict[str, Any], name: str) -> str:
    """The attribute that defines a segment; ids are usually attribute:value, but not always."""
    attributes = entry.get("attributes")
    if isinstance(attributes, dict) and attributes:
        return " × ".join(str(key) for key in attributes)
    return name.partition(":")[0] if ":" in name else "segment"


def counts_in(answer: Any, options: int, where: str) -> list[float] | None:
    """The counts of an answer, one per option; ``None`` where it has none."""
    counts = answer.get("counts")
    if counts is None:
        return None
    numbers = finite_numbers(counts)
    if numbers is None or len(numbers) != options:
        raise InputError(f"{where}: 'counts' must be a list of {options} numbers, one per option.")
    if any(count < 0 or count != int(count) for count in numbers):
        raise InputError(f"{where}: 'counts' must be whole numbers of people, but got {counts!r:.80}.")
    return numbers


def check_counts(numbers: Sequence[float], shares: Sequence[float], n: int, where: str) -> None:
    """Refuse counts that contradict the respondents ``n`` or the percentages.

    Counts may have been derived from rounded percentages. Each may then be off by half a person plus the rounding of
    its percentage, and one of them by as much as all others together, if it was adjusted to make them sum to n.
    """
    total = sum(shares)
    scale = 100.0 if total > 2 else 1.0  # percentages, or shares of 1
    off = len(shares) * (0.5 + n * _step(shares) / scale / 2)
    if abs(sum(numbers) - n) > off:
        raise InputError(f"{where}: 'counts' sum to {sum(numbers):g}, but n is {n}; {_HINT}.")
    for i, (count, share) in enumerate(zip(numbers, shares, strict=True)):
        if abs(count - n * share / total) > off:
            raise InputError(
                f"{where}: counts[{i}] is {count:g}, but {100 * share / total:g}% of {n} respondents are "
                f"{n * share / total:.1f}; {_HINT}."
            )


def _step(shares: Sequence[float]) -> float:
    """The precision the numbers are written with: 0.1 for 33.3."""
    for places in range(_MOST_DECIMALS):
        if all(abs(share - round(share, places)) < 1e-13 * max(1.0, abs(share)) for share in shares):
            return float(10.0**-places)
    return 0.0


@dataclass(frozen=True, slots=True)
class PublishedSummary:
    """Scores as the benchmark published them."""

    source: str
    survey_id: str | None
    overall: Mapping[str, float]  # by model, without suffixes
    segments: Mapping[str, Mapping[str, float]]  # by model, by segment
    slopes: Mapping[str, float]  # on context, by model
    baselines: Mapping[str, float]


def read_summary(path: Path) -> PublishedSummary:
    """The summary in a file."""
    return summary_of(read_json(path), one_line(str(path)))


def summary_of(data: Any, label: str) -> PublishedSummary:
    if not isinstance(data, dict) or not isinstance(data.get("aggregation"), dict):
        raise InputError(f"{label}: not a summary of the survey benchmark: it has no 'aggregation'.")
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
    return PublishedSummary(
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
