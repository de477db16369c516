"""DuckDB, as we use it: connections that touch no network, files read by one query, columns written as Parquet."""

import os
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from errno import EDQUOT, EIO, ENOSPC
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from numpy.typing import NDArray

from assay.data.memory import left
from assay.data.readers import Column, Reading, row_places
from assay.data.readers.arrow_streams import columns_of, stream_of
from assay.data.text_columns import TextColumn
from assay.errors import InputError

if TYPE_CHECKING:
    import duckdb


_BESIDE = 60_000_000  # bytes: what DuckDB takes beside the memory that it counts
_FEWEST = 32_000_000  # bytes: it cannot work with less


def private_database(spill: str | None = None) -> "duckdb.DuckDBPyConnection":
    """A private in-memory database; closing it frees the memory.

    ``spill`` is a folder for what does not fit. Where memory is limited, it gets what is left of it.
    """
    import duckdb  # late: those who bring arrays need none

    rest = left()
    limits = {} if rest is None else {"memory_limit": f"{max(rest - _BESIDE, _FEWEST) // 1000}KB"}
    return duckdb.connect(
        config={
            # Reading a file must never reach for the network.
            "autoinstall_known_extensions": False,
            "autoload_known_extensions": False,
            # Rows are counted in what comes back.
            "preserve_insertion_order": True,
            # One width of offsets for all texts that are streamed.
            "arrow_large_buffer_size": True,
            "threads": min(4, os.cpu_count() or 1),
            **limits,
            **({} if spill is None else {"temp_directory": spill}),
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


def copy_columns(columns: Mapping[str, NDArray[Any] | TextColumn], part: Path) -> None:
    """Write columns as Parquet; the same columns always give the same bytes."""
    from duckdb import Error  # late, likewise

    with _one_thread(columns) as database:
        packed = any(isinstance(column, TextColumn) for column in columns.values())
        database.register("columns", stream_of(columns) if packed else dict(columns))
        names = ", ".join(identifier(name) for name in columns)
        try:
            # Into the file that is there: DuckDB would write beside it, to a name that we could not tidy up.
            options = "FORMAT parquet, USE_TMP_FILE false"
            database.execute(f"COPY (SELECT {names} FROM columns) TO {quoted(str(part))} ({options})")
        except Error as error:  # a full disk, which must look like one
            said = str(error).partition("\n")[0]
            full = next((number for number in (ENOSPC, EDQUOT) if os.strerror(number) in said), None)
            raise OSError(EIO, said) if full is None else OSError(full, os.strerror(full)) from error


#: A file of this many bytes gets a database of its own, for only closing that gives all of its memory back.
LARGE = 16_000_000
_FEW_ROWS = 100_000  # likewise of a table that is written


def _one_thread(columns: Mapping[str, NDArray[Any] | TextColumn]) -> "duckdb.DuckDBPyConnection":
    """A connection for writing these columns: several threads would write the row groups in any order."""
    if all(len(column) < _FEW_ROWS for column in columns.values()):
        return _writing_database(os.getpid()).cursor()
    database = private_database()
    database.execute("SET threads = 1")
    return database


@cache
def _writing_database(_process: int) -> "duckdb.DuckDBPyConnection":
    """As `_shared_database`, for small tables that are written."""
    database = private_database()
    database.execute("SET threads = 1")
    return database


@cache
def _shared_database(_process: int) -> "duckdb.DuckDBPyConnection":
    """One database per process: opening one takes longer than reading a small file, and none survives a fork."""
    return private_database()


def shared_cursor() -> "duckdb.DuckDBPyConnection":
    """A connection to the database of this process, for what takes little memory."""
    return _shared_database(os.getpid()).cursor()


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
        return private_database() if self.path.stat().st_size >= LARGE else shared_cursor()

    @abstractmethod
    def scan(self, columns: Sequence[str], /) -> str:
        """The SQL of the rows, with at least these columns."""

    @abstractmethod
    def text(self, column: str) -> str:
        """The SQL of a column as text."""

    @abstractmethod
    def fault(self) -> str | None:
        """What is wrong with the file, searched for line by line after DuckDB refused it; ``None`` if unknown."""

    def rows_expected(self) -> int:
        """How many rows to make room for; 0: not known before they are read."""
        return 0

    def number(self, column: str) -> str:
        """The SQL of a column as a number, null where it is not one."""
        return f"TRY_CAST({self.text(column)} AS DOUBLE)"

    def score(self, column: str) -> str:
        """The same, with true and false as 1 and 0."""
        truth = f"CASE lower(trim({self.text(column)})) WHEN 'true' THEN 1 WHEN 'false' THEN 0 END"
        return f"coalesce({truth}, {self.number(column)})"

    def read(self, wanted: Sequence[tuple[str, Reading]]) -> Iterator[Column]:
        selected = ", ".join(f"{self._expression(column, how)} AS v{i}" for i, (column, how) in enumerate(wanted))
        found = self._columns(f"SELECT {selected}", wanted)
        for _, how in wanted:
            column = found.pop(0)  # freed as soon as it is used
            yield column.texts if how == "text" and isinstance(column, TextColumn) else column

    def _columns(self, select: str, wanted: Sequence[tuple[str, Reading]]) -> list[Column]:
        """The columns of a query over the rows of the file."""
        texts = [how in ("text", "packed") for _, how in wanted]
        try:
            with self.connection() as database:
                query = database.sql(f"{select} FROM {self.scan([name for name, _ in wanted])}")
                return [*columns_of(query, texts, self.rows_expected())]
        except refusals() as error:
            fault = self.fault()
            if fault is None and self.relax():
                return self._columns(select, wanted)
            raise self.refusal(error, fault) from error

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
        if how in ("text", "packed"):
            return f"coalesce({self.text(column)}, '')"
        if how == "length":
            return f"coalesce(nullif(length({self.text(column)}), 0)::DOUBLE, 'nan'::DOUBLE)"
        number = self.number(column) if how == "number" else self.score(column)
        return f"coalesce({number}, 'nan'::DOUBLE)"
