"""Scores against the true shares: the noise of the sample taken off (C3).

The score of a sample is too low, and drawing the sample again makes it lower still. But JSD(p̂, q) less its expected
excess (`assay.stats.divergence.expected_excess`) is right on average, whatever the true divergence J, and so is a mean
of such terms, with a variance in closed form. A mean score is 1 − mean √J = 1 − c·√(mean J), where c depends on how
uneven the J are. To find c, the J of a model are taken to be the measured divergences, scaled in each segment to the
model's mean J; then the root that a sample of n would show for them is known (`expected_root`), and the measured scores
are corrected by it. The limits of the mean J become those of the mean score.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from assay.analyses.survey.loaded import Survey
from assay.data.panel import Floats, Integers
from assay.data.survey import OK
from assay.stats.divergence import expected_excess, expected_root, sampling_variance
from assay.stats.records import Estimate, Interval
from assay.stats.special import normal_quantile

METHOD = "debiased divergence"
_UNSEEN = 0.88  # c where the divergences are all noise: that of errors in two to five options
_LEAST, _MOST = 0.6, 1.0
_WHY = "no answer of the model has a distribution"


@dataclass(frozen=True, eq=False)
class Moments:
    """The divergences of the answers that were read, without their noise; of the others 0."""

    read: "np.ndarray[tuple[int], np.dtype[np.bool_]]"  # (R,)
    jsd: Floats  # (R,) less its expected excess
    variance: Floats  # (R,)
    roundness: Floats  # (M,) mean √J / √(mean J)


def moments(survey: Survey) -> Moments:
    """What is known of every answer's divergence."""
    predictions, truth = survey.predictions, survey.truth
    read = np.asarray(predictions.status == OK)
    jsd, variance, noise = (np.zeros(len(predictions)) for _ in range(3))
    cell = predictions.cell[read]
    p, q, n = survey.likely[cell], predictions.shares[read], truth.n[cell]
    noise[read] = expected_excess(p, q, n)
    jsd[read] = survey.row_divergences[read] - noise[read]
    variance[read] = sampling_variance(p, q, n.astype(np.float64))
    roundness = _roundness(survey, np.where(read, overall_weights(survey), 0.0), (jsd, noise, variance))
    return Moments(read, jsd, variance, roundness)


def _roundness(survey: Survey, weights: Floats, parts: tuple[Floats, Floats, Floats]) -> Floats:
    """(M,) c of every model."""
    (jsd, noise, variance), models = parts, len(survey.models)
    model = survey.predictions.model
    share = np.maximum(np.bincount(model, weights, models), 1e-300)
    mean = np.maximum(np.bincount(model, weights * jsd, models) / share, 0.0)
    measured = np.maximum(jsd + noise, 0.0)
    group = model * len(survey.truth.segments) + survey.truth.segment[survey.predictions.cell]
    sums, counts = np.bincount(group, weights * measured), np.bincount(group, weights)
    scale = np.divide(counts, sums, out=np.zeros(len(sums)), where=sums > 0)
    true = mean[model] * measured * scale[group]
    off = expected_root(true + noise, variance) - np.sqrt(true)  # by how much a sample's root is too large
    root = np.bincount(model, weights * (np.sqrt(measured) - off), models) / share
    found = np.divide(root, np.sqrt(mean), out=np.full(models, _UNSEEN), where=mean > 1e-12)
    return np.asarray(np.clip(found, _LEAST, _MOST))


def weights_within(survey: Survey, groups: Integers, count: int) -> Floats:
    """(R,) The share of an answer in the score of its model on its group (C,): means of answers, then of cells."""
    predictions, models = survey.predictions, len(survey.models)
    there = ~np.isnan(survey.row_scores)
    place = predictions.cell * models + predictions.model
    per_cell = np.bincount(place[there], minlength=len(survey.truth) * models)
    per_group = np.zeros((count, models))
    np.add.at(per_group, groups, ~np.isnan(survey.scores))
    weight = np.zeros(len(predictions))
    own = groups[predictions.cell[there]], predictions.model[there]
    weight[there] = 1 / (per_cell[place[there]] * per_group[own])
    return weight


def overall_weights(survey: Survey) -> Floats:
    """(R,) The share of an answer in the overall score of its model: means of cells, then of segments."""
    within = weights_within(survey, survey.truth.segment, len(survey.truth.segments))
    has = ~np.isnan(survey.by_segment(survey.scores))
    return np.asarray(within / np.maximum(has.sum(axis=0), 1)[survey.predictions.model])


@dataclass(frozen=True, slots=True)
class Corrected:
    """A mean score and a mean divergence without the noise of the sample."""

    score: Estimate
    divergence: Estimate


def corrected(
    survey: Survey, found: Moments, groups: tuple[Integers, int], weights: Floats, level: float
) -> list[list[Corrected]]:
    """[group][model] From the share of each answer (R,) in the score of its group (C,) and model."""
    (codes, count), models = groups, len(survey.models)
    predictions = survey.predictions
    place = codes[predictions.cell] * models + predictions.model
    weight = np.where(found.read, weights, 0.0)
    sums = [
        np.bincount(place, values, count * models)
        for values in (
            weight,
            weight * found.jsd,
            np.where(found.read, 0.0, weights * np.nan_to_num(survey.row_scores)),
        )
    ]
    # several answers about one cell share its noise: their errors add up
    cells = predictions.cell * models + predictions.model
    error = np.bincount(cells, weight * np.sqrt(found.variance), len(survey.truth) * models).reshape(-1, models)
    squares = np.zeros((count, models))
    np.add.at(squares, codes, error**2)
    answers = np.bincount(place, found.read.astype(np.float64), count * models).astype(int)
    columns = [*(s.tolist() for s in sums), np.sqrt(squares).ravel().tolist(), answers.tolist()]
    rows = list(zip(*columns, strict=True))
    return [
        [_corrected(rows[g * models + m], float(found.roundness[m]), level) for m in range(models)]
        for g in range(count)
    ]


def _corrected(sums: Sequence[float], roundness: float, level: float) -> Corrected:
    share, jsd, fixed, error, answers = sums
    n = int(answers)
    if not share > 0:
        nothing = Estimate(None, None, None, n, _WHY)
        return Corrected(nothing, nothing)
    mean, error = jsd / share, error / share
    reach = normal_quantile(0.5 + level / 2) * error

    def score(divergence: float) -> float:
        return float(fixed + share * (1 - roundness * max(divergence, 0.0) ** 0.5))

    limits = Interval(score(mean + reach), score(mean - reach), level, METHOD)
    between = Interval(max(mean - reach, 0.0), max(mean + reach, 0.0), level, "normal")
    spread = (limits.high - limits.low) / (2 * normal_quantile(0.5 + level / 2))
    return Corrected(Estimate(score(mean), limits, spread, n), Estimate(max(mean, 0.0), between, error, n))
