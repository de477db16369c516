"""The distribution of a ratio of unequal sums (`tilted`) in two compiled passes, for thousands of them in one process.

The same frequencies, the same powers and the same end as there, so that limits agree to about 1e-11 standard errors.
What the passes do not cover (weights, huge or tiny numbers, a slow decay, very unequal denominators) is left to the
numpy path: `compiled_ratio` returns ``None``.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numba import njit
from numpy.typing import NDArray

from assay.stats.bootstrap.fourier import FINEST
from assay.stats.bootstrap.inversion import finite_score
from assay.stats.bootstrap.kernels_exact import reach, revival
from assay.stats.bootstrap.tilted import Tilted, weights_of
from assay.stats.bootstrap.tilted_sums import DECAYED, half_integers
from assay.stats.bootstrap.tilted_units import EXPANSION, FARTHEST, NORMAL_PEAKS, NOT_MOST, TAME, WRAPPED
from assay.stats.units import Floats, Units, shape_from

_MOST = 96  # frequencies
_FEWEST, _LONGEST = 16, 1 << 14  # units: fewer need a series for every point, more are quicker by moments
_PEAKS = np.array([peak for _, peak in NORMAL_PEAKS])
_NEEDED = -math.log(WRAPPED / 2)
_REVIVED = 1e-7  # a |ψ| so small that its return would be no error
_ROOT = math.sqrt(2 * math.pi)


@njit(cache=True)  # type: ignore[untyped-decorator]  # numba ships no types
def _left_out(n: int, peak: float, square: float, fourth: float, largest: float, terms: int) -> float:
    """`tilted_units.Tilt.suffice`, compiled: what the powers from ``terms`` on may add."""
    mean = fourth * largest ** (terms - 4) if terms >= 4 else square * (largest if terms == 3 else 1.0)
    return float(n * peak * mean * FARTHEST**terms / math.gamma(terms + 1))


@njit(cache=True, fastmath={"reassoc", "contract", "nsz"})  # type: ignore[untyped-decorator]  # numba ships no types
def _sums(
    y: NDArray[np.float64], g: NDArray[np.float64], terms: int, least: float, out: NDArray[np.float64]
) -> tuple[int, float]:
    """Σ gᵐ exp(i(k + ½)y)/n until ψ has decayed for good: how many frequencies matter, −1 for too many; and F(0).

    ``least`` is the first k from which on ψ cannot return.
    """
    n = len(y)
    wr, wi, zr, zi = np.cos(y), np.sin(y), np.cos(0.5 * y), np.sin(0.5 * y)
    alive, quiet, below = -1, 0, 0.5
    for k in range(out.shape[1]):
        for m in range(terms):
            out[0, k, m], out[1, k, m] = 0.0, 0.0
        for m in range(terms):
            real, imag = 0.0, 0.0
            if m == 0:
                for j in range(n):
                    real += zr[j]
                    imag += zi[j]
            else:
                for j in range(n):
                    real += g[m - 1, j] * zr[j]
                    imag += g[m - 1, j] * zi[j]
            out[0, k, m], out[1, k, m] = real / n, imag / n
        size, turn = math.hypot(out[0, k, 0], out[1, k, 0]), math.atan2(out[1, k, 0], out[0, k, 0])
        psi = size**n
        out[2, k, 0] = psi
        below -= psi * math.sin(n * turn) / (math.pi * (k + 0.5))
        alive, quiet = (k, 0) if psi >= DECAYED else (alive, quiet + 1)
        if quiet >= 4 and k + 1 >= least:
            return min(alive + 2, k + 1), below
        for j in range(n):
            a = zr[j] * wr[j] - zi[j] * wi[j]
            zi[j] = zr[j] * wi[j] + zi[j] * wr[j]
            zr[j] = a
    return -1, below


@njit(cache=True, fastmath={"reassoc", "contract", "nsz"})  # type: ignore[untyped-decorator]  # numba ships no types
def _moments(y: NDArray[np.float64], g: NDArray[np.float64], h: float) -> tuple[float, float, float]:
    """Σx³, Σx⁴, Σx⁶ of the jackknife's deviations x, scaled to Σx² = 1."""
    n = len(y)
    whole = (1 - 1 / n) * h
    total, second, third, fourth, sixth = 0.0, 0.0, 0.0, 0.0, 0.0
    for j in range(n):
        total += y[j] / (whole - g[j])
    mean = total / n
    for j in range(n):
        x = y[j] / (whole - g[j]) - mean
        square = x * x
        second += square
        third += square * x
        fourth += square * square
        sixth += square * square * square
    return third / second**1.5, fourth / second**2, sixth / second**3


