"""The record: there and back, as text in 80 columns, as a frame, as HTML, and its sentence."""

import json
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from assay.analyses.rank import rank, tables
from assay.analyses.rank.parts import Pair, Standing
from assay.analyses.rank.result import Leaderboard
from assay.analyses.rank.sentences import sentence_of
from assay.design import Design
from assay.errors import InputError
from assay.stats.records import Estimate, Interval, Test

QUICK = Design(resamples=200)


def board_of(k: int, n: int = 40, *, step: float = 0.2, long: bool = False, holes: bool = False) -> Leaderboard:
    rng = np.random.default_rng([k, n])
    values = rng.normal(size=(n, 1)) + rng.normal(size=(n, k)) - step * np.arange(k)
    items = [f"q{i:03d}" for i in range(n)]
    ending = "-instruct-quantized-preview" if long else ""
    names = [f"organisation/model-{i:02d}{ending}" for i in range(k)] if long else [f"m{i:02d}" for i in range(k)]
    parts: list[dict[str, Any]] = [
        {"item": items[i % 3 if holes else 0 :], "score": values[i % 3 if holes else 0 :, i].tolist()} for i in range(k)
    ]
    return rank(*parts, names=names, design=QUICK)


@pytest.mark.parametrize("holes", [False, True])
def test_there_and_back_through_json(holes: bool) -> None:
    board = board_of(4, holes=holes)
    data = json.loads(json.dumps(board.to_dict(), allow_nan=False))
    assert (data["schema"], data["kind"], data["metric"]) == ("assay/leaderboard/1", "leaderboard", "scores")
    assert Leaderboard.from_dict(data) == board
    assert data["tiers"] == [list(tier) for tier in board.tiers]
    with pytest.raises(InputError, match="not a leaderboard: schema must be"):
        Leaderboard.from_dict({"schema": "assay/comparison/1"})


def test_reweightings_and_perplexities_go_there_and_back() -> None:
    rng = np.random.default_rng(0)
    parts = [
        {"item": list(range(30)), "score": rng.normal(size=30).tolist(), "weight": [5, 50, 500] * 10} for _ in range(3)
    ]
    weighted = rank(*parts, names=["a", "b", "c"], design=QUICK, weights="sqrt", min_n=10)
    losses = [{"window": [1, 2, 3], "tokens": [9, 9, 9], "loss": [2.0, 1.5, shift]} for shift in (1.0, 1.1)]
    for board in (weighted, rank(*losses, names=["a", "b"], design=QUICK)):
        assert Leaderboard.from_dict(json.loads(json.dumps(board.to_dict(), allow_nan=False))) == board


@pytest.mark.parametrize(
    ("k", "long", "holes"), [(3, False, False), (3, True, True), (12, True, True), (50, True, False)]
)
def test_tables_fit_into_80_columns_and_name_every_model(k: int, long: bool, holes: bool) -> None:
    board = board_of(k, long=long, holes=holes)
    text = str(board)
    table = text.split("\n\n")[1].splitlines()
    assert len(table) == k + 1
    assert max(map(len, table)) <= 80
    start, stop = table[0].index("model"), table[0].index("score")
    assert len({line[start:stop] for line in table[1:]}) == k  # shortened names are still different
    wide = board.to_text(width=120).split("\n\n")[1]
    assert all(model.name in wide for model in board.models)


def test_few_pairs_are_all_shown_more_are_neighbours_many_on_request() -> None:
    assert len(tables.shown_pairs(board_of(5), all_pairs=False)) == 10
    six = board_of(6)
    neighbours = tables.shown_pairs(six, all_pairs=False)
    ranked = [model.name for model in six.models]
    assert [(pair.a, pair.b) for pair in neighbours] == list(pairwise(ranked))
    many = board_of(13)
    assert not tables.shown_pairs(many, all_pairs=False)
    assert "A − B" not in str(many)
    assert len(many.to_text(all_pairs=True).split("\n\n")[2].splitlines()) == 1 + 78


def test_frames_and_html_hold_what_the_record_holds() -> None:
    board = board_of(3)
    frame, pairs = board.to_frame(), board.pair_frame()
    assert frame["name"].tolist() == [model.name for model in board.models]
    assert frame["low"].tolist() == [model.estimate.interval.low for model in board.models if model.estimate.interval]
    assert pairs["p_adjusted"].tolist() == [pair.p_adjusted for pair in board.pairs]
    html = board._repr_html_()
    assert all(model.name in html for model in board.models)
    assert [label for label, _ in board.rows()][:3] == [f"{m.rank}. {m.name}" for m in board.models]


