"""A document as Markdown and as text: names stay text, and the interval on a line is in the order of its numbers."""

import re
from html import unescape

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.names import visible
from assay.report.document import Group, Part, ReportDocument, ShownTable
from assay.report.markdown import cell, document_markdown, document_text, table_markdown
from assay.results.parts import Fact
from tests.report.results import KINDS, part

NAME = st.text(max_size=40)


def read(markdown: str) -> str:
    """What a reader of Markdown sees: escapes taken off."""
    return unescape(re.sub(r"\\([!-/:-@\[-`{-~])", r"\1", markdown)).replace("\N{WORD JOINER}", "")


@given(NAME)
def test_an_escaped_name_reads_as_it_was_and_has_no_markup(name: str) -> None:
    escaped = cell(name)
    # Entities in the name itself are text too: the ampersand is escaped, so they come back as written.
    assert read(escaped) == " ".join(visible(name).replace("\N{WORD JOINER}", "").split())
    assert not re.search(r"(?<!\\)(?:\\\\)*[`*_\[\]|#~$<>]", escaped)
    assert "\n" not in escaped


@pytest.mark.parametrize("name", ["- x", "+ x", "= x", "1. x", "2) x", "# x", "> x", "* x", "```", "| a |", "![x](y)"])
def test_a_name_at_the_start_of_a_line_begins_nothing(name: str) -> None:
    assert not re.match(r"(?:[-+*=#>|`!]|\d+[.)](?:\s|$))(?!\[\^)", cell(name).replace("!", ""))


@pytest.mark.parametrize("number", ["0.897", "1,059", "12%", "1–3"])
def test_a_number_is_written_as_it_is(number: str) -> None:
    assert cell(number) == number


@given(st.lists(st.tuples(NAME, NAME), max_size=4), NAME)
def test_a_table_has_a_line_for_each_row_and_a_column_for_each_cell(rows: list[tuple[str, str]], head: str) -> None:
    lines = table_markdown(ShownTable("t", (head, "b"), tuple(rows))).split("\n")
    assert len(lines) == 2 + len(rows)
    assert all(len(re.findall(r"(?<!\\)(?:\\\\)*\|", line)) == 3 for line in lines)


@given(NAME, NAME)
def test_a_signature_stays_in_its_code(signature: str, name: str) -> None:
    text = document_markdown(ReportDocument("t", (Part("power", name, "t?", "s", "plain", (), f"a{signature}"),)))
    last = text.rstrip("\n").split("\n")[-1]
    assert last.startswith("`a")
    assert last.endswith("`")
    assert last.count("`") == 2


@pytest.mark.parametrize("kind", KINDS)
def test_markdown_and_text_hold_every_table_fact_and_note(kind: str) -> None:
    shown = part(kind)
    markdown, text = (draw(ReportDocument("t", (shown,))) for draw in (document_markdown, document_text))
    for fact in (*shown.compared, *shown.facts):
        assert f"| {cell(fact.label)} | {cell(fact.text)} |" in markdown
        assert fact.text in text
    for table in (table for group in shown.groups for table in group.tables):
        assert table_markdown(table) in markdown
        assert all(re.sub(r"\s+", " ", " ".join(row)).strip() in re.sub(r"\s+", " ", text) for row in table.rows)
    for note in shown.notes:
        assert f"- {cell(note)}" in markdown
        assert note in re.sub(r"\s+", " ", text)
    heads = [len(line.split(" ")[0]) for line in markdown.splitlines() if re.match(r"#+ ", line)]
    assert heads[:2] == [1, 2]
    assert set(heads[2:]) <= {3}


def test_a_terminal_is_not_steered_by_a_name() -> None:
    evil = "\x1b[2J\x9b31m\x07"
    table = ShownTable(evil, (evil,), ((evil,),))
    shown = Part("power", evil, evil, evil, "bad", (Fact(evil, evil),), evil, groups=(Group(evil, "", (), (table,)),))
    text = document_text(ReportDocument(evil, (shown,)))
    assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f-\x9f]", text)
    assert "�[2J�31m�" in text


def test_wide_characters_take_two_columns() -> None:
    """A Japanese character is two columns wide in a terminal: Unicode's East Asian width."""
    table = ShownTable("T", ("model", "score"), (("日本語", "1"), ("ab", "2")))
    part = Part("k", "n", "t", "s.", "plain", (), "", groups=(Group("G", tables=(table,)),))
    lines = document_text(ReportDocument("d", (part,))).splitlines()
    assert "  日本語  1" in lines
    assert "  ab      2" in lines
