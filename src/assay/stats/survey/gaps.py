"""Gaps between segments: the largest mean difference of two columns of a table of questions, tested against chance.

A largest difference is never negative, so an interval of it that leaves out 0 shows nothing (C2). What equality would
give is simulated: the differences of all pairs of segments are centred, question by question they keep or change their
sign, all pairs together, and each is divided by its own standard error before the largest is taken. So segments may be
noisier than others, questions harder than others, and the answers to a question may go together.

The interval is the set of gaps that the same test would not refuse: from the largest lower limit of a pair, at least 0,
to the largest upper limit, all limits holding at once. It starts above 0 exactly where p ≤ 1 − level. At levels that
the resamples cannot resolve, as those of many gaps together, Student's t with Bonferroni's correction takes over.

References: Romano and Wolf (2005), *Exact and approximate stepdown methods for multiple hypothesis testing*; Canay,
Romano and Shaikh (2017), *Randomization tests under an approximate symmetry assumption*.

`segment_gap` and `expected_gap` take the questions as drawn. In `sampling_gap` they are given and the respondents vary:
it estimates the true gap on these questions (S3, C2).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np

from assay.stats.bootstrap.simultaneous import critical_value_of
from assay.stats.interval_and_test import agreeing
from assay.stats.numerics import critical_values
from assay.stats.records import Estimate, Interval, Test
from assay.stats.streams import signs, stream_key
from assay.stats.survey.denoised import GRID, ExpectedRoots
from assay.stats.units import Floats, Integers, Truths

FEWEST = 6  # questions: the signs of fewer cannot give p ≤ 0.05
_BATCH = 1 << 20  # numbers in a pass
_EXPECTED_FROM = 2_000  # resamples: a mean and a quantile need fewer than a small p
_TIE = 1e-9
_WINDOWS = 81
_TRIED = np.concatenate([np.linspace(0.0, 1.5, 21), np.geomspace(1.7, 12.0, 10)])
_NAME = "max-t sign-flip"


@dataclass(frozen=True, slots=True)
class Gap:
    """The largest mean difference between two segments, and what chance does not explain of it."""

    value: float | None
    expected: float | None  # the mean of the largest difference if all segments were equal
    excess: Estimate  # value − expected, not below its interval: which is of the true gap
    test: Test
    high: int | None = None  # columns of the two segments
    low: int | None = None
    together: Interval | None = None  # of the true gap, as one of a family of so many gaps that all hold at once
    reach: float | None = None  # the largest width of a pair: a gap above it is shown as one of that family


@dataclass(frozen=True, eq=False)
class _Pairs:
    """Pairs of segments that share enough questions."""

    first: Integers  # (P,) columns
    second: Integers
    differences: Floats  # (Q, P), NaN where a question is missing

    @cached_property
    def count(self) -> Floats:
        """(P,) Questions that both have."""
        return np.asarray((~np.isnan(self.differences)).sum(axis=0), dtype=np.float64)

    @cached_property
    def mean(self) -> Floats:
        return np.asarray(np.nansum(self.differences, axis=0) / self.count)

    @cached_property
    def centred(self) -> Floats:
        """(Q, P) Differences less their mean, 0 where missing."""
        return np.nan_to_num(self.differences - self.mean, nan=0.0)

    @cached_property
    def squares(self) -> Floats:
        """(P,)"""
        return np.asarray((self.centred**2).sum(axis=0))

    @cached_property
    def error(self) -> Floats:
        """(P,) Standard errors of the means."""
        return np.asarray(np.sqrt(self.squares / (self.count - 1) / self.count))

    def chosen(self, kept: Truths) -> "_Pairs":
        return _Pairs(self.first[kept], self.second[kept], self.differences[:, kept])


def segment_gap(
    scores: Floats,
    *,
    confidence_level: float = 0.95,
    family: int = 1,
    resamples: int = 10_000,
    seed: int = 0,
    purpose: str = "gaps",
) -> Gap:
    """The gap between the columns of (Q, S) scores of questions × segments; NaN where a segment lacks a question.

    ``together`` starts above 0 exactly where p · family ≤ 1 − level.

    >>> import numpy as np
    >>> noise = np.random.default_rng(1).normal(0.7, 0.1, (40, 3))
    >>> equal, unequal = segment_gap(noise), segment_gap(noise - [0.0, 0.0, 0.15])
    >>> equal.test.p_value > 0.05, unequal.test.p_value < 0.001
    (True, True)
    """
    n, pairs = len(scores), _all_pairs(scores)
    if not len(pairs.first):
        return _undefined(f"no two segments have {FEWEST} questions in common", n)
    spread = pairs.error > _TIE * float(np.nanmax(np.abs(scores)))
    if np.any(~spread & (np.abs(pairs.mean) > _TIE)):
        return _undefined("two segments differ by the same amount in every question, so that noise is unknown", n)
    if not spread.any():
        return _equal(pairs, confidence_level)
    pairs = pairs.chosen(spread)  # the others are the same segment twice
    largest, plain = _flipped(pairs, resamples, seed, purpose)
    top = int(np.argmax(np.abs(pairs.mean)))
    high, low = (pairs.first, pairs.second) if pairs.mean[top] > 0 else (pairs.second, pairs.first)
    statistic = float((np.abs(pairs.mean) / pairs.error).max())
    largest = np.sort(largest) * (1 - _TIE)
    p = _p_value(largest, statistic)
    limits, together = (_limits(pairs, largest, p, count, confidence_level) for count in (1, family))
    value, expected = abs(float(pairs.mean[top])), float(plain.mean())
    excess = min(max(value - expected, limits.low), limits.high)
    return Gap(
        value,
        expected,
        Estimate(excess, limits, None, n),
        Test(_NAME, statistic, p, n),
        int(high[top]),
        int(low[top]),
        together,
        float((_reach(largest, (1 - confidence_level) / family, pairs) * pairs.error).max()),
    )


def _p_value(largest: Floats, statistic: float) -> float:
    """(1 + #) / (1 + B): B resamples show nothing rarer than 1 / (1 + B)."""
    return (1 + len(largest) - int(np.searchsorted(largest, statistic))) / (1 + len(largest))


def _reach(largest: Floats, alpha: float, pairs: _Pairs) -> Floats:
    """(P,) How far limits reach, in standard errors; by Student's t where B resamples cannot resolve alpha."""
    if alpha * (len(largest) + 1) >= 1 - _TIE:
        return np.full(len(pairs.mean), critical_value_of(largest, alpha))
    far: Floats = np.maximum(critical_values(1 - alpha / len(pairs.mean), pairs.count - 1), largest[-1])
    return far


def _all_pairs(scores: Floats) -> _Pairs:
    first, second = np.triu_indices(scores.shape[1], 1)
    pairs = _Pairs(first, second, scores[:, first] - scores[:, second])
    return pairs.chosen(pairs.count >= FEWEST)


def _undefined(reason: str, n: int) -> Gap:
    return Gap(None, None, Estimate(None, None, None, n, reason), Test(_NAME, None, None, n, reason))


def _equal(pairs: _Pairs, level: float) -> Gap:
    """All segments have the same scores: nothing differs."""
    n, reason = len(pairs.differences), "all segments have the same scores"
    limits = Interval(0.0, 0.0, level, "degenerate")
    test = Test(_NAME, 0.0, 1.0, n, reason)
    columns = int(pairs.first[0]), int(pairs.second[0])
    return Gap(0.0, 0.0, Estimate(0.0, limits, None, n, reason), test, *columns, limits)


def _flipped(pairs: _Pairs, resamples: int, seed: int, purpose: str) -> tuple[Floats, Floats]:
    """The largest |t| of a pair under random signs of the questions (B,), and the largest mean difference (fewer)."""
    flips = _signs(len(pairs.centred), resamples, seed, purpose)
    scaled = pairs.centred / np.sqrt(pairs.squares)  # t rises with the sum of these, so that one t per resample will do
    studentized = np.zeros(resamples)
    for count in np.unique(pairs.count).tolist():
        own = scaled[:, pairs.count == count]
        share = np.minimum(_largest(flips, own) ** 2 / count, 1 - _TIE)  # of the squares that the mean takes
        studentized = np.maximum(studentized, np.sqrt((count - 1) * share / (1 - share)))
    widened = pairs.centred * np.sqrt(pairs.count / (pairs.count - 1)) / pairs.count
    return studentized, _largest(flips[:_EXPECTED_FROM], widened)


def _largest(flips: Truths, columns: Floats) -> Floats:
    """(B,) The largest |Σ ±x| of a column."""
    out, batch = np.empty(len(flips)), max(1, _BATCH // columns.shape[1])
    for first in range(0, len(flips), batch):
        sums = np.where(flips[first : first + batch], 1.0, -1.0) @ columns
        out[first : first + batch] = np.maximum(sums.max(axis=1), -sums.min(axis=1))
    return out


@lru_cache(maxsize=4)
def _signs(n: int, resamples: int, seed: int, purpose: str) -> Truths:
    """(B, n) Random signs, whether +1; the same for all models, so that they are kept, a byte each."""
    found = signs(stream_key(seed, purpose), 0, resamples, n)
    found.setflags(write=False)
    return found


def _limits(pairs: _Pairs, largest: Floats, p: float, family: int, level: float) -> Interval:
    """The limits of one of a family of gaps."""
    size, width = np.abs(pairs.mean), _reach(largest, (1 - level) / family, pairs) * pairs.error
    found = max(0.0, float((size - width).max())), float((size + width).max())
    low, high = agreeing(*found, min(p * family, 1.0), 1 - level, float(size.max()))
    return Interval(float(low), float(high), level, _NAME if family == 1 else f"{_NAME}, simultaneous")


@dataclass(frozen=True, slots=True)
class Expected:
    """What the gap between published scores would be if all segments were equally well predicted."""

    mean: float
    high: float  # its upper quantile at the level


def expected_gap(
    scores: Floats,
    at_equal_n: Floats,
    *,
    confidence_level: float = 0.95,
    resamples: int = 10_000,
    seed: int = 0,
    purpose: str = "gaps",
) -> Expected:
    """Max − min of the column means under equal accuracy: what each segment gains by its own n, and noise.

    ``scores`` (Q, S) are as published, ``at_equal_n`` the same thinned to equal n; the mean of their difference is what
    a segment gains by having more respondents.
    """
    there = ~np.isnan(scores)
    rows, columns = there.any(axis=1), there.any(axis=0)
    scores, at_equal_n = scores[rows][:, columns], at_equal_n[rows][:, columns]
    advantage = np.nanmean(scores - at_equal_n, axis=0)
    count = (~np.isnan(scores)).sum(axis=0)
    # what a question adds to all segments alike cancels in a difference: it must not count as noise
    residual = scores - np.nanmean(scores, axis=1, keepdims=True)
    residual = np.nan_to_num(residual - np.nanmean(residual, axis=0), nan=0.0)
    scale = np.sqrt(count / np.maximum(count - 1, 1)) / count
    flips = _signs(len(scores), min(resamples, _EXPECTED_FROM), seed, purpose)
    gaps = np.ptp(advantage + (np.where(flips, 1.0, -1.0) @ residual) * scale, axis=1)
    return Expected(float(gaps.mean()), float(np.quantile(gaps, confidence_level)))


# ---------------------------------------------------------------------------------------- true gaps on given questions


@dataclass(frozen=True, eq=False)
class NoisySegment:
    """One segment's mean score: what it would be without any divergence, the root that is measured, and its noise."""

    whole: float
    measured: float
    curve: ExpectedRoots
    noise: Floats  # (B,) replicates of the error of the measured score, in standard errors

    @property
    def score(self) -> float:
        """The mean score without noise."""
        return self.whole - self.curve.solved(self.measured)

    @property
    def error(self) -> float:
        """The standard error of `score`."""
        return self.curve.error_at(self.measured) * self.curve.amplified(self.measured)

    def found(self, score: float) -> Floats:
        """(B,) What replicates would find if this were the true score."""
        at = max(self.whole - score, 0.0) / self.curve.slope
        expected, error = (float(np.interp(at, GRID, part)) for part in (self.curve.expected, self.curve.error))
        rising = np.maximum.accumulate(self.curve.expected)
        return np.asarray(self.whole - self.curve.slope * np.interp(expected - error * self.noise, rising, GRID))


def sampling_gap(segments: Sequence[NoisySegment], *, confidence_level: float = 0.95) -> Estimate:
    """The true max − min of the scores of segments, the questions being these and the respondents drawn again.

    Noise adds to every gap, and to small ones most, so the replicates of the gap say nothing of it as they are. Instead
    true gaps are tried, from 0 upwards: the true scores are those nearest to the ones that were found, in standard
    errors, that have this gap; each segment is measured with the noise of a replicate, and corrected as the real one
    is. The interval are the true gaps for which the one that was found is between the quantiles of the replicates, the
    estimate is the one for which it is their median: each may be 0.
    """
    scores = np.array([segment.score for segment in segments])
    errors, size = np.array([max(segment.error, _TIE) for segment in segments]), float(np.ptp(scores))
    gaps = _TRIED * max(size, float(errors.max()))
    levels = [0.5 + confidence_level / 2, 0.5, 0.5 - confidence_level / 2]
    tried = []
    for gap in gaps.tolist():
        true = _nearest(scores, errors, gap).tolist()
        replicates = [one.found(score) for one, score in zip(segments, true, strict=True)]
        tried.append(np.quantile(np.ptp(replicates, axis=0), levels))
    low, value, high = (
        float(np.interp(size, np.maximum.accumulate(column), gaps)) if size > column[0] else 0.0
        for column in np.array(tried).T
    )
    return Estimate(value, Interval(low, high, confidence_level, "respondents, inverted"), None, len(segments))


def _nearest(scores: Floats, errors: Floats, gap: float) -> Floats:
    """Scores with this max − min, as few standard errors as possible from those that were found.

    A smaller gap: all that is outside of a window goes to its edge, the window being where that costs least. A larger
    one: the best and the worst move apart, the noisier one further.
    """
    size = float(np.ptp(scores))
    if gap >= size:
        top, bottom = int(np.argmax(scores)), int(np.argmin(scores))
        share = errors[top] ** 2 / (errors[top] ** 2 + errors[bottom] ** 2)
        moved = scores.copy()
        moved[top] += share * (gap - size)
        moved[bottom] -= (1 - share) * (gap - size)
        return moved
    starts = np.linspace(scores.min(), scores.max() - gap, _WINDOWS)[:, None]
    inside = np.clip(scores, starts, starts + gap)
    return np.asarray(inside[np.argmin((((inside - scores) / errors) ** 2).sum(axis=1))])
