"""The bootstrap distribution of a ratio of unequal sums, in few numpy calls.

In units of the bootstrap standard error, with x = R̂ + τ·se, the event R ≤ x is W − τ·Σ Nᵢgᵢ ≤ τ for a sum W = Σ
Nᵢyᵢ of mean 0 and variance 1, where gᵢ = (denᵢ/mean den − 1)/n is small. So the characteristic function at any τ is the
n-th power of a polynomial in τ, whose coefficients are the sums Σ pᵢ gᵢᵐ exp(iu yᵢ), m = 0, 1, 2, …, computed once. The
distribution function is Davies' (1973) sum over the frequencies u = (k + ½)·h,

    F(τ) = ½ − Σ Im(ψ(u)·exp(−iuτ)) / (π·(k + ½)),

which is off by no more than the tails beyond 2π/h of τ. Few frequencies and few units cost less than the calls that
handle them, so there are few of those (`tilted_units`, `tilted_sums`).

Where n is too small for the expansion in g, every point has a series of its own (`inversion.Pointwise`).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import factorial, inf, nan, pi
from typing import ClassVar, NamedTuple

import numpy as np

from assay.stats.bootstrap.fourier import Complexes
from assay.stats.bootstrap.inversion import WIDEST, Pointwise, bracketed, finite_score
from assay.stats.bootstrap.tilted_sums import half_integers, series_until_decay, waves
from assay.stats.bootstrap.tilted_units import FARTHEST, MOST_TERMS, Tilt, drawn_of, shape_of
from assay.stats.numerics import normal_quantiles
from assay.stats.units import Floats, Shape, Units

_SPACING = 0.05  # standard errors between the five nodes around a limit's first guess
_PLACES = tuple(_SPACING * place for place in range(-2, 3))
_BENT = 1e-3, 1e-4  # the third and fourth coefficient of a line that is interpolated to 1e-11
_MOST_STEPS = 8
_STILL = 1e-8  # standard errors: a step as short as this was the last


@dataclass(slots=True)
class Tilted:
    """The distribution, as the coefficients of φ in τ at some frequencies."""

    units: Units
    estimate: float
    error: float  # the bootstrap standard error
    note: str | None
    n: int
    frequencies: Floats  # (K, 1)
    powers: Floats  # (2K, M) sums·(−iu)ᵐ/m!, real and imaginary: φ at τ is the polynomial with these coefficients
    weights: Floats  # (K,) taper/(π·(k + ½))
    at_estimate: float  # F(0)
    shape: Shape | None  # of the jackknife's deviations

    method: ClassVar[str] = "characteristic function"

    def cdf(self, x: float) -> float:
        """P(R ≤ x); an atom at x counts half."""
        tau = (x - self.estimate) / self.error
        if tau == 0:
            return self.at_estimate
        if abs(tau) <= FARTHEST:
            return self._at([tau])[0]
        return Pointwise(self.units, self.error, self.note).cdf(x)  # farther out than the expansion was judged for

    def quantiles(self, p: Sequence[float]) -> Floats:
        """The limits x with P(R ≤ x) = p.

        Interpolated between five nodes around each, on the normal scale, where the distribution is nearly a line. Where
        it is less of a line, steps follow until they move no limit; where it is none, each is found by itself.
        """
        z = [finite_score(q) for q in p]
        skewness = 0.0 if self.shape is None else min(max(self.shape.acceleration, -1 / 6), 1 / 6)
        guesses = [x + skewness * (x * x - 1) for x in z]  # Cornish and Fisher's
        seen = normal_quantiles(self._at([guess + place for guess in guesses for place in _PLACES]))
        lines = [_Line.through(seen[5 * i : 5 * i + 5]) for i in range(len(z))]
        offsets = [line.solved(x) for line, x in zip(lines, z, strict=True)]
        tau = [guess + offset for guess, offset in zip(guesses, offsets, strict=True)]
        if all(map(_Line.holds, lines, offsets)) or self._stepped(tau, z, lines):
            return np.array([self.estimate + self.error * t for t in tau])
        return np.array([bracketed(self, q) for q in p])

    def _stepped(self, tau: list[float], z: Sequence[float], lines: "Sequence[_Line]") -> bool:
        """Move the limits until they are still; whether they are."""
        for _ in range(_MOST_STEPS):
            if not max(map(abs, tau)) < inf:
                return False
            seen = normal_quantiles(self._at(tau))
            steps = [(x - now) / line.slope for x, now, line in zip(z, seen, lines, strict=True)]
            largest = max(map(abs, steps))
            if not largest < 1.0:
                return False
            tau[:] = [t + step for t, step in zip(tau, steps, strict=True)]
            if largest < _STILL:
                return True
        return False

    def _at(self, places: Sequence[float]) -> list[float]:
        """The distribution function at each τ; no complex logarithm or exponential, which take far longer."""
        tau = np.array(places)
        phi = self.powers.dot(tau ** _exponents(self.powers.shape[1]))
        real, imag = phi[: len(self.weights)], phi[len(self.weights) :]  # (K, T)
        turn = np.arctan2(imag, real)
        turn *= self.n
        turn -= self.frequencies * tau
        np.sin(turn, out=turn)
        turn *= np.hypot(imag, real) ** self.n
        return [0.5 - value for value in self.weights.dot(turn).tolist()]


def tilted(units: Units) -> Tilted | Pointwise | None:
    """The distribution of R over all resamples, or ``None`` where smoothing would have to exceed 1 % of its error."""
    drawn = drawn_of(units)
    n, first, tilt = drawn.n, drawn.first, Tilt.of(drawn)
    terms = tilt.terms_needed()
    series = series_until_decay(drawn, max(terms, 1))
    if series.width > WIDEST:
        return None
    sums, psi = series.sums, series.psi
    note = f"smoothed by {series.width:.1g} standard errors" if series.width else None
    while terms and not tilt.suffice(_peak(psi, first, terms), terms):
        terms = terms + 2 if terms < MOST_TERMS else 0  # ψ ends later than a normal one
    if not terms:
        return Pointwise(units, drawn.error, note)
    if terms > sums.shape[1]:
        sums = waves(drawn, len(sums), terms)
    count = len(sums)
    frequencies, weights = first * half_integers(count), weights_of(count)
    if series.width:
        weights = weights * np.exp(-0.5 * (series.width * frequencies) ** 2)
    sums *= _turns(count, terms)
    powers = np.concatenate((sums.real, sums.imag))
    turn = np.arctan2(powers[count:, 0], powers[:count, 0])
    turn *= n
    below = 0.5 - float(weights.dot(psi * np.sin(turn)))
    form, estimate, error = shape_of(drawn, tilt, units), units.estimate, drawn.error
    return Tilted(units, estimate, error, note, n, frequencies[:, None], powers, weights, below, form)


def _peak(psi: Floats, first: float, terms: int) -> float:
    """The largest |ψ|·u^terms."""
    powers = psi * _to_power(len(psi), terms)
    return float(powers[powers.argmax()]) * first**terms


@lru_cache(maxsize=512)
def _to_power(count: int, power: int) -> Floats:
    return np.asarray(half_integers(count) ** power)


@lru_cache(maxsize=64)
def weights_of(count: int) -> Floats:
    """1/(π(k + ½))."""
    return np.asarray(1 / (pi * half_integers(count)))


@lru_cache(maxsize=16)
def _exponents(terms: int) -> Floats:
    return np.arange(float(terms))[:, None]


@lru_cache(maxsize=256)
def _turns(count: int, terms: int) -> Complexes:
    """(count, terms) (−i·(k + ½))ᵐ/m!."""
    factors = np.array([factorial(m) for m in range(terms)], dtype=np.float64)
    return np.asarray((-1j * half_integers(count))[:, None] ** np.arange(terms) / factors)


class _Line(NamedTuple):
    """The normal scores around a guess as a polynomial of fourth degree: nearly a line."""

    at_guess: float
    slope: float
    second: float
    third: float
    fourth: float

    @classmethod
    def through(cls, seen: Sequence[float]) -> "_Line":
        """The normal scores at the five nodes; NaN where these do not rise."""
        a, b, c, d, f = seen
        if not (-inf < a < b < c < d < f < inf):
            return cls(nan, nan, nan, nan, nan)
        odd, wide, even, high = d - b, f - a, d + b - 2 * c, f + a - 2 * c  # at ±h, at ±2h
        return cls(
            c,
            (8 * odd - wide) / (12 * _SPACING),
            (16 * even - high) / (24 * _SPACING**2),
            (wide - 2 * odd) / (12 * _SPACING**3),
            (high - 4 * even) / (24 * _SPACING**4),
        )

    def holds(self, offset: float) -> bool:
        """Whether it is straight, and the limit between the nodes."""
        return abs(self.third) < _BENT[0] and abs(self.fourth) < _BENT[1] and abs(offset) < 2 * _SPACING

    def solved(self, z: float) -> float:
        """Where it has the height z, by Newton's method."""
        start, slope, second, third, fourth = self
        x = (z - start) / slope
        for _ in range(3):
            height = start + x * (slope + x * (second + x * (third + x * fourth))) - z
            x -= height / (slope + x * (2 * second + x * (3 * third + x * 4 * fourth)))
        return x
