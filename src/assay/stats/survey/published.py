"""The tests of a fairness gap that a published analysis of a survey benchmark proposes, so that they can be shown (C2).

They are not the ones to use: a gap is never negative, so that the resampled interval practically never reaches 0;
segments of few people score lower whatever the model does, so that labels are not exchangeable; and the largest of
many differences is no single difference. `benchmarks/calibration_fairness.py` shows how often each rejects where all
segments are equally well predicted.
"""

from collections.abc import Sequence
from functools import lru_cache
from math import erfc, sqrt

import numpy as np
from numpy.typing import NDArray

from assay.stats.numerics import SMALLEST_P
from assay.stats.records import Interval, Test
from assay.stats.streams import stream_key, words
from assay.stats.units import Floats

PERMUTATIONS = 999
_TIE = 1e-12
_ROOM = 1 << 21  # numbers in a pass
_LAST = np.uint64(2**64 - 1)


def resampled_interval(gaps: Floats, level: float) -> Interval:
    """The quantiles of max − min with the respondents drawn again; “significant” where the lower one is above 0."""
    low, high = np.quantile(gaps, [0.5 - level / 2, 0.5 + level / 2]).tolist()
    return Interval(low, high, level, "percentile")


def permuted_gap(scores: Floats, *, resamples: int = PERMUTATIONS, seed: int = 0) -> Test:
    """Max − min of the column means of (Q, S) scores, against that of labels permuted within each question.

    NaN where a segment lacks a question; those that have it change places. p = (1 + #) / (1 + B).

    >>> import numpy as np
    >>> permuted_gap(np.random.default_rng(0).normal(size=(30, 3)) - [0.0, 0.0, 2.0]).p_value
    0.001
    """
    there = ~np.isnan(scores)
    scores, there = scores[there.any(axis=1)], there[there.any(axis=1)]
    if there.shape[1] < 2 or not there.any(axis=0).all():
        return Test("permutation", None, None, len(scores), "fewer than two segments have answers")
    observed = float(np.ptp(np.nanmean(scores, axis=0)))
    orders, count, reached = _orders(there.tobytes(), there.shape, resamples, seed), there.sum(axis=0), 0
    values = np.nan_to_num(scores, nan=0.0)
    for first in range(0, resamples, step := max(1, _ROOM // scores.size)):
        part = orders[first : first + step]
        shuffled = np.take_along_axis(np.broadcast_to(values, part.shape), part.astype(np.int64), axis=2)
        reached += int((np.ptp(shuffled.sum(axis=1) / count, axis=1) >= observed - _TIE).sum())
    return Test("permutation", observed, (1 + reached) / (1 + resamples), len(scores))


@lru_cache(maxsize=2)
def _orders(known: bytes, shape: tuple[int, int], resamples: int, seed: int) -> NDArray[np.int16]:
    """(B, Q, S) Where each segment takes its score from: those that have a question are permuted, the others stay."""
    there = np.frombuffer(known, dtype=bool).reshape(shape)
    own = np.argsort(~there, axis=1, kind="stable")  # those that have the question, then the others
    out, key = np.empty((resamples, *shape), dtype=np.int16), stream_key(seed, "permuted segments")
    for first in range(0, resamples, step := max(1, _ROOM // there.size)):
        last = min(first + step, resamples)
        drawn = words(key, first * there.size, (last - first) * there.size).reshape(-1, *shape)
        order = np.argsort(np.where(there, drawn >> np.uint64(1), _LAST), axis=2, kind="stable")
        np.put_along_axis(out[first:last], np.broadcast_to(own, order.shape), order.astype(np.int16), axis=2)
    return out


def analytical_gap(means: Sequence[float], variances: Sequence[float]) -> Test:
    """The best less the worst segment over the standard error that sampling gives the two, as if chosen beforehand."""
    top, bottom = int(np.argmax(means)), int(np.argmin(means))
    error = sqrt(variances[top] + variances[bottom])
    if len(means) < 2 or not error > 0:
        return Test("analytical", None, None, len(means), "there is no sampling noise to compare the gap with")
    z = (means[top] - means[bottom]) / error
    return Test("analytical", z, max(erfc(z / sqrt(2)), SMALLEST_P), len(means))


def score_variance(measured: Floats, variance: Floats, excess: Floats) -> Floats:
    """Var √Ĵ by the delta method, Var Ĵ / 4Ĵ; near a perfect prediction, where that has no limit, at most E Ĵ − J."""
    bound = np.maximum(excess, 0.0)
    return np.asarray(np.minimum(np.divide(variance, 4 * measured, out=bound.copy(), where=measured > 0), bound))
