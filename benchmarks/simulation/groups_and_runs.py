"""Suites with groups, shared items and repeated runs: what is named wrongly, and what intervals cover."""

from dataclasses import dataclass
from statistics import NormalDist
from zlib import crc32

import numpy as np

from assay.stats.proportions import mcnemar_p
from assay.stats.records import Interval
from assay.stats.runs_like_these import run_spread, runs_like_these
from assay.stats.suites import TaskDifferences, product_p
from assay.stats.suites.groups import group_rows
from assay.stats.suites.total import total
from assay.stats.units import Floats, Units
from benchmarks.simulation.suites import ALPHA, LEVEL, SEED, Generator, Suite, drawn


def seeded(label: str, i: int) -> Generator:
    return np.random.default_rng([SEED, crc32(label.encode()), i])


# -------------------------------------------------------------------------------------------------------- shared items


def named_with_shared_items(suite: Suite, n: int) -> float:
    """How often a task is named where none differs and tasks share items, by their counts alone."""
    far = -NormalDist().inv_cdf(suite.discordant[0] / 2)
    return float(np.mean([_named(suite, far, seeded(f"shared {suite.label}", i)) for i in range(n)]))


def _named(suite: Suite, far: float, rng: Generator) -> bool:
    common, root, rest = rng.normal(size=max(suite.n)), np.sqrt(suite.correlation), np.sqrt(1 - suite.correlation)
    counts = []
    for n in suite.n:
        latent = root * common[:n] + rest * rng.normal(size=n)
        counts.append((int((latent > far).sum()), int((latent < -far).sum())))
    b, c = np.array(counts, dtype=np.float64).T
    differing: list[int | None] = [int(x) for x in b + c]
    return bool(product_p(mcnemar_p(b, c), differing).min() <= ALPHA)


# --------------------------------------------------------------------------------------------------------------- groups


@dataclass(frozen=True)
class GroupRates:
    """Shares of the simulations."""

    named: float  # a group is said to differ that does not
    covered: float  # every group's interval holds
    contradictions: int
    n: int


def grouped_suite(suite: Suite, groups: tuple[tuple[int, ...], ...], n: int) -> GroupRates:
    """Groups are given as places of their tasks, and may be inside each other."""
    places, truth = [np.array(own) for own in groups], suite.truth
    each = np.array([float(truth[own].mean()) for own in places])
    named, covered, odd = 0, 0, 0
    for i in range(n):
        tasks = drawn(suite, seeded(f"groups {suite.label}", i))
        found = group_rows(tasks, places, suite.shares, level=LEVEL)
        shown, outside = found.p <= ALPHA, (found.low > 0) | (found.high < 0)
        named += bool((shown & (each == 0)).any())
        covered += bool(((found.low <= each) & (each <= found.high)).all())
        odd += int((shown != outside).sum())
    return GroupRates(named / n, covered / n, odd, n)


# ----------------------------------------------------------------------------------------------------------------- runs


@dataclass(frozen=True)
class Repeated:
    """Tasks with runs of both models, which move all items of a run together."""

    sizes: tuple[int, ...]
    runs: tuple[int, int]
    run_sd: float  # of a run's share of right answers
    copies: bool = False  # all runs of a model answer alike

    @property
    def label(self) -> str:
        runs = str(self.runs[0]) if self.runs[0] == self.runs[1] else f"{self.runs[0]} and {self.runs[1]}"
        moved = "copies of one run" if self.copies else f"run sd {100 * self.run_sd:g} points"
        several = f"{len(self.sizes)} tasks of {min(self.sizes)} to {max(self.sizes)}"
        return f"{several if len(self.sizes) > 1 else f'1 task of {self.sizes[0]}'}, {runs} runs, {moved}"


@dataclass(frozen=True)
class RunRates:
    """Coverage of the difference that runs like these have."""

    these: float  # by the interval for these runs
    like_these: float
    wider: float  # how many times as wide, median
    n: int


AHEAD = 0.03


def repeated(suite: Repeated, n: int) -> RunRates:
    """B is ahead by 3 points in every task, whichever run it is."""
    seen = [_repeated(suite, seeded(suite.label, i)) for i in range(n)]
    these, like, wider = np.array(seen, dtype=np.float64).T
    return RunRates(float(these.mean()), float(like.mean()), float(np.median(wider)), n)


def _repeated(suite: Repeated, rng: Generator) -> tuple[bool, bool, float]:
    shares = np.full(len(suite.sizes), 1 / len(suite.sizes))
    right = [rng.uniform(0.2, 0.77, size=(size, 1)) for size in suite.sizes]
    answers = [_answers(suite, right, ahead, count, rng) for ahead, count in zip((0.0, AHEAD), suite.runs, strict=True)]
    tasks = [_difference(a, b) for a, b in zip(*answers, strict=True)]
    found = total(tasks, shares, level=LEVEL)
    spreads = [run_spread([(x, np.ones(len(x))) for x in model], shares) for model in answers]
    these = Interval(found.low, found.high, LEVEL, found.method)
    df = float(sum(suite.sizes) - len(suite.sizes))
    like = runs_like_these(found.value, (found.error**2, df), spreads, these, found.p)
    width = (like.high - like.low) / (found.high - found.low)
    return found.low <= AHEAD <= found.high, like.low <= AHEAD <= like.high, width


def _answers(suite: Repeated, right: list[Floats], ahead: float, runs: int, rng: Generator) -> list[Floats]:
    moved = ahead + suite.run_sd * rng.normal(size=runs)
    if suite.copies:
        return [np.repeat((rng.random(p.shape) < p + moved[0]).astype(np.float64), runs, axis=1) for p in right]
    return [(rng.random((len(p), runs)) < p + moved).astype(np.float64) for p in right]


def _difference(a: Floats, b: Floats) -> TaskDifferences:
    return TaskDifferences(Units(b.mean(axis=1) - a.mean(axis=1), np.ones(len(a))))


#: Runs that do not move, move a little, and move as much as seeds of small models do.
REPEATED = (
    Repeated((60, 100, 150, 250), (3, 3), 0.0),
    Repeated((60, 100, 150, 250), (3, 3), 0.0, copies=True),
    Repeated((60, 100, 150, 250), (3, 3), 0.02),
    Repeated((60, 100, 150, 250), (3, 3), 0.04),
    Repeated((60, 100, 150, 250), (5, 5), 0.04),
    Repeated((60, 100, 150, 250), (2, 5), 0.04),
    Repeated((400,), (3, 3), 0.04),
)
