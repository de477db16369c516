"""The sentence of a leaderboard says what its pairs show; notes say what a reader should know."""

from typing import Any

import pytest

from assay.analyses.rank import rank
from assay.analyses.rank.records import RankedPair
from assay.analyses.rank.sentences import sentence_of
from assay.design import Design
from assay.stats.records import Estimate, Test
from tests.analyses.rank.test_result import columns, standing


def told(a: str, b: str, p: float | None, verdict: Any) -> RankedPair:
    test = Test("t", 1.0, p, 10)
    return RankedPair(a, b, verdict, Estimate(0.1, None, None, 10), test, p, {})


YES, NO = "better", "not told apart"
LEVEL_WITH_W = "x and y cannot be told apart from w (smallest p = 0.3, adjusted); "
LEVEL_WITH_W += "w is better than z; so is x; y is not shown to be."


@pytest.mark.parametrize(
    ("models", "pairs", "expected"),
    [
        ("xy", [("x", "y", 0.01, YES)], "x is better than y (p = 0.01, adjusted)."),
        ("xy", [("x", "y", 0.4, NO)], "x and y cannot be told apart (p = 0.4, adjusted)."),
        (
            "xyz",
            [("x", "y", 0.01, "worse"), ("x", "z", 0.4, NO), ("y", "z", 0.2, NO)],
            "y is better on what both answered than x, which has the best estimate.",
        ),
        ("xy", [("x", "y", None, NO)], "x and y cannot be told apart (no test)."),
        (
            "xyz",
            [("x", "y", 0.4, NO), ("x", "z", 0.01, YES), ("y", "z", 0.02, YES)],
            "x and y cannot be told apart (p = 0.4, adjusted); both are better than z.",
        ),
        (
            "xyz",
            [("x", "y", 0.4, NO), ("x", "z", 0.01, YES), ("y", "z", 0.2, NO)],
            "x and y cannot be told apart (p = 0.4, adjusted); x is better than z; y is not shown to be.",
        ),
        (
            "xyz",
            [("x", "y", 0.01, YES), ("x", "z", 0.001, YES), ("y", "z", 0.2, NO)],
            "x is better than y and z (largest p = 0.01, adjusted).",
        ),
        (
            "wxyz",
            [
                ("w", "x", 0.4, NO),
                ("w", "y", 0.3, NO),
                ("w", "z", 0.01, YES),
                ("x", "z", 0.02, YES),
                ("y", "z", 0.2, NO),
            ],
            LEVEL_WITH_W,
        ),
        (
            "xyvz",
            [
                ("x", "y", 0.4, NO),
                ("x", "v", 0.01, YES),
                ("x", "z", 0.01, YES),
                ("y", "v", 0.2, NO),
                ("y", "z", 0.02, YES),
            ],
            "x and y cannot be told apart (p = 0.4, adjusted); x is better than v and z; y is better only than z.",
        ),
    ],
)
def test_sentences_say_what_the_pairs_show(models: str, pairs: list[Any], expected: str) -> None:
    assert sentence_of([standing(name) for name in models], columns([told(*pair) for pair in pairs])) == expected


def test_models_beside_the_first_are_named_with_whom_they_are_better_than() -> None:
    """It was "the 2 beside it than at least 1 of them"."""
    level, rest = "ABCDE", "vwxyz"
    better = {"A": rest, "B": rest, "C": "yz", "D": "yz", "E": ""}
    pairs = [told("A", name, 0.2, NO) for name in level[1:]]
    pairs += [told(a, b, 0.01, YES if b in better[a] else NO) for a in level for b in rest]
    models = [standing(name) for name in level + rest]
    head = (
        "B, C, D and E cannot be told apart from A (smallest p = 0.2, adjusted); A is better than the other 5 models; "
    )
    tail = "E is not shown to be better than any of them."
    assert sentence_of(models, columns(pairs)) == f"{head}so is B; C and D are better only than y and z; {tail}"
    pairs.append(told("D", "x", 0.01, YES))
    assert sentence_of(models, columns(pairs)) == f"{head}so is B; C and D are better than some of them; {tail}"


def test_p_values_that_are_not_adjusted_are_not_called_so() -> None:
    models = [standing(name) for name in "xy"]
    level, better = columns([told("x", "y", 0.4, NO)]), columns([told("x", "y", 0.01, YES)])
    assert sentence_of(models, level, adjusted=False) == "x and y cannot be told apart (p = 0.4)."
    assert sentence_of(models, better, adjusted=False) == "x is better than y (p = 0.01)."


# --------------------------------------------------------------------------------------------------------------- notes


def notes(scores: list[list[float | None]], **options: Any) -> str:
    """All notes of models that have answered items, or not."""
    items = range(len(scores[0]))
    parts = [
        {"item": [i for i in items if row[i] is not None], "score": [one for one in row if one is not None]}
        for row in scores
    ]
    names = [f"m{i}" for i in range(len(scores))]
    return "\n".join(rank(*parts, names=names, design=Design(resamples=200), **options).notes)


def test_answers_that_are_missing_are_counted_by_hand() -> None:
    found = notes([[1, 0, 1, 1, 0, 1] * 3, [1, None, 1, 0, 0, None] * 3, [0, 0, 1, 0, None, 1] * 3])
    assert "answers are missing (2 of 3 models; most: m1, 6 of 18)" in found
    assert "`missing='complete'` takes the 9 that all have" in found


def test_few_units_and_what_they_could_show_at_all() -> None:
    """Of five items there are 2⁵ sign flips: mid-p counts half of the most extreme, 2⁻⁵; three pairs make it 3·2⁻⁵."""
    found = notes([[1, 1, 1, 1, 1], [0, 0, 0, 1, 1], [0, 0, 0, 0, 1]])
    assert "5 items, too few to rely on" in found
    assert "no p-value can be below 0.031, nor below 0.094 when adjusted for 3 pairs" in found
    assert "`adjust='max-t'` depends less on the number of pairs" in found
    four = notes([[1, 1, 1, 1], [0, 0, 0, 1]])
    assert "no p-value can be below 0.062, so that no pair can be told apart at 0.05" in four


@pytest.mark.parametrize("adjust", ["bh", "none"])
def test_weak_adjustments_are_said_to_be_weak(adjust: Any) -> None:
    assert "as sure as single decisions" in notes([[1, 0] * 10, [0, 1] * 10], adjust=adjust)
    assert "as sure as single decisions" not in notes([[1, 0] * 10, [0, 1] * 10])
