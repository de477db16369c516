"""Two systems on many tasks: a row for each task, with p-values and intervals that hold for all tasks at once.

Items differ between tasks, so the tasks are independent and the smallest of their p-values has a distribution that is a
product; nothing is resampled. With F_s(x) = P(p_s ≤ x) where nothing differs,

    adjusted p_t = 1 − Π_s (1 − F_s(p_t)),

the mean of the formula with ≤ and with < where p-values can tie. McNemar's mid-p of task s is discrete given how many
of its items differ: F_s is the largest level that it can attain at x, 0 where too few items differ, and such a task
costs the others nothing. For all other tests F_s(x) = x, which is Šidák's adjustment. One task alone keeps its p-value.

Intervals are each task's own (Tango's for 0/1 scores, t-hall for others) at the level (1 − α)^(1/T), with limits moved
so that 0 is left out exactly where the adjusted p is at most α. Holm's adjustment takes the same intervals; Benjamini
and Hochberg's the level 1 − Rα/T of Benjamini and Yekutieli (2005), *False discovery rate-adjusted multiple confidence
intervals*, R the number of tasks it selects.

Error rates and coverage: `benchmarks/calibration_suites.py`.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from math import inf, sqrt
from typing import Literal

import numpy as np

from assay.stats.bootstrap.t_hall import Moments, limits, moments, own_p
from assay.stats.detectable_shifts import detectable_shift
from assay.stats.interval_and_test import agreeing
from assay.stats.multiplicity import benjamini_hochberg, holm
from assay.stats.numerics import SMALLEST_P, critical_values, increasing_root, normal_quantile
from assay.stats.planning import mcnemar_power
from assay.stats.proportions import Effective, binomial_half, mcnemar_p, score_p, tango_limits
from assay.stats.units import Floats, Integers, Units, standard_error

Adjustment = Literal["product", "holm", "bh"]

_TIE = 1e-9  # p-values of two tasks that are closer than this, relatively, are equal


@dataclass(frozen=True, eq=False)
class TaskDifferences:
    """B − A on one task."""

    units: Units  # of what is drawn: items or clusters
    counts: Effective | None = None  # of 0/1 scores; an infinite df says that there are neither clusters nor weights
    owners: Integers | None = (
        None  # (n,) which item or cluster each unit is, the same code in every task; None: its own
    )

    @property
    def plain(self) -> bool:
        """Whether the scores are 0/1, without clusters and weights."""
        return self.counts is not None and self.counts.df == inf

    @property
    def value(self) -> float:
        return self.units.estimate if self.counts is None else (self.counts.b - self.counts.c) / self.counts.n

    @cached_property
    def moments(self) -> Moments | None:
        """Of the estimate; ``None`` where nothing is spread."""
        return None if self.units.n < 2 or self.units.degenerate else moments(self.units)

    @property
    def variance(self) -> float:
        """Of the estimate: of 0/1 scores by their counts, for the design effect has a floor; of others linearised."""
        if self.counts is None:
            return (standard_error(self.units) or 0.0) ** 2
        b, c, n = self.counts.b, self.counts.c, self.counts.n
        return self.counts.deff * max(b + c - (b - c) ** 2 / n, 0.0) / (n * max(n - 1, 1))


@dataclass(frozen=True, eq=False, slots=True)
class TaskRows:
    """Every task's difference, limits and p-values; the limits leave out 0 exactly where the adjusted p ≤ α."""

    value: Floats  # (T,)
    low: Floats  # (T,) NaN: a single unit has no interval
    high: Floats
    alone: Floats  # (T,) p of each task by itself
    p: Floats  # (T,) adjusted
    level: float  # of each interval


