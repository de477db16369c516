"""Pick the reader for whatever a user names: a table in memory, a file by its content, a run folder, harness logs."""

import json
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from difflib import get_close_matches
from os import PathLike, fspath, sep
from pathlib import Path
from typing import TYPE_CHECKING
from weakref import finalize

from assay.data.columns import REQUIRED
from assay.data.readers import UNNAMED, RowSource, Selection
from assay.data.readers.containers import (
    GZIP,
    STDIN,
    ZIP,
    ZSTANDARD,
    Records,
    discard,
    from_stdin,
    is_workbook,
    matching,
    records_of,
    tables_in,
    temporary,
    unpacked,
    workbook_of,
)
from assay.data.readers.csv_and_jsonl import Delimited, JsonLines
from assay.data.readers.database import DuckSource
from assay.data.readers.formats import TABLE as TABLE_FORMAT
from assay.data.readers.memory import MemorySource
from assay.data.readers.parquet import Parquet
from assay.data.runs import MANIFEST, RunSource
from assay.errors import InputError, UsageError
from assay.files.reading import TABLE, cannot_open, check_link, head_of, opened, read_json
from assay.names import listed, one_line

if TYPE_CHECKING:
    from assay.data.readers.harness.named_logs import NamedLog

_HEAD = 1 << 16
#: How one JSON document of many rows begins: an array of objects, or an object of columns and data.
_ARRAY = re.compile(rb"\[\s*(\{|\])")
_SPLIT = re.compile(rb'\{[^{]*"columns"\s*:\s*\[')
_SPREAD = re.compile(rb"\{\s*\n")  # one object over several lines
_JSON = frozenset({".jsonl", ".ndjson", ".json"})
_PARQUET = frozenset({".parquet", ".pq"})
_WRITE = "write it as CSV, TSV, JSON, JSONL or Parquet"

# What people hand over by mistake, by the first bytes.
_OTHER_FORMATS = {
    ZIP: f"it is a ZIP archive; {_WRITE}",
    b"PARE": f"it is an encrypted Parquet file; {_WRITE} without encryption",
    b"\xff\xfe": "it is UTF-16 text; save it as UTF-8",
    b"\xfe\xff": "it is UTF-16 text; save it as UTF-8",
}
#: How a file begins that a harness may have written: an archive, Parquet, JSON.
_STARTS = (b"PK\x03\x04", b"PAR1", b"{", b"[")
#: What the first line of a table has that a harness wrote.
_COLUMNS = re.compile(rb"\b(user_input|contexts)\b|/v\d+/score\b")


def open_source(source: object, *, name: str | None = None) -> RowSource:
    """The reader for a path, a mapping of names to columns, or a data frame."""
    if isinstance(source, str | PathLike):
        return open_file(source)
    if isinstance(source, Mapping) or (hasattr(source, "columns") and hasattr(source, "__getitem__")):
        return MemorySource(source, name or UNNAMED)
    raise UsageError(f"a table must be a path, a mapping of columns or a data frame, but got {type(source).__name__}.")


def open_sources(
    paths: Sequence[str | PathLike[str]],
    selection: Selection | None = None,
    *,
    cluster: str | None = None,
    models: Sequence[str] = (),
) -> list[RowSource]:
    """The readers for files and folders: one per table, and one per model of a harness's output.

    A path may be NAME=PATH, which names the model. ``cluster`` is what harness items are clustered by, a field of their
    documents or ``task``; it becomes a column of that name. If there are logs of some of the ``models``, other models
    are skipped. Sources of logs come last.
    """
    chosen, tables = selection or Selection(), [one for path in paths for one in _expanded(*named(path))]
    logs = [place for place in tables if _may_hold_logs(place[1], chosen.format)]
    sources: Sequence[RowSource] = ()
    if logs:
        from assay.data.readers.harness.join_logs import open_logs  # late: most people bring tables

        found, sources = open_logs(logs, chosen, cluster, models)
        tables = [place for place in tables if place not in found]
    return [*(_table(*one) for place in tables for one in _of_folder(*place)), *sources]


def logs_in(paths: Sequence[str | PathLike[str]], selection: Selection) -> "list[NamedLog]":
    """The logs of harnesses at some paths, each with the name of its model; none of tables."""
    from assay.data.readers.harness.named_logs import named_logs  # late, likewise

    places = [one for path in paths for one in _expanded(*named(path))]
    return named_logs([place for place in places if _may_hold_logs(place[1], selection.format)], selection)[1]


def _expanded(name: str | None, path: Path) -> list[tuple[str | None, Path]]:
    """The files that a pattern means; a name is for one of them."""
    found = [path] if exists(path) else matching(path)
    if name is not None and len(found) > 1:
        raise UsageError(f"{name}=… renames one model, but {path} means {len(found)} files; name them one by one.")
    return [(name, one) for one in found]


def _of_folder(name: str | None, path: Path) -> list[tuple[str | None, Path]]:
    """The tables in a folder that holds neither a run nor logs; anything else as it is."""
    if not exists(path) or not path.is_dir() or _is_run(path):
        return [(name, path)]
    found = tables_in(path)
    if name is not None and len(found) > 1:
        raise UsageError(f"{name}=… renames one model, but {path} holds {len(found)} tables; name them one by one.")
    return [(name, one) for one in found] or [(name, path)]


