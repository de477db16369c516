"""Do tasks differ in their differences? Cochran's Q, and points that are drawn together.

0/1 scores: Q = Σ (D_t − δ)²/v_t against χ² with T − 1 degrees of freedom, where v_t is Tango's variance of task t if
its difference were the common δ, and δ the mean weighted by 1/v_t (found in 12 rounds). A variance that a task shows by
itself is far too small where few of its items differ, and Q with those rejects equal tasks 30 % of the time.

Other scores, clusters and weights: Welch's test (1951), *On the comparison of several mean values*, with each task's
own variance and Satterthwaite's degrees of freedom of it, from the kurtosis. With n − 1 degrees of freedom it rejects
equal tasks of skewed scores 9 % of the time.

Shrunken points are D_t drawn by v_t/(v_t + τ²) towards their mean, weighted by 1/(v_t + τ²), with Paule and Mandel's
τ² (1982). They predict better than the raw ones, but no interval belongs to them: those of the tasks farthest out
would miss.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from assay.stats.numerics import SMALLEST_P
from assay.stats.proportions import tango_variance
from assay.stats.suites import TaskDifferences
from assay.stats.units import Floats, effective_number

HeterogeneityTest = Literal["cochran-q", "welch"]
WhetherTasksDiffer = Literal["differ", "not shown", "cannot tell"]

ENOUGH_PAIRS = 5  # that differ, in the median task: with fewer, Q sees nothing
ENOUGH_UNITS = 20  # of equal weight, in every task of other scores
_ROUNDS = 12
_LEAST = 1e-9  # of 1/n: a variance that is not 0
_HALVINGS = 60


@dataclass(frozen=True, eq=False, slots=True)
class Heterogeneity:
    """Whether the tasks' differences differ, and how they look when drawn together."""

    answer: WhetherTasksDiffer
    test: HeterogeneityTest
    statistic: float | None  # None: not computed, and "cannot tell"
    p: float | None
    df: float
    common: float | None  # the difference that all tasks would share
    spread: float | None  # τ, the standard deviation between tasks
    points: Floats | None  # (T,) shrunken


@dataclass(frozen=True, slots=True)
class _Tested:
    test: HeterogeneityTest
    statistic: float
    p: float
    df: float
    common: float


def heterogeneity(tasks: Sequence[TaskDifferences], *, level: float) -> Heterogeneity | None:
    """``None`` for a single task."""
    if len(tasks) < 2:
        return None
    values = np.array([task.value for task in tasks])
    if all(task.plain for task in tasks):
        return _cochran(tasks, values, level)
    return _welch(tasks, values, level)


def _cochran(tasks: Sequence[TaskDifferences], values: Floats, level: float) -> Heterogeneity:
    from scipy.special import chdtrc  # late

    made = [
        (one.b / one.deff, one.c / one.deff, one.n / one.deff) for task in tasks if (one := task.counts) is not None
    ]
    b, c, n = np.array(made).T
    common, variances = common_difference(b, c, n)
    statistic, df = float(((values - common) ** 2 / variances).sum()), len(tasks) - 1.0
    p = max(float(chdtrc(df, statistic)), SMALLEST_P)
    enough = float(np.median(b + c)) >= ENOUGH_PAIRS
    return _found(values, variances, _Tested("cochran-q", statistic, p, df, common), level, enough=enough)


def common_difference(b: Floats, c: Floats, n: Floats) -> tuple[float, Floats]:
    """The difference that all tasks would share, and the variance of each task's own under it."""
    common = float((b - c).sum() / n.sum())
    for _ in range(_ROUNDS):
        variances = np.maximum(tango_variance(b, c, n, np.full(len(n), common)) / n**2, _LEAST / n)
        common = float(((b - c) / n / variances).sum() / (1 / variances).sum())
    return common, np.maximum(tango_variance(b, c, n, np.full(len(n), common)) / n**2, _LEAST / n)


def _welch(tasks: Sequence[TaskDifferences], values: Floats, level: float) -> Heterogeneity:
    variances = np.array([task.variance for task in tasks])
    count, df = len(tasks), len(tasks) - 1.0
    if not bool((variances > 0).all()):
        return Heterogeneity("cannot tell", "welch", None, None, df, None, None, None)
    from scipy.special import fdtrc  # late

    share = 1 / variances / (1 / variances).sum()
    common = float((share * values).sum())
    freedom = np.array([_freedom(task) for task in tasks])
    lack = float(((1 - share) ** 2 / freedom).sum())
    between = float(((values - common) ** 2 / variances).sum()) / df
    statistic = between / (1 + 2 * (count - 2) / (count**2 - 1) * lack)
    p = max(float(fdtrc(df, (count**2 - 1) / (3 * lack), statistic)), SMALLEST_P)
    enough = min(effective_number(task.units.denominators) for task in tasks) >= ENOUGH_UNITS
    return _found(values, variances, _Tested("welch", statistic, p, df, common), level, enough=enough)


def _freedom(task: TaskDifferences) -> float:
    """Satterthwaite's degrees of freedom of a task's variance: few where scores are skewed or have rare outliers."""
    if task.counts is not None and not task.plain:
        return task.counts.df
    return task.units.n - 1.0 if task.moments is None else task.moments.df


def _found(values: Floats, variances: Floats, tested: _Tested, level: float, *, enough: bool) -> Heterogeneity:
    spread = paule_mandel(values, variances)
    answer: WhetherTasksDiffer = "differ" if tested.p <= 1 - level else "not shown"
    if not enough and (answer == "not shown" or tested.test == "welch"):
        answer = "cannot tell"
    middle = _mean(values, variances + spread)
    points = middle + (values - middle) * spread / (spread + variances)
    return Heterogeneity(
        answer, tested.test, tested.statistic, tested.p, tested.df, tested.common, float(np.sqrt(spread)), points
    )


def paule_mandel(values: Floats, variances: Floats) -> float:
    """τ², at which Σ (D_t − μ)²/(v_t + τ²) is T − 1, its expectation; 0 where it is no more than that anyway."""

    def excess(between: float) -> float:
        total = variances + between
        return float(((values - _mean(values, total)) ** 2 / total).sum()) - (len(values) - 1)

    if excess(0.0) <= 0:
        return 0.0
    low, high = 0.0, float(((values - values.mean()) ** 2).sum())
    for _ in range(_HALVINGS):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if excess(middle) > 0 else (low, middle)
    return 0.5 * (low + high)


def _mean(values: Floats, variances: Floats) -> float:
    return float((values / variances).sum() / (1 / variances).sum())
