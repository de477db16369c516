"""JSONL (NDJSON): one object per line."""

import json
import shutil
import tempfile
import weakref
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from assay.data.readers.duck import REFUSALS, DuckSource, identifier, literal_path, quoted
from assay.data.readers.source import shown

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

    def fault(self) -> str | None:
        row = 0
        with self.path.open("rb") as file:
            for line in file:
                row += bool(line.strip())
                fault = _line_fault(line.removeprefix(_BOM) if row == 1 else line)
                if fault is not None:
                    return f", row {row}: {fault}"
        return None


def _line_fault(line: bytes) -> str | None:
    if not line.strip():
        return None
    try:
        text = line.decode("utf-8").strip()
    except UnicodeDecodeError as error:
        return f"byte 0x{line[error.start]:02x} is not UTF-8; save the file as UTF-8."
    try:
        found = json.loads(text, object_pairs_hook=_pairs)
    except ValueError as error:
        return f"not a JSON object ({error}): {shown(text)}; write one whole object per line."
    if not isinstance(found, dict):
        return f'JSON, but not an object: {shown(text)}; write one object per line, such as {{"item": …}}.'
    return None


def _pairs(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"the key {twice!r} is there twice")
    return found
