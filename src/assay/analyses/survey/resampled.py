"""Scores under multinomial resampling of the respondents (S3), for every model from the same draws."""

from dataclasses import dataclass

import numpy as np

from assay.data.panel import Floats, Integers
from assay.data.survey import OK, SCORE_ONLY, Predictions, Truth
from assay.design import Design
from assay.errors import InputError
from assay.stats.multinomial import Predicted, Respondents, resampled_scores

DEFAULT_RESPONDENT_RESAMPLES = 1_000
_MOST_SUMS = 2e8  # numbers held at once


@dataclass(frozen=True, eq=False)
class Resampled:
    """Replicates of scores; NaN where a model has no answer with a distribution."""

    columns: tuple[tuple[int, int | None], ...]  # (L,) the model and its context level, None for all
    by_segment: Floats  # (S, L, B)
    by_question: Floats  # (Q, L, B)

    @property
    def overall(self) -> Floats:
        """(L, B) The mean over segments."""
        there = ~np.isnan(self.by_segment)
        counts = there.sum(axis=0)
        sums = np.where(there, self.by_segment, 0.0).sum(axis=0)
        return np.asarray(np.divide(sums, counts, out=np.full(sums.shape, np.nan), where=counts > 0))


def resample(truth: Truth, predictions: Predictions, row_scores: Floats, design: Design, *, by: str) -> Resampled:
    """Draw the respondents of every cell again. Failed answers keep their fixed score; scores alone are left out."""
    rows = np.flatnonzero(~np.isnan(row_scores) & (predictions.status != SCORE_ONLY))
    column, columns = _columns(predictions, rows, by=by)
    drawn, fixed, there = _sums(truth, predictions, (rows, column, len(columns)), row_scores, design)
    segments, questions = len(truth.segments), len(truth.questions)
    means = np.full((segments + questions, len(columns), drawn.shape[1]), np.nan)
    for part in range(len(columns)):
        has = there[:, part] > 0
        means[has, part] = (drawn[has, :, part] + fixed[has, part, None]) / there[has, part, None]
    return Resampled(columns, means[:segments], means[segments:])


def _columns(
    predictions: Predictions, rows: Integers, *, by: str
) -> tuple[Integers, tuple[tuple[int, int | None], ...]]:
    """The column of each row."""
    if by == "cell":
        return predictions.model[rows], tuple((m, None) for m in range(len(predictions.models)))
    levels = predictions.contexts
    place = np.searchsorted(levels, predictions.context[rows])
    column = predictions.model[rows] * len(levels) + place
    return column, tuple((m, level) for m in range(len(predictions.models)) for level in levels)


def _sums(
    truth: Truth, predictions: Predictions, chosen: tuple[Integers, Integers, int], row_scores: Floats, design: Design
) -> tuple[Floats, Floats, Floats]:
    """By segment, then by question: Σ of drawn scores (·, B, L), of fixed ones (·, L), and how many cells there are."""
    (rows, column, count), blocks = chosen, len(truth.segments) + len(truth.questions)
    resamples = design.resamples or DEFAULT_RESPONDENT_RESAMPLES
    cell, read = predictions.cell[rows], predictions.status[rows] == OK
    here = np.bincount(cell * count + column, minlength=len(truth) * count).reshape(len(truth), count)
    weight = 1 / here[cell, column]  # an answer's share of its cell
    places = np.stack([truth.segment, len(truth.segments) + truth.question], axis=1)  # (C, 2)
    fixed, there = np.zeros((blocks, count)), np.zeros((blocks, count))
    failed = ~read
    for g in range(2):
        np.add.at(fixed, (places[cell[failed], g], column[failed]), (weight * row_scores[rows])[failed])
        np.add.at(there, places[:, g], here > 0)
    # answers of one model about one cell go into slots side by side
    slot = _numbered(cell, column)
    slots = int(slot.max(initial=-1)) + 1
    if float(blocks) * resamples * count > _MOST_SUMS:
        raise InputError(
            f"{resamples:,} resamples of {count:,} columns do not fit into memory; take fewer --resamples."
        )
    out = np.zeros((blocks, resamples, count))
    people = Respondents(truth.shares, truth.options, truth.n)
    for s in range(slots):
        own = np.flatnonzero((slot == s) & read)
        shares = np.zeros((len(truth), count, truth.shares.shape[1]))
        weights = np.zeros((len(truth), count))
        shares[cell[own], column[own]] = predictions.shares[rows[own]]
        weights[cell[own], column[own]] = weight[own]
        out += resampled_scores(people, Predicted(shares, weights, places), resamples, design.seed)
    return out, fixed, there


def _numbered(cell: Integers, column: Integers) -> Integers:
    """0, 1, … for the answers with the same cell and column."""
    order = np.lexsort((column, cell))
    same = (np.diff(cell[order]) == 0) & (np.diff(column[order]) == 0)
    starts = np.flatnonzero(np.concatenate([[True], ~same])[: len(cell)])
    found = np.empty(len(cell), dtype=np.int64)
    found[order] = np.arange(len(cell)) - np.repeat(starts, np.diff(np.append(starts, len(cell))))
    return found
