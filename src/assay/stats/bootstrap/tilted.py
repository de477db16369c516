"""The bootstrap distribution of a ratio of unequal sums, in few numpy calls.

In units of the bootstrap standard error, with x = R̂ + τ·se, the event R ≤ x is W − τ·Σ Nᵢgᵢ ≤ τ for a sum W = Σ
Nᵢyᵢ of mean 0 and variance 1, where gᵢ = (denᵢ/mean den − 1)/n is small. So the characteristic function at any τ is the
n-th power of a polynomial in τ, whose coefficients are the sums Σ pᵢ gᵢᵐ exp(iu yᵢ), m = 0, 1, 2, …, computed once. The
distribution function is Davies' (1973) sum over the frequencies u = (k + ½)·h,

    F(τ) = ½ − Σ Im(ψ(u)·exp(−iuτ)) / (π·(k + ½)),

which is off by no more than the tails beyond 2π/h of τ. Few frequencies and few units cost less than the calls that
handle them, so there are few of those. Many units of which none is large need only moments, not exponentials.

Where n is too small for the expansion in g, every point has a series of its own (`inversion.Pointwise`).
"""

import threading
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from math import e, factorial, fsum, inf, log, nan, pi, sqrt
from typing import ClassVar

import numpy as np

from assay.stats.bootstrap.fourier import FINEST, LONGEST, WORK, Complexes, last_revival
from assay.stats.bootstrap.inversion import WIDEST, Pointwise, bracketed, finite_score
from assay.stats.in_blocks import MANY
from assay.stats.numerics import bennett_reach, normal_quantile
from assay.stats.units import Floats, Shape, Units, shape, shape_from, weighted_mean

_EXPANSION = 1e-7  # a bound on the error in probability that the expansion in g causes; it is far smaller
_WRAPPED, _DECAYED = 1e-10, 1e-10  # what may lie beyond the window, and the |ψ| at which the sum ends
_ENDED = sqrt(-2 * log(_DECAYED))  # where a normal ψ is there
_REVIVED = sqrt(-2 * log(1e-7))  # where it is so small that its return would be no error
_MOST_TERMS = 12
_FARTHEST = 5.3  # standard errors from the estimate at which that error is judged; beyond it every point by itself
_PLACES = (-0.09, -0.03, 0.03, 0.09)  # standard errors around a limit's first guess
_MOST_STEPS = 8
_STILL = 1e-8  # standard errors: a step as short as this was the last
_AT_FIRST, _AT_ONCE = 48, 256  # frequencies, at most
_ROOM = 1 << 17  # complex numbers that stay in the cache
_ONE_THREAD, _LONGEST_PRODUCT = 1 << 17, 8_192  # multiplications of matrices and vectors: more would take threads
_AS_NORMAL, _FAR_ENOUGH = 1.2, 14.0  # times where a normal ψ ends, and a frequency: most ψ end there
_FEW = 4_000  # units that are sorted in no time
_ENOUGH = 6_000  # units, from which on moments cost less than sines and cosines
_EXPANDED, _NEGLIGIBLE = 1.0, 1e-17  # the largest u·y that a Taylor series takes, and its first term that is left out