def test_a_pair_is_found_by_names_in_any_order() -> None:
    board = board_of(3)
    assert board.pair("m02", "m00") is board.pair("m00", "m02")
    with pytest.raises(InputError, match="no pair 'm00' and 'x' among the models"):
        board.pair("m00", "x")


def test_long_lists_of_notes_end() -> None:
    board = board_of(3)
    noted = replace(board, notes=tuple(f"note {i}" for i in range(9)))
    assert "and 4 more, in the JSON" in str(noted)


# ------------------------------------------------------------------------------------------------------------- wording


def standing(name: str, letters: str = "a") -> Standing:
    estimate = Estimate(0.5, Interval(0.4, 0.6, 0.95, "t"), 0.05, 10)
    return Standing(name, 1, estimate, None, 0.5, 10, 1, tuple(letters), (1, 2), (1, 2), 0.5, 0.5, True)


def told(a: str, b: str, p: float | None, verdict: Any) -> Pair:
    test = Test("t", 1.0, p, 10)
    return Pair(a, b, Estimate(0.1, None, None, 10), test, p, {}, verdict)


YES, NO = "better", "not told apart"
LEVEL_WITH_W = "x and y cannot be told apart from w (smallest p = 0.3, adjusted); "
LEVEL_WITH_W += "w is better than z; so is x; y is not shown to be."


@pytest.mark.parametrize(
    ("models", "pairs", "expected"),
    [
        ("xy", [("x", "y", 0.01, YES)], "x is better than y (p = 0.01, adjusted)."),
        ("xy", [("x", "y", 0.4, NO)], "x and y cannot be told apart (p = 0.4, adjusted)."),
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
    assert sentence_of([standing(name) for name in models], [told(*pair) for pair in pairs]) == expected


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
    assert sentence_of(models, pairs) == f"{head}so is B; C and D are better only than y and z; {tail}"
    pairs.append(told("D", "x", 0.01, YES))
    assert sentence_of(models, pairs) == f"{head}so is B; C and D are better than some of them; {tail}"


def test_p_values_that_are_not_adjusted_are_not_called_so() -> None:
    models = [standing(name) for name in "xy"]
    assert sentence_of(models, [told("x", "y", 0.4, NO)], adjusted=False) == "x and y cannot be told apart (p = 0.4)."
    assert sentence_of(models, [told("x", "y", 0.01, YES)], adjusted=False) == "x is better than y (p = 0.01)."


def test_lists_of_names_end_with_how_many_more() -> None:
    assert tables.wording_list(["a"], 4) == "a"
    assert tables.wording_list(["a", "b", "c"], 4) == "a, b and c"
    assert tables.wording_list(list("abcdefg"), 4) == "a, b, c and 4 others"


@pytest.mark.parametrize(
    ("letters", "expected"),
    [(["a"], "a"), (list("abc"), "abc"), (list("abcd"), "a–d"), (list("abdez"), "a…z"), (["z", "aa"], "z,aa")],
)
def test_letters_in_a_row_are_shortened(letters: list[str], expected: str) -> None:
    assert tables.letters_text(replace(standing("x"), letters=tuple(letters))) == expected


@pytest.mark.parametrize(("share", "expected"), [(0.0, "<1 %"), (0.004, "<1 %"), (0.5, "50 %"), (0.996, ">99 %")])
def test_chances_are_never_certain(share: float, expected: str) -> None:
    assert tables.chance(share) == expected


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        (["team/model-a", "x"], ["team/model-a", "x"]),
        (["team/model-a-large", "team/x"], ["team/…-large", "team/x"]),
        (["model-a-large-1", "model-a-large-2"], ["model…arge-1", "model…arge-2"]),
        (["team/model-a-large", "team/model-b-large"], ["team…a-large", "team…b-large"]),
        ([f"organisation/model-{i}-instruct-preview" for i in (1, 2)], ["…el-1-instr…", "…el-2-instr…"]),
        (["a" * 30 + "x" * 20 + "a" * 30, "a" * 31 + "x" * 18 + "a" * 31], ["…aaaxxxxxxx…", "…aaaaxxxxxx…"]),
    ],
)
def test_shortened_names_fit_and_stay_different(names: list[str], expected: list[str]) -> None:
    assert tables.shortened(names, 12) == expected