def named(path: str | PathLike[str]) -> tuple[str | None, Path]:
    """Split NAME=PATH; an existing file of that whole name takes precedence.

    >>> named("7b=runs/a.csv") == ("7b", Path("runs/a.csv"))
    True
    """
    text = fspath(path)
    name, equals, rest = text.partition("=")
    if not equals or not name.strip() or not rest or exists(Path(text)):
        return None, Path(text)
    if sep in name and not exists(Path(rest)):
        return None, Path(text)  # more likely a folder with = in its name that is not there
    return one_line(name.strip()), Path(rest)


def exists(path: Path) -> bool:
    """Whether there is such a file; False for names that the system does not allow."""
    try:
        return path.exists()
    except (OSError, ValueError):
        return False


def open_file(source: str | PathLike[str]) -> DuckSource | Records:
    """The reader for a file, or an error that says why there is none. ``-`` is what is piped in."""
    path = Path(source)
    label = one_line(str(source))
    if _is_run(path):
        return RunSource(path, label)
    piped = str(source) == STDIN and not exists(path)
    head = b"" if piped else _head(path, label)
    if not piped and not head.startswith((GZIP, ZSTANDARD)):
        return _reader(path, label, head)
    folder = temporary()
    try:
        found = _copied(path, "stdin" if piped else label, folder, piped=piped)
    except BaseException:
        discard(folder)
        raise
    finalize(found, discard, folder)
    return found


def _copied(path: Path, label: str, folder: Path, *, piped: bool) -> DuckSource | Records:
    """The reader for what is piped in, or compressed, or both."""
    copy = from_stdin(folder) if piped else path
    if head_of(copy).startswith((GZIP, ZSTANDARD)):
        copy = unpacked(copy, label, folder)
    found = _reader(copy, label, _head(copy, label))
    found.about = {"files": (copy,)} if piped else {}
    return found


def _reader(path: Path, label: str, head: bytes) -> DuckSource | Records:
    if head.startswith(b"PAR1"):
        return Parquet(path, label)
    if path.suffix.lower() in _PARQUET:
        raise InputError(f"{label}: not a Parquet file: it does not begin with PAR1; write or copy it again.")
    if head.startswith(ZIP) and is_workbook(path):
        return workbook_of(path, label)
    _refuse_binary(head, label)
    return _text_file(path, label, head)


def _is_run(path: Path) -> bool:
    try:
        return (path / MANIFEST).is_file()
    except OSError:  # a name too long, a loop of links: what is wrong is said when the file is opened
        return False


def _text_file(path: Path, label: str, head: bytes) -> DuckSource | Records:
    start = head.removeprefix(b"\xef\xbb\xbf").lstrip()
    if not start:
        raise InputError(f"{label}: the file is empty; check what should have written it.")
    if _ARRAY.match(start) or _SPLIT.match(start):
        return records_of(path, label)
    if _SPREAD.match(start):
        _refuse_object(path, label)
    if start.startswith(b"{") or path.suffix.lower() in _JSON:
        return JsonLines(path, label)
    return Delimited(path, label, head)


def _refuse_object(path: Path, label: str) -> None:
    """Refuse a whole JSON object over several lines; of one that is cut off the reader of lines says where."""
    try:
        fields = read_json(path, label=label)
    except InputError:
        return
    raise InputError(
        f"{label}: one JSON object with {listed(map(repr, fields))}, not a table; a table is an array of objects, an "
        "object of 'columns' and 'data', or an object per line."
    )


def _head(path: Path, label: str) -> bytes:
    """The first bytes of a file; errors explain a file that is missing or unreadable."""
    try:
        if path.is_dir():
            raise InputError(
                f"{label}: a directory with no run, no logs of a harness and no tables; name a file of CSV, TSV, JSON, "
                "JSONL or Parquet."
            )
        check_link(path)
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


def _may_hold_logs(path: Path, asked: str | None) -> bool:
    """Whether to look for logs: not in our own tables and runs, nor in what cannot be opened."""
    if asked == TABLE_FORMAT or not exists(path) or not (path.is_dir() or path.is_file()):
        return False
    if asked is not None:
        return True
    if path.is_dir():
        return not (path / MANIFEST).is_file()
    head = head_of(path, _HEAD).removeprefix(b"\xef\xbb\xbf").lstrip()
    if not head.startswith(_STARTS):
        return _COLUMNS.search(head.partition(b"\n")[0]) is not None
    return not _has_our_columns(path, head)


def _has_our_columns(path: Path, head: bytes) -> bool:
    """Whether this is a table with our own names, which no harness writes: nobody need look for its logs."""
    columns: set[str] = set()
    if head.startswith(b"PAR1"):
        with suppress(InputError):  # a damaged file, which is said when it is read
            columns = set(Parquet(path, str(path)).columns)
    elif head.startswith(b"{"):
        with suppress(ValueError, RecursionError):  # not whole on one line
            columns = set(json.loads(head.partition(b"\n")[0]))
    return any(columns >= set(required) for required in REQUIRED.values())


def _table(name: str | None, path: Path) -> RowSource:
    source = open_file(path)
    source.name = name
    return source
