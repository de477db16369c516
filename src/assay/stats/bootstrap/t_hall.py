"""An interval of a ratio of sums for few units, skewed values and unequal denominators: the hull of two closed forms.

- Student's t with a standard error that is not too small, the larger of the linearised one and HC2, and with degrees of
  freedom that are not too many: the fewer of Satterthwaite's, from the kurtosis of the influence, and Bell and
  McCaffrey's (2002, *Bias reduction in standard errors for linear regression with multi-stage samples*), from the
  denominators.
- Hall's transformation (1992, *On the removal of skewness by transformation*): with T = (R̂ − R)/se and g the skewness
  of the estimate, h(T) = T + gT²/3 + g²T³/27 + g/6 is nearly Student's t, and is inverted by a cube root.

Each is short where the other is long, and the outer limits of both cover. No random numbers, no seed.
"""

from dataclasses import dataclass
from math import cbrt, copysign, ldexp, sqrt

import numpy as np

from assay.stats.numerics import two_sided
from assay.stats.student import t_reach
from assay.stats.units import Floats, Units

_LEAST = float(np.finfo(np.float64).eps)
_TINY, _DOUBLINGS = 1e-290, 600  # differences this small lose digits; so many doublings bring them back
_SMALLEST = 5e-324
_STRAIGHT = 1e-9  # a skewness this small bends nothing, and cannot be divided by


@dataclass(frozen=True, slots=True)
class Moments:
    """What both closed forms need of a ratio of sums."""

    estimate: float
    error: float  # the larger of the linearised standard error and HC2
    skewness: float  # of the estimate: that of the influence over √n
    df: float  # the fewer of Satterthwaite's and Bell and McCaffrey's
    n: float  # units; of a sum of several estimates, one more than the degrees of freedom that it has


def moments(units: Units) -> Moments:
    """The moments of at least two units that are not all equal.

    >>> import numpy as np
    >>> found = moments(Units(np.array([1.0, 2.0, 3.0, 6.0]), np.ones(4)))
    >>> found.estimate, round(found.error, 4)  # √(Σ(x − 3)²/3)/√4
    (3.0, 1.0801)
    """
    drawn = np.ones(1) if units.probabilities is None else units.probabilities
    top, share, n = units.numerators * drawn, units.denominators * drawn, units.n
    total = float(np.add.reduce(share))
    estimate = float(np.add.reduce(top)) / total
    pull = (top - estimate * share) / total  # sums to 0
    scale = float(np.abs(pull).max())
    if scale < _TINY:
        return _enlarged(units)
    pull, weight = pull / scale, share / total
    square = pull * pull
    second, third, fourth = (float(np.add.reduce(power)) for power in (square, square * pull, square * square))
    corrected = float(np.add.reduce(square / _others(weight)))
    error = scale * sqrt(max(second * n / (n - 1), corrected))
    kurtosis = n * fourth / second**2  # at most n
    df = min(n - 1.0, 2 * n / max(kurtosis - 1, 1.0), bell_mccaffrey(weight))  # of a kurtosis up to 2: n − 1 are fewer
    return Moments(estimate, error, third / second**1.5, df, n)


def _enlarged(units: Units) -> Moments:
    """The moments of numbers so small that their differences would be lost in rounding."""
    found = moments(Units(np.ldexp(units.numerators, _DOUBLINGS), units.denominators, units.probabilities))
    error = max(ldexp(found.error, -_DOUBLINGS), _SMALLEST)
    return Moments(ldexp(found.estimate, -_DOUBLINGS), error, found.skewness, found.df, found.n)


def bell_mccaffrey(weight: Floats) -> float:
    """Degrees of freedom of HC2 for a weighted mean whose weights sum to 1; n − 1 where they are equal."""
    square = float(np.add.reduce(weight * weight))
    a = weight * weight / _others(weight)
    zero, one, two = (float(np.add.reduce(a * weight**k)) for k in range(3))
    mean = float(np.add.reduce(a * (1 - 2 * weight + square)))
    own = float(np.add.reduce(a * a * (1 - 4 * weight + 2 * square)))
    spread = own + 2 * zero * two + square * square * zero * zero + 2 * one * one - 4 * square * zero * one
    return max(1.0, mean * mean / spread) if spread > 0 else 1.0


def _others(weight: Floats) -> Floats:
    """1 − weight, above 0 even where the others vanish in rounding beside one unit."""
    return np.maximum(1 - weight, _LEAST)


def limits(found: Moments, level: float) -> tuple[float, float]:
    """The outer limits of both closed forms."""
    reach, bent = t_reach(level, round(found.df, 6)), t_reach(level, found.n - 1.0)
    above, below = max(reach, _unbent(bent, found.skewness)), min(-reach, _unbent(-bent, found.skewness))
    return found.estimate - found.error * above, found.estimate - found.error * below


def _unbent(z: float, g: float) -> float:
    """The T with h(T) = z."""
    if abs(g) < _STRAIGHT:
        return z
    return 3 / g * (cbrt(1 + g * (z - g / 6)) - 1)


def own_p(found: Moments) -> float:
    """The smallest α at which the limits leave out 0: the larger of the p-values of both."""
    t, g = found.estimate / found.error, found.skewness
    bent = t + g * t * t / 3 + g * g * t**3 / 27 + g / 6
    if copysign(1.0, bent) != copysign(1.0, t):
        return 1.0
    return max(float(two_sided(t, found.df)[0]), float(two_sided(bent, found.n - 1.0)[0]))
