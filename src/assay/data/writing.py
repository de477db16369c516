"""Files that appear whole or not at all, and tables written back as Parquet."""

import os
from collections.abc import Callable, Mapping
from errno import EIO
from pathlib import Path
from tempfile import mkstemp
from typing import Any

import numpy as np
from numpy.typing import NDArray

from assay.data.panel import UNITS
from assay.data.tables import Table
from assay.errors import InputError


def write_whole(path: Path, fill: Callable[[Path], None]) -> None:
    """Let ``fill`` write to a temporary name beside ``path``, then rename: no reader ever sees half a file."""
    try:
        handle, name = mkstemp(prefix=f".{path.name}.", suffix=".part", dir=path.parent)
        os.close(handle)
    except OSError as error:
        raise InputError(f"{path}: cannot be written ({error.strerror}); name a file in an existing folder.") from error
    part = Path(name)
    try:
        fill(part)
        part.chmod(0o666 & ~_umask())
        with part.open("rb") as written:
            os.fsync(written.fileno())
        part.replace(path)
    except OSError as error:
        raise InputError(f"{path}: cannot be written ({error.strerror}); make room or name another file.") from error
    finally:
        part.unlink(missing_ok=True)


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def make_folder(folder: Path) -> None:
    """A folder for output, with those above it."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"{folder}: cannot be made ({error.strerror}); choose another folder.") from error


def write_bytes(path: Path, data: bytes) -> None:
    """Write a file whole."""
    write_whole(path, lambda part: _write(part, data))


def _write(part: Path, data: bytes) -> None:
    part.write_bytes(data)


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
    return np.array(table.labels[name].names, dtype=object)[table.labels[name].codes]


def _order(table: Table) -> NDArray[np.int64]:
    """By split, id and run."""
    keys = [table.labels[name].codes for name in ("run",) if name in table.labels]
    _, ids = np.unique(table.ids.astype(str), return_inverse=True)
    keys.append(ids)
    keys += [table.labels[name].codes for name in ("split",) if name in table.labels]
    return np.lexsort(keys)


def copy_columns(columns: Mapping[str, NDArray[Any]], part: Path) -> None:
    """Write columns as Parquet, the same columns always as the same bytes."""
    from duckdb import Error  # late: duckdb

    from assay.data.readers.duck import identifier, private_database, quoted

    with private_database() as database:
        database.execute("SET threads = 1")  # several would write the row groups in any order
        database.register("columns", dict(columns))
        names = ", ".join(identifier(name) for name in columns)
        try:
            database.execute(f"COPY (SELECT {names} FROM columns) TO {quoted(str(part))} (FORMAT parquet)")
        except Error as error:  # a full disk, which must look like one
            raise OSError(EIO, str(error).partition("\n")[0]) from error
