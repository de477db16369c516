"""The verdicts of `compare`: how often they are wrong, and how often interval and test contradict each other."""

from collections.abc import Callable
from dataclasses import dataclass
from math import erfc, inf, sqrt
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from assay.stats.bootstrap import interval
from assay.stats.interval_and_test import agreeing
from assay.stats.numerics import critical_values
from assay.stats.paired_tests import sign_flip
from assay.stats.proportions import Effective, effective_counts, mcnemar_p, paired_shares, tango_limits
from assay.stats.units import Floats, Units

SEED = 20266
LEVEL, ALPHA = 0.95, 0.05

Generator = np.random.Generator


# ------------------------------------------------------------------------------------------------------ 0/1, all tables


@dataclass(frozen=True, eq=False, slots=True)
class Tables:
    """All outcomes (b, c) of n items, with p-values and limits of the difference."""

    n: int
    b: NDArray[np.int64]
    c: NDArray[np.int64]

    @classmethod
    def of(cls, n: int) -> "Tables":
        b, c = (part.ravel() for part in np.meshgrid(np.arange(n + 1), np.arange(n + 1)))
        kept = b + c <= n
        return cls(n, b[kept], c[kept])

    def limits(self, method: str) -> tuple[Floats, Floats, Floats]:
        """(low, high, p) of every outcome."""
        b, c, n = self.b, self.c, self.n
        if method in ("mid-p", "exact"):
            found = paired_shares(b, c, n, level=LEVEL, exact=method == "exact")
            return found.low, found.high, found.p
        p = mcnemar_p(b, c, exact=True)
        if method == "t":
            difference = (b - c) / n
            error = np.sqrt(np.maximum((b + c) / n - difference**2, 0) / (n - 1))
            reach = critical_values(LEVEL, n - 1) * error
            return difference - reach, difference + reach, p
        if method == "tango alone":
            return *tango_limits(b, c, n, critical_values(LEVEL, inf)), p
        return *self._bca(), p

    def _bca(self) -> tuple[Floats, Floats]:
        values = [np.repeat([1.0, -1.0, 0.0], [b, c, self.n - b - c]) for b, c in zip(self.b, self.c, strict=True)]
        found = [interval(Units(x, np.ones(self.n)), confidence_level=LEVEL).interval for x in values]
        return np.array([one.low for one in found]), np.array([one.high for one in found])

    def chances(self, discordant: float, difference: float) -> Floats:
        """Of every outcome, where B is better by ``difference`` and so many items differ."""
        from scipy.special import gammaln, xlogy

        n, b, c = self.n, self.b, self.c
        better, worse = (discordant + difference) / 2, (discordant - difference) / 2
        ways = gammaln(n + 1) - gammaln(b + 1) - gammaln(c + 1) - gammaln(n - b - c + 1)
        return np.asarray(
            np.exp(ways + xlogy(b, better) + xlogy(c, max(worse, 0)) + xlogy(n - b - c, max(1 - discordant, 0)))
        )


DISCORDANT = (0.01, 0.02, 0.03, 0.05, 0.08, 0.12, 0.2, 0.3, 0.4, 0.6, 0.8)
SHARES = (0.0, 0.25, 0.5, 0.75, 1.0)  # of the items that differ, by how much B is ahead

#: Set apart: no choice of a method looked at these.
HELD_OUT = tuple((d, s) for d in (0.015, 0.045, 0.09, 0.17, 0.27, 0.5, 0.95) for s in (0.0, 0.1, 0.4, 0.9))


@dataclass(frozen=True, slots=True)
class Exact:
    """Coverage over cells, size over nulls, and the outcomes in which p and interval contradict each other."""

    mean: float
    least: float
    size_mean: float
    size_most: float
    contradictions: int
    tables: int


