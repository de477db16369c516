"""Read the cells of a table: every column checked, lost answers counted, units told apart."""

from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import repeat
from typing import Any

import numpy as np

from assay.data.columns import GROUPS, ColumnLayout
from assay.data.costs import COSTS, cost_column, refuse_cost
from assay.data.metrics import UNITS
from assay.data.readers import Reading, RowSource
from assay.data.tables import Labels
from assay.data.text_columns import TextColumn
from assay.data.values import (
    answers_in,
    check_answers,
    check_number,
    check_split,
    check_texts,
    check_unique,
    errors_in,
    repeated_rows,
    worded,
)
from assay.design import Errors
from assay.errors import InputError
from assay.names import one_line
from assay.stats.units import Floats, Truths

NUMBERS = frozenset({"tokens", "loss", "bytes", "chars", "start", "stop", "score", "weight", *COSTS})


def _wanted(layout: ColumnLayout, cluster: str | None) -> dict[str, tuple[str, Reading]]:
    """What to read, by our name; a cluster column that is not one of ours keeps its own name.

    Labels come first: their texts are freed before the ids, which are kept, are loaded.
    """
    readings: dict[str, Reading] = {ours: "number" if ours in NUMBERS else "packed" for ours in layout.columns}
    readings.update({"score": "score"} if "score" in layout.columns else {})
    wanted = {ours: (theirs, readings[ours]) for ours, theirs in layout.columns.items()}
    if cluster is not None and layout.cluster is not None:
        wanted[cluster] = (layout.cluster, "packed")
    unit = UNITS[layout.kind]
    return dict(sorted(wanted.items(), key=lambda item: (item[0] == unit, item[1][1] != "packed")))


@dataclass(eq=False, slots=True)
class Cells:
    """What was read of a source: the ids, the numbers, the labels, which answers were lost, and what was assumed."""

    ids: TextColumn
    numbers: dict[str, Floats]
    labels: dict[str, Labels]
    lost: Truths | None = None
    errors: Labels | None = None  # why, where the source says it; "" where nothing was lost
    said: list[str] = field(default_factory=list)


def cells_of(
    source: RowSource, layout: ColumnLayout, cluster: str | None, errors: Errors, *, attempts: bool = False
) -> Cells:
    """Read and check every column; rows of one item are refused, unless they are ``attempts`` at it."""
    wanted, unit = _wanted(layout, cluster), UNITS[layout.kind]
    cells, broken = Cells(TextColumn.of([]), {}, {}), None
    for (ours, (theirs, how)), read in zip(wanted.items(), source.read(list(wanted.values())), strict=True):
        if not len(read):
            raise InputError(f"{source.label}: a header but no rows; check what should have written them.")
        values: Any = TextColumn.of(read) if how == "packed" else read
        if ours == "error":
            broken = errors_in(theirs, values)
            cells.errors = Labels.of(np.where(broken, values.texts, "")) if broken.any() else None
        elif how == "score":
            cells.numbers[ours] = _scores(source, theirs, values, cells)
        elif ours in COSTS:
            _add_cost(source, layout, cells, ours, values)
        elif how == "number":
            cells.numbers[ours] = _numbers(source, ours, theirs, values)
        else:
            if ours != "group":  # tasks may have none
                check_texts(source, theirs, values)
            if ours == unit:
                cells.ids = values.kept_once()
            else:
                cells.labels[ours] = _labels(source, ours, theirs, values)
    _count_lost(cells, layout, broken, errors)
    _tell_units(source, layout, cells, attempts=attempts)
    return cells


def _add_cost(source: RowSource, layout: ColumnLayout, cells: Cells, ours: str, values: Floats) -> None:
    """Keep a column of costs; one that nobody named, and that holds no numbers, is left out with a note."""
    theirs = layout.columns[ours]
    found = cost_column(source, ours, theirs, values)
    if found.fault and ours not in layout.usual:
        refuse_cost(source, found.fault)
    if found.fault:
        cells.said.append(f"column {theirs!r} not used ({found.fault})")
    if found.values is not None:
        cells.numbers[ours] = found.values


def _scores(source: RowSource, column: str, values: Floats, cells: Cells) -> Floats:
    """The scores, with 0 where there is no answer."""
    if not np.isnan(values).any():
        return _numbers(source, "score", column, values)
    answers = answers_in(source, column, values)
    check_answers(source, column, answers)
    cells.lost = answers.lost if answers.lost.any() else None
    cells.said += [f"column {column!r}: {worded(answers.words)}"] if answers.words else []
    return answers.values + 0.0


