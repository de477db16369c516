"""DuckDB, as we use it: connections that touch no network, names and texts in SQL, columns written as Parquet."""

import os
from collections.abc import Mapping
from errno import EIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

from numpy.typing import NDArray

if TYPE_CHECKING:
    import duckdb


def private_database() -> "duckdb.DuckDBPyConnection":
    """A database of its own in memory, which closing frees."""
    import duckdb  # late: those who bring arrays need none

    return duckdb.connect(
        config={
            # Reading a file must never reach for the network.
            "autoinstall_known_extensions": False,
            "autoload_known_extensions": False,
            # Rows are counted in what comes back.
            "preserve_insertion_order": True,
            "threads": min(4, os.cpu_count() or 1),
        }
    )


def quoted(text: str) -> str:
    """A text as an SQL literal."""
    return "'" + text.replace("'", "''") + "'"


def identifier(name: str) -> str:
    """A column name as an SQL identifier."""
    return '"' + name.replace('"', '""') + '"'


def literal_path(path: Path) -> str:
    """The path as an SQL literal that names this one file, even if it holds *, ? or [."""
    # Absolute, so that nothing in the name can be read as the scheme of an address.
    absolute = str(path.absolute())
    if not any(wild in absolute for wild in "*?["):
        return quoted(absolute)
    return quoted("".join(f"[{c}]" if c in "*?[" else c for c in absolute))


def copy_columns(columns: Mapping[str, NDArray[Any]], part: Path) -> None:
    """Write columns as Parquet, the same columns always as the same bytes."""
    from duckdb import Error  # late: duckdb

    with private_database() as database:
        database.execute("SET threads = 1")  # several would write the row groups in any order
        database.register("columns", dict(columns))
        names = ", ".join(identifier(name) for name in columns)
        try:
            # Into the file that is there: DuckDB would write beside it, to a name that we could not tidy up.
            options = "FORMAT parquet, USE_TMP_FILE false"
            database.execute(f"COPY (SELECT {names} FROM columns) TO {quoted(str(part))} ({options})")
        except Error as error:  # a full disk, which must look like one
            raise OSError(EIO, str(error).partition("\n")[0]) from error
