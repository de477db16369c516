"""Suites of tasks: how often a task is named wrongly, and how often intervals of tasks and totals cover."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from math import inf
from statistics import NormalDist
from zlib import crc32

import numpy as np

from assay.stats.bounded_mean import EffectiveItems, mean_of_shares
from assay.stats.multiplicity import holm
from assay.stats.proportions import Effective, effective_counts, mcnemar_p
from assay.stats.suites import TaskDifferences, product_p, rows
from assay.stats.suites.heterogeneity import heterogeneity
from assay.stats.suites.total import total
from assay.stats.units import Floats, Truths, Units, grouped

LEVEL, ALPHA = 0.95, 0.05
SEED = 20267

Generator = np.random.Generator


@dataclass(frozen=True)
class Suite:
    """Tasks with so many items, of which so many differ, and B ahead by so much."""

    label: str
    n: tuple[int, ...]
    discordant: tuple[float, ...]
    ahead: tuple[float, ...] = ()  # none: nowhere
    weights: tuple[float, ...] = ()  # none: equal
    kind: str = "0/1"  # or "clusters", "shared", "normal", "exponential"
    correlation: float = 0.0  # of an item's tasks, where they share items; of a cluster's items

    @property
    def count(self) -> int:
        return len(self.n)

    @property
    def truth(self) -> Floats:
        return np.array(self.ahead) if self.ahead else np.zeros(self.count)

    @property
    def shares(self) -> Floats:
        return np.array(self.weights) if self.weights else np.full(self.count, 1 / self.count)


def drawn(suite: Suite, rng: Generator) -> list[TaskDifferences]:
    """One sample of every task."""
    if suite.kind == "shared":
        return _shared(suite, rng)
    make: dict[str, Callable[[int, float, float], TaskDifferences]] = {
        "0/1": lambda n, q, d: _binary(rng.choice([1.0, -1.0, 0.0], p=[(q + d) / 2, (q - d) / 2, 1 - q], size=n)),
        "clusters": lambda n, q, d: _clusters(rng, n, q, d, suite.correlation),
        "normal": lambda n, q, d: _real(rng.normal(d, q, size=n)),
        "exponential": lambda n, q, d: _real(d + q * (rng.exponential(size=n) - 1)),
    }
    return [make[suite.kind](*one) for one in zip(suite.n, suite.discordant, suite.truth.tolist(), strict=True)]


def _real(values: Floats) -> TaskDifferences:
    return TaskDifferences(Units(values, np.ones(len(values))))


def _binary(values: Floats) -> TaskDifferences:
    b, c = float((values > 0).sum()), float((values < 0).sum())
    return TaskDifferences(Units(values, np.ones(len(values))), Effective(b, c, float(len(values)), 1.0, inf))


def _signs(latent: Floats, q: float, d: float) -> Floats:
    """−1, 0 or 1 by the tails of a normal variable."""
    up, down = (-NormalDist().inv_cdf((q + sign * d) / 2) for sign in (1, -1))
    return np.where(latent > up, 1.0, np.where(latent < -down, -1.0, 0.0))


def _clusters(rng: Generator, n: int, q: float, d: float, correlation: float) -> TaskDifferences:
    """Clusters of 5 to 20 items, alike in what decides whether and which way an item differs."""
    sizes = rng.integers(5, 21, size=max(n // 12, 2))
    place = np.repeat(np.arange(len(sizes)), sizes)
    latent = np.sqrt(correlation) * rng.normal(size=len(sizes))[place]
    values = _signs(latent + np.sqrt(1 - correlation) * rng.normal(size=len(place)), q, d)
    units = Units(grouped(values, place), sizes.astype(np.float64))
    return TaskDifferences(units, effective_counts(values, np.ones(len(values)), units))


def _shared(suite: Suite, rng: Generator) -> list[TaskDifferences]:
    """Every task takes its items from the same ones, from the first on."""
    common, root = rng.normal(size=max(suite.n)), np.sqrt(suite.correlation)
    found = []
    for n, q, d in zip(suite.n, suite.discordant, suite.truth.tolist(), strict=True):
        latent = root * common[:n] + np.sqrt(1 - suite.correlation) * rng.normal(size=n)
        found.append(replace(_binary(_signs(latent, q, d)), owners=np.arange(n)))
    return found


@dataclass(frozen=True)
class Rates:
    """Shares of the simulations."""

    named: float  # a task is said to differ that does not
    named_holm: float
    tasks_covered: float  # every task's interval holds
    total_covered: float
    total_named: float | None  # the total is said to differ, where it does not
    spread_named: float | None  # tasks are said to differ from each other, where they do not
    contradictions: int
    found: float  # of the tasks that differ, those that are named
    n: int


def simulated(suite: Suite, n: int) -> Rates:
    truth, weights = suite.truth, suite.shares
    goal, same, level_truth = float((weights * truth).sum()), truth == 0, float(np.ptp(truth)) == 0
    seen = [_one(suite, truth, weights, goal, same, i) for i in range(n)]
    share = np.mean(np.array([one[:-1] for one in seen], dtype=np.float64), axis=0)
    return Rates(
        float(share[0]),
        float(share[1]),
        float(share[2]),
        float(share[3]),
        float(share[4]) if goal == 0 and same.all() else None,
        float(share[5]) if level_truth else None,
        sum(one[-1] for one in seen),
        float(share[6]),
        n,
    )


def _one(
    suite: Suite,
    truth: Floats,
    weights: Floats,
    goal: float,
    same: Truths,
    i: int,
) -> tuple[bool, bool, bool, bool, bool, bool, float, int]:
    tasks = drawn(suite, np.random.default_rng([SEED, crc32(suite.label.encode()), i]))
    found = rows(tasks, level=LEVEL)
    whole, apart = total(tasks, weights, level=LEVEL), heterogeneity(tasks, level=LEVEL)
    named = found.p <= ALPHA
    excludes = (found.low > 0) | (found.high < 0)
    odd = int((named != excludes).sum()) + int((whole.p <= ALPHA) != (whole.low > 0 or whole.high < 0))
    return (
        bool((named & same).any()),
        bool(((holm(found.alone) <= ALPHA) & same).any()),
        bool(((found.low <= truth) & (truth <= found.high)).all()),
        whole.low <= goal <= whole.high,
        whole.p <= ALPHA,
        apart is not None and apart.answer == "differ",
        float(named[~same].mean()) if (~same).any() else 0.0,
        odd,
    )


def named_by_rows(suite: Suite, n: int) -> float:
    """How often a task is named where none differs, by the counts of plain 0/1 scores alone: quick, so many draws."""
    rng = np.random.default_rng([SEED, crc32(suite.label.encode())])
    differ = rng.binomial(suite.n, suite.discordant, size=(n, suite.count))
    ahead = rng.binomial(differ, 0.5)
    p = mcnemar_p(ahead.ravel(), (differ - ahead).ravel()).reshape(differ.shape)
    return float(np.mean([product_p(one, pairs).min() <= ALPHA for one, pairs in zip(p, differ.tolist(), strict=True)]))


# -------------------------------------------------------------------------------------------------------------- designs

_UNEQUAL = (30, 50, 80, 100, 120, 150, 200, 300, 400, 600, 1000, 1500)


def _even(label: str, n: tuple[int, ...], q: float, **more: object) -> Suite:
    return replace(Suite(label, n, (q,) * len(n)), **more)  # type: ignore[arg-type]


#: Nothing differs: 5 % is what naming any task may cost.
EQUAL = (
    _even("12 tasks of 30 to 1,500", _UNEQUAL, 0.2),
    _even("12 tasks of 30 to 1,500, few items differ", _UNEQUAL, 0.05),
    _even("4 tasks of 50 to 400", (50, 100, 200, 400), 0.1),
    _even("57 tasks of 100 to 300", tuple(100 + 50 * (i % 5) for i in range(57)), 0.15),
    _even("12 tasks, same items, correlation 0.5", (200,) * 12, 0.15, kind="shared", correlation=0.5),
    _even("12 tasks, same items, correlation 0.9", (200,) * 12, 0.15, kind="shared", correlation=0.9),
    _even("12 tasks, unequal n, same items, 0.5", _UNEQUAL, 0.2, kind="shared", correlation=0.5),
    _even("8 tasks of 30 clusters", (360,) * 8, 0.2, kind="clusters", correlation=0.2),
    _even("12 tasks, normal", (30, 60, 100, 200) * 3, 1.0, kind="normal"),
    _even("12 tasks, exponential", (30, 60, 100, 200) * 3, 1.0, kind="exponential"),
)

#: Some tasks differ.
CHANGED = (
    _even("2 of 12 tasks of 100 to 400 differ", (100, 200, 400) * 4, 0.2, ahead=(0.15, 0.12, *(0.0,) * 10)),
    _even("all 12 tasks 3 points ahead", _UNEQUAL, 0.15, ahead=(0.03,) * 12),
    _even("0.8 of the weight on 50 items", (50, 200, 400, 800), 0.15, weights=(0.8, 0.1, 0.05, 0.05)),
    _even("weights by items", _UNEQUAL, 0.15, weights=tuple(n / sum(_UNEQUAL) for n in _UNEQUAL)),
)


def set_apart(count: int) -> tuple[Suite, ...]:
    """Suites that nothing was chosen by: 3 to 30 tasks of any size and spread, any weights, with differences."""
    rng = np.random.default_rng(19)
    return tuple(_any(rng, i) for i in range(count))


def _any(rng: Generator, i: int) -> Suite:
    tasks = int(rng.integers(3, 31))
    n = tuple(int(x) for x in np.exp(rng.uniform(np.log(25), np.log(1200), tasks)))
    q = rng.uniform(0.03, 0.4, tasks)
    ahead = np.where(rng.random(tasks) < 0.5, 0.0, q * rng.uniform(-0.8, 0.8, tasks))
    weights = rng.dirichlet(np.full(tasks, rng.choice([0.5, 1.0, 5.0])))
    return Suite(f"any {i}", n, tuple(q.tolist()), tuple(ahead.tolist()), tuple(weights.tolist()))


# ------------------------------------------------------------------------------------------------------ one model alone


def macro_means(kind: str, designs: int, n: int) -> tuple[float, float]:
    """Coverage of the interval of the mean of tasks, mean and least over suites of 2 to 30 tasks."""
    covered = [_macro_mean(kind, design, n) for design in range(designs)]
    return sum(covered) / designs, min(covered)


def _macro_mean(kind: str, design: int, n: int) -> float:
    rng = np.random.default_rng([SEED, crc32(kind.encode()), design])
    tasks = int(rng.integers(2, 31))
    items = np.exp(rng.uniform(np.log(15), np.log(800), tasks)).astype(np.int64)
    shares = {
        "0.1 to 0.9": rng.uniform(0.1, 0.9, tasks),
        "0.01 to 0.99, most at the ends": 0.01 + 0.98 * rng.beta(0.4, 0.4, tasks),
        "0.95 to 0.995": rng.uniform(0.95, 0.995, tasks),
    }[kind]
    known, truth = [EffectiveItems(float(size), inf) for size in items], float(shares.mean())
    found = [mean_of_shares((rng.binomial(items, shares) / items).tolist(), known, LEVEL) for _ in range(n)]
    return float(np.mean([one.low <= truth <= one.high for one in found]))