def _count_lost(cells: Cells, layout: ColumnLayout, broken: Truths | None, errors: Errors) -> None:
    """Mark the answers that a column of errors tells of, and give those that were lost no score, or 0."""
    if broken is not None and broken.any():
        count = int(broken.sum())
        cells.said.append(f"column {layout.columns['error']!r} tells of {count:,} error{'s' * (count > 1)}")
        cells.lost = broken if cells.lost is None else cells.lost | broken
    if cells.lost is not None:
        scores = np.where(cells.lost, 0.0 if errors == "wrong" else np.nan, cells.numbers["score"])
        cells.numbers["score"] = scores


def _tell_units(source: RowSource, layout: ColumnLayout, cells: Cells, *, attempts: bool) -> None:
    """Make sure that units go by ids that are unique: as they are, within their task, or by their place."""
    unit, labels = UNITS[layout.kind], cells.labels
    if "run" in layout.usual and len(labels["run"].names) == len(labels["run"].codes) > 1:
        del labels["run"]  # a number for each row does not tell attempts at one item apart
    groups = {name: labels.get(name) for name in GROUPS[layout.kind]}
    groups |= {"metric": labels["metric"]} if "metric" in labels else {}
    if unit not in layout.columns:
        cells.ids = _row_ids(len(next(iter(cells.numbers.values()))), [one for one in groups.values() if one])
        cells.said.append("rows are paired by their place in the file")
        return
    if "task" in labels and not cells.ids.unique and repeated_rows(cells.ids, groups).size:
        tasks = labels["task"]
        cells.ids = cells.ids.behind(TextColumn.of([f"{name}/" for name in tasks.names])[tasks.codes])
        article = "an" if unit == "item" else "a"
        cells.said.append(f"ids repeat between tasks, so {article} {unit} is called task/{unit}")
    numbered = _attempts(cells) if attempts and "run" in groups and "run" not in labels else None
    if numbered is not None:
        labels["run"] = numbered
        cells.said.append(f"no column run: rows of one {unit} are attempts at it, in the order of the file")
        return
    check_unique(source, layout.columns[unit], cells.ids, groups, right_or_wrong=partial(_right_or_wrong, cells))


def _attempts(cells: Cells) -> Labels | None:
    """How often a model's item has come before, in the order of the rows; ``None`` where none comes twice."""
    models = cells.labels.get("model")
    if cells.ids.unique:
        return None
    numbers = _occurrences(zip(cells.ids, models.codes.tolist() if models else repeat(0), strict=False))
    most = max(numbers, default=1)
    if most == 1:
        return None
    return Labels(tuple(map(str, range(1, most + 1))), np.array(numbers, dtype=np.int64) - 1)


def _right_or_wrong(cells: Cells) -> bool:
    scores = cells.numbers.get("score")
    return scores is not None and bool(np.isin(scores[~np.isnan(scores)], (0.0, 1.0)).all())


def _row_ids(rows: int, groups: Sequence[Labels]) -> TextColumn:
    """(rows,) The place of each row among those of its model and run, in digits that sort."""
    numbers = _occurrences(zip(*(one.codes.tolist() for one in groups), strict=True) if groups else [()] * rows)
    digits = len(str(max(numbers, default=0)))
    return TextColumn.of([f"{number:0{digits}d}" for number in numbers])


def _occurrences(keys: Iterable[Hashable]) -> list[int]:
    """For each key how often it has occurred, from 1."""
    seen: Counter[Hashable] = Counter()
    numbers = []
    for key in keys:
        seen[key] += 1
        numbers.append(seen[key])
    return numbers


def _numbers(source: RowSource, ours: str, theirs: str, values: Floats) -> Floats:
    check_number(source, ours, theirs, values)
    zero = values == 0
    if not np.signbit(values[zero]).any():
        return values
    return np.where(zero, 0.0, values)  # equal values have equal bits


def _labels(source: RowSource, ours: str, theirs: str, values: TextColumn) -> Labels:
    labels = Labels.of(values)
    if ours == "model":
        labels = _of_one_line(labels)
    if ours == "split":
        check_split(source, theirs, labels.names, labels.codes)
    return labels


def _of_one_line(labels: Labels) -> Labels:
    """Make model names printable on one line, unless two names would become one."""
    plain = [one_line(name) for name in labels.names]
    if plain == list(labels.names) or len(set(plain)) < len(plain):
        return labels
    order = sorted(range(len(plain)), key=plain.__getitem__)
    return Labels(tuple(plain[i] for i in order), np.argsort(order)[labels.codes])
