"""A first look at a file: its first bytes, the keys of its first object, and what they hold of its structure."""

import json
import re
from dataclasses import dataclass
from functools import cached_property
from json import JSONDecodeError
from pathlib import Path
from typing import Any

from assay.errors import InputError
from assay.files.reading import DEEPEST, TABLE, cannot_open, opened

# A text that the head cuts off is one token too: else every quotation mark in it would be tried as the start of one.
_TOKENS = re.compile(r'"(?:[^"\\]++|\\.)*+(?:"|\\?\Z)|[][{}:]', re.DOTALL)
_STEPS = re.compile(r'"(?:[^"\\]++|\\.)*+(?:"|\\?\Z)|[][{},:]|[^][{},:"\s]+', re.DOTALL)
_MOST_STEPS = 20_000  # enough to see how a file is built


@dataclass(frozen=True)
class FirstLook:
    """The beginning of a file, as formats are told apart by it."""

    path: Path
    head: bytes  # the whole file, if it is short

    @cached_property
    def text(self) -> str:
        return self.head.decode("utf-8-sig", errors="replace").lstrip()

    @property
    def is_json(self) -> bool:
        return self.text.startswith(("{", "["))

    @cached_property
    def _keys(self) -> tuple[set[str], bool]:
        return first_keys(self.text) if self.is_json else (set(), True)

    @property
    def keys(self) -> set[str]:
        """Keys of the first object, which may be inside a list or be the first line."""
        return self._keys[0]

    @property
    def whole(self) -> bool:
        """Whether the first object ends within these bytes."""
        return self._keys[1]

    @cached_property
    def header(self) -> tuple[str, ...]:
        """The columns of delimited text; none of JSON, and of what is no text."""
        if self.is_json or not self.text.strip() or b"\0" in self.head:
            return ()
        from assay.data.readers.csv_and_jsonl import Delimited  # late: most files are JSON

        try:
            return Delimited(self.path, str(self.path), self.head).columns
        except InputError:
            return ()

    @cached_property
    def start(self) -> Any:
        """The first JSON value as far as these bytes go; what is cut off is left out. ``None`` if it is not JSON."""
        return json_start(self.text) if self.is_json else None

    @cached_property
    def record(self) -> dict[str, Any]:
        """The first object: the value itself, the first of a list, or the first line; else empty."""
        found = self.start
        if isinstance(found, list) and found:
            found = found[0]
        return found if isinstance(found, dict) else {}


def look_at(path: Path, size: int = 1 << 16) -> FirstLook:
    """A first look at a file."""
    try:
        with opened(path, TABLE) as file:
            return FirstLook(path, file.read(size))
    except OSError as error:
        raise cannot_open(path, error) from error


def first_keys(text: str) -> tuple[set[str], bool]:
    """The keys of the first object (which may be inside a list), and whether the text holds all of it.

    >>> first_keys('[{"a": {"b": 1}, "c": [{"d": 2}]}, {"e": 3}]') == ({"a", "c"}, True)
    True
    """
    level = 2 if text.lstrip().startswith("[") else 1
    depth, last, keys = 0, "", set[str]()
    for token in _TOKENS.finditer(text):
        sign = token[0]
        if sign in "{[":
            depth += 1
            if depth > DEEPEST:
                return keys, True  # no reader would take it
        elif sign in "}]":
            depth -= 1
            if depth < level:
                return keys, True
        elif sign == ":" and depth == level:
            keys.add(last)
        last = sign[1:-1] if sign[0] == '"' else ""
    return keys, False


def json_start(text: str) -> Any:
    """The first JSON value of a text that may be cut off anywhere: what is there of it.

    >>> json_start('{"eval": {"a/1": [{"status": "pass"}, {"stat')
    {'eval': {'a/1': [{'status': 'pass'}, {}]}}
    """
    stack: list[dict[str, Any] | list[Any]] = []
    keys: list[str | None] = []
    root: Any = None
    for count, step in enumerate(_STEPS.finditer(text)):
        sign = step[0]
        if count > _MOST_STEPS or len(stack) > DEEPEST:
            break
        if sign in "{[":
            made: dict[str, Any] | list[Any] = {} if sign == "{" else []
            if not stack:
                root = made
            else:
                _put(stack[-1], keys, made)
            stack.append(made)
            keys.append(None)
        elif sign in "}]":
            stack.pop()
            keys.pop()
            if not stack:
                break
        elif sign not in ",:":
            _value(stack, keys, sign)
    return root


def _value(stack: list[dict[str, Any] | list[Any]], keys: list[str | None], sign: str) -> None:
    """A text, number or word: the key of an object that waits for one, else a value."""
    try:
        found = json.loads(sign)
    except (JSONDecodeError, RecursionError, ValueError):
        return  # cut off, or no JSON: the reader will say so
    if stack and isinstance(stack[-1], dict) and keys[-1] is None:
        keys[-1] = str(found)
    elif stack:
        _put(stack[-1], keys, found)


def _put(into: dict[str, Any] | list[Any], keys: list[str | None], value: Any) -> None:
    if isinstance(into, list):
        into.append(value)
    elif keys[-1] is not None:
        into[keys[-1]], keys[-1] = value, None
