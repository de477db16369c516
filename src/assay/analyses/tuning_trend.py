"""Means and slopes of a series of steps, and means over seeds, with intervals."""

from dataclasses import replace
from math import sqrt

import numpy as np

from assay.analyses.tuning_noise import error_of
from assay.data.training_logs import Series
from assay.stats.records import Estimate, Interval, Test
from assay.stats.rounding import difference, levelled
from assay.stats.special import t_cdf, t_quantile
from assay.stats.student import SMALLEST_P
from assay.stats.units import Floats

WINDOW = 50  # logged points that are averaged (T4)


def window_of(points: int) -> int:
    """How many logged points a smoothed loss averages: 50, or a fifth of a short log."""
    return min(WINDOW, max(2, points // 5)) if points > 1 else 1


def smoothed(values: Floats, window: int) -> Floats:
    """The mean of each point and those before it, at most ``window`` in all."""
    if not len(values):
        return values
    first = values[0]  # sums of what is left are small, and those of a level loss 0
    sums = np.concatenate([[0.0], np.cumsum(values - first)])
    stop = np.arange(1, len(values) + 1)
    start = np.maximum(stop - window, 0)
    return np.asarray(first + (sums[stop] - sums[start]) / (stop - start), dtype=np.float64)


def mean_of(values: Floats, level: float) -> Estimate:
    """The mean of neighbouring points; the error is that of the noise around a line, as the loss may still fall."""
    n = len(values)
    if n < 3:
        return Estimate(float(values.mean()) if n else None, None, None, n, f"{n} points: no spread to measure")
    values = levelled(values)
    mean = float(values[0] + (values - values[0]).mean())
    return _estimate(mean, np.arange(n, dtype=np.float64), values, 0, level)


def change_of(series: Series, level: float) -> Estimate:
    """How much a straight line through the points rises or falls from the first step to the last.

    Points that differ by rounding only do not change.
    """
    n, span = len(series), float(np.ptp(series.steps)) if len(series) else 0.0
    if n < 3 or span <= 0:
        return Estimate(None, None, None, n, "fewer than three points")
    x = (series.steps - series.steps.mean()) / span  # a slope per span is the change
    values = levelled(series.values)
    return _estimate(float(x @ (values - values[0]) / (x @ x)), x, values, 1, level)


def _estimate(value: float, x: Floats, values: Floats, column: int, level: float) -> Estimate:
    error, reach = error_of(x, values, column, level)
    return Estimate(value, Interval(value - reach, value + reach, level, "autocorrelated"), error, len(values))


def around(value: float, error: float, df: float, n: int, level: float, method: str) -> Estimate:
    """Value ± t·error."""
    reach = t_quantile(0.5 + level / 2, df) * error
    return Estimate(value, Interval(value - reach, value + reach, level, method), error, n)


def over_seeds(values: Floats, level: float) -> Estimate:
    """The mean over seeds, with Student's interval: what another seed could give."""
    n = len(values)
    if n == 0:
        return Estimate(None, None, None, 0, "not measured")
    value = float(values.mean())
    if n == 1:
        return Estimate(value, None, None, 1, "one seed: nothing says what another would give")
    return around(value, float(values.std(ddof=1)) / sqrt(n), n - 1, n, level, "t over seeds")


def from_zero_on(found: Estimate) -> Estimate:
    """Of what cannot be negative: the part of the interval below 0 is left out, which holds no truth to cover."""
    if found.interval is None or found.value is None or found.value < 0:
        return found
    return replace(found, interval=replace(found.interval, low=max(found.interval.low, 0.0)))


def seed_difference(a: Floats, b: Floats, level: float, *, paired: bool) -> tuple[Estimate, Test]:
    """The mean of B − A over seeds and its t-test: seed by seed where both have the same, else by Welch."""
    name = "t over seeds" if paired else "Welch t over seeds"
    if paired:
        apart = levelled(difference(a, b), np.maximum(np.abs(a), np.abs(b)))
        found, df = over_seeds(apart, level), float(len(a) - 1)
    else:
        found, df = _welch(levelled(a), levelled(b), level)
    if found.value is None or not found.standard_error:
        return found, Test(name, None, None, found.n, found.reason or "the seeds do not differ")
    statistic = found.value / found.standard_error
    return found, Test(name, statistic, max(2 * t_cdf(-abs(statistic), df), SMALLEST_P), found.n)


def _welch(a: Floats, b: Floats, level: float) -> tuple[Estimate, float]:
    value, fewest = float(difference(a.mean(), b.mean())), min(len(a), len(b))
    if fewest < 2:
        return Estimate(value, None, None, fewest, "one seed in an arm: nothing says what another would give"), 0.0
    parts = float(a.var(ddof=1)) / len(a), float(b.var(ddof=1)) / len(b)
    whole = sum(parts)
    degrees = parts[0] ** 2 / (len(a) - 1) + parts[1] ** 2 / (len(b) - 1)
    df = whole**2 / degrees if degrees > 0 else float(len(a) + len(b) - 2)
    return around(value, sqrt(whole), df, fewest, level, "Welch t over seeds"), df
