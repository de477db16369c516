"""Parse the benchmark's files: fields of its JSON, and percentages in a model's answer.

Percentages are found by the benchmark's rules, in the benchmark's order.
"""

import json
import re
from math import isfinite
from pathlib import Path
from typing import Any

from assay.errors import InputError
from assay.files.reading import head_of

_FIGURE = r"(\d+(?:\.\d*)?)\s*%?"
_ENDS_IN_FIGURE = re.compile(_FIGURE + r"\s*$")
_STARTS_WITH_FIGURE = re.compile(r"\s*" + _FIGURE)
_LETTER = re.compile(r"(?<![^\W_])[a-z]\.(?=\s*\S)", re.IGNORECASE)  # a. b. c. before an option
_LETTERED = re.compile(r"[\"']?\b([a-z])\b[\"']?\s*[:=]\s*" + _FIGURE, re.IGNORECASE)
_SIGNED = re.compile(r"\s*([+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?)", re.IGNORECASE)
_MARK = "distribution:"
_NAMES = {dict: "an object", list: "a list", str: "a text", int: "a number", float: "a number"}


def percentages(text: str) -> list[float] | None:
    """The numbers of an answer: after DISTRIBUTION:, in brackets, comma-separated, labelled, or by letter.

    >>> percentages("I would say [30.0, 53.1%, 16.9].")
    [30.0, 53.1, 16.9]
    """
    return _marked(text) or _bracketed(text) or _in_a_line(text) or _labelled(text) or _by_letters(text)


def _marked(text: str) -> list[float] | None:
    before, mark, after = text.lower().partition(_MARK)
    rest = text[len(before) + len(mark) :].lstrip()
    if not mark:
        return None
    return _bracketed(rest) if rest.startswith("[") else _marked(after)


def _bracketed(text: str) -> list[float] | None:
    """The first brackets that hold anything."""
    for part in text.split("[")[1:]:
        inside, bracket, _ = part.partition("]")
        if bracket and inside:
            return _separated(inside) or None
    return None


def keyed_percentages(text: str, key: str) -> list[float] | None:
    """The percentages of one question in an answer to several, ``{"Q1": [...], "Q2": [...]}``.

    >>> keyed_percentages('{"Q1": [60, 40], "Q2": [10, 90]}', "Q2")
    [10.0, 90.0]
    """
    low, high = text.find("{"), text.rfind("}")
    if not 0 <= low < high:
        return percentages(text)
    try:
        value = json.loads(text[low : high + 1]).get(key)
    except (ValueError, RecursionError):  # also an integer of thousands of digits
        return _by_hand(text, key) or percentages(text)
    return finite_numbers(value) or percentages(text)


def _by_hand(text: str, key: str) -> list[float] | None:
    """The list after a key in malformed JSON; every entry must be a number."""
    rest = text.partition(f'"{key}"')[2].lstrip()
    if not rest.startswith(":") or not rest[1:].lstrip().startswith("["):
        return None
    inside = rest.partition("[")[2].partition("]")[0]
    numbers = _separated(inside)
    return numbers if len(numbers) == inside.count(",") + 1 else None


def _separated(text: str) -> list[float]:
    found = (_SIGNED.match(part.replace("%", "")) for part in text.split(","))
    return [float(number[1]) for number in found if number]


def _in_a_line(text: str) -> list[float] | None:
    """The numbers of the first line with at least two, separated by commas or semicolons."""
    for line in text.split("\n"):
        *before, last = line.replace(";", ",").split(",")
        found = [_ENDS_IN_FIGURE.search(piece) for piece in before]
        whole = _STARTS_WITH_FIGURE.fullmatch(last.rstrip())
        numbers = [float(figure[1]) for figure in (*found, whole if before else None) if figure]
        if len(numbers) >= 2:
            return numbers
    return None


def _labelled(text: str) -> list[float] | None:
    """A. Option: 45%"""
    numbers = []
    for label in _LETTER.split(text)[1:]:
        figure = _STARTS_WITH_FIGURE.match(label.partition(":")[2])
        if figure:
            numbers.append(float(figure[1]))
    return numbers if len(numbers) >= 2 else None


def _by_letters(text: str) -> list[float] | None:
    found = {letter.lower(): float(number) for letter, number in _LETTERED.findall(text)}
    letters = [chr(ord("a") + i) for i in range(len(found))]
    return [found[letter] for letter in letters] if len(found) >= 2 and set(found) == set(letters) else None


def shares_of(numbers: list[float]) -> list[float] | None:
    """Normalize to shares that sum to 1; ``None`` if impossible. All zeros become equal shares, as in the benchmark."""
    if not numbers or not all(isfinite(v) and v >= 0 for v in numbers):
        return None
    total = sum(numbers)
    if not isfinite(total):
        return None
    return [v / total for v in numbers] if total > 0 else [1 / len(numbers)] * len(numbers)


def is_json(path: Path) -> bool:
    """Whether a file is one JSON object rather than a table, whose lines may be objects too."""
    if path.suffix.lower() in (".csv", ".tsv", ".parquet", ".pq", ".jsonl", ".ndjson"):
        return False
    return head_of(path).removeprefix(b"\xef\xbb\xbf").lstrip().startswith((b"{", b"["))


def field(data: Any, name: str, kind: type | tuple[type, ...], where: str) -> Any:
    """A required field of the right type."""
    if not isinstance(data, dict) or name not in data:
        raise InputError(f"{where}: no field {name!r}; check that this is a file of the survey benchmark.")
    value = data[name]
    if not isinstance(value, kind) or isinstance(value, bool):
        raise InputError(f"{where}: {name!r} must be {_named(kind)}, but got {type(value).__name__}.")
    return value


def optional(data: dict[str, Any], name: str, kind: type, where: str) -> Any:
    """An optional field of the right type; empty if absent."""
    value = data.get(name)
    if value is None:
        return kind()
    return field(data, name, kind, where)


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
