"""The compiled loops, and nothing else. Each has a numpy twin in `resampling` that gives the same bits.

Importing this module costs half a second and the first call after an installation some seconds (then the machine
code is on disk), so it is imported late and only for large work.
"""

import numpy as np
from numba import get_num_threads, njit, prange, set_num_threads, uint64
from numpy.typing import NDArray

from assay.stats.streams import GOLDEN, MIX_1, MIX_2

_GOLDEN, _MIX_1, _MIX_2 = np.uint64(GOLDEN), np.uint64(MIX_1), np.uint64(MIX_2)
_30, _27, _31, _32 = np.uint64(30), np.uint64(27), np.uint64(31), np.uint64(32)
_LOW = np.uint64(0xFFFFFFFF)
_ONE = np.uint64(1)
_THREADS = get_num_threads()


def use_threads(count: int | None) -> None:
    """Run the loops that follow on so many threads; ``None`` is as many as numba was given."""
    set_num_threads(count or _THREADS)


@njit(inline="always")  # type: ignore[untyped-decorator]  # numba ships no types
def _word(key: np.uint64, c: np.uint64) -> np.uint64:
    z = key + (c + _ONE) * _GOLDEN
    z = (z ^ (z >> _30)) * _MIX_1
    z = (z ^ (z >> _27)) * _MIX_2
    return z ^ (z >> _31)


@njit(parallel=True, cache=True)  # type: ignore[untyped-decorator]  # numba ships no types
def uniform_sums(columns: NDArray[np.float64], key: np.uint64, first: int, out: NDArray[np.float64]) -> None:
    """out[b, c] = Σ over n uniform draws of column c, for the replicates first, first + 1, …"""
    n, width = columns.shape
    size = uint64(n)
    per_replicate = uint64((n + 1) // 2)
    for b in prange(out.shape[0]):
        sums = np.zeros((4, width))
        c = uint64(first + b) * per_replicate
        for i in range(0, n, 2):
            word = _word(uint64(key), c)
            c += _ONE
            even = ((word & _LOW) * size) >> _32
            for k in range(width):
                sums[i & 3, k] += columns[even, k]
            if i + 1 < n:
                odd = ((word >> _32) * size) >> _32
                for k in range(width):
                    sums[(i + 1) & 3, k] += columns[odd, k]
        for k in range(width):
            out[b, k] = (sums[0, k] + sums[1, k]) + (sums[2, k] + sums[3, k])


@njit(parallel=True, cache=True)  # type: ignore[untyped-decorator]  # numba ships no types
def uniform_sums_of_one(column: NDArray[np.float64], key: np.uint64, first: int, out: NDArray[np.float64]) -> None:
    """The same for a single column: twice as fast."""
    n = len(column)
    size = uint64(n)
    per_replicate = uint64((n + 1) // 2)
    whole = n - n % 4
    for b in prange(len(out)):
        s0, s1, s2, s3 = 0.0, 0.0, 0.0, 0.0
        c = uint64(first + b) * per_replicate
        for _ in range(0, whole, 4):
            word = _word(uint64(key), c)
            s0 += column[((word & _LOW) * size) >> _32]
            s1 += column[((word >> _32) * size) >> _32]
            word = _word(uint64(key), c + _ONE)
            s2 += column[((word & _LOW) * size) >> _32]
            s3 += column[((word >> _32) * size) >> _32]
            c += _ONE + _ONE
        if n - whole > 0:
            word = _word(uint64(key), c)
            s0 += column[((word & _LOW) * size) >> _32]
            if n - whole > 1:
                s1 += column[((word >> _32) * size) >> _32]
            if n - whole > 2:
                s2 += column[((_word(uint64(key), c + _ONE) & _LOW) * size) >> _32]
        out[b] = (s0 + s1) + (s2 + s3)


@njit(parallel=True, cache=True)  # type: ignore[untyped-decorator]  # numba ships no types
def weighted_sums(
    columns: NDArray[np.float64],
    keep: NDArray[np.uint64],
    other: NDArray[np.int64],
    key: np.uint64,
    first: int,
    out: NDArray[np.float64],
) -> None:
    """out[b, c] for draws with unequal probabilities, by the alias method: one word per draw."""
    n, width = columns.shape
    size = uint64(n)
    for b in prange(out.shape[0]):
        sums = np.zeros((4, width))
        c = uint64(first + b) * size
        for i in range(n):
            word = _word(uint64(key), c)
            c += _ONE
            slot = ((word >> _32) * size) >> _32
            row = np.int64(slot) if (word & _LOW) < keep[slot] else other[slot]
            for k in range(width):
                sums[i & 3, k] += columns[row, k]
        for k in range(width):
            out[b, k] = (sums[0, k] + sums[1, k]) + (sums[2, k] + sums[3, k])
