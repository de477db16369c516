"""The characteristic function of a sum of independent draws, and the distribution that its Fourier series gives.

In units of the bootstrap standard error, with x = R̂ + τ·se, the event R ≤ x is W − τ·Σ Nᵢgᵢ ≤ τ for a sum W = Σ
Nᵢyᵢ of mean 0 and variance 1, where gᵢ = (denᵢ/mean den − 1)/n is small. So ψ at any τ follows from the sums Σ pᵢ
gᵢᵐ exp(iu yᵢ), m = 0, 1, 2, …, computed once (`Fourier`). Where n is too small for that expansion, every point has
a series of its own (`Pointwise`).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import ceil, e, exp, factorial, log, pi, sqrt
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from assay.stats.numerics import bennett_window, increasing_root, normal_quantile
from assay.stats.units import Floats, Units, weighted_mean

Complexes = NDArray[np.complex128]

WRAPPED = 1e-10  # probability that may fall outside the Fourier window
DECAYED = 1e-10  # |ψ| below which the series ends
BLOCK = 32  # frequencies per pass
CHUNK = 4096  # units per pass: 32 × 4096 complex numbers stay in the cache
WORK = 4e7  # units × frequencies before the series is cut off and smoothed, and at most
LONGEST = 16_384  # frequencies
_SIZE = 256  # frequencies of a block, from the 257th on
NORMAL_END = sqrt(-2 * log(DECAYED))  # where ψ ends if it is that of a normal distribution
FINEST = 0.01  # lattice-like structure finer than this part of a standard error may stay unresolved


@dataclass(frozen=True, slots=True)
class Draws:
    """n independent draws from values of mean 0 and variance 1/n, so that their sum has variance 1.

    ``tilt`` holds the small values g that shift y to y − τg when the ratio is asked at another point.
    """

    y: Floats  # (n,)
    tilt: Floats | None = None  # (n,)
    p: Floats | None = None  # (n,) drawing probabilities, or None when uniform

    @property
    def n(self) -> int:
        return len(self.y)

    def mean(self, values: Floats) -> float:
        return weighted_mean(values, self.p)


@dataclass(frozen=True, slots=True)
class FourierSeries:
    """Σ p g^m exp(iuy) at the frequencies of a window, and the kernel that ends it if it did not decay by itself."""

    start: float  # left end of the window, in standard errors
    period: float  # its length
    frequencies: Floats  # (K,)
    sums: Complexes  # (K, M)
    width: float  # of the smoothing kernel, in standard errors; 0: none

    @property
    def taper(self) -> Floats:
        return np.asarray(np.exp(-0.5 * (self.width * self.frequencies) ** 2))


def series_of(draws: Draws, terms: int = 1) -> FourierSeries:
    """Follow ψ until it has decayed or the budget is spent; what has not decayed by then is smoothed."""
    low, high = bennett_window(float(draws.y.min()), float(draws.y.max()), WRAPPED)
    first = 2 * pi / (high - low)
    sums, finished = _until_decay(draws, first, terms)
    frequencies: Floats = first * np.arange(1.0, len(sums) + 1)
    width = 0.0 if finished else NORMAL_END / float(frequencies[-1])
    return FourierSeries(low, high - low, frequencies, sums, width)


def _until_decay(draws: Draws, first: float, terms: int) -> tuple[Complexes, bool]:
    """The sums as far as ψ lives, and whether it is known to have ended there."""
    budget = min(max(int(WORK / draws.n), 4 * BLOCK), LONGEST)
    least = last_revival(draws.y, 1.0 if draws.p is None else draws.n * draws.p) / first
    alive_from = DECAYED ** (1 / draws.n)  # of |φ|, whose n-th power is |ψ|
    parts: list[Complexes] = []
    done, size, blocks, end = 0, min(BLOCK, int(NORMAL_END / first) + 6), 1, None
    while end is None and done < budget:
        found = _transform(draws, first, size, terms, skip=done, blocks=blocks)
        quiet = (np.abs(found[:, 0]).reshape(blocks, size)[:, -4:] < alive_from).all(axis=1)
        end = next((end for end in size * (1 + np.flatnonzero(quiet)) if done + end >= least), None)
        parts.append(found[:end])
        done += len(parts[-1])
        size = min(_SIZE, done)
        if draws.p is None and terms == 1:
            blocks = max(min(done // _SIZE, BLOCK * CHUNK // (_SIZE * draws.n), ceil((budget - done) / size)), 1)
    sums = np.concatenate(parts)
    if end is not None:
        alive = (np.abs(sums[:, 0]) >= alive_from).nonzero()[0]
        sums = sums[: alive[-1] + 2] if len(alive) else sums[:1]
    return sums, end is not None


def _transform(draws: Draws, first: float, count: int, terms: int, skip: int, blocks: int) -> Complexes:
    """(blocks · count, terms) Σ p g^m exp(iu y) at the frequencies first·(skip + 1 … skip + blocks · count)."""
    total = np.zeros((blocks * count, terms), dtype=np.complex128)
    for low in range(0, draws.n, CHUNK):
        part = slice(low, low + CHUNK)
        angle = first * draws.y[part]
        powers = powers_of(angle, count)
        if skip:
            angles = (skip + count * np.arange(blocks))[:, None] * angle
            turns = np.cos(angles) + 1j * np.sin(angles)
            if blocks == 1:
                powers *= turns[0]
            else:
                powers = (powers * turns[:, None]).reshape(-1, len(angle))
        if draws.p is None and terms == 1:
            total[:, 0] += powers.sum(axis=1) / draws.n
        else:  # no BLAS product: on a busy machine its threads wait for each other far longer than this takes
            total += np.einsum("kn,mn->km", powers, _weights(draws, part, terms))
    return total


def powers_of(angle: Floats, count: int) -> Complexes:
    """(count, n) exp(i·k·angle) for k = 1 … count, by doubling: one sine and cosine per unit."""
    out = np.empty((count, len(angle)), dtype=np.complex128)
    out[0].real, out[0].imag = np.cos(angle), np.sin(angle)
    have = 1
    while have < count:
        more = min(have, count - have)
        np.multiply(out[:more], out[have - 1], out=out[have : have + more])
        have += more
    return out


def _weights(draws: Draws, part: slice, terms: int) -> Complexes:
    """(terms, n) p·g^m, complex because a mixed product would convert it each time."""
    rows = np.empty((terms, len(draws.y[part])), dtype=np.complex128)
    rows[0] = 1 / draws.n if draws.p is None else draws.p[part]
    for m in range(1, terms):
        assert draws.tilt is not None
        rows[m] = rows[m - 1] * draws.tilt[part]
    return rows


def last_revival(values: Floats, weights: Floats | float = 1.0) -> float:
    """The frequency from which on ψ cannot revive: the spread within clumps alone has ended it. 0: there is one clump.

    Values in several tight clumps make the sum nearly a lattice, and ψ, once decayed, comes back at the lattice's
    frequency, the weaker the wider the clumps are. Values are in standard deviations of the sum; Σ weight·value² is 1.
    """
    place = ((values - values.min()) / FINEST).astype(np.int64)
    counts = np.bincount(place)
    begins = np.empty(len(counts), dtype=np.bool_)  # a clump begins after an empty place, and at the first
    begins[0], begins[1:] = True, (counts[1:] > 0) > (counts[:-1] > 0)
    starts = begins.nonzero()[0]
    if len(starts) == 1:
        return 0.0
    first = weights * values
    masses = counts * weights if isinstance(weights, float) else np.bincount(place, weights)
    mass = np.maximum(np.add.reduceat(masses, starts), 1e-300)  # a tilt may leave a clump no weight
    total = np.add.reduceat(np.bincount(place, first), starts)
    within = float(np.add.reduce(first * values)) - float(np.add.reduce(total * total / mass))
    return min(2 * pi / FINEST, NORMAL_END / sqrt(max(within, 1e-12)))


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
