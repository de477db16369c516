"""What a reader of a leaderboard should know: missing answers, contradictions, and how little few units can show."""

from collections.abc import Sequence

import numpy as np

from assay.analyses.rank.pairs import Decided
from assay.analyses.rank.parts import Adjust
from assay.analyses.rank_answers import Answers
from assay.analyses.verdict import FEW
from assay.results import words
from assay.stats.ranking.shared_signs import MOST_ENUMERATED


def notes_of(answers: Answers, decided: Decided, adjust: Adjust, order: Sequence[int]) -> tuple[str, ...]:
    """The notes of the data and of what was decided; ``order`` is that of the ranks."""
    grid, unit = answers.grid, answers.unit
    notes = list(answers.notes)
    if not grid.whole:
        notes.append(_about_holes(answers))
    contradicted = sum(decided.better[b, a] for place, a in enumerate(order) for b in order[place + 1 :])
    if contradicted:
        pairs = words.count(int(contradicted), "pair")
        notes.append(f"{pairs} told apart the other way round than the ranks, on the {unit}s that both answered")
    if grid.groups < FEW:
        notes.append(f"{_groups(answers)}, too few to rely on")
    notes += _attainable(answers, decided, adjust)
    notes += _undecided(decided)
    if adjust in ("bh", "none"):
        notes.append("tiers and ranks are only as sure as single decisions: this adjustment allows some to be false")
    return tuple(notes)


def _groups(answers: Answers) -> str:
    grid = answers.grid
    return words.count(grid.groups, answers.unit if grid.clusters is None else "cluster")


def _about_holes(answers: Answers) -> str:
    grid, unit = answers.grid, answers.unit
    answered = grid.present.sum(axis=0)
    all_have = int(grid.present.all(axis=1).sum())
    lacking, fewest = int((answered < grid.n).sum()), int(np.argmin(answered))
    return (
        f"answers are missing ({lacking} of {grid.k} models; most: {answers.systems[fewest]}, "
        f"{grid.n - int(answered[fewest]):,} of {grid.n:,}): pairs are tested on the {unit}s both have, estimates "
        f"allow for the difficulty of the {unit}s; --complete takes the {all_have:,} that all have"
    )


def _attainable(answers: Answers, decided: Decided, adjust: Adjust) -> list[str]:
    """What so few units could show at all: of n signs there are 2ⁿ, and no p-value is below 2 of them."""
    groups, alpha, name = answers.grid.groups, 1 - decided.design.level, decided.tests.name
    if groups > MOST_ENUMERATED or name not in ("sign-flip", "mcnemar", "mcnemar-midp"):
        return []
    mid = name == "mcnemar-midp"  # which counts half of the observed counts
    least, pairs = 2.0 ** (-groups if mid else 1 - groups), int((~np.isnan(decided.adjusted)).sum())
    have = "" if mid else f" have {2**groups:,} sign flips"
    found = f"{_groups(answers)}{have}: no p-value can be below {words.number(least, 2)}"
    smallest = min(least * pairs, 1.0) if adjust == "holm" else least
    if smallest <= alpha:
        return [found]
    if least > alpha:
        return [f"{found}, so that no pair can be told apart at {words.number(alpha)}"]
    adjusted = f"nor below {words.number(smallest, 2)} when adjusted for {words.count(pairs, 'pair')}"
    advice = "--adjust max-t depends less on the number of pairs"
    return [f"{found}, {adjusted}, so that no pair can be told apart at {words.number(alpha)}; {advice}"]


def _undecided(decided: Decided) -> list[str]:
    """Pairs that the test alone, or the interval alone, would tell apart."""
    told = decided.different[tuple(decided.pairs.index)]
    lone = ~told & (decided.adjusted_test <= 1 - decided.design.level)
    notes = []
    if lone.any():
        pairs = words.count(int(lone.sum()), "pair")
        have = "has" if lone.sum() == 1 else "have"
        notes.append(f"{pairs} that the {decided.tests.name} test alone would tell apart {have} 0 in the interval")
    return notes
