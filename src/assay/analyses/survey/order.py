"""The order of the models: which pairs differ (S5), under which weights of segments (S7), in which runs (S4).

A question asked of 49 segments is one question: all pairs are tested with questions as clusters. Segments may count by
n, √n or log n, or only those with enough respondents. Repeated runs are compared where there are any.
"""

from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import Any

import numpy as np
from msgspec.structs import replace

from assay.analyses.rank.records import Move, Reweighting
from assay.analyses.rank.result import Leaderboard
from assay.analyses.rank.weights import place_of
from assay.analyses.reliability import reliability
from assay.analyses.reliability.result import Reliability
from assay.analyses.survey.evidence import Survey, means_by, segments_alike
from assay.analyses.survey.result import SurveyAnalysis
from assay.analyses.survey.scores import FOUR
from assay.analyses.survey.sentences import Advice, Statement
from assay.design import Design
from assay.errors import InputError
from assay.results import words
from assay.results.parts import Column, Fact, ResultTable
from assay.stats.multiplicity import benjamini_hochberg
from assay.stats.planning.plans import Goal
from assay.stats.repeated_runs import rank_stability
from assay.stats.units import Floats, Truths


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
            Column(
                "ranks",
                [m.ranks[0] for m in models],
                key="ranks_low",
                written=["–".join(map(str, m.ranks)) for m in models],
            ),
            Column("ranks_high", [m.ranks[1] for m in models], hidden=True),
        )
        about = f"{board.pairs.told_apart} of {len(board.pairs)} pairs told apart (Holm, questions as clusters)"
        return (ResultTable("tiers", "tiers", columns, about),)

    @property
    def main_fact(self) -> Fact | None:
        board = self.leaderboard
        if board is None:
            return None
        shown = f"{board.pairs.told_apart} of {len(board.pairs)}, in {words.count(len(board.tiers), 'tier')}"
        return Fact("pairs of models told apart", board.pairs.told_apart, None, shown)

    @property
    def remarks(self) -> tuple[str, ...]:
        return () if self.reason is None else (f"No pairs were tested: {self.reason}.",)

    def advice(self) -> Iterator[Advice]:
        board = self.leaderboard
        open_pairs = 0 if board is None else len(board.pairs) - board.pairs.told_apart
        if board is not None and open_pairs:
            yield Advice(
                "Publish tiers instead of ranks.",
                f"{open_pairs} of {len(board.pairs)} pairs of models {'is' if open_pairs == 1 else 'are'} not told "
                f"apart; {len(board.models)} models form {words.count(len(board.tiers), 'tier')}.",
            )

    def sentences(self) -> Iterator[Statement]:
        board = self.leaderboard
        if board is None:
            return
        found = sum(p is not None and p <= 1 - board.design.level for p in self.false_discovery)
        yield Statement(
            f"{board.pairs.told_apart} of {len(board.pairs)} pairs of models differ significantly "
            f"({board.pairs.test.names} test, questions as clusters, Holm; {found} after Benjamini and Hochberg); "
            f"the {len(board.models)} models form {words.count(len(board.tiers), 'tier')}.",
            holds=True,
        )
        yield Statement(board.sentence, holds=len(board.tiers) > 1)


@lru_cache(maxsize=1)
def pairs(survey: Survey, design: Design) -> ModelPairs:
    """All pairs of models on the cells that both have; a question asked of 49 segments is one question."""
    from assay.analyses.rank import rank_panel  # late

    panel = survey.of_models
    panel = panel.of_systems(np.flatnonzero(panel.answered.any(axis=0)).tolist())
    if panel.k < 2:
        return ModelPairs(None, (), "there is only one model")
    panel = panel.rows(np.asarray(panel.answered.any(axis=1)))
    board = rank_panel(segments_alike(panel), design, "holm")
    p = np.array(board.pairs.test.p_value, dtype=np.float64)  # NaN where there is none
    adjusted = np.full(len(p), np.nan)
    adjusted[~np.isnan(p)] = benjamini_hochberg(p[~np.isnan(p)])
    return ModelPairs(board, tuple(None if np.isnan(q) else float(q) for q in adjusted))


WEIGHTS: dict[str, Callable[[Floats], Floats]] = {
    "equal": np.ones_like,
    "n": np.asarray,
    "sqrt": np.sqrt,
    "log": np.log,
}
LEAST = (30, 50, 100)  # respondents that a segment may be required to have
_SIGNS = {"equal": "equal", "n": "n", "sqrt": "√n", "log": "log n"}


