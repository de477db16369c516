"""What stands at many places of some bytes, looked at by numpy at all of them together: braces, heads and numbers.

JSON that a program wrote, record by record, is the same from one record to the next but for its texts and numbers.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from assay.stats.units import Integers, Truths

ByteWords = NDArray[np.uint64]  # eight bytes each, the first of them the lowest

WORD = 8  # bytes
_LOW, _HIGH = np.uint64(0x0101010101010101), np.uint64(0x8080808080808080)
_PLACE, _TOP = np.uint64(0x0001020304050607), np.uint64(56)  # see `_byte_in_word`
_ONE, _SEVEN = np.uint64(1), np.uint64(7)
_COMMAS = _LOW * np.uint64(ord(","))


def words_at(data: bytes, places: Integers, count: int = 1) -> ByteWords:
    """(n, count) What stands from each place on, so many words of it: all of them are in the data."""
    width = count * WORD
    every = np.ndarray((max(len(data) - width + 1, 0),), f"V{width}", data, strides=(1,))
    found: ByteWords = every[places].view("<u8").reshape(-1, count)
    return found


def whole_words(size: int) -> int:
    """So many bytes, and the rest of a word."""
    return -(-size // WORD) * WORD


def _byte_in_word(flags: ByteWords) -> Integers:
    """(n,) Which byte of a word is 1 where all others are 0: the factor has k in the k-th byte from the top."""
    return ((flags * _PLACE) >> _TOP).view(np.int64)


class BytePlaces:
    """Finds where a byte stands in some bytes, which it seldom does.

    >>> BytePlaces(ord("{"))(b'[{"a": {"b": 1}}]')
    array([1, 7])
    """

    def __init__(self, byte: int) -> None:
        self._byte = byte
        self._scratch = np.zeros(0, dtype=bool)  # kept, since fresh memory costs as much as the search

    def __call__(self, data: bytes) -> Integers:
        size, room = len(data), whole_words(len(data))
        if len(self._scratch) < room:
            self._scratch = np.zeros(room * 2, dtype=bool)
        flags = self._scratch[:room]
        np.equal(np.frombuffer(data, np.uint8), self._byte, out=flags[:size])
        flags[size:] = False
        return true_in(flags)


def true_in(flags: Truths) -> Integers:
    """Where a few of many flags are true; their number is a multiple of eight."""
    every = flags.view(np.uint64)
    words = np.flatnonzero(every != 0)
    found = every[words]
    if (found & (found - _ONE)).any():  # several in eight
        return np.flatnonzero(flags)
    return np.asarray(words * WORD + _byte_in_word(found), dtype=np.int64)


@dataclass(frozen=True, eq=False, slots=True)
class Alike:
    """What follows some of the places of every record, byte by byte."""

    columns: Integers
    words: ByteWords  # of all of them, one after the other
    mask: ByteWords
    width: int  # in bytes, of the longest

    @classmethod
    def of(cls, heads: Mapping[int, bytes]) -> "Alike":
        """What follows some of the places, by their column in a grid of places."""
        width = whole_words(max(map(len, heads.values())))
        words = b"".join(head.ljust(width, b"\0") for head in heads.values())
        mask = b"".join((b"\xff" * len(head)).ljust(width, b"\0") for head in heads.values())
        return cls(np.array(list(heads)), np.frombuffer(words, "<u8"), np.frombuffer(mask, "<u8"), width)

    def are_in(self, part: bytes, grid: Integers) -> bool:
        """Whether it follows in each record, whose places are a row of the grid."""
        places = grid[:, self.columns].ravel()
        if not len(places):
            return True
        if places[0] < 0 or places[-1] + self.width > len(part):
            return False
        found = words_at(part, places, self.width // WORD).reshape(len(grid), -1)
        found ^= self.words
        found &= self.mask
        return not found.any()

    def those_in(self, part: bytes, places: Integers) -> Integers:
        """The places that it follows, of places in one column."""
        inside = places[(places >= 0) & (places + self.width <= len(part))]
        found = words_at(part, inside, self.width // WORD)
        found ^= self.words
        found &= self.mask
        return inside[~found.any(axis=1)]


def until_comma(data: bytes, places: Integers, most: int) -> Integers | None:
    """(n,) How many bytes stand before the first comma; ``None`` where they are more than ``most``.

    >>> until_comma(b"12, 3.141592653, spare", np.array([0, 3]), 16)
    array([ 2, 12])
    """
    found, left = np.zeros(len(places), dtype=np.int64), np.arange(len(places))
    for skipped in range(0, most + 1, WORD):
        other = words_at(data, places[left] + skipped)[:, 0] ^ _COMMAS
        zeros = (other - _LOW) & ~other & _HIGH  # the lowest is of a byte that is zero
        there = zeros != 0
        lowest = (zeros & (~zeros + _ONE)) >> _SEVEN
        found[left] = skipped + _byte_in_word(lowest)
        left = left[~there]
        if not len(left):
            return found if int(found.max(initial=0)) <= most else None
    return None


def before_commas(data: bytes, places: Integers, lengths: Integers) -> ByteWords:
    """(n, words) So many bytes from each place on, then spaces, and a comma at the end of the row."""
    width = whole_words(int(lengths.max(initial=0)) + 1)
    kept, filled = _filled(width)
    found = words_at(data, places, width // WORD)
    found &= kept[lengths]
    found |= filled[lengths]
    return found


@cache
def _filled(width: int) -> tuple[ByteWords, ByteWords]:
    """What to keep of rows of so many bytes, by how many of them count, and what stands in the others."""
    kept: NDArray[Any] = np.tril(np.full((width, width), 0xFF, dtype=np.uint8), -1)
    filled = np.full((width, width), ord(" "), dtype=np.uint8)
    filled[:, -1] = ord(",")
    return kept.view(np.uint64), (filled & ~kept).view(np.uint64)
