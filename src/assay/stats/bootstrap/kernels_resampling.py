"""The compiled loops of random resampling, and nothing else.

Each has a numpy twin, in `resampling` or in `counts`, that gives the same bits: every operation is one that IEEE 754
defines, in the twin's order. Loops over many numbers are as plain as they are so that the compiler can do several at
a time.
"""

import numpy as np
from numba import config, njit, prange, set_num_threads, uint64
from numpy.typing import NDArray

from assay.stats.streams import GOLDEN, GROUP, MIX_1, MIX_2

_GOLDEN, _MIX_1, _MIX_2 = np.uint64(GOLDEN), np.uint64(MIX_1), np.uint64(MIX_2)
_16, _27, _30, _31, _32, _48 = (np.uint64(bits) for bits in (16, 27, 30, 31, 32, 48))
_LOW, _LOW_16 = np.uint64(0xFFFFFFFF), np.uint64(0xFFFF)
_LEFT_OVER = np.uint64(0x0008_0008_0008_0008)  # in a word of four counts: which of them are not decided yet
_ONE = np.uint64(1)
_BLOCK = 256  # words of counts that are totalled at a time: less than 65,536 in each quarter
_PARTS = 64  # of the replicates: a thread takes one at a time


def use_threads(count: int | None) -> None:
    """Run the loops that follow on so many threads; ``None`` is as many as numba was given.

    Numba starts its threads at the first call, not when this is imported: whoever imports may still fork.
    """
    set_num_threads(count or config.NUMBA_NUM_THREADS)


@njit(inline="always")  # type: ignore[untyped-decorator]  # numba ships no types
def _mixed(z: np.uint64) -> np.uint64:
    z = (z ^ (z >> _30)) * _MIX_1
    z = (z ^ (z >> _27)) * _MIX_2
    return z ^ (z >> _31)


@njit(inline="always")  # type: ignore[untyped-decorator]  # numba ships no types
def _word(key: np.uint64, c: np.uint64) -> np.uint64:
    word: np.uint64 = _mixed(key + (c + _ONE) * _GOLDEN)
    return word


