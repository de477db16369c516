"""Surveys: the divergence between shares of options (Jensen and Shannon), and what sampling noise does to it.

JSD(p, q) = ½ KL(p ‖ m) + ½ KL(q ‖ m) with m = (p + q)/2, in base 2; the score of a prediction is 1 − √JSD. Shares are
rows that sum to 1; a row of fewer options is padded with 0, which adds nothing.

If p̂ are the shares among n respondents whose true shares are p, and q is fixed, then to second order (C1)

    E JSD(p̂, q) − JSD(p, q) = Σ q(1 − p)/(p + q) / (4 n ln 2),      which is (k − 1)/(8 n ln 2) for q = p,

and 8 n ln 2 · JSD(p̂, p) is χ² with k − 1 degrees of freedom, so that √JSD has the mean of a χ variable. Between the
two ends, a perfect prediction and a far one, see `assay.stats.survey.denoised`.

Reference: Lin (1991), *Divergence measures based on the Shannon entropy*; Endres and Schindelin (2003), *A new metric
for probability distributions*.
"""

from functools import lru_cache
from math import lgamma, log

import numpy as np
from numpy.typing import NDArray

from assay.stats.units import Floats, Integers

#: What the survey benchmark puts in place of smaller probabilities, and its scores of what it could not compare.
FLOOR = 1e-10
UNPARSEABLE_SCORE, WRONG_LENGTH_SCORE = 0.0, 0.1

_LN2 = log(2)
_MOST_AT_ONCE = 1 << 22  # numbers in a pass
ENOUGH = 10.0  # n·min p: from here on the χ approximation is within 2 % of the truth
MOST_LISTED = 2_000  # samples of n among k options that are enumerated rather than drawn


def divergence(p: Floats, q: Floats, *, floor: float = FLOOR) -> Floats:
    """JSD in base 2 over the last axis; p, q and their mean are at least ``floor``, as the benchmark has it.

    >>> import numpy as np
    >>> float(divergence(np.array([1.0, 0.0]), np.array([0.0, 1.0]), floor=0.0))
    1.0
    """
    m = (p + q) / 2
    if floor > 0:
        p, q, m = np.maximum(p, floor), np.maximum(q, floor), np.maximum(m, floor)
        return np.asarray((p * np.log2(p / m) + q * np.log2(q / m)).sum(axis=-1) / 2)
    safe = np.where(m > 0, m, 1.0)
    terms = p * np.log2(np.where(p > 0, p, safe) / safe) + q * np.log2(np.where(q > 0, q, safe) / safe)
    return np.asarray(terms.sum(axis=-1) / 2)


def similarity(p: Floats, q: Floats, *, floor: float = FLOOR) -> Floats:
    """1 − √JSD over the last axis, from 0 to 1.

    >>> import numpy as np
    >>> float(similarity(np.array([0.5, 0.3, 0.2]), np.array([0.5, 0.3, 0.2])))
    1.0
    """
    return score_of(divergence(p, q, floor=floor))


def score_of(jsd: Floats) -> Floats:
    """1 − √JSD, with what rounding does at both ends cut off."""
    return np.asarray(np.maximum(0.0, 1 - np.sqrt(np.maximum(jsd, 0.0))))


# ------------------------------------------------------------------------------------------- what noise does to it


def support(p: Floats) -> Integers:
    """The number of options with a positive probability."""
    return np.asarray((p > 0).sum(axis=-1), dtype=np.int64)


def chi_noise(n: Floats | Integers, k: Integers) -> Floats:
    """E √JSD of a perfect prediction by the χ approximation: √(2/(8n ln 2)) · Γ(k/2)/Γ((k − 1)/2), 0 for k = 1.

    >>> import numpy as np
    >>> round(1 - float(chi_noise(np.array([20]), np.array([4]))[0]), 3)
    0.848
    """
    ratio = np.array([0.0, 0.0, *(np.exp(lgamma(j / 2) - lgamma((j - 1) / 2)) for j in range(2, int(k.max()) + 1))])
    return np.asarray(np.sqrt(2 / (8 * _LN2 * n)) * ratio[k])


def source_noise(n: Floats | Integers, k: Integers) -> Floats:
    """The value that the benchmark's own analysis uses for it: √((k − 1)/(2n ln 2)), four times as much JSD (C1)."""
    return np.asarray(np.sqrt((k - 1) / (2 * _LN2 * n)))