@dataclass(frozen=True, slots=True)
class Tilted:
    """The distribution, as the coefficients of φ in τ at some frequencies."""

    pointwise: Pointwise  # for what lies farther out than the expansion was judged for
    n: int
    frequencies: Floats  # (K, 1)
    powers: Complexes  # (K, M) sums·(−iu)ᵐ/m!: φ at τ is the polynomial in τ with these coefficients
    weights: Floats  # (K,) taper/(π·(k + ½))
    at_estimate: float  # F(0)
    shape: Shape | None  # of the jackknife's deviations

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
        if tau == 0:
            return self.at_estimate
        return float(self._at(np.array([tau]))[0]) if abs(tau) <= _FARTHEST else self.pointwise.cdf(x)

    def quantiles(self, p: Sequence[float]) -> Floats:
        """The limits x with P(R ≤ x) = p.

        Inverse interpolation between four nodes around each, on the normal scale, where the distribution is nearly a
        line; then steps along that line, until they move no limit. Where it is no line, each by itself.
        """
        z = [finite_score(q) for q in p]
        skewness = 0.0 if self.shape is None else min(max(self.shape.acceleration, -1 / 6), 1 / 6)
        guesses = [x + skewness * (x * x - 1) for x in z]  # Cornish and Fisher's
        seen = _normal_scores(self._at(np.array([guess + place for guess in guesses for place in _PLACES])))
        found = [_interpolated(x, seen[4 * i : 4 * i + 4]) for i, x in enumerate(z)]
        tau = [guess + part.offset for guess, part in zip(guesses, found, strict=True)]
        if self._stepped(tau, z, found):  # at least once: certificates are recomputed to nine digits
            return np.array([self.estimate + self.error * t for t in tau])
        return np.array([bracketed(self, q) for q in p])

    def _stepped(self, tau: list[float], z: Sequence[float], found: "Sequence[_Interpolated]") -> bool:
        """Move the limits until they are still; whether they are."""
        for _ in range(_MOST_STEPS):
            if not max(map(abs, tau)) < inf:
                return False
            seen = _normal_scores(self._at(np.array(tau)))
            steps = [(x - now) * part.slope for x, now, part in zip(z, seen, found, strict=True)]
            largest = max(map(abs, steps))
            if not largest < 1.0:
                return False
            tau[:] = [t + step for t, step in zip(tau, steps, strict=True)]
            if largest < _STILL:
                return True
        return False

    def _at(self, tau: Floats) -> Floats:
        """(T,) The distribution function at each τ; no complex logarithm or exponential, which take far longer."""
        above = np.empty((self.powers.shape[1], len(tau)), dtype=np.complex128)
        above[0], above[1:] = 1.0, tau
        phi = self.powers @ np.multiply.accumulate(above, axis=0, out=above)  # (K, T)
        turn = np.arctan2(phi.imag, phi.real)
        turn *= self.n
        turn -= self.frequencies * tau
        np.sin(turn, out=turn)
        turn *= np.abs(phi) ** self.n
        return np.asarray(0.5 - self.weights.dot(turn))


def tilted(units: Units) -> Tilted | Pointwise | None:
    """The distribution of R over all resamples, or ``None`` where smoothing would have to exceed 1 % of its error."""
    y, g, error = _standardised(units)
    n, p = units.n, units.probabilities
    largest = max(float(np.maximum.reduce(y)), -float(np.minimum.reduce(y)))
    first = 2 * pi / (bennett_reach(largest, _WRAPPED) + _FARTHEST)
    tilt = _Tilt.of(g, p)
    terms = tilt.terms_needed()
    form = _shape(y, g) if p is None and n < MANY and tilt.largest < 0.5 else shape(units)
    g *= first
    series = _until_decay(_Drawn(y, g, p), first, max(terms, 1))
    if series.width > WIDEST:
        return None
    sums, psi = series.sums, series.psi
    pointwise = Pointwise(units, error, f"smoothed by {series.width:.1g} standard errors" if series.width else None)
    while terms and tilt.left_out(_peak(psi, first, terms), terms) > _EXPANSION:
        terms = terms + 2 if terms < _MOST_TERMS else 0  # ψ ends later than a normal one
    if not terms:
        return pointwise
    if terms > sums.shape[1]:
        sums = _transformed(_Drawn(y, g, p), first, len(sums), terms)
    frequencies, weights = first * _half_integers(len(sums)), _weights_of(len(sums))
    if series.width:
        weights = weights * np.exp(-0.5 * (series.width * frequencies) ** 2)
    turn = n * np.arctan2(sums[:, 0].imag, sums[:, 0].real)
    below = 0.5 - float(weights.dot(psi * np.sin(turn)))
    sums *= _turns(len(sums), terms)
    return Tilted(pointwise, n, frequencies[:, None], sums, weights, below, form)


