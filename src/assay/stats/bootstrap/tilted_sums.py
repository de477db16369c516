"""The sums Σ pᵢ gᵢᵐ exp(iu yᵢ) over the units of a ratio, at the frequencies u = (k + ½)·h, as far as they matter.

Where no u·y is large they come from moments, Σ gᵐ yʲ, which are one product of two small matrices: no sine, and few
calls. Elsewhere from waves: one sine and cosine per unit, doubled from frequency to frequency. Of many units those few
whose u·y are large have waves, the others moments.
"""

import threading
from functools import lru_cache
from math import factorial, log, sqrt
from typing import NamedTuple

import numpy as np

from assay.stats.bootstrap.fourier import LONGEST, WORK, Complexes
from assay.stats.bootstrap.tilted_units import Drawn, largest_of, revival_of
from assay.stats.units import Floats

DECAYED = 1e-10  # the |ψ| at which the sums end
_ENDED = sqrt(-2 * log(DECAYED))  # where a normal ψ is there
_AS_NORMAL, _FAR_ENOUGH = 1.2, 14.0  # times where a normal ψ ends, and a frequency: most ψ end there
_LEAST_OTHERS = 0.1  # of the variance, that is not the largest unit's
_AT_FIRST, _AT_ONCE = 48, 256  # frequencies, at most
_ROOM = 1 << 17  # complex numbers that stay in the cache
_ONE_THREAD = 1 << 17  # multiplications of matrices: more would take threads
_BLOCK = 1 << 12  # units whose powers stay in the cache
_MANY = 6_000  # units, from which on those that are large are worth taking apart
_LARGEST, _LARGEST_OF_MANY = 8.0, 1.0  # u·y that a Taylor series takes: rounding of e⁸ terms is no error
_LEFT_OUT = 1e-12  # what the terms of a Taylor series that are left out may change in ψ
_FACTORIALS = tuple(float(factorial(j)) for j in range(65))


class Series(NamedTuple):
    """The sums at K frequencies."""

    sums: Complexes  # (K, terms) Σ p (h·g)ᵐ exp(iu y)
    psi: Floats  # (K,) |Σ p exp(iu y)|ⁿ
    width: float  # of the kernel that ends it where it does not end by itself, in standard errors


