"""The compiled loops of drawing respondents, and nothing else. Each has a numpy twin in `respondents`.

Every operation is one that IEEE 754 defines, in the twin's order, so that results have the same bits.
"""

import math

import numpy as np
from numba import njit, prange, uint64
from numpy.typing import NDArray

from assay.stats.streams import GOLDEN, MIX_1, MIX_2

_GOLDEN, _MIX_1, _MIX_2 = np.uint64(GOLDEN), np.uint64(MIX_1), np.uint64(MIX_2)
_27, _30, _31 = np.uint64(27), np.uint64(30), np.uint64(31)
_ONE = np.uint64(1)
_BLOCK = 250  # replicates: a thread takes so many at a time


@njit(cache=True)  # type: ignore[untyped-decorator]  # numba ships no types
def _below(digits: NDArray[np.uint16], size: int, limit: int) -> int:
    """How many of the first ``size`` digits are below the limit; 32-bit sums, so that many are compared at once."""
    found = np.int32(0)
    for i in range(size):
        found = np.int32(found + np.int32(np.int32(digits[i]) < np.int32(limit)))
    return int(found)


@njit(parallel=True, cache=True)  # type: ignore[untyped-decorator]  # numba ships no types
def draw(
    limits: NDArray[np.int32],
    sizes: NDArray[np.int64],
    options: NDArray[np.int64],
    start: NDArray[np.int64],
    stream: tuple[np.uint64, int, int],
    counts: NDArray[np.int32],
    ends: NDArray[np.int32],
) -> None:
    """counts[c, b, j]: how many of sizes[c] people choose option j in replicate first + b; ends: least and most.

    A word has four digits, and a digit below limits[c, j] chooses one of the options up to j.
    """
    key, first, per_replicate = uint64(stream[0]), stream[1], stream[2]
    for c in prange(counts.shape[0]):
        size, k = sizes[c], options[c]
        buffer = np.empty((size + 3) // 4, dtype=np.uint64)
        digits = buffer.view(np.uint16)
        for b in range(counts.shape[1]):
            at = uint64(first + b) * uint64(per_replicate) + uint64(start[c])
            for i in range(len(buffer)):
                z = key + (at + uint64(i) + _ONE) * _GOLDEN
                z = (z ^ (z >> _30)) * _MIX_1
                z = (z ^ (z >> _27)) * _MIX_2
                buffer[i] = z ^ (z >> _31)
            before = 0
            for j in range(k - 1):
                upto = _below(digits, size, limits[c, j])
                counts[c, b, j] = upto - before
                before = upto
            counts[c, b, k - 1] = size - before
        for j in range(k):
            ends[0, c, j], ends[1, c, j] = counts[c, :, j].min(), counts[c, :, j].max()


@njit(parallel=True, cache=True)  # type: ignore[untyped-decorator]  # numba ships no types
def fill_tables(
    cells: tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int32]],
    shares: tuple[NDArray[np.float64], NDArray[np.float64]],
    logs: tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]],
    series: tuple[float, float, float, float],
    floor: tuple[float, float],
    table_at: NDArray[np.int64],
    table: NDArray[np.float64],
) -> None:
    """table[table_at[c, j] + count, m]: what option j adds to the divergence of prediction m at a count."""
    sizes, options, ends = cells
    predicted, own_logs = shares
    count_logs, inverse, grid_logs = logs
    least, least_log = floor
    one, two, three, four = series
    last = len(inverse) - 1
    for c in prange(len(sizes)):
        size = float(sizes[c])
        size_log = count_logs[sizes[c]] / size
        mixed = np.empty(1)
        bits = mixed.view(np.int64)
        for j in range(options[c]):
            for count in range(ends[0, c, j], ends[1, c, j] + 1):
                p = count / size
                shown, own = p, (count_logs[count] - count * size_log) / size
                if count == 0:
                    shown, own = least, least_log
                for m in range(table.shape[1]):
                    q = predicted[c, m, j]
                    mixed[0] = max((p + q) / 2, least)
                    exponent = (bits[0] >> 52) - 1023
                    place = (bits[0] >> 41) & last
                    bits[0] = (bits[0] & 0xFFFFFFFFFFFFF) | (1023 << 52)
                    x = mixed[0] * inverse[place] - 1.0
                    log = (exponent + grid_logs[place]) + x * (one + x * (two + x * (three + x * four)))
                    table[table_at[c, j] + count, m] = ((own + own_logs[c, m, j]) - (shown + max(q, least)) * log) / 2


