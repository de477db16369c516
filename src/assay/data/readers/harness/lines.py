"""JSON lines read quickly: the fields of an object stay as they are written until one is asked for.

msgspec skips what is not asked for at several times the speed of ``json``. It passes over a key that is there twice,
and knows no NaN, so a line that is not plainly written (or not JSON) is left to the slow way, which says what is wrong.
"""

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any, BinaryIO

import msgspec

from assay.data.readers.harness import record_in
from assay.errors import InputError
from assay.files.reading import DOCUMENT, LINES, cannot_open, megabytes, opened
from assay.names import one_line

Raw = msgspec.Raw
Fields = dict[str, Raw]
Row = tuple[Raw, ...]  # the values of a line, in the order of its layout
FieldColumns = list[tuple[Raw, ...]]  # the values of each field, in the order of a layout

_BLOCK = 1 << 18  # fits into the cache of a core
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
    empty, number = True, 1
    for block in whole_lines(path):
        for at, line in lines_of(block, number):
            empty = False
            yield at, line
        number += block.count(b"\n")
    if empty:
        raise empty_file(path)


def empty_file(path: Path) -> InputError:
    return InputError(f"{one_line(str(path))}: the file is empty; check what should have written it.")


def lines_of(block: bytes, number: int) -> Iterator[tuple[int, bytes]]:
    """The lines of a block that are not blank, with their numbers in the file."""
    for at, line in enumerate(block.split(b"\n"), start=number):
        plain = line.removeprefix(_MARK).strip() if at == 1 else line.strip()
        if plain:
            yield at, plain


def whole_lines(path: Path) -> Iterator[bytes]:
    """The blocks of a file, each of whole lines with the end of the last one, which the file itself may lack."""
    rest = [b""]
    with opened(path, LINES) as file:
        try:
            while block := file.read(_BLOCK):
                end = block.rfind(b"\n") + 1
                if not end:
                    rest.append(block)
                    _check_length(path, file, sum(map(len, rest)))
                    continue
                yield b"".join([*rest, block[:end]])
                rest = [block[end:]]
        except OSError as error:
            raise cannot_open(path, error) from error
    if any(rest):
        yield b"".join([*rest, b"\n"])


def _check_length(path: Path, file: BinaryIO, size: int) -> None:
    """Refuse the last line of what has been read, if it has this size so far."""
    if size > DOCUMENT.bytes:
        most, left = megabytes(DOCUMENT.bytes), file.tell() - size
        file.seek(0)
        before = sum(file.read(min(_BLOCK, left - at)).count(b"\n") for at in range(0, left, _BLOCK))
        place = place_of_line(path, before + 1)
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
class FieldLayout:
    """The fields of an object in their order, and a decoder of objects that have just these."""

    places: dict[str, int]
    decode: Callable[[bytes], Any]
    decode_lines: Callable[[bytes], list[Any]]
    length: int  # of all that is around the values

    @classmethod
    def of(cls, names: Sequence[str], length: int) -> "FieldLayout":
        inner = [f"f{place}" for place in range(len(names))]
        made = msgspec.defstruct(
            "Row",
            [(name, Raw) for name in inner],
            rename=dict(zip(inner, names, strict=True)),
            forbid_unknown_fields=True,
            gc=False,
        )
        decoder = msgspec.json.Decoder(made)
        return cls({name: place for place, name in enumerate(names)}, decoder.decode, decoder.decode_lines, length)


class Layouts:
    """Reads objects as values in the order of their layout; layouts are learned from the lines themselves.

    >>> layouts = Layouts()
    >>> layout, row = layouts(b'{"item": "q1", "score": 1.0}')
    >>> bytes(row[layout.places["score"]])
    b'1.0'
    """

    def __init__(self) -> None:
        self._known: list[FieldLayout] = []

    def __call__(self, line: bytes) -> tuple[FieldLayout, Row] | None:
        """The layout of a line and its values; ``None`` where only the slow way can tell."""
        for layout in self._known:
            try:
                row = _values(layout.decode(line))
            except (msgspec.MsgspecError, UnicodeError, RecursionError):
                continue
            if sum(map(len, row)) + layout.length == len(line):
                return layout, row
        return self._learned(line)

    def together(self, block: bytes) -> tuple[FieldLayout, FieldColumns] | None:
        r"""The layout of all lines of a block, and their values by field; ``None`` where they must be read one by one.

        >>> layout, columns = Layouts().together(b'{"item": "q1", "score": 1.0}\n{"item": "q2", "score": 0.0}\n')
        >>> [bytes(value) for value in columns[layout.places["score"]]]
        [b'1.0', b'0.0']
        """
        known = self(block[: block.find(b"\n")])
        if known is None:
            return None
        layout = known[0]
        try:
            rows = layout.decode_lines(block)
        except (msgspec.MsgspecError, UnicodeError, RecursionError):
            return None
        columns = list(zip(*map(_values, rows), strict=True))
        length = sum(map(len, chain.from_iterable(columns))) + len(rows) * (layout.length + 1)  # with the ends of lines
        return (layout, columns) if length == len(block) else None

    def _learned(self, line: bytes) -> tuple[FieldLayout, Row] | None:
        fields = fields_in(line)
        if fields is None:
            return None
        layout = FieldLayout.of(list(fields), len(line) - sum(map(len, fields.values())))
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


class SharedValues:
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


def values_of(column: Sequence[Raw], kind: Any = Any) -> list[Any] | None:
    """The values of a field, decoded together; ``None`` where one of them is not of that kind.

    >>> values_of([Raw(b"1.0"), Raw(b"0")], float), values_of([Raw(b'"a"')], float)
    ([1.0, 0.0], None)
    """
    try:
        found: list[Any] = msgspec.json.decode(b"[" + b",".join(column) + b"]", type=list[kind])
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        return None
    return found
