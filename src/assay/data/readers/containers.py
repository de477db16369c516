"""What tables come in: gzip and zstandard, JSON arrays and {columns, data}, workbooks, a pipe, patterns and folders."""

import gzip
import json
import shutil
import sys
import warnings
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, BinaryIO

import zstandard

from assay.data.readers.memory import MemorySource
from assay.errors import InputError
from assay.files.reading import DEEPEST, DOCUMENT, TABLE, Limit, megabytes, opened, read_json
from assay.names import listed, shown

GZIP, ZSTANDARD, ZIP = b"\x1f\x8b", b"(\xb5/\xfd", b"PK\x03\x04"
#: Unpacked bytes for each byte of the file: more is no table.
_LARGEST_RATIO = 1000
_COPIED_AT_ONCE, _UNPACKED_AT_ONCE = 1 << 20, 1 << 14  # 16 kB of zstandard may become 200 MB
STDIN = "-"
_READ: list[object] = []  # the standard input that was read, which can be done once
#: Files of a folder that may be tables.
_SUFFIXES = frozenset({".csv", ".tsv", ".jsonl", ".ndjson", ".json", ".parquet", ".pq", ".xlsx"})
_PACKED = frozenset({".gz", ".zst", ".zstd"})
_MOST_FILES = 10_000
_WILD = "*?["


# ---------------------------------------------------------------------------------------------------------- compressed


def unpacked(path: Path, label: str, folder: Path) -> Path:
    """Unpack a file into a folder, under its own name without the last extension."""
    target = folder / (path.stem if path.suffix.lower() in _PACKED else path.name)
    most = DOCUMENT.bytes + _LARGEST_RATIO * path.stat().st_size
    try:
        with opened(path, TABLE, label=label) as file, target.open("wb") as copy:
            packed = file.read(len(ZSTANDARD)) == ZSTANDARD
            file.seek(0)
            _copy(_of_zstandard(file) if packed else _of_gzip(file), copy, Limit(most, "", ""), label)
    except (OSError, EOFError, zlib.error, zstandard.ZstdError) as error:
        raise InputError(f"{label}: cannot be unpacked ({error}); write or copy it again.") from error
    return target


def _of_gzip(file: BinaryIO) -> Iterator[bytes]:
    with gzip.GzipFile(fileobj=file) as unpacking:
        yield from iter(lambda: unpacking.read(_COPIED_AT_ONCE), b"")


def _of_zstandard(file: BinaryIO) -> Iterator[bytes]:
    """Frame after frame; a file that ends within one is cut off, which the library passes over."""
    rest, frame = b"", zstandard.ZstdDecompressor().decompressobj()
    for block in iter(lambda: file.read(_UNPACKED_AT_ONCE), b""):
        rest = block
        while rest:
            if frame.eof:
                frame = zstandard.ZstdDecompressor().decompressobj()
            yield frame.decompress(rest)
            rest = frame.unused_data if frame.eof else b""
    if not frame.eof:
        raise EOFError("it ends too early")


def _copy(blocks: Iterator[bytes], copy: BinaryIO, limit: Limit, label: str) -> None:
    size = 0
    for block in blocks:
        size += len(block)
        if size > min(limit.bytes, TABLE.bytes):
            raise InputError(
                f"{label}: more than {megabytes(min(limit.bytes, TABLE.bytes))} when unpacked, too much for a table of "
                "this size; unpack it yourself if you trust it."
            )
        copy.write(block)


def from_stdin(folder: Path) -> Path:
    """What is piped in, as a file; it can be read once."""
    if sys.stdin is None or sys.stdin.closed or sys.stdin.isatty():
        raise InputError("stdin: nothing is piped in; name a file instead of -.")
    if any(sys.stdin is one for one in _READ):
        raise InputError("stdin: it was read already, for the first -; write it to a file, and name that twice.")
    _READ[:] = [sys.stdin]
    target = folder / "stdin"
    blocks = iter(lambda: sys.stdin.buffer.read(_COPIED_AT_ONCE), b"")
    with target.open("wb") as copy:
        _copy(blocks, copy, TABLE, "stdin")
    return target