def enumerate_tables(n: int, method: str, cells: tuple[tuple[float, float], ...]) -> Exact:
    """Exact coverage and size, by summing the chances of all outcomes."""
    tables = Tables.of(n)
    low, high, p = tables.limits(method)
    rejected = p <= 1 - LEVEL
    covered, sizes = [], []
    for discordant, share in cells:
        chance = tables.chances(discordant, share * discordant)
        slack = 1e-12
        inside = (low - slack <= share * discordant) & (share * discordant <= high + slack)
        covered.append(float(chance[inside].sum()))
        if share == 0:
            sizes.append(float(chance[rejected].sum()))
    against = int((((low > 0) | (high < 0)) != rejected).sum())
    return Exact(float(np.mean(covered)), min(covered), float(np.mean(sizes)), max(sizes), against, len(p))


# -------------------------------------------------------------------------------------------- 0/1, clusters and weights


@dataclass(frozen=True, slots=True)
class Uneven:
    """Items in clusters or with weights, whose 0/1 answers differ with a known chance."""

    name: str
    draw: Callable[[Generator], tuple[Floats, Floats, NDArray[np.int64]]]  # differences, weights, clusters
    truth: float


def _differ(better: float, worse: float) -> str:
    ahead = "" if better == worse else f", {100 * (better - worse):g} points"
    return f"{100 * (better + worse):g} % differ{ahead}"


def _clustered(count: int, sizes: tuple[int, int], icc: float, better: float, worse: float) -> Uneven:
    def draw(rng: Generator) -> tuple[Floats, Floats, NDArray[np.int64]]:
        cluster = np.repeat(np.arange(count), rng.integers(sizes[0], sizes[1] + 1, count))
        shares = [better, worse, 1 - better - worse]
        own = rng.choice([1.0, -1.0, 0.0], len(cluster), p=shares)
        shared = rng.choice([1.0, -1.0, 0.0], count, p=shares)[cluster]
        copied = rng.random(len(cluster)) < np.sqrt(icc)
        return np.where(copied, shared, own), np.ones(len(cluster)), cluster

    name = f"{count} clusters of {sizes[0]}–{sizes[1]}, icc {icc:g}, {_differ(better, worse)}"
    return Uneven(name, draw, better - worse)


def _weighted(name: str, n: int, weights: Callable[[Generator, int], Floats], better: float, worse: float) -> Uneven:
    def draw(rng: Generator) -> tuple[Floats, Floats, NDArray[np.int64]]:
        d = rng.choice([1.0, -1.0, 0.0], n, p=[better, worse, 1 - better - worse])
        return d, weights(rng, n), np.arange(n)

    return Uneven(f"{name} weights, n = {n}, {_differ(better, worse)}", draw, better - worse)


def _few_heavy(heavy: int, weight: float, light: int, better: float, worse: float, tilt: float = 0.0) -> Uneven:
    """Items of two weights; ``tilt``: heavy ones differ more often by this share, light ones less."""
    weights = np.repeat([weight, 1.0], [heavy, light])
    often = 1 + tilt * np.repeat([1.0, -1.0], [heavy, light])

    def draw(rng: Generator) -> tuple[Floats, Floats, NDArray[np.int64]]:
        return _outcomes(rng, better * often, worse * often), weights, np.arange(len(weights))

    name = f"{heavy} of weight {weight:g} and {light} of 1, {_differ(better, worse)}{_tilted(tilt)}"
    return Uneven(name, draw, (better - worse) * float((weights * often).sum() / weights.sum()))


def _log_normal(spread: float, n: int, better: float, worse: float, tilt: float = 0.0) -> Uneven:
    def draw(rng: Generator) -> tuple[Floats, Floats, NDArray[np.int64]]:
        weights = rng.lognormal(0, spread, n)
        often = 1 + tilt * np.sign(weights - 1)
        return _outcomes(rng, better * often, worse * often), weights, np.arange(n)

    name = f"log-normal({spread:g}) weights, n = {n}, {_differ(better, worse)}{_tilted(tilt)}"
    above = erfc(-spread / sqrt(2)) / 2  # the share of the weight that lies on items above the median
    return Uneven(name, draw, (better - worse) * (1 + tilt * (2 * above - 1)))


