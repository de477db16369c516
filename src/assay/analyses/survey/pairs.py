"""Which models can be told apart: all pairs, questions as clusters (S5)."""

from collections.abc import Iterator
from functools import lru_cache

import numpy as np

from assay.analyses.rank.records import Standing
from assay.analyses.rank.result import Leaderboard
from assay.analyses.survey.loaded import Survey
from assay.analyses.survey.result import SurveyAnalysis
from assay.analyses.survey.scores import FOUR
from assay.analyses.survey.sentences import Statement
from assay.data import Metric, Panel
from assay.data.labels import Labels
from assay.design import Design
from assay.results import words
from assay.results.table import Column, ResultTable
from assay.stats.multiplicity import benjamini_hochberg


class ModelPairs(SurveyAnalysis, frozen=True, tag="pairs"):
    """Every two models against each other."""

    leaderboard: Leaderboard | None  # Holm-adjusted
    false_discovery: tuple[float | None, ...]  # the pairs' p-values after Benjamini and Hochberg, in their order
    reason: str | None = None
    statements: tuple[Statement, ...] = ()

    @property
    def tables(self) -> tuple[ResultTable, ...]:
        board = self.leaderboard
        if board is None:
            return ()
        models = board.models
        columns = (
            Column("model", [m.name for m in models], may_shorten=True),
            Column("tier", [m.tier for m in models]),
            Column("letters", ["".join(m.letters) for m in models]),
            Column("score", [m.estimate.value for m in models], FOUR),
            Column("ranks", [m.ranks[0] for m in models], key="ranks_low", written=[_ranks(m) for m in models]),
            Column("ranks_high", [m.ranks[1] for m in models], hidden=True),
        )
        about = f"{_told_apart(board)} of {len(board.pairs)} pairs told apart (Holm, questions as clusters)"
        return (ResultTable("tiers", "tiers", columns, about),)

    @property
    def remarks(self) -> tuple[str, ...]:
        return () if self.reason is None else (f"Nothing is said of pairs: {self.reason}.",)

    def sentences(self) -> Iterator[Statement]:
        board = self.leaderboard
        if board is None:
            return
        found = sum(p is not None and p <= 1 - board.design.level for p in self.false_discovery)
        yield Statement(
            f"{_told_apart(board)} of {len(board.pairs)} pairs of models differ significantly "
            f"({board.pairs[0].test.name} test, questions as clusters, Holm; {found} after Benjamini and Hochberg); "
            f"the {len(board.models)} models form {words.count(len(board.tiers), 'tier')}.",
            holds=True,
        )
        yield Statement(board.sentence, holds=len(board.tiers) > 1)


def _ranks(model: Standing) -> str:
    low, high = model.ranks
    return f"{low}–{high}"


def _told_apart(board: Leaderboard) -> int:
    return sum(pair.verdict != "not told apart" for pair in board.pairs)


@lru_cache(maxsize=1)
def pairs(survey: Survey, design: Design) -> ModelPairs:
    """All pairs of models on the cells that both have; a question asked of 49 segments is one question."""
    from assay.analyses.rank import rank_panel  # late

    kept = np.asarray(~np.isnan(survey.scores).all(axis=0))
    if kept.sum() < 2:
        return ModelPairs(None, (), "one model: there is no pair")
    grid = survey.grid(survey.scores[:, kept])
    rows = np.flatnonzero(~np.isnan(survey.scores[:, kept]).all(axis=1))
    truth = survey.truth
    names = [f"{truth.questions[truth.question[c]].id} × {truth.segments[truth.segment[c]].id}" for c in rows.tolist()]
    units = np.empty(len(names), dtype=object)
    units[:] = names
    models = tuple(name for name, there in zip(survey.models, kept.tolist(), strict=True) if there)
    parts = {"score": np.where(grid.present, grid.products, np.nan), "weight": grid.weights[:, None]}
    questions = Labels(tuple(question.id for question in truth.questions), truth.question[rows])
    panel = Panel(models, units, parts, (Metric.of("scores"),), labels={"question": questions}, cluster="question")
    by_question = np.argsort(questions.codes, kind="stable")  # a panel numbers its clusters as they appear
    board = rank_panel(panel.rows(by_question), design, "holm")
    p = np.array([np.nan if pair.test.p_value is None else pair.test.p_value for pair in board.pairs])
    adjusted = np.full(len(p), np.nan)
    adjusted[~np.isnan(p)] = benjamini_hochberg(p[~np.isnan(p)])
    return ModelPairs(board, tuple(None if np.isnan(q) else float(q) for q in adjusted))