def rows(tasks: Sequence[TaskDifferences], *, level: float, adjust: Adjustment = "product") -> TaskRows:
    """Test and interval of every task, adjusted for the number of tasks.

    >>> from math import inf, sqrt
    >>> b, c, n = np.array([9.0, 3.0]), np.array([1.0, 2.0]), 50.0
    >>> of = lambda i: Units(np.repeat([1.0, -1.0, 0.0], [int(b[i]), int(c[i]), int(n - b[i] - c[i])]), np.ones(50))
    >>> both = [TaskDifferences(of(i), Effective(b[i], c[i], n, 1.0, inf)) for i in range(2)]
    >>> [round(p, 4) for p in rows(both, level=0.95).alone.tolist()], round(float(rows(both, level=0.95).p[0]), 4)
    ([0.0117, 0.6875], 0.0117)
    """
    alone = p_values(tasks)
    p = adjusted(alone, tasks, adjust)
    each = level_of_each(p, level, adjust)
    value = np.array([task.value for task in tasks])
    low, high = task_limits(tasks, each)
    return TaskRows(value, *agreeing(low, high, p, 1 - level, value), alone, p, each)


def level_of_each(p: Floats, level: float, adjust: Adjustment) -> float:
    """The level of every interval: all hold together (Šidák), or on average those of the tasks that are selected."""
    if adjust != "bh":
        return float(level ** (1 / len(p)))
    selected = max(int((p <= 1 - level).sum()), 1)
    return 1 - selected * (1 - level) / len(p)


# ------------------------------------------------------------------------------------------------------------- p-values


def p_values(tasks: Sequence[TaskDifferences]) -> Floats:
    """(T,) Of every task by itself: mid-p, the score test of clusters and weights, or that of t-hall."""
    found = np.array([1.0 if task.plain else _p_value(task) for task in tasks])
    plain = [place for place, task in enumerate(tasks) if task.plain]
    counts = [(one.counts.b, one.counts.c) for one in tasks if one.plain and one.counts is not None]
    if plain:
        found[plain] = mcnemar_p(*np.array(counts).T)
    return found


def _p_value(task: TaskDifferences) -> float:
    counts = task.counts
    if counts is not None:
        return float(score_p(counts.b, counts.c, counts.deff, counts.df)[0])
    if task.moments is None:  # all differences are equal: only all plus and all minus reach their sum
        return max(0.5 ** (task.units.n - 1), SMALLEST_P) if task.value else 1.0
    return own_p(task.moments)


def adjusted(p: Floats, tasks: Sequence[TaskDifferences], adjust: Adjustment) -> Floats:
    """(T,) p-values adjusted for the number of tasks."""
    if adjust == "holm":
        return holm(p)
    if adjust == "bh":
        return benjamini_hochberg(p)
    return product_p(p, [_pairs_that_differ(task) for task in tasks])


def _pairs_that_differ(task: TaskDifferences) -> int | None:
    return None if task.counts is None or not task.plain else int(task.counts.b + task.counts.c)


def product_p(p: Floats, differing: Sequence[int | None]) -> Floats:
    """1 − Π (1 − F(p)), half with ≤ and half with <; ``differing`` pairs of 0/1 scores, ``None`` for other tests.

    >>> product_p(np.array([0.01, 0.2]), [None, None])  # Šidák
    array([0.0199, 0.36  ])
    """
    reached, passed = np.zeros(len(p)), np.zeros(len(p))  # Σ log(1 − F) with ≤ and with <
    with np.errstate(divide="ignore"):
        for pairs, times in Counter(differing).items():
            at_most, below = (p, p) if pairs is None else _attained(pairs, p)
            reached += times * np.log1p(-at_most)
            passed += times * np.log1p(-below)
    found = -0.5 * (np.expm1(reached) + np.expm1(passed))
    return np.clip(found, np.maximum(p, SMALLEST_P), 1.0)


