"""Every model against baselines on the cells that both have, and against its own predictions shuffled (S2).

A model may *be* the baseline: a marginal that somebody computed, rounded and wrote into a table. Rounding moves every
question a little in the same direction, and a test finds that. The model is called equal if the whole interval lies
within a margin too small to matter, or if the interval reaches into the margin and every predicted share is the
baseline's to a percentage point.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Literal

import msgspec
import numpy as np
from numpy.typing import NDArray

from assay.analyses.contrast import Reliance, moved_limits, reliance_of
from assay.analyses.survey.evidence import LEFT_OUT, POOLED, Survey, segment_weights, segments_alike, shared_cells
from assay.data import Panel
from assay.data.panel_views import Substance
from assay.data.survey import Truth
from assay.data.survey.predictions import ERROR, OK, SCORE_ONLY, Predictions
from assay.design import Design
from assay.stats.interval_and_test import joint_p
from assay.stats.paired_tests import ArmValues, effect_sizes, sign_flip, t_test, wilcoxon
from assay.stats.ranges import in_ranges
from assay.stats.records import Estimate, Interval, Test
from assay.stats.rounding import TOLERANCE
from assay.stats.streams import stream_key, words
from assay.stats.survey import similarity
from assay.stats.units import Floats, Integers, Units, effective_number, standard_error

MARGIN = 0.001  # of the score: a tenth of the last digit that the benchmark publishes
_POINT = 0.01 + 1e-9
_SHUFFLED_A_SECOND = 4e7  # scores of shuffled segments on a core, about

Position = Literal["above", "below", "equal", "not told apart"]


class Against(msgspec.Struct, frozen=True):
    """A model less a baseline."""

    model: str
    baseline: str
    difference: Estimate
    test: Test  # of no difference; its p-value and the interval of the difference agree about 0
    p_adjusted: float | None  # Bonferroni's, over all models and baselines
    effect_sizes: dict[str, Estimate]
    n_questions: int
    margin: float
    together: Interval | None  # of the difference, for all models and baselines at once: agrees with p_adjusted
    same: bool  # every predicted share is the baseline's, to a percentage point
    reliance: Reliance | None = None  # whether a position may rest on so many questions; None: nothing was tested
    substance: Substance | None = None  # how much evidence there is: questions are drawn, with their cells

    @property
    def simultaneous(self) -> Estimate:
        """The difference with the interval that holds for all models and baselines."""
        return replace(self.difference, interval=self.together)

    @property
    def position(self) -> Position:
        """Where the model is shown to be. Equal comes first: a difference within the margin does not count."""
        limits, margin = self.together, self.margin
        if limits is None or self.reliance == "too few":
            return "not told apart"
        within, reaches = -margin < limits.low and limits.high < margin, limits.low < margin and limits.high > -margin
        if within or (self.same and reaches):
            return "equal"
        if self.p_adjusted is None or self.p_adjusted > 1 - limits.level:
            return "not told apart"
        return "above" if limits.low > 0 else "below"


@dataclass(frozen=True, eq=False, slots=True)
class _Pair:
    """A model and a baseline on the cells that both have."""

    model: str
    baseline: str
    panel: Panel | None  # None: there are none
    same: bool

    @property
    def cells(self) -> int:
        return 0 if self.panel is None else self.panel.n

    @property
    def units(self) -> Units:
        """Differences by question, with weights that make segments count the same."""
        assert self.panel is not None
        return segments_alike(self.panel).grid.pair(0, 1)

    @property
    def reason(self) -> str | None:
        """Why nothing can be tested."""
        if self.panel is None:
            return "no question and segment in common"
        return "one question has no standard error" if self.units.n < 2 else None


@lru_cache(maxsize=1)
def against_baselines(survey: Survey, design: Design) -> tuple[Against, ...]:
    """Every model against every baseline; of the two marginals without the segment, against the one asked for."""
    other = {LEFT_OUT, POOLED} - {survey.reference}
    return against(survey, [name for name in survey.baseline_scores if name not in other], design)


def against(survey: Survey, baselines: Iterable[str], design: Design) -> tuple[Against, ...]:
    """Every model against every one of these baselines; p-values and limits allow for their number."""
    pairs = [_pair(survey, m, name) for name in baselines for m in range(len(survey.models))]
    family = sum(pair.reason is None for pair in pairs)
    return tuple(_tested(pair, family, design) if pair.reason is None else _untested(pair, design) for pair in pairs)


def _pair(survey: Survey, m: int, name: str) -> _Pair:
    both = survey.panel.pair(m, len(survey.models) + list(survey.baseline_scores).index(name))
    panel = shared_cells(both)
    return _Pair(survey.models[m], name, None if panel is None else _levelled(panel), _same(survey, m, name))


def _levelled(panel: Panel) -> Panel:
    """The baseline's scores, with the model's where they differ by rounding only.

    Rounding is in the divergence, a sum of terms up to 1 in size; its root makes more of it the nearer a score is to 1.
    """
    scores, baseline = panel.values.T
    close = np.abs((1 - baseline) ** 2 - (1 - scores) ** 2) <= TOLERANCE
    return panel.with_numerators(np.column_stack([scores, np.where(close, scores, baseline)]))


def _same(survey: Survey, m: int, name: str) -> bool:
    """Whether every predicted share is the baseline's, as it is or in whole percentages, to a percentage point."""
    rows = np.flatnonzero((survey.predictions.model == m) & (survey.predictions.status != ERROR))
    if name not in survey.baselines or (survey.predictions.status[rows] != OK).any():
        return False
    shares = survey.baselines[name][survey.predictions.cell[rows]]
    there = ~np.isnan(shares).any(axis=1)
    whole = np.round(100 * shares)
    whole /= np.maximum(whole.sum(axis=1, keepdims=True), 1.0)
    off = [np.abs(survey.predictions.shares[rows] - one).max(axis=1) for one in (shares, whole)]
    return bool(there.any() and (np.minimum(*off)[there] <= _POINT).all())


