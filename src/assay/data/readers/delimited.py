"""CSV and TSV, with any of the usual delimiters."""

import csv
import io
from collections.abc import Sequence
from pathlib import Path

from assay.data.readers.duck import DuckSource, literal_path, quoted
from assay.data.readers.source import shown
from assay.errors import InputError

_DELIMITERS = {",": "comma", "\t": "tab", ";": "semicolon", "|": "bar"}


class Delimited(DuckSource):
    """Text with a header. The dialect is settled here and DuckDB guesses nothing: a cell is text until cast."""

    def __init__(self, path: Path, label: str, head: bytes) -> None:
        super().__init__(path, label)
        text = head.decode("utf-8-sig", errors="surrogateescape")
        self._strict = True
        self._delimiter = _delimiter(text, path)
        self._blank, self.columns = _header(text, self._delimiter)
        if any(_not_utf8(name) for name in self.columns):
            raise InputError(f"{label}: the header is not UTF-8; save the file as UTF-8.")

    def scan(self, _columns: Sequence[str], /) -> str:
        types = ", ".join(f"'c{i}': 'VARCHAR'" for i in range(len(self.columns)))
        return (
            f"read_csv({literal_path(self.path)}, auto_detect=false, header=true, skip={self._blank}, "
            f"delim={quoted(self._delimiter)}, quote='\"', escape='\"', nullstr='', "
            f"hive_partitioning=false, strict_mode={str(self._strict).lower()}, columns={{{types}}})"
        )

    def text(self, column: str) -> str:
        return f"c{self.columns.index(column)}"

    def relax(self) -> bool:
        # DuckDB's strict mode also refuses what is not wrong, such as files whose lines end in two ways.
        relaxed, self._strict = self._strict, False
        return relaxed

    def fault(self) -> str | None:
        with self.path.open(encoding="utf-8-sig", errors="surrogateescape", newline="") as file:
            rows = csv.reader(file, delimiter=self._delimiter, skipinitialspace=True, strict=True)
            row = -1  # the header is row 0
            try:
                for record in rows:
                    row += bool(record)
                    fault = self._record_fault(record, row)
                    if fault is not None:
                        return fault
            except csv.Error as error:
                return (
                    f", row {row + 1}: a quotation mark out of place ({error}); close it, or double it inside a cell."
                )
        return None

    def _record_fault(self, record: list[str], row: int) -> str | None:
        for column, cell in zip(self.columns, record, strict=False):
            if _not_utf8(cell):
                found = shown(cell.encode("utf-8", "backslashreplace").decode())
                return f", row {row}, column {column!r}: {found} is not UTF-8; save the file as UTF-8."
        if record and len(record) != len(self.columns):
            name = _DELIMITERS[self._delimiter]
            return (
                f", row {row}: {len(record)} cells where the header has {len(self.columns)} columns; "
                f"mend the row, or quote the cell that holds a {name}."
            )
        return None


def _delimiter(text: str, path: Path) -> str:
    """What cuts the header into the most columns; a comma, or a tab in a .tsv file, when it is a draw."""
    usual = "\t" if path.suffix.lower() == ".tsv" else ","
    return max(_DELIMITERS, key=lambda delimiter: (len(_header(text, delimiter)[1]), delimiter == usual))


def _header(text: str, delimiter: str) -> tuple[int, tuple[str, ...]]:
    """The blank lines above the header, and its names."""
    records = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, skipinitialspace=True)
    blank, header = next((blank, record) for blank, record in enumerate(records) if record)
    return blank, tuple(name.strip() for name in header)


def _not_utf8(text: str) -> bool:
    # Bytes that are not UTF-8 were decoded to lone surrogates, which nothing can encode.
    try:
        text.encode()
    except UnicodeEncodeError:
        return True
    return False
