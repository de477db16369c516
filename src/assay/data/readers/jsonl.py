"""JSONL (NDJSON): one object per line."""

import shutil
import tempfile
import weakref
from collections.abc import Sequence
from pathlib import Path

from assay.data.database import identifier, literal_path, quoted
from assay.data.readers.duck import REFUSALS, DuckSource
from assay.errors import InputError
from assay.files.reading import parse_json
from assay.names import shown

_BOM = b"\xef\xbb\xbf"
_FORMAT = "format='newline_delimited', hive_partitioning=false"


class JsonLines(DuckSource):
    """One object per line; the columns are the keys of all of them."""

    def __init__(self, path: Path, label: str) -> None:
        super().__init__(path, label)
        self._rows = self._without_mark()
        keys = f"SELECT DISTINCT json_keys(json) AS keys FROM read_json_objects({literal_path(self._rows)}, {_FORMAT})"
        query = f"SELECT DISTINCT unnest(keys) AS key FROM ({keys}) ORDER BY key"
        try:
            self.columns = tuple(str(key) for (key,) in self.connection().execute(query).fetchall())
        except REFUSALS as error:
            raise self.refusal(error, self.fault()) from error

    def _without_mark(self) -> Path:
        """The file, or a copy without the byte order mark, which DuckDB refuses in JSON; it goes with the object."""
        with self.path.open("rb") as file:
            if file.read(len(_BOM)) != _BOM:
                return self.path
            directory = Path(tempfile.mkdtemp(prefix="assay-"))
            weakref.finalize(self, shutil.rmtree, directory, ignore_errors=True)
            with (directory / "rows.jsonl").open("wb") as copy:
                shutil.copyfileobj(file, copy)
        return directory / "rows.jsonl"

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
