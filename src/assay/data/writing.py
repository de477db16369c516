"""Tables written back as Parquet."""

from collections.abc import Mapping
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from assay.data.metrics import UNITS
from assay.data.readers.database import copy_columns
from assay.data.tables import Table
from assay.files.writing import write_whole


def write_tables(path: Path, tables: Mapping[str, Table]) -> int:
    """Several tables of one kind as one Parquet file with a ``model`` column, sorted: the same rows are the same bytes.

    `read_table` reads it back, every number to the last bit. Returns the number of rows.
    """
    columns = _columns(tables)
    write_whole(path, lambda part: copy_columns(columns, part))
    return len(columns["model"])


def _columns(tables: Mapping[str, Table]) -> dict[str, NDArray[np.object_] | NDArray[np.float64]]:
    parts = [(name, table, _order(table)) for name, table in tables.items()]
    first = next(iter(tables.values()))
    numbers = [name for name in first.numbers if all(name in table.numbers for table in tables.values())]
    names = dict.fromkeys(name for table in tables.values() for name in table.labels if name != "model")
    labels = [n for n in names if n == "run" or all(n in table.labels for table in tables.values())]
    columns: dict[str, NDArray[np.object_] | NDArray[np.float64]] = {
        "model": np.concatenate([np.full(len(table), name, dtype=object) for name, table, _ in parts]),
        UNITS[first.kind]: np.concatenate([table.ids[order] for _, table, order in parts]),
    }
    for name in labels:
        texts = [_texts(table, name) for _, table, _ in parts]
        columns[name] = np.concatenate([text[order] for text, (_, _, order) in zip(texts, parts, strict=True)])
    for name in numbers:
        columns[name] = np.concatenate([table.numbers[name][order] for _, table, order in parts])
    return columns


def _texts(table: Table, name: str) -> NDArray[np.object_]:
    if name not in table.labels:
        return np.full(len(table), "1", dtype=object)  # a table without runs, beside one with several, has one
    return table.labels[name].texts


def _order(table: Table) -> NDArray[np.int64]:
    """By split, id and run."""
    keys = [table.labels[name].codes for name in ("run",) if name in table.labels]
    _, ids = np.unique(table.ids.astype(str), return_inverse=True)
    keys.append(ids)
    keys += [table.labels[name].codes for name in ("split",) if name in table.labels]
    return np.lexsort(keys)