def _standardised(units: Units) -> tuple[Floats, Floats, float]:
    """Σ Nᵢyᵢ of variance 1, the gᵢ, and the bootstrap standard error."""
    n, p = units.n, units.probabilities
    mean_den = weighted_mean(units.denominators, p)
    residual = units.denominators * -units.estimate
    residual += units.numerators
    unit = float(np.maximum.reduce(residual)) or 1.0  # its mean is 0, so that one is positive
    if not 1e-140 < unit < 1e140:  # squares would over- or underflow
        unit = float(np.abs(residual).max())
        residual /= unit
    else:
        unit = 1.0
    square = _inner(residual, residual) / n if p is None else weighted_mean(residual * residual, p)
    scale = sqrt(n * square)
    residual *= 1 / scale
    g = units.denominators * (1 / (n * mean_den))
    g -= 1 / n
    return residual, g, unit * scale / (n * mean_den)


def _inner(a: Floats, b: Floats) -> float:
    """Σ ab; a long product would be split among threads."""
    if len(a) <= _LONGEST_PRODUCT:
        return float(a.dot(b))
    parts = range(0, len(a), _LONGEST_PRODUCT)
    return fsum(float(a[low : low + _LONGEST_PRODUCT].dot(b[low : low + _LONGEST_PRODUCT])) for low in parts)


def _shape(y: Floats, g: Floats) -> Shape:
    """`units.shape` of uniform draws: the estimate without unit i is off by yᵢ/(1 − 1/n − gᵢ), in units of its own."""
    n = len(y)
    pull = (1 - 1 / n) - g
    np.divide(y, pull, out=pull)
    pull -= float(np.add.reduce(pull)) / n
    square = pull * pull
    second, third, fourth = _inner(pull, pull), _inner(square, pull), _inner(square, square)
    pull *= square
    return shape_from(third / second**1.5, fourth / second**2, _inner(pull, pull) / second**3, n)


def _peak(psi: Floats, first: float, terms: int) -> float:
    """The largest |ψ|·u^terms."""
    return float(np.maximum.reduce(psi * _to_power(len(psi), terms))) * first**terms


@dataclass(frozen=True, slots=True)
class _Tilt:
    """How large the g are, which says how many powers of them are needed."""

    n: int
    square: float  # mean g²
    fourth: float  # mean g⁴
    largest: float

    @classmethod
    def of(cls, g: Floats, p: Floats | None) -> "_Tilt":
        n, squares = len(g), g * g
        largest = max(float(np.maximum.reduce(g)), 1 / n)  # no g is below −1/n
        fourth = _inner(squares, squares) / n if p is None else weighted_mean(squares * squares, p)
        return cls(n, weighted_mean(squares, p), fourth, largest)

    def terms_needed(self) -> int:
        """How many powers keep the expansion's error below the tolerance if ψ is nearly normal; 0: too many."""
        return next((terms for terms, peak in _NORMAL_PEAKS if self.left_out(peak, terms) < _EXPANSION), 0)

    def left_out(self, peak: float, terms: int) -> float:
        """What the powers from ``terms`` on may add, where the peak of |ψ|·u^terms is known."""
        mean = self.square if terms < 4 else self.fourth * self.largest ** (terms - 4)  # at least mean |g|^terms
        mean = mean * self.largest if terms == 3 else mean
        return self.n * peak * mean * _FACTORS[terms]


_FACTORS = tuple(_FARTHEST**terms / factorial(terms) for terms in range(_MOST_TERMS + 3))
_NORMAL_PEAKS = tuple((terms, (terms / e) ** (terms / 2)) for terms in range(2, 9))  # of u^terms·exp(−u²/2)


# ----------------------------------------------------------------------------------------------- sums over the units


@dataclass(frozen=True, slots=True)
class _Drawn:
    y: Floats  # (n,)
    g: Floats  # (n,) times h
    p: Floats | None

    def some(self, part: "slice | np.typing.NDArray[np.bool_]") -> "_Drawn":
        return _Drawn(self.y[part], self.g[part], None if self.p is None else self.p[part])


@dataclass(frozen=True, slots=True)
class _Series:
    sums: Complexes  # (K, terms) Σ p gᵐ exp(iu y)
    psi: Floats  # (K,) |Σ p exp(iu y)|ⁿ
    width: float  # of the kernel that ends it where it does not end by itself


