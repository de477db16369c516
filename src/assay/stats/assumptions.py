"""What an interval takes for granted, measured: differences that do not go with length, units that are not alike.

*Length.* The mean Σ d·w / Σ w rests on the longest units where d goes with w. How far is read from Pearson's
correlation of d and w with its t = r·√((n − 2)/(1 − r²)).

*Likeness.* Units of one document are taken for independent where units are drawn. With the residuals e = num − R·den,
the products e·e′ of neighbours, or of any two units of a document, add up to S. Were the signs of the residuals
independent, S would have the variance Σ (e·e′)², whatever their sizes, so z = S / √Σ(e·e′)². The design effect
is the variance of R if documents are drawn, beside that if units are. Of one document, which leaves nothing to draw,
it is that of a correlation r of neighbours which decays geometrically, (1 + r)/(1 − r).
"""

from dataclasses import dataclass
from math import sqrt

import numpy as np

from assay.stats.records import Estimate
from assay.stats.units import Floats, Grid, Integers, Units, grouped, influence

LARGE_T = 3.0  # beyond it differences go with length; by chance in 0 to 2 % of samples in which they do not
LARGE_Z = 2.0  # beyond it units of a document are alike; by chance in 2 to 5 % of samples in which they are not
LONGEST = 10  # units whose share of all weight is told
_LEAST = 1e-15  # 1 − r² of a perfect correlation, whose t would be infinite


@dataclass(frozen=True, slots=True)
class LongUnits:
    """Whether the difference goes with the tokens, or weight, of the units that are drawn."""

    correlation: float  # of difference and weight
    t: float
    decide: bool  # |t| > 3: the mean rests on the longest units
    longest: int  # how many units `share` is of
    share: float  # of all weight that the longest units have
    unweighted: Estimate | None = None  # every unit counts the same; only where long units decide


@dataclass(frozen=True, slots=True)
class AlikeUnits:
    """Whether units of one document are alike although they are drawn as if they were independent."""

    documents: int
    neighbours: int | None  # pairs of a unit and the next one of its document; None: their order is not known
    lag_one: float | None  # the correlation of neighbours
    lag_one_z: float | None
    within_z: float | None  # of all pairs of a document; None: there is one document
    design_effect: float | None  # the variance if documents are drawn, beside that if units are
    alike: bool  # one of the two z > 2
    by_document: Estimate | None = None  # the same difference with documents drawn whole


def t_of_correlation(r: float, n: int) -> float:
    """Student's t of a correlation of n pairs.

    >>> round(t_of_correlation(0.5, 27), 4)
    2.8868
    """
    return r * sqrt((n - 2) / max(1 - r * r, _LEAST))


def long_units(units: Units) -> LongUnits | None:
    """How the difference goes with length; ``None`` where all are as long, all differ the same, or there are two."""
    if units.n < 3 or units.equal_denominators or units.degenerate:
        return None
    r = correlation(units.numerators / units.denominators, units.denominators)
    t = t_of_correlation(r, units.n)
    return LongUnits(r, t, abs(t) > LARGE_T, min(LONGEST, units.n), share_of_longest(units.denominators))


def correlation(a: Floats, b: Floats) -> float:
    """Pearson's; both must vary."""
    a, b = _standard(a), _standard(b)
    return min(1.0, max(-1.0, float((a * b).sum())))


def _standard(values: Floats) -> Floats:
    """Centred, with a sum of squares of 1."""
    centred = values - values.mean()
    centred = centred / np.abs(centred).max()  # no square over- or underflows
    return np.asarray(centred / sqrt(float((centred * centred).sum())))


def share_of_longest(weights: Floats, count: int = LONGEST) -> float:
    """Of all weight, what the ``count`` heaviest units have.

    >>> import numpy as np
    >>> share_of_longest(np.array([1.0, 5.0, 2.0, 2.0]), 2)
    0.7
    """
    return float(np.sort(weights)[-count:].sum() / weights.sum())


