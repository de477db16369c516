"""Repeated runs: how much an overall score moves from one to the next, and whether the order of systems repeats.

The variance of a run's score is τ² + ν: what a run shifts all items by, and the independent noise of the items in the
mean. The scores of k runs estimate the sum with k − 1 degrees of freedom, which with a handful of runs says little; the
items estimate ν with about (n − 1)(k − 1). Where the runs do not differ by more than their items' noise explains, both
are estimates of the same variance, and are pooled; where they do, the scores alone count (Bancroft 1944: pool unless
the F test rejects at 25 %).

The interval does not depend on that choice. The variance is at least ν, so the items give its lower limit; the scores
alone give the upper one, for whatever runs might share: it holds for any τ².

The order of systems is compared by Kendall's τ, and by the share of pairs of runs that agree. Means over seeds, and
their differences, have Student's interval.

Attempts at an item that are right or wrong give pass@k (one of k is right) and pass^k (all k are), each unbiased from
c right ones of n: 1 − C(n − c, k)/C(n, k) and C(c, k)/C(n, k).

References: Bancroft (1944), *On biases in estimation due to the use of preliminary tests of significance*; Chen et al.
(2021), *Evaluating large language models trained on code*, for pass@k; Yao et al. (2024), *τ-bench*, for pass^k;
Hoeffding (1948), *A class of statistics with asymptotically normal distribution*, for their variances.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from math import sqrt

import numpy as np
from numpy.typing import NDArray

from assay.stats.bounded_mean import clopper_pearson
from assay.stats.numerics import SMALLEST_P, t_cdf, t_quantile
from assay.stats.records import Estimate, Interval, Test
from assay.stats.rounding import difference, levelled, without_residue
from assay.stats.units import Floats

POOL_ABOVE = 0.25  # the p-value of the F test up to which runs count as differing
_TIE = 1e-12  # of the larger score: less is what summing in another order leaves


@dataclass(frozen=True, slots=True)
class RunVariance:
    """A variance of a run's overall score, and its degrees of freedom."""

    variance: float
    df: float


@dataclass(frozen=True, slots=True)
class RunNoise:
    """The standard deviation of an overall score between runs, and what it rests on."""

    estimate: Estimate
    df: float
    pooled: bool = False  # whether the noise of single items counts in it


def item_spread(numerators: Floats, denominators: Floats) -> RunVariance:
    """The variance of a run's score from independent noise of its units (items or clusters): (G, k) and (G,).

    The degrees of freedom are Satterthwaite's: few units that carry the noise are worth few, however many there are.
    """
    groups, runs = numerators.shape
    if groups < 2:
        return RunVariance(0.0, 0.0)
    total = float(denominators.sum())
    residual = numerators - numerators.mean(axis=1, keepdims=True)
    residual = residual - denominators[:, None] * (residual.sum(axis=0) / total)
    residual = without_residue(residual, np.abs(numerators).max(axis=1, keepdims=True))  # runs a constant apart
    own = (residual**2).sum(axis=1) / (runs - 1)  # (G,) the variance of each unit between runs
    variance, most = float(own.sum()) / total**2 * groups / (groups - 1), (groups - 1.0) * (runs - 1)
    spread, mean = float(own.var()), float(own.mean())
    return RunVariance(variance, most if spread <= 0 else min(most, 2 * groups * mean**2 / spread))


def run_noise(scores: Sequence[RunVariance], items: Sequence[RunVariance], level: float = 0.95) -> RunNoise:
    """The noise between runs of one or several models, from the spread of their scores and of their items' noise."""
    between, within = _together(scores), _together(items)
    n = round(between.df) + 1
    if between.variance == within.variance == 0:
        return RunNoise(Estimate(0.0, None, None, n, "all values are equal, so there is no interval"), between.df)
    pooled = _same_spread(between, within)
    chosen = _together([between, within]) if pooled else between
    low = _limit(within if within.df else chosen, 0.5 + level / 2)
    high = max(_limit(between, 0.5 - level / 2), _limit(chosen, 0.5 - level / 2) if pooled else 0.0)
    value = sqrt(chosen.variance)
    limits = Interval(min(low, value), max(high, value), level, "chi-square")
    return RunNoise(Estimate(value, limits, None, n), chosen.df, pooled)


def _together(spreads: Sequence[RunVariance]) -> RunVariance:
    df = sum(spread.df for spread in spreads)
    return RunVariance(sum(spread.variance * spread.df for spread in spreads) / df if df else 0.0, df)


def _same_spread(between: RunVariance, within: RunVariance) -> bool:
    """Whether the runs' scores differ by no more than the noise of items explains."""
    if within.variance == 0 or within.df == 0:
        return False
    from scipy.special import fdtrc  # late: 0.3 s

    return float(fdtrc(between.df, within.df, between.variance / within.variance)) > POOL_ABOVE


def _limit(spread: RunVariance, p: float) -> float:
    from scipy.special import chdtri  # late

    return sqrt(spread.df * spread.variance / float(chdtri(spread.df, 1 - p)))


@dataclass(frozen=True, slots=True)
class RankStability:
    """How alike the orders of the systems are in different runs."""

    tau_mean: float | None  # Kendall's τ-b over all pairs of runs
    tau_min: float | None
    whole_order_repeats: float  # the share of pairs of runs with the same order of all systems; a tie counts half
    pairs_of_runs: int
    reason: str | None = None


def orders(scores: Floats) -> NDArray[np.int8]:
    """(k, P) For every run and every pair of m systems: 1 where the first is ahead, −1 behind, 0 at a tie."""
    first, second = np.triu_indices(len(scores), 1)
    gap = scores[first] - scores[second]
    reach = _TIE * np.maximum(np.abs(scores[first]), np.abs(scores[second]))
    return np.where(np.abs(gap) <= reach, 0, np.sign(gap)).astype(np.int8).T


