"""Scores at equal numbers of respondents: every sample is thinned to the same size, many times, and averaged.

1 − √JSD from a sample of n is lower the smaller n is, whoever predicts (C1). A random part of m of the n respondents
is a sample of m of the same people, so the mean score over all parts of m is an unbiased estimate of what a sample of m
would score, whatever n was: thinned to the same m, segments of 30 and of 1,000 can be compared.

Reference: Hurlbert (1971), *The nonconcept of species diversity*, for the same remedy in ecology.
"""

import numpy as np
from numpy.typing import NDArray

from assay.stats.streams import stream_key, words
from assay.stats.survey.multinomial import Counts
from assay.stats.units import Floats, Integers

DRAWS = 32  # parts of each sample: their own noise is small beside that of the questions, and is part of its estimate
_MOST_AT_ONCE = 1 << 22  # numbers in a pass
_32 = np.uint64(32)


def counts_of(shares: Floats, n: Integers) -> Integers:
    """(C, K) Whole respondents from (C, K) shares of n: rounded down, the largest remainders get those that are left.

    >>> import numpy as np
    >>> counts_of(np.array([[0.333, 0.333, 0.334]]), np.array([10])).tolist()
    [[3, 3, 4]]
    """
    exact = shares * n[:, None]
    whole = np.floor(exact + 1e-9).astype(np.int64)
    left = n - whole.sum(axis=1)
    order = np.argsort(-(exact - whole), axis=1, kind="stable")
    rank = np.empty_like(order)
    np.put_along_axis(rank, order, np.broadcast_to(np.arange(shares.shape[1]), order.shape), axis=1)
    return np.asarray(whole + (rank < left[:, None]), dtype=np.int64)


def thinned(counts: Integers, sizes: Integers, draws: int, seed: int, *, purpose: str = "rarefaction") -> Counts:
    """(C, D, K) Random parts of ``sizes`` of the respondents of each cell, without replacement.

    The few are drawn: those who stay or those who go. One respondent at a time in all cells and parts at once.
    """
    total = counts.sum(axis=1)
    stay = 2 * sizes <= total
    steps = np.where(stay, sizes, total - sizes)
    order = np.argsort(-steps, kind="stable")
    left = np.repeat(counts[order, None, :], draws, axis=1).astype(np.int32)
    key, most = stream_key(seed, purpose), int(steps.max(initial=0))
    for step in range(most):
        active = int(np.searchsorted(-steps[order], -step, side="left"))  # those with more steps than this
        word = words(key, step * len(counts) * draws, active * draws).reshape(active, draws) >> _32
        place = (word * (total[order][:active, None] - step).astype(np.uint64)) >> _32
        _take(left[:active], place.astype(np.int32))
    out = np.empty_like(left)
    out[order] = left
    return np.where(stay[:, None, None], counts[:, None, :].astype(np.int32) - out, out)


def _take(left: Counts, place: NDArray[np.int32]) -> None:
    """Take the respondent at this place, options in order, out of each part."""
    above = np.zeros(left.shape[:2], dtype=np.int32)
    taken = np.zeros(left.shape[:2], dtype=bool)
    for option in range(left.shape[2]):
        above += left[:, :, option]
        here = ~taken & (place < above)
        left[:, :, option] -= here
        taken |= here


def thinned_scores(parts: Counts, cell: Integers, predicted: Floats) -> Floats:
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
        out[rows] = np.maximum(0.0, 1 - np.sqrt(np.maximum(jsd, 0.0))).mean(axis=1)
    return out


def _entropy(shares: Floats) -> Floats:
    """Σ −p·log₂ p over the last axis; 0 adds nothing."""
    return np.asarray(-(shares * np.log2(np.where(shares > 0, shares, 1.0))).sum(axis=-1))
