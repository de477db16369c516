"""Which format a file is in, by what it holds rather than by its name alone."""

import os
from difflib import get_close_matches
from pathlib import Path

from assay.data.opening import TABLE, cannot_open, opened
from assay.data.readers.delimited import Delimited
from assay.data.readers.duck import DuckSource
from assay.data.readers.jsonl import JsonLines
from assay.data.readers.parquet import Parquet
from assay.data.readers.run import RunFolder
from assay.data.readers.source import one_line
from assay.data.store import MANIFEST
from assay.errors import InputError

_HEAD = 1 << 16
_JSON = frozenset({".jsonl", ".ndjson", ".json"})
_PARQUET = frozenset({".parquet", ".pq"})
_WRITE = "write it as CSV, TSV, JSONL or Parquet"

# What people hand over by mistake, by the first bytes.
_OTHER_FORMATS = {
    b"\x1f\x8b": "it is compressed with gzip; unpack it first",
    b"(\xb5/\xfd": "it is compressed with zstandard; unpack it first",
    b"PK\x03\x04": f"it is a ZIP archive or an Excel workbook; {_WRITE}",
    b"PARE": f"it is an encrypted Parquet file; {_WRITE} without encryption",
    b"\xff\xfe": "it is UTF-16 text; save it as UTF-8",
    b"\xfe\xff": "it is UTF-16 text; save it as UTF-8",
}


def open_file(source: str | os.PathLike[str]) -> DuckSource:
    """The reader for a file, or an error that says why there is none."""
    path = Path(source)
    label = one_line(str(source))
    if _is_run(path):
        return RunFolder(path, label)
    head = _head(path, label)
    if head.startswith(b"PAR1"):
        return Parquet(path, label)
    if path.suffix.lower() in _PARQUET:
        raise InputError(f"{label}: not a Parquet file, for it does not begin with PAR1; write or copy it again.")
    _refuse_binary(head, label)
    return _text_file(path, label, head)


def _is_run(path: Path) -> bool:
    try:
        return (path / MANIFEST).is_file()
    except OSError:  # a name too long, a loop of links: what is wrong is said when the file is opened
        return False


def _text_file(path: Path, label: str, head: bytes) -> DuckSource:
    start = head.removeprefix(b"\xef\xbb\xbf").lstrip()
    if not start:
        raise InputError(f"{label}: the file is empty; check what should have written it.")
    if start.startswith(b"[") and path.suffix.lower() in _JSON:
        raise InputError(f"{label}: one JSON array; write one object per line instead (JSONL).")
    if start.startswith(b"{") or path.suffix.lower() in _JSON:
        return JsonLines(path, label)
    return Delimited(path, label, head)


def _head(path: Path, label: str) -> bytes:
    """The first bytes of a file that is there and can be read."""
    try:
        if path.is_dir():
            raise InputError(
                f"{label}: a directory with no run and no logs of a harness; name a CSV, TSV, JSONL or Parquet file."
            )
        if not path.exists():
            raise InputError(f"{label}: no such file; {_nearest(path)}")
        with opened(path, TABLE, label=label) as file:
            return file.read(_HEAD)
    except (OSError, ValueError) as error:
        raise cannot_open(label, error) from error


def _nearest(path: Path) -> str:
    try:
        names = [other.name for other in path.parent.iterdir()]
    except OSError:
        return f"nor is there a directory {str(path.parent)!r}; check the path."
    close = get_close_matches(path.name, names, n=1)
    return f"did you mean {close[0]!r}?" if close else "check the path."


def _refuse_binary(head: bytes, label: str) -> None:
    for magic, what in _OTHER_FORMATS.items():
        if head.startswith(magic):
            raise InputError(f"{label}: {what}.")
    if b"\0" in head:
        raise InputError(f"{label}: a binary file, not a table; {_WRITE}.")
