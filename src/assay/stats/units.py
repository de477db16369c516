"""What is resampled: units with a numerator and a denominator, and their statistics in closed form.

The statistic is the ratio of sums R = Σ num / Σ den of n units drawn with replacement. Two schemes (C4):

- *windows*: units are drawn uniformly and the ratio is recomputed; right whatever the denominators are.
- *tokens*: units are drawn with probability ∝ den and the plain mean of num/den is taken, a published recipe; its
  variance is right only when the denominators are nearly equal.

Both are one `Units`: the second has the values num/den, denominators 1 and unequal drawing probabilities.

`Grid` holds n units under k systems, some of them unanswered: what all pairs of systems are tested on. Its sums are by
*group*: the clusters, or the units themselves where there are none. A group is what has a sign in a sign-flip test and
what is drawn in a bootstrap.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from math import sqrt

import numpy as np
from numpy.typing import NDArray

from assay.stats import in_blocks
from assay.stats.in_blocks import MANY
from assay.stats.rounding import NOISE, without_residue

#: The arrays that functions take and give, everywhere in the package.
Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Truths = NDArray[np.bool_]
Texts = NDArray[np.object_]  # of str

_FIRST = 2_000  # units that are looked at first, where they nearly always tell


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
        den = self.denominators
        return bool(den[0] == den[-1] and (den == den[0]).all())  # the ends nearly always tell

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
    def error(self) -> float | None:
        """The linearised standard error of the estimate; ``None`` for a single unit, whose error nobody can know."""
        if self.n < 2:
            return None
        if self.n >= MANY and self.probabilities is None:
            return _error_in_blocks(self)
        pull = influence(self)
        scale = float(np.abs(pull).max()) or 1.0  # no square below can over- or underflow
        pull = pull / scale
        return scale * sqrt(weighted_mean(pull * pull, self.probabilities) / (self.n - 1))

    @cached_property
    def extremes(self) -> tuple[float, float]:
        """The least and the largest num/den: no resample leaves this range."""
        if self.equal_denominators:
            den = float(self.denominators[0])
            least, most = _ends(self.numerators)
            return least / den, most / den
        return _ends(self.numerators / self.denominators)


def _ends(values: Floats) -> tuple[float, float]:
    """The least and the largest; finding their places takes a fifth of the time."""
    return float(values[values.argmin()]), float(values[values.argmax()])


def weighted_mean(values: Floats, probabilities: Floats | None) -> float:
    """Σ p·value; no BLAS product, whose order of summation depends on the machine and its threads."""
    if probabilities is None:
        return float(np.add.reduce(values)) / len(values)
    return float(np.add.reduce(probabilities * values))


def grouped(values: Floats, codes: Integers) -> Floats:
    """(G,) or (G, k) Sums of rows within groups 0 … G − 1, column by column."""
    columns = [np.bincount(codes, weights=column).astype(np.float64, copy=False) for column in np.atleast_2d(values.T)]
    return columns[0] if values.ndim == 1 else np.column_stack(columns)


def joined(numerators: Floats, denominators: Floats) -> tuple[Floats, Floats]:
    """Join every unit without a denominator to the one before it (at the start: to the next), so that sums stay whole.

    A window that holds only a part of a character has losses and no byte of its own: it is drawn with another.
    """
    if bool((denominators > 0).all()) or not bool((denominators > 0).any()):
        return numerators, denominators
    codes = np.maximum(np.cumsum(denominators > 0) - 1, 0)
    return grouped(numerators, codes), grouped(denominators, codes)


def mean_of_draws(units: Units) -> Units:
    """The tokens scheme: units drawn ∝ den, and the plain mean of num/den."""
    if units.equal_denominators and units.denominators[0] == 1 and units.probabilities is None:
        return units
    share = None if units.equal_denominators else units.denominators / units.denominators.sum()
    return Units(units.numerators / units.denominators, np.ones(units.n), share)


def design_effect(denominators: Floats) -> float:
    """Kish's n Σt²/(Σt)²: 1 when all counts are equal; the factor by which token-weighted draws understate variance."""
    if (denominators == denominators[0]).all():
        return 1.0
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
    return units.error


def _error_in_blocks(units: Units) -> float:
    num, den, estimate = units.numerators, units.denominators, units.estimate

    def residual(part: slice) -> Floats:
        return num[part] - estimate * den[part]

    scale = in_blocks.largest(residual, units.n) or 1.0
    (square,) = in_blocks.power_sums(residual, units.n, scale, [2])
    return scale / weighted_mean(den, None) * sqrt(square / units.n / (units.n - 1))