def series_until_decay(drawn: Drawn, terms: int) -> Series:
    """The sums as far as ψ lives."""
    n, first = drawn.n, drawn.first
    budget = min(max(int(WORK / n), 4 * _AT_FIRST), LONGEST)
    least = revival_of(drawn)
    others = sqrt(max(1 - drawn.largest**2, _LEAST_OTHERS))  # the largest unit turns ψ, the others end it
    size = min(_AT_FIRST, int(max(_AS_NORMAL * _ENDED / others, min(least, _FAR_ENOUGH)) / first) + 2)
    sums = lowest(drawn, size, terms)
    psi, done = np.abs(sums[:, 0]) ** n, size
    while first * done < least or max(psi[-4:].tolist()) >= DECAYED:
        if done >= budget:
            return Series(sums, psi, _ENDED / (first * done))
        size = min(_AT_ONCE, max(8, done // 2))
        sums = np.concatenate([sums, waves(drawn, size, terms, done)])
        psi = np.concatenate([psi, np.abs(sums[done:, 0]) ** n])
        done += size
    end = _last_alive(psi.tolist()) + 2  # beyond, an expansion in g need not converge
    return Series(sums[:end], psi[:end], 0.0)


def _last_alive(psi: list[float]) -> int:
    """The last place at which ψ has not decayed; −1: none."""
    last = len(psi) - 1
    while last >= 0 and psi[last] < DECAYED:
        last -= 1
    return last


def lowest(drawn: Drawn, count: int, terms: int) -> Complexes:
    """(count, terms) The sums at the lowest frequencies."""
    n, top = drawn.n, drawn.first * count  # frequency
    reach = top * drawn.largest
    if drawn.p is not None:
        return waves(drawn, count, terms)
    if reach <= (_LARGEST if n < _MANY else _LARGEST_OF_MANY):
        return _from_moments(drawn, count, terms, reach)
    if n < _MANY:
        return waves(drawn, count, terms)
    large = np.abs(drawn.y) > drawn.first * _LARGEST_OF_MANY / top
    if np.count_nonzero(large) > n // 20:
        return waves(drawn, count, terms)
    small, few = drawn.some(~large), drawn.some(large)
    share = few.n / n
    total = _from_moments(small, count, terms, largest_of(small.y) * count) * (1 - share)
    total += waves(few, count, terms) * share
    return total


class _Room(threading.local):
    """An array to work in: a fresh one of this size costs more than what is done in it."""

    def __init__(self) -> None:
        self.array = np.empty(_ROOM, dtype=np.complex128)
        self.floats = self.array.view(np.float64)

    def of(self, rows: int, columns: int) -> Complexes:
        return self.array[: rows * columns].reshape(rows, columns)


_room = _Room()


# -------------------------------------------------------------------------------------------------------- by moments


def _from_moments(drawn: Drawn, count: int, terms: int, reach: float) -> Complexes:
    """The sums of uniform draws by their Taylor series in u, whose u·y are at most ``reach``."""
    n, step, fourths = drawn.n, _BLOCK, 2
    while reach ** (4 * fourths) > _LEFT_OUT / n * _FACTORIALS[4 * fourths]:
        fourths += 1
    found = _moments(drawn if n <= step else drawn.some(slice(step)), fourths, terms)
    for low in range(step, n, step):
        found += _moments(drawn.some(slice(low, low + step)), fourths, terms)
    sums: Complexes = _taylor(fourths)[:count].dot(found)
    sums /= n  # only now, so that the sum of n times 1 is n
    return sums


def _moments(drawn: Drawn, fourths: int, terms: int) -> Complexes:
    """(4·fourths, terms) Σ gᵐ yʲ, for j = 0, 4, 8, …, then for 1, 5, 9, …, and so on."""
    n, y, g, squares, *_ = drawn
    room = _room.floats[: (fourths + 4 * terms) * n].reshape(fourths + 4 * terms, n)
    right, left = room[:fourths], room[fourths:]
    square = y * y
    right[0] = 1.0
    np.multiply(square, square, out=right[1])
    _filled(right)
    left[0] = 1.0
    left[1] = g
    for m in range(2, terms, 2):
        np.multiply(left[m - 2 : m], squares, out=left[m : m + 2])
    np.multiply(left[:terms], y, out=left[terms : 2 * terms])
    np.multiply(left[: 2 * terms], square, out=left[2 * terms :])
    found = left.dot(right.T).reshape(4, terms, fourths)
    return np.asarray(found.transpose(0, 2, 1), dtype=np.complex128, order="C").reshape(4 * fourths, terms)


def _filled(powers: Floats) -> None:
    """Write what follows x⁰ and x¹, by doubling."""
    have, rows = 1, len(powers)
    while have < rows - 1:
        more = min(have, rows - 1 - have)
        np.multiply(powers[1 : 1 + more], powers[have], out=powers[have + 1 : have + 1 + more])
        have += more


@lru_cache(maxsize=16)
def _taylor(fourths: int) -> Complexes:
    """(K, 4·fourths) The coefficients of the same powers of y in exp(i(k + ½)y)."""
    powers = [4 * j + start for start in range(4) for j in range(fourths)]
    turns = 1j * half_integers(_AT_FIRST)[:, None]
    return np.asarray(turns ** np.array(powers) / np.array([_FACTORIALS[power] for power in powers]))


# ---------------------------------------------------------------------------------------------------------- by waves


def waves(drawn: Drawn, count: int, terms: int, skip: int = 0) -> Complexes:
    """(count, terms) The sums at the frequencies h·(skip + ½ … skip + count − ½)."""
    n, total = drawn.n, None
    step = max(1, min(_ROOM, _ONE_THREAD // terms) // count)
    for low in range(0, n, step):
        part = drawn if step >= n else drawn.some(slice(low, low + step))
        found = _waves(part.y, count, skip) @ _weights(part, terms, 1 / n)
        total = found if total is None else total + found
    assert total is not None
    return total


def _weights(drawn: Drawn, terms: int, weight: float) -> Complexes:
    """(n, terms) p·gᵐ, complex because a mixed product would convert it each time."""
    rows = np.empty((terms, drawn.n))
    rows[0] = weight if drawn.p is None else drawn.p
    for m in range(1, terms):
        np.multiply(rows[m - 1], drawn.g, out=rows[m])
    return rows.T.astype(np.complex128)


def _waves(y: Floats, count: int, skip: int) -> Complexes:
    """(count, n) exp(i·(skip + ½ + k)·y), by doubling: one sine and cosine per unit, and two after a skip."""
    out = _room.of(count, len(y))
    angle = 0.5 * y
    np.cos(angle, out=out[0].real)
    np.sin(angle, out=out[0].imag)
    turn = out[0] * out[0]
    if skip:
        angle *= 2 * skip
        out[0] *= np.cos(angle) + 1j * np.sin(angle)
    have = 1
    while have < count:
        more = min(have, count - have)
        np.multiply(out[:more], turn, out=out[have : have + more])
        turn *= turn
        have += more
    return out


@lru_cache(maxsize=64)
def half_integers(count: int) -> Floats:
    """½, 1½, 2½, …"""
    return np.asarray(np.arange(count) + 0.5, dtype=np.float64)
