"""How much does an overall score move from run to run? From the runs' scores and from the noise of their items.

The variance of a run's score is τ² + ν: what a run shifts all items by, and the independent noise of the items in the
mean. The scores of k runs estimate the sum with k − 1 degrees of freedom, which with a handful of runs says little; the
items estimate ν with about (n − 1)(k − 1). Where the runs do not differ by more than their items' noise explains, both
are estimates of the same variance, and are pooled; where they do, the scores alone count (Bancroft 1944: pool unless
the F test rejects at 25 %).

The interval does not depend on that choice. The variance is at least ν, so the items give its lower limit; the scores
alone give the upper one, for whatever runs might share: it holds for any τ².

Reference: Bancroft (1944), *On biases in estimation due to the use of preliminary tests of significance*.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt

import numpy as np

from assay.stats.records import Estimate, Interval
from assay.stats.rounding import without_residue
from assay.stats.units import Floats

POOL_ABOVE = 0.25  # the p-value of the F test up to which runs count as differing


@dataclass(frozen=True, slots=True)
class Spread:
    """A variance of a run's overall score, and its degrees of freedom."""

    variance: float
    df: float


@dataclass(frozen=True, slots=True)
class RunNoise:
    """The standard deviation of an overall score between runs, and what it rests on."""

    estimate: Estimate
    df: float
    pooled: bool = False  # whether the noise of single items counts in it


def score_spread(scores: Floats) -> Spread:
    """Of (k,) overall scores."""
    return Spread(float(np.var(scores, ddof=1)), len(scores) - 1)


def item_spread(numerators: Floats, denominators: Floats) -> Spread:
    """What independent noise of the units (items, or whole clusters) gives a run's score: (G, k) and (G,).

    The degrees of freedom are Satterthwaite's: few units that carry the noise are worth few, however many there are.
    """
    groups, runs = numerators.shape
    if groups < 2:
        return Spread(0.0, 0.0)
    total = float(denominators.sum())
    residual = numerators - numerators.mean(axis=1, keepdims=True)
    residual = residual - denominators[:, None] * (residual.sum(axis=0) / total)
    residual = without_residue(residual, np.abs(numerators).max(axis=1, keepdims=True))  # runs a constant apart
    own = (residual**2).sum(axis=1) / (runs - 1)  # (G,) the variance of each unit between runs
    variance, most = float(own.sum()) / total**2 * groups / (groups - 1), (groups - 1.0) * (runs - 1)
    spread, mean = float(own.var()), float(own.mean())
    return Spread(variance, most if spread <= 0 else min(most, 2 * groups * mean**2 / spread))


def run_noise(scores: Sequence[Spread], items: Sequence[Spread], level: float = 0.95) -> RunNoise:
    """Of one or several models, each with the spread of its runs' scores and that of its items' noise."""
    between, within = _together(scores), _together(items)
    n = round(between.df) + 1
    if between.variance == within.variance == 0:
        return RunNoise(Estimate(0.0, None, None, n, "all values are equal, so that there is no interval"), between.df)
    pooled = _same(between, within)
    chosen = _together([between, within]) if pooled else between
    low = _limit(within if within.df else chosen, 0.5 + level / 2)
    high = max(_limit(between, 0.5 - level / 2), _limit(chosen, 0.5 - level / 2) if pooled else 0.0)
    value = sqrt(chosen.variance)
    limits = Interval(min(low, value), max(high, value), level, "chi-square")
    return RunNoise(Estimate(value, limits, None, n), chosen.df, pooled)


def _together(spreads: Sequence[Spread]) -> Spread:
    df = sum(spread.df for spread in spreads)
    return Spread(sum(spread.variance * spread.df for spread in spreads) / df if df else 0.0, df)


def _same(between: Spread, within: Spread) -> bool:
    """Whether the runs' scores differ by no more than the noise of items explains."""
    if within.variance == 0 or within.df == 0:
        return False
    from scipy.special import fdtrc  # late: 0.3 s

    return float(fdtrc(between.df, within.df, between.variance / within.variance)) > POOL_ABOVE


def _limit(spread: Spread, p: float) -> float:
    from scipy.special import chdtri  # late

    return sqrt(spread.df * spread.variance / float(chdtri(spread.df, 1 - p)))
