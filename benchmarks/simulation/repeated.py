"""Repeated runs whose variance components are known, and pilots whose true spread is: do the intervals hold them?"""

from collections.abc import Callable
from dataclasses import dataclass
from math import sqrt
from zlib import crc32

import numpy as np

from assay.analyses.power.pilot import pilot_of
from assay.analyses.reliability import reliability
from assay.data import Panel
from assay.stats.bootstrap import interval
from assay.stats.detectable_shifts import detectable_shift
from assay.stats.numerics import normal_cdf, normal_quantile
from assay.stats.records import Interval
from assay.stats.reliability import deviation, intraclass
from assay.stats.repeated_runs import RunVariance, item_spread, order_repeats, run_noise
from assay.stats.units import Floats, Units

SEED = 20266
LEVEL = 0.95

Generator = np.random.Generator


def covered(limits: Interval | None, truth: float) -> bool:
    return limits is not None and limits.low <= truth <= limits.high


# ------------------------------------------------------------------------------------------ runs


@dataclass(frozen=True, slots=True)
class Runs:
    """n items × k runs: variances of items, of what a run shifts all items by, and of the noise."""

    name: str
    n: int
    k: int
    items: float
    runs: float = 0.0
    binary: bool = False

    @property
    def noise(self) -> float:
        return 1 / 6 if self.binary else 1 - self.items

    def values(self, simulation: int) -> Floats:
        rng = np.random.default_rng([SEED, crc32(self.name.encode()), self.n, self.k, simulation])
        if self.binary:  # each item has a chance of its own, uniform: variances 1/12 of items, 1/6 of noise
            return (rng.random((self.n, self.k)) < rng.random((self.n, 1))).astype(np.float64)
        shifts = sqrt(self.runs) * rng.normal(size=self.k)
        own = sqrt(self.items) * rng.normal(size=(self.n, 1))
        return np.asarray(own + shifts + sqrt(self.noise) * rng.normal(size=(self.n, self.k)))

    def truths(self) -> dict[str, float]:
        items = 1 / 12 if self.binary else self.items
        agreement = items / (items + self.runs + self.noise)
        return {"ICC(1,1)": agreement, "ICC(2,1)": agreement, "ICC(3,1)": items / (items + self.noise)}

    def held(self, simulation: int) -> list[bool]:
        """By the three intraclass correlations of a single run, and by the standard deviation between runs."""
        values = self.values(simulation)
        found = intraclass(values, LEVEL)
        spread = deviation(float(np.var(values.mean(axis=0), ddof=1)), self.k - 1, LEVEL)
        true_spread = sqrt(self.runs + self.noise / self.n)
        correlations = [covered(found[name].interval, truth) for name, truth in self.truths().items()]
        return [*correlations, covered(spread.interval, true_spread)]


RUNS = (
    Runs("normal", 20, 3, 0.3),
    Runs("normal", 100, 3, 0.3),
    Runs("normal", 100, 5, 0.8),
    Runs("shared shifts", 100, 3, 0.5, 0.1),
    Runs("shared shifts", 100, 10, 0.5, 0.1),
    Runs("0/1 answers", 30, 5, 0.0, binary=True),
    Runs("0/1 answers", 300, 5, 0.0, binary=True),
)


@dataclass(frozen=True, slots=True)
class Shifts:
    """n items in k runs; what a run shifts all items by, in standard deviations of a mean of the items' noise."""

    n: int
    k: int
    shift: float = 0.0
    binary: bool = False

    def stated(self, simulation: int) -> tuple[bool, float, float]:
        """Whether the limits of the noise hold, and the power of the difference that is stated, and by scores alone."""
        rng = np.random.default_rng([SEED, 11, self.n, self.k, round(10 * self.shift), simulation])
        if self.binary:
            values = (rng.random((self.n, self.k)) < rng.beta(0.5, 0.5, (self.n, 1))).astype(np.float64)
            noise = 1 / 8  # the mean of p(1 − p)
        else:
            shifts = self.shift / sqrt(self.n) * rng.normal(size=self.k)
            values, noise = rng.normal(size=(self.n, 1)) + rng.normal(size=(self.n, self.k)) + shifts, 1.0
        true = sqrt(noise * (1 + self.shift**2) / self.n)
        scores = RunVariance(float(values.mean(axis=0).var(ddof=1)), self.k - 1)
        found = run_noise([scores], [item_spread(values, np.ones(self.n))], LEVEL)
        alone = power_of_stated(sqrt(scores.variance), scores.df, true)
        return covered(found.estimate.interval, true), power_of_stated(found.estimate.value or 0, found.df, true), alone


