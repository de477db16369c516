"""Gates over tasks: how often each verdict is given, how often a single task is named, what was foretold of both."""

from dataclasses import dataclass
from zlib import crc32

import numpy as np

from assay.stats.suites import TaskDifferences, rows, task_limits
from assay.stats.suites.gate import noticed, total_within_if_equal, within_if_equal
from assay.stats.suites.total import total
from benchmarks.simulation.suites import ALPHA, LEVEL, SEED, Suite, drawn

TOTAL, TASK = 0.02, 0.05  # limits of the tier balanced


@dataclass(frozen=True)
class GateRates:
    """Shares of the simulations, and what was foretold from each of them, on average."""

    passed: float
    failed: float
    named: float  # a task is shown to have dropped, and beyond its limit
    first: float  # the first task is
    every: float  # every task's own bound is within the limit
    total_foretold: float  # that the total of an equal model passes
    every_foretold: float
    noticed: float | None  # the drop of the first task that is named 4 times in 5
    n: int


def gated(suite: Suite, n: int, foretold: int) -> GateRates:
    """So many simulations of a suite; what is foretold takes longer, and is taken from the first of them."""
    seen, told = [], []
    for i in range(n):
        tasks = drawn(suite, np.random.default_rng([SEED, crc32(suite.label.encode()), i]))
        seen.append(_judged(tasks, suite))
        if i < foretold:
            told.append(_foretold(tasks, suite))
    share = np.mean(np.array(seen, dtype=np.float64), axis=0)
    chances = np.array([one[:2] for one in told])
    drops = [one[2] for one in told if one[2] is not None]
    mean = chances.mean(axis=0)
    least = float(np.mean(drops)) if drops else None
    names = ("passed", "failed", "named", "first", "every", "total_foretold", "every_foretold")
    rates = dict(zip(names, map(float, (*share, *mean)), strict=True))
    return GateRates(**rates, noticed=least, n=n)


def _judged(tasks: list[TaskDifferences], suite: Suite) -> tuple[bool, bool, bool, bool, bool]:
    """The rule by its letter: the bound of the total, and drops of tasks that Holm's test shows."""
    whole = total(tasks, suite.shares, level=LEVEL)
    found = rows(tasks, level=LEVEL, adjust="holm")
    dropped = (found.p <= ALPHA) & (found.value < -TASK)
    named = bool(dropped.any())
    low, _ = task_limits(tasks, LEVEL)
    return (
        whole.low >= -TOTAL and not named,
        whole.high < -TOTAL or named,
        named,
        bool(dropped[0]),
        bool((low >= -TASK).all()),
    )


def _foretold(tasks: list[TaskDifferences], suite: Suite) -> tuple[float, float, float | None]:
    whole = total_within_if_equal(total(tasks, suite.shares, level=LEVEL), TOTAL, LEVEL)
    each = float(np.prod([within_if_equal(task, TASK, LEVEL) for task in tasks]))
    return whole, each, noticed(tasks[0], TASK, 1 - ALPHA / len(tasks))


def alike(count: int, n: int, share: float, ahead: tuple[float, ...] = (), kind: str = "0/1") -> Suite:
    """So many tasks of as many items each; where a task drops, so many more of its items differ."""
    change = ahead or (0.0,) * count
    label = f"{count} tasks of {n}" if kind == "0/1" else f"{count} tasks of {n}, {kind}"
    differing = tuple(share if kind != "0/1" else share - one for one in change)
    return Suite(f"{label}, {share}, {change[0]}, {change[-1]}", (n,) * count, differing, change, kind=kind)