def _untested(pair: _Pair, design: Design) -> Against:
    value = None if pair.panel is None else pair.units.estimate
    nothing = Estimate(value, None, None, pair.cells, pair.reason)
    test = Test("sign-flip", None, None, pair.cells, pair.reason)
    questions, margin = 0 if pair.panel is None else 1, design.margin or MARGIN
    return Against(pair.model, pair.baseline, nothing, test, None, {}, questions, margin, None, pair.same)


def _tested(pair: _Pair, family: int, design: Design) -> Against:
    units, panel = pair.units, pair.panel
    assert panel is not None
    found = [design.interval(units, 1 - (1 - design.level) / count, own_p=True) for count in (1, family)]
    test = _test(units, found[0].own_p or 0.0, design)
    alone, together = (
        _agreeing(one.interval, test.p_value, count, units.estimate, design.level)
        for one, count in zip(found, (1, family), strict=True)
    )
    by_segment = panel.rows(
        np.argsort(panel.label("segment").codes, kind="stable")
    )  # the order in which they are summed
    model, baseline = by_segment.values.T
    arms = ArmValues(baseline, model, segment_weights(by_segment.label("segment").codes))
    return Against(
        pair.model,
        pair.baseline,
        Estimate(units.estimate, alone, standard_error(units), pair.cells),
        test,
        None if test.p_value is None else min(1.0, family * test.p_value),
        effect_sizes(arms, units, design.level),
        units.n,
        design.margin or MARGIN,
        together,
        pair.same,
        reliance_of(units.n, effective_number(units.denominators), alone.method),
        Substance.of(units.denominators, int((model != baseline).sum()), arms.weights),
    )


def _test(units: Units, own_p: float, design: Design) -> Test:
    """The paired test, its p raised to the interval's own: a verdict needs both."""
    if design.test == "wilcoxon":
        found = wilcoxon(units.numerators / units.denominators)
    elif design.test == "t":
        found = t_test(units)
    else:
        found = sign_flip(units.numerators, seed=design.seed)[0]
    return found if found.p_value is None else replace(found, p_value=float(joint_p(found.p_value, own_p)))


def _agreeing(limits: Interval, p: float | None, family: int, estimate: float, level: float) -> Interval:
    """Limits that exclude 0 exactly if p · family ≤ 1 − level."""
    method = limits.method if family == 1 else f"{limits.method}, simultaneous"
    return moved_limits(
        replace(limits, level=level, method=method), None if p is None else min(1.0, p * family), estimate
    )


def placed(found: Sequence[Against], baseline: str) -> dict[Position, list[str]]:
    """The models above, below, equal to and not told apart from a baseline."""
    places: dict[Position, list[str]] = {"above": [], "below": [], "equal": [], "not told apart": []}
    for one in found:
        if one.baseline == baseline and one.difference.value is not None:
            places[one.position].append(one.model)
    return places