def power_of_stated(sd: float, df: float, true: float) -> float:
    """The probability that two single runs differ significantly where the models differ by what was stated."""
    shift = sd * detectable_shift(round(df, 6), LEVEL, 0.8) / true
    return normal_cdf(shift - normal_quantile(0.5 + LEVEL / 2))


SHIFTS = (
    *(Shifts(50, 4, shift) for shift in (0.0, 0.5, 1.0, 2.0)),
    *(Shifts(300, 5, shift) for shift in (0.0, 1.0)),
    Shifts(100, 2),
    Shifts(100, 3, binary=True),
)


def order_held(gap: float, runs: int, simulation: int) -> bool:
    """The interval of the probability that an order repeats, where scores differ by ``gap`` standard deviations."""
    from statistics import NormalDist

    ahead = NormalDist().cdf(gap / sqrt(2))
    rng = np.random.default_rng([SEED, 7, runs, round(100 * gap), simulation])
    first, second = rng.normal([[gap], [0.0]], 1, (2, runs))
    return covered(order_repeats(first, second, LEVEL).interval, ahead**2 + (1 - ahead) ** 2)


# ------------------------------------------------------------------------------------------ pilots


@dataclass(frozen=True, slots=True)
class PilotData:
    """A pilot of n items, and what a mean of n such items varies by, times n; or the share of items that differ."""

    name: str
    n: int
    truth: float
    draw: Callable[[Generator, int], Panel]

    def held(self, simulation: int) -> bool:
        rng = np.random.default_rng([SEED, crc32(self.name.encode()), self.n, simulation])
        panel = self.draw(rng, self.n)
        found, _ = pilot_of(panel, panel, level=LEVEL, repeats=None)
        return covered(found.limits, self.truth)


def _panel(a: Floats, b: Floats, size: int = 1) -> Panel:
    clusters = None if size == 1 else np.repeat(np.arange(len(a) // size), size)
    return Panel.from_arrays(np.column_stack([a, b]), clusters=clusters)


def _normal(rng: Generator, n: int) -> Panel:
    return _panel(np.zeros(n), rng.normal(size=n))


def _skewed(rng: Generator, n: int) -> Panel:
    return _panel(np.zeros(n), rng.exponential(size=n))


def _heavy(rng: Generator, n: int) -> Panel:
    return _panel(np.zeros(n), rng.standard_t(5, size=n) * sqrt(3 / 5))


def _binary(rng: Generator, n: int) -> Panel:
    a = rng.random(n) < 0.7
    return _panel(a.astype(np.float64), (a ^ (rng.random(n) < 0.2)).astype(np.float64))


def _clustered(rng: Generator, n: int) -> Panel:
    shared = np.repeat(rng.normal(size=n // 5), 5)
    return _panel(np.zeros(n), sqrt(0.3) * shared + sqrt(0.7) * rng.normal(size=n), 5)


PILOTS = (
    *(PilotData("normal differences", n, 1.0, _normal) for n in (30, 100, 500)),
    *(PilotData("skewed differences", n, 1.0, _skewed) for n in (30, 100, 500)),
    *(PilotData("Student t5 differences", n, 1.0, _heavy) for n in (100, 500)),
    *(PilotData("0/1, 20 % differ", n, 0.2, _binary) for n in (30, 100, 500)),
    *(PilotData("clusters of 5, icc 0.3", n, 2.2, _clustered) for n in (100, 500)),
)


# ---------------------------------------------------------------------------------- noise of right and wrong answers


def item_noise_held(a: float, b: float, n: int, runs: int, simulations: int) -> tuple[float, float, float]:
    """How often the noise of items whose chances are beta(a, b) is held: by Agresti and Coull's rule, and by t-hall.

    Third, how often t-hall has no interval, because no item varied.
    """
    truth, table = sqrt(a * b / ((a + b) * (a + b + 1))), {"item": np.repeat(np.arange(n), runs)}
    table["run"] = np.tile(np.arange(1, runs + 1), n)
    ours, other, none = 0, 0, 0
    for simulation in range(simulations):
        rng = np.random.default_rng([SEED, n, runs, round(100 * a), simulation])
        values = (rng.random((n, runs)) < rng.beta(a, b, (n, 1))).astype(np.float64)
        ours += covered(reliability({**table, "score": values.ravel()}).models[0].item_sd.interval, truth)
        units = Units(values.var(axis=1, ddof=1), np.ones(n))
        none += units.degenerate
        other += not units.degenerate and covered(interval(units, method="t-hall").interval, truth**2)
    return ours / simulations, other / max(simulations - none, 1), none / simulations
