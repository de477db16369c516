"""The units of a ratio of sums in standard errors: how each pulls the numerator, and how unequal the denominators are.

Everything here is a pass or two over arrays that fit the cache, so that the number of calls is what it costs. `argmax`
takes a fifth of what `max` does, and a product of vectors a third of a sum.
"""

from collections.abc import Sequence
from math import e, factorial, fsum, log, pi, sqrt
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from assay.stats.bootstrap.fourier import FINEST, last_revival
from assay.stats.in_blocks import MANY
from assay.stats.numerics import bennett_reach
from assay.stats.units import Floats, Shape, Units, shape, shape_from, weighted_mean

FARTHEST = 5.3  # standard errors from the estimate, at which the expansion in g is judged
MOST_TERMS = 12
EXPANSION = 1e-7  # a bound on the error in probability that the expansion in g causes; it is far smaller
WRAPPED = 1e-10  # the probability that may lie beyond the window
_REVIVED = sqrt(-2 * log(1e-7))  # where a normal ψ is so small that its return would be no error
_FEW = 256  # units that are sorted in no time
_LONGEST_PRODUCT = 8_192  # of two vectors: more would take threads
TAME = 1e-140, 1e140  # values between these have squares that are numbers
NOT_MOST = 0.5  # of the denominators that one unit may have, for the shape to be computed from y and g


class Drawn(NamedTuple):
    """What is drawn: y and g of n units, times the lowest frequency h, so that a wave's angle is (k + ½)·y."""

    n: int
    y: Floats  # (n,) h·(num − R̂·den), in standard errors of the sum of n draws
    g: Floats  # (n,) h·(den/mean den − 1)/n
    squares: Floats  # (n,) g²
    p: Floats | None  # (n,) drawing probabilities; None: uniform
    first: float  # h
    largest: float  # of |y|/h
    error: float  # the bootstrap standard error

    def some(self, part: "slice | NDArray[np.bool_]") -> "Drawn":
        """These units."""
        y, p = self.y[part], None if self.p is None else self.p[part]
        return self._replace(n=len(y), y=y, g=self.g[part], squares=self.squares[part], p=p)


def drawn_of(units: Units) -> Drawn:
    """The units, standardised."""
    n, p, den = units.n, units.probabilities, units.denominators
    mean_den = weighted_mean(den, p)
    y = den * -units.estimate
    y += units.numerators
    largest, unit = largest_of(y), 1.0
    if not TAME[0] < largest < TAME[1]:  # squares would over- or underflow
        y /= largest
        largest, unit = 1.0, largest
    scale = sqrt(inner(y, y) if p is None else n * weighted_mean(y * y, p))
    largest /= scale
    first = 2 * pi / (bennett_reach(largest, WRAPPED) + FARTHEST)
    y *= first / scale
    g = den * (first / (n * mean_den))
    g -= first / n
    return Drawn(n, y, g, g * g, p, first, largest, unit * scale / (n * mean_den))


def largest_of(values: Floats) -> float:
    """The largest |value|."""
    return max(float(values[values.argmax()]), -float(values[values.argmin()]))


def inner(a: Floats, b: Floats) -> float:
    """Σ ab; a long product would be split among threads."""
    if len(a) <= _LONGEST_PRODUCT:
        return float(a.dot(b))
    parts = range(0, len(a), _LONGEST_PRODUCT)
    return fsum(float(a[low : low + _LONGEST_PRODUCT].dot(b[low : low + _LONGEST_PRODUCT])) for low in parts)


class Tilt(NamedTuple):
    """How large the g are, which says how many powers of them are needed."""

    n: int
    square: float  # mean g²
    fourth: float  # mean g⁴
    largest: float

    @classmethod
    def of(cls, drawn: Drawn) -> "Tilt":
        n, _, g, squares, p, h, _, _ = drawn
        largest = max(float(g[g.argmax()]) / h, 1 / n)  # no g is below −1/n
        if p is None:
            return cls(n, inner(g, g) / (n * h * h), inner(squares, squares) / (n * h**4), largest)
        return cls(n, weighted_mean(squares, p) / h**2, weighted_mean(squares * squares, p) / h**4, largest)

    def terms_needed(self) -> int:
        """How many powers keep the expansion's error below the tolerance if ψ is nearly normal; 0: too many."""
        for terms, peak in NORMAL_PEAKS:
            if self.suffice(peak, terms):
                return terms
        return 0

    def suffice(self, peak: float, terms: int) -> bool:
        """Whether so many do: what the powers from there on may add, where the peak of |ψ|·u^terms is known."""
        mean = self.square if terms < 4 else self.fourth * self.largest ** (terms - 4)  # at least mean |g|^terms
        mean = mean * self.largest if terms == 3 else mean
        return self.n * peak * mean * _FACTORS[terms] <= EXPANSION


_FACTORS = tuple(FARTHEST**terms / factorial(terms) for terms in range(MOST_TERMS + 3))
NORMAL_PEAKS = tuple((terms, (terms / e) ** (terms / 2)) for terms in range(2, 9))  # of u^terms·exp(−u²/2)


def shape_of(drawn: Drawn, tilt: Tilt, units: Units) -> Shape | None:
    """`units.shape`: of uniform draws the estimate without unit i is off by yᵢ/(1 − 1/n − gᵢ), in units of its own."""
    n, y, g, _, p, h, _, _ = drawn
    if p is not None or n >= MANY or tilt.largest >= NOT_MOST:
        return shape(units)
    pull = (1 - 1 / n) * h - g
    np.divide(y, pull, out=pull)
    pull -= float(np.add.reduce(pull)) / n
    square = pull * pull
    second, third, fourth = inner(pull, pull), inner(square, pull), inner(square, square)
    pull *= square
    return shape_from(third / second**1.5, fourth / second**2, inner(pull, pull) / second**3, n)


def revival_of(drawn: Drawn) -> float:
    """`fourier.last_revival`, in fewer calls where units are uniform: 0 if they are one clump.

    The clumps of some units, sorted, are within those of all; and a bound from the largest clump is one from all.
    """
    y, n = drawn.y, drawn.n
    if drawn.p is not None or n > _FEW * _FEW:
        return last_revival(y / drawn.first, 1.0 if drawn.p is None else n * drawn.p)
    some = np.sort(y if n <= _FEW else y[:: -(-n // _FEW)])
    gaps = (some[1:] - some[:-1] > FINEST * drawn.first).nonzero()[0].tolist()
    if not gaps and n <= _FEW:
        return 0.0
    start, stop = _longest(gaps, len(some))
    clump = some[start:stop] if n <= _FEW else y[(y >= some[start]) & (y <= some[stop - 1])]
    within = (inner(clump, clump) - float(np.add.reduce(clump)) ** 2 / len(clump)) / drawn.first**2
    return min(2 * pi / FINEST, _REVIVED / sqrt(max(within, 1e-12)))


def _longest(gaps: Sequence[int], n: int) -> tuple[int, int]:
    """Where the longest run without a gap begins and ends, if gaps follow these places."""
    begin, start, stop = 0, 0, 0
    for gap in (*gaps, n - 1):
        if gap + 1 - begin > stop - start:
            start, stop = begin, gap + 1
        begin = gap + 1
    return start, stop
