"""A survey with the predictions of models: what all analyses start from, each expensive part computed once.

Scores of cells (question × segment) are a panel. Questions are clusters: one that was asked of 49 segments is one
question. The overall score is the mean over segments of the mean over questions; under `segments_alike` it is the
panel's own estimate.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Literal

import numpy as np

from assay.analyses.survey.respondents import (
    NoisyAnswers,
    Resampled,
    left_out,
    means_of_known,
    noisy_answers,
    pooled,
    resample,
)
from assay.data import Metric, Panel
from assay.data.survey import Predictions, Truth, prior_shares
from assay.data.survey.predictions import OK, SCORE_ONLY, UNPARSEABLE, WRONG_LENGTH
from assay.data.survey.survey_json import PublishedSummary
from assay.data.tables import Labels
from assay.data.text_columns import TextColumn
from assay.design import Design
from assay.stats.survey import (
    UNPARSEABLE_SCORE,
    WRONG_LENGTH_SCORE,
    concentration,
    divergence,
    score_of,
    similarity,
    smoothed,
    source_noise,
)
from assay.stats.survey.respondents import Respondents, perfect_noise
from assay.stats.units import Floats, Integers, Truths

Population = Literal["left-out", "pooled"]
Breakdown = Literal["category", "segment", "question"]
LEFT_OUT, POOLED = "marginal, left out", "marginal, pooled"
NOBODY_ELSE = "nothing: every segment is alone in its category"

MIN_RESPONDENTS = 10  # answers from fewer are left out; the benchmark leaves out segments with fewer
FEW_RESPONDENTS = 30  # answers from fewer are noted
THRESHOLD = 0.70
_ROWS = 1 << 20  # shares compared at once


@dataclass(frozen=True, slots=True)
class OwnScore:
    """A model's score on all cells that it answered, which other models may lack."""

    model: str
    score: float
    cells: int


