"""The bootstrap distribution of a mean, from the Fourier series of its characteristic function (`Fourier`).

Of a ratio of few units, or of very unequal denominators, every point has a series of its own (`Pointwise`); other
ratios are in `assay.stats.bootstrap.tilted`.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import exp, pi, sqrt
from typing import ClassVar, Protocol

import numpy as np

from assay.stats.bootstrap.fourier import WRAPPED, Complexes, Draws, FourierSeries, series_of
from assay.stats.numerics import bennett_window, increasing_root, normal_quantile
from assay.stats.units import Floats, Units, weighted_mean

WIDEST = 0.01  # the widest smoothing kernel, in standard errors, that still counts as exact
_MOST_STEPS = 8
_OUTERMOST = 1e-9  # of probability: the series is not good enough to tell what lies nearer to 0 or 1


@dataclass(frozen=True, slots=True)
class Coefficients:
    """A Fourier series ready to be evaluated."""

    terms: Complexes  # (2, K) ψ/u for the distribution function, ψ for the density
    turns: Complexes  # (K,) −iu
    constant: float  # what makes the distribution function 0 at the left end of the window


def invert(units: Units) -> "Fourier | None":
    """The distribution of a mean over all resamples, or ``None`` where smoothing would have to exceed 1 % of its error.

    All denominators are equal.
    """
    draws, error = _standardised(units)
    series = series_of(draws)
    if series.width > WIDEST:
        return None
    note = f"smoothed by {series.width:.1g} standard errors" if series.width else None
    psi = _power(series.sums, draws.n)
    skewness = min(max(draws.n * draws.mean(draws.y * draws.y * draws.y), -1.0), 1.0)
    of = _coefficients(series, psi * series.taper if series.width else psi)
    return Fourier(units.estimate, error, skewness, series, of, note)


@dataclass(frozen=True, slots=True)
class Fourier:
    """The bootstrap distribution of a mean as one Fourier series, in standard errors around the estimate."""

    estimate: float
    error: float  # bootstrap standard error
    skewness: float  # cut at ±1
    series: FourierSeries
    of: Coefficients
    note: str | None

    method: ClassVar[str] = "characteristic function"

    def cdf(self, x: float) -> float:
        """P(R ≤ x); an atom at x counts half."""
        return self._at((x - self.estimate) / self.error)[0]

    def quantiles(self, p: Sequence[float]) -> Floats:
        """The limits x with P(R ≤ x) = p."""
        return np.array([self.estimate + self.error * self._standard_quantile(q) for q in p])

    def _standard_quantile(self, p: float) -> float:
        """Newton's method on the normal scale, where the distribution is nearly a line: two or three steps suffice."""
        z = finite_score(p)
        tau = z + self.skewness * (z * z - 1) / 6  # Cornish and Fisher's start
        for _ in range(_MOST_STEPS):
            step = _newton_step(*self._at(tau), z)
            if step is None:
                break
            tau += step
            if abs(step) < 1e-5:  # the next one would be its square
                return tau
        return increasing_root(_excess(lambda t: self._at(t)[0], p), tau, 0.1, 1e-8)

    def _at(self, tau: float) -> tuple[float, float]:
        """Distribution function and density at τ."""
        return _evaluate(self.series, self.of, tau)


def _power(values: Complexes, n: int) -> Complexes:
    """valuesⁿ by squaring, many times faster than numpy's where n is large."""
    square, out = values, values if n % 2 else None
    while n := n // 2:
        square = square * square
        if n % 2:
            out = square if out is None else out * square
    assert out is not None  # n is positive
    return out


