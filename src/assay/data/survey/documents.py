"""JSON files of a survey benchmark: read whole, and what is wrong with one is said in a line."""

from pathlib import Path
from typing import Any

from assay.errors import InputError
from assay.files.reading import head_of


def is_json(path: Path) -> bool:
    """Whether a file is one JSON object rather than a table, whose lines may be objects too."""
    if path.suffix.lower() in (".csv", ".tsv", ".parquet", ".pq", ".jsonl", ".ndjson"):
        return False
    return head_of(path).removeprefix(b"\xef\xbb\xbf").lstrip().startswith((b"{", b"["))


def field(data: Any, name: str, kind: type | tuple[type, ...], where: str) -> Any:
    """A field that must be there, of the right type."""
    if not isinstance(data, dict) or name not in data:
        raise InputError(f"{where}: no field {name!r}; check that this is a file of the survey benchmark.")
    value = data[name]
    if not isinstance(value, kind) or isinstance(value, bool):
        raise InputError(f"{where}: {name!r} must be {_named(kind)}, but got {type(value).__name__}.")
    return value


def optional(data: dict[str, Any], name: str, kind: type, where: str) -> Any:
    """A field of the right type, or an empty one where there is none."""
    value = data.get(name)
    if value is None:
        return kind()
    return field(data, name, kind, where)


_NAMES = {dict: "an object", list: "a list", str: "a text", int: "a number", float: "a number"}


def _named(kind: type | tuple[type, ...]) -> str:
    kinds = kind if isinstance(kind, tuple) else (kind,)
    return " or ".join(dict.fromkeys(_NAMES[one] for one in kinds))


def finite_numbers(values: Any) -> list[float] | None:
    """A list of finite numbers, or ``None``."""
    if not isinstance(values, list):
        return None
    if any(isinstance(v, bool) or not isinstance(v, int | float) for v in values):
        return None
    try:
        numbers = [float(v) for v in values]
    except OverflowError:
        return None
    return numbers if all(abs(v) < float("inf") for v in numbers) else None  # NaN is not below anything
