"""How far a test statistic must be at each look to stop, and what that costs.

The bounds spend the error by `spending`. They are for Z, the estimate over its standard error: at look k a one-sided
p-value of at most 1 − Φ(c_k) stops (`Bounds.nominal`), from whichever distribution it comes. Jennison and Turnbull
(2000, *Group sequential methods*, 11.5) recommend that for Student's t.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import inf, sqrt

import numpy as np

from assay.errors import UsageError
from assay.stats.numerics import increasing_root, normal_cdf, normal_quantile
from assay.stats.sequential.paths import Exits, Reached, exits, first_look
from assay.stats.sequential.spending import Spending, increments
from assay.stats.units import Floats

_FARTHEST = 37.0  # a bound beyond this is none: its probability is below 1e-299
_LEAST = 1e-299
MOST_LOOKS = 100


@dataclass(frozen=True, eq=False)
class Bounds:
    """The upper bounds of K looks; the lower ones are their negatives where there are any."""

    fractions: Floats  # (K,) of the planned information
    upper: Floats  # (K,), infinite where nothing may be spent
    alpha: float  # one-sided
    spending: Spending
    two_sided: bool = False

    @property
    def looks(self) -> int:
        return len(self.fractions)

    @property
    def lower(self) -> Floats:
        return -self.upper if self.two_sided else np.full(self.looks, -inf)

    @cached_property
    def nominal(self) -> Floats:
        """(K,) The one-sided p-values that stop."""
        return np.array([normal_cdf(-c) for c in self.upper])

    def exits(self, drift: float) -> Exits:
        """Where Z at the end has this mean."""
        return exits(self.fractions, self.lower, self.upper, drift)

    def power(self, drift: float) -> float:
        return float(self.exits(drift).above.sum())


def check_fractions(fractions: Sequence[float]) -> Floats:
    """Refuse what is no increasing series of fractions that ends at 1."""
    found = np.asarray(fractions, dtype=np.float64)
    rising = found.ndim == 1 and 0 < len(found) <= MOST_LOOKS and bool((np.diff(found, prepend=0.0) > 0).all())
    if not rising or abs(found[-1] - 1) > 1e-12:
        raise UsageError(f"fractions must rise from above 0 to 1, at most {MOST_LOOKS} of them, but got {fractions}.")
    return found


def bounds(
    fractions: Sequence[float], alpha: float = 0.025, spending: Spending = "obrien-fleming", *, two_sided: bool = False
) -> Bounds:
    """The bounds that spend a one-sided error of ``alpha``; two-sided ones spend it on either side.

    >>> bounds([0.2, 0.4, 0.6, 0.8, 1.0]).upper.round(4).tolist()
    [4.8769, 3.357, 2.6803, 2.2898, 2.031]
    """
    found = check_fractions(fractions)
    if not 0 < alpha < 0.5:
        raise UsageError(f"alpha must be above 0 and below 0.5, but got {alpha}.")
    reached, upper = first_look(float(found[0])), []
    for k, share in enumerate(increments(found.tolist(), alpha, spending)):
        upper.append(_upper(reached, float(share)))
        if k + 1 < len(found):
            low = -upper[-1] if two_sided else -inf
            reached = reached.go_on(low, upper[-1], float(found[k + 1]), far=_FARTHEST)
    return Bounds(found, np.array(upper), alpha, spending, two_sided)


def _upper(reached: Reached, share: float) -> float:
    """The bound that is reached with this probability."""
    if share < _LEAST:
        return inf
    goal = np.log(share)

    def excess(z: float) -> float:
        tail = reached.above(z)
        return float(goal - np.log(tail)) if tail > 0 else inf

    return _bisected(excess, -_FARTHEST, _FARTHEST + 1)


def _bisected(f: Callable[[float], float], low: float, high: float) -> float:
    """The root of an increasing function that may be infinite."""
    for _ in range(80):
        middle = 0.5 * (low + high)
        if f(middle) > 0:
            high = middle
        else:
            low = middle
    return 0.5 * (low + high)


# ------------------------------------------------------------------------------------------------------------- planning


def drift_for(found: Bounds, power: float) -> float:
    """The mean of Z at the end with which the upper bound is reached with this probability."""
    if not found.alpha < power < 1:
        raise UsageError(f"power must be above {found.alpha:g} and below 1, but got {power}.")
    return increasing_root(lambda drift: found.power(drift) - power, fixed_drift(found.alpha, power), 0.2, 1e-9)


def fixed_drift(alpha: float, power: float) -> float:
    """The same of a single look."""
    return normal_quantile(1 - alpha) + normal_quantile(power)


def inflation(found: Bounds, power: float) -> float:
    """How much more must be planned than for a single look, for the same power.

    >>> round(inflation(bounds([0.2, 0.4, 0.6, 0.8, 1.0]), 0.8), 3)
    1.025
    """
    return (drift_for(found, power) / fixed_drift(found.alpha, power)) ** 2


@dataclass(frozen=True, slots=True, eq=False)
class Futility:
    """Lower bounds at which the goal is out of reach; they may be ignored without any harm to the error rate."""

    lower: Floats  # (K,); the last one is the upper bound
    drift: float  # the mean of Z at the end of what would have been found with the power 1 − beta
    beta: float


def futility(found: Bounds, beta: float) -> Futility:
    """Bounds that spend ``beta``, the probability of missing what is there, by O'Brien and Fleming's shape.

    Non-binding: the upper bounds are those of `bounds`, which takes no credit for stopping here. What is there is
    chosen such that the bounds meet at the end.

    >>> futility(bounds([0.5, 1.0]), 0.1).lower.round(2).tolist()
    [0.27, 1.97]
    """
    if not 0 < beta < 1 - found.alpha:
        raise UsageError(f"beta must be above 0 and below {1 - found.alpha:g}, but got {beta}.")
    shares = increments(found.fractions.tolist(), beta, "obrien-fleming")

    def gap(drift: float) -> float:
        return float(found.upper[-1] - _lower(found, shares, drift)[-1])

    start = fixed_drift(found.alpha, 1 - beta)
    drift = increasing_root(lambda x: -gap(x), start * 1.05, 0.2, 1e-9)
    lower = _lower(found, shares, drift)
    lower[-1] = found.upper[-1]
    return Futility(lower, drift, beta)


def _lower(found: Bounds, shares: Floats, drift: float) -> Floats:
    reached, lower = first_look(float(found.fractions[0]), drift), []
    for k, share in enumerate(shares):
        upper, far = float(found.upper[k]), drift * sqrt(float(found.fractions[k]))

        def excess(z: float, now: Reached = reached, goal: float = float(share)) -> float:
            return now.below(z) - goal

        found_at = -inf if share < 1e-15 else _bisected(excess, far - 9, far + 9)
        lower.append(found_at if k + 1 == len(shares) else min(found_at, upper))
        if k + 1 < len(shares):
            reached = reached.go_on(lower[-1], upper, float(found.fractions[k + 1]))
    return np.array(lower)
