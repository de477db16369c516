"""The plain long table: a row for each answer and metric, which every verb reads as it reads the files themselves."""

import csv
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from assay.data import Table
from assay.data.columns import OPTIONAL, REQUIRED
from assay.data.costs import COSTS
from assay.data.metrics import UNITS
from assay.data.readers.database import copy_columns
from assay.errors import InputError, UsageError
from assay.files.writing import write_whole
from assay.names import listed

LongColumns = dict[str, NDArray[Any]]

#: What a table that lacks something says of it where others have it: cells of labels are never empty.
_LACKING = {"run": "1", "task": "(none)", "lower_is_better": "false", "error": ""}
_LOST = "no answer"


def long_table(tables: Sequence[Table]) -> LongColumns:
    """The columns of the long table of some tables, each of one model and one metric."""
    kinds = {table.kind for table in tables}
    if len(kinds) > 1:
        labels = {kind: listed([table.label for table in tables if table.kind == kind], 3) for kind in sorted(kinds)}
        told = " and ".join(f"{kind} ({some})" for kind, some in labels.items())
        raise InputError(f"{told} do not fit into one table; choose tasks of one kind with `Selection(task=...)`.")
    found = [_of_table(table) for table in tables]
    names = dict.fromkeys(name for columns in found for name in columns)
    order = [name for name in _order(tables[0]) if name in names]
    kept = [*order, *(name for name in names if name not in order)]
    return {name: np.concatenate([_column(columns, name) for columns in found]) for name in kept if _whole(found, name)}


def _order(table: Table) -> list[str]:
    """Our columns as people read them: whose answer to what, what became of it, and what it cost."""
    if table.kind == "losses":
        return ["model", *REQUIRED["losses"], *OPTIONAL["losses"]]
    first = ("model", "task", "item", "run", "metric", "score", "lower_is_better", "error")
    return [*first, *(name for name in OPTIONAL["scores"] if name not in first)]


def _whole(found: Sequence[LongColumns], name: str) -> bool:
    """Whether a column can be written: labels that only some tables have cannot, unless there is a word for it."""
    return name in _LACKING or name in COSTS or all(name in columns for columns in found)


def _column(columns: LongColumns, name: str) -> NDArray[Any]:
    if name in columns:
        return columns[name]
    rows = len(columns["model"])
    return np.full(rows, np.nan) if name in COSTS else _texts([_LACKING[name]] * rows)


def _of_table(table: Table) -> LongColumns:
    rows = len(table)
    found: LongColumns = {"model": _texts([table.name] * rows), UNITS[table.kind]: table.ids.texts, **table.numbers}
    found |= {name: labels.texts for name, labels in table.labels.items() if name != "model"}
    if table.kind == "losses":
        return found
    found["metric"] = metric_of(table, found)
    task = table.about.get("measure", {}).get("task")
    if "task" not in found and task:
        found["task"] = _texts([task] * rows)
    if table.about.get("lower_is_better"):
        found["lower_is_better"] = _texts(["true"] * rows)
    return found | {"error": errors_of(table)}


def metric_of(table: Table, labels: Mapping[str, NDArray[Any]]) -> NDArray[Any]:
    """The metric of every row: of the table, or of its task where tasks have metrics of their own."""
    named = table.about.get("one_of_metrics") or table.about.get("metric")
    own = table.about.get("measure", {}).get("by_task", {})
    if named is None and own and "task" in labels:
        return _texts([str(own[task]["metric"]) if task in own else "score" for task in labels["task"]])
    metric = named or table.about.get("measure", {}).get("metric") or "score"
    return _texts([metric] * len(table))


def errors_of(table: Table) -> NDArray[Any]:
    """Why each answer was lost; empty where it was not."""
    lost = np.zeros(len(table), dtype=bool) if table.lost is None else table.lost
    said = [""] * len(table) if table.errors is None else table.errors.texts.tolist()
    return _texts([(why.strip() or _LOST) if gone else "" for why, gone in zip(said, lost.tolist(), strict=True)])


def _texts(values: Sequence[str]) -> NDArray[Any]:
    found = np.empty(len(values), dtype=object)
    found[:] = values
    return found


# ------------------------------------------------------------------------------------------------------------- writing


def check_suffix(path: Path) -> None:
    """Refuse a name that does not say in which format to write."""
    if path.suffix.lower() not in _WRITERS:
        raise UsageError(f"output must end in {', '.join(_WRITERS)}, but got {str(path)!r}.")


def write_long_table(columns: LongColumns, path: Path) -> None:
    """Write the columns, whole or not at all, in the format that the name of the file says."""
    write = _WRITERS[path.suffix.lower()]
    write_whole(path, lambda part: write(columns, part))


def _write_csv(columns: LongColumns, part: Path) -> None:
    with part.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(columns)
        writer.writerows(["" if value is None else value for value in row] for row in _rows(columns))


def _write_jsonl(columns: LongColumns, part: Path) -> None:
    names = list(columns)
    with part.open("w", encoding="utf-8") as file:
        for row in _rows(columns):
            file.write(json.dumps(dict(zip(names, row, strict=True)), ensure_ascii=False) + "\n")


def _rows(columns: LongColumns) -> Iterator[tuple[Any, ...]]:
    """The rows, with nothing where a number is not known; numbers to the last bit."""
    plain = [_without_nan(values) for values in columns.values()]
    return zip(*plain, strict=True)


def _without_nan(values: NDArray[Any]) -> list[Any]:
    found: list[Any] = values.tolist()
    return [None if value != value else value for value in found] if values.dtype.kind == "f" else found  # noqa: PLR0124


_WRITERS: dict[str, Callable[[LongColumns, Path], None]] = {
    ".parquet": copy_columns,
    ".csv": _write_csv,
    ".jsonl": _write_jsonl,
}
