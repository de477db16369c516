"""JSON lines read quickly: the fields of an object stay as they are written until one is asked for.

msgspec skips what is not asked for at several times the speed of ``json``. It passes over a key that is there twice,
and knows no NaN, so a line that is not plainly written (or not JSON) is left to the slow way, which says what is wrong.
"""

import json
from array import array
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, overload

import msgspec

from assay.data.readers.harness import record_in
from assay.errors import InputError
from assay.files.reading import DOCUMENT, LINES, cannot_open, megabytes, opened
from assay.names import one_line

Raw = msgspec.Raw
Fields = dict[str, Raw]
Row = tuple[Raw, ...]  # the values of a line, in the order of its layout

_BLOCK = 1 << 22
_MARK = b"\xef\xbb\xbf"
_SHORT = 8  # bytes of a value that is likely to come again: 0.0, 1.0, true
_MOST_KNOWN = 10_000
#: Around each field of an object, as programs write them: ``{"a": 1, "b": 2}`` and ``{"a":1,"b":2}``.
_SPACED, _TIGHT = 6, 4

_decoded = msgspec.json.Decoder(Fields).decode
_value = msgspec.json.Decoder().decode
_values = msgspec.structs.astuple
_MOST_LAYOUTS = 8  # that are tried before a line is looked at anew


def numbered_lines(path: Path) -> Iterator[tuple[int, bytes]]:
    """The lines of a file that are not blank, with their numbers from 1; a file without any is refused."""
    empty = True
    for number, line in enumerate(_lines(path), start=1):
        plain = line.removeprefix(_MARK).strip() if number == 1 else line.strip()
        if plain:
            empty = False
            yield number, plain
    if empty:
        raise InputError(f"{one_line(str(path))}: the file is empty; check what should have written it.")


def _lines(path: Path) -> Iterator[bytes]:
    number, rest = 0, [b""]
    with opened(path, LINES) as file:
        try:
            while block := file.read(_BLOCK):
                first, *more = block.split(b"\n")
                rest.append(first)
                if not more:
                    _check_length(path, number + 1, sum(map(len, rest)))
                    continue
                yield b"".join(rest)
                yield from more[:-1]
                number, rest = number + len(more), [more[-1]]
        except OSError as error:
            raise cannot_open(path, error) from error
    yield b"".join(rest)


def _check_length(path: Path, number: int, size: int) -> None:
    if size > DOCUMENT.bytes:
        most = megabytes(DOCUMENT.bytes)
        place = f"{one_line(str(path))}, line {number}"
        raise InputError(f"{place}: a line may have at most {most}; write one object per line.")


def fields_in(line: bytes) -> Fields | None:
    """The fields of an object as they are written; ``None`` where only the slow way can tell (`slow_record`).

    Whether a key is there twice shows in the length: what was decoded must make up the whole line.

    >>> {name: bytes(value) for name, value in (fields_in(b'{"item": "q1", "score": 1.0}') or {}).items()}
    {'item': b'"q1"', 'score': b'1.0'}
    >>> fields_in(b'{"item": "q1", "item": "q2"}') is None
    True
    """
    try:
        found = _decoded(line)
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        return None
    first = next(iter(found), "")
    spaced = line[len(first) + 4 : len(first) + 5] == b" "  # after the colon of the first field
    around = _SPACED * len(found) if spaced else _TIGHT * len(found) + 1
    return found if sum(map(len, found)) + sum(map(len, found.values())) + around == len(line) else None


def slow_record(path: Path, number: int, line: bytes) -> dict[str, Any]:
    """The object of a line by the strict parser, or what is wrong with the line."""
    return record_in(line, place_of_line(path, number))


def place_of_line(path: Path, number: int) -> str:
    return f"{one_line(str(path))}, line {number}"


