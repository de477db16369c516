"""Intervals and paired tests of scores that are functions of sums of counts, such as corpus BLEU.

A resample of sentences is a sum of rows of counts, so all scores of all systems come from the same few sums: the same
sentences are drawn for all, and pairs stay together (Koehn 2004). Intervals are those of `assay.stats.bootstrap`, with
the jackknife's leave-one-out scores in the place of the influence of the units.

*Paired bootstrap*: p is the share of resamples whose difference strays from the observed one as far as that is from 0,
in either direction. *Approximate randomization* (Riezler and Maxwell 2005): if the systems do not differ, the two
outputs of a sentence could as well have been swapped; p is the share of swaps with a difference as large as the
observed one, over all 2ⁿ swaps where these are few. Neither p is ever 0.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from assay.stats.bootstrap import bca_levels, interval, own_p_at
from assay.stats.bootstrap.resampling import Replicates, resampled_sums
from assay.stats.compiled import Backend
from assay.stats.numerics import normal_quantile
from assay.stats.records import Estimate, Fallback, Interval, IntervalName, Test
from assay.stats.streams import signs, stream_key
from assay.stats.units import Floats, Units, shape, standard_error
from assay.stats.which_interval import UnitFacts, interval_for

Score = Callable[[Floats], Floats]  # sums (…, c) → scores (…,); NaN where the sums have none

_TIE = 1e-12  # relative: scores closer than this are equal up to rounding
_BATCH = 1 << 22  # swaps per pass


def replicated_sums(columns: Sequence[Floats], resamples: int, seed: int, backend: Backend = "auto") -> list[Floats]:
    """(B, c) for each system: the sums of its counts (n, c) over the same drawn sentences."""
    joined = np.concatenate(columns, axis=1)
    sums = resampled_sums(joined, None, resamples, seed, purpose="sentences", backend=backend)
    return np.split(sums, np.cumsum([part.shape[1] for part in columns])[:-1], axis=1)


@dataclass(frozen=True, eq=False)
class TotalsEstimate:
    """An estimate, and which fallbacks were taken."""

    estimate: Estimate
    fallbacks: tuple[Fallback, ...] = ()
    own_p: float | None = None  # the smallest α at which the interval leaves out 0


def score_interval(
    columns: Sequence[Floats],
    score: Callable[..., Floats],
    replicates: Floats,
    *,
    method: IntervalName = "bca",
    confidence_level: float = 0.95,
) -> TotalsEstimate:
    """The interval of ``score(*sums)``, of one system or of a difference of two, from its replicates (B,)."""
    n, totals = len(columns[0]), [part.sum(axis=0) for part in columns]
    value = float(score(*totals))
    if not np.isfinite(value):
        return TotalsEstimate(Estimate(None, None, None, n, "the sums of these sentences have no score"))
    if n < 3:
        return TotalsEstimate(Estimate(value, None, None, n, f"{n} of the 3 sentences that an interval needs at least"))
    left_out = score(*(total - part for total, part in zip(totals, columns, strict=True)))
    kept = replicates[np.isfinite(replicates)]
    if not np.isfinite(left_out).all() or len(kept) < 0.99 * len(replicates):
        return TotalsEstimate(Estimate(value, None, None, n, "too few sentences have a score to resample them"))
    linear = Units((n - 1) * (left_out.mean() - left_out) + value, np.ones(n))  # its mean is the score
    method = interval_for(method, UnitFacts.of(linear))
    spread = float(np.abs(left_out - left_out.mean()).max())
    if spread <= _TIE * max(abs(value), 1.0):
        why = Fallback(method, "collapsed interval", "all sentences have the same part in it: there is no spread")
        collapsed = Interval(value, value, confidence_level, "degenerate")
        return TotalsEstimate(Estimate(value, collapsed, 0.0, n), (why,), 0.0 if value else 1.0)
    if method in ("t", "t-hall"):
        found = interval(linear, method=method, confidence_level=confidence_level, own_p=True)
        limits, shift = found.interval, value - linear.estimate  # rounding
        moved = Interval(limits.low + shift, limits.high + shift, limits.level, method)
        return TotalsEstimate(Estimate(value, moved, standard_error(linear), n), (), found.own_p)
    return _from_replicates(value, linear, Replicates(np.sort(kept)), method, confidence_level)


def _from_replicates(value: float, linear: Units, drawn: Replicates, method: str, level: float) -> TotalsEstimate:
    fallbacks = []
    if method == "studentized":
        fallbacks.append(Fallback("studentized", "bca", "this score has no standard error within a resample"))
        method = "bca"
    limits = bca_levels(linear.n, shape(linear), method, level, drawn.cdf(value))
    if limits is None:
        why = "the acceleration is undefined: the jackknife variance is zero or too skewed"
        fallbacks.append(Fallback(method, "percentile", why))
        method, limits = "percentile", (0.5 - level / 2, 0.5 + level / 2)
    low, high = drawn.quantiles(limits).tolist()
    found = Interval(low, high, level, method)
    estimate = Estimate(value, found, standard_error(linear), linear.n)
    return TotalsEstimate(estimate, tuple(fallbacks), _own_p(value, linear, drawn, method))


def _own_p(value: float, linear: Units, drawn: Replicates, method: str) -> float:
    if value == 0:
        return 1.0
    side = 1 if value > 0 else -1
    beside = side * _TIE * max(abs(value), 1.0)
    z_of_zero = normal_quantile(drawn.place_of(beside))
    return own_p_at(side, z_of_zero, linear.n, shape(linear), method, normal_quantile(drawn.cdf(value)))


def paired_bootstrap(difference: float, replicates: Floats, n: int) -> Test:
    """The two-sided bootstrap test of no difference, from the replicates (B,) of the difference."""
    kept = replicates[np.isfinite(replicates)]
    if not np.isfinite(difference) or not len(kept):
        return Test("paired bootstrap", None, None, n, "a system has no score")
    reached = int((np.abs(kept - difference) >= abs(difference) * (1 - _TIE)).sum())
    return Test("paired bootstrap", difference, (1 + reached) / (1 + len(kept)), n)


def randomization(
    a: Floats, b: Floats, scores: Sequence[Score], *, resamples: int = 10_000, seed: int = 0
) -> list[Test]:
    """Approximate randomization of B − A for several scores of the counts (n, c), with the same swaps for all.

    >>> import numpy as np
    >>> a, b = np.array([[1.0], [2.0], [3.0]]), np.array([[2.0], [4.0], [6.0]])
    >>> randomization(a, b, [lambda sums: sums[..., 0]])[0].p_value  # only all or none swapped reach |6|: 2 of 8
    0.25
    """
    n, sums = len(a), (a.sum(axis=0), b.sum(axis=0))
    exact = n < 63 and 1 << n <= resamples
    count = 1 << n if exact else resamples
    observed = [float(score(sums[1]) - score(sums[0])) for score in scores]
    reached = np.zeros(len(scores), dtype=np.int64)
    key, size = stream_key(seed, "swaps"), max(1, _BATCH // n)
    for first in range(0, count, size):
        rows = min(size, count - first)
        swapped = _all_swaps(first, rows, n) if exact else signs(key, first, rows, n)
        moved = swapped.astype(np.float64) @ (b - a)  # counts: exact whatever the order of summation
        for k, score in enumerate(scores):
            shifts = score(sums[1] - moved) - score(sums[0] + moved)
            reached[k] += int((np.abs(shifts) >= abs(observed[k]) * (1 - _TIE)).sum())
    own = 0 if exact else 1  # among all swaps, that of none is there already
    return [_randomized(value, int(hits), count, own, n) for value, hits in zip(observed, reached, strict=True)]


def _all_swaps(first: int, rows: int, n: int) -> Floats:
    return ((np.arange(first, first + rows)[:, None] >> np.arange(n)) & 1).astype(np.float64)


def _randomized(difference: float, reached: int, count: int, own: int, n: int) -> Test:
    if not np.isfinite(difference):
        return Test("approximate randomization", None, None, n, "a system has no score")
    return Test("approximate randomization", difference, (own + reached) / (own + count), n)