@dataclass(frozen=True, slots=True)
class Pointwise:
    """A bootstrap distribution for which every point has its own series: few units, very unequal denominators."""

    units: Units
    error: float  # bootstrap standard error
    note: str | None

    method: ClassVar[str] = "characteristic function"

    @property
    def estimate(self) -> float:
        return self.units.estimate

    def cdf(self, x: float) -> float:
        """P(Σ N(num − x·den) ≤ 0); an atom at x counts half."""
        n, p = self.units.n, self.units.probabilities
        residual = self.units.numerators - x * self.units.denominators
        mean = weighted_mean(residual, p)
        centred = residual - mean
        largest = float(np.abs(centred).max())
        if not largest > 0:  # num − x·den is the same for all
            return float(mean < 0)
        centred, mean = centred / largest, mean / largest  # no square below can over- or underflow
        scale = sqrt(n * weighted_mean(centred * centred, p))
        draws, tau = Draws(centred / scale, p), -n * mean / scale
        low, high = bennett_window(float(draws.y.min()), float(draws.y.max()), WRAPPED)
        if not low < tau < high:  # beyond what the series can tell from 0 and 1
            return float(tau > 0)
        series = series_of(draws)
        coefficients = _coefficients(series, _power(series.sums, n) * series.taper)
        return _evaluate(series, coefficients, tau)[0]

    def quantiles(self, p: Sequence[float]) -> Floats:
        """The limits x with P(R ≤ x) = p."""
        return np.array([bracketed(self, q) for q in p])


class Located(Protocol):
    """A distribution around an estimate."""

    @property
    def estimate(self) -> float: ...

    @property
    def error(self) -> float: ...

    def cdf(self, x: float) -> float: ...


def bracketed(of: Located, p: float) -> float:
    """The x with P(R ≤ x) = p, found between two that enclose it."""
    guess = of.estimate + of.error * finite_score(p)
    return increasing_root(_excess(of.cdf, p), guess, 0.1 * of.error, 1e-8)


def finite_score(p: float) -> float:
    """Φ⁻¹(p), finite: a BCa level may come so near to 0 or 1 that it is rounded to it."""
    return normal_quantile(min(max(p, _OUTERMOST), 1 - _OUTERMOST))


def _excess(cdf: Callable[[float], float], p: float) -> Callable[[float], float]:
    """How far the distribution function lies above p, on the normal scale, where it is nearly a line."""
    z = finite_score(p)
    return lambda x: min(max(normal_quantile(cdf(x)), -9.0), 9.0) - z


def _newton_step(value: float, density: float, z: float) -> float | None:
    """The step towards Φ(z), at most 1; ``None`` where the distribution is flat or left its range."""
    if not (0 < value < 1 and density > 0):
        return None
    seen = normal_quantile(value)
    step = (z - seen) / (density * sqrt(2 * pi) * exp(0.5 * seen * seen))
    return min(max(step, -1.0), 1.0)


def _coefficients(series: FourierSeries, psi: Complexes) -> Coefficients:
    turns = np.asarray(-1j * series.frequencies, dtype=np.complex128)
    terms = np.empty((2, len(psi)), dtype=np.complex128)
    np.divide(psi, series.frequencies, out=terms[0])
    terms[1] = psi
    start = np.add.reduce(terms[0] * np.exp(series.start * turns)).imag
    return Coefficients(terms, turns, float(start))


def _evaluate(series: FourierSeries, of: Coefficients, tau: float) -> tuple[float, float]:
    """Distribution function and density at τ."""
    rise, slope = np.add.reduce(of.terms * np.exp(tau * of.turns), axis=1).tolist()
    value = (tau - series.start + 2 * (of.constant - rise.imag)) / series.period
    return value, (1 + 2 * slope.real) / series.period


def _standardised(units: Units) -> tuple[Draws, float]:
    """The units in standard errors, and the bootstrap standard error."""
    n, p = units.n, units.probabilities
    residual = units.numerators - units.estimate * units.denominators
    largest = float(np.abs(residual).max())  # no square below can over- or underflow
    residual = residual / largest
    scale = sqrt(n * weighted_mean(residual * residual, p))
    return Draws(residual / scale, p), largest * scale / (n * weighted_mean(units.denominators, p))
