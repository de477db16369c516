"""JSON and JSONL files of other programs, read whole or line by line, with what is wrong said in one line."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from assay.data.readers.source import shown
from assay.errors import InputError

_MARK = b"\xef\xbb\xbf"


def read_json(path: Path) -> Any:
    """A whole JSON file; ``NaN`` is read, as Python programs write it."""
    return parsed(read_bytes(path), str(path))


def read_bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise cannot_open(path, error) from error


def parsed(data: bytes, place: str) -> Any:
    """JSON text, or an error that says where it breaks."""
    try:
        return json.loads(data.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        raise InputError(
            f"{place}: byte 0x{error.object[error.start]:02x} is not UTF-8; write or copy it again."
        ) from error
    except RecursionError as error:
        raise InputError(f"{place}: nested too deeply; write or copy it again.") from error
    except ValueError as error:
        what = "ends too early" if _cut(error) else "is damaged"
        raise InputError(f"{place}: the JSON {what} ({error}); write or copy it again.") from error


def _cut(error: ValueError) -> bool:
    return isinstance(error, json.JSONDecodeError) and error.pos >= len(error.doc.rstrip()) - 1


def read_lines(path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """The objects of a JSONL file, each with its place; blank lines do not count."""
    row = 0
    try:
        with path.open("rb") as file:
            for line in file:
                if line.removeprefix(_MARK).strip():
                    row += 1
                    yield f"{path}, row {row}", _record(line, f"{path}, row {row}")
    except OSError as error:
        raise cannot_open(path, error) from error
    if not row:
        raise InputError(f"{path}: the file is empty; check what should have written it.")


def _record(line: bytes, place: str) -> dict[str, Any]:
    found = parsed(line, place)
    if not isinstance(found, dict):
        raise InputError(f"{place}: JSON, but not an object: {shown(line.decode().strip())}; write it again.")
    return found


def cannot_open(path: Path, error: OSError) -> InputError:
    return InputError(f"{path}: cannot be opened ({error.strerror}); check the path and its permissions.")
