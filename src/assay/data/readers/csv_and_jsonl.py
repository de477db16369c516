"""Tables as text: CSV and TSV with any of the usual delimiters, and JSONL (NDJSON), one object per line."""

import csv
import io
import shutil
import weakref
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from assay.data.readers import Column, Reading
from assay.data.readers.database import DuckSource, identifier, literal_path, quoted, refusals
from assay.data.readers.small_tables import read_cells, small_table
from assay.errors import InputError
from assay.files.reading import parse_json
from assay.names import shown

_DELIMITERS = {",": "comma", "\t": "tab", ";": "semicolon", "|": "bar"}
_BOM = b"\xef\xbb\xbf"
_FORMAT = "format='newline_delimited', hive_partitioning=false"


class Delimited(DuckSource):
    """Delimited text with a header. The dialect is determined here, not by DuckDB; cells are text until cast."""

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

    def read(self, wanted: Sequence[tuple[str, Reading]]) -> Iterator[Column]:
        rows = small_table(self.path, self._delimiter, len(self.columns)) if self._blank == 0 else None
        found = None if rows is None else read_cells(rows, [(self.columns.index(name), how) for name, how in wanted])
        return super().read(wanted) if found is None else iter(found)

    def relax(self) -> bool:
        # DuckDB's strict mode refuses files whose lines end in several ways, and its other mode loses characters.
        if self._rows != self.path:
            return False
        self._rows, self._blank = _copy_of(self), 0
        with self._rows.open("w", encoding="utf-8", newline="") as copy:
            writer = csv.writer(copy, delimiter=self._delimiter, lineterminator="\n", quoting=csv.QUOTE_ALL)
            writer.writerows(record for _, record in self._records())
        return True

    def _records(self) -> Iterator[tuple[int, list[str]]]:
        """Yield the header and the rows with the line each begins on; blank lines are skipped."""
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


def _copy_of(source: DuckSource) -> Path:
    """Path for a temporary copy that is easier to read; deleted together with the source."""
    import tempfile

    directory = Path(tempfile.mkdtemp(prefix="assay-"))
    weakref.finalize(source, shutil.rmtree, directory, ignore_errors=True)
    return directory / "rows"


class _QuotingError(Exception):
    """What is wrong with the quotation marks, and where."""


@contextmanager
def _any_length() -> Iterator[None]:
    """Allow cells of any length: Python's reader refuses long ones and blames the quotation marks."""
    before = csv.field_size_limit(1 << 30)
    try:
        yield
    finally:
        csv.field_size_limit(before)


def _delimiter(text: str, path: Path) -> str:
    """The delimiter that gives the header the most columns; on a tie a comma, or a tab in a .tsv file."""
    usual = "\t" if path.suffix.lower() == ".tsv" else ","
    return max(_DELIMITERS, key=lambda delimiter: (len(_header(text, delimiter)[1]), delimiter == usual))


def _header(text: str, delimiter: str) -> tuple[int, tuple[str, ...]]:
    """The number of blank lines above the header, and the column names."""
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


class JsonLines(DuckSource):
    """One object per line; the columns are the keys of all of them."""

    def __init__(self, path: Path, label: str) -> None:
        super().__init__(path, label)
        self._rows = self._without_mark()
        keys = f"SELECT DISTINCT json_keys(json) AS keys FROM read_json_objects({literal_path(self._rows)}, {_FORMAT})"
        query = f"SELECT DISTINCT unnest(keys) AS key FROM ({keys}) ORDER BY key"
        try:
            self.columns = tuple(str(key) for (key,) in self.connection().execute(query).fetchall())
        except refusals() as error:
            raise self.refusal(error, self.fault()) from error
        if not self.columns:
            raise InputError(f"{label}: objects without any fields; check what should have written them.")

    def _without_mark(self) -> Path:
        """The file, or a copy without the byte order mark, which DuckDB refuses in JSON."""
        with self.path.open("rb") as file:
            if file.read(len(_BOM)) != _BOM:
                return self.path
            rows = _copy_of(self)
            with rows.open("wb") as copy:
                shutil.copyfileobj(file, copy)
        return rows

    def scan(self, columns: Sequence[str], /) -> str:
        # As text: DuckDB would otherwise read the ids 007 and 1e5 as numbers, or refuse a file for one bad cell.
        types = ", ".join(f"{quoted(column)}: 'VARCHAR'" for column in dict.fromkeys(columns))
        return f"read_json({literal_path(self._rows)}, {_FORMAT}, columns={{{types}}})"

    def text(self, column: str) -> str:
        return identifier(column)

    def places(self, rows: Sequence[int]) -> list[str]:
        wanted, found = set(rows), dict[int, str]()
        row = 0
        with self.path.open("rb") as file:
            for number, line in enumerate(file, start=1):
                row += bool(line.removeprefix(_BOM).strip())
                if row in wanted:
                    found.setdefault(row, f"line {number}")
                if len(found) == len(wanted):
                    break
        return [found.get(row, f"row {row}") for row in rows]

    def fault(self) -> str | None:
        with self.path.open("rb") as file:
            for number, line in enumerate(file, start=1):
                fault = _line_fault(line.removeprefix(_BOM) if number == 1 else line)
                if fault is not None:
                    return f", line {number}: {fault}"
        return None


def _line_fault(line: bytes) -> str | None:
    if not line.strip():
        return None
    try:
        found = parse_json(line, "", advice="write one whole object per line")
    except InputError as error:
        return str(error).removeprefix(": ")
    if not isinstance(found, dict):
        text = line.decode().strip()
        return f'JSON, but not an object: {shown(text)}; write one object per line, such as {{"item": …}}.'
    return None
