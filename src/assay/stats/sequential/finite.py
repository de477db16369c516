"""Units that are a random part of a fixed set of N: the error shrinks as the part grows, and is 0 for all of them."""

from collections.abc import Callable
from math import sqrt

import numpy as np

from assay.errors import UsageError
from assay.stats.units import Floats


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
