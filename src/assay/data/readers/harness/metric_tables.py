"""Tables with a column for each metric: which columns hold scores, and the answers they make."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from math import nan
from pathlib import Path

import numpy as np

from assay.data.readers import RowSource
from assay.data.readers.harness import digest
from assay.data.readers.harness.answers import Answers, attempts
from assay.data.readers.registry import open_file
from assay.data.values import answers_in
from assay.errors import InputError
from assay.names import listed, one_line

NumberColumns = dict[str, list[float]]

_MOST = 200  # columns that may be metrics: a table with more is none of metrics
_WHY = ("/justification", "_reason")  # how columns end that explain a score: no label of an item


@dataclass(frozen=True, slots=True)
class MetricColumns:
    """Which columns of a table are what."""

    item: str | None  # None: an item is its row
    texts: frozenset[str]  # never metrics, whatever they hold
    same: tuple[str, ...] = ()  # what the same item must have in common in two files
    metric: Callable[[str], str | None] = lambda name: name  # what the metric of a column is called; None: it is none
    costs: Mapping[str, str] = field(default_factory=dict)  # ours → the column
    lower: tuple[str, ...] = ()  # how metrics begin of which lower is better


def read_metrics(path: Path, known: MetricColumns) -> Answers:
    """The answers of a file: every column that holds scores, and nothing else, is a metric."""
    source, label = open_file(path), one_line(str(path))
    free = [name for name in source.columns if name and name not in known.texts and name not in known.costs.values()]
    if len(free) > _MOST:
        raise InputError(f"{label}: {len(free):,} columns are too many to be metrics; leave out those that are none.")
    scores, empty = _scores(source, [name for name in free if known.metric(name) is not None])
    if not scores:
        raise InputError(f"{label}: no column of scores among its columns {listed(source.columns)}; name another file.")
    count = len(next(iter(scores.values())))
    hashes = _hashes(source, known)
    items = _items(source, label, known.item, hashes, count)
    labels = [name for name in free if name not in scores and name not in empty and not name.endswith(_WHY)]
    metrics = {str(known.metric(name)): values for name, values in scores.items()}
    return Answers(
        items=items,
        places=[f"{label}, {place}" for place in source.places(range(1, count + 1))],
        metrics=metrics,
        runs=attempts(items),
        hashes=hashes or None,
        labels=_texts(source, labels),
        costs=_costs(source, known.costs),
        lower_is_better=frozenset(name for name in metrics if name.startswith(known.lower))
        if known.lower
        else frozenset(),
        notes=[f"{label}: columns without any score: {listed(empty)}"] if empty else [],
    )


def _scores(source: RowSource, names: Sequence[str]) -> tuple[NumberColumns, list[str]]:
    """The columns that hold scores, NaN where there is none, and those that are empty."""
    found: NumberColumns = {}
    empty = []
    for name, values in zip(names, source.read([(name, "score") for name in names]), strict=True):
        answers = answers_in(source, name, values)
        if answers.other.any() or not np.isfinite(answers.values).all():
            continue
        if answers.lost.all():
            empty.append(name)
        else:
            found[name] = np.where(answers.lost, nan, answers.values).tolist()
    return found, empty


def _texts(source: RowSource, names: Sequence[str]) -> dict[str, list[str]]:
    read = source.read([(name, "text") for name in names]) if names else ()
    return {name: [str(text) for text in texts] for name, texts in zip(names, read, strict=True)}


def _hashes(source: RowSource, known: MetricColumns) -> list[str]:
    """Fingerprints of what was asked; none where no column tells more than the item."""
    there = [name for name in known.same if name in source.columns]
    columns = _texts(source, [*there, *([known.item] if known.item else [])]) if there else {}
    return [digest(*row) for row in zip(*columns.values(), strict=True)]


def _items(source: RowSource, label: str, column: str | None, hashes: Sequence[str], count: int) -> list[str]:
    """The items: rows, or what a column calls them; one text that was asked with two references is two items."""
    if column is None:
        return [str(row) for row in range(1, count + 1)]
    names = _texts(source, [column])[column]
    for row, name in enumerate(names, start=1):
        if not name.strip():
            place = source.places([row])[0]
            raise InputError(f"{label}, {place}, column {column!r}: the cell is empty; fill it in or take the row out.")
    if not hashes:
        return names
    asked: dict[str, set[str]] = {}
    for name, one in zip(names, hashes, strict=True):
        asked.setdefault(name, set()).add(one)
    return [f"{name} #{one[:6]}" if len(asked[name]) > 1 else name for name, one in zip(names, hashes, strict=True)]


def _costs(source: RowSource, costs: Mapping[str, str]) -> NumberColumns:
    """What answers cost, in columns that hold such numbers."""
    there = {ours: theirs for ours, theirs in costs.items() if theirs in source.columns}
    read = source.read([(theirs, "number") for theirs in there.values()]) if there else ()
    found = {ours: np.where(values >= 0, values, nan) for ours, values in zip(there, read, strict=True)}
    return {ours: values.tolist() for ours, values in found.items() if np.isfinite(values).any()}
