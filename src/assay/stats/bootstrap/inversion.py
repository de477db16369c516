"""The bootstrap distribution of a ratio of sums, from the Fourier series of its characteristic function.

In units of the bootstrap standard error, with x = R̂ + τ·se, the event R ≤ x is W − τ·Σ Nᵢgᵢ ≤ τ for a sum W = Σ
Nᵢyᵢ of mean 0 and variance 1, where gᵢ = (denᵢ/mean den − 1)/n is small. So ψ at any τ follows from the sums Σ pᵢ
gᵢᵐ exp(iu yᵢ), m = 0, 1, 2, …, computed once (`Tilted`); where all denominators are equal, from the first alone
(`Fourier`). Where n is too small for that expansion, every point has a series of its own (`Pointwise`).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import e, exp, factorial, pi, sqrt
from typing import ClassVar

import numpy as np

from assay.stats.bootstrap.fourier import WRAPPED, Complexes, Draws, FourierSeries, series_of
from assay.stats.numerics import bennett_window, increasing_root, normal_quantile
from assay.stats.units import Floats, Units, weighted_mean

_WIDEST = 0.01  # the widest smoothing kernel, in standard errors, that still counts as exact
_EXPANSION = 1e-7  # the error in probability that the expansion in g may cause
_MOST_TERMS = 8
_NODES = np.array([-0.15, -0.05, 0.05, 0.15])  # standard errors around a limit's first guess
_MOST_STEPS = 8
_STILL = 1e-8  # standard errors: a step as short as this was the last
_FARTHEST = 6.0  # standard errors from the estimate at which that error is judged
_OUTERMOST = 1e-9  # of probability: the series is not good enough to tell what lies nearer to 0 or 1


@dataclass(frozen=True, slots=True)
class Coefficients:
    """A Fourier series ready to be evaluated."""

    terms: Complexes  # (2, K) ψ/u for the distribution function, ψ for the density
    turns: Complexes  # (K,) −iu
    constant: float  # what makes the distribution function 0 at the left end of the window


def invert(units: Units) -> "Fourier | Tilted | Pointwise | None":
    """The distribution of R over all resamples, or ``None`` where smoothing would have to exceed 1 % of its error."""
    draws, error = _standardised(units)
    terms = _terms_needed(draws)
    series = series_of(draws, max(terms, 1))
    if series.width > _WIDEST:
        return None
    note = f"smoothed by {series.width:.1g} standard errors" if series.width else None
    psi = _power(series.sums[:, 0], draws.n)
    if draws.tilt is not None and (not terms or _expansion_error(draws, series, np.abs(psi)) > _EXPANSION):
        return Pointwise(units, error, note)
    skewness = min(max(draws.n * draws.mean(draws.y * draws.y * draws.y), -1.0), 1.0)
    if draws.tilt is not None:
        return _tilted(Pointwise(units, error, note), skewness, series)
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
        z = _z_of(p)
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


@dataclass(frozen=True, slots=True)
class Tilted:
    """The same of a ratio of sums, whose ψ moves with the point τ: all points that are asked for at once.

    Few frequencies and few units cost less than the calls that handle them, so there are few of those.
    """

    pointwise: "Pointwise"  # for what lies farther out than the expansion was judged for
    skewness: float
    series: FourierSeries
    powers: Complexes  # (M, K) sums·(−iu)ᵐ/m!: φ at τ is the polynomial in τ with these coefficients
    turns: Complexes  # (K,) −iu
    start: Complexes  # (K,) exp(−iu·start)
    weights: Floats  # (K,) 2·taper/(u·period)

    method: ClassVar[str] = "characteristic function"

    @property
    def note(self) -> str | None:
        return self.pointwise.note

    @property
    def estimate(self) -> float:
        return self.pointwise.estimate

    @property
    def error(self) -> float:
        return self.pointwise.error

    def cdf(self, x: float) -> float:
        """P(R ≤ x); an atom at x counts half."""
        tau = (x - self.estimate) / self.error
        return float(self._at(np.array([tau]))[0]) if abs(tau) <= _FARTHEST else self.pointwise.cdf(x)

    def quantiles(self, p: Sequence[float]) -> Floats:
        """The limits x with P(R ≤ x) = p.

        Inverse interpolation between four nodes around each, on the normal scale, where the distribution is nearly a
        line; then steps along that line, as long as they move a limit. Where it is no line, each by itself.
        """
        z = np.array([_z_of(q) for q in p])
        nodes = (z + self.skewness * (z * z - 1) / 6)[:, None] + _NODES  # (limits, 4)
        seen = _normal_scores(self._at(nodes.ravel())).reshape(nodes.shape)
        if np.isfinite(seen).all() and (seen[:, 1:] > seen[:, :-1]).all():
            tau, slope = _inverse_cubic(seen, nodes, z), (nodes[:, 2] - nodes[:, 1]) / (seen[:, 2] - seen[:, 1])
            for _ in range(_MOST_STEPS):
                step = (z - _normal_scores(self._at(tau))) * slope
                if not (np.abs(step) < 1.0).all():
                    break
                tau = tau + step
                if (np.abs(step) < _STILL).all():
                    return np.asarray(self.estimate + self.error * tau)
        return np.array([_bracketed(self, q) for q in p])

    def _at(self, tau: Floats) -> Floats:
        """(T,) The distribution function at each τ."""
        points = tau[:, None]
        phi = self.powers[-1] + 0 * points
        for power in self.powers[-2::-1]:
            phi *= points
            phi += power
        waves = self.start - np.exp(points * self.turns)
        rise = np.add.reduce((_power(phi, self.pointwise.units.n) * waves).imag * self.weights, axis=1)
        return np.asarray((tau - self.series.start) / self.series.period + rise)


def _tilted(pointwise: "Pointwise", skewness: float, series: FourierSeries) -> Tilted:
    turns = np.asarray(-1j * series.frequencies, dtype=np.complex128)
    powers, factor = series.sums.T.copy(), np.ones(len(turns), dtype=np.complex128)
    for m in range(1, len(powers)):
        factor *= turns / m
        powers[m] *= factor
    weights = 2 / (series.frequencies * series.period)
    weights = weights * series.taper if series.width else weights
    return Tilted(pointwise, skewness, series, powers, turns, np.exp(series.start * turns), weights)


def _power(values: Complexes, n: int) -> Complexes:
    """valuesⁿ by squaring, many times faster than numpy's where n is large."""
    square, out = values, values if n % 2 else None
    while n := n // 2:
        square = square * square
        if n % 2:
            out = square if out is None else out * square
    assert out is not None  # n is positive
    return out


