"""The compiled loops of all pairs at once, and nothing else. Each has a numpy twin in `shared_signs`.

Additions are in the twin's order, so that sums have the same bits.
"""

import numpy as np
from numba import njit, prange
from numpy.typing import NDArray

_TABLES = 4  # bytes of signs at a time: their tables and the sums stay in the cache
_COLUMNS = 64  # at a time, for the same reason
_ROWS = 2_500  # replicates at a time: many, as each block fills its own tables
_TILE = 32  # systems × systems
_PARTS = 16  # of the replicates, each with its own counters


@njit(cache=True)  # type: ignore[untyped-decorator]  # numba ships no types
def _fill(values: NDArray[np.float64], start: int, left: int, table: NDArray[np.float64]) -> None:
    """table[code] = Σ ±values of eight units, plus where the code has a bit."""
    table[0] = 0.0
    width = table.shape[1]
    size = 1
    for row in range(start, start + 8):
        for code in range(size):
            for c in range(width):
                value = values[row, left + c] if row < values.shape[0] else 0.0
                base = table[code, c]
                table[code, c] = base - value
                table[code + size, c] = base + value
        size *= 2


@njit(cache=True)  # type: ignore[untyped-decorator]  # numba ships no types
def _add_block(
    codes: NDArray[np.uint8],
    values: NDArray[np.float64],
    left: int,
    tables: NDArray[np.float64],
    sums: NDArray[np.float64],
) -> None:
    rows, groups = codes.shape
    width = sums.shape[1]
    first, second, third, fourth = tables[0], tables[1], tables[2], tables[3]
    whole = groups - groups % _TABLES
    for start in range(0, whole, _TABLES):
        for t in range(_TABLES):
            _fill(values, 8 * (start + t), left, tables[t])
        for b in range(rows):
            i, j, k, m = codes[b, start], codes[b, start + 1], codes[b, start + 2], codes[b, start + 3]
            for c in range(width):
                sums[b, c] = (((sums[b, c] + first[i, c]) + second[j, c]) + third[k, c]) + fourth[m, c]
    for start in range(whole, groups):
        _fill(values, 8 * start, left, first)
        for b in range(rows):
            code = codes[b, start]
            for c in range(width):
                sums[b, c] += first[code, c]


