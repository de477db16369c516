"""The characteristic function of a sum of independent draws, followed until it has decayed.

Its means Σ pᵢ exp(iu yᵢ) at the frequencies u of a window are all that the distribution of the sum needs
(`assay.stats.bootstrap.inversion`).
"""

from dataclasses import dataclass
from math import ceil, factorial, log, pi, sqrt

import numpy as np
from numpy.typing import NDArray

from assay.stats.numerics import bennett_window
from assay.stats.units import Floats, weighted_mean

Complexes = NDArray[np.complex128]

WRAPPED = 1e-10  # probability that may fall outside the Fourier window
DECAYED = 1e-10  # |ψ| below which the series ends
BLOCK = 32  # frequencies per pass
CHUNK = 4096  # units per pass: 32 × 4096 complex numbers stay in the cache
WORK = 4e7  # units × frequencies before the series is cut off and smoothed, and at most
LONGEST = 16_384  # frequencies
_SIZE = 256  # frequencies of a block, from the 257th on
_MANY = 10_000  # units, from which on moments cost less than sines and cosines
_EXPANDED, _NEGLIGIBLE = 1.0, 1e-17  # the largest u·y that a Taylor series takes, and its first term that is left out
NORMAL_END = sqrt(-2 * log(DECAYED))  # where ψ ends if it is that of a normal distribution
_AT_ONCE = 1 << 16  # values whose places are looked at together
FINEST = 0.01  # lattice-like structure finer than this part of a standard error may stay unresolved


@dataclass(frozen=True, slots=True)
class Draws:
    """n independent draws from values of mean 0 and variance 1/n, so that their sum has variance 1."""

    y: Floats  # (n,)
    p: Floats | None = None  # (n,) drawing probabilities, or None when uniform

    @property
    def n(self) -> int:
        return len(self.y)

    def mean(self, values: Floats) -> float:
        return weighted_mean(values, self.p)


@dataclass(frozen=True, slots=True)
class FourierSeries:
    """Σ p exp(iuy) at the frequencies of a window, and the kernel that ends it if it did not decay by itself."""

    start: float  # left end of the window, in standard errors
    period: float  # its length
    frequencies: Floats  # (K,)
    sums: Complexes  # (K,)
    width: float  # of the smoothing kernel, in standard errors; 0: none

    @property
    def taper(self) -> Floats:
        return np.asarray(np.exp(-0.5 * (self.width * self.frequencies) ** 2))


def series_of(draws: Draws) -> FourierSeries:
    """Follow ψ until it has decayed or the budget is spent; what has not decayed by then is smoothed."""
    low, high = bennett_window(float(draws.y.min()), float(draws.y.max()), WRAPPED)
    first = 2 * pi / (high - low)
    sums, finished = _until_decay(draws, first)
    frequencies: Floats = first * np.arange(1.0, len(sums) + 1)
    width = 0.0 if finished else NORMAL_END / float(frequencies[-1])
    return FourierSeries(low, high - low, frequencies, sums, width)


def _until_decay(draws: Draws, first: float) -> tuple[Complexes, bool]:
    """The sums as far as ψ lives, and whether it is known to have ended there."""
    budget = min(max(int(WORK / draws.n), 4 * BLOCK), LONGEST)
    least = last_revival(draws.y, 1.0 if draws.p is None else draws.n * draws.p) / first
    alive_from = DECAYED ** (1 / draws.n)  # of |φ|, whose n-th power is |ψ|
    parts: list[Complexes] = []
    done, size, blocks, end = 0, min(BLOCK, int(NORMAL_END / first) + 6), 1, None
    while end is None and done < budget:
        found = None if done else _expanded(draws, first, size)
        found = _transform(draws, first, size, skip=done, blocks=blocks) if found is None else found
        quiet = (np.abs(found).reshape(blocks, size)[:, -4:] < alive_from).all(axis=1)
        end = next((end for end in size * (1 + np.flatnonzero(quiet)) if done + end >= least), None)
        parts.append(found[:end])
        done += len(parts[-1])
        size = min(_SIZE, done)
        if draws.p is None:
            blocks = max(min(done // _SIZE, BLOCK * CHUNK // (_SIZE * draws.n), ceil((budget - done) / size)), 1)
    sums = np.concatenate(parts)
    if end is not None:
        alive = (np.abs(sums) >= alive_from).nonzero()[0]
        sums = sums[: alive[-1] + 2] if len(alive) else sums[:1]
    return sums, end is not None


def _transform(draws: Draws, first: float, count: int, skip: int, blocks: int) -> Complexes:
    """(blocks · count,) Σ p exp(iu y) at the frequencies first·(skip + 1 … skip + blocks · count)."""
    total = np.zeros(blocks * count, dtype=np.complex128)
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
        if draws.p is None:
            total += powers.sum(axis=1) / draws.n
        else:  # no BLAS product: on a busy machine its threads wait for each other far longer than this takes
            total += np.einsum("kn,mn->km", powers, draws.p[None, part].astype(np.complex128))[:, 0]
    return total


def _expanded(draws: Draws, first: float, count: int) -> Complexes | None:
    """The first of these by their Taylor series in u, for many units: moments of units of which none is large.

    The few that are large are transformed; ``None`` where they are not few.
    """
    if draws.n < _MANY or draws.p is not None:
        return None
    large = np.abs(draws.y) > _EXPANDED / (first * count)
    many = int(np.count_nonzero(large))
    if many > draws.n // 20:
        return None
    small, total = draws.y, np.zeros(count, dtype=np.complex128)
    if many:
        small = draws.y[~large]
        total += _transform(Draws(draws.y[large]), first, count, skip=0, blocks=1) * many
    reach = first * count * float(np.abs(small).max())
    order = next(j for j in range(2, 64) if reach**j / factorial(j) < _NEGLIGIBLE)
    turns = 1j * first * np.arange(1, count + 1)
    series = turns[:, None] ** np.arange(order) / np.array([factorial(j) for j in range(order)], dtype=np.float64)
    return np.asarray((total + np.einsum("kj,mj->km", series, _moments(small, order)[None])[:, 0]) / draws.n)


def _moments(values: Floats, order: int) -> Floats:
    """(order,) Σ yʲ."""
    found = np.zeros(order)
    for low in range(0, len(values), CHUNK):
        y = values[low : low + CHUNK]
        power = np.ones(len(y))
        for j in range(order):
            found[j] += np.add.reduce(power)
            power = power * y
    return found


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


def one_clump(lowest: float, *parts: Floats) -> bool:
    """Whether no place of the finest grid is empty between the values of all parts; counted block by block."""
    seen = np.zeros(1, dtype=np.bool_)
    for values in parts:
        for low in range(0, len(values), _AT_ONCE):
            places = ((values[low : low + _AT_ONCE] - lowest) / FINEST).astype(np.int64)
            last = int(places.max())
            if last >= len(seen):
                seen = np.concatenate([seen, np.zeros(last + 1 - len(seen), dtype=np.bool_)])
            seen[places] = True
    return bool(seen.all())


def last_revival(values: Floats, weights: Floats | float = 1.0) -> float:
    """The frequency from which on ψ cannot revive: the spread within clumps alone has ended it. 0: there is one clump.

    Values in several tight clumps make the sum nearly a lattice, and ψ, once decayed, comes back at the lattice's
    frequency, the weaker the wider the clumps are. Values are in standard deviations of the sum; Σ weight·value² is 1.
    """
    if one_clump(float(values.min()), values):
        return 0.0
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