def _inverse_cubic(x: Floats, y: Floats, at: Floats) -> Floats:
    """(rows,) Neville's interpolation of y at ``at`` from the four points (x, y) of each row."""
    rows = list(y.T)
    for width in range(1, x.shape[1]):
        for i in range(x.shape[1] - width):
            left, right = x[:, i], x[:, i + width]
            rows[i] = ((right - at) * rows[i] + (at - left) * rows[i + 1]) / (right - left)
    return np.asarray(rows[0])


def _normal_scores(values: Floats) -> Floats:
    """Φ⁻¹ of each; infinite outside of 0 … 1."""
    return np.array([normal_quantile(value) for value in values.tolist()])


@dataclass(frozen=True, slots=True)
class Pointwise:
    """A bootstrap distribution for which every point has its own series: few units, very unequal denominators."""

    units: Units
    error: float
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
        draws, tau = Draws(centred / scale, None, p), -n * mean / scale
        low, high = bennett_window(float(draws.y.min()), float(draws.y.max()), WRAPPED)
        if not low < tau < high:  # beyond what the series can tell from 0 and 1
            return float(tau > 0)
        series = series_of(draws)
        coefficients = _coefficients(series, _power(series.sums[:, 0], n) * series.taper)
        return _evaluate(series, coefficients, tau)[0]

    def quantiles(self, p: Sequence[float]) -> Floats:
        """The limits x with P(R ≤ x) = p."""
        return np.array([_bracketed(self, q) for q in p])


def _bracketed(of: Tilted | Pointwise, p: float) -> float:
    """The x with P(R ≤ x) = p, found between two that enclose it."""
    guess = of.estimate + of.error * _z_of(p)
    return increasing_root(_excess(of.cdf, p), guess, 0.1 * of.error, 1e-8)


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
