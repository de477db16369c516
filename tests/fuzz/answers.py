"""What an answer must be whatever the file: JSON without NaN, and numbers that do not contradict each other."""

import json
from collections.abc import Iterator
from math import isclose
from typing import Any

#: Keys of p-values, and of counts that cannot exceed the rows of the file.
_P = ("p_value", "p_adjusted", "set_p_value", "p")
_COUNTS = ("n_pairs", "n_units", "n_complete")


def faults(text: str, rows: int | None) -> Iterator[str]:
    """What is wrong with an answer."""
    try:
        found = json.loads(text, parse_constant=_not_finite)
    except ValueError as error:
        yield f"not JSON: {error}"
        return
    for path, record in _records(found):
        yield from (f"{path}: {what}" for what in _record_faults(record, rows))


def _not_finite(name: str) -> float:
    raise ValueError(f"{name} in the answer")


def _records(found: Any, path: str = "") -> Iterator[tuple[str, dict[str, Any]]]:
    if isinstance(found, dict):
        yield path, found
        for name, value in found.items():
            yield from _records(value, f"{path}.{name}")
    elif isinstance(found, list):
        for at, value in enumerate(found):
            yield from _records(value, f"{path}[{at}]")


def _record_faults(record: dict[str, Any], rows: int | None) -> Iterator[str]:
    for name in _P:
        value = record.get(name)
        if isinstance(value, int | float) and not 0 < value <= 1:
            yield f"{name} is {value}"
    for name in _COUNTS:
        value = record.get(name)
        if isinstance(value, int) and not 0 <= value <= (rows or value):
            yield f"{name} is {value}, of {rows} rows"
    yield from _interval_faults(record)


def _interval_faults(record: dict[str, Any]) -> Iterator[str]:
    limits, value = record.get("interval"), record.get("value")
    if not isinstance(limits, dict):
        return
    low, high = limits.get("low"), limits.get("high")
    if not isinstance(low, int | float) or not isinstance(high, int | float):
        return
    if low > high:
        yield f"the interval {low} to {high} is turned round"
    if isinstance(value, int | float) and not (low <= value <= high or _close(value, low) or _close(value, high)):
        yield f"{value} is outside its interval {low} to {high}"


def _close(a: float, b: float) -> bool:
    return isclose(a, b, rel_tol=1e-9, abs_tol=1e-12)
