"""A result on a terminal: what is said of a section stands under its title, folded."""

from typing import Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from assay.results.figures import Gauge, Mark
from assay.results.parts import Column, ResultTable
from assay.results.record import Caution, Fact, Result, Section
from assay.results.text import WIDE, TextStyle, gauge_text, lined_up, result_text, table_text


class Advice(Result, frozen=True, kw_only=True, tag="assay/advice/1"):
    """The smallest result that says something."""

    question = "What now?"
    kind_name = "advice"

    sentence: str
    texts: tuple[str, ...]
    kind: Literal["advice"] = "advice"
    signature: str = "assay:0.1|advice"

    @property
    def sections(self) -> tuple[Section, ...]:
        return (Section("advice", "What to do", said=self.texts),)

    @property
    def facts(self) -> tuple[Fact, ...]:
        return (Fact("items", 1319),)

    @property
    def cautions(self) -> tuple[Caution, ...]:
        return (Caution("note", "a note"),)


def test_what_is_said_stands_under_the_title_of_its_section() -> None:
    found = str(Advice(sentence="Do it.", texts=("Now.", "Then.")))
    assert found == "Do it.\n\nWhat to do\n- Now.\n- Then.\n\nitems  1,319\nnote   a note"


def test_everything_has_the_signature_too() -> None:
    found = Advice(sentence="Do it.", texts=("Now.",)).to_text(verbose=True)
    assert found.endswith("items      1,319\nnote       a note\nsignature  assay:0.1|advice")


def test_values_are_folded_beside_their_labels_and_tables_shortened() -> None:
    lines = lined_up([("a", "one two three four five six seven eight nine"), ("long", "x")], 36).splitlines()
    assert lines == ["a     one two three four five six", "      seven eight nine", "long  x"]
    table = ResultTable("t", "", (Column("n", list(range(60))),))
    shown = table_text(table).splitlines()
    assert shown[-1] == "… and 20 more (`full=True`)"
    assert len(table_text(table, TextStyle(full=True)).splitlines()) == 61


@given(st.tuples(*[st.floats(-1e6, 1e6)] * 3).map(sorted), st.lists(st.floats(-1e6, 1e6), max_size=3))
def test_an_interval_on_a_line_is_in_the_order_of_its_numbers(numbers: list[float], places: list[float]) -> None:
    low, value, high = numbers
    line = gauge_text(Gauge("g", value, low, high, tuple(Mark(place, "m") for place in places), None, "words"))
    drawn = line.split("  ")[0]
    assert line.split("  ")[1] == "g" + "; │ m" * len(places)
    assert set(drawn) <= set("┄━●│")
    assert drawn.count("●") == 1
    dot = drawn.index("●")
    for place in places:
        if abs(place - value) > (max(*numbers, *places) - min(*numbers, *places)) / 30:
            assert "│" in (drawn[:dot] if place < value else drawn[dot:])


@pytest.mark.parametrize(("width", "longest"), [(None, WIDE), (40, 40)])
def test_long_sentences_are_folded_at_the_width_and_nothing_is_lost(width: int | None, longest: int) -> None:
    text = " ".join(f"word{i}" for i in range(60))
    said = Advice(sentence="Do it.", texts=(text,)).to_text(width).split("\n\n")[1]
    lines = said.splitlines()[1:]
    assert max(map(len, lines)) <= longest
    assert all(line.startswith("  word") for line in lines[1:])
    assert said.split()[4:] == text.split()


def test_without_anything_to_say_there_is_no_title() -> None:
    assert "What to do" not in str(Advice(sentence="Nothing.", texts=()))


def test_an_interval_on_a_line_is_to_scale() -> None:
    line = gauge_text(Gauge("g", 1.5, 1.0, 2.0, (Mark(0.0, "zero"), Mark(4.0, "limit")), None, "1.5 [1 to 2]"))
    drawn, words = line.split("  ")
    assert (drawn.index("│"), drawn.index("━"), drawn.index("●"), drawn.rindex("━")) == (0, 9, 14, 18)
    assert drawn[-1] == "│"
    assert words == "g; │ zero; │ limit"
    assert (
        gauge_text(Gauge("g" * 60, 0, -1, 1, (), "higher", ""), 80).splitlines()[1] == "g" * 60 + ", higher is better"
    )


def test_wide_letters_count_twice_where_lines_are_folded() -> None:
    text = "日本語モデル と 英語モデル の 差 は 示さ れ ない: 日本語モデル 0.5 [0.4 to 0.6]"
    shown = result_text(Advice(sentence=text, texts=()), TextStyle(width=30)).split("\n\n")[0]
    assert max(map(cell_len, shown.splitlines())) <= 30
    assert shown.split() == text.split()
    gauge = Gauge("日本語モデル − 英語モデル, 95%", 0, -1, 1, (Mark(0.0, "no difference at all"),), "higher", "")
    assert max(map(cell_len, gauge_text(gauge, 40).splitlines())) <= 40
