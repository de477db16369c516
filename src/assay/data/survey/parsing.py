"""Percentages out of a model's answer, by the benchmark's rules in the benchmark's order."""

import json
import re
from math import isfinite
from typing import Any

_MARKED = re.compile(r"DISTRIBUTION:\s*\[([^\]]+)\]", re.IGNORECASE)
_BRACKETS = re.compile(r"\[([^\]]+)\]")
_LISTED = re.compile(r"(\d+\.?\d*)\s*%?\s*[,;]\s*")
_LAST = re.compile(r"[,;]\s*(\d+\.?\d*)\s*%?\s*$")
_LABELLED = re.compile(r"[a-z]\.\s*[^:]+:\s*(\d+\.?\d*)\s*%?", re.IGNORECASE)
_LETTERED = re.compile(r"[\"']?\b([a-z])\b[\"']?\s*[:=]\s*(\d+\.?\d*)\s*%?", re.IGNORECASE)
_NUMBER = re.compile(r"\s*([+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)")
_OBJECT = re.compile(r"\{.*\}", re.DOTALL)


def percentages(text: str) -> list[float] | None:
    """The numbers of an answer: after DISTRIBUTION:, in the first brackets, in a line of commas, labelled, by letters.

    >>> percentages("I would say [30.0, 53.1%, 16.9].")
    [30.0, 53.1, 16.9]
    """
    for pattern in (_MARKED, _BRACKETS):
        found = pattern.search(text)
        numbers = _separated(found[1]) if found else []
        if numbers:
            return numbers
    return _in_a_line(text) or _labelled(text) or _by_letters(text)


def keyed_percentages(text: str, key: str) -> list[float] | None:
    """Those of one question in the answer to several, ``{"Q1": [...], "Q2": [...]}``.

    >>> keyed_percentages('{"Q1": [60, 40], "Q2": [10, 90]}', "Q2")
    [10.0, 90.0]
    """
    found = _OBJECT.search(text)
    if found is None:
        return percentages(text)
    try:
        value = json.loads(found[0]).get(key)
    except (json.JSONDecodeError, RecursionError):
        by_hand = re.search(rf'"{re.escape(key)}"\s*:\s*\[([^\]]+)\]', text)
        numbers = _separated(by_hand[1]) if by_hand else []
        return numbers if by_hand and len(numbers) == by_hand[1].count(",") + 1 else percentages(text)
    return _numbers(value) or percentages(text)


def _numbers(value: Any) -> list[float] | None:
    if not isinstance(value, list) or any(isinstance(v, bool) or not isinstance(v, int | float) for v in value):
        return None
    return [float(v) for v in value]


def _separated(text: str) -> list[float]:
    found = (_NUMBER.match(part.replace("%", "")) for part in text.split(","))
    return [float(number[1]) for number in found if number]


def _in_a_line(text: str) -> list[float] | None:
    for line in text.split("\n"):
        numbers = [float(number) for number in _LISTED.findall(line)]
        last = _LAST.search(line)
        if last:
            numbers.append(float(last[1]))
        if len(numbers) >= 2:
            return numbers
    return None


def _labelled(text: str) -> list[float] | None:
    numbers = [float(number) for number in _LABELLED.findall(text)]
    return numbers if len(numbers) >= 2 else None


def _by_letters(text: str) -> list[float] | None:
    found = {letter.lower(): float(number) for letter, number in _LETTERED.findall(text)}
    letters = [chr(ord("a") + i) for i in range(len(found))]
    return [found[letter] for letter in letters] if len(found) >= 2 and set(found) == set(letters) else None


def shares_of(numbers: list[float]) -> list[float] | None:
    """Shares that sum to 1, ``None`` if none can be meant; all zeros are equal shares, as the benchmark has it."""
    if not numbers or not all(isfinite(v) and v >= 0 for v in numbers):
        return None
    total = sum(numbers)
    if not isfinite(total):
        return None
    return [v / total for v in numbers] if total > 0 else [1 / len(numbers)] * len(numbers)
