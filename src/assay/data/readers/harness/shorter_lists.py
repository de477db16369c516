"""Parts of long JSON lists without what nobody asks for, cut out before they are decoded.

A decoder has to walk through what it skips, at little more than a gigabyte in a second. Programs that write JSON over
several lines indent it by depth, and no text holds the end of a line, so that the bytes alone show where a value of a
known depth begins and ends: numpy finds these places several times as fast. What is cut out is not looked at, beyond
what the classes here say of it.
"""

from bisect import bisect_right
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Protocol

import msgspec
import numpy as np

from assay.data.readers.harness.bytes_alike import WORD, Alike, Braces, true_in, whole_words, words_at
from assay.stats.units import Integers


class Shortens(Protocol):
    """Shortens parts of a list, once it has learned from parts that were decoded whole how they are written."""

    def learn(self, part: bytes, records: Sequence[Any]) -> None: ...

    def __call__(self, part: bytes) -> bytes | None:
        """The part without what is not wanted; ``None`` where it has to be decoded whole."""


class Places:
    r"""Where a mark of eight bytes begins in some bytes; its first and last byte together should be rare.

    >>> Places(b"\n      ]")(b'{"a": [[1,\n 2]\n      ]}')
    array([14])
    """

    def __init__(self, mark: bytes) -> None:
        self._first, self._last, self._word = mark[0], mark[-1], int.from_bytes(mark, "little")
        self._scratch = np.zeros((2, 0), dtype=bool)  # kept, since fresh memory costs as much as the search

    def __call__(self, data: bytes) -> Integers:
        size, each = len(data) - WORD + 1, np.frombuffer(data, np.uint8)
        if size < 1:
            return np.empty(0, dtype=np.int64)
        room = whole_words(size)
        if self._scratch.shape[1] < room:
            self._scratch = np.zeros((2, room * 2), dtype=bool)
        first, last = self._scratch[:, :room]
        np.equal(each[:size], self._first, out=first[:size])
        np.equal(each[WORD - 1 :], self._last, out=last[:size])
        first[:size] &= last[:size]
        first[size:] = False
        found = true_in(first)
        there: Integers = found[words_at(data, found)[:, 0] == self._word]
        return there


def _without(data: bytes, starts: Iterable[int], ends: Iterable[int]) -> bytes:
    """What is left outside of these ranges, which are in order."""
    return b"".join(data[a:b] for a, b in zip([0, *ends], [*starts, len(data)], strict=True))


class WithoutField:
    r"""Leaves out the items of a list that each record has, such as its events.

    The first parts are decoded with and without them; if both are the same in each, the others are taken to be written
    in that way too.
    """

    def __init__(self, key: str, indent: int, decode: Callable[[bytes], Any]) -> None:
        self._start, self._follows = f'\n{" " * indent}"{key}"'.encode(), b": [\n"
        self._ends = Places(f"\n{' ' * indent}]".encode())
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
        ends = self._ends(part).tolist()
        starts, stops, at = list[int](), list[int](), part.find(self._start)
        while at >= 0:
            after = at + len(self._start)
            if part.startswith(self._follows, after):
                after += len(self._follows) - 1
                place = bisect_right(ends, after - 1)
                if place == len(ends):
                    break
                starts.append(after)
                after = ends[place]
                stops.append(after)
            at = part.find(self._start, after)
        return _without(part, starts, stops)


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
        self._braces = Braces()
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
