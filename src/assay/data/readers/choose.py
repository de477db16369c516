"""The reader of each path that a user names: a table, a run of ours, or what a harness wrote."""

from collections.abc import Sequence
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING

from assay.data.columns import listed
from assay.data.opening import head_of
from assay.data.readers.selection import Format, Selection
from assay.data.readers.source import Source, exists, named, one_line
from assay.data.store import MANIFEST
from assay.data.training_names import names_of
from assay.errors import InputError, UsageError

if TYPE_CHECKING:
    from assay.data.readers.harness.combine import Entry, HarnessSource
    from assay.data.readers.harness.log import Log

#: How a file begins that a harness may have written: an archive, Parquet, JSON.
_STARTS = (b"PK\x03\x04", b"PAR1", b"{", b"[")


def open_paths(
    paths: Sequence[str | PathLike[str]], selection: Selection, cluster: str | None, models: Sequence[str]
) -> list[Source]:
    """A source for each table and for each model of the logs, those of the logs last."""
    tables: list[Source] = []
    logs: list[tuple[str | None, Path, list[Log]]] = []
    for name, path in map(named, paths):
        found = _logs(path, selection.format)
        if found is None:
            tables.append(_table(name, path))
        else:
            _check_name(name, path, found)
            logs.append((name, path, found))
    return [*tables, *_harness_sources(logs, selection, cluster, models)] if logs else tables


def _check_name(name: str | None, path: Path, found: "list[Log]") -> None:
    names = sorted({log.model for log in found})
    if name is not None and len(names) > 1:
        raise UsageError(f"{name}=… renames one model, but {path} holds {len(names)}: {listed(names)}.")


def _harness_sources(
    logs: "list[tuple[str | None, Path, list[Log]]]", selection: Selection, cluster: str | None, models: Sequence[str]
) -> "list[HarnessSource]":
    from assay.data.readers.harness.combine import Entry, sources_of  # late: most people bring tables

    entries = _told_apart([Entry(name, one_line(str(path)), log) for name, path, found in logs for log in found])
    return sources_of([entry for entry in entries if entry.model in models] or entries, selection, cluster)


def _told_apart(entries: "list[Entry]") -> "list[Entry]":
    """Renamed files called after what tells their paths apart: runs/base/out.jsonl and runs/int4/out.jsonl."""
    files = list({entry.log.files[0]: None for entry in entries if not entry.log.task and entry.name is None})
    if not files:
        return entries
    taken = {entry.model for entry in entries if entry.log.task or entry.name is not None}
    names = dict(zip(files, names_of(files, taken), strict=True))
    return [
        replace(entry, log=replace(entry.log, model=names[entry.log.files[0]]))
        if entry.name is None and entry.log.files[0] in names
        else entry
        for entry in entries
    ]


def _logs(path: Path, asked: Format | None) -> "list[Log] | None":
    """The logs that a path holds; ``None`` where it is a table or a run of ours, or nothing that can be read."""
    if asked == "table" or not exists(path) or not (path.is_dir() or path.is_file()):
        return None
    if asked is None and not _may_hold_logs(path):
        return None
    from assay.data.readers.harness.recognise import files_in, logs_in  # late, likewise

    if asked is not None and path.is_file():
        return logs_in({asked: [path]}, asked)
    files = files_in(path)
    formats = sorted({"lm-eval" if kind == "lm-eval results" else kind for kind in files})
    if asked is not None:
        if asked not in formats:
            raise InputError(
                f"{one_line(str(path))}: no file of the format {asked}, only of {listed(formats) or 'none'}."
            )
        return logs_in(files, asked)
    if len(formats) > 1:
        raise InputError(f"{one_line(str(path))}: files of {listed(formats)}; choose one with --format.")
    return logs_in(files, formats[0]) if formats else None


def _may_hold_logs(path: Path) -> bool:
    if path.is_dir():
        return not (path / MANIFEST).is_file()
    return head_of(path).removeprefix(b"\xef\xbb\xbf").lstrip().startswith(_STARTS)


def _table(name: str | None, path: Path) -> Source:
    from assay.data.readers.files import open_file  # late: it loads duckdb

    opened = open_file(path)
    opened.name = name
    return opened
