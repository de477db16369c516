"""Shuffled within a question: what would the scores be if segments were mixed up? (S2)

Two nulls. The *source's* gives each segment the true answers of another: what a forecaster who knows every answer, but
not whose it is, would score. The *model's own* gives each segment the prediction that the model made for another: a
model that does not know which segment is which scores as well with its predictions mixed up.

Permutation b of a question is the order of random words that depend on (seed, b, question, segment) only; models that
lack some segments are permuted among those they have, by the same words.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from assay.analyses.survey.evidence import Survey
from assay.data.survey.predictions import OK, SCORE_ONLY
from assay.data.survey.truth import Truth
from assay.stats.streams import stream_key, words
from assay.stats.survey import similarity
from assay.stats.units import Floats, Integers


@dataclass(frozen=True, eq=False)
class Nulls:
    """Scores under permutations of the segments within questions."""

    truth: Floats  # (B,) of the true answers, mixed up
    models: Floats  # (M, B) of each model's own predictions
    observed: Floats  # (M,) of each model on the same cells


def nulls(survey: Survey, n_permutations: int, seed: int) -> Nulls:
    """Both null distributions. Failed answers take part with their fixed score; scores without shares are left out."""
    truth, models = survey.truth, len(survey.models)
    weights = survey.weights / survey.weights.sum()
    own, of_truth = np.zeros((models, n_permutations)), np.zeros(n_permutations)
    observed, mass = np.zeros(models), np.zeros(models)
    usable = np.flatnonzero(~np.isnan(survey.row_scores) & (survey.predictions.status != SCORE_ONLY))
    for cells in _by_question(truth):
        random = _words(truth, cells, n_permutations, seed)
        order = np.argsort(random, axis=1)  # (B, s)
        of_truth += _permuted(similarity(truth.shares[cells][:, None], truth.shares[cells]), order, weights[cells])
        tables, has = _tables(survey, cells, usable)
        for m in np.flatnonzero(has.any(axis=1)).tolist():
            there = has[m]
            keys = order if there.all() else np.argsort(random[:, there], axis=1)
            table, w = tables[m][np.ix_(there, there)], weights[cells][there]
            own[m] += _permuted(table, keys, w)
            observed[m] += float((w * np.diag(table)).sum())
            mass[m] += float(w.sum())
    whole = np.where(mass > 0, mass, np.nan)
    return Nulls(of_truth, own / whole[:, None], observed / whole)


def _by_question(truth: Truth) -> list[Integers]:
    order = np.argsort(truth.question, kind="stable")
    starts = np.flatnonzero(np.diff(truth.question[order], prepend=-1))
    return [np.asarray(part) for part in np.split(order, starts[1:])]


def _words(truth: Truth, cells: Integers, n_permutations: int, seed: int) -> NDArray[np.uint64]:
    """(B, s) A word for each segment of the question, whose order is the permutation."""
    question = truth.questions[int(truth.question[cells[0]])].id
    key = stream_key(seed, f"segments within {question}")
    return words(key, 0, n_permutations * len(cells)).reshape(n_permutations, len(cells))


def _permuted(table: Floats, order: Integers, weights: Floats) -> Floats:
    """(B,) Σ weight · table[order[s], s]."""
    return np.asarray((table[order, np.arange(len(weights))] * weights).sum(axis=1))


def _tables(survey: Survey, cells: Integers, usable: Integers) -> tuple[Floats, NDArray[np.bool_]]:
    """[m, a, s] The mean score on segment s of the answers of model m about segment a; and where it gave any."""
    predictions, size = survey.predictions, len(cells)
    # answers are sorted by cell, and so are the usable ones
    low = np.searchsorted(predictions.cell[usable], cells)
    high = np.searchsorted(predictions.cell[usable], cells, side="right")
    rows = usable[np.concatenate([np.arange(a, b) for a, b in zip(low.tolist(), high.tolist(), strict=True)])]
    given = np.repeat(np.arange(size), high - low)
    scored = np.repeat(survey.row_scores[rows][:, None], size, axis=1)
    read = predictions.status[rows] == OK
    scored[read] = similarity(survey.truth.shares[cells], predictions.shares[rows[read]][:, None])
    place = predictions.model[rows] * size + given
    sums, counts = np.zeros((len(survey.models) * size, size)), np.zeros(len(survey.models) * size)
    np.add.at(sums, place, scored)
    np.add.at(counts, place, 1.0)
    tables = sums / np.maximum(counts, 1)[:, None]
    return tables.reshape(-1, size, size), counts.reshape(-1, size) > 0
