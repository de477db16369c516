"""Which instances were tried: predictions, a report, or a plain list of ids."""

from pathlib import Path
from typing import Any

from assay.data.readers.harness import read_lines
from assay.errors import InputError
from assay.files.reading import DOCUMENT, parse_json, read_bytes
from assay.names import one_line

_NEXT = "name predictions (with instance_id), a report (with submitted_ids), or a list of ids, one per line"


def read_ids(path: Path) -> tuple[str, ...]:
    """The instance ids in a file, each once."""
    label = one_line(str(path))
    data = read_bytes(path, DOCUMENT, label=label)
    start = data.removeprefix(b"\xef\xbb\xbf").lstrip()
    if path.suffix.lower() in (".jsonl", ".ndjson"):
        found = [_id(line, place) for place, line in read_lines(path)]
    elif start.startswith((b"{", b"[")):
        found = _of_document(parse_json(data, label), label)
    else:
        found = _of_text(data, label)
    if not found:
        raise InputError(f"{label}: no instance ids; {_NEXT}.")
    return tuple(dict.fromkeys(found))


def _of_document(found: Any, label: str) -> list[str]:
    if isinstance(found, list):
        return [_id(one, f"{label}, entry {place}") for place, one in enumerate(found, start=1)]
    for name in ("submitted_ids", "instance_ids", "ids"):
        if isinstance(found.get(name), list):
            return [_id(one, f"{label}, {name}, entry {place}") for place, one in enumerate(found[name], start=1)]
    if all("__" in name for name in found):  # predictions by instance
        return list(found)
    raise InputError(f"{label}: no instance ids; {_NEXT}.")


def _of_text(data: bytes, label: str) -> list[str]:
    try:
        lines = data.decode("utf-8-sig").splitlines()
    except UnicodeDecodeError as error:
        raise InputError(f"{label}: not UTF-8 text; {_NEXT}.") from error
    return [_id(line.strip(), f"{label}, line {place}") for place, line in enumerate(lines, start=1) if line.strip()]


def _id(found: Any, place: str) -> str:
    told = found.get("instance_id") if isinstance(found, dict) else found
    if not isinstance(told, str) or "__" not in told or any(sign.isspace() for sign in told):
        raise InputError(f"{place}: no instance id, such as django__django-11206; {_NEXT}.")
    return told
