"""The survey as the benchmark writes it: SURVEY.json."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from assay.data.json_text import read_json
from assay.data.survey.counts import check_counts, counts_in
from assay.data.survey.documents import field, finite_numbers
from assay.data.survey.truth import Cell, Question, Segment, Truth, check_respondents, check_shares, truth_of
from assay.errors import InputError
from assay.names import one_line


def read_survey(path: Path) -> Truth:
    """The survey in a file."""
    return survey_of(read_json(path), one_line(str(path)))


def survey_of(data: Any, label: str) -> Truth:
    """The survey in an object that has been read."""
    if not isinstance(data, dict) or "questions" not in data or "segments" not in data:
        raise InputError(f"{label}: not a survey, for it has no 'questions' and 'segments'; name the SURVEY.json.")
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