def temporary() -> Path:
    """A folder for copies."""
    import tempfile

    return Path(tempfile.mkdtemp(prefix="assay-"))


def discard(folder: Path) -> None:
    shutil.rmtree(folder, ignore_errors=True)


# ---------------------------------------------------------------------------------------------------------------- JSON


class Records(MemorySource):
    """Rows that were in one document: a JSON array, or a sheet of a workbook."""

    def __init__(self, columns: dict[str, list[Any]], label: str, places: Sequence[str] | None = None) -> None:
        super().__init__(columns, label)
        self._places = places

    def places(self, rows: Sequence[int]) -> list[str]:
        return super().places(rows) if self._places is None else [self._places[row - 1] for row in rows]


def records_of(path: Path, label: str) -> Records:
    """A JSON array of objects, or an object of columns and data (MLflow, W&B, pandas)."""
    found = read_json(path, label=label)
    if isinstance(found, list):
        return Records(_by_name(found, label), label)
    names, rows = found.get("columns"), found.get("data")
    if not _is_list_of(names, str) or not _is_list_of(rows, list):
        raise InputError(f"{label}: 'columns' must be a list of names and 'data' a list of rows; write it again.")
    for at, row in enumerate(rows, start=1):
        if len(row) != len(names):
            raise InputError(f"{label}, row {at}: {len(row)} values for {len(names)} columns; write it again.")
    return Records({name: [_plain(row[i]) for row in rows] for i, name in _named_once(names, label)}, label)


def _is_list_of(found: object, kind: type) -> bool:
    return isinstance(found, list) and all(isinstance(one, kind) for one in found)


def _named_once(names: Sequence[str], label: str) -> list[tuple[int, str]]:
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise InputError(f"{label}: {names.count(twice)} columns are called {twice!r}; rename all but one.")
    return list(enumerate(names))


def _by_name(rows: list[Any], label: str) -> dict[str, list[Any]]:
    """The fields of all objects as columns; those of objects within them as ``outer.inner``."""
    columns: dict[str, list[Any]] = {}
    for at, row in enumerate(rows):
        if not isinstance(row, dict):
            text = json.dumps(row)
            raise InputError(f"{label}, row {at + 1}: not an object but {shown(text)}; write an array of objects.")
        for name, value in _fields(row):
            column = columns.setdefault(name, [])
            column.extend([None] * (at - len(column)))
            column[at:] = [value]
    if not columns:
        what = "objects without any fields" if rows else "an array without objects"
        raise InputError(f"{label}: {what}; check what should have written them.")
    return {name: values + [None] * (len(rows) - len(values)) for name, values in columns.items()}


def _fields(row: dict[str, Any], prefix: str = "", depth: int = 0) -> Iterator[tuple[str, Any]]:
    for name, value in row.items():
        if isinstance(value, dict) and value and depth < DEEPEST:
            yield from _fields(value, f"{prefix}{name}.", depth + 1)
        else:
            yield f"{prefix}{name}", _plain(value)


def _plain(value: Any) -> Any:
    """A list or an object as text: no column of ours holds one."""
    return json.dumps(value, ensure_ascii=False) if isinstance(value, list | dict) else value


# ----------------------------------------------------------------------------------------------------------- workbooks


def is_workbook(path: Path) -> bool:
    try:
        with zipfile.ZipFile(path) as archive:
            return "xl/workbook.xml" in archive.namelist()
    except (OSError, ValueError, zipfile.BadZipFile):
        return False


