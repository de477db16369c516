"""Calibrate `survey`: what do its intervals and tests do when other respondents are asked?

The survey's shares, with half a respondent added to every option, are taken for the truth. As many respondents are
drawn from them in every cell, each cell apart: people who stand in several segments are not known, so that what their
answers have in common is not simulated. A perfect model, which tells the true shares, stands beside the others.

Tests need worlds in which there is nothing to find: predictions that are shuffled among the segments of a question;
and segments that answer alike and are predicted alike, with as many respondents as they have.
"""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from assay.analyses.calibrate.result import SimulatedWorld
from assay.analyses.calibrate.simulation import Draws, simulated
from assay.analyses.calibrate.studies import YOURS, Evidence, Setup, Studied
from assay.analyses.calibrate.tallies import rate
from assay.analyses.survey import load, on_shared_cells
from assay.analyses.survey.baseline_tests import nulls
from assay.analyses.survey.baselines import shuffled_p
from assay.analyses.survey.evidence import Survey, overall
from assay.analyses.survey.fairness import gap_p_values
from assay.analyses.survey.intervals import beyond_ceiling, corrected, not_corrected, overall_weights, parts_of
from assay.data import Panel
from assay.data.survey.predictions import OK, Predictions
from assay.data.survey.truth import Truth
from assay.design import Design
from assay.errors import InputError, UsageError
from assay.results import words
from assay.stats.units import Floats, Integers

PERFECT = "a perfect model"
_PERMUTATIONS = 999  # of a simulated test; a real one takes more
_MOST_SHOWN = 8  # models


@dataclass(frozen=True, eq=False)
class OwnSurvey:
    """A survey whose shares are taken for the truth, and what models predicted of it."""

    truth: Truth  # with the true shares
    predictions: Predictions

    @classmethod
    def of(cls, survey: Survey) -> "OwnSurvey":
        counts = survey.truth.shares * survey.truth.n[:, None] + np.where(survey.truth.mask, 0.5, 0.0)
        truth = replace(survey.truth, shares=counts / counts.sum(axis=1, keepdims=True))
        return cls(truth, survey.predictions)

    def with_perfect(self) -> "OwnSurvey":
        """With a model that tells the true shares."""
        told, cells = self.predictions, np.arange(len(self.truth))
        added = len(cells)
        parts = {
            "model": np.append(told.model, np.full(added, len(told.models))),
            "cell": np.append(told.cell, cells),
            "context": np.append(told.context, np.zeros(added, dtype=np.int64)),
            "run": np.append(told.run, np.zeros(added, dtype=np.int64)),
            "shares": np.vstack([told.shares, self.truth.shares]),
            "status": np.append(told.status, np.full(added, OK, dtype=np.int8)),
            "reported": np.append(told.reported, np.full(added, np.nan)),
        }
        order = np.lexsort((parts["run"], parts["context"], parts["model"], parts["cell"]))
        kept = {name: values[order] for name, values in parts.items()}
        return replace(self, predictions=Predictions((*told.models, PERFECT), notes=told.notes, **kept))

    def alike(self) -> "OwnSurvey":
        """With segments that answer alike and are predicted alike."""
        truth, told = self.truth, self.predictions
        pooled = _means(truth.shares, truth.question, truth.n.astype(np.float64))[truth.question]
        place = told.model * len(truth.questions) + truth.question[told.cell]
        read = told.status == OK
        shares = np.where(read[:, None], _means(told.shares, place, read.astype(np.float64))[place], told.shares)
        return OwnSurvey(replace(truth, shares=pooled), replace(told, shares=shares))

    def asked(self, rng: np.random.Generator, predictions: Predictions | None = None) -> Survey:
        """A survey of as many respondents."""
        drawn = rng.multinomial(self.truth.n, self.truth.shares) / self.truth.n[:, None]
        return Survey(replace(self.truth, shares=drawn), predictions or self.predictions)

    def shuffled(self, rng: np.random.Generator) -> Predictions:
        """The predictions, with the segments of each question exchanged, in all models alike."""
        truth, told = self.truth, self.predictions
        order = np.lexsort((rng.random(len(truth)), truth.question))  # cells by question, mixed up
        by_question = np.argsort(truth.question, kind="stable")
        target = np.empty(len(truth), dtype=np.int64)
        target[by_question] = order
        cell = target[told.cell]
        rows = np.lexsort((told.run, told.context, told.model, cell))
        moved = {
            name: getattr(told, name)[rows] for name in ("model", "context", "run", "shares", "status", "reported")
        }
        return replace(told, cell=cell[rows], **moved)

    @cached_property
    def scores(self) -> Floats:
        """(M,) The true score of each model."""
        return overall(Survey(self.truth, self.predictions).of_models)