@njit(cache=True)  # type: ignore[untyped-decorator]  # numba ships no types
def ratio_series(
    num: NDArray[np.float64], den: NDArray[np.float64], estimate: float, peaks: NDArray[np.float64]
) -> tuple[int, float, float, float, float, float, float, NDArray[np.float64]]:
    """The coefficients of φ in τ at some frequencies, real above imaginary (2K, M).

    Gives (K, h, error, F(0), Σx³, Σx⁴, Σx⁶, coefficients); no K where the careful path is needed.
    """
    n, none = len(num), np.empty((0, 0))
    mean_den = den.mean()
    y = num - estimate * den
    largest = max(y.max(), -y.min())
    if not TAME[0] < largest < TAME[1]:
        return 0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, none
    scale = math.sqrt((y * y).sum())
    h = 2 * math.pi / (reach(largest / scale, _NEEDED) + FARTHEST)
    y *= 1 / scale
    least = revival(y, FINEST, _REVIVED) / h
    y *= h
    g = np.empty((len(peaks) + 1, n))
    g[0] = den * (h / (n * mean_den)) - h / n
    square, fourth = (g[0] ** 2).mean() / h**2, (g[0] ** 4).mean() / h**4
    widest, terms = max(g[0].max() / h, 1 / n), 2
    while terms < len(peaks) + 2 and _left_out(n, peaks[terms - 2], square, fourth, widest, terms) > EXPANSION:
        terms += 1
    if terms == len(peaks) + 2 or widest >= NOT_MOST:
        return 0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, none
    for m in range(1, terms - 1):
        g[m] = g[m - 1] * g[0]
    out = np.empty((3, _MOST, terms))
    count, below = _sums(y, g, terms, least, out)
    peak = 0.0
    for k in range(count):
        peak = max(peak, out[2, k, 0] * (h * (k + 0.5)) ** terms)
    if count < 0 or _left_out(n, peak, square, fourth, widest, terms) > EXPANSION:
        return 0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, none
    third, kurtosis, sixth = _moments(y, g[0], h)
    return count, h, scale / (n * mean_den), below, third, kurtosis, sixth, _turned(out, count, terms)


@njit(cache=True)  # type: ignore[untyped-decorator]  # numba ships no types
def _turned(sums: NDArray[np.float64], count: int, terms: int) -> NDArray[np.float64]:
    """The sums times (−i(k + ½))ᵐ/m!."""
    out = np.empty((2 * count, terms))
    for k in range(count):
        turn = complex(1.0, 0.0)
        for m in range(terms):
            value = complex(sums[0, k, m], sums[1, k, m]) * turn
            out[k, m], out[count + k, m] = value.real, value.imag
            turn *= complex(0.0, -(k + 0.5) / (m + 1))
    return out


@njit(cache=True)  # type: ignore[untyped-decorator]  # numba ships no types
def _value_and_density(powers: NDArray[np.float64], n: int, h: float, tau: float) -> tuple[float, float]:
    """Distribution function and density at τ."""
    count, terms = len(powers) // 2, powers.shape[1]
    value, density = 0.5, 0.0
    for k in range(count):
        phi, slope = complex(0.0, 0.0), complex(0.0, 0.0)
        for m in range(terms - 1, -1, -1):
            slope = slope * tau + phi
            phi = phi * tau + complex(powers[k, m], powers[count + k, m])
        u = h * (k + 0.5)
        turn = n * math.atan2(phi.imag, phi.real) - u * tau
        size = math.hypot(phi.real, phi.imag) ** n / (math.pi * (k + 0.5))
        psi = complex(size * math.cos(turn), size * math.sin(turn))
        value -= psi.imag
        density -= (psi * (n * slope / phi - complex(0.0, u))).imag
    return value, density


@njit(cache=True)  # type: ignore[untyped-decorator]  # numba ships no types
def ratio_quantile(powers: NDArray[np.float64], n: int, h: float, guess: float, z: float) -> float:
    """The τ whose distribution function is Φ(z), by Newton's method on the normal scale; NaN if that fails.

    Near z, Φ⁻¹(F) − z is x + zx²/2 + (2z² + 1)x³/6 with x = (F − Φ(z))/φ(z).
    """
    tau, p, height = guess, 0.5 * math.erfc(-z / math.sqrt(2)), math.exp(-0.5 * z * z) / _ROOT
    for _ in range(12):
        value, density = _value_and_density(powers, n, h, tau)
        x = (value - p) / height
        if not (density > 1e-6 and abs(x) < 0.3):
            return math.nan
        off = x * (1 + x * (0.5 * z + x * (2 * z * z + 1) / 6))
        slope = density * _ROOT * math.exp(0.5 * (z + off) ** 2)
        tau -= off / slope
        if abs(off) < 1e-6:  # the next step would be its square
            return float(tau)
    return math.nan


@dataclass(slots=True)
class CompiledTilted(Tilted):
    """The same distribution, with compiled limits."""

    first: float = 0.0

    def quantiles(self, p: Sequence[float]) -> Floats:
        """The limits x with P(R ≤ x) = p."""
        assert self.shape is not None
        bend, powers, n, h = min(max(self.shape.acceleration, -1 / 6), 1 / 6), self.powers, self.n, self.first
        scores = [finite_score(q) for q in p]
        tau = [ratio_quantile(powers, n, h, z + bend * (z * z - 1), z) for z in scores]
        if not all(abs(t) <= FARTHEST for t in tau):  # also where one is NaN
            return Tilted.quantiles(self, p)
        return np.array([self.estimate + self.error * t for t in tau])


def compiled_ratio(units: Units) -> CompiledTilted | None:
    """The distribution of a ratio of unequal sums, or ``None``: take the numpy path."""
    if units.probabilities is not None or not _FEWEST <= units.n <= _LONGEST:
        return None
    found = ratio_series(units.numerators, units.denominators, units.estimate, _PEAKS)
    count, first, error, below, third, fourth, sixth, powers = found
    if not count:
        return None
    form, frequencies = shape_from(third, fourth, sixth, units.n), (first * half_integers(count))[:, None]
    return CompiledTilted(
        units, units.estimate, error, None, units.n, frequencies, powers, weights_of(count), below, form, first
    )
