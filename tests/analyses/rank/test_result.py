"""The record: there and back, as text in 80 columns, as a frame, as HTML, and its sentence."""

import json
from collections.abc import Sequence
from itertools import combinations, pairwise
from typing import Any

import numpy as np
import pytest
from msgspec import ValidationError
from msgspec.structs import replace

from assay.analyses.rank import rank
from assay.analyses.rank.records import (
    EstimateColumns,
    LimitColumns,
    Move,
    PairTestColumns,
    RankedPair,
    RankedPairs,
    Reweighting,
    Standing,
)
from assay.analyses.rank.result import Leaderboard
from assay.design import Design
from assay.errors import InputError
from assay.results.explanations import EXPLANATIONS
from assay.results.figures import Forest
from assay.stats.records import Estimate, Interval

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


def columns(pairs: Sequence[RankedPair]) -> RankedPairs:
    """Records of pairs as columns, one by one."""
    sizes = dict.fromkeys(name for pair in pairs for name in pair.effect_sizes)
    tests = [pair.test for pair in pairs]
    return RankedPairs(
        level=0.95,
        a=tuple(pair.a for pair in pairs),
        b=tuple(pair.b for pair in pairs),
        verdict=tuple(pair.verdict for pair in pairs),
        difference=EstimateColumns.of([pair.difference for pair in pairs]),
        test=PairTestColumns(
            name=tests[0].name,
            statistic=tuple(test.statistic for test in tests),
            p_value=tuple(test.p_value for test in tests),
            n=tuple(test.n for test in tests),
            reason=tuple(test.reason for test in tests),
            sampled=True,
        ),
        p_adjusted=tuple(pair.p_adjusted for pair in pairs),
        effect_sizes={name: EstimateColumns.of([pair.effect_sizes[name] for pair in pairs]) for name in sizes},
        alone=LimitColumns(
            low=tuple(None if pair.alone is None else pair.alone.low for pair in pairs),
            high=tuple(None if pair.alone is None else pair.alone.high for pair in pairs),
            method=tuple(None if pair.alone is None else pair.alone.method for pair in pairs),
        ),
    )


@pytest.mark.parametrize("holes", [False, True])
def test_columns_of_pairs_against_records_one_by_one(holes: bool) -> None:
    board = board_of(5, holes=holes)
    records = list(board.pairs)
    assert len(records) == len(board.pairs) == 10
    assert columns(records) == board.pairs
    assert board.pairs[-1] == records[-1]
    assert board.pairs.told_apart == sum(pair.verdict != "not told apart" for pair in records)
    names = [model.name for model in board.models]
    assert [(pair.a, pair.b) for pair in records] == list(combinations(names, 2))


def test_the_columns_are_a_table_for_other_programs() -> None:
    data = board_of(4).to_dict()["pairs"]
    columns = {"a", "b", "verdict", "difference", "test", "p_adjusted", "effect_sizes", "alone"}
    assert set(data) == {"level", "reliance", *columns}
    assert set(data["difference"]) == {"value", "low", "high", "method", "standard_error", "n", "reason"}
    assert {len(column) for column in data["difference"].values()} == {6}
    assert data["test"]["name"] == "sign-flip"


@pytest.mark.parametrize("holes", [False, True])
def test_there_and_back_through_json(holes: bool) -> None:
    board = board_of(4, holes=holes)
    data = json.loads(json.dumps(board.to_dict(), allow_nan=False))
    assert (data["schema"], data["kind"], data["metric"]) == ("assay/leaderboard/2", "leaderboard", "scores")
    assert Leaderboard.from_dict(data) == board
    assert data["tiers"] == [list(tier) for tier in board.tiers]
    with pytest.raises(InputError, match="not a leaderboard result: schema must be"):
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
    text = board.to_text(full=True)
    table = text.split("\n\n")[2].splitlines()
    assert len(table) == k + 1
    assert max(map(len, table)) <= 80
    start, stop = table[0].index("model"), table[0].index("score")
    assert len({line[start:stop] for line in table[1:]}) == k  # shortened names are still different
    wide = board.to_text(width=120, full=True).split("\n\n")[2]
    assert all(model.name in wide for model in board.models)


def pair_lines(text: str) -> list[list[str]]:
    pairs = next(block for block in text.split("\n\n") if block.startswith("A "))
    return [line.split() for line in pairs.splitlines()[1:]]


