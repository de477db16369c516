"""Surveys and predictions as plain tables: a row per question and segment, a column per option.

    question, segment, [category,] n, OPTION…                      what was answered
    model, question, segment, [context,] [run,] OPTION…            what was predicted

A question with fewer options than there are columns leaves the last ones empty.
"""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from assay.data.columns import check_once
from assay.data.readers import Reading, RowSource
from assay.data.readers.registry import open_source
from assay.data.survey.parsing import shares_of
from assay.data.survey.predictions import (
    OK,
    UNKNOWN_CONTEXT,
    UNPARSEABLE,
    WRONG_LENGTH,
    Answer,
    Places,
    Predictions,
    predictions_of,
)
from assay.data.survey.truth import Cell, Question, Segment, Truth, check_respondents, check_shares, truth_of
from assay.errors import InputError
from assay.names import listed, shown
from assay.stats.units import Floats, Texts, Truths

_TRUTH = ("question", "segment", "category", "n")
_PREDICTED = ("model", "question", "segment", "context", "run")


def read_truth_table(source: Any) -> Truth:
    """A survey from a file, a mapping of columns or a data frame."""
    table = _Table(open_source(source), _TRUTH, ("question", "segment"))
    if "n" not in table.columns:
        raise InputError(
            f"{table.label}: no column 'n' of respondents among {listed(table.columns)}; without it noise cannot be "
            "told from signal. Add it, from the survey's own tables."
        )
    questions: dict[str, Question] = {}
    segments: dict[str, Segment] = {}
    cells: dict[tuple[str, str], Cell] = {}
    for i, (question, segment) in enumerate(zip(table.texts("question"), table.texts("segment"), strict=True)):
        where = table.place(i)
        shares, n = table.shares(i), check_respondents(table.number("n", i), f"{where}, column 'n'")
        if (question, segment) in cells:
            raise InputError(f"{where}: question {question!r} of segment {segment!r} is there already; keep one row.")
        known = questions.setdefault(question, Question(question, question, tuple(table.options[: len(shares)])))
        check_shares(shares, len(known.options), where)
        category = table.texts("category")[i] if "category" in table.columns else _category(segment)
        before = segments.get(segment)
        segments[segment] = Segment(segment, segment, category, max(n, before.n if before else 0))
        places = list(questions).index(question), list(segments).index(segment)
        cells[question, segment] = Cell(*places, shares, n)
    return truth_of(table.label, None, (list(questions.values()), list(segments.values())), list(cells.values()))


def _category(segment: str) -> str:
    return segment.partition(":")[0] if ":" in segment else "segment"


def read_prediction_tables(sources: Sequence[Any], truth: Truth, *, left_out: Truths | None = None) -> Predictions:
    """Predictions from files, mappings of columns or data frames, about the cells of a survey."""
    skipped, places = [0], Places("row")
    few = np.zeros(len(truth), dtype=bool) if left_out is None else left_out
    answers = [answer for source in sources for answer in _answers(source, truth, few, skipped, places)]
    if not answers:
        raise InputError("no prediction for any answer that counts; check the segments, or lower `min_n`.")
    many = "1 row is" if skipped[0] == 1 else f"{skipped[0]:,} rows are"
    notes = [f"{many} about answers of too few respondents, which are left out"] if skipped[0] else []
    notes += places.notes()
    return predictions_of(answers, truth.shares.shape[1], [*notes, *_coverage(answers, int((~few).sum()))])


def _answers(source: Any, truth: Truth, left_out: Truths, skipped: list[int], places: Places) -> Iterator[Answer]:
    table = _Table(open_source(source), _PREDICTED, ("model", "question", "segment"))
    seen: set[tuple[str, int, int, str]] = set()
    runs = table.texts("run") if "run" in table.columns else [""] * len(table)
    names = zip(table.texts("model"), table.texts("question"), table.texts("segment"), runs, strict=True)
    rows = sorted(enumerate(names), key=lambda row: _natural(row[1][3]))
    for i, (model, question, segment, run) in rows:
        where = table.place(i)
        cell = truth.place.get((question, segment))
        if cell is None:
            raise InputError(
                f"{where}: {truth.source} has no question {question!r} of segment {segment!r}; correct it."
            )
        if left_out[cell]:
            skipped[0] += 1
            continue
        context = int(table.number("context", i)) if "context" in table.columns else UNKNOWN_CONTEXT
        if (model, cell, context, run) in seen:
            raise InputError(
                f"{where}: {model!r} has this question of that segment already; number them in a column 'run'."
            )
        seen.add((model, cell, context, run))
        answer = _answer(model, cell, context, table.shares(i), int(truth.options[cell]))
        places.add(answer, where)
        yield answer


