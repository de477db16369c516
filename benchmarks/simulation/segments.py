"""Predictions for segments of unequal size and noise, and how often tests of their gap reject."""

from dataclasses import dataclass, field
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from assay.stats.survey import divergence, similarity, thinned_scores
from assay.stats.survey.denoised import noise_of
from assay.stats.survey.published import analytical_gap, score_variance
from assay.stats.survey.respondents import DRAWS, thinned
from assay.stats.units import Floats

Integers = NDArray[np.int64]

OPTIONS = 4
NOMINAL = 0.05
_MANY = 40_000  # questions by which segments are made equal
_SMALL, _MIXED = (30, 60, 120, 300, 1000), (10, 10, 11, 12, 13, 15, 15, 16, 18, 20, 22, 25, 30, 35, 50, 70, 100, 180)


@dataclass(frozen=True)
class Scenario:
    """A prediction is √JSD = distance ± spread from the truth, and ``worse`` more in one segment."""

    label: str
    n: tuple[int, ...]
    distance: float  # 0: a perfect model
    spread: tuple[float, ...] = field(default=(0.06,))
    worse: tuple[int, float] = (0, 0.0)  # the segment, and by how much

    @property
    def null(self) -> bool:
        return self.worse[1] == 0


NULLS = [
    Scenario("equal n, equal noise", (100,) * 5, 0.2),
    Scenario("unequal n", _SMALL, 0.2),
    Scenario("unequal n, small segments noisier", _SMALL, 0.22, (0.12, 0.1, 0.08, 0.06, 0.03)),
    Scenario("unequal n, large segments noisier", _SMALL, 0.22, (0.03, 0.04, 0.06, 0.1, 0.12)),
    Scenario("unequal n, a good model", _SMALL, 0.08, (0.03,)),
    Scenario("unequal n, a perfect model", _SMALL, 0.0, (0.0,)),
    Scenario("18 segments of 10 to 180", _MIXED, 0.2),
]
ALTERNATIVES = [
    Scenario("smallest segment 0.05 worse", _SMALL, 0.2, worse=(0, 0.05)),
    Scenario("largest segment 0.05 worse", _SMALL, 0.2, worse=(4, 0.05)),
    Scenario("middle segment 0.05 worse", _SMALL, 0.2, worse=(2, 0.05)),
    Scenario("good model, largest 0.03 worse", _SMALL, 0.08, (0.03,), worse=(4, 0.03)),
]


@dataclass(frozen=True, eq=False)
class Sample:
    """One simulated category: what was answered, what was predicted."""

    truth: Floats  # (Q, S, K)
    predicted: Floats  # (Q, S, K)
    counts: Integers  # (Q, S, K)


def sample(scenario: Scenario, questions: int, seed: int) -> Sample:
    """Segments answer a question alike, and the prediction is a step from the truth towards an unlikely answer."""
    return _drawn(scenario, questions, np.random.default_rng(seed), _shifts(scenario))


def _drawn(scenario: Scenario, questions: int, rng: np.random.Generator, shift: Floats) -> Sample:
    shape = (questions, len(scenario.n))
    alike = rng.dirichlet(np.ones(OPTIONS), questions)[:, None, :]
    truth = rng.gamma(20 * alike + 0.3, size=(*shape, OPTIONS))
    truth /= truth.sum(axis=-1, keepdims=True)
    away = np.eye(OPTIONS)[truth.argmin(axis=-1)]
    spread = np.sqrt(3) * np.asarray(scenario.spread) * rng.uniform(-1, 1, shape)
    wanted = np.maximum(scenario.distance + shift + spread, 0.0)
    counts = rng.multinomial(np.broadcast_to(scenario.n, shape), truth)
    return Sample(truth, _stepped(truth, away, wanted), counts)


def _stepped(truth: Floats, away: Floats, wanted: Floats) -> Floats:
    """The mixture of both that is √JSD = wanted from the truth, by bisection."""
    low, high = np.zeros(wanted.shape), np.ones(wanted.shape)
    for _ in range(30):
        step = (low + high) / 2
        far = divergence(truth, _mixed(truth, away, step), floor=0.0) > wanted**2
        low, high = np.where(far, low, step), np.where(far, step, high)
    return _mixed(truth, away, low)


def _mixed(truth: Floats, away: Floats, step: Floats) -> Floats:
    return np.asarray((1 - step)[..., None] * truth + step[..., None] * away)


