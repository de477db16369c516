"""Exact sign flips of many differences, none of which is large, from their moments.

The sum T = Σ ±dᵢ has E exp(zT) = Π cosh(z·dᵢ), so its cumulant function is K(z) = Σ log cosh(z·dᵢ). Of many differences
each is small beside the spread of T, and log cosh x = x²/2 − x⁴/12 + x⁶/45 − … needs a few terms: a few sums of even
powers are all that is read from the data, in one pass. Tilt and inversion are those of `assay.stats.paired_tests`, with
ψ(u) = exp(K(s + iu) − K(s)).

Where the differences lie on a lattice (scores with few decimals), what ties with the observed sum counts: the tail
begins half a step below it. That takes a lattice which is fine beside the spread of T; a coarse one is convolved, and a
few large differences are multiplied out, both in `assay.stats.paired_tests`.
"""

from cmath import exp as complex_exp
from dataclasses import dataclass
from math import exp, expm1, log, pi, sqrt

import numpy as np

from assay.stats.bootstrap.exact import find_lattice
from assay.stats.bootstrap.fourier import DECAYED
from assay.stats.in_blocks import largest, slices
from assay.stats.numerics import SMALLEST_P, increasing_root
from assay.stats.units import Floats

_TIE = 1e-9  # an observed sum nearer to 0 than this, in standard deviations, is 0
_REACH = 7.7  # Hoeffding: a sum strays further than this many standard deviations with probability 3e-13
_SMALL = 0.3  # the largest |z·d| that the series takes
_FARTHEST_U = 9.0  # frequencies up to this are enough: ψ is nearly exp(−u²/2)
_TERMS = 13  # even powers: the first that is left out is below 1e-15 of the leading one
_MOST_DISTINCT = 4096  # sizes on one lattice
_COARSE = 1 << 16  # points of a window: a lattice with fewer is convolved
_FIT = 1e-6  # how far from a whole number of steps a difference may be
_FIRST = 1 << 15  # differences that a lattice is guessed from


@dataclass(frozen=True, slots=True)
class _Cumulants:
    """K(z) = Σ coefficient·(z²)ᵏ, k = 1, 2, …; also K′."""

    coefficients: tuple[float, ...]

    def value(self, z: complex) -> complex:
        square, found = z * z, 0j
        for one in reversed(self.coefficients):
            found = (found + one) * square
        return found

    def slope(self, s: float) -> float:
        terms = enumerate(self.coefficients, start=1)
        return sum(2 * k * one * s ** (2 * k - 1) for k, one in terms)


def many_flips(differences: Floats) -> tuple[float, float] | None:
    """Σ d / √Σ d² and the two-sided p-value; ``None`` where another way is needed."""
    n, top = len(differences), largest(lambda part: differences[part], len(differences))
    if not top > 0:
        return None
    sums = [(float((differences[part] / top).sum()), _squares(differences[part] / top)) for part in slices(n)]
    scale = sqrt(sum(square for _, square in sums))  # in units of the largest
    statistic = sum(one for one, _ in sums) / scale
    observed = abs(statistic)
    if observed <= _TIE:
        return statistic, 1.0
    if log(2) - observed * observed / 2 < log(SMALLEST_P):  # Hoeffding's bound
        return statistic, 0.0
    if (1.2 * observed + _FARTHEST_U) / scale > _SMALL:
        return None
    span = _lattice_span(differences, top * scale)
    if span is not None and _REACH / span < _COARSE:
        return None
    found = _tail(_cumulants(differences, top * scale, top), observed - (span or 0.0), 1 / scale)
    return None if found is None else (statistic, found)


def _squares(values: Floats) -> float:
    return float(np.add.reduce(values * values))


def _cumulants(differences: Floats, scale: float, top: float) -> _Cumulants:
    """Of the differences over ``scale``; powers are of differences over the largest, so that none underflows."""
    powers = [0.0] * _TERMS
    terms = next((k for k in range(1, _TERMS) if (50 * top / scale) ** (2 * k) < 1e-18), _TERMS)
    for part in slices(len(differences)):
        values = differences[part] / top
        square = values * values
        power = square.copy()
        for k in range(terms):
            powers[k] += float(np.add.reduce(power))
            power *= square
    series = _log_cosh()
    return _Cumulants(tuple(series[k] * powers[k] * (top / scale) ** (2 * k + 2) for k in range(terms)))


def _log_cosh() -> list[float]:
    """The coefficients of x², x⁴, … in log cosh x: those of tanh x, integrated; tanh′ = 1 − tanh²."""
    tanh = [1.0]  # of x, x³, …
    for k in range(1, _TERMS):
        product = sum(tanh[i] * tanh[k - 1 - i] for i in range(k))
        tanh.append(-product / (2 * k + 1))
    return [one / (2 * k + 2) for k, one in enumerate(tanh)]


def _tail(of: _Cumulants, t: float, size: float) -> float | None:
    """Both tails beyond ±t; ``size`` is the largest difference. As `paired_tests` inverts, with ψ from moments."""
    s = increasing_root(lambda x: of.slope(x) - t, t, 0.5)
    if (abs(s) + _FARTHEST_U) * size > 2 * _SMALL:
        return None
    start, area, first = of.value(s).real, 0.0, pi / _REACH
    for k in range(1, int(_FARTHEST_U / first) + 2):
        u = first * k
        psi = complex_exp(of.value(complex(s, u)) - start)
        slope = complex(s, u)
        area += (psi * complex_exp(complex(0, -u * t)) * (1 - complex_exp(-slope * _REACH)) / slope).real
        if abs(psi) < DECAYED:
            break
    else:
        return None
    centre = -expm1(-s * _REACH) / s if s > 0 else _REACH
    return 2 * exp(start - s * t) * (centre + 2 * area) / (2 * _REACH)


def _lattice_span(differences: Floats, scale: float) -> float | None:
    """The step of the lattice that all differences lie on, over ``scale``; ``None``: they lie on none."""
    first = np.sort(np.abs(differences[:_FIRST]))
    distinct = first[np.append(True, first[1:] != first[:-1])]
    if len(distinct) > _MOST_DISTINCT:
        return None
    lattice = find_lattice(np.append(0.0, distinct), most_distinct=_MOST_DISTINCT + 1, thorough=True)
    if lattice is None:
        return None
    for part in slices(len(differences)):
        steps = differences[part] / lattice.span
        if float(np.abs(steps - np.rint(steps)).max()) > _FIT:
            return None
    return lattice.span / scale