@dataclass(frozen=True, eq=False)
class Nulls:
    """Scores under permutations of the segments within questions: what if segments were mixed up?

    The *truth's* null gives each segment the true answers of another: the score of a forecaster who knows every answer,
    but not whose it is. The *model's own* gives each segment the prediction that the model made for another: a model
    that does not know which segment is which scores as well with its predictions mixed up.
    """

    truth: Floats  # (B,) of the true answers, mixed up
    models: Floats  # (M, B) of each model's own predictions
    observed: Floats  # (M,) of each model on the same cells


def nulls(survey: Survey, n_permutations: int, seed: int) -> Nulls:
    """Both null distributions. Failed answers keep their fixed score; scores without shares are left out.

    Permutation b of a question is the order of random words that depend on (seed, b, question, segment) only; models
    that lack some segments are permuted among those they have, by the same words.
    """
    shared = _Shuffled(survey.truth, survey.predictions, survey.row_scores, survey.weights / survey.weights.sum())
    seconds = n_permutations * len(survey.truth) * (1 + len(survey.models)) / _SHUFFLED_A_SECOND
    parts = list(in_ranges(_range_of_nulls, (shared, seed), n_permutations, seconds=seconds))
    return Nulls(
        np.concatenate([part.truth for part in parts]),
        np.concatenate([part.models for part in parts], axis=1),
        parts[0].observed,
    )


@dataclass(frozen=True, eq=False, slots=True)
class _Shuffled:
    """What permutations need of a survey."""

    truth: Truth
    predictions: Predictions
    row_scores: Floats
    weights: Floats  # (C,) of cells, in all 1


def _range_of_nulls(shared: tuple[_Shuffled, int], first: int, n_permutations: int) -> Nulls:
    """The same for the permutations first, first + 1, …."""
    survey, seed = shared
    truth, weights, models = survey.truth, survey.weights, len(survey.predictions.models)
    own, of_truth = np.zeros((models, n_permutations)), np.zeros(n_permutations)
    observed, mass = np.zeros(models), np.zeros(models)
    usable = np.flatnonzero(~np.isnan(survey.row_scores) & (survey.predictions.status != SCORE_ONLY))
    by_question = np.argsort(truth.question, kind="stable")
    starts = np.flatnonzero(np.diff(truth.question[by_question], prepend=-1))
    for cells in np.split(by_question, starts[1:]):
        random = _words(truth, cells, (first, n_permutations), seed)
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


def _words(truth: Truth, cells: Integers, chosen: tuple[int, int], seed: int) -> NDArray[np.uint64]:
    """(B, s) A word for each segment of the question, whose order is the permutation."""
    question = truth.questions[int(truth.question[cells[0]])].id
    key = stream_key(seed, f"segments within {question}")
    first, count = chosen
    return words(key, first * len(cells), count * len(cells)).reshape(count, len(cells))


def _permuted(table: Floats, order: Integers, weights: Floats) -> Floats:
    """(B,) Σ weight · table[order[s], s]."""
    return np.asarray((table[order, np.arange(len(weights))] * weights).sum(axis=1))


def _tables(survey: _Shuffled, cells: Integers, usable: Integers) -> tuple[Floats, NDArray[np.bool_]]:
    """[m, a, s] The mean score on segment s of the answers of model m about segment a; and where it gave any."""
    predictions, size, models = survey.predictions, len(cells), len(survey.predictions.models)
    # answers are sorted by cell, and so are the usable ones
    low = np.searchsorted(predictions.cell[usable], cells)
    high = np.searchsorted(predictions.cell[usable], cells, side="right")
    rows = usable[np.concatenate([np.arange(a, b) for a, b in zip(low.tolist(), high.tolist(), strict=True)])]
    given = np.repeat(np.arange(size), high - low)
    scored = np.repeat(survey.row_scores[rows][:, None], size, axis=1)
    read = predictions.status[rows] == OK
    scored[read] = similarity(survey.truth.shares[cells], predictions.shares[rows[read]][:, None])
    place = predictions.model[rows] * size + given
    sums, counts = np.zeros((models * size, size)), np.zeros(models * size)
    np.add.at(sums, place, scored)
    np.add.at(counts, place, 1.0)
    tables = sums / np.maximum(counts, 1)[:, None]
    return tables.reshape(-1, size, size), counts.reshape(-1, size) > 0
