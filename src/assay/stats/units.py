"""What is resampled: units with a numerator and a denominator, and what follows from them in closed form.

The statistic is the ratio of sums R = Σ num / Σ den of n units drawn with replacement. Two schemes (C4):

- *windows*: units are drawn uniformly and the ratio is recomputed; right whatever the denominators are.
- *tokens*: units are drawn with probability ∝ den and the plain mean of num/den is taken, a published recipe; its
  variance is right only when the denominators are nearly equal.

Both are one `Units`: the second has the values num/den, denominators 1 and unequal drawing probabilities.
"""

from dataclasses import dataclass
from functools import cached_property
from math import sqrt

import numpy as np
from numpy.typing import NDArray

#: The arrays that functions take and give, everywhere in the package.
Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Truths = NDArray[np.bool_]
Texts = NDArray[np.object_]  # of str


@dataclass(frozen=True)
class Units:
    """n units to draw from: numerators, denominators, and drawing probabilities unless they are uniform."""

    numerators: Floats  # (n,)
    denominators: Floats  # (n,), positive
    probabilities: Floats | None = None  # (n,), summing to 1

    @property
    def n(self) -> int:
        return len(self.numerators)

    @cached_property
    def equal_denominators(self) -> bool:
        return bool((self.denominators == self.denominators[0]).all())

    @cached_property
    def estimate(self) -> float:
        """Σ num / Σ den, each expected under the drawing probabilities."""
        numerator = weighted_mean(self.numerators, self.probabilities)
        return numerator / weighted_mean(self.denominators, self.probabilities)

    @property
    def degenerate(self) -> bool:
        """Every unit has the same num/den (or there is only one): no spread to resample."""
        least, most = self.extremes
        return most - least <= 1e-12 * max(abs(least), abs(most))

    @cached_property
    def extremes(self) -> tuple[float, float]:
        """The least and the largest num/den: no resample leaves this range."""
        if self.equal_denominators:
            den = float(self.denominators[0])
            return float(self.numerators.min()) / den, float(self.numerators.max()) / den
        values = self.numerators / self.denominators
        return float(values.min()), float(values.max())


def weighted_mean(values: Floats, probabilities: Floats | None) -> float:
    """Σ p·value; no BLAS product, whose order of summation depends on the machine and its threads."""
    if probabilities is None:
        return float(np.add.reduce(values)) / len(values)
    return float(np.add.reduce(probabilities * values))


def grouped(values: Floats, codes: Integers) -> Floats:
    """(G,) or (G, k) Sums of rows within groups 0 … G − 1, column by column."""
    columns = [np.bincount(codes, weights=column).astype(np.float64, copy=False) for column in np.atleast_2d(values.T)]
    return columns[0] if values.ndim == 1 else np.column_stack(columns)


def mean_of_draws(units: Units) -> Units:
    """The tokens scheme: units drawn ∝ den, and the plain mean of num/den."""
    share = None if units.equal_denominators else units.denominators / units.denominators.sum()
    return Units(units.numerators / units.denominators, np.ones(units.n), share)


def design_effect(denominators: Floats) -> float:
    """Kish's n Σt²/(Σt)²: 1 when all counts are equal; the factor by which token-weighted draws understate variance."""
    scaled = denominators / denominators.mean()
    return float((scaled * scaled).mean())


def effective_number(weights: Floats) -> float:
    """Kish's (Σw)²/Σw²: as how many units of equal weight these count.

    >>> import numpy as np
    >>> effective_number(np.array([1.0, 1.0, 2.0])), effective_number(np.full(7, 0.1))
    (2.6666666666666665, 7.0)
    """
    equal = bool((weights == weights[0]).all())
    return float(len(weights)) if equal else len(weights) / max(design_effect(weights), 1.0)


def influence(units: Units) -> Floats:
    """(n,) How each unit pulls the estimate: (num − R·den) / mean den. Its drawing-weighted mean is 0."""
    residual = units.numerators - units.estimate * units.denominators
    return residual / weighted_mean(units.denominators, units.probabilities)


def standard_error(units: Units) -> float | None:
    """The linearised standard error of R; ``None`` for a single unit, whose error nobody can know."""
    if units.n < 2:
        return None
    pull = influence(units)
    scale = float(np.abs(pull).max()) or 1.0  # no square below can over- or underflow
    pull = pull / scale
    return scale * sqrt(weighted_mean(pull * pull, units.probabilities) / (units.n - 1))


def weighted_deviation(values: Floats, weights: Floats) -> float | None:
    """Standard deviation (n − 1) of values under weights; ``None`` for a single value."""
    n = len(values)
    if n < 2:
        return None
    share = weights / weights.sum()
    centred = values - float((share * values).sum())
    scale = float(np.abs(centred).max()) or 1.0
    centred = centred / scale
    return scale * sqrt(float((share * centred * centred).sum()) * n / (n - 1))


def deviations(units: Units) -> Floats:
    """(n,) Jackknife deviations mean(R₋ᵢ) − R₋ᵢ for uniform draws; influence values for unequal ones."""
    if units.probabilities is not None:
        return influence(units)
    num, den = units.numerators, units.denominators
    if units.equal_denominators and units.n > 1:
        return np.asarray((num - weighted_mean(num, None)) / ((units.n - 1) * den[0]), dtype=np.float64)
    rest = den.sum() - den
    if not np.all(rest > 0):  # beside one unit the others vanish in rounding
        return influence(units)
    left_out = (num.sum() - num) / rest
    return np.asarray(left_out.mean() - left_out, dtype=np.float64)


@dataclass(frozen=True, slots=True)
class Shape:
    """What the jackknife says of the sampling distribution: skewness, and how far the tails can be trusted."""

    acceleration: float  # Efron's a
    trust: float  # 0..1: the part of the skewness that is not explained by a few units; shrinks z0 and a
    degrees_of_freedom: float  # Satterthwaite's, of the estimated variance


def shape(units: Units) -> Shape | None:
    """Acceleration, trust and degrees of freedom; ``None`` when the jackknife variance is zero (P5)."""
    if units.n < 2:
        return None
    pull = deviations(units)
    scale = float(np.abs(pull).max())
    if not scale > 0:
        return None
    pull = pull / scale  # no power below can over- or underflow
    square, p, n = pull * pull, units.probabilities, units.n
    second, third = weighted_mean(square, p), weighted_mean(square * pull, p)
    fourth = weighted_mean(square * square, p)
    sixth = float((square * square * square * (1 / n**2 if p is None else p * p)).sum())
    return shape_from(third / (sqrt(n) * second**1.5), fourth / (n * second**2), sixth / (n * second**3), n)


def shape_from(third: float, fourth: float, sixth: float, n: int) -> Shape:
    """From the sums Σy³, Σy⁴, Σy⁶ of n deviations scaled to Σy² = 1."""
    trust = max(0.0, 1 - sixth / third**2) if third**2 > 0 else 0.0
    kurtosis = n * fourth
    df = n - 1 if kurtosis <= 1 else min(n - 1, max(1.0, 2 * n / (kurtosis - 1)))
    return Shape(third / 6, trust, df)
