"""One difference for all tasks, D = Σ w D_t: of these tasks, and of tasks like these.

0/1 scores, no task with more than half of Σ w²/n: *effective Tango*. b, c and n are n_e Σ w b_t/n_t, n_e Σ w c_t/n_t
and n_e = (Σ w (b_t + c_t)/n_t − D²)/V, V = Σ w² V_t; Student's t has V²/Σ((w² V_t)²/df_t) degrees of freedom. The test
is the same statistic at 0. Where nothing is spread, n_e is Kish's number.

0/1 scores, one task with more than half: *MOVER* (Zou and Donner 2008), D ∓ √Σ w² (D_t − limit_t)² with each task's own
Tango limits at the same level. The p-value is the α at which a limit reaches 0.

Other scores: *t-hall* with V = Σ w² V_t and the third cumulant Σ w³ κ_t.

Items (or clusters) that occur in several tasks: what they add to the estimate is summed before it is squared. One task
alone keeps its own interval and test.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from math import inf, sqrt

import numpy as np

from assay.stats.bootstrap.t_hall import Moments, limits, own_p
from assay.stats.interval_and_test import agreeing
from assay.stats.numerics import (
    SMALLEST_P,
    critical_values,
    increasing_root,
    normal_cdf,
    normal_quantile,
    two_sided,
)
from assay.stats.proportions import FEWEST_DF, score_p, tango_limits
from assay.stats.student import t_reach
from assay.stats.suites import TaskDifferences, p_values, task_limits
from assay.stats.units import Floats, Units, effective_number, grouped, influence, shape, standard_error

ENOUGH_TASKS = 5  # from here on, what tasks like these would say
LARGEST_SHARE = 0.5  # of one task in Σ w²/n: beyond, its own skewness is that of the total
LEAST_P, MOST_P = 1e-12, 0.999  # that a limit is followed to


@dataclass(frozen=True, slots=True)
class Total:
    """The weighted mean of the tasks' differences, its limits, and a p-value that says the same of 0."""

    value: float
    low: float
    high: float
    p: float
    error: float  # standard error
    method: str
    share: float  # of the task that adds most to Σ w²/n


@dataclass(frozen=True, eq=False, slots=True)
class Summed:
    """The weighted mean of the tasks' differences, its p-value, and its limits at any level, before they agree."""

    value: float
    error: float  # standard error
    p: float
    method: str
    limits: Callable[[float], tuple[float, float]]  # of a level


def total(tasks: Sequence[TaskDifferences], weights: Floats, *, level: float) -> Total:
    """The total of these tasks; the weights sum to 1."""
    found, share = summed(tasks, weights), _largest(tasks, weights)
    low, high = agreeing(*found.limits(level), found.p, 1 - level, found.value)
    return Total(found.value, float(low), float(high), max(found.p, SMALLEST_P), found.error, found.method, share)


def summed(tasks: Sequence[TaskDifferences], weights: Floats) -> Summed:
    """The same at no particular level."""
    if len(tasks) == 1:
        return _single(tasks)
    value, pulls = float(sum(w * task.value for w, task in zip(weights, tasks, strict=True))), _Pulls.of(tasks, weights)
    if any(task.counts is None for task in tasks):
        return _hull(tasks, weights, value, pulls)
    if _largest(tasks, weights) > LARGEST_SHARE:
        return _mover(tasks, weights, value, pulls)
    return _effective_tango(tasks, weights, value, pulls)


def _single(tasks: Sequence[TaskDifferences]) -> Summed:
    """One task keeps its own interval and test."""
    only = tasks[0]
    method = "tango" if only.counts is not None else "degenerate" if only.moments is None else "t-hall"

    def around(level: float) -> tuple[float, float]:
        low, high = task_limits(tasks, level)
        return float(low[0]), float(high[0])

    return Summed(only.value, sqrt(only.variance), float(p_values(tasks)[0]), method, around)


def _largest(tasks: Sequence[TaskDifferences], weights: Floats) -> float:
    parts = weights**2 / _sizes(tasks)
    return float(parts.max() / parts.sum())


