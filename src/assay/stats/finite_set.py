"""Units that are a random part of a fixed set of N: the error shrinks as the part grows, and is 0 for all of them.

- A share of right answers is hypergeometric, and its interval exact.
- Of pairs of 0/1 scores, given how many of the drawn ones differ, those that B alone has right are hypergeometric where
  A and B are right equally often in the whole set: McNemar's test without replacement (`without_replacement_p`).
- Other values: the standard error times √(1 − n/N) (Cochran 1977, *Sampling techniques*, 2.6), also where skewness is
  corrected for: the skewness of a mean over its error is that of the spread that goes with it, which stays. With that
  of the mean alone, (1 − 2n/N)/√(1 − n/N) of what it is, exponential values were covered in 92 instead of 95 %.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from math import sqrt

import numpy as np

from assay.errors import UsageError
from assay.stats.bootstrap import IntervalResult
from assay.stats.bootstrap.t_hall import limits, moments, own_p
from assay.stats.numerics import SMALLEST_P, two_sided
from assay.stats.records import Interval, Test
from assay.stats.student import t_reach
from assay.stats.units import Floats, Units, standard_error

CENSUS = "census"  # the name of the interval and the test of all units


def check_population(population: int, n: float, unit: str = "unit") -> None:
    """Refuse a population that is smaller than what was drawn from it."""
    if population < n:
        raise UsageError(f"population must be at least the {n:g} {unit}s that are there, but got {population}.")


def correction(n: float, population: float) -> float:
    """What a standard error is multiplied by: √(1 − n/N), with the variance of n − 1 degrees of freedom.

    Cochran (1977, *Sampling techniques*, 2.6).

    >>> round(correction(75, 100), 6)
    0.5
    """
    return sqrt(max(1 - n / population, 0.0))


@dataclass(frozen=True, slots=True)
class PartOfSet:
    """n units that were drawn from N without replacement."""

    n: int
    population: int

    @property
    def whole(self) -> bool:
        return self.n >= self.population

    @property
    def factor(self) -> float:
        """What a standard error is multiplied by."""
        return correction(self.n, self.population)

    @property
    def variance(self) -> float:
        """What the variance of a share is multiplied by, where that of a single answer is p(1 − p): (N − n)/(N − 1)."""
        return (self.population - self.n) / max(self.population - 1, 1)

    def interval(self, units: Units, level: float, method: str = "t-hall") -> IntervalResult:
        """The interval of the mean over the whole set, with its own p; *t-hall* or *t*."""
        value = units.estimate
        if self.whole:
            p = 1.0 if value == 0 else SMALLEST_P
            return IntervalResult(Interval(value, value, level, CENSUS), "closed form", None, own_p=p)
        found, error = moments(units), standard_error(units)
        if method == "t" and error is not None:
            reach, p = t_reach(level, units.n - 1.0), float(two_sided(value / (error * self.factor), units.n - 1.0)[0])
            ends = value - reach * error * self.factor, value + reach * error * self.factor
            return IntervalResult(Interval(*ends, level, "t"), "closed form", None, own_p=max(p, SMALLEST_P))
        shrunk = replace(found, error=found.error * self.factor)
        made = Interval(*limits(shrunk, level), level, "t-hall")
        return IntervalResult(made, "closed form", None, own_p=max(own_p(shrunk), SMALLEST_P))

    def test(self, units: Units, method: str = "t-hall") -> Test:
        """That the mean over the whole set is 0; by the same closed forms."""
        if self.whole:
            return self.census(units.estimate, units.n)
        error, p = standard_error(units), self.interval(units, 0.95, method).own_p
        return Test(method, None if not error else units.estimate / (error * self.factor), p, units.n)

    def census(self, value: float, n: int) -> Test:
        """Nothing is left to chance."""
        return Test(CENSUS, None, 1.0 if value == 0 else SMALLEST_P, n, f"all {self.population:,} are there")

    def closer(self, found: Interval, value: float) -> Interval:
        """Limits of another estimate, as much closer to it as the standard error is smaller."""
        if self.whole:
            return Interval(value, value, found.level, CENSUS)
        low, high = (value + self.factor * (limit - value) for limit in (found.low, found.high))
        return replace(found, low=low, high=high)


def without_replacement_p(b: int, c: int, part: PartOfSet, *, exact: bool = False) -> float:
    """McNemar's mid-p (or exact p) of n pairs that were drawn from N.

    Were M of the N pairs to differ, half of them each way, b of the b + c drawn ones would be hypergeometric. M is not
    known. The exact p is the largest over all M, which is where as many differ as can: all that were not drawn. The
    mid-p takes M as it is estimated, (b + c)·N/n.

    >>> part = PartOfSet(20, 60)
    >>> round(without_replacement_p(9, 1, part, exact=True), 4), round(without_replacement_p(9, 1, part), 4)
    (0.0106, 0.0027)
    """
    if b == c:
        return 1.0
    drawn, largest, least = b + c, max(b, c), min(b, c)
    most = drawn + part.population - part.n
    differing = most if exact else min(max(round(drawn * part.population / part.n), 2 * largest), most)
    half = differing // 2
    if largest > half:
        return SMALLEST_P  # no set with as many of each has so many of one
    counts = np.arange(max(0, drawn - half), least + 1, dtype=np.float64)
    chances = np.exp(_log_mass(counts, drawn, 2 * half, half))
    p = 2 * float(chances.sum()) - (0.0 if exact else float(chances[-1]))
    return min(max(p, SMALLEST_P), 1.0)


def hypergeometric_limits(successes: int, n: int, population: int, level: float = 0.95) -> tuple[float, float]:
    """The exact interval of a share of N units, of which n were drawn without replacement.

    All shares that are possible and whose tail probabilities are both above (1 − level)/2.

    >>> hypergeometric_limits(9, 10, 20)
    (0.65, 0.95)
    """
    if not 0 <= successes <= n <= population:
        raise UsageError(f"0 ≤ successes ≤ n ≤ population must hold, but got {successes}, {n} and {population}.")
    tail = (1 - level) / 2 * (1 - 1e-9)  # what is as likely as that stays in, whatever rounding says
    low = _least(lambda total: _at_least(successes, n, population, total) > tail, successes, population - n + successes)
    # the largest total is as large as the least number of failures allows
    failures = n - successes
    least = _least(lambda total: _at_least(failures, n, population, total) > tail, failures, population - successes)
    return low / population, (population - least) / population


def _least(holds: Callable[[int], bool], low: int, high: int) -> int:
    """The least whole number from which on an increasing statement holds."""
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if holds(middle) else (middle + 1, high)
    return low


def _at_least(successes: int, n: int, population: int, total: int) -> float:
    """P(X ≥ successes) where ``total`` of the N units are successes."""
    if successes <= max(0, n + total - population):
        return 1.0
    counts = np.arange(successes, min(n, total) + 1, dtype=np.float64)
    return float(np.exp(_log_mass(counts, n, population, total)).sum()) if len(counts) else 0.0


def _log_mass(counts: Floats, n: int, population: int, total: int) -> Floats:
    from scipy.special import gammaln  # late: 0.3 s

    def ways(of: float, chosen: Floats | float) -> Floats:
        return np.asarray(gammaln(of + 1) - gammaln(np.asarray(chosen) + 1) - gammaln(of - np.asarray(chosen) + 1))

    return np.asarray(ways(total, counts) + ways(population - total, n - counts) - ways(population, n))
