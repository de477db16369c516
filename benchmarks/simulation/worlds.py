"""Two models on the same units, with a true difference that is chosen: what the public record is made of.

Every world gives data for any true difference B − A, so that one draw without a difference shows the size of a test,
and one with it shows power and coverage. ``power_difference`` is the one that Student's t would find in about 80 of 100
samples, were the estimate normal with the spread that it really has.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from math import sqrt
from zlib import crc32

import numpy as np

from assay.stats.units import Floats, Integers, Units
from benchmarks.simulation import few

SEED = 20268
_LARGE = 400_000  # units for the truth and the spread
_TOKENS = 200  # of a window of length 1: tokens are whole numbers
_REACH = 2.8  # standard errors: found in 80 of 100 samples

Generator = np.random.Generator
Real = Callable[[Generator, int], tuple[Floats, Floats]]  # differences and tokens
Clustered = Callable[[Generator, int], tuple[Floats, Integers]]  # differences, and the clusters of the units


@dataclass(frozen=True, eq=False, slots=True)
class Drawn:
    """Scores or losses of two models on the same units."""

    a: Floats
    b: Floats
    clusters: Integers | None = None
    tokens: Floats | None = None

    @property
    def binary(self) -> bool:
        return self.tokens is None and bool(np.isin(np.concatenate([self.a, self.b]), (0.0, 1.0)).all())

    @property
    def units(self) -> Units:
        """What is drawn: windows, items, or the sums of whole clusters."""
        weights = np.ones(len(self.a)) if self.tokens is None else self.tokens
        if self.clusters is None:
            return Units((self.b - self.a) * weights, weights)
        top, bottom = (np.bincount(self.clusters, part) for part in ((self.b - self.a) * weights, weights))
        return Units(np.asarray(top, dtype=np.float64), np.asarray(bottom, dtype=np.float64))


@dataclass(frozen=True)
class World(ABC):
    """A kind of data."""

    name: str
    n: int
    group: str  # what is special about it

    def draw(self, simulation: int, difference: float) -> Drawn:
        """One sample with this true difference."""
        key = [SEED, crc32(self.name.encode()), self.n, simulation, round(1e6 * difference) & 0xFFFFFFFF]
        return self.sample(np.random.default_rng(key), difference)

    @abstractmethod
    def sample(self, rng: Generator, difference: float) -> Drawn:
        """Draw with this generator."""

    @property
    @abstractmethod
    def power_difference(self) -> float:
        """How far apart the models are where they differ."""


@dataclass(frozen=True)
class Windows(World):
    """Real-valued differences, and their tokens where they are not alike."""

    real: Real
    weighted: bool = False

    def _windows(self, rng: Generator, n: int) -> tuple[Floats, Floats]:
        differences, tokens = self.real(rng, n)
        return differences, np.ceil(_TOKENS * tokens) if self.weighted else np.ones(n)

    @cached_property
    def _truth_and_error(self) -> tuple[float, float]:
        differences, tokens = self._windows(np.random.default_rng(SEED), _LARGE)
        mean = float((differences * tokens).sum() / tokens.sum())
        influence = tokens / float(tokens.mean()) * (differences - mean)
        return mean, float(influence.std()) / sqrt(self.n)

    @property
    def power_difference(self) -> float:
        return _REACH * self._truth_and_error[1]

    def sample(self, rng: Generator, difference: float) -> Drawn:
        differences, tokens = self._windows(rng, self.n)
        a = rng.uniform(50, 52, self.n)  # a loss is not negative
        b = a + (differences - self._truth_and_error[0] + difference)
        return Drawn(a, b, tokens=tokens if self.weighted else None)


@dataclass(frozen=True)
class Answers(World):
    """Right or wrong answers, of which a share differs."""

    differing: float

    @property
    def power_difference(self) -> float:
        return min(_REACH * sqrt(self.differing / self.n), 0.9 * self.differing)

    def sample(self, rng: Generator, difference: float) -> Drawn:
        better, worse = (self.differing + difference) / 2, (self.differing - difference) / 2
        rest = 1 - self.differing
        which = rng.choice(4, self.n, p=[better, worse, 0.7 * rest, 0.3 * rest])
        return Drawn(np.isin(which, (1, 2)).astype(np.float64), np.isin(which, (0, 2)).astype(np.float64))


@dataclass(frozen=True)
class Passages(World):
    """Units in clusters whose differences are alike."""

    size: int
    alike: float  # intra-class correlation

    @property
    def power_difference(self) -> float:
        return _REACH * sqrt((self.alike + (1 - self.alike) / self.size) / (self.n // self.size))

    def sample(self, rng: Generator, difference: float) -> Drawn:
        clusters = np.repeat(np.arange(self.n // self.size), self.size)
        shared = rng.normal(size=self.n // self.size)[clusters]
        own = sqrt(self.alike) * shared + sqrt(1 - self.alike) * rng.normal(size=self.n)
        a = rng.normal(size=self.n)
        return Drawn(a, a + own + difference, clusters)


def _of_few(name: str, n: int) -> Real:
    """The differences and tokens of a case of `few`."""
    return next(case.draw for case in (*few.KNOWN, *few.APART, *few.NEW) if (case.name, case.n) == (name, n))


def _plain(*cases: tuple[str, int]) -> list[World]:
    return [Windows(name, n, "plain scores", _of_few(name, n)) for name, n in cases]


def _zeros(*cases: tuple[str, int]) -> list[World]:
    return [Windows(name, n, "most pairs equal", _of_few(name, n)) for name, n in cases]


def _tokens(*cases: tuple[str, int]) -> list[World]:
    return [Windows(name, n, "unequal lengths", _of_few(name, n), weighted=True) for name, n in cases]


def _long(real: Real, n: int, name: str) -> World:
    return Windows(name, n, "unequal lengths", real, weighted=True)


def _normal_tokens(rng: Generator, n: int) -> tuple[Floats, Floats]:
    return rng.normal(size=n), rng.lognormal(0.0, 1.0, n)


WORLDS: tuple[World, ...] = (
    *_plain(("normal", 5), ("normal", 30), ("exponential", 30), ("exponential", 100)),
    *_plain(("log-normal", 10), ("log-normal", 30), ("log-normal", 100), ("Student's t(3)", 60)),
    Windows("normal", 500, "plain scores", few.alike(few.normal)),
    Windows("log-normal", 500, "plain scores", few.alike(few.lognormal)),
    *_zeros(("90 % zeros, normal", 100), ("90 % zeros, log-normal", 100), ("95 % zeros, half-normal", 400)),
    _long(_normal_tokens, 180, "log-normal(1) tokens, normal"),
    *_tokens(
        ("log-normal(0.5) tokens, exponential", 30),
        ("log-normal(1) tokens, difference ~ log tokens", 30),
        ("log-normal(1) tokens, the same and skewed", 30),
        ("log-normal(1) tokens, difference ~ tokens", 150),
        ("tokens 2, 4, 8, 16, logistic", 64),
    ),
    Answers("right or wrong, 20 % differ", 12, "right or wrong", 0.2),
    Answers("right or wrong, 20 % differ", 30, "right or wrong", 0.2),
    Answers("right or wrong, 10 % differ", 100, "right or wrong", 0.1),
    Answers("right or wrong, 3 % differ", 200, "right or wrong", 0.03),
    Answers("right or wrong, 20 % differ", 500, "right or wrong", 0.2),
    Passages("20 passages of 5, correlation 0.5", 100, "clusters", 5, 0.5),
    Passages("50 passages of 10, correlation 0.3", 500, "clusters", 10, 0.3),
)
