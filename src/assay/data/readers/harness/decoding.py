"""Decode only the fields that a reader wants, and skip the texts; what is wrong is said of its record and field.

A reader describes a record as a `msgspec.Struct`. That is about ten times as fast as parsing everything, but knows no
NaN and says little of what it refuses: then the same bytes are parsed as any other JSON, which says what is wrong.
Of two equal keys it takes the last: where a reader says how often keys occur, the parser refuses what is there twice.
Readers say so of the keys that scores and items hang on, where records do not hold the same keys deeper down; for the
others, the first few megabytes of a file are looked at (`EqualKeys`).
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence, Sized
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from assay.data.readers.harness.equal_keys import MOST_OF_A_FILE, EqualKeys
from assay.data.readers.harness.lines import empty_file, lines_of, place_of_line, whole_lines
from assay.errors import InputError
from assay.files.reading import DOCUMENT, parse_json, read_bytes
from assay.names import one_line

T = TypeVar("T")

_MARK = b"\xef\xbb\xbf"
_REFUSED = (msgspec.MsgspecError, UnicodeDecodeError, RecursionError)
#: What the decoder says of a value that does not fit: what it is, and where, such as ``$.results[3].score``.
_FAULT = re.compile(r"(?P<what>.+?)(?: - at `(?:key in )?\$?(?P<where>[^`]*)`)?", re.DOTALL)
_MISSING = re.compile(r"Object missing required field `(.+)`")
_EXPECTED = re.compile(r"Expected `(.+)`, got `(.+)`")
_WORDS = {
    "array": "a list",
    "bool": "true or false",
    "float": "a number",
    "int": "a whole number",
    "null": "null",
    "object": "an object",
    "str": "a text",
}


Check = Callable[[Any, str], object]  # a parsed value and its place: raises what is wrong, where the keys matter


def decoded(data: bytes, kind: type[T], place: str, *, check: Check | None = None) -> T:
    """The record of a kind in some JSON."""
    try:
        return msgspec.json.decode(data.removeprefix(_MARK), type=kind)
    except _REFUSED:
        return _parsed(data, kind, place, check)


def decoded_file(
    path: Path,
    kind: type[T],
    *,
    check: Check | None = None,
    whole: Callable[[T, bytes], bool] | None = None,
) -> T:
    """The record of a kind in a file that is one JSON document.

    ``whole`` says whether all of the bytes is in the record: in an object of items, one that is there twice is not.
    """
    label = one_line(str(path))
    data = read_bytes(path, DOCUMENT, label=label)
    found = decoded(data, kind, label, check=check)
    plain = not EqualKeys(MOST_OF_A_FILE).found_in(data) if whole is None else whole(found, data)
    return found if plain else _parsed(data, kind, label, check)


def once_each(*keys: str) -> Callable[[Sized, bytes], bool]:
    """Whether these keys are written once for each record of a list; else the parser says which is there twice.

    >>> once_each("score")([1, 2], b'[{"score": 1}, {"score": 0}]')
    True
    """
    written = [f'"{key}"'.encode() for key in keys]
    return lambda found, data: all(data.count(key) == len(found) for key in written)


def _parsed(data: bytes, kind: type[T], place: str, check: Check | None) -> T:
    """The same by the parser of any JSON, which says what is wrong."""
    found = parse_json(data, place)
    if check is not None:
        check(found, place)
    try:
        return _converted(found, kind)
    except msgspec.ValidationError as error:
        raise InputError(_fault(str(error), place)) from error


def _converted(found: Any, kind: type[T]) -> T:
    try:
        return msgspec.convert(found, type=kind)
    except msgspec.ValidationError as error:
        if "raw" not in str(error):
            raise
    # What is to be decoded later has to be JSON again, in which NaN is null.
    return msgspec.json.decode(msgspec.json.encode(found), type=kind)


def decoded_lines(
    path: Path, kind: type[T], *, once: tuple[bytes, ...] = (), whole: Callable[[T, bytes], bool] | None = None
) -> Iterator[tuple[str, T]]:
    """Yield the records of a file of JSON lines with their locations; ``once`` and ``whole`` as in `decoded_blocks`."""
    label = one_line(str(path))
    for numbers, records in decoded_blocks(path, kind, once=once, whole=whole):
        for number, record in zip(numbers, records, strict=True):
            yield f"{label}, line {number}", record


def decoded_blocks(
    path: Path, kind: type[T], *, once: tuple[bytes, ...] = (), whole: Callable[[T, bytes], bool] | None = None
) -> Iterator[tuple[Sequence[int], list[T]]]:
    """Yield the records of a file of JSON lines, many at a time, with the numbers of their lines from 1.

    Blank lines are skipped. Keys that must be there ``once`` are written as they are in the file, ``b'"id":'``, and are
    of fields that every record has; ``whole`` as in `decoded_file`.
    """
    decoder, number, empty = msgspec.json.Decoder(kind), 1, True
    equal = EqualKeys(0 if once or whole else MOST_OF_A_FILE)
    for block in whole_lines(path):
        count = block.count(b"\n")
        together = None if whole or equal.looks else _together(decoder, block, count, once)
        if together is not None:
            empty = False
            yield range(number, number + count), together
        else:
            for at, line in lines_of(block, number):  # one by one: who wants the first only may not know the next
                empty = False
                yield (at,), [_alone(decoder, line, place_of_line(path, at), once, whole, equal)]
        number += count
    if empty:
        raise empty_file(path)


def _together(decoder: msgspec.json.Decoder[T], block: bytes, count: int, once: Iterable[bytes]) -> list[T] | None:
    """The records of so many lines; ``None`` where they must be read one by one."""
    try:
        found = decoder.decode_lines(block)
    except _REFUSED:
        return None
    # None lacks a key that all must have, so none has it twice if it is there as often as there are lines.
    return found if len(found) == count and all(block.count(key) == count for key in once) else None


def _alone(
    decoder: msgspec.json.Decoder[T],
    line: bytes,
    place: str,
    once: Iterable[bytes],
    whole: Callable[[T, bytes], bool] | None,
    equal: EqualKeys,
) -> T:
    try:
        found = decoder.decode(line)
    except _REFUSED:
        return _parsed(line, decoder.type, place, None)
    plain = all(line.count(key) == 1 for key in once) and (whole is None or whole(found, line))
    return found if plain and not equal.found_in(line) else _parsed(line, decoder.type, place, None)


def _fault(said: str, place: str) -> str:
    """What a record lacks, or which field does not fit.

    >>> _fault("Object missing required field `score` - at `$.results[3]`", "a.json")
    "a.json, results[3]: no field 'score'; write the file again."
    >>> _fault("Expected `float | null`, got `str` - at `$.score`", "a.json, line 7")
    'a.json, line 7, score: must be a number or null, but got a text; write the file again.'
    """
    parts = _FAULT.fullmatch(said)
    what, where = (parts["what"], (parts["where"] or "").lstrip(".")) if parts else (said, "")
    missing, expected = _MISSING.fullmatch(what), _EXPECTED.fullmatch(what)
    if missing:
        what = f"no field {missing[1]!r}"
    elif expected:
        must = " or ".join(_WORDS.get(one, one) for one in expected[1].split(" | "))
        what = f"must be {must}, but got {_WORDS.get(expected[2], expected[2])}"
    return one_line(f"{place}{', ' if where else ''}{where}: {what}; write the file again.")
