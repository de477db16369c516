"""Scores under multinomial resampling of the respondents (S3), for every model from the same draws."""

from dataclasses import dataclass

import numpy as np

from assay.data.survey import OK, SCORE_ONLY, Predictions, Truth
from assay.design import Design
from assay.errors import InputError
from assay.stats.survey.multinomial import Predicted, Respondents, resampled_scores
from assay.stats.units import Floats, Integers

DEFAULT_RESPONDENT_RESAMPLES = 1_000
_MOST_SUMS = 2e8  # numbers held at once


@dataclass(frozen=True, eq=False)
class Resampled:
    """Replicates of scores; NaN where a model has no answer with a distribution."""

    columns: tuple[tuple[int, int | None], ...]  # (L,) the model and its context level, None for all
    by_segment: Floats  # (S, L, B)
    by_question: Floats  # (Q, L, B)
    compared: Floats  # (S, L, B) segments without the questions that define them

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
    plain = _means(drawn, fixed, there)
    compared = plain[:segments]
    if len(drawn) > segments + questions:  # what defines a segment was added up apart
        for part in (drawn, fixed, there):
            part[:segments] += part[segments + questions :]
        plain = _means(drawn, fixed, there)
    return Resampled(columns, plain[:segments], plain[segments : segments + questions], compared)


def _means(drawn: Floats, fixed: Floats, there: Floats) -> Floats:
    """(·, L, B) Of sums (·, B, L); NaN where there is none."""
    means = np.full((drawn.shape[0], drawn.shape[2], drawn.shape[1]), np.nan)
    for part in range(drawn.shape[2]):
        has = there[:, part] > 0
        means[has, part] = (drawn[has, :, part] + fixed[has, part, None]) / there[has, part, None]
    return means


def places_of(truth: Truth) -> Integers:
    """(C, 2) The sums of a cell: of its segment (of a question that defines it, one apart), and of its question."""
    segments, questions = len(truth.segments), len(truth.questions)
    own = np.where(truth.defining, segments + questions + truth.segment, truth.segment)
    return np.stack([own, segments + truth.question], axis=1)


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
    """By segment, question and what defines a segment: Σ of drawn scores (·, B, L), of fixed ones (·, L), and cells."""
    (rows, column, count), places = chosen, places_of(truth)
    blocks = len(truth.segments) * (2 if truth.defining.any() else 1) + len(truth.questions)
    resamples = design.resamples or DEFAULT_RESPONDENT_RESAMPLES
    cell, read = predictions.cell[rows], predictions.status[rows] == OK
    here = np.bincount(cell * count + column, minlength=len(truth) * count).reshape(len(truth), count)
    weight = 1 / here[cell, column]  # an answer's share of its cell
    fixed, there = np.zeros((blocks, count)), np.zeros((blocks, count))
    failed = ~read
    for g in range(2):
        np.add.at(fixed, (places[cell[failed], g], column[failed]), (weight * row_scores[rows])[failed])
        np.add.at(there, places[:, g], here > 0)
    if float(blocks) * resamples * count > _MOST_SUMS:
        raise InputError(
            f"{resamples:,} resamples of {count:,} columns do not fit into memory; take fewer --resamples."
        )
    out = np.zeros((blocks, resamples, count))
    _add(out, truth, places, (cell[read], column[read], weight[read], predictions.shares[rows[read]]), design.seed)
    return out, fixed, there


def _add(
    out: Floats, truth: Truth, places: Integers, answers: tuple[Integers, Integers, Floats, Floats], seed: int
) -> None:
    """Add Σ weight · score of answers (cell, column, weight, shares), drawn again, to out (blocks, B, L)."""
    cell, column, weight, predicted = answers
    slot = _numbered(cell, column)  # answers of one column about one cell go into slots side by side
    people = Respondents(truth.shares, truth.options, truth.n)
    for s in range(int(slot.max(initial=-1)) + 1):
        own = np.flatnonzero(slot == s)
        shares = np.zeros((len(truth), out.shape[2], truth.shares.shape[1]))
        weights = np.zeros((len(truth), out.shape[2]))
        shares[cell[own], column[own]] = predicted[own]
        weights[cell[own], column[own]] = weight[own]
        found = resampled_scores(people, Predicted(shares, weights, places), out.shape[1], seed)
        out[: len(found)] += found


def resample_sums(truth: Truth, predictions: Predictions, weights: Floats, design: Design) -> Floats:
    """(G, B, M, L) Σ weight · score of the answers that were read, by category, model and context level.

    From the same draws as `resample`. Answers of weight (R,) 0 are left out.
    """
    rows = np.flatnonzero((weights != 0) & (predictions.status == OK))
    column, columns = _columns(predictions, rows, by="context")
    names = list(truth.categories)
    category = np.array([names.index(segment.category) for segment in truth.segments], dtype=np.int64)[truth.segment]
    out = np.zeros((len(names), design.resamples or DEFAULT_RESPONDENT_RESAMPLES, len(columns)))
    answers = predictions.cell[rows], column, weights[rows], predictions.shares[rows]
    _add(out, truth, category[:, None], answers, design.seed)
    return out.reshape(len(names), out.shape[1], len(predictions.models), -1)


def _numbered(cell: Integers, column: Integers) -> Integers:
    """0, 1, … for the answers with the same cell and column."""
    order = np.lexsort((column, cell))
    same = (np.diff(cell[order]) == 0) & (np.diff(column[order]) == 0)
    starts = np.flatnonzero(np.concatenate([[True], ~same])[: len(cell)])
    found = np.empty(len(cell), dtype=np.int64)
    found[order] = np.arange(len(cell)) - np.repeat(starts, np.diff(np.append(starts, len(cell))))
    return found
