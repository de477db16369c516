"""Intervals that hold at all times at once, however often one looks: confidence sequences.

The asymptotic sequence of Waudby-Smith, Arbour, Sinha, Kennedy and Ramdas (2024, *Time-uniform central limit theory and
asymptotic confidence sequences*): Robbins' mixture of normal distributions, with the estimated standard error. After v
units, |estimate − truth| ≤ se·√((1 + r/v)·log((v + r)/(r·α²))) for all v at once; r chooses where it is narrowest. Few
units use Student's t and Hall's transformation at the same tail probability, and no interval is given before
`LEAST_UNITS` of them.
"""

from dataclasses import dataclass
from math import inf, log, sqrt

from assay.errors import UsageError
from assay.stats.numerics import normal_cdf
from assay.stats.sequential.looks import LEAST_UNITS, Seen

NARROWEST = 500  # units at which the interval is narrowest, where nothing else is said
_MOST = 1e12  # units: more are never


@dataclass(frozen=True, slots=True)
class ConfidenceSequence:
    """The level of a confidence sequence, and where it is narrowest."""

    level: float = 0.95
    narrowest: float = NARROWEST
    population: float | None = None  # units in all, of which those that are there are a random part

    def __post_init__(self) -> None:
        if not 0.5 <= self.level < 1:
            raise UsageError(f"level must be at least 0.5 and below 1, but got {self.level}.")
        if not self.narrowest > 0:
            raise UsageError(f"narrowest must be positive, but got {self.narrowest}.")

    @property
    def mixture(self) -> float:
        """Robbins' r, which makes the interval narrowest there."""
        from scipy.special import lambertw  # late: 0.3 s

        alpha = 1 - self.level
        return self.narrowest / (-float(lambertw(-(alpha * alpha) / 2.718281828459045, -1).real) - 1)

    def information(self, units: float) -> float:
        """What so many units tell, in units of an endless population."""
        if self.population is None:
            return units
        return inf if units >= self.population else 1 / (1 / units - 1 / self.population)

    def reach(self, units: float) -> float:
        """How many standard errors the interval reaches to either side.

        >>> round(ConfidenceSequence().reach(500), 3)
        3.035
        """
        v, r = self.information(units), self.mixture
        if v == inf:
            return 0.0
        return sqrt((1 + r / v) * log((v + r) / (r * (1 - self.level) ** 2)))

    def limits(self, seen: Seen) -> tuple[float, float] | None:
        """The interval now; ``None`` before there are enough units, or where all of them are the same."""
        if self.population is not None and seen.effective >= self.population * (1 - 1e-12):
            return seen.estimate, seen.estimate  # all are there
        if seen.effective < LEAST_UNITS or seen.moments is None:
            return None
        low, high = seen.limits(normal_cdf(-self.reach(seen.effective)))
        part = self._part(seen.effective)
        return seen.estimate - part * (seen.estimate - low), seen.estimate + part * (high - seen.estimate)

    def _part(self, units: float) -> float:
        """The finite-population correction of a standard error."""
        return 1.0 if self.population is None else sqrt(1 - units / self.population)

    def units_until(self, seen: Seen, distance: float) -> float | None:
        """About how many units in all until the interval reaches no farther than this; ``None``: never.

        Every unit is taken to vary as those that are there.
        """
        if seen.moments is None or not distance > 0:
            return None
        spread = seen.moments.error * sqrt(seen.effective)

        def enough(units: float) -> bool:
            return self.reach(units) * self._part(units) * spread / sqrt(units) <= distance

        low, high = max(seen.effective, float(LEAST_UNITS)), self.population or _MOST
        if low >= high or enough(low):
            return low
        if not enough(high * (1 - 1e-12)):
            return self.population
        for _ in range(200):
            middle = sqrt(low * high)
            low, high = (low, middle) if enough(middle) else (middle, high)
        return high