def _means(values: Floats, codes: Integers, weights: Floats) -> Floats:
    """(G, K) Weighted means of rows by group."""
    count = int(codes.max()) + 1
    sums = np.column_stack([np.bincount(codes, weights * column, count) for column in values.T])
    return np.asarray(sums / np.maximum(np.bincount(codes, weights, count), 1e-300)[:, None])


@dataclass(frozen=True, slots=True)
class SurveyTrial:
    """One survey asked anew: intervals of all models, models beyond the ceiling, and the tests where nothing is."""

    world: OwnSurvey  # with the perfect model
    alike: OwnSurvey
    design: Design

    def once(self, draws: Draws) -> list[float]:
        """Whether a shuffle is found, a gap between segments, a model beyond the ceiling; then whose interval holds."""
        rng, level = draws.generator(), self.design.level
        survey = self.world.asked(rng)
        beyond = beyond_ceiling(survey, level)
        held = [self._held(survey, m, known=beyond[m]) for m in range(len(survey.models))]
        shuffled = self.world.asked(rng, self.world.shuffled(rng))
        found = shuffled_p(nulls(shuffled, _PERMUTATIONS, self.design.seed))
        gaps = gap_p_values(self.alike.asked(rng), replace(self.design, resamples=_PERMUTATIONS))
        return [
            float(any(adjusted <= 1 - level for _, adjusted in found.values())),
            float(np.nanmin(gaps, initial=1.0) * max(gaps.size, 1) <= 1 - level),
            float(beyond[-1]),
            *held,
        ]

    def _held(self, survey: Survey, model: int, *, known: bool) -> float:
        """Whether a model's interval holds its true score; NaN where it has none."""
        if known or not_corrected(survey, model) is not None:
            return float("nan")
        limits = corrected(parts_of(survey, model, overall_weights(survey, model)), self.design.level)[0].interval
        if limits is None:
            return float("nan")
        return float(limits.low - 1e-9 <= self.world.scores[model] <= limits.high + 1e-9)


def calibrated(evidence: Evidence, setup: Setup) -> Studied:
    """What the intervals and tests of `survey` do when other respondents are asked."""
    survey = _read(evidence)
    own = OwnSurvey.of(survey)
    world = own.with_perfect()
    trial = SurveyTrial(world, own.alike(), Design(level=setup.design.level, seed=setup.design.seed))
    rows = simulated(trial, setup.simulations, seed=setup.seed, purpose="survey", engine=setup.engine)
    level, names = setup.design.level, world.predictions.models
    rates = [
        rate("shuffled", "shuffled predictions found to know segments", rows[:, 0], "at most", 1 - level),
        rate("gaps", "a gap found between segments that are alike", rows[:, 1], "at most", 1 - level),
        rate("beyond", "a perfect model said to have seen the sample", rows[:, 2], "at most", 1 - level),
        *(
            rate(
                f"model {m}",
                f"interval of {name} holds its true score",
                rows[:, 3 + m],
                "at least",
                level,
                told=name == PERFECT,
            )
            for m, name in enumerate(names)
            if m < _MOST_SHOWN or name == PERFECT
        ),
    ]
    made = SimulatedWorld(
        name=YOURS,
        about=f"a survey like this ({words.count(len(survey.truth), 'cell')} of question × segment)",
        unit="cell",
        n=len(survey.truth),
        n_clusters=None,
        effective=None,
        equal=None,
        truth=None,
        null=None,
        rates=tuple(one for one in rates if one.found.value is not None),
    )
    more = [f"of {len(names) - 1} models the first {_MOST_SHOWN} are shown"] if len(names) - 1 > _MOST_SHOWN else []
    told = (
        f"simulated tests take {_PERMUTATIONS} permutations and resamples each; respondents of a cell are drawn apart"
    )
    digest = f"{survey.truth.digest[:8]}{survey.predictions.digest[:8]}"
    return Studied((made,), survey.models, (*survey.notes, told, *more), digest)


def _read(evidence: Evidence) -> Survey:
    truth, *results = evidence.sources
    if isinstance(truth, Panel) or not results:
        raise UsageError("calibrate needs the survey and predictions of it: two files or more, for survey.")
    survey = on_shared_cells(load(truth, results))
    if not (survey.predictions.status == OK).any():
        raise InputError("no prediction has a distribution, so nothing can be simulated; give those with shares.")
    return survey
