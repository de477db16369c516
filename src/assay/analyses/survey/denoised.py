"""Scores against the true shares: the noise of the sample taken off (C3).

The score of a sample is too low, and drawing the sample again makes it lower still. What true mean root of the
divergences would give the measured one, at these numbers of respondents, is known (`assay.stats.survey.denoised`): the
estimate is where the two agree, the limits are where they differ by as much as chance allows. How the divergences of a
model are spread has to be estimated too, and its error is added.

The mean divergence itself needs no such inversion: JSD(p̂, q) less its expected excess is right on average, whatever the
true divergence, and so is a mean of such terms, with a variance in closed form.

Nobody who was not shown the answers of these respondents can predict them better than the true shares do. A score above
the ceiling says that the sample, or a part of it, was in what the model was made from. Corrections for noise assume
that a prediction does not know the noise, and say nothing of such a model.
"""

from dataclasses import dataclass
from math import exp, sqrt

import numpy as np

from assay.analyses.survey.cells import segments_alike, shared_cells
from assay.analyses.survey.evidence import Survey
from assay.analyses.survey.respondents import NoisyAnswers
from assay.stats.bootstrap import interval
from assay.stats.numerics import normal_quantile
from assay.stats.records import Estimate, Interval
from assay.stats.survey.denoised import ExpectedRoots
from assay.stats.units import Floats, Integers, Units

METHOD = "inverted noise"
_WHY = "no answer of the model has a distribution"


def weights_within(survey: Survey, model: int, groups: Integers, count: int) -> Floats:
    """(C, P) The weight of a cell in the model's score on its group (C,), −1 for none: means of cells."""
    weights = np.zeros((len(survey.truth), count))
    there = np.flatnonzero(~np.isnan(survey.scores[:, model]) & (groups >= 0))
    per_group = np.bincount(groups[there], minlength=count)
    weights[there, groups[there]] = 1 / per_group[groups[there]]
    return weights


def overall_weights(survey: Survey, model: int) -> Floats:
    """(C, 1) The weight of a cell in the model's overall score: means of cells, then of segments."""
    within = weights_within(survey, model, survey.truth.segment, len(survey.truth.segments))
    return np.asarray(within.sum(axis=1, keepdims=True) / max(int((within.sum(axis=0) > 0).sum()), 1))


@dataclass(frozen=True, eq=False)
class CellSets:
    """Sets of cells of one model: what is fixed of their scores, and what depends on noise."""

    answers: NoisyAnswers
    weights: Floats  # (cells that were read, P)
    whole: Floats  # (P,) the score without any divergence: what was read, and failures at their fixed scores
    read: Integers  # (P,) answers

    @property
    def measured(self) -> list[float]:
        """(P,) Mean √JSD."""
        return list(self.answers.measured_roots(self.weights))


def parts_of(survey: Survey, model: int, weights: Floats) -> CellSets:
    """From the weight of every cell in every part (C, P)."""
    answers, predictions = survey.noisy[model], survey.predictions
    own = np.flatnonzero((predictions.model == model) & ~np.isnan(survey.row_scores))
    best = survey.row_scores[own].copy()
    best[np.isin(own, answers.rows)] = 1.0
    per_cell = np.bincount(predictions.cell[own], minlength=len(survey.truth))
    fixed = np.bincount(predictions.cell[own], best, len(survey.truth)) / np.maximum(per_cell, 1)
    count = np.bincount(answers.cell, minlength=len(survey.truth))
    return CellSets(answers, weights[answers.cells], fixed @ weights, np.asarray(count @ (weights > 0), dtype=np.int64))


def corrected(parts: CellSets, level: float) -> list[Estimate]:
    """(P,) The score of each part against the true shares."""
    if not len(parts.answers.rows):
        return [Estimate(None, None, None, 0, _WHY)] * len(parts.whole)
    spread = parts.answers.spread
    shapes = [None, *(spread.shape * exp(sign * spread.log_error) for sign in (-1, 1))]
    curves = zip(*(parts.answers.curves(parts.weights, shape) for shape in shapes), strict=True)
    z, measured = normal_quantile(0.5 + level / 2), parts.measured
    return [
        _corrected(list(own), (measured[p], float(parts.whole[p]), int(parts.read[p])), z, level)
        for p, own in enumerate(curves)
    ]


def _corrected(curves: list[ExpectedRoots], part: tuple[float, float, int], z: float, level: float) -> Estimate:
    measured, whole, read = part
    if not read:
        return Estimate(None, None, None, 0, _WHY)
    value, low, high = (curves[0].solved(measured, reach) for reach in (0.0, z, -z))
    one, two = (curve.solved(measured) for curve in curves[1:])
    shape = z * abs(one - two) / 2
    low, high = max(value - sqrt((value - low) ** 2 + shape**2), 0.0), value + sqrt((high - value) ** 2 + shape**2)
    limits = Interval(max(whole - high, 0.0), whole - low, level, METHOD)
    return Estimate(whole - value, limits, (limits.high - limits.low) / (2 * z), read)


def divergence_of(parts: CellSets, level: float) -> Estimate:
    """The mean JSD of the first part without its noise; of answers that were read."""
    answers, weights = parts.answers, parts.weights[:, 0]
    share = float(answers.by_cell(np.ones(len(answers.rows))) @ weights) if len(answers.rows) else 0.0
    if not share > 0:
        return Estimate(None, None, None, 0, _WHY)
    mean = float(answers.by_cell(answers.jsd) @ weights) / share
    error = sqrt(float(answers.by_cell(np.sqrt(answers.noise.variance)) ** 2 @ weights**2)) / share
    reach = normal_quantile(0.5 + level / 2) * error
    limits = Interval(max(mean - reach, 0.0), max(mean + reach, 0.0), level, "normal")
    return Estimate(max(mean, 0.0), limits, error, int(parts.read[0]))


KNOWS_THE_SAMPLE = "a score above that of a perfect prediction knows the sample, so that noise cannot be taken off"


def beyond_ceiling(survey: Survey, level: float) -> tuple[bool, ...]:
    """(M,) Whether each model is shown to be above the ceiling, questions as clusters, at the level for all of them."""
    alone = 1 - 2 * (1 - level) / max(len(survey.models), 1)  # one-sided, Bonferroni
    return tuple(_beyond(survey, m, alone) for m in range(len(survey.models)))


def _beyond(survey: Survey, m: int, level: float) -> bool:
    panel = shared_cells(survey.panel_of(survey.scores[:, m], survey.ceiling))
    if panel is None:
        return False
    found: Units = segments_alike(panel).grid.pair(0, 1)
    return found.n > 1 and interval(found, method="t", confidence_level=level).interval.low > 0