@lru_cache(maxsize=64)
def _shifts(scenario: Scenario) -> Floats:
    """What makes the expected scores of all segments equal at the smallest n, up to the one that is to be worse."""
    shift = np.zeros(len(scenario.n))
    for _ in range(4 if len(scenario.spread) > 1 else 0):
        mean = _mean_scores(scenario, shift)
        shift += 1.2 * (mean - mean.mean())
    shift[scenario.worse[0]] += scenario.worse[1]
    return shift


def _mean_scores(scenario: Scenario, shift: Floats) -> Floats:
    """(S,) Expected scores at the smallest n."""
    rng = np.random.default_rng(2**32)
    drawn = _drawn(scenario, _MANY, rng, shift)
    least = min(scenario.n)
    counts = rng.multinomial(least, drawn.truth)
    return np.asarray(similarity(counts / least, drawn.predicted, floor=0.0).mean(axis=0))


@lru_cache(maxsize=64)
def true_gap(scenario: Scenario) -> float:
    """The gap between expected scores at the smallest n; 0 under the null, which is exact but for the simulation."""
    return 0.0 if scenario.null else float(np.ptp(_mean_scores(scenario, _shifts(scenario))))


def raw_scores(found: Sample) -> Floats:
    return similarity(found.counts / found.counts.sum(axis=-1, keepdims=True), found.predicted)


def equal_scores(found: Sample, seed: int) -> Floats:
    """(Q, S) Scores thinned to the smallest segment."""
    shape = found.counts.shape
    counts = found.counts.reshape(-1, shape[2])
    sizes = np.full(len(counts), counts.sum(axis=1).min())
    parts = thinned(counts, sizes, DRAWS, seed)
    return thinned_scores(parts, np.arange(len(counts)), found.predicted.reshape(-1, shape[2])).reshape(shape[:2])


# ------------------------------------------------------------------------------------------ other tests


def interval_above_zero(found: Sample, seed: int, resamples: int) -> bool:
    """The published resampling test: respondents are drawn again, and the 2.5 % quantile of max − min is above 0."""
    rng = np.random.default_rng(seed)
    size = found.counts.sum(axis=-1, keepdims=True)
    gaps = [
        np.ptp(similarity(rng.multinomial(size[..., 0], found.counts / size) / size, found.predicted).mean(axis=0))
        for _ in range(resamples)
    ]
    return bool(np.quantile(gaps, NOMINAL / 2) > 0)


def analytical(found: Sample) -> bool:
    """The published analytical test: the gap over the sampling error of its two segments, by the delta method."""
    shape, size = found.counts.shape, found.counts.sum(axis=-1)
    shares, told = (part.reshape(-1, shape[2]) for part in (found.counts / size[..., None], found.predicted))
    noise = noise_of(shares, told, size.ravel())
    variances = score_variance(divergence(shares, told), noise.variance, noise.excess).reshape(shape[:2])
    test = analytical_gap(raw_scores(found).mean(axis=0).tolist(), (variances.sum(axis=0) / shape[0] ** 2).tolist())
    return test.p_value is not None and test.p_value <= NOMINAL


def permuted(scores: Floats, seed: int, resamples: int, *, studentized: bool) -> bool:
    """Segment labels permuted within questions; studentized: the largest |t| of a pair instead of max − min."""
    rng = np.random.default_rng(seed)
    centred = scores - scores.mean(axis=1, keepdims=True)
    statistic = _largest_t if studentized else _range
    shuffled = rng.permuted(np.broadcast_to(centred, (resamples, *centred.shape)).copy(), axis=2)
    reached = int((statistic(shuffled) >= statistic(centred[None])[0] - 1e-12).sum())
    return (1 + reached) / (1 + resamples) <= NOMINAL


def _range(scores: Floats) -> Floats:
    return np.asarray(np.ptp(scores.mean(axis=1), axis=1))


def _largest_t(scores: Floats) -> Floats:
    """(B,) of (B, Q, S)."""
    questions = scores.shape[1]
    products = np.swapaxes(scores, 1, 2) @ scores
    first, second = np.triu_indices(scores.shape[2], 1)
    own = np.einsum("bii->bi", products)
    squares = own[:, first] + own[:, second] - 2 * products[:, first, second]
    sums = scores.sum(axis=1)
    gap = np.abs(sums[:, first] - sums[:, second])
    variance = np.maximum(squares - gap**2 / questions, 1e-300) * questions / (questions - 1)
    return np.asarray((gap / np.sqrt(variance)).max(axis=1))