def t_with_length(grid: Grid) -> Floats:
    """(k, k) The t of the correlation of d = value i − value j and weight, by group; NaN where there is none.

    Where a cluster has gaps, each system's value in it is that of its own answers.
    """
    mass = grid.grouped(grid.present * grid.weights[:, None])  # (G, k)
    there = (mass > 0).astype(np.float64)
    values = np.where(mass > 0, grid.sums / np.where(mass > 0, mass, 1.0), 0.0)
    weight, level = grid.mass / grid.mass.mean() - 1, values.sum(axis=0) / there.sum(axis=0)
    x = (values - level) * there

    def of_pairs(part: Floats) -> Floats:  # (k, k) or (k, 1): column i summed where j is there too
        return part.T @ there if (mass == 0).any() else part.sum(axis=0)[:, None]

    n, w, ww = (of_pairs(power[:, None] * there) for power in (np.ones_like(weight), weight, weight**2))
    one, two, own = (of_pairs(part) for part in (x, x * x, weight[:, None] * x))
    with np.errstate(divide="ignore", invalid="ignore"):
        mean, mean_w = (one - one.T) / n, w / n
        spread = two + two.T - 2 * (x.T @ x) - n * mean**2
        along, across = ww - n * mean_w**2, own - own.T - n * mean * mean_w
        noise = 1e-12 * (two + two.T)  # what rounding leaves of no spread
        r = np.where((spread > noise) & (n > 2), across / np.sqrt(spread * along), np.nan)
        return np.asarray(r * np.sqrt((n - 2) / np.maximum(1 - r * r, _LEAST)))


def alike_units(units: Units, documents: Integers, order: Floats | None) -> AlikeUnits | None:
    """How alike units of a document are; ``None`` where every document has one, or there is no spread.

    ``order`` is where a unit stands in its document; without it neighbours are not known, and of one document nothing.
    """
    sizes = np.bincount(documents)
    count = int((sizes > 0).sum())
    if units.degenerate or sizes.max() < 2 or (count == 1 and order is None):
        return None
    pull = influence(units)
    pull = pull / float(np.abs(pull).max())
    lag = None if order is None else _lag_one(pull, documents, order)
    pairs, r, z = (None, None, None) if lag is None else lag
    within, effect = (None, _decaying(r)) if count == 1 else _within(pull, documents, count)
    alike = any(found is not None and found > LARGE_Z for found in (within, z))
    return AlikeUnits(count, pairs, r, z, within, effect, alike)


def _decaying(r: float | None) -> float | None:
    """The design effect of a correlation that decays geometrically."""
    return None if r is None or r >= 1 else (1 + r) / (1 - r)


def _within(pull: Floats, documents: Integers, count: int) -> tuple[float, float]:
    """The z of all pairs of a document, and the design effect of drawing documents."""
    square, n = pull * pull, len(pull)
    sums, squares, fourths = (grouped(part, documents) for part in (pull, square, square * square))
    drawn, single = float((sums * sums).sum()), float(squares.sum())
    z = _z((drawn - single) / 2, float((squares * squares - fourths).sum()) / 2)
    return z, drawn / (count - 1) * count / (single / (n - 1) * n)


def _lag_one(pull: Floats, documents: Integers, order: Floats) -> tuple[int, float, float]:
    """Pairs of neighbours, their correlation, and its z."""
    at = np.lexsort((order, documents))
    same = documents[at][1:] == documents[at][:-1]
    first, second = pull[at][:-1][same], pull[at][1:][same]
    products = first * second
    scale = sqrt(float((first * first).sum()) * float((second * second).sum()))
    total = float(products.sum())
    return int(same.sum()), total / scale if scale > 0 else 0.0, _z(total, float((products * products).sum()))


def _z(total: float, variance: float) -> float:
    return total / sqrt(variance) if variance > 0 else 0.0
