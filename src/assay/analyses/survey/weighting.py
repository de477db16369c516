"""Does the ranking hang on how segments are weighted (S7)? By n, √n or log n, or only those with enough respondents."""

from collections.abc import Callable, Iterator

import numpy as np

from assay.analyses.rank.records import Move, Reweighting
from assay.analyses.rank.weights import place_of
from assay.analyses.survey.loaded import Survey
from assay.analyses.survey.pairs import pairs
from assay.analyses.survey.result import SurveyAnalysis
from assay.analyses.survey.scores import FOUR
from assay.analyses.survey.sentences import Statement
from assay.design import Design
from assay.results import words
from assay.results.table import Column, ResultTable
from assay.stats.repeated_runs import rank_stability
from assay.stats.units import Floats, Truths

WEIGHTS: dict[str, Callable[[Floats], Floats]] = {
    "equal": np.ones_like,
    "n": np.asarray,
    "sqrt": np.sqrt,
    "log": np.log,
}
LEAST = (30, 50, 100)  # respondents that a segment may be asked to have
_SIGNS = {"equal": "equal", "n": "n", "sqrt": "√n", "log": "log n"}


class SegmentWeights(SurveyAnalysis, frozen=True, tag="weighting"):
    """The ranking under every weighting against that of the benchmark, where segments count the same."""

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

    def sentences(self) -> Iterator[Statement]:
        if len(self.models) < 2:
            yield Statement("Nothing is said of weights: fewer than two models have all segments.", holds=False)
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
            f"it, most {_label(least)} (Kendall's τ = {tau}; {_moves(least)})"
        )
        flipped = max(other.reversed for other in self.others)
        if flipped:
            yield Statement(f"{text}, and up to {flipped} pairs that are told apart change their order.", holds=True)
        else:
            yield Statement(f"{text}, but no two models that are told apart change their order.", holds=True)


def weighting(survey: Survey, design: Design) -> SegmentWeights:
    """The rankings, of models that have an answer in every segment."""
    segments = survey.by_segment(survey.scores)  # (S, M)
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
    found = [_weighted(segments[:, kept], n, how, least) for how, least in ways]
    others = [
        _against(names, (base, value), (how, least, int((n >= (least or 0)).sum())), apart)
        for (how, least), value in zip(ways, found, strict=True)
    ]
    return SegmentWeights(tuple(names), tuple(tuple(v.tolist()) for v in [base, *found]), tuple(others), left_out)


def _weighted(segments: Floats, n: Floats, how: str, least: int | None) -> Floats:
    weights = WEIGHTS[how](n) * (n >= (least or 0))
    return np.asarray((segments * weights[:, None]).sum(axis=0) / weights.sum())


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
