"""One look at the units that are there, and where looks fall.

A look compares the estimate with a limit: the one-sided p-values of being above and below it, each the larger of two
(`assay.stats.bootstrap.t_hall`): Student's t with a careful standard error, and Hall's transformation for skewness.
Bounds for Z become bounds for these p-values (`Bounds.nominal`).

*Lengths.* Where the difference goes with the length of units (|t| > 3 of their correlation), a sample that still lacks
the longest units is as unlike the rest as it looks harmless: its standard error is too small by far. `look_at(…,
by_length=True)` then multiplies it by the design effect of the lengths, n / Kish's number. A clear answer is as clear
as before; near the limit far fewer wrong ones stop (benchmarks/results/calibration_sequential.md).

Information is the estimator's up to the unknown variance: Kish's number of the weights of the units that are drawn,
whole clusters where there are any. It is known before anything is scored, so a plan can state it.
"""

from dataclasses import dataclass, replace
from math import cbrt, inf

import numpy as np

from assay.stats.assumptions import long_units
from assay.stats.bootstrap.t_hall import Moments, moments
from assay.stats.numerics import t_tail
from assay.stats.student import t_beyond
from assay.stats.units import Floats, Integers, Units

LEAST_UNITS = 20  # by Kish's count: no look before
_EARLIER = 9 / 8  # the exponent that puts the first of 7 looks at a ninth of the plan, and the others evenly enough
_STRAIGHT = 1e-9


@dataclass(frozen=True, slots=True)
class Seen:
    """An estimate of some units; ``moments`` is ``None`` where all of them have the same value."""

    estimate: float
    moments: Moments | None
    effective: float  # Kish's number
    differing: int  # units whose value is not 0
    length_t: float | None = None  # of the correlation of values and lengths, where it was asked for and lengths vary
    widened: float = 1.0  # what the standard error was multiplied by for it

    @property
    def standard_error(self) -> float | None:
        return 0.0 if self.moments is None else self.moments.error

    def p_above(self, limit: float) -> float:
        """The p-value of "not above the limit": small where the value is shown to be above it."""
        return self._p(limit, 1.0)

    def p_below(self, limit: float) -> float:
        """The p-value of "not below the limit"."""
        return self._p(limit, -1.0)

    def _p(self, limit: float, side: float) -> float:
        found = self.moments
        if found is None:  # all units agree
            return 0.0 if side * (self.estimate - limit) > 0 else 1.0
        t, g = (self.estimate - limit) / found.error, found.skewness
        bent = t + g * t * t / 3 + g * g * t**3 / 27 + g / 6
        return max(_upper_tail(side * t, found.df), _upper_tail(side * bent, found.n - 1.0))

    def limits(self, tail: float) -> tuple[float, float]:
        """The values whose p-values are both above ``tail``: an interval of the level 1 − 2·tail."""
        found = self.moments
        if found is None:
            return self.estimate, self.estimate
        if tail <= 0:
            return -inf, inf
        reach, bent = t_beyond(tail, round(found.df, 6)), t_beyond(tail, found.n - 1.0)
        above = max(reach, _unbent(bent, found.skewness))
        below = min(-reach, _unbent(-bent, found.skewness))
        return found.estimate - found.error * above, found.estimate - found.error * below


def _upper_tail(t: float, df: float) -> float:
    tail = float(t_tail(np.array([abs(t)]), df)[0])
    return tail if t > 0 else 1 - tail


def _unbent(z: float, g: float) -> float:
    """The T that Hall's transformation takes to z."""
    return z if abs(g) < _STRAIGHT else 3 / g * (cbrt(1 + g * (z - g / 6)) - 1)


def look_at(units: Units, *, by_length: bool = False) -> Seen:
    """What some units say so far; ``by_length`` is careful where the value goes with the length.

    >>> import numpy as np
    >>> seen = look_at(Units(np.array([0.1, 0.3, 0.2, 0.2]), np.ones(4)))
    >>> round(seen.estimate, 6), round(seen.p_above(0.0), 4)
    (0.2, 0.0081)
    """
    weights = units.denominators
    effective = float(weights.sum()) ** 2 / float((weights * weights).sum())
    differing = int(np.count_nonzero(units.numerators))
    if units.n < 2 or units.degenerate:
        return Seen(units.estimate, None, effective, differing)
    found = Seen(units.estimate, moments(units), effective, differing)
    return _with_lengths(found, units) if by_length else found


def _with_lengths(found: Seen, units: Units) -> Seen:
    """With the standard error times the design effect of the lengths, where the value goes with them."""
    long, own = long_units(units), found.moments
    if long is None or own is None:
        return found
    widened = units.n / found.effective if long.decide else 1.0
    return replace(found, moments=replace(own, error=own.error * widened), length_t=long.t, widened=widened)


# ---------------------------------------------------------------------------------------------------- where looks fall


@dataclass(frozen=True, slots=True, eq=False)
class LookSchedule:
    """After how many units there is a look, and which part of the planned information is then there."""

    places: Integers  # (K,)
    effective: Floats  # (K,) Kish's number

    @property
    def fractions(self) -> Floats:
        return np.asarray(self.effective / self.effective[-1])


def spaced(looks: int) -> Floats:
    """Where K looks fall, as fractions of the information: (k/K)^(9/8)."""
    return np.asarray((np.arange(1, looks + 1) / looks) ** _EARLIER)


def schedule(weights: Floats, looks: int, least: float = LEAST_UNITS) -> LookSchedule | None:
    """Looks at units of these weights, in this order; fewer where several would fall on one place.

    Look k of K comes when (k/K)^(9/8) of the information is there, and never before ``least`` units by Kish's count;
    ``None`` where not even all units are so many.

    >>> import numpy as np
    >>> schedule(np.ones(180), 7).places.tolist()
    [21, 44, 70, 96, 124, 152, 180]
    """
    kish = np.cumsum(weights) ** 2 / np.cumsum(weights * weights)
    whole, most = float(kish[-1]), np.maximum.accumulate(kish)
    if whole < least * (1 - 1e-12):
        return None
    places: list[int] = []
    for share in spaced(looks)[:-1]:
        place = int(np.searchsorted(most, max(float(share) * whole, least) * (1 - 1e-12)))  # the first with so much
        before = kish[places[-1] - 1] if places else 0.0
        if place < len(weights) and before < kish[place] < whole:  # one long unit may take information away again
            places.append(place + 1)
    found = np.array([*places, len(weights)], dtype=np.int64)
    return LookSchedule(found, kish[found - 1])


def information(effective: Floats, population: float | None = None) -> Floats:
    """The information of so many units; more of it where they are a part of a fixed set of N: 1/(1/n − 1/N).

    >>> import numpy as np
    >>> information(np.array([50.0]), 100.0).tolist()
    [100.0]
    """
    if population is None:
        return effective
    with np.errstate(divide="ignore"):
        return np.asarray(1 / np.maximum(1 / effective - 1 / population, 0.0))
