"""Tables for papers, pages and spreadsheets: csv's and html's own parsers are the oracles, LaTeX is checked by hand."""

import csv
from html.parser import HTMLParser
from io import StringIO

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.errors import UsageError
from assay.names import visible
from assay.results import words
from assay.results.parts import Column, ResultTable, Value
from assay.results.table_formats import FORMATS, table_as
from assay.stats.records import Estimate, Interval

ESTIMATE = Estimate(-0.5, Interval(-0.75, -0.25, 0.95, "t"), 0.1, 9)
BOARD = ResultTable(
    "models",
    "models",
    (
        Column("model", ["a_1", "b&c", "日本"]),
        Column("tier", [1, 1, 2]),
        Column("difference [95%]", [ESTIMATE] * 3, words.fixed(2), "difference"),
        Column("p", [0.2, 0.02, 0.0001]),
        Column("adjusted", [0.4, 0.04, 0.0003], key="p_adjusted"),
        Column("n", [1200, None, 7]),
    ),
)


def test_latex_by_hand() -> None:
    lines = table_as(BOARD, "latex").splitlines()
    assert lines[2:5] == [
        r"\begin{tabular}{lSSlSSS}",
        r"\toprule",
        r"{model} & {tier} & {difference} & {95\% CI} & {p} & {adjusted} & {n} \\",
    ]
    assert lines[6:10] == [
        r"a\_1 & 1 & -0.50 & [$-$0.75, $-$0.25] & 0.2 & 0.4 & 1200 \\",
        r"b\&c & 1 & -0.50 & [$-$0.75, $-$0.25] & 0.02 & 0.04{\textsuperscript{*}} & {--} \\",
        r"\midrule",
        r"日本 & 2 & -0.50 & [$-$0.75, $-$0.25] & 0.0001 & 0.0003{\textsuperscript{***}} & 7 \\",
    ]


def test_a_plus_is_kept_by_siunitx() -> None:
    table = ResultTable("t", "", (Column("difference", [0.5, -0.5], lambda value: f"{value:+g}"),))
    assert table_as(table, "latex").splitlines()[1] == r"\begin{tabular}{S[retain-explicit-plus]}"


def test_markdown_by_hand() -> None:
    table = ResultTable("t", "", (Column("a|b", ["x|y", "<i>"]), Column("n", [1, 2])))
    assert table_as(table, "markdown").splitlines() == [
        r"| a\|b | n |",
        "| :--- | ---: |",
        r"| x\|y | 1 |",
        r"| \<i\> | 2 |",
    ]


@given(st.lists(st.tuples(st.text(), st.floats(allow_nan=False, allow_infinity=False)), min_size=1, max_size=5))
def test_numbers_come_back_from_csv_and_no_text_is_a_formula(rows: list[tuple[str, float]]) -> None:
    names, numbers = zip(*rows, strict=True)
    found = list(csv.DictReader(StringIO(table_as(_table(names, numbers), "csv"), newline="")))
    assert [float(row["value"]) for row in found] == list(numbers)
    for row, name in zip(found, names, strict=True):
        assert row["name"].removeprefix("'") == visible(name).removeprefix("'")
        assert row["name"][:1] not in tuple("=+@-\t\r")


@given(st.lists(st.text(), min_size=1, max_size=4))
def test_html_shows_texts_as_they_are(names: list[str]) -> None:
    cells = _Cells()
    cells.feed(table_as(_table(names, [1.0] * len(names)), "html"))
    assert cells.tags <= {"table", "thead", "tbody", "tr", "th", "td", "caption"}
    shown = [text for text in cells.texts[2:] if text != "1"]
    assert [text.split() for text in shown] == [part for name in names if (part := visible(name).split())]


def test_an_unknown_format_is_refused() -> None:
    with pytest.raises(UsageError, match="latex, markdown, csv, html"):
        table_as(BOARD, "xls")  # type: ignore[arg-type]
    assert all(table_as(BOARD, form).endswith("\n") for form in FORMATS)


def _table(names: "list[str] | tuple[str, ...]", numbers: "list[float] | tuple[float, ...]") -> ResultTable:
    values: list[Value] = list(numbers)
    return ResultTable("t", "", (Column("name", list(names)), Column("value", values)))


class _Cells(HTMLParser):
    """Every tag, and the text between them."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.texts: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:  # noqa: ARG002 - its name is given
        self.tags.add(tag)

    def handle_data(self, data: str) -> None:
        if data.strip():
            self.texts.append(data)


def test_latex_has_no_empty_column_of_intervals_and_limits_without_commas() -> None:
    large = Estimate(21725.0, Interval(18082.0, 26032.0, 0.95, "t"), 1.0, 9)
    columns = (
        Column("covers", [ESTIMATE], lambda _: "93.9% ± 0.5"),
        Column("perplexity [95%]", [large], words.compact),
    )
    lines = table_as(ResultTable("t", "", columns), "latex").splitlines()
    assert lines[3] == r"{covers} & {perplexity} & {95\% CI} \\"
    assert lines[5] == r"93.9\% $\pm$ 0.5 & 21725 & [18082, 26032] \\"
