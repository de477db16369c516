"""Inverting the characteristic function of a bootstrapped ratio of sums.

In units of the bootstrap standard error, with x = R̂ + τ·se, the event R ≤ x is W − τ·Σ Nᵢgᵢ ≤ τ for a sum W = Σ
Nᵢyᵢ of mean 0 and variance 1, where gᵢ = (denᵢ/mean den − 1)/n is small. So ψ at any τ follows from the sums Σ pᵢ
gᵢᵐ exp(iu yᵢ), m = 0, 1, 2, …, computed once (`Fourier`). Where n is too small for that expansion, every point has
a series of its own (`Pointwise`).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import e, factorial, pi, sqrt
from typing import ClassVar

import numpy as np

from assay.stats.roots import increasing_root
from assay.stats.series import Complexes, Draws, Series, series_of
from assay.stats.special import normal_quantile
from assay.stats.units import Floats, Units, weighted_mean

_WIDEST = 0.01  # the widest smoothing kernel, in standard errors, that still counts as exact
_EXPANSION = 1e-7  # the error in probability that the expansion in g may cause
_MOST_TERMS = 8
_FARTHEST = 6.0  # standard errors from the estimate at which that error is judged


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
    fixed = psi * series.taper if draws.tilt is None else None
    return Fourier(draws.n, units.estimate, error, skewness, series, fixed, note)


@dataclass(frozen=True, slots=True)
class Fourier:
    """A bootstrap distribution as one Fourier series, in standard errors around the estimate."""

    n: int
    estimate: float
    error: float  # bootstrap standard error
    skewness: float
    series: Series
    fixed: Complexes | None  # (K,) ψ, where it is the same for every τ: all denominators equal
    note: str | None

    method: ClassVar[str] = "characteristic function"

    def cdf(self, x: float) -> float:
        """P(R ≤ x); an atom at x counts half."""
        return float(self._at(np.array([(x - self.estimate) / self.error]))[0][0])

    def quantiles(self, p: Sequence[float]) -> Floats:
        """The limits x with P(R ≤ x) = p."""
        z = np.array([normal_quantile(q) for q in p])
        tau = z + min(max(self.skewness, -1.0), 1.0) * (z * z - 1) / 6  # Cornish and Fisher's start
        near = 1e-8 if self.fixed is None else 1e-5  # a fixed ψ makes Newton's steps quadratic
        done = np.zeros(len(z), dtype=bool)
        for _ in range(8):
            step = self._newton_step(tau, z)
            tau = tau + step
            done = np.abs(step) < near
            if done.all():
                break
        for i in np.flatnonzero(~done).tolist():
            tau[i] = increasing_root(
                _excess(lambda t: float(self._at(np.array([t]))[0][0]), p[i]), float(tau[i]), 0.1, 1e-8
            )
        return np.asarray(self.estimate + self.error * tau)

    def _newton_step(self, tau: Floats, z: Floats) -> Floats:
        """On the normal scale the distribution is nearly a line, so two or three steps suffice."""
        value, density = self._at(tau)
        seen = np.array([normal_quantile(v) for v in value.tolist()])
        with np.errstate(all="ignore"):
            step = (z - seen) / (density * sqrt(2 * pi) * np.exp(0.5 * seen * seen))
        return np.where(np.isfinite(step), np.minimum(np.maximum(step, -1), 1), 0.5 * np.sign(z - tau))

    def _at(self, tau: Floats) -> tuple[Floats, Floats]:
        """(T,) distribution function and density at τ; the density ignores how ψ itself moves with τ."""
        psi = self._psi(tau) if self.fixed is None else self.fixed
        return _evaluate(self.series, psi, tau)

    def _psi(self, tau: Floats) -> Complexes:
        """(T, K) ψ at every τ, by its expansion in −iuτg."""
        sums, step = self.series.sums, np.outer(-1j * tau, self.series.frequencies)
        phi = np.broadcast_to(sums[:, -1], step.shape)
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
        scale = sqrt(n * weighted_mean(centred * centred, p))
        series = series_of(Draws(centred / scale, None, p))
        psi = series.sums[:, 0] ** n * series.taper
        return float(_evaluate(series, psi, np.array([-n * mean / scale]))[0][0])

    def quantiles(self, p: Sequence[float]) -> Floats:
        """The limits x with P(R ≤ x) = p."""
        return np.array([self._quantile(q) for q in p])

    def _quantile(self, q: float) -> float:
        guess = self.units.estimate + self.error * normal_quantile(q)
        return increasing_root(_excess(self.cdf, q), guess, 0.1 * self.error, 1e-8)


def _excess(cdf: Callable[[float], float], p: float) -> Callable[[float], float]:
    """How far the distribution function lies above p, on the normal scale, where it is nearly a line."""
    z = normal_quantile(p)
    return lambda x: min(max(normal_quantile(cdf(x)), -9.0), 9.0) - z


def _evaluate(series: Series, psi: Complexes, tau: Floats) -> tuple[Floats, Floats]:
    """(T,) distribution function and density at τ of the Fourier series with coefficients ψ, (K,) or (T, K)."""
    u = series.frequencies
    here = psi * np.exp(-1j * (tau[:, None] * u))
    anchored = psi * np.exp(-1j * series.start * u)
    rise = ((anchored - here).imag / u).sum(axis=1)
    return (tau - series.start + 2 * rise) / series.period, (1 + 2 * here.real.sum(axis=1)) / series.period


def _standardised(units: Units) -> tuple[Draws, float]:
    """The units in standard errors, and the bootstrap standard error."""
    n, p = units.n, units.probabilities
    residual = units.numerators - units.estimate * units.denominators
    scale = sqrt(n * weighted_mean(residual * residual, p))
    mean_den = weighted_mean(units.denominators, p)
    tilt = None if units.equal_denominators else (units.denominators / mean_den - 1) / n
    return Draws(residual / scale, tilt, p), scale / (n * mean_den)


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


def _expansion_error(draws: Draws, series: Series, psi: Floats) -> float:
    """The same bound with the ψ that was found."""
    assert draws.tilt is not None
    terms = series.sums.shape[1]
    peak = float((psi * series.frequencies**terms).max())
    return float(draws.n * peak * _FARTHEST**terms * draws.mean(np.abs(draws.tilt) ** terms) / factorial(terms))
