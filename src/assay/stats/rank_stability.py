"""Does the order of systems repeat from run to run? Kendall's τ, and the share of pairs of runs that agree."""

from dataclasses import dataclass
from itertools import combinations
from math import sqrt

import numpy as np
from numpy.typing import NDArray

from assay.stats.binomial import clopper_pearson
from assay.stats.records import Estimate, Interval
from assay.stats.units import Floats

_TIE = 1e-12  # of the larger score: less is what summing in another order leaves


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
    """Of (m, k) scores of m systems in k runs."""
    signs = orders(scores)
    taus = [tau for r, s in combinations(signs, 2) if (tau := _tau(r, s)) is not None]
    whole = [_same(r, s) for r, s in combinations(signs, 2)]
    count = len(whole)
    reason = None if len(taus) == count else f"{count - len(taus)} of {count} pairs of runs left out: all systems tie"
    mean, least = (sum(taus) / len(taus), min(taus)) if taus else (None, None)
    return RankStability(mean, least, sum(whole) / count, count, reason)


def _tau(r: NDArray[np.int8], s: NDArray[np.int8]) -> float | None:
    """Kendall's τ-b: concordant less discordant pairs, over the geometric mean of the pairs that do not tie."""
    untied = sqrt(float(np.count_nonzero(r)) * float(np.count_nonzero(s)))
    return float((r.astype(np.int64) * s).sum()) / untied if untied else None


def _same(r: NDArray[np.int8], s: NDArray[np.int8]) -> float:
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
        return Estimate(value, None, None, k, "the two tie in some runs, so that there is no interval")
    low, high = clopper_pearson(int((signs > 0).sum()), k, confidence_level)
    far = [p * p + (1 - p) * (1 - p) for p in (low, high)]
    least = 0.5 if low <= 0.5 <= high else min(far)
    return Estimate(value, Interval(least, max(far), confidence_level, "Clopper-Pearson"), None, k)