def sampling_moments(p: Floats, q: Floats, n: Integers) -> tuple[Floats, Floats]:
    """(R,), (R,) The expected excess of JSD(p̂, q) over JSD(p, q), and its variance.

    The divergence is a sum over options, each a function of a binomial count. Where few choose an option its moments
    are sums over the counts; elsewhere the mean is a series to the fourth derivative, and the variance is
    `sampling_variance`. The second derivative alone is 4 % too small at n·p = 10, a bias that makes a perfect
    prediction look imperfect, and the variance 15 % off in samples of 50.
    """
    sizes = np.broadcast_to(n[:, None], p.shape)
    excess, more = _series(p, q, sizes), np.zeros(p.shape)
    few = np.flatnonzero((p > 0) & (sizes * p < MOST_COUNTED))
    own, other, size = p.ravel()[few], q.ravel()[few], sizes.ravel()[few]
    order = np.argsort(size * own, kind="stable")  # those that need as many counts side by side
    for low in range(0, len(order), _ROOM):
        part = order[low : low + _ROOM]
        excess.ravel()[few[part]], more.ravel()[few[part]] = _counted(own[part], other[part], size[part])
    variance = sampling_variance(p, q, n.astype(np.float64))
    return np.asarray(excess.sum(axis=1)), np.maximum(variance + more.sum(axis=1), variance / 2)


MOST_COUNTED = 25.0  # people who choose an option, on average: beyond, the series is enough
_ROOM = 1 << 11


def _series(p: Floats, q: Floats, n: Integers) -> Floats:
    """E f(c/n) − f(p) of every option, c binomial, f(p) = ½(p log₂ p/m + q log₂ q/m), to order 1/n²."""
    some = np.where(p > 0, p, 1.0)
    both, left = some + q, some * (1 - some)
    second = (1 / some - 1 / both) * left / (2 * n)
    third = (1 / both**2 - 1 / some**2) * left * (1 - 2 * some) / (6 * n**2)
    fourth = (2 / some**3 - 2 / both**3) * left**2 / (8 * n**2)
    return np.where(p > 0, (second + third + fourth) / (2 * _LN2), 0.0)


def _counted(p: Floats, q: Floats, n: Integers) -> tuple[Floats, Floats]:
    """The same, summed over the possible counts; and by how much the variance exceeds that of two derivatives."""
    from scipy.special import gammaln  # late

    most = float((n * p).max())
    counts = np.arange(min(int(n.max()), int(most + 9 * most**0.5 + 12)) + 1)
    size = n[:, None]
    there = np.minimum(counts, size)
    inside = np.clip(p, 1e-300, 1 - 1e-16)[:, None]
    ways = gammaln(size + 1) - gammaln(counts + 1) - gammaln(size - there + 1)
    chance = np.exp(ways + there * np.log(inside) + (size - there) * np.log1p(-inside)) * (counts <= size)
    off = _part(there / size, q[:, None]) - _part(p, q)[:, None]
    mean = (chance * off).sum(axis=1)
    left, both = p * (1 - p) / n, p + q
    slope, curve = np.log2(2 * p / both) / 2, q / (p * both) / (2 * _LN2)
    rough = slope**2 * left + (curve * left) ** 2 / 2
    return mean, np.asarray((chance * off**2).sum(axis=1) - mean**2 - rough)


def _part(p: Floats, q: Floats) -> Floats:
    both = p + q
    middle = np.where(both > 0, both / 2, 1.0)
    own = p * np.log2(np.where(p > 0, p, 1.0)) + q * np.log2(np.where(q > 0, q, 1.0))
    return np.asarray((own - both * np.log2(middle)) / 2)


def sampling_variance(p: Floats, q: Floats, n: Floats) -> Floats:
    """Var JSD(p̂, q): the linear term, and the quadratic one, which is all there is for q = p."""
    both = p + q
    shape = np.broadcast(p, q).shape
    safe = np.where(both > 0, both, 1.0)
    slope = 0.5 * np.log2(np.where(p > 0, 2 * p / safe, 1.0))
    linear = (p * slope**2).sum(axis=-1) - (p * slope).sum(axis=-1) ** 2
    ratio = np.divide(q, both, out=np.zeros(shape), where=both > 0) * (p > 0) / (2 * _LN2)  # second derivative × p
    quadratic = (ratio**2 * (1 - 2 * p)).sum(axis=-1) + (ratio * p).sum(axis=-1) ** 2
    return np.asarray(np.maximum(linear, 0.0) / n + quadratic / (2 * n * n))


# ------------------------------------------------------------------------------------------- a perfect prediction