@dataclass(frozen=True, eq=False)
class Survey:
    """What analyses may use.

    Cells (question × segment) are sorted by segment, then question; C of them, M models, R answers, K options. Rows of
    ``predictions`` have a ``status``: OK, UNPARSEABLE, WRONG_LENGTH, ERROR (no answer was given), SCORE_ONLY (the light
    form has a score and no distribution). Baselines are "uniform", "marginal", "marginal, left out", "marginal, pooled"
    and "prior round"; their rows are NaN where they predict nothing.
    """

    truth: Truth
    predictions: Predictions
    prior: Truth | None = None
    summary: PublishedSummary | None = None
    threshold: float = THRESHOLD
    everyone: Truth | None = None  # with the small answers that ``truth`` leaves out
    population: Population = "left-out"
    by: Breakdown | None = None  # what the scores are shown by, besides overall
    own: tuple[OwnScore, ...] = ()  # if models answered different cells, and only the shared ones are kept
    whole: "Survey | None" = None  # the survey before that: the population does not depend on what was predicted
    shared: Truths | None = None  # (cells of the whole,) which ones are kept
    _resampled: dict[tuple[int, int, str], Resampled] = field(default_factory=dict, repr=False)

    @property
    def models(self) -> tuple[str, ...]:
        return self.predictions.models

    @cached_property
    def notes(self) -> tuple[str, ...]:
        few, total = int((self.truth.n < FEW_RESPONDENTS).sum()), len(self.truth)
        warned = f"{few:,} of {total:,} answers (question × segment) come from fewer than {FEW_RESPONDENTS} respondents"
        alone = self.population == "left-out" and bool(np.isnan(self.baseline_scores[LEFT_OUT]).all())
        missing = "there is no population marginal: every segment is alone in its category; give segments categories"
        said = [*([missing] if alone else []), *([warned] if few else [])]
        return (*self.truth.notes, *self.predictions.notes, *self._averaged(), *said)

    def _averaged(self) -> Iterator[str]:
        """Whether a score is a mean of several answers to the same question."""
        answers, place = self.predictions, self.predictions.cell * len(self.models) + self.predictions.model
        most = int(np.bincount(place).max(initial=0))
        if most > 1:
            parts = f"{len(answers.contexts)} levels of context, {answers.runs} runs at most"
            yield f"a score is the mean of up to {most} answers of a model to a question about a segment ({parts})"

    # ------------------------------------------------------------------------------------------------- scores

    @cached_property
    def row_divergences(self) -> Floats:
        """(R,) JSD of every answer that could be read, NaN for the others."""
        found = np.full(len(self.predictions), np.nan)
        rows = np.flatnonzero(self.predictions.status == OK)
        for low in range(0, len(rows), step := max(1, _ROWS // self.truth.shares.shape[1])):
            part = rows[low : low + step]
            found[part] = divergence(self.truth.shares[self.predictions.cell[part]], self.predictions.shares[part])
        return found

    @cached_property
    def row_scores(self) -> Floats:
        """(R,) The score of every answer as the benchmark computes it; NaN where none was given."""
        status = self.predictions.status
        scores = self.row_honest.copy()
        scores[status == UNPARSEABLE] = UNPARSEABLE_SCORE
        scores[status == WRONG_LENGTH] = WRONG_LENGTH_SCORE
        return scores

    @cached_property
    def row_honest(self) -> Floats:
        """(R,) The score of every answer that could be read."""
        only = self.predictions.status == SCORE_ONLY
        return np.where(only, self.predictions.reported, score_of(self.row_divergences))

    @cached_property
    def scores(self) -> Floats:
        """(C, M) The benchmark's score of each cell, the mean over contexts and runs; NaN where there is none."""
        return self.cell_means(self.row_scores)

    @cached_property
    def honest(self) -> Floats:
        """(C, M) The mean score of the answers that could be read."""
        return self.cell_means(self.row_honest)

    def cell_means(self, rows: Floats) -> Floats:
        """(C, M) Means over the answers of a model about a cell, leaving out those that are NaN."""
        shape = len(self.truth), len(self.models)
        place = self.predictions.cell * shape[1] + self.predictions.model
        there = ~np.isnan(rows)
        sums, counts = (np.bincount(place[there], w, shape[0] * shape[1]) for w in (rows[there], None))
        return np.asarray(np.divide(sums, counts, out=np.full(len(sums), np.nan), where=counts > 0).reshape(shape))

    @cached_property
    def weights(self) -> Floats:
        """(C,) The weight of each cell in the mean over segments of the mean over questions; they sum to C."""
        return segment_weights(self.truth.segment)

    @cached_property
    def panel(self) -> Panel:
        """The scores as a panel: units are cells by question; a system for each model, then for each baseline."""
        values = np.column_stack([self.scores, *self.baseline_scores.values()])
        return panel_of_cells(self.truth, values, (*self.models, *self.baseline_scores))

    @cached_property
    def of_models(self) -> Panel:
        """The panel without the baselines."""
        return self.panel.of_systems(range(len(self.models)))

    def of_baseline(self, name: str) -> Panel:
        """The panel of one baseline."""
        return self.panel.of_systems([len(self.models) + list(self.baseline_scores).index(name)])

    def panel_of(self, *columns: Floats) -> Panel:
        """Other values (C,) or (C, k) of the same cells as a panel."""
        values = np.column_stack(columns)
        parts = {**self.panel.parts, "score": np.asfortranarray(values[order_of(self.truth)])}
        return replace(self.panel, systems=tuple(map(str, range(values.shape[1]))), parts=parts)

    # ---------------------------------------------------------------------------------------------- baselines

    @cached_property
    def marginal(self) -> Floats:
        """(C, K) The answers of all segments to the question, weighted by their respondents, as the benchmark has it.

        The benchmark adds percentages as they are written, whether they sum to 100 or to 99.8.
        """
        if self.whole is not None:
            return np.asarray(self.whole.marginal[self.shared])
        truth = self.truth
        mass = self._sizes if truth.sums is None else self._sizes * truth.sums
        sums = np.zeros((len(truth.questions), truth.shares.shape[1]))
        np.add.at(sums, truth.question, mass[:, None] * truth.shares)
        return np.asarray((sums / np.maximum(sums.sum(axis=1, keepdims=True), 1e-300))[truth.question])

    @cached_property
    def _sizes(self) -> Floats:
        return np.array([segment.n for segment in self.truth.segments], dtype=np.float64)[self.truth.segment]

    @cached_property
    def baselines(self) -> dict[str, Floats]:
        """Name → (C, K) predicted shares."""
        if self.whole is not None:
            return {name: np.asarray(shares[self.shared]) for name, shares in self.whole.baselines.items()}
        found = {
            "uniform": self.truth.mask / self.truth.options[:, None],
            "marginal": self.marginal,
            LEFT_OUT: left_out(self.truth, self.people),
            POOLED: pooled(self.truth, self._sizes),
        }
        if self.prior is not None:
            found["prior round"] = prior_shares(self.truth, self.prior)
        return found

    @property
    def people(self) -> Truth:
        """The survey with everyone who was asked."""
        return self.truth if self.everyone is None else self.everyone

    @property
    def reference(self) -> str:
        """The name of the population marginal that models are compared with."""
        return LEFT_OUT if self.population == "left-out" else POOLED

    @cached_property
    def baseline_scores(self) -> dict[str, Floats]:
        """Name → (C,) scores, NaN where a baseline predicts nothing."""
        return {name: similarity(self.truth.shares, shares) for name, shares in self.baselines.items()}

    # -------------------------------------------------------------------------------------------------- noise

    @cached_property
    def likely(self) -> Floats:
        """(C, K) Estimates of the true shares: those of small segments are shrunk towards those of all."""
        if self.whole is not None:
            return np.asarray(self.whole.likely[self.shared])
        truth = self.truth
        strength = concentration(truth.shares, truth.n, self.marginal, truth.question)
        return smoothed(truth.shares, truth.n, self.marginal, strength)

    @cached_property
    def ceiling(self) -> Floats:
        """(C,) The score that a perfect prediction gets on average against so many respondents."""
        return 1 - perfect_noise(Respondents(self.likely, self.truth.options, self.truth.n))

    @cached_property
    def source_ceiling(self) -> Floats:
        """(C,) The ceiling by the benchmark's formula."""
        return np.maximum(0.0, 1 - source_noise(self.truth.n, self.truth.options))

    @cached_property
    def noisy(self) -> tuple[NoisyAnswers, ...]:
        """(M,) The answers that were read, with what sampling does to them."""
        there = ~np.isnan(self.row_scores)
        return noisy_answers(self.truth, self.predictions, self.likely, self.row_divergences, there)

    def resampled(self, design: Design, *, by: str = "cell") -> Resampled:
        """Every model's scores with the respondents of each cell drawn again, the same draws for all models.

        ``by="context"`` keeps the context levels apart.
        """
        key = design.resamples or 0, design.seed, by
        if key not in self._resampled:
            self._resampled[key] = resample(self.truth, self.predictions, self.row_scores, design, by=by)
        return self._resampled[key]


def order_of(truth: Truth) -> Integers:
    """(C,) The cells by question, because a panel numbers its clusters as they appear."""
    return np.argsort(truth.question, kind="stable")


def panel_of_cells(truth: Truth, values: Floats, systems: Sequence[str]) -> Panel:
    """The panel of values (C, k), NaN where there are none; every cell weighs 1."""
    order = order_of(truth)
    question, segment = truth.question[order], truth.segment[order]
    units = [
        f"{truth.questions[q].id} × {truth.segments[s].id}"
        for q, s in zip(question.tolist(), segment.tolist(), strict=True)
    ]
    return Panel(
        tuple(systems),
        TextColumn.of(units),
        {"score": np.asfortranarray(values[order]), "weight": np.ones((len(order), 1))},
        (Metric.of("scores"),),
        labels={
            "question": Labels(tuple(one.id for one in truth.questions), question),
            "segment": Labels(tuple(one.id for one in truth.segments), segment),
        },
        cluster="question",
    )


def shared_cells(panel: Panel) -> Panel | None:
    """The cells that every system has; ``None`` where there are none."""
    there = np.asarray(panel.answered.all(axis=1))
    return panel.rows(there) if there.any() else None


def segments_alike(panel: Panel) -> Panel:
    """The panel with weights that make all segments count the same, however many questions each has."""
    weights = segment_weights(panel.label("segment").codes)
    return panel.weighted(lambda _: weights)


def segment_weights(segment: Integers) -> Floats:
    """(c,) The weights of cells in the mean over segments of means over questions; they sum to c."""
    _, codes, counts = np.unique(segment, return_inverse=True, return_counts=True)
    return np.asarray(len(segment) / (len(counts) * counts[codes]), dtype=np.float64)


def means_by(panel: Panel, label: str) -> Floats:
    """(labels, k) The mean of each system over the units with each label; NaN where it has none."""
    labels, there = panel.label(label), panel.answered
    values = np.where(there, panel.values, 0.0)
    count = len(labels.names)
    sums = np.column_stack([np.bincount(labels.codes, column, count) for column in values.T])
    counts = np.column_stack([np.bincount(labels.codes, column, count) for column in there.T])
    return np.asarray(np.divide(sums, counts, out=np.full(sums.shape, np.nan), where=counts > 0))


def overall(panel: Panel) -> Floats:
    """(k,) The mean over segments of the mean over questions."""
    return means_of_known(means_by(panel, "segment"))