def test_few_pairs_are_all_shown_more_are_neighbours_many_on_request() -> None:
    assert len(pair_lines(str(board_of(5)))) == 10
    six = board_of(6)
    ranked = [model.name for model in six.models]
    assert [(line[0], line[2]) for line in pair_lines(str(six))] == list(pairwise(ranked))
    many = board_of(13)
    assert "A − B" not in str(many)
    assert len(many.to_text(all_pairs=True).split("\n\n")[3].splitlines()) == 1 + 78


def test_frames_and_html_hold_what_the_record_holds() -> None:
    board = board_of(3)
    frame, pairs = board.to_frame(), board.pair_frame()
    assert frame["name"].tolist() == [model.name for model in board.models]
    assert frame["estimate_low"].tolist() == [
        model.estimate.interval.low for model in board.models if model.estimate.interval
    ]
    assert pairs["p_adjusted"].tolist() == [pair.p_adjusted for pair in board.pairs]
    html = board._repr_html_()
    assert all(model.name in html for model in board.models)
    assert frame["bootstrap_ranks_high"].tolist() == [model.bootstrap_ranks[1] for model in board.models]
    assert pairs["difference_high"].tolist() == [
        p.difference.interval.high for p in board.pairs if p.difference.interval
    ]


def test_a_pair_is_found_by_names_in_any_order() -> None:
    board = board_of(3)
    assert board.pair("m02", "m00") == board.pair("m00", "m02")
    with pytest.raises(InputError, match="no pair 'm00' and 'x' among the models"):
        board.pair("m00", "x")


def test_long_lists_of_notes_end() -> None:
    board = board_of(3)
    noted = replace(board, notes=tuple(f"note {i}" for i in range(9)))
    assert "and 4 more, in the JSON" in str(noted)


def test_every_pair_is_found_by_its_place_against_a_search() -> None:
    for k in (2, 3, 7):
        board = board_of(k)
        for one in board.pairs:
            assert board.pair(one.b, one.a) == one
    with pytest.raises(InputError, match="no pair 'm00' and 'm00'"):
        board.pair("m00", "m00")


# ------------------------------------------------------------------------------------------------------ what is shown


def test_facts_hold_numbers_and_know_how_they_were_computed() -> None:
    board = board_of(4)
    facts = {fact.label: fact for fact in board.facts}
    assert list(facts) == ["top score", "may be best", "tiers", "tests", "data", "interval"]
    assert facts["top score"].value == board.top.corrected
    assert facts["tiers"].value == len(board.tiers)
    assert (facts["data"].value, facts["data"].text) == (40, "40 items")
    assert all(fact.key in EXPLANATIONS for fact in board.facts)
    assert all(table.explained in EXPLANATIONS for table in board.tables)
    assert [(fact.label, fact.text) for fact in board.compared] == [("models", "4"), ("on", "40 items")]
    assert (board.subject, board.question) == ("4 models", "Which models can be told apart?")


def test_the_gauge_is_the_first_model_less_the_second() -> None:
    for k, which in ((2, ""), (3, ", interval for all pairs at once")):
        board = board_of(k)
        gauge, pair = board.gauge, board.pairs[0]
        assert gauge is not None
        assert pair.difference.interval is not None
        assert gauge.label == f"{pair.a} − {pair.b}{which}"
        assert (gauge.value, gauge.low) == (pair.difference.value, pair.difference.interval.low)
        assert (gauge.better, gauge.marks[0].place) == ("higher", 0.0)
    undefined = replace(pair, difference=Estimate(None, None, None, 0, "no unit in common"))
    assert replace(board, pairs=columns([undefined, *list(board.pairs)[1:]])).gauge is None


def test_only_one_model_that_may_be_best_is_an_answer() -> None:
    clear, open_ = board_of(3, step=3.0), board_of(3, step=0.0)
    assert (clear.status, len(clear.confidence_set)) == ("good", 1)
    assert (open_.status, len(open_.confidence_set) > 1) == ("unsure", True)


def test_the_forest_has_a_line_for_each_model_and_the_corrected_top_score() -> None:
    board = board_of(4)
    (forest,) = board.figures
    assert isinstance(forest, Forest)
    assert [(line.label, line.value) for line in forest.lines] == [(m.name, m.estimate.value) for m in board.models]
    assert [line.others[0].value for line in forest.lines if line.others] == [board.top.corrected.value]
    assert set(forest.groups) == {line.group for line in forest.lines}