def _outcomes(rng: Generator, better: Floats, worse: Floats) -> Floats:
    u = rng.random(len(better))
    return np.where(u < better, 1.0, np.where(u < better + worse, -1.0, 0.0))


def _tilted(tilt: float) -> str:
    return "" if tilt == 0 else f", {'heavy' if tilt > 0 else 'light'} items more often"


#: Where the few items that differ may all be light ones.
HEAVY = (
    _few_heavy(20, 100, 180, 0, 0.03),
    _few_heavy(20, 100, 180, 0.01, 0.05),
    _few_heavy(20, 100, 180, 0.05, 0.05),
    _few_heavy(20, 100, 180, 0.1, 0.3, tilt=0.5),
    _few_heavy(15, 1e9, 385, 0, 0.03),
    _log_normal(1.5, 200, 0, 0.03),
    _log_normal(1.5, 200, 0.2, 0.2),
    _weighted("exponential", 100, lambda rng, k: rng.exponential(size=k), 0, 0.03),
)

#: Set apart: other ratios, other weights, and items that differ the more or the less often the heavier they are.
HEAVY_HELD_OUT = (
    _few_heavy(10, 30, 90, 0, 0.05),
    _few_heavy(40, 20, 60, 0.1, 0.3, tilt=0.5),
    _few_heavy(30, 1000, 270, 0, 0.03),
    _few_heavy(30, 1000, 270, 0.01, 0.05, tilt=-0.5),
    _few_heavy(30, 1000, 270, 0.2, 0.2),
    _log_normal(1, 60, 0.01, 0.05),
    _log_normal(1, 60, 0.1, 0.3, tilt=0.5),
    _log_normal(1, 60, 0.1, 0.3, tilt=-0.5),
    _weighted("gamma(0.5)", 150, lambda rng, k: rng.gamma(0.5, size=k) + 1e-9, 0, 0.03),
    _weighted("gamma(0.5)", 150, lambda rng, k: rng.gamma(0.5, size=k) + 1e-9, 0.2, 0.2),
    _weighted("exponential", 40, lambda rng, k: rng.exponential(size=k), 0.2, 0.2),
)

UNEVEN = tuple(
    _clustered(count, (5, 20), icc, better, worse)
    for count in (20, 40)
    for icc in (0.05, 0.3)
    for better, worse in ((0.05, 0.05), (0.15, 0.15), (0.12, 0.04))
) + tuple(
    _weighted(f"log-normal({spread:g})", n, lambda rng, k, s=spread: rng.lognormal(0, s, k), better, worse)  # type: ignore[misc]
    for n in (30, 100)
    for spread in (0.5, 1.0)
    for better, worse in ((0.1, 0.1), (0.15, 0.05))
)

#: Set apart: other numbers and sizes of clusters, other weights.
UNEVEN_HELD_OUT = (
    _clustered(12, (3, 30), 0.15, 0.1, 0.1),
    _clustered(15, (8, 8), 0.2, 0.08, 0.02),
    _clustered(30, (2, 50), 0.1, 0.06, 0.06),
    _clustered(80, (1, 6), 0.4, 0.1, 0.04),
    _weighted("gamma(2)", 60, lambda rng, k: rng.gamma(2, 1, k), 0.12, 0.12),
    _weighted("uniform 1–10", 40, lambda rng, k: rng.uniform(1, 10, k), 0.2, 0.05),
    _weighted("Pareto(3)", 150, lambda rng, k: rng.pareto(3, k) + 1, 0.04, 0.04),
)


@dataclass(frozen=True, slots=True)
class Simulated:
    """Shares of simulations: covered, false verdicts (where there is no difference), contradictions."""

    covered: float
    rejected: float
    contradictions: int