def _attained(pairs: int, x: Floats) -> tuple[Floats, Floats]:
    """P(mid-p ≤ x) and P(mid-p < x), where so many pairs differ and either side is as likely."""
    p, level = _mid_p_table(pairs)
    levels = np.append(0.0, level)
    at_most = levels[np.searchsorted(p, x * (1 + _TIE), side="right")]
    return at_most, levels[np.searchsorted(p, x * (1 - _TIE), side="left")]


@lru_cache(maxsize=1024)
def _mid_p_table(pairs: int) -> tuple[Floats, Floats]:
    """The mid-p of every outcome min(b, c) = 0, 1, …, and the chance of one as small: McNemar's exact p."""
    least = np.arange(pairs // 2 + 1)
    own = binomial_half(pairs, least)
    below = np.cumsum(own) - own
    middle = 2 * least == pairs
    p = np.clip(np.where(middle, 1.0, 2 * below + own), SMALLEST_P, 1.0)
    return p, np.clip(np.where(middle, 1.0, 2 * (below + own)), 0.0, 1.0)


# ----------------------------------------------------------------------------------------------------------- detectable


def detectable(task: TaskDifferences, level: float, power: float = 0.8) -> float | None:
    """The true difference that so many items would have shown with this power; ``None`` where none would.

    Of 0/1 scores by McNemar's mid-p, with as many items that differ as there were, or as the difference needs; of
    others by Student's t, with the spread that was found.
    """
    if task.plain and task.counts is not None:
        return _detectable_share(int(task.counts.n), (task.counts.b + task.counts.c) / task.counts.n, level, power)
    error = standard_error(task.units) if task.counts is None else sqrt(task.variance)  # whose square may overflow
    if not error or task.units.n < 2:
        return None
    df = task.units.n - 1.0 if task.counts is None else task.counts.df
    found = error * detectable_shift(df, level, power)
    return None if task.counts is not None and found > 1 else found


_LARGE = 20_000  # items that differ: from here on the normal law is within 1 in 1,000 of McNemar's own power


@lru_cache(maxsize=1024)
def _detectable_share(n: int, differing: float, level: float, power: float) -> float | None:
    def excess(difference: float) -> float:
        inside = min(max(difference, 0.0), 1.0)
        share = max(differing, inside)
        if not share:
            return -power
        return mcnemar_power(n, (share + inside) / 2, (share - inside) / 2, level) - power

    if excess(1.0) < 0:
        return None
    guess = (normal_quantile(0.5 + level / 2) + normal_quantile(power)) * sqrt(max(differing, 1 / n) / n)
    if n * differing > _LARGE:
        return guess
    return min(increasing_root(excess, guess, guess / 4, tolerance=1e-4), 1.0)


# ------------------------------------------------------------------------------------------------------------ intervals


def task_limits(tasks: Sequence[TaskDifferences], level: float) -> tuple[Floats, Floats]:
    """(T,) Every task's own limits; NaN for a single unit, the value itself where all differences are equal."""
    low, high = np.full(len(tasks), np.nan), np.full(len(tasks), np.nan)
    for place, task in enumerate(tasks):
        if task.moments is not None and task.counts is None:
            low[place], high[place] = limits(task.moments, level)
        elif task.counts is None and task.units.n > 1:
            low[place] = high[place] = task.value
    counted = [place for place, task in enumerate(tasks) if task.counts is not None]
    if counted:
        low[counted], high[counted] = _tango([task.counts for task in tasks if task.counts is not None], level)
    return low, high


def _tango(counts: Sequence[Effective], level: float) -> tuple[Floats, Floats]:
    b, c, n, deff, df = np.array([(one.b, one.c, one.n, one.deff, one.df) for one in counts]).T
    distinct, place = np.unique(df, return_inverse=True)
    normal = [-normal_quantile((1 - level) / 2)] if distinct[-1] == inf else []  # faster than as a limit of Student's t
    reach = np.append(critical_values(level, distinct[: len(distinct) - len(normal)]), normal)
    return tango_limits(b / deff, c / deff, n / deff, reach[place])
