"""DuckDB, as we use it: connections that touch no network, files read by one query, columns written as Parquet."""

import os
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from errno import EIO
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from numpy.typing import NDArray

from assay.data.readers import Reading, row_places
from assay.errors import InputError

if TYPE_CHECKING:
    import duckdb


def private_database() -> "duckdb.DuckDBPyConnection":
    """A private in-memory database; closing it frees the memory."""
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


def refusals() -> tuple[type[Exception], ...]:
    """The exceptions that a damaged file can raise."""
    from duckdb import Error  # late, likewise

    return (Error, RuntimeError, UnicodeError, MemoryError, OverflowError)


def quoted(text: str) -> str:
    """A text as an SQL literal."""
    return "'" + text.replace("'", "''") + "'"


def identifier(name: str) -> str:
    """A column name as an SQL identifier."""
    return '"' + name.replace('"', '""') + '"'


def literal_path(path: Path) -> str:
    """The path as an SQL literal for exactly this file, even if it contains *, ? or [."""
    # Absolute, so that nothing in the name can be read as the scheme of an address.
    absolute = str(path.absolute())
    if not any(wild in absolute for wild in "*?["):
        return quoted(absolute)
    return quoted("".join(f"[{c}]" if c in "*?[" else c for c in absolute))


def parquet_scan(*files: Path) -> str:
    """SQL for the rows of Parquet files, in order; a folder called model=x must not become a column."""
    return f"read_parquet([{', '.join(map(literal_path, files))}], hive_partitioning=false)"


def copy_columns(columns: Mapping[str, NDArray[Any]], part: Path) -> None:
    """Write columns as Parquet; the same columns always give the same bytes."""
    from duckdb import Error  # late, likewise

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


#: About how many queries columns are fetched in: one by one they take the least memory, but each query takes longer the
#: more columns there are.
_QUERIES = 32

#: A file of this many bytes gets a database of its own, for only closing that gives all of its memory back.
LARGE = 16_000_000


@cache
def _shared_database(_process: int) -> "duckdb.DuckDBPyConnection":
    """One database per process: opening one takes longer than reading a small file, and none survives a fork."""
    return private_database()


class DuckSource(ABC):
    """A file read through DuckDB. Subclasses say how to scan it, and explain what DuckDB could not read."""

    columns: tuple[str, ...]
    name: str | None = None
    notes: tuple[str, ...] = ()
    about: Mapping[str, Any] = MappingProxyType({})

    def __init__(self, path: Path, label: str) -> None:
        self.path = path
        self.label = label

    def connection(self) -> "duckdb.DuckDBPyConnection":
        """A connection for one query or a few."""
        return private_database() if self.path.stat().st_size >= LARGE else _shared_database(os.getpid()).cursor()

    @abstractmethod
    def scan(self, columns: Sequence[str], /) -> str:
        """The SQL of the rows, with at least these columns."""

    @abstractmethod
    def text(self, column: str) -> str:
        """The SQL of a column as text."""

    @abstractmethod
    def fault(self) -> str | None:
        """What is wrong with the file, searched for line by line after DuckDB refused it; ``None`` if unknown."""

    def number(self, column: str) -> str:
        """The SQL of a column as a number, null where it is not one."""
        return f"TRY_CAST({self.text(column)} AS DOUBLE)"

    def score(self, column: str) -> str:
        """The same, with true and false as 1 and 0."""
        truth = f"CASE lower(trim({self.text(column)})) WHEN 'true' THEN 1 WHEN 'false' THEN 0 END"
        return f"coalesce({truth}, {self.number(column)})"

    def read(self, wanted: Sequence[tuple[str, Reading]]) -> Iterator[NDArray[Any]]:
        selected = ", ".join(f"{self._expression(column, how)} AS v{i}" for i, (column, how) in enumerate(wanted))
        # The table is DuckDB's, and a third of the size that the same rows have as Python objects.
        rows = self.run(f"CREATE TEMP TABLE rows AS SELECT {selected}", [column for column, _ in wanted])
        together = 1 + len(wanted) // _QUERIES
        try:
            for start in range(0, len(wanted), together):
                names = [f"v{i}" for i in range(start, min(start + together, len(wanted)))]
                found = rows.execute(f"SELECT {', '.join(names)} FROM rows").fetchnumpy()
                yield from (found.pop(name) for name in names)
        finally:
            rows.close()  # and with it the table

    def cell(self, column: str, row: int) -> str:
        found = self.run(f"SELECT coalesce({self.text(column)}, '')", [column], f"LIMIT 1 OFFSET {row - 1}").fetchone()
        return "" if found is None else str(found[0])

    def places(self, rows: Sequence[int]) -> list[str]:
        return row_places(rows)

    def run(self, select: str, columns: Sequence[str], limit: str = "") -> "duckdb.DuckDBPyConnection":
        """Run a query over the rows of the file."""
        try:
            return self.connection().execute(f"{select} FROM {self.scan(columns)} {limit}")
        except refusals() as error:
            fault = self.fault()
            if fault is None and self.relax():
                return self.run(select, columns, limit)
            raise self.refusal(error, fault) from error

    def relax(self) -> bool:
        """Switch to a more tolerant way to read a file in which no fault was found; False if there is none."""
        return False

    def refusal(self, error: BaseException, fault: str | None) -> InputError:
        """A readable error in place of the parser's."""
        if fault is not None:
            return InputError(f"{self.label}{fault}")
        said = str(error).partition("\n")[0].strip().rstrip(".")
        return InputError(f"{self.label}: cannot be read ({said}); write the file again.")

    def _expression(self, column: str, how: Reading) -> str:
        # Nulls are filled in here: a masked array would cost more to make and to check.
        if how == "text":
            return f"coalesce({self.text(column)}, '')"
        if how == "length":
            return f"coalesce(nullif(length({self.text(column)}), 0)::DOUBLE, 'nan'::DOUBLE)"
        number = self.number(column) if how == "number" else self.score(column)
        return f"coalesce({number}, 'nan'::DOUBLE)"
