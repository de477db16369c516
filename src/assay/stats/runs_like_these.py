"""How far a difference of means over runs holds for runs like these: other seeds, models trained again.

Means over the runs of each item are right for *these* runs, also where the runs are copies of each other. What another
run would give varies more where a run moves all items together. With

    V_i   the variance of the difference of item means (these runs),
    V_s   that of the mean of the runs' totals, s²/S of each model, both models added,
    V_e   as much of V_s as the noise of single items explains, residual/(nS), both models added,

    V = V_i + max(0, V_s − V_e),   df = V² / (V_i²/df_i + Σ V_s²/(S − 1)),

and Student's t; df is never below that of the part with the least. A run's total is the weighted mean of its tasks, and
V_e adds up over them likewise. The interval is never narrower than that for these runs. Coverage:
`benchmarks/calibration_suites.py`.

Reference: Satterthwaite (1946), *An approximate distribution of estimates of variance components*.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt

import numpy as np

from assay.stats.interval_and_test import agreeing
from assay.stats.numerics import SMALLEST_P, two_sided
from assay.stats.records import Interval
from assay.stats.repeated_runs import item_spread
from assay.stats.student import t_reach
from assay.stats.units import Floats

TaskRuns = tuple[Floats, Floats]  # (G, S) sums of each item or cluster in every run, (G,) what they are divided by


@dataclass(frozen=True, slots=True)
class RunSpread:
    """How the total of one model varies between its runs."""

    variance: float  # of the mean of the runs' totals
    noise: float  # as much of it as the noise of single items explains
    runs: int


@dataclass(frozen=True, slots=True)
class LikeThese:
    """A difference for runs like these; it leaves out 0 exactly where p ≤ 1 − level."""

    low: float
    high: float
    p: float
    error: float
    df: float


def run_spread(tasks: Sequence[TaskRuns], weights: Sequence[float] | Floats) -> RunSpread:
    """Of one model's runs on several tasks; the weights sum to 1."""
    count = tasks[0][0].shape[1]
    totals, noise = np.zeros(count), 0.0
    for weight, (sums, sizes) in zip(weights, tasks, strict=True):
        totals += weight * sums.sum(axis=0) / sizes.sum()
        noise += weight**2 * item_spread(sums, sizes).variance
    return RunSpread(float(totals.var(ddof=1)) / count, noise / count, count)


def runs_like_these(
    value: float, items: tuple[float, float], models: Sequence[RunSpread], these: Interval, p: float
) -> LikeThese:
    """For runs like these; ``items`` are V_i and its degrees of freedom, ``these`` and ``p`` are for these runs.

    >>> one = RunSpread(variance=0.0004, noise=0.0001, runs=3)
    >>> found = runs_like_these(0.1, (0.0009, 400.0), [one, one], Interval(0.04, 0.16, 0.95, "t"), 0.001)
    >>> round(found.error, 4), round(found.df, 1)  # √(0.0009 + 0.0006)
    (0.0387, 13.9)
    """
    own, df = items
    between = sum(one.variance for one in models)
    variance = own + max(0.0, between - sum(one.noise for one in models))
    if not variance > 0:
        return LikeThese(these.low, these.high, p, 0.0, df)
    spread = own**2 / df + sum(one.variance**2 / (one.runs - 1) for one in models)
    least = min(df, *(one.runs - 1 for one in models))  # less is what subtracting V_e leaves
    freedom, error = max(variance**2 / spread, least), sqrt(variance)
    reach = t_reach(these.level, freedom) * error
    larger = max(float(two_sided(value / error, freedom)[0]), p, SMALLEST_P)
    wide = min(value - reach, these.low), max(value + reach, these.high)
    low, high = agreeing(*wide, larger, 1 - these.level, value)
    return LikeThese(float(low), float(high), larger, error, freedom)
