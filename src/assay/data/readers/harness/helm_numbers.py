"""The numbers of HELM's statistics, of many of them together: how many values, and their sum.

Both are cut out of the bytes, up to the comma behind them, and all are decoded as one list of numbers. What stands
behind the sum is not decoded; it is only looked at for the end of a key such as ``"sum"``, which then is there twice.
"""

import re

import msgspec
import numpy as np

from assay.data.readers.harness.bytes_alike import Alike, before_commas, until_comma
from assay.stats.units import Floats, Integers

_NUMBER = rb"[0-9.eE+-]+"
_AROUND = re.compile(_NUMBER + rb'(,\s*"sum":[ \t]*)' + _NUMBER + rb'(,\s*"\w+":)')
_MOST_OF_A_COUNT, _MOST_OF_A_SUM = 7, 31  # bytes
_SPARE = 64  # bytes: more than are looked at of a count and of a sum
_decode = msgspec.json.Decoder(list[float]).decode


def around_sum(data: bytes, place: int) -> tuple[bytes, bytes] | None:
    """What stands before and behind the sum, after the count that begins at a place; ``None`` if written otherwise.

    >>> around_sum(b'"count": 3, "sum": 1.5, "mean": 0.5', 9)
    (b', "sum": ', b', "mean":')
    """
    found = _AROUND.match(data, place)
    return None if found is None else (found[1], found[2])


class CountsAndSums:
    """Reads the numbers of statistics from behind ``"count":`` on, by what stands before and behind the sum."""

    def __init__(self, before: bytes, behind: bytes) -> None:
        self._skipped, self._before, self._behind = len(before), Alike.of({0: before}), Alike.of({0: behind})
        self._room = self._before.width + self._behind.width + 2 * _SPARE  # what is looked at from a count on

    def __call__(self, part: bytes, counts: Integers, ends: Integers) -> Floats | None:
        """(n, 2) The counts that begin at some places, in order, and their sums; ``None`` if written otherwise."""
        data = part if int(counts[-1]) + self._room < len(part) else part + bytes(self._room)
        first = until_comma(data, counts, _MOST_OF_A_COUNT)
        if first is None or not self._before.are_in(data, (counts + first)[:, None]):
            return None
        sums = counts + first + self._skipped
        second = until_comma(data, sums, _MOST_OF_A_SUM)
        if second is None or not self._behind.are_in(data, (sums + second)[:, None]):
            return None
        if (ends < sums + second).any() or _told_again(part, sums + second, ends):
            return None
        text = np.hstack([before_commas(data, counts, first), before_commas(data, sums, second)]).tobytes()
        found = np.array(_decode(b"[" + text[:-1] + b"]"), dtype=np.float64)
        return found.reshape(-1, 2) if len(found) == 2 * len(counts) else None


def _told_again(part: bytes, starts: Integers, ends: Integers) -> bool:
    """Whether a key that ends like a sum or a count stands in one of these ranges, which are in order."""
    width = int((ends - starts).max())
    fit = int(np.searchsorted(starts, len(part) - width, side="right"))
    if any(_ENDS.search(part, *place) for place in zip(starts[fit:].tolist(), ends[fit:].tolist(), strict=True)):
        return True
    every = np.ndarray((max(len(part) - width + 1, 0),), f"V{width}", part, strides=(1,))
    found = every[starts[:fit]].view(np.uint8)
    quoted = found[1:] == ord('"')
    quoted &= (found[:-1] == ord("m")) | (found[:-1] == ord("t"))
    rows, columns = np.divmod(np.flatnonzero(quoted), width)
    return bool((columns + 1 < (ends - starts)[rows]).any())


_ENDS = re.compile(rb'[mt]"')
