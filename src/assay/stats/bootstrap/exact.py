"""The bootstrap with infinitely many resamples: no random numbers, no seed.

For draws with replacement, P(R ≤ x) = P(Σ Nᵢ(numᵢ − x·denᵢ) ≤ 0), and the characteristic function of that sum is a
power, ψ(u) = (Σ pᵢ exp(iu yᵢ))ⁿ. A short Fourier series of it is the distribution function
(`assay.stats.bootstrap.inversion`, and `tilted` for unequal denominators).

Where that is not exact, other ways are taken. A handful of units is enumerated; lattice values (0/1 scores) are
convolved; and where ψ does not decay within the budget (a dominating outlier, mostly equal values) the distribution
is smoothed by a normal kernel whose width is recorded or, if that would be wider than 1 % of a standard error,
refused: the caller then resamples at random.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations_with_replacement
from math import lgamma
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from assay.stats.bootstrap.inversion import invert
from assay.stats.bootstrap.tilted import tilted
from assay.stats.numerics import bennett_window
from assay.stats.units import Floats, Units, weighted_mean

ENUMERATE_UP_TO = 8  # 6,435 resamples; more units are smooth enough to invert
_EDGE = 1e-11  # cumulative probabilities closer than this are the same: rounding must not decide a limit
_OUTERMOST = 1e-11  # of probability: a convolution cannot tell what lies nearer to 0 or 1
_SMALLEST_LATTICE = 1e-7  # of the span: how far a value may lie from its lattice point


class BootstrapDistribution(Protocol):
    """The bootstrap distribution of an estimate, however it was computed."""

    @property
    def method(self) -> str: ...

    @property
    def note(self) -> str | None: ...

    def cdf(self, x: float) -> float: ...

    def quantiles(self, p: Sequence[float]) -> Floats: ...


def bootstrap_distribution(units: Units) -> BootstrapDistribution | None:
    """The distribution of the estimate over all resamples; ``None`` where 1 % of a standard error is out of reach."""
    if units.n <= ENUMERATE_UP_TO:
        return enumerated(units)
    if not units.equal_denominators:
        return tilted(units)
    lattice = find_lattice(units.numerators)
    distribution = None if lattice is None else convolved(units, lattice)
    return invert(units) if distribution is None else distribution


@dataclass(frozen=True, slots=True)
class Atoms:
    """Sorted support points and their probabilities."""

    points: Floats
    masses: Floats
    method: str
    note: str | None = None

    def cdf(self, x: float) -> float:
        """P(X < x) + P(X = x)/2: ties count half."""
        reach = 1e-12 * float(self.points[-1] - self.points[0]) + 1e-14 * abs(x)  # what rounding may do
        below = int(np.searchsorted(self.points, x - reach))
        upto = int(np.searchsorted(self.points, x + reach, side="right"))
        return float(self.masses[:below].sum() + self.masses[below:upto].sum() / 2)

    def quantiles(self, p: Sequence[float]) -> Floats:
        return np.array([self.quantile(q) for q in p])

    def quantile(self, p: float) -> float:
        """The smallest point with P(X ≤ point) ≥ p; where that holds with equality, half-way to the next that occurs.

        Counted from the nearer end, so that the negated distribution has the negated quantiles.
        """
        if p > 0.5:
            turned = Atoms(-self.points[::-1], self.masses[::-1], self.method)
            return 0.0 - turned.quantile(1 - p)
        tail = max(p, _OUTERMOST)
        edge = min(_EDGE, tail / 8)
        cumulative, last = np.cumsum(self.masses), len(self.points) - 1
        at = min(int(np.searchsorted(cumulative, tail - edge)), last)
        beyond = min(int(np.searchsorted(cumulative, tail + edge, side="right")), last)
        return float(self.points[at] + self.points[beyond]) / 2


def enumerated(units: Units) -> Atoms:
    """Every resample of a handful of units, with its probability: C(2n − 1, n) of them instead of nⁿ."""
    n = units.n
    counts = np.array([np.bincount(c, minlength=n) for c in combinations_with_replacement(range(n), n)])  # (m, n)
    log_share = np.log(np.full(n, 1 / n) if units.probabilities is None else units.probabilities)
    log_factorial = np.array([lgamma(i + 1) for i in range(n + 1)])
    mass = np.exp(log_factorial[n] - log_factorial[counts].sum(axis=1) + counts @ log_share)
    points = (counts @ units.numerators) / (counts @ units.denominators)
    return _merged(points, mass, "enumeration")


def _merged(points: Floats, masses: Floats, method: str) -> Atoms:
    """Sort, and join points that differ by rounding only."""
    order = np.argsort(points, kind="stable")
    points, masses = points[order], masses[order]
    reach = 1e-12 * max(float(np.abs(points).max()), float(points[-1] - points[0]))
    first = np.flatnonzero(np.concatenate([[True], np.diff(points) > reach]))
    return Atoms(points[first], np.add.reduceat(masses, first), method)


@dataclass(frozen=True, slots=True)
class Lattice:
    """Values that all lie on ``base + span·integer``."""

    base: float
    span: float
    steps: NDArray[np.int64]  # (n,) the integers


def find_lattice(
    values: Floats, *, most_distinct: int = 256, most_steps: int = 20_000, thorough: bool = False
) -> Lattice | None:
    """The coarsest lattice that carries all values, if they are few distinct ones; ``None`` otherwise."""
    few = values[:: max(1, len(values) // 64)][:64].tolist()
    mostly_different = len(few) > 8 and len(set(few)) > 0.75 * len(few)
    if mostly_different and not thorough:  # not worth sorting them all
        return None
    ordered = np.sort(values)  # np.unique would import numpy.ma, a tenth of the command's time
    distinct = ordered[np.concatenate([[True], ordered[1:] != ordered[:-1]])]
    if not 1 < len(distinct) <= most_distinct:
        return None
    offsets = distinct - distinct[0]
    span = _common_span(offsets, float(offsets[-1]) / most_steps)
    if span is None:
        return None
    steps = np.rint((values - distinct[0]) / span).astype(np.int64)
    return Lattice(float(distinct[0]), span, steps)


def _common_span(offsets: Floats, smallest: float) -> float | None:
    """Euclid's algorithm on floats: the largest span of which every offset is a multiple.

    On the gaps, smallest first: they are the same for the negated values, and errors do not build up.
    """
    tolerance = _SMALLEST_LATTICE * float(offsets[-1])
    gaps = np.sort(np.diff(offsets)).tolist()
    span = gaps[0]
    for gap in gaps[1:]:
        a, b = max(span, gap), min(span, gap)
        while b > max(tolerance, smallest / 2):
            remainder = a - b * round(a / b)
            a, b = b, abs(remainder)
        span = a
        if span < smallest:
            return None
    span = float(offsets[-1]) / round(float(offsets[-1]) / span)
    misfit = np.abs(offsets / span - np.rint(offsets / span)).max()
    return span if misfit < 1e-6 else None


def convolved(units: Units, lattice: Lattice) -> Atoms | None:
    """The bootstrap distribution of a mean of lattice values: the n-th convolution power, by one FFT pair.

    Exact but for 1e-13 of wrapped tail; ``None`` when the window would not fit in 2²⁰ points.
    """
    n, steps, share = units.n, lattice.steps, units.probabilities
    mean = weighted_mean(steps.astype(np.float64), share)
    centred = steps - mean
    deviation = (n * weighted_mean(centred * centred, share)) ** 0.5
    low, high = bennett_window(float(centred.min()) / deviation, float(centred.max()) / deviation, 1e-13)
    start = max(0, int(np.floor(n * mean + low * deviation)))
    stop = min(n * int(steps.max()), int(np.ceil(n * mean + high * deviation)))
    size = 1 << int(stop - start + 1).bit_length()
    if size > 1 << 20:
        return None
    histogram = np.bincount(steps % size, weights=share, minlength=size)
    transform = np.fft.rfft(histogram / histogram.sum()) ** n
    masses = np.roll(np.fft.irfft(transform, size), -(start % size))[: stop - start + 1]
    masses = np.maximum(masses, 0.0)
    points = (lattice.base + lattice.span * np.arange(start, stop + 1) / n) / units.denominators[0]
    return Atoms(points, masses / masses.sum(), "lattice")
