"""CSV and TSV, with any of the usual delimiters."""

import csv
import io
import shutil
import tempfile
import weakref
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from assay.data.database import literal_path, quoted
from assay.data.readers.duck import DuckSource
from assay.errors import InputError
from assay.names import shown

_DELIMITERS = {",": "comma", "\t": "tab", ";": "semicolon", "|": "bar"}


class Delimited(DuckSource):
    """Text with a header. The dialect is settled here and DuckDB guesses nothing: a cell is text until cast."""

    def __init__(self, path: Path, label: str, head: bytes) -> None:
        super().__init__(path, label)
        text = head.decode("utf-8-sig", errors="surrogateescape")
        self._rows = path  # or a copy that is easier to read
        self._delimiter = _delimiter(text, path)
        self._blank, self.columns = _header(text, self._delimiter)
        if any(_not_utf8(name) for name in self.columns):
            raise InputError(f"{label}: the header is not UTF-8; save the file as UTF-8.")

    def scan(self, _columns: Sequence[str], /) -> str:
        types = ", ".join(f"'c{i}': 'VARCHAR'" for i in range(len(self.columns)))
        return (
            f"read_csv({literal_path(self._rows)}, auto_detect=false, header=true, skip={self._blank}, "
            f"delim={quoted(self._delimiter)}, quote='\"', escape='\"', nullstr='', "
            f"hive_partitioning=false, strict_mode=true, columns={{{types}}})"
        )

    def text(self, column: str) -> str:
        return f"c{self.columns.index(column)}"

    def relax(self) -> bool:
        # DuckDB's strict mode refuses files whose lines end in several ways, and its other mode loses characters.
        if self._rows != self.path:
            return False
        directory = Path(tempfile.mkdtemp(prefix="assay-"))
        weakref.finalize(self, shutil.rmtree, directory, ignore_errors=True)
        self._rows, self._blank = directory / "rows.csv", 0
        with self._rows.open("w", encoding="utf-8", newline="") as copy:
            writer = csv.writer(copy, delimiter=self._delimiter, lineterminator="\n", quoting=csv.QUOTE_ALL)
            writer.writerows(record for _, record in self._records())
        return True

    def _records(self) -> Iterator[tuple[int, list[str]]]:
        """The header and the rows, each with the line it begins in; a blank line is none."""
        with self.path.open(encoding="utf-8-sig", errors="surrogateescape", newline="") as file, _any_length():
            reader = csv.reader(file, delimiter=self._delimiter, skipinitialspace=True, strict=True)
            line = 1
            try:
                for record in reader:
                    if record:
                        yield line, record
                    line = reader.line_num + 1
            except csv.Error as error:
                raise _QuotingError(
                    f", line {line}: a quotation mark out of place ({error}); close it, or double it inside a cell."
                ) from error

    def places(self, rows: Sequence[int]) -> list[str]:
        wanted, found = set(rows), dict[int, str]()
        with suppress(_QuotingError):
            for row, (line, _) in enumerate(self._records()):  # the header is row 0
                if row in wanted:
                    found[row] = f"line {line}"
                if len(found) == len(wanted):
                    break
        return [found.get(row, f"row {row}") for row in rows]

    def fault(self) -> str | None:
        try:
            return next(filter(None, (self._record_fault(record, line) for line, record in self._records())), None)
        except _QuotingError as error:
            return str(error)

    def _record_fault(self, record: list[str], line: int) -> str | None:
        for column, cell in zip(self.columns, record, strict=False):
            if _not_utf8(cell):
                found = shown(cell.encode("utf-8", "backslashreplace").decode())
                return f", line {line}, column {column!r}: {found} is not UTF-8; save the file as UTF-8."
        if len(record) != len(self.columns):
            name = _DELIMITERS[self._delimiter]
            return (
                f", line {line}: {len(record)} cells where the header has {len(self.columns)} columns; "
                f"mend the row, or quote the cell that holds a {name}."
            )
        return None


class _QuotingError(Exception):
    """What is wrong with the quotation marks, and where."""


@contextmanager
def _any_length() -> Iterator[None]:
    """Cells of any length: Python's reader refuses long ones, and blames it on the quotation marks."""
    before = csv.field_size_limit(1 << 30)
    try:
        yield
    finally:
        csv.field_size_limit(before)


def _delimiter(text: str, path: Path) -> str:
    """What cuts the header into the most columns; a comma, or a tab in a .tsv file, when it is a draw."""
    usual = "\t" if path.suffix.lower() == ".tsv" else ","
    return max(_DELIMITERS, key=lambda delimiter: (len(_header(text, delimiter)[1]), delimiter == usual))


def _header(text: str, delimiter: str) -> tuple[int, tuple[str, ...]]:
    """The blank lines above the header, and its names."""
    records = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, skipinitialspace=True)
    with _any_length():
        blank, header = next((blank, record) for blank, record in enumerate(records) if record)
    return blank, tuple(name.strip() for name in header)


def _not_utf8(text: str) -> bool:
    # Bytes that are not UTF-8 were decoded to lone surrogates, which nothing can encode.
    try:
        text.encode()
    except UnicodeEncodeError:
        return True
    return False
