"""The bootstrap done literally: every resample of a few units, or a million random ones of more.

Nothing here uses the code under test but `Units`, which holds the data.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations_with_replacement, product
from math import factorial, prod, sqrt

import numpy as np
from numpy.typing import NDArray
from scipy import stats as scipy_stats

from assay.stats.units import Units

Floats = NDArray[np.float64]

A_MILLION = 1_000_000


@dataclass(frozen=True)
class Enumeration:
    """Sorted outcomes of all resamples and their probabilities; outcomes are not merged."""

    outcomes: Floats
    probabilities: Floats

    @cached_property
    def error(self) -> float:
        mean = (self.probabilities * self.outcomes).sum()
        return sqrt((self.probabilities * (self.outcomes - mean) ** 2).sum())

    def cdf(self, x: float) -> float:
        """P(X < x) + P(X = x)/2, ties up to rounding."""
        tie = np.abs(self.outcomes - x) <= 1e-11 * max(abs(x), self.error)
        below = (self.outcomes < x) & ~tie
        return float(self.probabilities[below].sum() + self.probabilities[tie].sum() / 2)

    def quantile(self, p: float) -> float:
        """The smallest outcome with P(X ≤ outcome) ≥ p."""
        return float(self.outcomes[np.searchsorted(np.cumsum(self.probabilities), p - 1e-12)])


def every_resample(units: Units) -> Enumeration:
    """All nⁿ ordered resamples: for n ≤ 6."""
    draws = np.array(list(product(range(units.n), repeat=units.n)))  # (nⁿ, n)
    return _sorted(units, draws, np.prod(_shares(units)[draws], axis=1))


def every_composition(units: Units) -> Enumeration:
    """All C(2n − 1, n) unordered resamples, each as probable as its orderings together: for n ≤ 9."""
    n, share = units.n, _shares(units)
    draws = np.array(list(combinations_with_replacement(range(n), n)))
    orderings = [factorial(n) // prod(factorial(k) for k in np.bincount(d).tolist()) for d in draws]
    return _sorted(units, draws, np.array(orderings) * np.prod(share[draws], axis=1))


def _shares(units: Units) -> Floats:
    return np.full(units.n, 1 / units.n) if units.probabilities is None else units.probabilities


def _sorted(units: Units, draws: NDArray[np.int64], probabilities: Floats) -> Enumeration:
    outcomes = units.numerators[draws].sum(axis=1) / units.denominators[draws].sum(axis=1)
    order = np.argsort(outcomes)
    return Enumeration(outcomes[order], probabilities[order])


@dataclass(frozen=True)
class Replicates:
    """A million sorted random replicates, and the leave-one-out values of what they replicate."""

    values: Floats  # (B,)
    estimate: float
    pull: Floats  # (m,) mean(R₋ᵢ) − R₋ᵢ
    share: Floats  # (m,) how often each is drawn
    draws: int

    @cached_property
    def error(self) -> float:
        return float(self.values.std())

    def levels(self, level: float, *, plain: bool) -> list[float]:
        """Efron's (1987) levels; unless plain with Student's t, √(n/(n − 1)) and z0 and a shrunk by the trust."""
        second, third, fourth = (float((self.share * self.pull**k).sum()) for k in (2, 3, 4))
        bias = float(scipy_stats.norm.ppf(self.share_below(self.estimate)))
        acceleration = third / second**1.5 / (6 * sqrt(self.draws))
        if plain:
            z, trust = float(scipy_stats.norm.ppf(0.5 + level / 2)), 1.0
        else:
            trust = max(0.0, 1 - float((self.share**2 * self.pull**6).sum()) / third**2)
            df = min(self.draws - 1, 2 * self.draws / (fourth / second**2 - 1))
            z = float(scipy_stats.t.ppf(0.5 + level / 2, max(df, 1))) * sqrt(self.draws / (self.draws - 1))
        bias, acceleration = trust * bias, trust * acceleration
        shifted = [bias + side for side in (-z, z)]
        return [float(scipy_stats.norm.cdf(bias + s / (1 - acceleration * s))) for s in shifted]

    def share_below(self, x: float) -> float:
        """Ties, up to rounding, count half."""
        low, high = self.bounds(x)
        return (low + high) / 2

    def bounds(self, x: float) -> tuple[float, float]:
        """P(X < x) and P(X ≤ x)."""
        reach = 1e-9 * self.error
        at = np.searchsorted(self.values, [x - reach, x + reach])
        return float(at[0]) / len(self.values), float(at[1]) / len(self.values)

    def quantile(self, p: float) -> float:
        return float(np.quantile(self.values, p))

    def misses(self, limit: float, level: float) -> float:
        """How far a limit lies from its level, in Monte-Carlo standard errors of the level; 0 on the right atom."""
        low, high = self.bounds(limit)
        noise = sqrt(level * (1 - level) / len(self.values)) + 1 / len(self.values)
        return max(0.0, low - level, level - high) / noise


def replicated(units: Units, rng: np.random.Generator) -> Replicates:
    """Random resamples of n units drawn uniformly, the ratio recomputed."""
    n, num, den = units.n, units.numerators, units.denominators
    if np.ptp(den) == 0:
        values = random_sums(num[None], n, rng)[0] / (n * den[0])
    else:
        sums = random_sums(np.array([num, den]), n, rng)
        values = sums[0] / sums[1]
    left_out = np.array([np.delete(num, i).sum() / np.delete(den, i).sum() for i in range(n)])
    return Replicates(np.sort(values), num.sum() / den.sum(), left_out.mean() - left_out, np.full(n, 1 / n), n)


def replicated_tokens(found: Floats, tokens: Floats, rng: np.random.Generator) -> Replicates:
    """The tokens scheme: as many draws as there are units, each of one token of all, with its unit's value."""
    pool = np.repeat(found, tokens.astype(np.int64))  # one entry per token
    values = random_sums(pool[None], len(found), rng)[0] / len(found)
    left_out = (pool.sum() - found) / (len(pool) - 1)  # without one token of each unit
    return Replicates(np.sort(values), pool.mean(), pool.mean() - left_out, tokens / tokens.sum(), len(found))


def random_sums(columns: Floats, draws: int, rng: np.random.Generator, count: int = A_MILLION) -> Floats:
    """(c, count) Column sums over uniform draws."""
    different, times = np.unique(columns, axis=1, return_counts=True)
    if len(times) <= 3:  # how often each value is drawn says all
        return np.asarray(different @ rng.multinomial(draws, times / times.sum(), size=count).T)
    m = columns.shape[1]
    pairs = m <= 200  # two draws at once are one draw from the table of all pairs
    tables = [np.add.outer(c, c).ravel() if pairs else c for c in columns]
    per_row, odd = divmod(draws, 2) if pairs else (draws, 0)
    out = np.empty((len(columns), count))
    for rows in _parts(count, max(1, 200_000 // per_row)):
        index = rng.integers(0, len(tables[0]), size=(rows.stop - rows.start, per_row))
        last = rng.integers(0, m, size=len(index))
        for k, table in enumerate(tables):
            out[k, rows] = np.take(table, index, mode="clip").sum(axis=1)
            if odd:
                out[k, rows] += columns[k][last]
    return out


def _parts(count: int, size: int) -> Iterator[slice]:
    return (slice(low, min(low + size, count)) for low in range(0, count, size))