def test_tiers_and_the_set_are_those_of_the_models() -> None:
    board = board_of(6, step=0.8)
    assert [name for tier in board.tiers for name in tier] == [model.name for model in board.models]
    for place, tier in enumerate(board.tiers, 1):
        assert {model.tier for model in board.models if model.name in tier} == {place}
    assert board.confidence_set == tuple(model.name for model in board.models if model.in_confidence_set)


def test_numbers_that_are_undefined_are_dashes_and_no_zeros() -> None:
    parts = [{"item": [1, 2, 3], "score": [1.0, 2.0, 4.0]}, {"item": [3, 4, 5], "score": [2.0, 2.5, 3.0]}]
    third = {"item": [1, 2, 4, 5], "score": [0.5, 0.6, 0.7, 0.9]}
    board = rank(*parts, third, names=["a", "b", "c"], design=QUICK)
    lone = board.pair("a", "b")
    assert (lone.difference.standard_error, lone.difference.interval) == (None, None)
    assert "one unit or cluster in common" in str(lone.difference.reason)
    frame = board.pair_frame().set_index(["a", "b"])
    assert np.isnan(frame.loc[(lone.a, lone.b), "standard_error"])
    line = next(line for line in pair_lines(str(board)) if (line[0], line[2]) == (lone.a, lone.b))
    assert line[4] == "–"


TWO = "2 models moved (x 1 → 2, y 2 → 1)"
SIX = "6 models moved (a 1 → 2, b 1 → 2, c 1 → 2, d 1 → 2 and 2 more)"


@pytest.mark.parametrize(
    ("other", "text"),
    [
        (Reweighting("n", None, 9, 1.0, (), 0), "n: τ = 1 with equal weights, no model moves"),
        (Reweighting("log", None, 9, None, (), 0), "log n: τ undefined with equal weights, no model moves"),
        (
            Reweighting("sqrt", 30, 1, 0.5, (Move("x", 1, 2), Move("y", 2, 1)), 1),
            f"√n, n ≥ 30 (1 item): τ = 0.5 with equal weights, {TWO}; 1 pair told apart changes order",
        ),
        (
            Reweighting("equal", 5, 8, 0.2, tuple(Move(name, 1, 2) for name in "abcdef"), 2),
            f"equal, n ≥ 5 (8 items): τ = 0.2 with equal weights, {SIX}; 2 pairs told apart change order",
        ),
    ],
)
def test_other_weights_say_who_moves(other: Reweighting, text: str) -> None:
    assert other.text("item") == text


@pytest.mark.parametrize(
    "damage", [{"models": 3}, {"pairs": [{}]}, {"top": None}, {"adjust": "tukey"}, {"n_units": "x"}]
)
def test_damaged_data_are_refused(damage: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        Leaderboard.from_dict(board_of(2).to_dict() | damage)


def test_pairs_that_lack_a_row_are_refused() -> None:
    data = board_of(3).to_dict()
    short = data["pairs"] | {"p_adjusted": data["pairs"]["p_adjusted"][1:]}
    with pytest.raises(ValidationError, match="columns of pairs must have the same length"):
        Leaderboard.from_dict(data | {"pairs": short})
    with pytest.raises(ValidationError, match="3 models must have 3 pairs, but got 1"):
        Leaderboard.from_dict(data | {"pairs": board_of(2).to_dict()["pairs"]})


def standing(name: str, letters: str = "a") -> Standing:
    estimate = Estimate(0.5, Interval(0.4, 0.6, 0.95, "t"), 0.05, 10)
    return Standing(name, 1, estimate, None, 0.5, 10, 1, tuple(letters), (1, 2), (1, 2), 0.5, 0.5, True)


@pytest.mark.parametrize(
    ("letters", "expected"),
    [(["a"], "a"), (list("abc"), "abc"), (list("abcd"), "a–d"), (list("abdez"), "a…z"), (["z", "aa"], "z,aa")],
)
def test_letters_in_a_row_are_shortened(letters: list[str], expected: str) -> None:
    assert replace(standing("x"), letters=tuple(letters)).tier_text == f"1 {expected}"