def listed_noise(p: Floats, n: int) -> float:
    """E √JSD(p̂, p) over every sample of n: exact."""
    return listed_moments(p, n)[1]


def listed_moments(p: Floats, n: int) -> tuple[float, float]:
    """E JSD(p̂, p) and E √JSD(p̂, p) over every sample of n: exact.

    >>> import numpy as np
    >>> [round(float(value), 3) for value in listed_moments(np.full(4, 0.25), 20)]
    [0.03, 0.158]
    """
    own = p[p > 0]
    samples, multiplicity = compositions(n, len(own))
    chance = np.exp(multiplicity + samples @ np.log(own))
    jsd = divergence(samples / n, own, floor=0.0)
    found = [float((chance * part).sum() / chance.sum()) for part in (jsd, 1 - score_of(jsd))]
    return found[0], found[1]


@lru_cache(maxsize=256)
def compositions(n: int, k: int) -> tuple[Integers, Floats]:
    """(N, k) Every way to put n people into k options, and the logarithm of how many orders each has."""
    rows = np.zeros((1, 0), dtype=np.int64)
    left = np.array([n])
    for _ in range(k - 1):
        taken = np.concatenate([np.arange(m + 1) for m in left.tolist()])
        again = np.repeat(np.arange(len(left)), left + 1)
        rows = np.column_stack([rows[again], taken])
        left = left[again] - taken
    rows = np.column_stack([rows, left])
    factorials = np.array([lgamma(i + 1) for i in range(n + 1)])
    return rows, factorials[n] - factorials[rows].sum(axis=1)


def composition_count(n: int, k: int) -> float:
    """The number of compositions: C(n + k − 1, k − 1), in floating point."""
    return float(np.exp(lgamma(n + k) - lgamma(k) - lgamma(n + 1)))


LEAST_STRENGTH, MOST_STRENGTH = 1.0, 1e4


def concentration(shares: Floats, n: Integers, pooled: Floats, question: Integers) -> Floats:
    """(C,) How alike the segments of a question are: the a of a Dirichlet distribution around the pooled shares.

    By moments: Pearson's X² of the segments has the expectation (S − 1)(k − 1) · mean (n + a)/(1 + a).
    """
    squares = np.divide((shares - pooled) ** 2, pooled, out=np.zeros(shares.shape), where=pooled > 0).sum(axis=1)
    statistic, mean_n, segments = (np.bincount(question, values) for values in (n * squares, n, np.ones(len(n))))
    options = np.zeros(len(segments))
    np.maximum.at(options, question, support(pooled).astype(np.float64))
    freedom = np.maximum((segments - 1) * (options - 1), 1.0)
    ratio, average = statistic / freedom, mean_n / np.maximum(segments, 1)
    strength = np.divide(average - ratio, ratio - 1, out=np.full(len(ratio), MOST_STRENGTH), where=ratio > 1)
    strength[segments < 2] = LEAST_STRENGTH
    return np.asarray(np.clip(strength, LEAST_STRENGTH, MOST_STRENGTH)[question])


def smoothed(shares: Floats, n: Integers, pooled: Floats, strength: Floats) -> Floats:
    """Shares drawn towards those of all segments, as if ``strength`` further people had answered as all did.

    What a segment of ten says of itself is mostly noise, and an option that none of the ten chose is not impossible.
    Where nobody at all chose an option it keeps probability 0.
    """
    weight = (n / (n + strength))[:, None]
    return np.asarray(weight * shares + (1 - weight) * pooled)


def thinned_scores(parts: NDArray[np.int32], cell: Integers, predicted: Floats) -> Floats:
    """(R,) The mean of 1 − √JSD over the parts of the cell, for each prediction (R, K) of a cell."""
    size = parts.sum(axis=2)[:, :1, None]
    shares = parts / size  # (C, D, K)
    own = _entropy(shares)  # (C, D)
    out = np.empty(len(cell))
    batch = max(1, _MOST_AT_ONCE // max(1, shares[0].size if len(shares) else 1))
    for first in range(0, len(cell), batch):
        rows = slice(first, first + batch)
        at, q = cell[rows], predicted[rows]
        jsd = _entropy((shares[at] + q[:, None, :]) / 2) - (own[at] + _entropy(q)[:, None]) / 2
        out[rows] = score_of(jsd).mean(axis=1)
    return out


def _entropy(shares: Floats) -> Floats:
    """Σ −p·log₂ p over the last axis; 0 adds nothing."""
    return np.asarray(-(shares * np.log2(np.where(shares > 0, shares, 1.0))).sum(axis=-1))
