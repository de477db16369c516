"""Tables of results: numbers there, texts here, and both of the same cells."""

import pytest

from assay.results.parts import Column, ResultTable
from assay.results.text import TextStyle, shortened, table_text
from assay.stats.records import Estimate, Interval

LIMITS = Interval(0.1, 0.3, 0.95, "t")
FOUND = Estimate(0.2, LIMITS, 0.05, 10)
NOTHING = Estimate(None, None, None, 0, "no items")


def test_numbers_stay_numbers_until_they_are_printed() -> None:
    table = ResultTable("x", "x", (Column("score", [1 / 3, None]), Column("items", [1234, 5])))
    assert table.rows == [("0.3333", "1,234"), ("–", "5")]
    assert table.records() == [{"score": 1 / 3, "items": 1234}, {"score": None, "items": 5}]


def test_an_estimate_is_three_numbers_and_its_reason_where_there_is_none() -> None:
    table = ResultTable("x", "x", (Column("score", [FOUND, NOTHING]),))
    assert table.rows == [("0.200  [0.100 to 0.300]",), ("undefined: no items",)]
    assert table.records() == [
        {"score": 0.2, "score_low": 0.1, "score_high": 0.3},
        {"score": None, "score_low": None, "score_high": None},
    ]


def test_limits_alone_are_two_numbers() -> None:
    column = Column("95%", [LIMITS, None], key="together")
    assert column.texts == ["[0.100 to 0.300]", "–"]
    assert column.records() == [
        {"together_low": 0.1, "together_high": 0.3},
        {"together_low": None, "together_high": None},
    ]


@pytest.mark.parametrize(
    ("values", "right"),
    [([1, 2], True), ([1.5, None], True), (["a", "b"], False), ([FOUND], False), ([None], False), ([1], True)],
)
def test_plain_numbers_line_up_to_the_right(values: list[float | str | None], right: bool) -> None:
    assert Column("x", values).to_the_right is right


def test_a_frame_holds_the_numbers_without_rounding() -> None:
    frame = ResultTable("x", "x", (Column("model", ["a", "b"]), Column("score", [FOUND, FOUND]))).to_frame()
    assert list(frame.columns) == ["model", "score", "score_low", "score_high"]
    assert frame["score_low"].tolist() == [0.1, 0.1]


def test_letters_that_take_two_columns_line_up() -> None:
    table = ResultTable("x", "", (Column("model", ["基準", "base"]), Column("n", [1, 100])))
    assert table_text(table).splitlines() == ["model    n", "基準     1", "base   100"]


def test_names_are_shortened_where_a_line_would_be_too_long() -> None:
    names = ["a-very-long-name-of-a-model-one", "a-very-long-name-of-a-model-two"]
    table = ResultTable("x", "", (Column("model", names, may_shorten=True), Column("n", [1, 2])))
    lines = table_text(table, TextStyle(24)).splitlines()
    assert max(map(len, lines)) <= 24
    assert len({line.split()[0] for line in lines[1:]}) == 2
    assert table_text(table).splitlines()[1].startswith(names[0])


def test_names_that_fit_stay() -> None:
    assert shortened(["ab", "cd"], 12) == ["ab", "cd"]


def test_the_heading_is_the_title_and_what_it_is_of() -> None:
    one = Column("x", [1])
    assert ResultTable("x", "models", (one,), "of three").heading == "Models: of three"
    assert ResultTable("x", "more helps?", (one,), "base").heading == "More helps? base"


def test_rows_are_sorted_by_numbers_and_not_by_what_is_printed() -> None:
    assert Column("x", [FOUND, NOTHING]).numbers == (0.2, None)
    assert Column("x", [LIMITS, None]).numbers == (0.1, None)
    assert Column("x", [3, 1.5], show=lambda share: f"<{share}%").numbers == (3.0, 1.5)
    assert Column("x", ["a", "b"]).numbers is None


def test_hidden_columns_are_in_frames_only_and_written_ones_keep_their_numbers() -> None:
    tiers = Column("tier", [1, 2], written=["1 a", "2 b"], right=False)
    table = ResultTable("models", "", (Column("model", ["x", "y"]), tiers, Column("mean", [0.5, 0.25], hidden=True)))
    assert table.header == ("model", "tier")
    assert table.rows == [("x", "1 a"), ("y", "2 b")]
    assert tiers.numbers == (1.0, 2.0)
    assert table.records() == [{"model": "x", "tier": 1, "mean": 0.5}, {"model": "y", "tier": 2, "mean": 0.25}]
    assert table_text(table) == "model  tier\nx      1 a\ny      2 b"


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
    assert shortened(names, 12) == expected