def weighted_deviation(values: Floats, weights: Floats) -> float | None:
    """Standard deviation (n − 1) of values under weights; ``None`` for a single value."""
    n = len(values)
    if n < 2:
        return None
    if n >= MANY:
        return _deviation_in_blocks(lambda part: values[part], weights)
    share = weights / weights.sum()
    centred = values - float((share * values).sum())
    scale = float(np.abs(centred).max()) or 1.0
    centred = centred / scale
    return scale * sqrt(float((share * centred * centred).sum()) * n / (n - 1))


def deviation_of_difference(a: Floats, b: Floats, weights: Floats) -> float | None:
    """The same of b − a."""
    if len(a) < MANY:
        return weighted_deviation(b - a, weights)
    return _deviation_in_blocks(lambda part: b[part] - a[part], weights)


def _deviation_in_blocks(values: Callable[[slice], Floats], weights: Floats) -> float:
    n, mass = len(weights), float(weights.sum())
    mean = in_blocks.total(lambda part: weights[part] * values(part), n) / mass
    scale = in_blocks.largest(lambda part: values(part) - mean, n) or 1.0

    def square(part: slice) -> Floats:
        centred = (values(part) - mean) / scale
        return centred * centred * weights[part]

    return scale * sqrt(in_blocks.total(square, n) / mass * n / (n - 1))


def deviations(units: Units) -> Floats:
    """(n,) Jackknife deviations mean(R₋ᵢ) − R₋ᵢ for uniform draws; influence values for unequal ones."""
    if units.probabilities is not None:
        return influence(units)
    num, den = units.numerators, units.denominators
    if units.equal_denominators and units.n > 1:
        return np.asarray((num - weighted_mean(num, None)) / ((units.n - 1) * den[0]), dtype=np.float64)
    rest = np.add.reduce(den) - den
    if not float(rest.min()) > 0:  # beside one unit the others vanish in rounding
        return influence(units)
    left_out = np.add.reduce(num) - num
    left_out /= rest
    return np.asarray(np.subtract(weighted_mean(left_out, None), left_out, out=left_out))


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
    if units.n >= MANY and units.probabilities is None:
        return _shape_in_blocks(units)
    pull = deviations(units)
    scale = max(float(pull.max()), -float(pull.min()))
    if not scale > 0:
        return None
    pull /= scale  # no power below can over- or underflow
    square, p, n = pull * pull, units.probabilities, units.n
    pull *= square
    power = square * square
    second, third, fourth = weighted_mean(square, p), weighted_mean(pull, p), weighted_mean(power, p)
    power *= square
    sixth = float(np.add.reduce(power)) / n**2 if p is None else float(np.add.reduce(power * p * p))
    return shape_from(third / (sqrt(n) * second**1.5), fourth / (n * second**2), sixth / (n * second**3), n)


def _shape_in_blocks(units: Units) -> Shape | None:
    """The same, some units at a time; what scales all deviations alike is left out."""
    pull, n = _pull_of_blocks(units), units.n
    scale = in_blocks.largest(pull, n)
    if not scale > 0:
        return None
    second, third, fourth, sixth = in_blocks.power_sums(pull, n, scale, [2, 3, 4, 6])
    return shape_from(third / second**1.5, fourth / second**2, sixth / second**3, n)


def _pull_of_blocks(units: Units) -> Callable[[slice], Floats]:
    """`deviations` of some units, times a number that is the same for all."""
    num, den, estimate = units.numerators, units.denominators, units.estimate
    above, below = float(num.sum()), float(den.sum())
    if units.equal_denominators or not below - float(den.max()) > 0:  # beside one unit the others vanish in rounding
        return lambda part: num[part] - estimate * den[part]

    def left_out(part: slice) -> Floats:
        return (above - num[part]) / (below - den[part])

    centre = in_blocks.total(left_out, units.n) / units.n
    return lambda part: centre - left_out(part)


def shape_from(third: float, fourth: float, sixth: float, n: int) -> Shape:
    """From the sums Σy³, Σy⁴, Σy⁶ of n deviations scaled to Σy² = 1."""
    trust = max(0.0, 1 - sixth / third**2) if third**2 > 0 else 0.0
    kurtosis = n * fourth
    df = n - 1 if kurtosis <= 1 else min(n - 1, max(1.0, 2 * n / (kurtosis - 1)))
    return Shape(third / 6, trust, df)