@njit(inline="always")  # type: ignore[untyped-decorator]  # numba ships no types
def _half(key: np.uint64, q: int) -> np.uint64:
    """Half-word q of the stream, the low half of a word first."""
    word: np.uint64 = _word(key, uint64(q // 2))
    return word >> _32 if q % 2 else word & _LOW


# ------------------------------------------------------------------------------------------------------- pairs of draws


@njit(parallel=True, cache=True)  # type: ignore[untyped-decorator]  # numba ships no types
def paired_sums(columns: NDArray[np.float64], key: np.uint64, first: int, out: NDArray[np.float64]) -> None:
    """out[b, c] = Σ over n uniform draws of column c, for the replicates first, first + 1, …; two draws a half-word."""
    n, width = columns.shape
    size = uint64(n)
    halves = (n + 1) // 2
    for b in prange(out.shape[0]):
        sums = np.zeros((4, width))
        start = (first + b) * (2 * ((halves + 1) // 2))
        for q in range(halves):
            scaled = _half(uint64(key), start + q) * size
            i, j = scaled >> _32, ((scaled & _LOW) * size) >> _32
            for k in range(width):
                sums[q & 3, k] += columns[i, k] + columns[j, k] if 2 * q + 1 < n else columns[i, k]
        for k in range(width):
            out[b, k] = (sums[0, k] + sums[1, k]) + (sums[2, k] + sums[3, k])


@njit(parallel=True, cache=True)  # type: ignore[untyped-decorator]  # numba ships no types
def paired_sums_of_one(
    column: NDArray[np.float64], pairs: NDArray[np.float64], key: np.uint64, first: int, out: NDArray[np.float64]
) -> None:
    """The same for a single column whose sums of two, pairs[i·n + j], are in a table: four times as fast."""
    n = len(column)
    size, squared = uint64(n), uint64(n * n)
    halves = (n + 1) // 2
    per_replicate = uint64((halves + 1) // 2)
    whole = n // 2 - n // 2 % 4
    for b in prange(len(out)):
        s0, s1, s2, s3 = 0.0, 0.0, 0.0, 0.0
        c = uint64(first + b) * per_replicate
        for _ in range(0, whole, 4):
            word = _word(uint64(key), c)
            s0 += pairs[((word & _LOW) * squared) >> _32]
            s1 += pairs[((word >> _32) * squared) >> _32]
            word = _word(uint64(key), c + _ONE)
            s2 += pairs[((word & _LOW) * squared) >> _32]
            s3 += pairs[((word >> _32) * squared) >> _32]
            c += _ONE + _ONE
        for q in range(halves - whole):
            half = _half(uint64(key + c * _GOLDEN), q)
            value = pairs[(half * squared) >> _32] if whole + q < n // 2 else column[(half * size) >> _32]
            if q == 0:
                s0 += value
            elif q == 1:
                s1 += value
            elif q == 2:
                s2 += value
            else:
                s3 += value
        out[b] = (s0 + s1) + (s2 + s3)


# --------------------------------------------------------------------------------------------------------------- counts


@njit(cache=True)  # type: ignore[untyped-decorator]  # numba ships no types
def _fill(key: np.uint64, words: NDArray[np.uint64]) -> None:
    state = key
    for j in range(len(words)):
        state += _GOLDEN
        words[j] = _mixed(state)


@njit(cache=True)  # type: ignore[untyped-decorator]  # numba ships no types
def _count(cells: NDArray[np.int16], units: NDArray[np.int16]) -> None:
    """Random bits become counts, in their place; a left-over cell has 8 added."""
    c1, c2, c3, c4, c5, c6, c7 = cells[0], cells[1], cells[2], cells[3], cells[4], cells[5], cells[6]
    for i in range(len(units)):
        u = units[i]
        count = np.int16(u >= c1)
        count = np.int16(count + np.int16(u >= c2))
        count = np.int16(count + np.int16(u >= c3))
        count = np.int16(count + np.int16(u >= c4))
        count = np.int16(count + np.int16(u >= c5))
        count = np.int16(count + np.int16(u >= c6))
        units[i] = np.int16(count + np.int16(np.int16(u >= c7) << 3))


@njit(cache=True)  # type: ignore[untyped-decorator]  # numba ships no types
def _total(words: NDArray[np.uint64]) -> tuple[int, bool]:
    """The sum of at most 256 words of four counts, and whether any of them is left over."""
    total, seen = uint64(0), uint64(0)
    for j in range(len(words)):
        total += words[j]
        seen |= words[j]
    low = (total & _LOW_16) + ((total >> _16) & _LOW_16)
    high = ((total >> _32) & _LOW_16) + (total >> _48)
    return int(low + high), bool(seen & _LEFT_OVER)


@njit(cache=True)  # type: ignore[untyped-decorator]  # numba ships no types
def _settle(
    key: np.uint64, c: np.uint64, rare: NDArray[np.uint64], words: NDArray[np.uint64], units: NDArray[np.int16]
) -> tuple[np.uint64, int]:
    """Decide the counts of left-over cells; the next word of the stream, and what the total gains."""
    gain = 0
    for j in range(len(words)):
        if words[j] & _LEFT_OVER:
            for i in range(4 * j, 4 * j + 4):
                if units[i] >= 8:
                    word = _word(key, c)
                    c += _ONE
                    count = 0
                    while count < len(rare) and word >= rare[count]:
                        count += 1
                    gain += count - units[i]
                    units[i] = count
    return c, gain


@njit(cache=True)  # type: ignore[untyped-decorator]  # numba ships no types
def _poisson_counts(
    key: np.uint64,
    n: int,
    cells: NDArray[np.int16],
    rare: NDArray[np.uint64],
    words: NDArray[np.uint64],
    units: NDArray[np.int16],
) -> tuple[int, np.uint64]:
    """Fill ``units``, which is the memory of ``words``; how many draws are missing, and the next word of the stream."""
    _fill(key, words)
    _count(cells, units)
    units[n:] = 0
    total, c = 0, uint64(len(words))
    for low in range(0, len(words), _BLOCK):
        part = words[low : low + _BLOCK]
        found, left_over = _total(part)
        total += found
        if left_over:
            c, gain = _settle(key, c, rare, part, units[4 * low : 4 * low + 4 * _BLOCK])
            total += gain
    return n - total, c


@njit(cache=True)  # type: ignore[untyped-decorator]  # numba ships no types
def _counted(units: NDArray[np.int16], column: NDArray[np.float64], sums: NDArray[np.float64]) -> float:
    """Σ count × value: 64 sums side by side, then halves onto halves."""
    sums[:] = 0.0
    whole = len(column) - len(column) % (4 * GROUP)
    for low in range(0, whole, 4 * GROUP):  # four groups at a time: the sums are read and written less often
        counts, values = units[low : low + 4 * GROUP], column[low : low + 4 * GROUP]
        for k in range(GROUP):
            total = sums[k] + counts[k] * values[k]
            total += counts[k + GROUP] * values[k + GROUP]
            total += counts[k + 2 * GROUP] * values[k + 2 * GROUP]
            sums[k] = total + counts[k + 3 * GROUP] * values[k + 3 * GROUP]
    for low in range(whole, len(column), GROUP):
        counts, values = units[low : low + GROUP], column[low : low + GROUP]
        for k in range(GROUP):
            sums[k] += counts[k] * values[k]
    for k in range(32):
        sums[k] += sums[k + 32]
    for k in range(16):
        sums[k] += sums[k + 16]
    for k in range(8):
        sums[k] += sums[k + 8]
    return float(((sums[0] + sums[4]) + (sums[2] + sums[6])) + ((sums[1] + sums[5]) + (sums[3] + sums[7])))


@njit(cache=True)  # type: ignore[untyped-decorator]  # numba ships no types
def _topped_up(key: np.uint64, c: np.uint64, n: int, missing: int, column: NDArray[np.float64]) -> float:
    """Σ over the missing draws."""
    size, after = uint64(n), key + c * _GOLDEN
    s0, s1, s2, s3 = 0.0, 0.0, 0.0, 0.0
    for q in range(0, missing - 3, 4):
        word = _word(after, uint64(q // 2))
        s0 += column[((word & _LOW) * size) >> _32]
        s1 += column[((word >> _32) * size) >> _32]
        word = _word(after, uint64(q // 2 + 1))
        s2 += column[((word & _LOW) * size) >> _32]
        s3 += column[((word >> _32) * size) >> _32]
    whole = missing - missing % 4
    if missing > whole:
        s0 += column[(_half(after, whole) * size) >> _32]
    if missing > whole + 1:
        s1 += column[(_half(after, whole + 1) * size) >> _32]
    if missing > whole + 2:
        s2 += column[(_half(after, whole + 2) * size) >> _32]
    return (s0 + s1) + (s2 + s3)


@njit(parallel=True, cache=True)  # type: ignore[untyped-decorator]  # numba ships no types
def counted_sums(
    grouped: NDArray[np.float64],
    n: int,
    cells: NDArray[np.int16],
    rare: NDArray[np.uint64],
    key: np.uint64,
    first: int,
    out: NDArray[np.float64],
) -> None:
    """out[b, c] = Σ over n uniform draws of grouped[c], from counts of how often each unit is drawn."""
    width, length = grouped.shape
    per_part = (len(out) + _PARTS - 1) // _PARTS
    for part in prange(_PARTS):
        words, sums = np.empty(length // 4, dtype=np.uint64), np.empty(GROUP)
        units = words.view(np.int16)
        for b in range(part * per_part, min(len(out), (part + 1) * per_part)):
            own, attempt = _word(uint64(key), uint64(first + b)), uint64(0)
            stream = _word(own, attempt)
            missing, c = _poisson_counts(stream, n, cells, rare, words, units)
            while missing < 0:
                attempt += _ONE
                stream = _word(own, attempt)
                missing, c = _poisson_counts(stream, n, cells, rare, words, units)
            for k in range(width):
                extra = _topped_up(stream, c, n, missing, grouped[k])
                out[b, k] = _counted(units, grouped[k], sums) + extra


# ------------------------------------------------------------------------------------------------ unequal probabilities


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
