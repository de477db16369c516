"""Exact sign-flip tests of many pairs at once, from the even moments of their differences.

The characteristic function of Σ ±d is Π cos(u·d), and log cos is a power series: with the moments μ₂ⱼ = Σ d²ʲ,

    K(w) = Σ log cosh(w·d) = Σⱼ cⱼ w²ʲ μ₂ⱼ,   cⱼ = (−1)ʲ⁺¹ λ(2j)/j · (2/π)²ʲ,   λ(2j) = Σ 1/(2k − 1)²ʲ.

So the tilted inversion of `assay.stats.paired_tests` needs eight sums for a pair instead of a sine and a cosine for
every unit and frequency. What the series leaves out is bounded, and where the bound is not small, or the differences
repeat, lie in clumps or have large ones among them, a pair is left to be tested by itself.

A sum of a pair has the same bits whatever pairs are there beside it.
"""

from math import pi
from typing import Any

import numpy as np
from numpy.typing import NDArray

from assay.stats.bootstrap.fourier import DECAYED, FINEST
from assay.stats.ranking.pairs import Pairs
from assay.stats.units import Floats, Grid, Integers, Truths

FEWEST_UNITS = 500  # fewer, and one of them is too large
_ORDER = 8  # moments
_REACH = 7.7  # as in `assay.stats.paired_tests`
_FREQUENCIES = 20  # up to 8.2: a normal characteristic function is 3e-15 there
_LARGEST = 0.12  # |d|/√Σd²: up to here log cosh converges, and nothing revives before the 32nd frequency
_ERROR = 1e-7  # relative, of a p-value
_SAMPLE = 512  # differences of a pair that are looked at for ties and clumps
_FEWEST_SAMPLED = 64  # of them that are not 0
_ROOM = 1 << 15  # differences at a time: they stay in the cache
_SPAN = 8_192  # units at a time: longer products would be split among threads
_MOST_STEPS = 30

_J = np.arange(1, _ORDER + 1)
_ODD = np.arange(1.0, 4_001.0, 2.0)
_C = np.where(_J % 2, 1.0, -1.0) / _J * np.array([(_ODD ** (-2.0 * j)).sum() for j in _J]) * (2 / pi) ** (2.0 * _J)
_C[0] = 0.5


def moments_serve(grid: Grid) -> bool:
    """Whether every pair's differences are those of two columns, of enough units."""
    return grid.whole and grid.clusters is None and grid.strata is None and grid.n >= FEWEST_UNITS


def exact_p_values(pairs: Pairs, chosen: Integers) -> Floats:
    """(m,) Two-sided p-values of the chosen pairs; NaN where one has to be tested by itself."""
    p = np.full(len(chosen), np.nan)
    columns = np.ascontiguousarray(pairs.grid.sums.T)  # (k, n)
    norm, evidence = pairs.norm[chosen], pairs.evidence[chosen]
    some = np.flatnonzero((norm > 0) & (pairs.spread[chosen] > 0) & (evidence > 1e-9))
    moments, largest = _moments(columns, pairs.index[:, chosen[some]], norm[some])
    small = np.flatnonzero(largest <= _LARGEST)
    small = small[_generic(columns, pairs.index[:, chosen[some[small]]], norm[some[small]])]
    some, moments, largest = some[small], moments[:, small], largest[small]
    with np.errstate(over="ignore", invalid="ignore"):  # where the series does not converge, far out
        p[some] = _inverted(moments, largest, evidence[some], pairs.grid.n)
    return p


