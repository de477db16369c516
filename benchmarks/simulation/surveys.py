"""Simulated surveys whose true shares are known, and predictors of known quality."""

from collections.abc import Sequence

import numpy as np

from assay.analyses.survey.evidence import Survey
from assay.data.survey.predictions import Predictions
from assay.data.survey.truth import Question, Segment, Truth
from assay.stats.survey import divergence, score_of
from assay.stats.units import Floats

PREDICTORS = {"perfect": 0.0, "good": 0.15, "mediocre": 0.5, "poor": 1.2}  # noise of the log-shares
OPTIONS = (2, 3, 4, 5, 5, 5, 5, 6)


class World:
    """True shares of every question and segment, and what predictors say; respondents are drawn from it.

    A predictor's noise is multiplied by ``worse`` in each segment, and by ``contexts``: what is left of it at 0, 1, …
    context questions.
    """

    models: tuple[str, ...] = tuple(PREDICTORS)

    def __init__(
        self,
        questions: int,
        sizes: tuple[int, ...],
        seed: int,
        *,
        worse: Sequence[float] | None = None,
        contexts: Sequence[float] = (1.0,),
    ) -> None:
        rng = np.random.default_rng(seed)
        self.sizes, width = sizes, max(OPTIONS)
        self.options = np.array([OPTIONS[i % len(OPTIONS)] for i in range(questions)])
        self.question = np.tile(np.arange(questions), len(sizes))
        self.segment = np.repeat(np.arange(len(sizes)), questions)
        mask = np.arange(width) < self.options[self.question][:, None]
        base = rng.normal(0, 1.0, size=(questions, width))[self.question]
        logits = base + rng.normal(0, 0.35, size=mask.shape)
        self.shares = _softmax(logits, mask)
        factor = np.ones(len(sizes)) if worse is None else np.array(worse)
        errors = [noise * factor[self.segment][:, None] * rng.normal(size=mask.shape) for noise in PREDICTORS.values()]
        told = [[_softmax(logits + left * error, mask) for left in contexts] for error in errors]
        self.told = np.array(told).transpose(2, 0, 1, 3)  # (C, M, L, K)
        self.n = np.array(sizes)[self.segment]

    @property
    def predicted(self) -> Floats:
        """(C, M, K) Without context."""
        return np.asarray(self.told[:, :, 0])

    @property
    def true(self) -> Floats:
        """(C, M, L) The scores against the true shares."""
        return score_of(divergence(self.shares[:, None, None], self.told))

    def asked(self, rng: np.random.Generator) -> Survey:
        """A survey of so many respondents, with the predictions of it."""
        shares = rng.multinomial(self.n, self.shares) / self.n[:, None]
        questions = tuple(
            Question(f"q{i}", f"question {i}", tuple(f"option {j}" for j in range(k)))
            for i, k in enumerate(self.options)
        )
        segments = tuple(Segment(f"s{i}", f"s{i}", "segment", n) for i, n in enumerate(self.sizes))
        truth = Truth("simulated", None, questions, segments, self.question, self.segment, shares, self.n)
        cells, models, levels = self.told.shape[:3]
        rows = cells * models * levels
        predictions = Predictions(
            self.models,
            np.tile(np.repeat(np.arange(models), levels), cells),
            np.repeat(np.arange(cells), models * levels),
            np.tile(np.arange(levels), cells * models),
            np.zeros(rows, dtype=np.int64),
            self.told.reshape(rows, -1),
            np.zeros(rows, dtype=np.int8),
            np.full(rows, np.nan),
        )
        return Survey(truth, predictions)


class WorldApart(World):
    """A world whose predictors are wrong in ways that no method was chosen on: most of them in a few places."""

    models = ("marginal", "heavy tails", "a few cells", "some questions", "some segments")

    def __init__(self, questions: int, sizes: tuple[int, ...], seed: int) -> None:
        super().__init__(questions, sizes, seed)
        rng = np.random.default_rng([seed, 1])
        mask, shape = self.shares > 0, self.shares.shape
        logits = np.log(np.where(mask, self.shares, 1.0))
        few = rng.random(len(self.n)) < 0.05
        by_question = rng.lognormal(-1.5, 1.0, questions)[self.question]
        by_segment = np.where(np.arange(len(sizes)) % 4 == 0, 0.8, 0.1)[self.segment]
        errors = [
            0.2 * rng.standard_t(3, size=shape),
            np.where(few, 2.0, 0.1)[:, None] * rng.normal(size=shape),
            by_question[:, None] * rng.normal(size=shape),
            by_segment[:, None] * rng.normal(size=shape),
        ]
        totals = np.array([np.bincount(self.question, self.shares[:, j], questions) for j in range(shape[1])]).T
        marginal = (totals / len(sizes))[self.question]
        self.told = np.stack([marginal, *(_softmax(logits + error, mask) for error in errors)], axis=1)[:, :, None]


def _softmax(logits: Floats, mask: "np.ndarray[tuple[int, ...], np.dtype[np.bool_]]") -> Floats:
    values = np.where(mask, np.exp(logits), 0.0)
    return np.asarray(values / values.sum(axis=1, keepdims=True))
