"""Parquet files."""

from collections.abc import Sequence
from pathlib import Path

from assay.data.readers.database import DuckSource, identifier, parquet_scan, quoted, refusals, shared_cursor

# Exact as doubles, or rounded once. DuckDB divides a decimal by a power of ten, so that goes through its text.
_NUMBERS = frozenset(
    "TINYINT SMALLINT INTEGER BIGINT UTINYINT USMALLINT UINTEGER UBIGINT FLOAT DOUBLE".split()  # noqa: SIM905 - a list of words
)


class Parquet(DuckSource):
    """A Parquet file; its own column types say what is a number."""

    def __init__(self, path: Path, label: str) -> None:
        super().__init__(path, label)
        try:
            described = shared_cursor().execute(f"DESCRIBE SELECT * FROM {self.scan(())}").fetchall()
        except refusals() as error:
            raise self.refusal(error, self.fault()) from error
        self._types = {str(name): str(kind) for name, kind, *_ in described}
        self.columns = tuple(self._types)

    def fields(self, column: str) -> tuple[str, ...]:
        """The fields of a column that is a struct; none of another."""
        kind = self._types.get(column, "")
        if not kind.startswith("STRUCT("):
            return ()
        described = self.connection().execute(
            f"DESCRIBE SELECT unnest({identifier(column)}) FROM {self.scan((column,))}"
        )
        return tuple(str(name) for name, *_ in described.fetchall())

    def scan(self, _columns: Sequence[str], /) -> str:
        return parquet_scan(self.path)

    def rows_expected(self) -> int:
        counted = shared_cursor().execute(f"SELECT count(*) FROM {self.scan(())}").fetchone()
        return 0 if counted is None else int(counted[0])

    def bytes_of_column(self, column: str) -> int:
        """How many bytes the texts of a column take, as the file says; of a dictionary, as many as stand in it."""
        path = quoted(str(self.path.absolute()))
        sums = "coalesce(sum(total_uncompressed_size), 0)"
        found = shared_cursor().execute(
            f"SELECT {sums} FROM parquet_metadata({path}) WHERE path_in_schema = {quoted(column)}"
        )
        row = found.fetchone()
        return 0 if row is None else int(row[0])

    def text(self, column: str) -> str:
        return f"CAST({identifier(column)} AS VARCHAR)"

    def number(self, column: str) -> str:
        if self._types[column] in _NUMBERS:
            return f"CAST({identifier(column)} AS DOUBLE)"
        return super().number(column)

    def score(self, column: str) -> str:
        return self.number(column) if self._types[column] in _NUMBERS else super().score(column)

    def fault(self) -> str | None:
        with self.path.open("rb") as file:
            file.seek(max(0, self.path.stat().st_size - 4))
            whole = file.read() == b"PAR1"
        found = "damaged" if whole else "truncated: its last bytes are missing"
        return f": the Parquet file is {found}; write or copy it again."