class SegmentWeights(SurveyAnalysis, frozen=True, tag="weighting"):
    """The ranking under every weighting against the benchmark's own, in which segments count the same."""

    models: tuple[str, ...]  # the best first, as published
    scores: tuple[tuple[float, ...], ...]  # of the models; under equal weights, then under each of the others
    others: tuple[Reweighting, ...]  # units: segments
    left_out: tuple[str, ...]  # models without an answer in some segment

    statements: tuple[Statement, ...] = ()

    @property
    def tables(self) -> tuple[ResultTable, ...]:
        others = self.others
        columns = (
            Column("weights", [_label(other) for other in others]),
            Column("segments", [other.units for other in others]),
            Column("Kendall's τ", [other.tau for other in others], words.fixed(3), key="tau"),
            Column("models that move", [_moves(other) for other in others], key="moves"),
            Column("told apart, reversed", [other.reversed for other in others], key="reversed"),
        )
        scores = (
            Column("model", self.models, may_shorten=True),
            *(Column(name, row, FOUR) for name, row in zip(["equal", *map(_label, others)], self.scores, strict=True)),
        )
        return (
            ResultTable("weighting", "weighting", columns, "the ranking against that with equal weights"),
            ResultTable("weighting scores", "weighting", scores, "scores"),
        )

    def advice(self) -> Iterator[Advice]:
        moved = [other for other in self.others if other.moves]
        numbers = f"{len(moved)} of {len(self.others)} other weightings of segments change the ranking"
        reversed_pairs = max((other.reversed for other in moved), default=0)
        if reversed_pairs:
            do = "Weight segments by √n or n, and say how; small segments are mostly noise."
            many = words.count(reversed_pairs, "pair")
            yield Advice(do, f"{numbers}, and reverse up to {many} of models that are told apart.")
        elif moved:
            do = "Say how segments are weighted, and do not rank models that trade places."
            yield Advice(do, f"{numbers}, though only among models that are not told apart.")

    def sentences(self) -> Iterator[Statement]:
        if len(self.models) < 2:
            yield Statement("Weights were not varied: fewer than two models have all segments.", holds=False)
            return
        moved = [other for other in self.others if other.moves]
        if not moved:
            ways = ", ".join(map(_label, self.others))
            yield Statement(f"The ranking is the same under every weighting of segments ({ways}).", holds=True)
            return
        least = min(moved, key=lambda other: 2.0 if other.tau is None else other.tau)
        tau = "undefined" if least.tau is None else f"{least.tau:.3f}"
        text = (
            f"The ranking is not the same under every weighting of segments: {len(moved)} of {len(self.others)} change "
            f"it, most of all {_label(least)} (Kendall's τ = {tau}; {_moves(least)})"
        )
        flipped = max(other.reversed for other in self.others)
        many = f"and up to {flipped} pairs that are" if flipped else "but no two models that are"
        yield Statement(f"{text}, {many} told apart change their order.", holds=True)


def weighting(survey: Survey, design: Design) -> SegmentWeights:
    """The rankings of the models that have an answer in every segment."""
    segments = means_by(survey.of_models, "segment")  # (S, M)
    whole = ~np.isnan(segments).any(axis=0)
    n = np.array([segment.n for segment in survey.truth.segments], dtype=np.float64)
    kept = np.flatnonzero(whole)
    base = segments[:, kept].mean(axis=0)
    order = np.argsort(-base, kind="stable")
    kept, base = kept[order], base[order]
    names = [survey.models[m] for m in kept]
    left_out = tuple(survey.models[m] for m in np.flatnonzero(~whole))
    if len(kept) < 2:
        return SegmentWeights(tuple(names), (tuple(base.tolist()),), (), left_out)
    apart = _told_apart(survey, kept.tolist(), design)
    ways: list[tuple[str, int | None]] = [
        (how, None) for how in WEIGHTS if how != "equal" and (how != "log" or n.min() > 1)
    ]
    ways += [("equal", least) for least in LEAST if 2 <= int((n >= least).sum()) < len(n)]
    weights = [WEIGHTS[how](n) * (n >= (least or 0)) for how, least in ways]
    found = [(segments[:, kept] * own[:, None]).sum(axis=0) / own.sum() for own in weights]
    others = [
        _against(names, (base, value), (how, least, int((n >= (least or 0)).sum())), apart)
        for (how, least), value in zip(ways, found, strict=True)
    ]
    return SegmentWeights(tuple(names), tuple(tuple(v.tolist()) for v in [base, *found]), tuple(others), left_out)