def rank_stability(scores: Floats) -> RankStability:
    """How alike the orders of m systems are in k runs, from their (m, k) scores."""
    signs = orders(scores)
    taus = [tau for r, s in combinations(signs, 2) if (tau := _tau(r, s)) is not None]
    whole = [_same_order(r, s) for r, s in combinations(signs, 2)]
    count = len(whole)
    reason = None if len(taus) == count else f"{count - len(taus)} of {count} pairs of runs left out: all systems tie"
    mean, least = (sum(taus) / len(taus), min(taus)) if taus else (None, None)
    return RankStability(mean, least, sum(whole) / count, count, reason)


def _tau(r: NDArray[np.int8], s: NDArray[np.int8]) -> float | None:
    """Kendall's τ-b: concordant less discordant pairs, over the geometric mean of the pairs that do not tie."""
    untied = sqrt(float(np.count_nonzero(r)) * float(np.count_nonzero(s)))
    return float((r.astype(np.int64) * s).sum()) / untied if untied else None


def _same_order(r: NDArray[np.int8], s: NDArray[np.int8]) -> float:
    product = r.astype(np.int64) * s
    return 0.0 if (product < 0).any() else 0.5 ** int((product == 0).sum())


def order_repeats(first: Floats, second: Floats, confidence_level: float = 0.95) -> Estimate:
    """The probability that two runs put two systems in the same order, from (k,) scores of each in the same runs.

    The share of all pairs of different runs; a tie counts half. Runs are independent, so the number that have the
    first system ahead is binomial(k, p), and the probability is p² + (1 − p)²: Clopper and Pearson's interval for p
    gives one for it that holds at least as often as it says.
    """
    signs = orders(np.stack([first, second]))[:, 0].astype(np.int64)
    k = len(signs)
    if k < 2:
        return Estimate(None, None, None, k, "one run: no pair of runs")
    agree = (float(signs.sum()) ** 2 - float((signs * signs).sum())) / (k * (k - 1))  # mean of the products of pairs
    value = (1 + agree) / 2
    if not signs.all():
        return Estimate(value, None, None, k, "the two tie in some runs, so there is no interval")
    low, high = clopper_pearson(int((signs > 0).sum()), k, confidence_level)
    far = [p * p + (1 - p) * (1 - p) for p in (low, high)]
    least = 0.5 if low <= 0.5 <= high else min(far)
    return Estimate(value, Interval(least, max(far), confidence_level, "Clopper-Pearson"), None, k)


# --------------------------------------------------------------------------------------------------- means over seeds


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
    """The estimate of a quantity that cannot be negative: its interval is cut at 0."""
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


# ------------------------------------------------------------------------------------------------------------ attempts


def pass_all(right: Floats, attempts: Floats, k: int) -> Floats:
    """(n,) pass^k of items: C(c, k)/C(n, k), unbiased for p^k; NaN where there are fewer than k attempts.

    >>> pass_all(np.array([3.0, 1.0, 2.0]), np.array([4.0, 4.0, 2.0]), 2)  # 3 of 6 pairs, none, the only one
    array([0.5, 0. , 1. ])
    """
    enough = attempts >= k
    found = np.where(enough, 1.0, np.nan)
    for i in range(k if enough.any() else 0):
        found[enough] *= np.maximum(right[enough] - i, 0.0) / (attempts[enough] - i)
    return found


def pass_any(right: Floats, attempts: Floats, k: int) -> Floats:
    """(n,) pass@k of items: 1 − C(n − c, k)/C(n, k), unbiased for 1 − (1 − p)^k; NaN with fewer than k attempts.

    >>> pass_any(np.array([3.0, 1.0, 2.0]), np.array([4.0, 4.0, 2.0]), 2)  # all pairs hold a right one, 3 of 6, the one
    array([1. , 0.5, 1. ])
    """
    return 1.0 - pass_all(attempts - right, attempts, k)


def attempt_variance(right: Floats, attempts: Floats, k: int, times: int = 1) -> Floats:
    """(n,) The variance of an item's pass^k that ``times`` as many attempts would give; NaN where there are below 2k.

    Two subsets of k from N attempts share c of them with the hypergeometric chance h, and are then all right with
    p^(2k − c): the variance is Σ h(c)·p^(2k − c) − p^2k (Hoeffding 1948), unbiased with pass^j for p^j. For pass@k take
    the wrong ones for right.
    """
    enough = attempts >= 2 * k
    right, attempts = right[enough], attempts[enough]
    power, both = np.ones(len(right)), np.zeros(len(right))
    for j in range(1, 2 * k + 1):
        power = power * np.maximum(right - j + 1, 0.0) / (attempts - j + 1)  # pass^j
        if j >= k:
            both += _shared(times * attempts, k, 2 * k - j) * power
    found = np.full(len(enough), np.nan)
    found[enough] = both - power
    return found


def _shared(n: Floats, k: int, c: int) -> Floats:
    """The chance that two subsets of k from n have exactly c in common."""
    from scipy.special import gammaln  # late: 0.3 s

    ways = gammaln(k + 1) - gammaln(c + 1) - gammaln(k - c + 1)  # C(k, c), then C(n − k, k − c) and C(n, k)
    others = gammaln(n - k + 1) - gammaln(k - c + 1) - gammaln(n - 2 * k + c + 1)
    return np.asarray(np.exp(ways + others - gammaln(n + 1) + gammaln(k + 1) + gammaln(n - k + 1)))