def _sizes(tasks: Sequence[TaskDifferences]) -> Floats:
    """(T,) As how many independent units of equal weight each task counts."""
    kish = [effective_number(one.units.denominators) if one.counts is None else one.counts.n for one in tasks]
    effects = [1.0 if one.counts is None else one.counts.deff for one in tasks]
    return np.asarray(np.array(kish) / np.array(effects), dtype=np.float64)


@dataclass(frozen=True, slots=True)
class _Pulls:
    """How what is drawn pulls the total: by how much sharing multiplies the variance, skewness, degrees of freedom."""

    sharing: float
    skewness: float
    df: float  # infinite where nothing is shared

    @classmethod
    def of(cls, tasks: Sequence[TaskDifferences], weights: Floats) -> "_Pulls":
        single = [w * influence(one.units) / one.units.n for w, one in zip(weights, tasks, strict=True)]
        if not any(np.any(part) for part in single):  # nothing is spread: as if all that is shared were alike
            single = [np.full(one.units.n, w / one.units.n) for w, one in zip(weights, tasks, strict=True)]
        parts = np.concatenate(single)
        joint = _joined(tasks, parts)
        scale = float(np.abs(parts).max()) or 1.0
        apart, pull = parts / scale, joint / scale
        square = float((pull * pull).sum())
        ratio = square / float((apart * apart).sum())
        if not square > 0:
            return cls(ratio, 0.0, FEWEST_DF)
        spread = float((pull**4).sum()) / square**2 - 1 / len(pull)
        df = inf if joint is parts or spread <= 0 else max(2 / spread, FEWEST_DF)
        return cls(ratio, float((pull**3).sum()) / square**1.5, df)


def sharing(tasks: Sequence[TaskDifferences], weights: Floats) -> float:
    """By how much the variance of a weighted mean is multiplied because tasks have items or clusters in common."""
    return _Pulls.of(tasks, weights).sharing


def _joined(tasks: Sequence[TaskDifferences], parts: Floats) -> Floats:
    """The parts summed by owner; the same array where nobody owns two."""
    if any(task.owners is None for task in tasks):
        return parts
    owners = np.concatenate([task.owners for task in tasks if task.owners is not None])
    distinct, place = np.unique(owners, return_inverse=True)
    return parts if len(distinct) == len(owners) else grouped(parts, place.astype(np.int64, copy=False))


def _freedom(variances: Floats, df: Floats) -> float:
    """Satterthwaite's degrees of freedom of a sum of variances."""
    return float(variances.sum() ** 2 / (variances**2 / df).sum())


# ----------------------------------------------------------------------------------------------------------- 0/1 scores


def _effective_tango(tasks: Sequence[TaskDifferences], weights: Floats, value: float, pulls: _Pulls) -> Summed:
    counts = [task.counts for task in tasks if task.counts is not None]
    only_b = float(sum(w * one.b / one.n for w, one in zip(weights, counts, strict=True)))
    only_a = float(sum(w * one.c / one.n for w, one in zip(weights, counts, strict=True)))
    variances = weights**2 * np.array([task.variance for task in tasks])
    variance, spread = float(variances.sum()) * pulls.sharing, only_b + only_a - value**2
    if variance > 0 and spread > 0:
        n, df = spread / variance, _freedom(variances, np.array([_task_df(task) for task in tasks]))
    else:  # no task has a spread of its own
        sizes = weights**2 / _sizes(tasks)
        n, df = 1 / (float(sizes.sum()) * pulls.sharing), _freedom(sizes, np.array([_most_df(task) for task in tasks]))
    df = max(min(df, pulls.df), FEWEST_DF)

    def around(level: float) -> tuple[float, float]:
        low, high = tango_limits(n * only_b, n * only_a, n, critical_values(level, df))
        return float(low[0]), float(high[0])

    p = float(np.ravel(score_p(n * only_b, n * only_a, 1.0, df))[0])
    return Summed(value, sqrt(variance), p, "tango", around)


def _task_df(task: TaskDifferences) -> float:
    """Satterthwaite's, from the kurtosis."""
    if task.counts is not None and not task.plain:
        return task.counts.df
    form = shape(task.units)
    return _most_df(task) if form is None else max(form.degrees_of_freedom, FEWEST_DF)


