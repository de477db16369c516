"""Which models can be told apart: all pairs, questions as clusters (S5)."""

from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar

import numpy as np

from assay.analyses.rank.result import Leaderboard
from assay.analyses.sheet import Sheet
from assay.analyses.survey.loaded import Survey
from assay.analyses.survey.section import Section, Statement
from assay.data import Metric, Panel
from assay.data.labels import Labels
from assay.design import Design
from assay.stats.multiplicity import benjamini_hochberg


@dataclass(frozen=True, slots=True)
class Pairs(Section):
    name: ClassVar[str] = "pairs"

    leaderboard: Leaderboard | None  # Holm-adjusted
    false_discovery: tuple[float | None, ...]  # the pairs' p-values after Benjamini and Hochberg, in their order
    reason: str | None = None

    def sheets(self) -> list[Sheet]:
        board = self.leaderboard
        if board is None:
            return [Sheet(("pairs", str(self.reason)), ["model"], [])]
        rows = [
            [m.name, f"{m.tier}", "".join(m.letters), f"{m.estimate.value:.4f}", f"{m.ranks[0]}–{m.ranks[1]}"]
            for m in board.models
        ]
        told = sum(pair.verdict != "not told apart" for pair in board.pairs)
        title = f"{told} of {len(board.pairs)} pairs told apart (Holm, questions as clusters)"
        return [Sheet(("tiers", title), ["model", "tier", "letters", "score", "ranks"], rows)]

    def sentences(self) -> list[Statement]:
        board = self.leaderboard
        if board is None:
            return []
        told = sum(pair.verdict != "not told apart" for pair in board.pairs)
        found = sum(p is not None and p <= 1 - board.design.level for p in self.false_discovery)
        tiers = len(board.tiers)
        return [
            Statement(
                f"{told} of {len(board.pairs)} pairs of models differ significantly ({board.pairs[0].test.name} test, "
                f"questions as clusters, Holm; {found} after Benjamini and Hochberg); "
                f"the {len(board.models)} models form {tiers} {'tier' if tiers == 1 else 'tiers'}.",
                holds=True,
            ),
            Statement(board.sentence, holds=tiers > 1),
        ]


@lru_cache(maxsize=1)
def pairs(survey: Survey, design: Design) -> Pairs:
    """All pairs of models on the cells that both have; a question asked of 49 segments is one question."""
    from assay.analyses.rank import rank_panel  # late

    kept = np.asarray(~np.isnan(survey.scores).all(axis=0))
    if kept.sum() < 2:
        return Pairs(None, (), "one model: there is no pair")
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
    return Pairs(board, tuple(None if np.isnan(q) else float(q) for q in adjusted))