@dataclass(frozen=True, eq=False, slots=True)
class Layout:
    """The fields of an object in their order, and a decoder of objects that have just these."""

    places: dict[str, int]
    decode: Callable[[bytes], Any]
    length: int  # of all that is around the values

    @classmethod
    def of(cls, names: Sequence[str], length: int) -> "Layout":
        inner = [f"f{place}" for place in range(len(names))]
        made = msgspec.defstruct(
            "Row",
            [(name, Raw) for name in inner],
            rename=dict(zip(inner, names, strict=True)),
            forbid_unknown_fields=True,
            gc=False,
        )
        return cls({name: place for place, name in enumerate(names)}, msgspec.json.Decoder(made).decode, length)


class Layouts:
    """Reads objects as values in the order of their layout; layouts are learned from the lines themselves.

    >>> layouts = Layouts()
    >>> layout, row = layouts(b'{"item": "q1", "score": 1.0}')
    >>> bytes(row[layout.places["score"]])
    b'1.0'
    """

    def __init__(self) -> None:
        self._known: list[Layout] = []

    def __call__(self, line: bytes) -> tuple[Layout, Row] | None:
        """The layout of a line and its values; ``None`` where only the slow way can tell."""
        for layout in self._known:
            try:
                row = _values(layout.decode(line))
            except (msgspec.MsgspecError, UnicodeError, RecursionError):
                continue
            if sum(map(len, row)) + layout.length == len(line):
                return layout, row
        return self._learned(line)

    def _learned(self, line: bytes) -> tuple[Layout, Row] | None:
        fields = fields_in(line)
        if fields is None:
            return None
        layout = Layout.of(list(fields), len(line) - sum(map(len, fields.values())))
        self._known = [layout, *self._known[: _MOST_LAYOUTS - 1]]
        return layout, tuple(fields.values())


def plain_text(raw: Raw) -> str | None:
    """A text without escapes, or a whole number as it is written; ``None`` for anything else.

    >>> plain_text(Raw(b'"q1"')), plain_text(Raw(b"17")), plain_text(Raw(b"null"))
    ('q1', '17', None)
    """
    data = bytes(raw)
    if data.isdigit():
        return data.decode()
    if data[:1] != b'"' or b"\\" in data:
        return None
    try:
        return data[1:-1].decode()
    except UnicodeDecodeError:
        return None


class Values:
    """Values of fields; short ones that come again are the same object, which saves memory."""

    def __init__(self) -> None:
        self._known: dict[bytes, Any] = {}

    def __call__(self, raw: Raw) -> Any:
        """The value; one that msgspec does not take goes through ``json``."""
        key = bytes(raw)
        if key in self._known:
            return self._known[key]
        value = _any(raw)
        if len(key) <= _SHORT and len(self._known) < _MOST_KNOWN:
            self._known[key] = value
        return value


def _any(raw: Raw) -> Any:
    try:
        return _value(raw)
    except (msgspec.MsgspecError, UnicodeError):
        return json.loads(bytes(raw))


class LinePlaces(Sequence[str]):
    """Where rows stand, as lines of a file; written out when a message needs one."""

    def __init__(self, label: str, numbers: "array[int]") -> None:
        self.label, self.numbers = label, numbers

    def __len__(self) -> int:
        return len(self.numbers)

    @overload
    def __getitem__(self, at: int) -> str: ...

    @overload
    def __getitem__(self, at: slice) -> "LinePlaces": ...

    def __getitem__(self, at: int | slice) -> "str | LinePlaces":
        if isinstance(at, slice):
            return LinePlaces(self.label, self.numbers[at])
        return f"{self.label}, line {self.numbers[at]}"


class ManyPlaces(Sequence[str]):
    """Places of several logs, one after the other."""

    def __init__(self, parts: Sequence[Sequence[str]]) -> None:
        self.parts = parts
        self.size = sum(map(len, parts))

    def __len__(self) -> int:
        return self.size

    @overload
    def __getitem__(self, at: int) -> str: ...

    @overload
    def __getitem__(self, at: slice) -> list[str]: ...

    def __getitem__(self, at: int | slice) -> str | list[str]:
        if isinstance(at, slice):
            return [self[i] for i in range(*at.indices(self.size))]
        left = at if at >= 0 else at + self.size
        for part in self.parts:
            if left < len(part):
                return part[left]
            left -= len(part)
        raise IndexError(at)