@njit(cache=True)  # type: ignore[untyped-decorator]  # numba ships no types
def _sum_rows(
    counts: NDArray[np.int32],
    starts: NDArray[np.int64],
    table: NDArray[np.float64],
    score: NDArray[np.float64],
    replicates: tuple[np.uint64, np.uint64],
    models: np.uint64,
) -> None:
    """The divergences of a block of replicates: six rows of the table at once, most questions having no more."""
    row = np.full(max(len(starts), 6), len(table) - int(models), dtype=np.uint64)  # the last row of the table is 0
    for b in range(replicates[0], replicates[1]):
        to = (b - replicates[0]) * models
        for j in range(len(starts)):
            row[j] = uint64(starts[j] + counts[b, j]) * models
        r0, r1, r2, r3, r4, r5 = row[0], row[1], row[2], row[3], row[4], row[5]
        for m in range(models):
            score[to + m] = (
                (((table[r0 + m] + table[r1 + m]) + table[r2 + m]) + table[r3 + m]) + table[r4 + m]
            ) + table[r5 + m]
        for j in range(6, len(starts)):
            for m in range(models):
                score[to + m] += table[row[j] + m]


@njit(cache=True)  # type: ignore[untyped-decorator]  # numba ships no types
def _add_to_two(
    counts: NDArray[np.int32],
    starts: NDArray[np.int64],
    table: NDArray[np.float64],
    out: NDArray[np.float64],
    replicates: tuple[np.uint64, np.uint64],
    places: tuple[np.uint64, np.uint64, np.uint64],
) -> None:
    """One cell of at most six options and weight 1 in its question and its segment, in one pass, as most are."""
    models, one, two = places
    row, values = np.full(6, len(table) - int(models), dtype=np.uint64), np.empty(models)
    for b in range(replicates[0], replicates[1]):
        for j in range(len(starts)):
            row[j] = uint64(starts[j] + counts[b, j]) * models
        r0, r1, r2, r3, r4, r5 = row[0], row[1], row[2], row[3], row[4], row[5]
        for m in range(models):
            jsd = ((((table[r0 + m] + table[r1 + m]) + table[r2 + m]) + table[r3 + m]) + table[r4 + m]) + table[r5 + m]
            root = math.sqrt(jsd if jsd > 0.0 else 0.0)  # noqa: FURB136  # as below
            values[m] = 1.0 - root if root < 1.0 else 0.0
        to = uint64(b) * models
        for m in range(models):
            out[one + to + m] += values[m]
            out[two + to + m] += values[m]


@njit(cache=True)  # type: ignore[untyped-decorator]  # numba ships no types
def _add_cell(
    counts: NDArray[np.int32],
    starts: NDArray[np.int64],
    table: NDArray[np.float64],
    weights: NDArray[np.float64],
    blocks: NDArray[np.int64],
    out: NDArray[np.float64],
    replicates: tuple[int, int],
) -> None:
    """One cell in a block of replicates; all is flat, so that the loops over replicates and models are long ones."""
    models = uint64(len(weights))
    low, high = uint64(replicates[0]), uint64(replicates[1])
    whole = uint64(counts.shape[0])
    if len(starts) <= 6 and len(blocks) == 2 and not (weights != 1.0).any():
        places = uint64(blocks[0]) * whole * models, uint64(blocks[1]) * whole * models
        _add_to_two(counts, starts, table, out, (low, high), (models, places[0], places[1]))
        return
    size = (high - low) * models
    score = np.empty(size)
    _sum_rows(counts, starts, table, score, (low, high), models)
    for i in range(size):
        jsd = score[i]
        root = math.sqrt(jsd if jsd > 0.0 else 0.0)  # noqa: FURB136  # max would look for NaN, which takes longer
        score[i] = 1.0 - root if root < 1.0 else 0.0
    if (weights != 1.0).any():
        for b in range(high - low):
            for m in range(models):
                score[b * models + m] *= weights[m]
    for g in range(len(blocks)):
        at = (uint64(blocks[g]) * whole + low) * models
        for i in range(size):
            out[at + i] += score[i]


@njit(parallel=True, cache=True)  # type: ignore[untyped-decorator]  # numba ships no types
def add_scores(
    counts: NDArray[np.int32],
    options: NDArray[np.int64],
    table: NDArray[np.float64],
    table_at: NDArray[np.int64],
    weights: NDArray[np.float64],
    blocks: NDArray[np.int64],
    out: NDArray[np.float64],
) -> None:
    """out[blocks[c, g], b, m] += weights[c, m] · (1 − √Σⱼ table[table_at[c, j] + counts[c, b, j], m])."""
    cells, replicates = counts.shape[0], counts.shape[1]
    flat, sums = table.reshape(-1), out.reshape(-1)
    for part in prange((replicates + _BLOCK - 1) // _BLOCK):
        own = part * _BLOCK, min((part + 1) * _BLOCK, replicates)
        for c in range(cells):
            _add_cell(counts[c], table_at[c, : options[c]], flat, weights[c], blocks[c], sums, own)