@njit(parallel=True, cache=True)  # type: ignore[untyped-decorator]  # numba ships no types
def signed_sums(codes: NDArray[np.uint8], values: NDArray[np.float64], out: NDArray[np.float64]) -> None:
    """out[b] = Σ ±values[u], the signs of eight units in each byte of codes (B, bytes)."""
    rows, k = out.shape
    across = (k + _COLUMNS - 1) // _COLUMNS
    for block in prange(((rows + _ROWS - 1) // _ROWS) * across):
        low, left = (block // across) * _ROWS, (block % across) * _COLUMNS
        high, width = min(low + _ROWS, rows), min(_COLUMNS, k - left)
        sums = np.zeros((high - low, width))
        _add_block(codes[low:high], values, left, np.zeros((_TABLES, 256, width)), sums)
        out[low:high, left : left + width] = sums


@njit(parallel=True, cache=True)  # type: ignore[untyped-decorator]  # numba ships no types
def count_reached(sums: NDArray[np.float64], thresholds: NDArray[np.float64], counts: NDArray[np.int64]) -> None:
    """counts[i, j] += #{b: |sums[i, b] − sums[j, b]| ≥ thresholds[i, j]}, for i < j and sums (k, B)."""
    k, rows = sums.shape
    for i in prange(k - 1):
        for j in range(i + 1, k):
            least, reached = thresholds[i, j], 0
            for b in range(rows):
                reached += abs(sums[i, b] - sums[j, b]) >= least
            counts[i, j] += reached


@njit(cache=True)  # type: ignore[untyped-decorator]  # numba ships no types
def _part_maxima(
    sums: NDArray[np.float64],
    pairs: NDArray[np.int64],
    scale: NDArray[np.float64],
    observed: NDArray[np.float64],
    counts: NDArray[np.int64],
    largest: NDArray[np.float64],
) -> None:
    first, second = pairs[0], pairs[1]
    for b in range(len(sums)):
        row = sums[b]
        most = 0.0
        for r in range(len(first)):
            value = abs(row[first[r]] - row[second[r]]) * scale[r]
            if value > most:  # noqa: PLR1730  # five times as fast as max, which looks for NaN
                most = value
            if most >= observed[r]:
                counts[r] += 1
        largest[b] = most


@njit(parallel=True, cache=True)  # type: ignore[untyped-decorator]  # numba ships no types
def count_maxima(
    sums: NDArray[np.float64],
    pairs: NDArray[np.int64],
    scale: NDArray[np.float64],
    observed: NDArray[np.float64],
    counts: NDArray[np.int64],
    largest: NDArray[np.float64],
) -> None:
    """counts[r] += #{b: the largest of |sums[b, i] − sums[b, j]|·scale over the pairs 0 … r reaches observed[r]}.

    The pairs (2, P) are in rising order of observed; largest[b] is that of all pairs.
    """
    rows = len(sums)
    own = np.zeros((_PARTS, len(scale)), dtype=np.int64)
    for part in prange(_PARTS):
        low, high = part * rows // _PARTS, (part + 1) * rows // _PARTS
        _part_maxima(sums[low:high], pairs, scale, observed, own[part], largest[low:high])
    for part in range(_PARTS):
        counts += own[part]


@njit(cache=True)  # type: ignore[untyped-decorator]  # numba ships no types
def _tile(columns: NDArray[np.float64], top: int, left: int, sums: NDArray[np.float64]) -> None:
    for u in range(columns.shape[0]):
        for i in range(sums.shape[0]):
            own = columns[u, top + i]
            for j in range(sums.shape[1]):
                gap = own - columns[u, left + j]
                sums[i, j] += gap * gap


@njit(parallel=True, cache=True)  # type: ignore[untyped-decorator]  # numba ships no types
def squared_gaps(columns: NDArray[np.float64], out: NDArray[np.float64]) -> None:
    """out[i, j] = Σ (columns[u, i] − columns[u, j])², tile by tile so that the sums stay in the cache."""
    k = columns.shape[1]
    across = (k + _TILE - 1) // _TILE
    for tile in prange(across * across):
        top, left = (tile // across) * _TILE, (tile % across) * _TILE
        if left >= top:
            sums = np.zeros((min(_TILE, k - top), min(_TILE, k - left)))
            _tile(columns, top, left, sums)
            out[top : top + _TILE, left : left + _TILE] = sums


@njit(cache=True)  # type: ignore[untyped-decorator]  # numba ships no types
def _sum_tile(
    columns: NDArray[np.float64], top: int, left: int, sums: NDArray[np.float64], squares: NDArray[np.float64]
) -> None:
    for u in range(columns.shape[0]):
        for i in range(sums.shape[0]):
            own = columns[u, top + i]
            for j in range(sums.shape[1]):
                gap = own - columns[u, left + j]
                sums[i, j] += gap
                squares[i, j] += gap * gap


@njit(parallel=True, cache=True)  # type: ignore[untyped-decorator]  # numba ships no types
def gap_sums(columns: NDArray[np.float64], sums: NDArray[np.float64], squares: NDArray[np.float64]) -> None:
    """sums[i, j] = Σ (columns[u, i] − columns[u, j]), and of its squares, tile by tile."""
    k = columns.shape[1]
    across = (k + _TILE - 1) // _TILE
    for tile in prange(across * across):
        top, left = (tile // across) * _TILE, (tile % across) * _TILE
        if left >= top:
            shape = (min(_TILE, k - top), min(_TILE, k - left))
            added, squared = np.zeros(shape), np.zeros(shape)
            _sum_tile(columns, top, left, added, squared)
            sums[top : top + _TILE, left : left + _TILE] = added
            squares[top : top + _TILE, left : left + _TILE] = squared
