"""The exact interval of a plain mean in a few compiled passes, for thousands of them in one process.

The numbers are those of the numpy path to about 1e-8 standard errors. What the compiled passes do not cover (weights,
unequal denominators, ties, clumps, slow decay) is left to that path: `compiled_series` returns ``None``.

Importing this module takes half a second and the first call after an installation some seconds (then the machine code
is on disk), so it is imported late and only where it was asked for.
"""

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numba import njit
from numpy.typing import NDArray

from assay.stats.bootstrap.fourier import DECAYED, FINEST, WRAPPED
from assay.stats.numerics import normal_quantile
from assay.stats.units import Floats, Shape, Units, shape_from


@njit(cache=True)  # type: ignore[untyped-decorator]  # numba ships no types
def reach(b: float, needed: float) -> float:
    """`numerics.bennett_reach`, compiled: Bennett's bound."""
    t = needed * b / 3 + math.sqrt((needed * b / 3) ** 2 + 2 * needed)
    if b < 1e-3:
        return t
    for _ in range(4):
        x = b * t
        t -= (((1 + x) * math.log1p(x) - x) / (b * b) - needed) * b / math.log1p(x)
    return t


@njit(cache=True)  # type: ignore[untyped-decorator]  # numba ships no types
def _tied(y: NDArray[np.float64]) -> bool:
    """Whether values repeat, as on a lattice."""
    gaps = np.diff(np.sort(y[:: max(1, len(y) // 512)]))
    return bool((gaps <= 0).sum() >= 0.1 * len(gaps))


@njit(cache=True)  # type: ignore[untyped-decorator]  # numba ships no types
def revival(y: NDArray[np.float64], finest: float, decayed: float) -> float:
    """`fourier.last_revival`, compiled: the frequency from which on ψ cannot revive."""
    low = y.min()
    places = int((y.max() - low) / finest) + 1
    sums = np.zeros((3, places))
    for d in y:
        k = int((d - low) / finest)
        sums[0, k] += 1
        sums[1, k] += d
        sums[2, k] += d * d
    within, clumps = 0.0, 0
    count, first, second = 0.0, 0.0, 0.0
    for k in range(places + 1):
        if k < places and sums[0, k] > 0:
            count, first, second = count + sums[0, k], first + sums[1, k], second + sums[2, k]
        elif count > 0:  # an empty place ends a clump
            within += second - first * first / count
            clumps += 1
            count, first, second = 0.0, 0.0, 0.0
    if clumps == 1:
        return 0.0
    return min(2 * math.pi / finest, math.sqrt(-2 * math.log(decayed) / max(within, 1e-12)))


@njit(cache=True, fastmath={"reassoc", "contract", "nsz"})  # type: ignore[untyped-decorator]  # numba ships no types
def _transform(y: NDArray[np.float64], first: float, least: float, decayed: float, psi: NDArray[np.complex128]) -> int:
    """ψ(u) = (mean exp(iuy))ⁿ at u = first, 2·first, … until it has decayed for good; how many, or −1: too many."""
    n = len(y)
    wr, wi = np.cos(first * y), np.sin(first * y)
    zr, zi = wr.copy(), wi.copy()
    quiet = 0
    for k in range(len(psi)):
        real, imag = 0.0, 0.0
        for j in range(n):
            real += zr[j]
            imag += zi[j]
        size, turn = math.hypot(real, imag) / n, math.atan2(imag, real)
        power = size**n
        psi[k] = complex(power * math.cos(n * turn), power * math.sin(n * turn))
        quiet = quiet + 1 if power < decayed else 0
        if quiet >= 3 and first * (k + 1) >= least:
            return k + 1
        for j in range(n):
            a = zr[j] * wr[j] - zi[j] * wi[j]
            zi[j] = zr[j] * wi[j] + zi[j] * wr[j]
            zr[j] = a
    return -1


@njit(cache=True)  # type: ignore[untyped-decorator]  # numba ships no types
def mean_series(
    values: NDArray[np.float64], wrapped: float, decayed: float, finest: float, psi: NDArray[np.complex128]
) -> tuple[int, float, float, float, float, float, float, float]:
    """The bootstrap distribution of a plain mean as a Fourier series, and the moments of its units, in one pass.

    Gives (terms, mean, error, start, period, Σy³, Σy⁴, Σy⁶) for deviations y with Σy² = 1; no terms where the careful
    path is needed.
    """
    n = len(values)
    mean = values.mean()
    y = values - mean
    second = (y * y).sum()
    if not 1e-280 < second < 1e280 or second < 1e-22 * n * mean * mean:
        return 0, mean, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    y /= math.sqrt(second)
    third, fourth, sixth = 0.0, 0.0, 0.0
    for d in y:
        square = d * d
        third += square * d
        fourth += square * square
        sixth += square * square * square
    needed = -math.log(wrapped / 2)
    start, stop = -reach(-y.min(), needed), reach(y.max(), needed)
    terms = 0
    if not _tied(y):
        terms = _transform(y, 2 * math.pi / (stop - start), revival(y, finest, decayed), decayed, psi)
    return max(terms, 0), mean, math.sqrt(second) / n, start, stop - start, third, fourth, sixth


@njit(cache=True)  # type: ignore[untyped-decorator]  # numba ships no types
def series_cdf(psi: NDArray[np.complex128], terms: int, start: float, period: float, tau: float) -> tuple[float, float]:
    """Distribution function and density of a Fourier series at τ."""
    first = 2 * math.pi / period
    here, at_start = complex(1.0, 0.0), complex(1.0, 0.0)
    turn = complex(math.cos(first * tau), -math.sin(first * tau))
    from_start = complex(math.cos(first * start), -math.sin(first * start))
    rise, slope = 0.0, 0.0
    for k in range(terms):
        here *= turn
        at_start *= from_start
        rise += (psi[k] * (at_start - here)).imag / (first * (k + 1))
        slope += (psi[k] * here).real
    return (tau - start + 2 * rise) / period, (1 + 2 * slope) / period


@njit(cache=True)  # type: ignore[untyped-decorator]  # numba ships no types
def series_quantile(
    psi: NDArray[np.complex128], terms: int, start: float, period: float, guess: float, p: float
) -> float:
    """The τ with distribution function p, by Newton's method from a good guess; NaN if that fails."""
    tau = guess
    for _ in range(12):
        value, density = series_cdf(psi, terms, start, period, tau)
        if not density > 1e-6:
            return math.nan
        step = (p - value) / density
        tau += min(max(step, -1.0), 1.0)
        if abs(step) < 1e-7:
            return float(tau)
    return math.nan


_MOST_TERMS = 256


@dataclass(frozen=True, slots=True)
class CompiledSeries:
    """The bootstrap distribution of a mean, with what the jackknife says of it."""

    psi: NDArray[np.complex128]
    terms: int
    estimate: float
    error: float
    start: float
    period: float
    skewness: float
    shape: Shape

    method: ClassVar[str] = "characteristic function"
    note: ClassVar[None] = None

    def cdf(self, x: float) -> float:
        tau = (x - self.estimate) / self.error
        return float(series_cdf(self.psi, self.terms, self.start, self.period, tau)[0])

    def quantiles(self, p: "tuple[float, ...] | list[float]") -> Floats:
        return np.array([self.estimate + self.error * self._standard_quantile(q) for q in p])

    def _standard_quantile(self, p: float) -> float:
        z = normal_quantile(p)
        guess = z + self.skewness * (z * z - 1) / 6
        return float(series_quantile(self.psi, self.terms, self.start, self.period, guess, p))


def compiled_series(units: Units) -> CompiledSeries | None:
    """The series of a plain mean of many units, or ``None``: take the numpy path."""
    if units.probabilities is not None or units.n < 16 or not units.equal_denominators:
        return None
    psi = np.empty(_MOST_TERMS, dtype=np.complex128)
    found = mean_series(units.numerators, WRAPPED, DECAYED, FINEST, psi)
    terms, mean, error, start, period, third, fourth, sixth = found
    if not terms:
        return None
    den, form = float(units.denominators[0]), shape_from(third, fourth, sixth, units.n)
    return CompiledSeries(psi, terms, mean / den, error / den, start, period, third, form)