def _moments(columns: Floats, index: Integers, norms: Floats) -> tuple[Floats, Floats]:
    """(J, m) Σ d²ʲ, and (m,) max |d|, of the columns' differences over their norms."""
    (i, j), n = index, columns.shape[1]
    found, largest = np.zeros((_ORDER, len(i))), np.zeros(len(i))
    span = min(n, _SPAN)
    rows = max(1, _ROOM // span)
    room, sums = np.empty((5, rows, span)), np.empty((rows, 1, 1))
    for low in range(0, len(i), rows):
        part = slice(low, min(low + rows, len(i)))
        for first in range(0, n, span):
            d, d2, d4, d6, d8 = room[:, : part.stop - low, : min(span, n - first)]
            units = slice(first, first + span)
            np.subtract(columns[i[part], units], columns[j[part], units], out=d)
            d *= (1 / norms[part])[:, None]
            np.multiply(d, d, out=d2)
            np.multiply(d2, d2, out=d4)
            np.multiply(d4, d2, out=d6)
            np.multiply(d4, d4, out=d8)
            factors = ((d, d), (d2, d2), (d4, d2), (d4, d4), (d6, d4), (d6, d6), (d8, d6), (d8, d8))
            for moment, (a, b) in zip(found, factors, strict=True):
                moment[part] += np.matmul(a[:, None, :], b[:, :, None], out=sums[: len(a)])[:, 0, 0]
            largest[part] = np.maximum(largest[part], np.maximum.reduce(d8, axis=1))
    return found, largest**0.125


def _generic(columns: Floats, index: Integers, norms: Floats) -> Truths:
    """(m,) Whether differences neither repeat nor lie in clumps, so that the sum's distribution has no steps.

    Of the sizes in a sample none may occur twice, but for 0; and those from 0 up to the first gap must carry half of
    the variance: once decayed, the characteristic function cannot revive then (`fourier.last_revival`).
    """
    seen = columns[:, :: -(-columns.shape[1] // _SAMPLE)]
    out, batch = np.empty(len(norms), dtype=np.bool_), max(1, (1 << 18) // seen.shape[1])
    for low in range(0, len(norms), batch):
        part = slice(low, low + batch)
        size = np.abs(seen[index[0, part]] - seen[index[1, part]]) / norms[part, None]
        size.sort(axis=1)
        gaps = np.diff(size, axis=1, prepend=-size[:, :1])  # the sizes have two signs
        repeated = ((gaps[:, 1:] <= 1e-12 * size[:, -1:]) & (size[:, 1:] > 0)).any(axis=1)
        apart = gaps > FINEST
        joined = np.where(apart.any(axis=1), apart.argmax(axis=1), size.shape[1])
        squares = np.cumsum(size * size, axis=1)
        central = np.where(joined > 0, squares[np.arange(len(size)), np.maximum(joined, 1) - 1], 0.0)
        many = np.count_nonzero(size, axis=1) >= _FEWEST_SAMPLED
        out[part] = ~repeated & many & (central >= 0.5 * squares[:, -1])
    return out


def _inverted(moments: Floats, largest: Floats, observed: Floats, n: int) -> Floats:
    """(m,) P(|Σ ±d| ≥ observed), as `paired_tests._by_inversion` has it; NaN where the series does not tell."""
    terms = _C[:, None] * moments  # (J, m)
    s = _tilts(terms, observed)
    u = pi / _REACH * np.arange(1, _FREQUENCIES + 1)
    slope = s[:, None] + 1j * u  # (m, F)
    at_tilt = _cumulant(terms, s * s)
    psi = np.exp(_cumulant(terms[:, :, None], slope * slope) - at_tilt[:, None])
    waves = (1 - np.exp(-slope * _REACH)) / slope
    area = (psi * np.exp(-1j * u * observed[:, None]) * waves).real.sum(axis=1)
    mass = -np.expm1(-s * _REACH) / s + 2 * area
    left_out = _left_out(moments[-1], largest, s[:, None] ** 2 + u * u)
    error = (2 * np.abs(psi * waves) * left_out).sum(axis=1) + mass * left_out[:, 0]
    known = (mass > 0) & (error <= _ERROR * mass) & (np.abs(psi[:, -1]) < DECAYED)
    p = 2 * np.exp(at_tilt - s * observed) * mass / (2 * _REACH) + 0.5**n
    return np.where(known, np.minimum(p, 1.0), np.nan)


def _cumulant(terms: Floats, square: NDArray[Any]) -> NDArray[Any]:
    """Σⱼ termⱼ·squareʲ."""
    out: NDArray[Any] = terms[-1] * square
    for term in terms[-2::-1]:
        out += term
        out *= square
    return out


def _tilts(terms: Floats, observed: Floats) -> Floats:
    """(m,) The s with K'(s) = observed, by Newton's method; K' is nearly a line, of slope 1 at 0 and less beyond."""
    first = 2 * _J[:, None] * terms  # of K'(s)·s
    second = (2 * _J[:, None] - 1) * first  # of K''(s)·s²
    s = observed.copy()
    for _ in range(_MOST_STEPS):
        square = s * s
        step = (observed - _cumulant(first, square) / s) * square / np.maximum(_cumulant(second, square), 0.05 * square)
        s = np.maximum(s + step, 0.5 * s)
        if bool((np.abs(step) <= 1e-12 * s).all()):
            break
    return s


def _left_out(highest: Floats, largest: Floats, square: Floats) -> Floats:
    """(m, F) What the terms beyond the last may add to K(w), |w|² = square: a geometric series; ∞ where none."""
    ratio = (4 / pi**2) * largest[:, None] ** 2 * square
    next_term = (4 / pi**2 * square) ** (_ORDER + 1) * (highest * largest**2)[:, None] / (_ORDER + 1)
    return np.where(ratio < 0.95, next_term / np.maximum(1 - ratio, 0.05), np.inf)
