"""Rounding: differences that are nothing else count as 0.

Two values that were meant to be equal differ by an ulp or a few once they have been summed in another order. A test of
signs does not see how small such a difference is: fifty of them, all positive, have p = 2⁻⁴⁹. So values of one unit
that differ by no more than 1e-12 of their own size are made equal before anything is subtracted. Float64 carries 1e-16,
and a sum of ten thousand terms is off by 1e-12 at worst; what is measured differs by far more.
"""

import numpy as np
from numpy.typing import NDArray

NOISE = 8 * float(np.finfo(np.float64).eps)  # of a few operations
_FIRST, _AT_ONCE = 2_000, 1 << 18  # rows that are looked at first, values that are sorted at a time
WHOLE = 2.0**53  # up to here every whole number is a double
TOLERANCE = 1e-12  # of the larger of the two values that are subtracted


def snapped(values: NDArray[np.float64]) -> tuple[NDArray[np.float64], int]:
    """(n, k) The values, with those of a row made equal that differ by rounding only; and how many were changed.

    A row is one unit, a column one system; NaN (no value) stays. Equal means equal to the least of those that follow
    each other within the tolerance, so it does not depend on the order of the columns.

    >>> import numpy as np
    >>> found, changed = snapped(np.array([[0.1 + 0.2, 0.3], [1e15, 1e15 + 1], [1.0, 1.1]]))
    >>> changed, found[:2, 0] == found[:2, 1]
    (2, array([ True,  True]))
    """
    if values.shape[1] < 2 or _far_apart(values):
        return values, 0
    rows = _with_residue(values)
    if not len(rows):
        return values, 0
    some = values[rows]
    order = np.argsort(some, axis=1, kind="stable")
    ranked = np.take_along_axis(some, order, axis=1)
    joined, made = _joined(ranked), ranked.copy()
    for column in range(1, values.shape[1]):
        made[:, column] = np.where(joined[:, column - 1], made[:, column - 1], made[:, column])
    changed = int((joined & (made[:, 1:] != ranked[:, 1:])).sum())
    out = values.copy(order="K")
    part = np.empty_like(made)
    np.put_along_axis(part, order, made, axis=1)
    out[rows] = part
    return out, changed


def _with_residue(values: NDArray[np.float64]) -> NDArray[np.int64]:
    """The rows with two values that differ by rounding only; some at a time, for there may be many."""
    found, step = [], max(1, _AT_ONCE // values.shape[1])
    for first in range(0, len(values), step):
        some = values[first : first + step]
        if values.shape[1] == 2:
            near = _near(some[:, 0], some[:, 1])
            found.append(first + np.flatnonzero(near))
            continue
        ranked = np.sort(some, axis=1)
        near = (_joined(ranked) & (ranked[:, 1:] != ranked[:, :-1])).any(axis=1)
        found.append(first + np.flatnonzero(near))
    return np.concatenate(found) if found else np.empty(0, dtype=np.int64)


def _near(a: NDArray[np.float64], b: NDArray[np.float64]) -> NDArray[np.bool_]:
    """(n,) Whether two values differ, by rounding only."""
    with np.errstate(over="ignore", invalid="ignore"):
        gaps = np.abs(b - a)
        near = gaps <= TOLERANCE * np.maximum(np.abs(a), np.abs(b))
        near &= gaps != 0
    return np.asarray(near)


def difference(a: NDArray[np.float64], b: NDArray[np.float64]) -> NDArray[np.float64]:
    """The difference b − a of arrays of one shape, 0 where it is rounding.

    >>> import numpy as np
    >>> difference(np.array([0.3, 1.0]), np.array([0.1 + 0.2, 1.5]))
    array([0. , 0.5])
    """
    return without_residue(b - a, np.maximum(np.abs(a), np.abs(b)))


def without_residue(sums: NDArray[np.float64], sizes: NDArray[np.float64]) -> NDArray[np.float64]:
    """Sums of differences, with 0 for those that only rounding keeps from it; ``sizes`` are the sums of |terms|."""
    return np.where(np.abs(sums) <= TOLERANCE * sizes, 0.0, sums)


def levelled(values: NDArray[np.float64], sizes: NDArray[np.float64] | None = None) -> NDArray[np.float64]:
    """(n,) A series of one value where its values differ by rounding only; ``sizes``: what they were subtracted from.

    >>> import numpy as np
    >>> levelled(np.array([0.1 + 0.2, 0.3, 0.3])).tolist()
    [0.3, 0.3, 0.3]
    """
    size = float(np.abs(values if sizes is None else sizes).max(initial=0.0))
    if not len(values) or float(np.ptp(values)) > TOLERANCE * size:
        return values
    return np.full(len(values), values.min())


def _far_apart(values: NDArray[np.float64]) -> bool:
    """Whole numbers (0/1 scores, counts) below 1e12 cannot be closer than the tolerance without being equal."""
    with np.errstate(invalid="ignore"):
        if not (values[:_FIRST] == np.rint(values[:_FIRST])).all():
            return False
        return bool((values == np.rint(values)).all()) and float(np.abs(values).max(initial=0.0)) < 1 / TOLERANCE


def _joined(ranked: NDArray[np.float64]) -> NDArray[np.bool_]:
    """(n, k − 1) Whether a value differs from the one before it by rounding only, or not at all."""
    before, after = ranked[:, :-1], ranked[:, 1:]
    with np.errstate(over="ignore", invalid="ignore"):
        gaps = after - before
        return np.asarray(gaps <= TOLERANCE * np.maximum(np.abs(before), np.abs(after)))