def _natural(run: str) -> tuple[int, str]:
    return (int(run), "") if run.isdigit() else (0, run)


def _answer(model: str, cell: int, context: int, numbers: list[float], options: int) -> Answer:
    if numbers and len(numbers) != options:
        return Answer(model, cell, context, None, WRONG_LENGTH)
    shares = shares_of(numbers)
    return Answer(model, cell, context, shares, UNPARSEABLE if shares is None else OK, total=sum(numbers))


def _coverage(answers: Sequence[Answer], count: int) -> Iterator[str]:
    cells: dict[str, set[int]] = {}
    for answer in answers:
        cells.setdefault(answer.model, set()).add(answer.cell)
    for model in sorted(cells):
        if len(cells[model]) < count:
            yield f"{model} has predictions for {len(cells[model]):,} of {count:,} questions × segments"


class _Table:
    """A table whose unreserved columns are the answer options."""

    def __init__(self, source: RowSource, known: tuple[str, ...], needed: tuple[str, ...]) -> None:
        self.source, self.label, self.columns = source, source.label, source.columns
        missing = [name for name in needed if name not in self.columns]
        if missing:
            raise InputError(
                f"{self.label}: no column {' and no '.join(missing)} among its columns {listed(self.columns)}; a table "
                f"of a survey needs {', '.join(needed)} and a column per option."
            )
        check_once(self.label, self.columns, dict.fromkeys(self.columns))
        self.options = [name for name in self.columns if name not in known]
        if len(self.options) < 2:
            raise InputError(
                f"{self.label}: options need two columns or more, but got {listed(self.options) or 'none'}."
            )
        texts = [name for name in known if name in self.columns and name not in ("n", "context")]
        numbers = [name for name in (*known, *self.options) if name in self.columns and name not in texts]
        wanted: list[tuple[str, Reading]] = [
            *((name, "text") for name in texts),
            *((name, "number") for name in numbers),
        ]
        read = dict(zip([*texts, *numbers], source.read(wanted), strict=True))
        self._texts: dict[str, Texts] = {name: read[name] for name in texts}
        self._numbers: dict[str, Floats] = {name: read[name] for name in numbers}
        if not len(self):
            raise InputError(f"{self.label}: a header but no rows; check what should have written them.")
        self._places = source.places(range(1, len(self) + 1))
        self._shares = np.column_stack([self._numbers[name] for name in self.options])
        # as they are written, all at once: asking for single cells takes a query each
        self._written: list[Texts] = list(source.read([(name, "text") for name in self.options]))

    def __len__(self) -> int:
        return len(next(iter(self._texts.values())))

    def place(self, i: int) -> str:
        """Location of a row, for messages and notes."""
        return f"{self.label}, {self._places[i]}"

    def texts(self, name: str) -> list[str]:
        values = [str(value).strip() for value in self._texts[name]]
        if "" in values:
            raise InputError(f"{self.place(values.index(''))}, column {name!r}: the cell is empty; fill it in.")
        return values

    def number(self, name: str, i: int) -> float:
        """A whole number."""
        value = float(self._numbers[name][i])
        if value != value or value != int(value) or value < 0:  # noqa: PLR0124  # NaN is not itself
            text = self.source.cell(name, i + 1)
            raise InputError(f"{self.place(i)}, column {name!r}: must be a whole number, but got {shown(text)}.")
        return value

    def shares(self, i: int) -> list[float]:
        """The options of a row, up to the first empty one."""
        row = self._shares[i]
        empty = np.isnan(row)
        if not empty.any():
            return [float(v) for v in row]
        first = int(np.argmax(empty))
        for j in np.flatnonzero(empty).tolist():
            text = str(self._written[j][i]).strip()
            if text:
                raise InputError(f"{self.place(i)}, column {self.options[j]!r}: {shown(text)} is not a number.")
        if not empty[first:].all():
            raise InputError(
                f"{self.place(i)}, column {self.options[first]!r}: empty, but a later option is not; write 0."
            )
        return [float(v) for v in row[:first]]