@dataclass(frozen=True, eq=False)
class Grid:
    """Values of n units under k systems, NaN where a system has no answer.

    >>> import numpy as np
    >>> grid = Grid(np.array([[1.0, 0.0], [1.0, 1.0], [0.0, np.nan]]), np.ones(3))
    >>> grid.whole, grid.pair(0, 1).estimate  # on the two units that both have
    (False, 0.5)
    """

    values: Floats  # (n, k)
    weights: Floats  # (n,), positive
    clusters: Integers | None = None  # (n,) codes 0 … G − 1
    strata: Integers | None = None  # (n,) codes 0 … T − 1 of units that are drawn apart, such as tasks; all occur
    joined: Integers | None = None  # (n,) codes of what is drawn together over all strata, where that is more

    @classmethod
    def of_sums(
        cls,
        sums: Floats,
        weights: Floats,
        clusters: Integers | None = None,
        strata: Integers | None = None,
        joined: Integers | None = None,
    ) -> "Grid":
        """The grid of value × weight (n, k), NaN for no answer; the sums stay as they are, for (xw/w)w is not xw."""
        grid = cls(sums / weights[:, None], weights, clusters, strata, joined)
        grid.__dict__["products"] = np.where(grid.present, sums, 0.0)  # as a cached property keeps them
        return grid

    @property
    def n(self) -> int:
        return len(self.values)

    @property
    def k(self) -> int:
        return int(self.values.shape[1])

    @cached_property
    def present(self) -> Truths:
        """(n, k) Where there is an answer."""
        return ~np.isnan(self.values)

    @cached_property
    def whole(self) -> bool:
        """Whether every system has every unit."""
        return bool(self.present.all())

    @property
    def together(self) -> Integers | None:
        """(n,) The group of every unit; ``None``: each is its own."""
        return self.clusters if self.joined is None else self.joined

    @property
    def groups(self) -> int:
        return self.n if self.together is None else int(self.together.max()) + 1

    @cached_property
    def products(self) -> Floats:
        """(n, k) Value × weight, 0 where there is no answer."""
        return np.where(self.present, self.values, 0.0) * self.weights[:, None]

    @cached_property
    def sums(self) -> Floats:
        """(G, k) Value × weight, by group."""
        return self.grouped(self.products)

    @cached_property
    def mass(self) -> Floats:
        """(G,) Weights by group, whoever answered."""
        return self.grouped(self.weights)

    @cached_property
    def stratum_mass(self) -> Floats:
        """(T,) Weights by stratum; all of them where there are no strata."""
        return np.array([self.weights.sum()]) if self.strata is None else grouped(self.weights, self.strata)

    @cached_property
    def equal_weights(self) -> bool:
        return bool((self.weights == self.weights[0]).all())

    @cached_property
    def right_or_wrong(self) -> bool:
        """Whether every value is 0 or 1."""
        there = self.values[self.present]
        return bool(((there == 0) | (there == 1)).all())

    @property
    def binary(self) -> bool:
        """Whether every value is 0 or 1, and units stand for themselves and weigh the same."""
        return self.clusters is None and self.equal_weights and self.right_or_wrong

    @cached_property
    def shares(self) -> bool:
        """Whether every value is between 0 and 1."""
        there = self.values[self.present]
        return bool(((there >= 0) & (there <= 1)).all())

    def grouped(self, values: Floats) -> Floats:
        """(G,) or (G, c) Sums within groups."""
        return values if self.together is None else grouped(values, self.together)

    def of_systems(self, places: Integers) -> "Grid":
        """Some of the systems, in this order, on all units."""
        values = np.ascontiguousarray(self.values[:, places])
        grid = Grid(values, self.weights, self.clusters, self.strata, self.joined)
        grid.__dict__["products"] = np.ascontiguousarray(self.products[:, places])
        return grid

    def pair(self, i: int, j: int) -> Units:
        """System i less system j on the units that both have, by group; at least one such unit is there.

        Differences that are rounding are none (`assay.stats.rounding`).
        """
        both = self.present[:, i] & self.present[:, j]
        gaps = self.products[:, i] - self.products[:, j]
        gaps = gaps if self.whole else np.where(both, gaps, 0.0)
        mass = self.mass if self.whole else self.grouped(np.where(both, self.weights, 0.0))
        kept = mass > 0
        sums = self.grouped(gaps)
        if self.clusters is not None:
            sums = without_residue(sums, self.grouped(np.abs(gaps)))
        sizes = np.abs(self.grouped(np.where(both[:, None], self.products[:, [i, j]], 0.0))).sum(axis=1)
        return without_noise(Units(sums[kept], mass[kept]), sizes[kept])

    def system(self, i: int) -> Units:
        """One system on the units it has, by group."""
        if self.whole:
            return Units(self.sums[:, i].copy(), self.mass)
        mass = self.grouped(np.where(self.present[:, i], self.weights, 0.0))
        return Units(self.sums[mass > 0, i], mass[mass > 0])


def without_noise(units: Units, sizes: Floats) -> Units:
    """One ratio for all units whose ratios differ by rounding only; ``sizes`` are |values| that were subtracted."""
    few = units.numerators[:_FIRST] / units.denominators[:_FIRST]
    if float(np.ptp(few)) > NOISE * float(sizes.max()) / float(units.denominators.min()):  # as nearly always
        return units
    noise = NOISE * float((sizes / units.denominators).max())
    if float(np.ptp(units.numerators / units.denominators)) > noise:
        return units
    return Units(units.estimate * units.denominators, units.denominators)
