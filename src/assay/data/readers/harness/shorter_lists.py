"""Parts of long JSON lists without what nobody asks for, cut out before they are decoded.

A decoder has to walk through what it skips, at little more than a gigabyte in a second. Programs that write JSON over
several lines indent it by depth, and no text holds the end of a line, so that the bytes alone show where a value of a
known depth begins and ends: numpy finds these places several times as fast. What is cut out is not looked at, beyond
what the classes here say of it.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Protocol

import msgspec
import numpy as np

from assay.data.readers.harness.bytes_alike import WORD, Alike, BytePlaces, words_at
from assay.stats.units import Integers


class Shortens(Protocol):
    """Shortens parts of a list, once it has learned from parts that were decoded whole how they are written."""

    def learn(self, part: bytes, records: Sequence[Any]) -> None: ...

    def __call__(self, part: bytes) -> bytes | None:
        """The part without what is not wanted; ``None`` where it has to be decoded whole."""


class Places:
    r"""Where a mark of eight bytes begins in some bytes; its last byte should be rare.

    >>> Places(b"\n      ]")(b'{"a": [[1,\n 2]\n      ]}')
    array([14])
    """

    def __init__(self, mark: bytes) -> None:
        self._bytes, self._word = BytePlaces(mark[-1]), _word(mark)

    def __call__(self, data: bytes) -> Integers:
        found = self._bytes(data) - (WORD - 1)
        found = found[np.searchsorted(found, 0) :]
        there: Integers = found[words_at(data, found)[:, 0] == self._word]
        return there


def _word(mark: bytes) -> int:
    return int.from_bytes(mark, "little")


def _without(data: bytes, starts: Iterable[int], ends: Iterable[int]) -> bytes:
    """What is left outside of these ranges, which are in order."""
    return b"".join(data[a:b] for a, b in zip([0, *ends], [*starts, len(data)], strict=True))


class WithoutLists:
    r"""Leaves out the items of lists that each record has, such as its events.

    The first parts are decoded with and without them; if both are the same in each, the others are taken to be written
    in that way too.
    """

    def __init__(self, keys: Sequence[str], indent: int, decode: Callable[[bytes], Any]) -> None:
        marks = [f'\n{" " * indent}"{key}": ['.encode() for key in keys]
        self._starts = [(_word(mark[-WORD:]), Alike.of({0: mark + b"\n"}), len(mark)) for mark in marks]
        self._opens, self._ends = BytePlaces(ord("[")), Places(f"\n{' ' * indent}]".encode())
        self._decode, self._same = decode, list[bool]()

    def learn(self, part: bytes, records: Sequence[Any]) -> None:
        short = self._shortened(part)
        try:
            self._same.append(self._decode(short) == records)
        except (msgspec.MsgspecError, UnicodeError, RecursionError):
            self._same.append(False)

    def __call__(self, part: bytes) -> bytes | None:
        return self._shortened(part) if self._same and all(self._same) else None

    def _shortened(self, part: bytes) -> bytes:
        ends = self._ends(part)
        starts = self._after_brackets(part)
        starts = starts[: np.searchsorted(starts, ends[-1], side="right")] if len(ends) else starts[:0]
        stops = ends[np.searchsorted(ends, starts)]
        if (starts[1:] < stops[:-1]).any():  # in what is cut out already
            first = _first_of_each(starts.tolist(), stops.tolist())
            starts, stops = starts[first], stops[first]
        return _without(part, starts.tolist(), stops.tolist())

    def _after_brackets(self, part: bytes) -> Integers:
        """Where the items of the lists begin."""
        opens = self._opens(part) + 1
        opens = opens[np.searchsorted(opens, WORD) :]
        words = words_at(part, opens - WORD)[:, 0]
        found = [whole.those_in(part, opens[words == word] - size) + size for word, whole, size in self._starts]
        return np.sort(np.concatenate(found))


def _first_of_each(starts: Sequence[int], stops: Sequence[int]) -> list[int]:
    """Which of some ranges do not begin within another one of these."""
    found, end = list[int](), 0
    for at, (start, stop) in enumerate(zip(starts, stops, strict=True)):
        if start >= end:
            found.append(at)
            end = stop
    return found


class WithoutItems:
    r"""Leaves out some of the items of the list that each record has, where all records have the same items.

    How a record and what is left out of it begin is compared byte by byte, up to the name of an item, and so is how
    many items there are: what differs from the record that this was learned from is decoded whole. Names of items
    stand in an object of their own, as in ``{"name": {"name": "exact_match", ...``: a record opens one brace, an item
    two.
    """

    def __init__(self, key: str, names: Callable[[Any], Sequence[str]], keeps: Callable[[str], bool]) -> None:
        self._key, self._names, self._keeps = f'"{key}"'.encode(), names, keeps
        self._heads: Alike | None = None
        self._braces = BytePlaces(ord("{"))
        self._period = 1  # braces of a record
        self._runs: list[tuple[int, int]] = []  # of braces: of an item to be left out, and of the next one that is not

    def learn(self, part: bytes, records: Sequence[Any]) -> None:
        self._heads, names = None, self._names(records[0]) if records else []
        braces = self._braces(part)[: 1 + 2 * len(names)].tolist()
        if not names or len(braces) < 1 + 2 * len(names):
            return
        kept = [self._keeps(name) for name in names[:-1]] + [True]  # no comma follows the last
        self._runs = [(1 + 2 * first, 1 + 2 * after) for first, after in _runs_of(kept)]
        marks = [(0, self._key)] + [
            (1 + 2 * at, msgspec.json.encode(name)) for at, name in enumerate(names) if not kept[at]
        ]
        heads = {brace: _head(part, braces[brace], mark) for brace, mark in marks}
        if self._runs and all(heads.values()):
            self._heads, self._period = Alike.of(heads), 1 + 2 * len(names)

    def __call__(self, part: bytes) -> bytes | None:
        if self._heads is None:
            return None
        braces = self._braces(part)
        if not len(braces) or len(braces) % self._period:
            return None
        grid = braces.reshape(-1, self._period)
        if not self._heads.are_in(part, grid):
            return None
        first, after = (grid[:, [run[side] for run in self._runs]].ravel().tolist() for side in (0, 1))
        return _without(part, first, after)


def _head(part: bytes, start: int, end: bytes) -> bytes:
    """What is written from a place on until after some bytes."""
    found = part.find(end, start)
    return part[start : found + len(end)] if found >= 0 else b""


def _runs_of(kept: Sequence[bool]) -> list[tuple[int, int]]:
    """Where runs of what is not kept begin and end.

    >>> _runs_of([False, False, True, False, True])
    [(0, 2), (3, 4)]
    """
    edges = np.flatnonzero(np.diff([True, *kept]))
    return [(int(a), int(b)) for a, b in edges.reshape(-1, 2)]
