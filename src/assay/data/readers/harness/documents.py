"""JSON and JSONL files of other programs, read whole or line by line, with what is wrong said in one line."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from assay.data.json_text import parse_json
from assay.data.opening import DOCUMENT, LINES, cannot_open, megabytes, opened
from assay.errors import InputError
from assay.names import one_line, shown

_MARK = b"\xef\xbb\xbf"


def read_lines(path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """The objects of a JSONL file, each with the line it stands in; blank lines are passed over."""
    empty, label = True, one_line(str(path))
    with opened(path, LINES) as file:
        try:
            for number, line in enumerate(iter(lambda: file.readline(DOCUMENT.bytes + 1), b""), start=1):
                if line.removeprefix(_MARK).strip():
                    empty = False
                    yield f"{label}, line {number}", _record(line, f"{label}, line {number}")
        except OSError as error:
            raise cannot_open(path, error) from error
    if empty:
        raise InputError(f"{label}: the file is empty; check what should have written it.")


def _record(line: bytes, place: str) -> dict[str, Any]:
    if len(line) > DOCUMENT.bytes:
        raise InputError(f"{place}: a line may have at most {megabytes(DOCUMENT.bytes)}; write one object per line.")
    found = parse_json(line, place)
    if not isinstance(found, dict):
        raise InputError(f"{place}: JSON, but not an object: {shown(line.decode().strip())}; write it again.")
    return found
