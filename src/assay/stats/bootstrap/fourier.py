"""Inverting the characteristic function of a bootstrapped ratio of sums.

In units of the bootstrap standard error, with x = R̂ + τ·se, the event R ≤ x is W − τ·Σ Nᵢgᵢ ≤ τ for a sum W = Σ
Nᵢyᵢ of mean 0 and variance 1, where gᵢ = (denᵢ/mean den − 1)/n is small. So ψ at any τ follows from the sums Σ pᵢ
gᵢᵐ exp(iu yᵢ), m = 0, 1, 2, …, computed once (`Fourier`). Where n is too small for that expansion, every point has
a series of its own (`Pointwise`).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import e, exp, factorial, pi, sqrt
from typing import ClassVar

import numpy as np

from assay.stats.bootstrap.characteristic import Complexes, Draws, FourierSeries, series_of
from assay.stats.numerics import increasing_root, normal_quantile
from assay.stats.units import Floats, Units, weighted_mean

_WIDEST = 0.01  # the widest smoothing kernel, in standard errors, that still counts as exact
_EXPANSION = 1e-7  # the error in probability that the expansion in g may cause
_MOST_TERMS = 8
_FARTHEST = 6.0  # standard errors from the estimate at which that error is judged
_OUTERMOST = 1e-9  # of probability: the series is not good enough to tell what lies nearer to 0 or 1


@dataclass(frozen=True, slots=True)
class Coefficients:
    """A Fourier series ready to be evaluated."""

    terms: Complexes  # (2, K) ψ/u for the distribution function, ψ for the density
    turns: Complexes  # (K,) −iu
    constant: float  # what makes the distribution function 0 at the left end of the window


def invert(units: Units) -> "Fourier | Pointwise | None":
    """The distribution of R over all resamples, or ``None`` where smoothing would have to exceed 1 % of its error."""
    draws, error = _standardised(units)
    terms = _terms_needed(draws)
    series = series_of(draws, max(terms, 1))
    if series.width > _WIDEST:
        return None
    note = f"smoothed by {series.width:.1g} standard errors" if series.width else None
    psi = series.sums[:, 0] ** draws.n
    if draws.tilt is not None and (not terms or _expansion_error(draws, series, np.abs(psi)) > _EXPANSION):
        return Pointwise(units, error, note)
    skewness = draws.n * draws.mean(draws.y * draws.y * draws.y)
    fixed = _coefficients(series, psi * series.taper if series.width else psi) if draws.tilt is None else None
    return Fourier(draws.n, units.estimate, error, skewness, series, fixed, note)


@dataclass(frozen=True, slots=True)
class Fourier:
    """A bootstrap distribution as one Fourier series, in standard errors around the estimate."""

    n: int
    estimate: float
    error: float  # bootstrap standard error
    skewness: float
    series: FourierSeries
    fixed: Coefficients | None  # where ψ is the same for every τ: all denominators equal
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
        z = _z_of(p)
        tau = z + min(max(self.skewness, -1.0), 1.0) * (z * z - 1) / 6  # Cornish and Fisher's start
        near = 1e-8 if self.fixed is None else 1e-5  # a fixed ψ makes Newton's steps quadratic
        for _ in range(8):
            step = _newton_step(*self._at(tau), z)
            if step is None:
                break
            tau += step
            if abs(step) < near:
                return tau
        return increasing_root(_excess(lambda t: self._at(t)[0], p), tau, 0.1, 1e-8)

    def _at(self, tau: float) -> tuple[float, float]:
        """Distribution function and density at τ; the density ignores how ψ itself moves with τ."""
        of = self.fixed if self.fixed is not None else _coefficients(self.series, self._psi(tau))
        return _evaluate(self.series, of, tau)

    def _psi(self, tau: float) -> Complexes:
        """(K,) ψ at τ, by its expansion in −iuτg."""
        sums, step = self.series.sums, (-1j * tau) * self.series.frequencies
        phi = sums[:, -1]
        for m in range(sums.shape[1] - 2, -1, -1):
            phi = sums[:, m] + step * phi / (m + 1)
        return np.asarray(phi**self.n * self.series.taper)


@dataclass(frozen=True, slots=True)
class Pointwise:
    """A bootstrap distribution for which every point has its own series: few units, very unequal denominators."""

    units: Units
    error: float
    note: str | None

    method: ClassVar[str] = "characteristic function"

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
        series = series_of(Draws(centred / scale, None, p))
        coefficients = _coefficients(series, series.sums[:, 0] ** n * series.taper)
        return _evaluate(series, coefficients, -n * mean / scale)[0]

    def quantiles(self, p: Sequence[float]) -> Floats:
        """The limits x with P(R ≤ x) = p."""
        return np.array([self._quantile(q) for q in p])

    def _quantile(self, q: float) -> float:
        guess = self.units.estimate + self.error * _z_of(q)
        return increasing_root(_excess(self.cdf, q), guess, 0.1 * self.error, 1e-8)


def _z_of(p: float) -> float:
    """Φ⁻¹(p), finite: a BCa level may come so near to 0 or 1 that it is rounded to it."""
    return normal_quantile(min(max(p, _OUTERMOST), 1 - _OUTERMOST))


def _excess(cdf: Callable[[float], float], p: float) -> Callable[[float], float]:
    """How far the distribution function lies above p, on the normal scale, where it is nearly a line."""
    z = _z_of(p)
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
    mean_den = weighted_mean(units.denominators, p)
    tilt = None if units.equal_denominators else (units.denominators / mean_den - 1) / n
    return Draws(residual / scale, tilt, p), largest * scale / (n * mean_den)


def _terms_needed(draws: Draws) -> int:
    """How many powers of g keep the expansion's error below the tolerance if ψ is nearly normal; 0: too many."""
    if draws.tilt is None:
        return 1
    size, square = float(np.abs(draws.tilt).max()), draws.mean(draws.tilt * draws.tilt)
    for terms in range(2, _MOST_TERMS + 1):
        peak = (terms / e) ** (terms / 2)  # of u^terms exp(−u²/2)
        if draws.n * peak * _FARTHEST**terms * square * size ** (terms - 2) / factorial(terms) < _EXPANSION:
            return terms
    return 0


def _expansion_error(draws: Draws, series: FourierSeries, psi: Floats) -> float:
    """The same bound with the ψ that was found."""
    assert draws.tilt is not None
    terms = series.sums.shape[1]
    peak = float((psi * series.frequencies**terms).max())
    return float(draws.n * peak * _FARTHEST**terms * draws.mean(np.abs(draws.tilt) ** terms) / factorial(terms))