def _against(
    names: list[str], scores: tuple[Floats, Floats], way: tuple[str, int | None, int], apart: Truths
) -> Reweighting:
    base, other = scores
    moves = [Move(*m) for m in zip(names, place_of(base), place_of(other), strict=True) if m[1] != m[2]]
    tau = rank_stability(np.column_stack([base, other])).tau_mean
    reversed_pairs = apart & (base[:, None] > base) & (other[:, None] < other)
    return Reweighting(way[0], way[1], way[2], tau, tuple(moves), int(reversed_pairs.sum()))


def _told_apart(survey: Survey, models: list[int], design: Design) -> Truths:
    """(m, m) The pairs that the leaderboard tells apart."""
    place = {survey.models[m]: i for i, m in enumerate(models)}
    apart = np.zeros((len(models), len(models)), dtype=bool)
    board = pairs(survey, design).leaderboard
    for pair in () if board is None else board.pairs:
        if pair.verdict != "not told apart" and pair.a in place and pair.b in place:
            a, b = place[pair.a], place[pair.b]
            apart[a, b] = apart[b, a] = True
    return apart


def _label(other: Reweighting) -> str:
    return _SIGNS[other.weights] if other.min_n is None else f"n ≥ {other.min_n}"


def _moves(other: Reweighting) -> str:
    if not other.moves:
        return "none"
    shown = [f"{m.name} {m.rank} → {m.to}" for m in other.moves[:4]]
    more = len(other.moves) - len(shown)
    return ", ".join(shown) + (f" and {more} more" if more else "")


_ONCE = "every answer was given once; ask several times, or at temperature 0, where answers repeat"


class RepeatedRuns(SurveyAnalysis, frozen=True, tag="repeats"):
    """How far runs agree on the answers that all of them have; the overall score weights segments as published."""

    found: Reliability | None
    reason: str | None  # why there is nothing
    statements: tuple[Statement, ...] = ()

    @property
    def tables(self) -> tuple[ResultTable, ...]:
        own = () if self.found is None else self.found.tables
        return tuple(replace(table, key=f"repeats {table.key}", title=f"repeats: {table.title}") for table in own)

    def advice(self) -> Iterator[Advice]:
        if self.found is None:
            do = "Ask at temperature 0, or several times, and report the noise between runs."
            yield Advice(do, f"Here {str(self.reason).partition(';')[0]}.")
            return
        pairs = () if self.found.across is None else self.found.across.pairs
        detectable = self.found.detectable.one_run or 0.0
        close = sum(abs(pair.difference) < detectable for pair in pairs)
        if close:
            differ = f"{close} of {len(pairs)} pairs of models differ by less than single runs can show"
            yield Advice("Average several runs of every model.", f"{differ} ({detectable:.4f}).")

    def sentences(self) -> Iterator[Statement]:
        if self.found is None:
            yield Statement(f"The noise between runs is unknown: {self.reason}.", holds=False)
            return
        yield Statement(self.found.sentence, holds=True)
        least = self.found.detectable.one_run
        if least is not None:
            yield Statement(
                f"Between single runs, differences of scores below {least:.4f} are within run-to-run noise "
                f"({words.percent(self.found.goal.power)} power).",
                holds=True,
            )


def repeats(survey: Survey, design: Design) -> RepeatedRuns:
    """How far the runs agree, for the models that have several."""
    predictions = survey.predictions
    runs = np.zeros(len(survey.models), dtype=np.int64)
    there = ~np.isnan(survey.row_scores)
    np.maximum.at(runs, predictions.model[there], predictions.run[there] + 1)
    rows = np.flatnonzero(there & (runs >= 2)[predictions.model])
    if not len(rows):
        return RepeatedRuns(None, _ONCE)
    try:
        found = reliability(_columns(survey, rows), goal=Goal(level=design.level), cluster="question")
    except InputError as error:  # runs that share no answer: the other analyses still stand
        return RepeatedRuns(None, f"the runs cannot be compared ({str(error).rstrip('.')})")
    return RepeatedRuns(found, None)


def _columns(survey: Survey, rows: "np.ndarray[tuple[int], np.dtype[np.int64]]") -> dict[str, Any]:
    """A table of scores: an item is a question asked of a segment at a number of context questions."""
    predictions, truth = survey.predictions, survey.truth
    cell = predictions.cell[rows]
    questions = [truth.questions[q].id for q in truth.question[cell].tolist()]
    segments = [truth.segments[s].id for s in truth.segment[cell].tolist()]
    contexts = predictions.context[rows].tolist()
    return {
        "model": [survey.models[m] for m in predictions.model[rows].tolist()],
        "item": [f"{q} · {s} · {c}" for q, s, c in zip(questions, segments, contexts, strict=True)],
        "run": (predictions.run[rows] + 1).tolist(),
        "score": survey.row_scores[rows].tolist(),
        "weight": survey.weights[cell].tolist(),
        "question": questions,
    }
