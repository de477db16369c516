"""The true gap between segments on given questions: who was asked varies, the questions do not (S3, C2)."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from assay.stats.records import Estimate, Interval
from assay.stats.survey.denoised import GRID, ExpectedRoots
from assay.stats.units import Floats

_TIE = 1e-9
_WINDOWS = 81
_TRIED = np.concatenate([np.linspace(0.0, 1.5, 21), np.geomspace(1.7, 12.0, 10)])


@dataclass(frozen=True, eq=False)
class NoisySegment:
    """One segment's mean score: what it would be without any divergence, the root that is measured, and its noise."""

    whole: float
    measured: float
    curve: ExpectedRoots
    noise: Floats  # (B,) replicates of the error of the measured score, in standard errors

    @property
    def score(self) -> float:
        """Without noise."""
        return self.whole - self.curve.solved(self.measured)

    @property
    def error(self) -> float:
        """The standard error of that."""
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