def workbook_of(path: Path, label: str) -> Records:
    """The only sheet of an Excel workbook that has any rows; its first row names the columns."""
    try:
        from openpyxl import load_workbook  # late: an extra
    except ImportError as error:
        raise InputError(
            f"{label}: an Excel workbook needs openpyxl; pip install 'assay-eval[xlsx]', or save the sheet as CSV."
        ) from error
    _check_size(path, label)
    try:
        with warnings.catch_warnings(action="ignore"):  # of styles and extensions, which hold no numbers
            book = load_workbook(path, read_only=True, data_only=True)
            sheets = {sheet.title: _filled(sheet.iter_rows(values_only=True)) for sheet in book.worksheets}
            book.close()
    except _DAMAGED as error:
        raise InputError(f"{label}: the workbook is damaged ({error}); write or copy it again.") from error
    return _sheet({name: rows for name, rows in sheets.items() if rows}, label)


#: What a damaged workbook makes openpyxl raise; a fault of XML is a SyntaxError.
_DAMAGED = (OSError, EOFError, LookupError, ValueError, TypeError, AttributeError, SyntaxError, RuntimeError)
_DAMAGED += (zipfile.BadZipFile, zlib.error, NotImplementedError, OverflowError)  # type: ignore[assignment]
_Row = tuple[int, tuple[Any, ...]]  # with its number in the sheet


def _check_size(path: Path, label: str) -> None:
    with zipfile.ZipFile(path) as archive:
        size = sum(member.file_size for member in archive.infolist())
    if size > DOCUMENT.bytes:
        raise InputError(
            f"{label}: {megabytes(size)} when unpacked, and a workbook may have at most {megabytes(DOCUMENT.bytes)}; "
            "save the sheet as CSV."
        )


def _filled(rows: Iterator[tuple[Any, ...]]) -> list[_Row]:
    return [(at, row) for at, row in enumerate(rows, start=1) if any(cell not in (None, "") for cell in row)]


def _sheet(sheets: dict[str, list[_Row]], label: str) -> Records:
    if not sheets:
        raise InputError(f"{label}: a workbook without rows; check what should have written them.")
    if len(sheets) > 1:
        raise InputError(f"{label}: {len(sheets)} sheets with rows ({listed(sheets)}); save the one you mean as CSV.")
    ((_, header), *rows), name = next(iter(sheets.values())), next(iter(sheets))
    names = ["" if cell is None else str(cell).strip() for cell in header]
    places = [f"sheet {name!r}, row {at}" for at, _ in rows]
    wanted = [(i, one) for i, one in _named_once([one or f"\0{i}" for i, one in enumerate(names)], label) if names[i]]
    return Records({one: [row[i] if i < len(row) else None for _, row in rows] for i, one in wanted}, label, places)


# ------------------------------------------------------------------------------------------------ patterns and folders


def matching(path: Path) -> list[Path]:
    """The files that a pattern such as results/*.csv means; the path itself where it is none."""
    if not any(sign in str(path) for sign in _WILD):
        return [path]
    start = Path(path.anchor) if path.is_absolute() else Path()
    try:
        found = sorted(start.glob(str(path.relative_to(path.anchor)) if path.is_absolute() else str(path)))
    except (ValueError, OSError, NotImplementedError):
        found = []
    return [one for one in found if not one.name.startswith(".")] or [path]


def tables_in(folder: Path) -> list[Path]:
    """The files below a folder that may be tables, by their extensions, in order."""
    found: list[Path] = []
    for path in sorted(folder.rglob("*")):
        hidden = any(part.startswith(".") for part in path.relative_to(folder).parts)
        if unpacked_name(str(path)).suffix.lower() in _SUFFIXES and not hidden and path.is_file():
            found.append(path)
        if len(found) > _MOST_FILES:
            raise InputError(f"{folder}: more than {_MOST_FILES:,} tables; name those you mean with a pattern.")
    return found


def unpacked_name(path: str) -> Path:
    """The path without the extension of what it is packed with."""
    return Path(path).with_suffix("") if Path(path).suffix.lower() in _PACKED else Path(path)


def plain_stem(path: str) -> str:
    """The name of a file without its extensions.

    >>> plain_stem("runs/base.csv.gz"), plain_stem("gpt-4.1.json")
    ('base', 'gpt-4.1')
    """
    return unpacked_name(path).stem
