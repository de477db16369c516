"""The distribution of a test statistic over several looks, by recursive integration.

Armitage, McPherson and Rowe (1969, *Repeated significance tests on accumulating data*). With information I₁ < I₂ < …,
Z_k has mean θ√I_k and variance 1, and given Z_{k−1} = y it is normal with mean (y√I_{k−1} + θΔI)/√I_k and variance
ΔI/I_k. The part of the distribution that goes on after a look is kept as masses at Gauss-Legendre nodes, close enough
together for the next step: the error is below 1e-10.
"""

from dataclasses import dataclass
from math import ceil, inf, pi, sqrt

import numpy as np

from assay.stats.numerics import legendre_rule
from assay.stats.units import Floats

_FAR = 9.0  # standard deviations: beyond is less than 1e-18
_DENSE = 1.4  # nodes per standard deviation of the next step, where they are farthest apart
_MOST_NODES = 4000


@dataclass(frozen=True, slots=True, eq=False)
class Reached:
    """Z at a look, of the paths that have come so far: a mixture of normal distributions."""

    means: Floats  # (m,)
    masses: Floats  # (m,)
    deviation: float
    information: float
    drift: float  # θ

    def above(self, z: float) -> float:
        """P(come so far, Z ≥ z)."""
        return self._mass((self.means - z) / self.deviation) if z < inf else 0.0

    def below(self, z: float) -> float:
        """P(come so far, Z ≤ z)."""
        return self._mass((z - self.means) / self.deviation) if z > -inf else 0.0

    def _mass(self, places: Floats) -> float:
        from scipy.special import ndtr  # late: 0.3 s

        return float((self.masses * ndtr(places)).sum())

    def density(self, z: Floats) -> Floats:
        gaps = (z[:, None] - self.means) / self.deviation
        with np.errstate(under="ignore"):
            kernel = np.exp(-0.5 * gaps * gaps)
        return np.asarray((kernel * self.masses).sum(axis=1) / (self.deviation * sqrt(2 * pi)))

    def go_on(self, low: float, high: float, information: float, far: float = _FAR) -> "Reached":
        """Z at the next look, of the paths that are between two bounds at this one."""
        middle = self.drift * sqrt(self.information)
        low, high = max(low, middle - far), min(high, middle + far)
        step = information - self.information
        shrink, deviation = sqrt(self.information / information), sqrt(step / information)
        if not low < high:
            return Reached(np.zeros(1), np.zeros(1), deviation, information, self.drift)
        width = min(deviation / shrink, self.deviation)  # of what is integrated, as a function of Z now
        nodes, weights = legendre_rule(min(ceil(_DENSE * pi / 2 * (high - low) / width) + 24, _MOST_NODES))
        half = 0.5 * (high - low)
        z = low + half * (nodes + 1)
        means = z * shrink + self.drift * step / sqrt(information)
        return Reached(means, half * weights * self.density(z), deviation, information, self.drift)


def first_look(information: float, drift: float = 0.0) -> Reached:
    """Z at the first look."""
    return Reached(np.array([drift * sqrt(information)]), np.ones(1), 1.0, information, drift)


@dataclass(frozen=True, slots=True, eq=False)
class Exits:
    """The probabilities of leaving at each look."""

    above: Floats  # (K,)
    below: Floats  # (K,)

    @property
    def stops(self) -> Floats:
        """(K,) The probability that each look is the last one."""
        leaving = self.above + self.below
        last = 1 - float(leaving[:-1].sum())
        return np.append(leaving[:-1], last)

    def expected(self, sizes: Floats) -> float:
        """The mean of what has been used when the last look is taken."""
        return float((self.stops * sizes).sum())


def exits(information: Floats, low: Floats, high: Floats, drift: float) -> Exits:
    """The probabilities of being at or beyond a bound for the first time at each look, where the mean is θ = drift.

    >>> import numpy as np
    >>> one = exits(np.ones(1), np.array([-np.inf]), np.array([1.959964]), 0.0)
    >>> round(float(one.above[0]), 6)
    0.025
    """
    reached, above, below = first_look(float(information[0]), drift), [], []
    for k in range(len(information)):
        above.append(reached.above(float(high[k])))
        below.append(reached.below(float(low[k])))
        if k + 1 < len(information):
            reached = reached.go_on(float(low[k]), float(high[k]), float(information[k + 1]))
    return Exits(np.array(above), np.array(below))
