"""The compiled loop of the differences of all pairs, and nothing else. Its numpy twin is in `pairs`.

Additions are in the twin's order, so that sums have the same bits.
"""

import numpy as np
from numba import njit, prange
from numpy.typing import NDArray

_TILE = 32  # systems × systems


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