def uneven(case: Uneven, simulations: int) -> Simulated:
    """Tango with the design effect and Student's t, all simulations at once."""
    counts: list[Effective] = []
    for i in range(simulations):
        d, weights, cluster = case.draw(np.random.default_rng([SEED, crc32(case.name.encode()), i]))
        top, bottom = (np.bincount(cluster, weights=part) for part in (d * weights, weights))
        counts.append(effective_counts(d, weights, Units(top.astype(float), bottom.astype(float))))
    b, c, n, deff, df = (np.array([getattr(one, name) for one in counts]) for name in ("b", "c", "n", "deff", "df"))
    found = paired_shares(b, c, n, level=LEVEL, deff=deff, df=df)
    return _simulated(found.low, found.high, found.p, case.truth)


def _simulated(low: Floats, high: Floats, p: Floats, truth: float) -> Simulated:
    rejected = p <= 1 - LEVEL
    inside = (low <= truth + 1e-12) & (truth - 1e-12 <= high)
    against = ((low > 0) | (high < 0)) != rejected
    return Simulated(float(inside.mean()), float(rejected.mean()), int(against.sum()))


# ---------------------------------------------------------------------------------------------------------- real values


@dataclass(frozen=True, slots=True)
class Real:
    """Differences with a known mean."""

    name: str
    n: int
    draw: Callable[[Generator, int], Floats]
    truth: float = 0.0


def _zeros(share: float, draw: Callable[[Generator, int], Floats]) -> Callable[[Generator, int], Floats]:
    return lambda rng, n: np.asarray(draw(rng, n) * (rng.random(n) < share))


REAL = (
    Real("normal", 10, lambda rng, n: rng.normal(size=n)),
    Real("normal", 30, lambda rng, n: rng.normal(size=n)),
    Real("exponential", 30, lambda rng, n: rng.exponential(size=n) - 1),
    Real("exponential", 100, lambda rng, n: rng.exponential(size=n) - 1),
    Real("log-normal(1)", 30, lambda rng, n: rng.lognormal(size=n) - np.exp(0.5)),
    Real("90 % zeros, normal", 100, _zeros(0.1, lambda rng, n: rng.normal(size=n))),
    Real("exponential, mean 0.35", 30, lambda rng, n: rng.exponential(size=n) - 0.65, 0.35),
)

#: Set apart.
REAL_HELD_OUT = (
    Real("Laplace", 20, lambda rng, n: rng.laplace(size=n)),
    Real("χ²(1)", 40, lambda rng, n: rng.chisquare(1, n) - 1),
    Real("95 % zeros, Laplace", 200, _zeros(0.05, lambda rng, n: rng.laplace(size=n))),
    Real("80 % zeros, ±gamma(2)", 50, _zeros(0.2, lambda rng, n: rng.gamma(2, 1, n) * rng.choice([-1, 1], n))),
    Real("half steps, mean 0.2", 60, lambda rng, n: np.round(2 * rng.normal(0.2, 1, n)) / 2, 0.2),
)


def real(case: Real, simulations: int) -> tuple[Simulated, Simulated]:
    """BCa and sign flips together, as `compare` has them by default; and each by itself, as it is by name."""
    rows = []
    for i in range(simulations):
        values = case.draw(np.random.default_rng([SEED, crc32(case.name.encode()), case.n, i]), case.n)
        units = Units(values, np.ones(case.n))
        made = interval(units, confidence_level=LEVEL, own_p=True)
        p = sign_flip(values)[0].p_value
        rows.append((made.interval.low, made.interval.high, 1.0 if p is None else p, made.own_p or 0.0, units.estimate))
    low, high, p, own, estimate = np.array(rows).T
    joint = np.maximum(p, own)
    together = agreeing(low, high, joint, 1 - LEVEL, estimate)
    left_out = np.where((low > 0) | (high < 0), 0.0, 1.0)  # the interval alone: its verdict
    alone = _simulated(low, high, p, case.truth)
    return _simulated(*together, joint, case.truth), Simulated(
        alone.covered, float((left_out == 0).mean()), alone.contradictions
    )
