"""Small surveys for the tests: known shares, samples of them, and predictions at several contexts and in runs."""

import json

import msgspec
import numpy as np

from assay.analyses.survey.evidence import Survey
from assay.analyses.survey.result import SurveyAnalysis
from assay.data.survey.predictions import OK, Answer, predictions_of
from assay.data.survey.truth import Cell, Question, Segment, truth_of
from assay.stats.units import Floats

SIZES = {"age": (30, 90, 600), "place": (120, 150)}
K = 3


def shares_of(questions: int, segments: int, rng: np.random.Generator) -> Floats:
    """(Q, S, K) True shares: segments differ a little."""
    alike = rng.dirichlet(np.full(K, 2.0), questions)[:, None, :]
    p = rng.gamma(25 * alike + 0.5, size=(questions, segments, K))
    return np.asarray(p / p.sum(axis=2, keepdims=True))


def made(
    seed: int = 0,
    *,
    models: dict[str, float] | None = None,
    questions: int = 20,
    contexts: tuple[int, ...] = (0,),
    runs: int = 1,
    worse: dict[int, float] | None = None,
) -> Survey:
    """Models that mix the true shares with noise; ``worse`` adds some in a segment, context takes some away."""
    rng = np.random.default_rng(seed)
    sizes = [(category, n) for category, numbers in SIZES.items() for n in numbers]
    p = shares_of(questions, len(sizes), rng)
    asked = [Question(f"q{i}", f"q{i}?", tuple("abc")) for i in range(questions)]
    segments = [Segment(f"{c}:s{i}", f"s{i}", c, n) for i, (c, n) in enumerate(sizes)]
    cells = [
        Cell(q, s, (rng.multinomial(n, p[q, s]) / n).tolist(), n)
        for s, (_, n) in enumerate(sizes)
        for q in range(questions)
    ]
    answers = []
    for name, noise in (models or {"perfect": 0.0, "fair": 0.3}).items():
        for place, cell in enumerate(cells):
            far = rng.dirichlet(np.ones(K))
            for context in contexts:
                for _ in range(runs):
                    w = min(1.0, noise * (1 - context / 20) + (worse or {}).get(cell.segment, 0.0))
                    shaken = far if runs == 1 else 0.8 * far + 0.2 * rng.dirichlet(np.ones(K))
                    guess = (1 - w) * p[cell.question, cell.segment] + w * shaken
                    answers.append(Answer(name, place, context, guess.tolist(), OK))
    return Survey(truth_of("made", "made", (asked, segments), cells), predictions_of(answers, K))


def read_again(found: SurveyAnalysis) -> SurveyAnalysis:
    """What is left of an analysis after it was written as JSON."""
    return msgspec.convert(json.loads(as_json(found)), type(found))


def as_json(found: SurveyAnalysis) -> str:
    return json.dumps(msgspec.to_builtins(found), allow_nan=False)