def _until_decay(drawn: _Drawn, first: float, terms: int) -> _Series:
    """The sums as far as ψ lives."""
    n = len(drawn.y)
    budget = min(max(int(WORK / n), 4 * _AT_FIRST), LONGEST)
    least, done = _last_revival(drawn), 0
    size = min(_AT_FIRST, int(max(_AS_NORMAL * _ENDED, min(least, _FAR_ENOUGH)) / first) + 2)
    sums, psi = np.empty((0, terms), dtype=np.complex128), np.empty(0)
    while done < budget:
        found = None if done or n < _ENOUGH or drawn.p is not None else _expanded(drawn, first, size, terms)
        found = _transformed(drawn, first, size, terms, done) if found is None else found
        alive = np.abs(found[:, 0]) ** n
        sums, psi = (found, alive) if not done else (np.concatenate([sums, found]), np.concatenate([psi, alive]))
        done += size
        size = min(_AT_ONCE, max(8, done // 2))
        if first * done >= least and float(np.maximum.reduce(psi[-4:])) < _DECAYED:
            alive = (psi >= _DECAYED).nonzero()[0]
            end = int(alive[-1]) + 2 if len(alive) else 1  # beyond, an expansion in g need not converge
            return _Series(sums[:end], psi[:end], 0.0)
    return _Series(sums, psi, _ENDED / (first * done))


def _last_revival(drawn: _Drawn) -> float:
    """`fourier.last_revival`; of few units by sorting them, which takes less calls."""
    if drawn.p is not None or len(drawn.y) > _FEW:
        return last_revival(drawn.y, 1.0 if drawn.p is None else len(drawn.y) * drawn.p)
    ordered = np.sort(drawn.y)
    gaps = (ordered[1:] - ordered[:-1] > FINEST).nonzero()[0].tolist()
    if not gaps:
        return 0.0
    start, stop = _longest([0, *(gap + 1 for gap in gaps), len(ordered)])
    clump = ordered[start:stop]  # the largest: the variance within it is what others may add to
    within = _inner(clump, clump) - float(np.add.reduce(clump)) ** 2 / len(clump)  # of 1
    return min(2 * pi / FINEST, _REVIVED / sqrt(max(within, 1e-12)))


def _longest(bounds: Sequence[int]) -> tuple[int, int]:
    return max(pairwise(bounds), key=lambda part: part[1] - part[0])


class _Room(threading.local):
    """An array to work in: a fresh one of this size costs more than what is done in it."""

    def __init__(self) -> None:
        self.array = np.empty(_ROOM, dtype=np.complex128)

    def of(self, rows: int, columns: int) -> Complexes:
        return self.array[: rows * columns].reshape(rows, columns)


_room = _Room()


def _transformed(drawn: _Drawn, first: float, count: int, terms: int, skip: int = 0) -> Complexes:
    """(count, terms) Σ p gᵐ exp(iu y) at the frequencies first·(skip + ½ … skip + count − ½)."""
    n, total = len(drawn.y), None
    step = max(1, min(_ROOM, _ONE_THREAD // terms) // count)
    for low in range(0, n, step):
        part = drawn if step >= n else drawn.some(slice(low, low + step))
        found = _waves(part.y, first, count, skip) @ _weights(part, terms, n).T
        total = found if total is None else total + found
    assert total is not None
    return total


def _waves(y: Floats, first: float, count: int, skip: int) -> Complexes:
    """(count, n) exp(i·(skip + ½ + k)·first·y), by doubling: one sine and cosine per unit, and two after a skip."""
    out = _room.of(count, len(y))
    angle = first / 2 * y
    np.cos(angle, out=out[0].real)
    np.sin(angle, out=out[0].imag)
    turn = out[0] * out[0]
    if skip:
        angle *= 2 * skip
        out[0] *= np.cos(angle) + 1j * np.sin(angle)
    have = 1
    while have < count:
        more = min(have, count - have)
        np.multiply(out[:more], turn, out=out[have : have + more])
        turn *= turn
        have += more
    return out


def _weights(drawn: _Drawn, terms: int, n: int) -> Complexes:
    """(terms, n) p·gᵐ, complex because a mixed product would convert it each time."""
    return _rows(drawn, terms, n).astype(np.complex128)


def _rows(drawn: _Drawn, terms: int, n: int) -> Floats:
    rows = np.empty((terms, len(drawn.y)))
    rows[0] = 1 / n if drawn.p is None else drawn.p
    for m in range(1, terms):
        np.multiply(rows[m - 1], drawn.g, out=rows[m])
    return rows


def _expanded(drawn: _Drawn, first: float, count: int, terms: int) -> Complexes | None:
    """The first of these by their Taylor series in u, for many units: moments of units of which none is large.

    The few that are large are transformed; ``None`` where they are not few.
    """
    n, limit = len(drawn.y), _EXPANDED / (first * count)
    large = None
    if max(float(drawn.y.max()), -float(drawn.y.min())) > limit:
        large = np.abs(drawn.y) > limit
        if np.count_nonzero(large) > n // 20:
            return None
    small = drawn if large is None else drawn.some(~large)
    reach = first * count * max(float(small.y.max()), -float(small.y.min()))
    order = next(j for j in range(2, 64) if reach**j / factorial(j) < _NEGLIGIBLE)
    turns = 1j * first * _half_integers(count)
    series = turns[:, None] ** np.arange(order) / np.array([factorial(j) for j in range(order)], dtype=np.float64)
    total = series @ _moments(small, order, terms, n).T
    if large is not None:
        few = drawn.some(large)
        total += _transformed(few, first, count, terms) * (len(few.y) / n)
    return np.asarray(total)


def _moments(drawn: _Drawn, order: int, terms: int, n: int) -> Floats:
    """(terms, order) Σ gᵐ yʲ/n."""
    found, step = np.zeros((terms, order)), 1 << 12
    for low in range(0, len(drawn.y), step):
        part = drawn.some(slice(low, low + step))
        powers = np.empty((order, len(part.y)))
        powers[0], powers[1] = 1.0, part.y
        have = 2
        while have < order:
            more = min(have, order - have)
            np.multiply(powers[:more], powers[have // 2] * powers[have - have // 2], out=powers[have : have + more])
            have += more
        found += _rows(part, terms, n) @ powers.T
    return found


@lru_cache(maxsize=64)
def _half_integers(count: int) -> Floats:
    return np.asarray(np.arange(count) + 0.5, dtype=np.float64)


@lru_cache(maxsize=512)
def _to_power(count: int, power: int) -> Floats:
    return np.asarray(_half_integers(count) ** power)


@lru_cache(maxsize=64)
def _weights_of(count: int) -> Floats:
    return np.asarray(1 / (pi * _half_integers(count)))


@lru_cache(maxsize=256)
def _turns(count: int, terms: int) -> Complexes:
    """(count, terms) (−i·(k + ½))ᵐ/m!."""
    factors = np.array([factorial(m) for m in range(terms)], dtype=np.float64)
    return np.asarray((-1j * _half_integers(count))[:, None] ** np.arange(terms) / factors)


# ------------------------------------------------------------------------------------------------------- its points


@dataclass(frozen=True, slots=True)
class _Interpolated:
    """Where a limit lies from the guess that the nodes are around; NaN where these do not rise."""

    offset: float
    slope: float  # how far it moves for one on the normal scale


def _interpolated(at: float, seen: Sequence[float]) -> _Interpolated:
    """Neville's inverse interpolation from the normal scores at the four nodes."""
    a, b, c, d = seen
    if not (-inf < a < b < c < d < inf):
        return _Interpolated(nan, nan)
    first, second, third, fourth = _PLACES
    ab = ((b - at) * first + (at - a) * second) / (b - a)
    bc = ((c - at) * second + (at - b) * third) / (c - b)
    cd = ((d - at) * third + (at - c) * fourth) / (d - c)
    abc = ((c - at) * ab + (at - a) * bc) / (c - a)
    bcd = ((d - at) * bc + (at - b) * cd) / (d - b)
    offset = ((d - at) * abc + (at - a) * bcd) / (d - a)
    return _Interpolated(offset, (third - second) / (c - b))


def _normal_scores(values: Floats) -> list[float]:
    """Φ⁻¹ of each; infinite outside of 0 … 1."""
    return [normal_quantile(value) for value in values.tolist()]
