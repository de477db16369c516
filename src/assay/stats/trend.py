"""Means and slopes of a series of steps that resemble their neighbours, and means over seeds, with intervals.

The error of a mean or of a slope: points are averaged in blocks, at most thirty, so that what is fast in the noise is
gone and what is slow is left. The block means are taken for a line with noise of autocorrelation ρ from block to block
(Prais and Winsten 1954). ρ is not plugged in, which makes errors too small: every ρ gives an error and a Student
distribution, and these are mixed by how likely each ρ is, given the blocks and nothing else (the restricted likelihood
of Harville 1974, a flat prior).
"""

from dataclasses import replace
from functools import lru_cache
from math import sqrt

import numpy as np

from assay.stats.numerics import SMALLEST_P, increasing_root, t_cdf, t_quantile
from assay.stats.records import Estimate, Interval, Test
from assay.stats.rounding import TOLERANCE, difference, levelled
from assay.stats.units import Floats

WINDOW = 50  # logged points that are averaged (T4)
BLOCKS = 30
_NODES = 64
_FURTHEST = 0.99  # of ρ: beyond, noise is not to be told from a drift


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


def change_of(steps: Floats, values: Floats, level: float) -> Estimate:
    """How much a straight line through the points rises or falls from the first step to the last.

    Points that differ by rounding only do not change.
    """
    n, span = len(steps), float(np.ptp(steps)) if len(steps) else 0.0
    if n < 3 or span <= 0:
        return Estimate(None, None, None, n, "fewer than three points")
    x = (steps - steps.mean()) / span  # a slope per span is the change
    values = levelled(values)
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


# ---------------------------------------------------------------------------------------------- autocorrelated noise


def blocks_of(values: Floats) -> Floats:
    """Means of as many equal blocks as there may be; of the first points some are left out."""
    size = -(-len(values) // BLOCKS)
    count = len(values) // size
    return np.asarray(values[len(values) - count * size :].reshape(count, size).mean(axis=1), dtype=np.float64)


def error_of(x: Floats, values: Floats, column: int, level: float) -> tuple[float, float]:
    """The standard error of the level (column 0) or of the slope on x (column 1), and the half of their interval."""
    places, means = blocks_of(x), blocks_of(values)
    design = np.column_stack([np.ones(len(means)), places - places.mean()])
    df = len(means) - 2
    likely, errors = _mixture(design, means, column)
    if not errors.any():
        return 0.0, 0.0
    return float(np.sqrt(likely @ errors**2)), _reach(likely, errors, df, level)


def _mixture(design: Floats, values: Floats, column: int) -> tuple[Floats, Floats]:
    """(nodes,) How likely each ρ is, and the standard error of the least-squares line if it is the one."""
    rho, weight = _nodes()
    white_x, white_y = _whitened(design, rho), _whitened(values[:, None], rho)[:, :, 0]
    gram = np.einsum("gik,gil->gkl", white_x, white_x)
    cross = np.einsum("gik,gi->gk", white_x, white_y)
    solved = np.linalg.solve(gram, cross[:, :, None])[:, :, 0]
    rest = white_y - np.einsum("gik,gk->gi", white_x, solved)
    squares, df = np.einsum("gi,gi->g", rest, rest), len(values) - design.shape[1]
    if squares.max() <= len(values) * (TOLERANCE * np.abs(values).max()) ** 2:  # a line without noise
        return weight, np.zeros(_NODES)
    log_likelihood = 0.5 * np.log(1 - rho**2) - 0.5 * np.linalg.slogdet(gram)[1] - 0.5 * df * np.log(squares)
    likely = weight * np.exp(log_likelihood - log_likelihood.max())
    return likely / likely.sum(), np.sqrt(squares / df * _spread(design, column, rho))


def _whitened(columns: Floats, rho: Floats) -> Floats:
    """(nodes, n, k) Each point less ρ times the one before it; the first is scaled to the same variance."""
    first = np.sqrt(1 - rho**2)[:, None, None] * columns[:1]
    return np.concatenate([first, columns[1:] - rho[:, None, None] * columns[:-1]], axis=1)


def _spread(design: Floats, column: int, rho: Floats) -> Floats:
    """(nodes,) The variance of a least-squares coefficient, in units of that of the whitened noise."""
    weights = np.linalg.solve(design.T @ design, design.T)[column]
    apart = np.correlate(weights, weights, mode="full")[len(weights) - 1 :]  # by how many blocks
    powers = rho[:, None] ** np.arange(len(weights))
    return np.asarray((2 * powers @ apart - apart[0]) / (1 - rho**2), dtype=np.float64)


def _reach(likely: Floats, errors: Floats, df: int, level: float) -> float:
    """How far the interval reaches: beyond it lies 1 − level of the mixture of Student distributions."""
    from scipy.special import stdtr  # late: scipy takes long to import

    scale = float(errors.max())

    def excess(reach: float) -> float:
        return float(likely @ stdtr(df, reach * scale / errors)) - (0.5 + level / 2)

    return scale * float(increasing_root(excess, 1.0, 0.5))


@lru_cache(maxsize=1)
def _nodes() -> tuple[Floats, Floats]:
    """ρ and weights: the rule of Gauss and Legendre over Fisher's z, on which the likelihood is about normal."""
    z, weight = np.polynomial.legendre.leggauss(_NODES)
    rho = np.tanh(np.arctanh(_FURTHEST) * z)
    return rho, weight * (1 - rho**2)