def _most_df(task: TaskDifferences) -> float:
    return max(task.units.n - 1.0, FEWEST_DF)


def _mover(tasks: Sequence[TaskDifferences], weights: Floats, value: float, pulls: _Pulls) -> Summed:
    each = np.array([task.value for task in tasks])

    def around(at: float) -> tuple[float, float]:
        low, high = task_limits(tasks, at)
        below, above = (float((weights**2 * (each - limit) ** 2).sum()) * pulls.sharing for limit in (low, high))
        return value - sqrt(below), value + sqrt(above)

    def beyond_zero(at: float) -> float:
        low, high = around(at)
        return -low if value > 0 else high

    variance = float((weights**2 * np.array([task.variance for task in tasks])).sum()) * pulls.sharing
    p = 1.0 if value == 0 else _where_zero_is_reached(beyond_zero)
    return Summed(value, sqrt(variance), p, "mover", around)


def _where_zero_is_reached(beyond: Callable[[float], float]) -> float:
    """The α at which an interval of the level 1 − α just has 0 in it; ``beyond`` 0 it reaches the more, the higher."""
    least, most = (-normal_quantile(alpha / 2) for alpha in (MOST_P, LEAST_P))  # nearly straight in these

    def at(z: float) -> float:
        return beyond(1 - 2 * normal_cdf(-min(max(z, least), most)))

    if at(least) >= 0:
        return 1.0
    return LEAST_P if at(most) <= 0 else 2 * normal_cdf(-increasing_root(at, 2.0, 1.0, tolerance=1e-9))


# --------------------------------------------------------------------------------------------------------- other scores


def _hull(tasks: Sequence[TaskDifferences], weights: Floats, value: float, pulls: _Pulls) -> Summed:
    found = [task.moments for task in tasks]
    variances = weights**2 * np.array([0.0 if one is None else one.error**2 for one in found])
    variance = float(variances.sum()) * pulls.sharing
    if not variance > 0:
        p = max((float(q) for q, task in zip(p_values(tasks), tasks, strict=True) if task.value), default=1.0)
        return Summed(value, 0.0, p if value else 1.0, "degenerate", lambda _: (value, value))
    satterthwaite = _freedom(variances, np.array([1.0 if one is None else one.df for one in found]))
    most = min(_freedom(variances, np.array([max(task.units.n - 1.0, 1.0) for task in tasks])), _drawn(tasks) - 1.0)
    made = Moments(value, sqrt(variance), pulls.skewness, max(min(satterthwaite, pulls.df, most), 1.0), most + 1)
    return Summed(value, made.error, own_p(made), "t-hall", partial(limits, made))


def _drawn(tasks: Sequence[TaskDifferences]) -> float:
    """How many different items or clusters there are."""
    return float(len(_joined(tasks, np.zeros(sum(task.units.n for task in tasks)))))


# ----------------------------------------------------------------------------------------------------- tasks like these


@dataclass(frozen=True, slots=True)
class OverTasks:
    """How far the total holds for tasks like these: the tasks themselves are the sample."""

    low: float
    high: float
    p: float
    error: float
    df: float


def over_tasks(values: Floats, weights: Floats, *, level: float) -> OverTasks | None:
    """Student's t over the tasks' differences; ``None`` for fewer than `ENOUGH_TASKS`, or where they do not differ.

    >>> found = over_tasks(np.array([1.0, 2.0, 3.0, 4.0, 5.0]), np.full(5, 0.2), level=0.95)
    >>> round(found.low, 3), round(found.high, 3)  # 3 ± 2.776 × √(2.5/5)
    (1.037, 4.963)
    """
    kept = weights > 0
    units = Units((values * weights)[kept], weights[kept])
    if units.n < ENOUGH_TASKS or units.degenerate:
        return None
    error, df = standard_error(units), units.n - 1.0
    assert error is not None  # there are several
    reach, value = t_reach(level, df) * error, units.estimate
    return OverTasks(value - reach, value + reach, float(two_sided(value / error, df)[0]), error, df)
