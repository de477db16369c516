"""A saved result gives the page of the live one; nothing that is shown is computed in report/."""

import ast
import json
from itertools import islice
from pathlib import Path

import pytest

import assay.report
from assay.certificate.gate.record import GateCertificate
from assay.certificate.record import Certificate
from assay.certificate.suite.record import SuiteCertificate
from assay.errors import InputError
from assay.report.document import CommandStep, Part, ReportDocument
from assay.report.files import document_of, write_document
from assay.report.html import page_html
from assay.report.markdown import document_markdown, document_text
from assay.report.saved import part_of, read_part
from assay.results.explanations import explanation_of
from assay.results.figures import Gauge, Mark
from assay.results.record import SCHEMAS, Result, record_type
from tests.certificate.alterations import alterations
from tests.report.results import KINDS, RECORDS, data_of, part, result

REPORT = Path(str(assay.report.__file__)).parent


@pytest.mark.parametrize("kind", KINDS)
def test_a_saved_result_is_shown_as_the_live_one_byte_for_byte(kind: str, tmp_path: Path) -> None:
    saved = json.loads(json.dumps(data_of(kind), allow_nan=False))
    live, back = ReportDocument("t", (part(kind),)), ReportDocument("t", (part_of(saved),))
    for shown in (page_html, document_markdown, document_text):
        assert shown(live) == shown(back)
    assert live.parts[0].sentence in document_text(live).replace("\n  ", "\n")


def test_every_kind_that_can_be_saved_is_covered() -> None:
    assert {data_of(kind)["schema"] for kind in KINDS} == set(SCHEMAS) - {"assay/certificate/2"}  # an earlier format


@pytest.mark.parametrize("kind", KINDS)
def test_a_part_holds_the_result_and_says_what_it_is(kind: str) -> None:
    shown = part(kind)
    data = data_of(kind)
    assert shown.data == data
    assert shown.signature == data["signature"]
    # without sentences
    issued: dict[str, type[Result]] = {"certificate": Certificate, "gate": SuiteCertificate, "stopped": GateCertificate}
    assert shown.sentence == (issued[kind].from_dict(data).sentence if kind in issued else data["sentence"])
    assert all((shown.kind, shown.name, shown.title, shown.compared))
    assert all(chart.text and chart.specification["title"] for chart in shown.charts)
    names = [chart.name for chart in shown.charts]
    assert len(set(names)) == len(names)


@pytest.mark.parametrize("kind", KINDS)
def test_rows_of_tables_are_as_wide_as_their_headers(kind: str) -> None:
    tables = [table for group in part(kind).groups for table in group.tables]
    assert all({len(row) for row in table.rows} <= {len(table.header)} for table in tables)
    assert all(len(table.data) == len(table.rows) for table in tables)


@pytest.mark.parametrize("kind", ["comparison", "scores", "leaderboard", "japanese", "power", "tuning", "certificate"])
def test_the_gauge_shows_the_estimate_of_the_record(kind: str) -> None:
    gauge = part(kind).gauge
    assert gauge is not None
    assert gauge.low <= gauge.value <= gauge.high
    data = data_of(kind)
    found = {
        "comparison": lambda: data["ratio"]["value"],
        "scores": lambda: data["difference"]["value"],
        "certificate": lambda: data["primary_metric"]["ratio_vs_baseline"],
        "leaderboard": lambda: result(kind).pair(*(m.name for m in result(kind).models[:2])).difference.value,
        "japanese": lambda: result(kind).differences[0].gap("bleu/char").difference.value,
        "power": lambda: result(kind).answer.value,
        "tuning": lambda: result(kind).contrasts[0].windows.ratio.value,
    }[kind]()
    assert gauge.value == (pytest.approx(found, rel=1e-12) if kind == "tuning" else found)  # over seeds, over windows
    assert {mark.place for mark in gauge.marks} >= ({1.0} if kind in ("comparison", "certificate") else set())


def test_a_verdict_that_is_worse_is_not_shown_as_good() -> None:
    assert result("tuning").contrasts[0].verdict == "worse"
    assert {kind: part(kind).status for kind in ("tuning", "scores", "certificate", "power")} == {
        "tuning": "bad",
        "scores": "unsure",
        "certificate": "bad" if data_of("certificate")["decision"]["verdict"] == "regression" else "good",
        "power": "plain",
    }


def test_a_margin_is_marked_on_both_sides() -> None:
    gauge = part("scores").gauge
    assert gauge is not None
    assert [mark.place for mark in gauge.marks] == [0.0, -0.1, 0.1]


def test_every_schema_is_read_by_its_own_record() -> None:
    for kind in RECORDS:
        data = data_of(kind)
        assert record_type(data["schema"]).from_dict(data) == result(kind)


def test_an_unknown_schema_is_refused() -> None:
    with pytest.raises(InputError, match="no page can be made of schema 'assay/other/1'"):
        part_of({"schema": "assay/other/1"})


def test_every_method_names_a_page_of_the_documentation() -> None:
    pages = {path.name for path in (Path(__file__).parents[2] / "docs").glob("*.md")}
    parts = [part(kind) for kind in KINDS]
    facts = [explanation_of(fact.key) for one in parts for fact in one.facts]
    tables = [table.method for one in parts for group in one.groups for table in group.tables]
    named = {method.page for method in [*facts, *tables] if method is not None}
    assert named
    assert named <= pages


def test_charts_have_identifiers_of_their_own() -> None:
    document = ReportDocument("t", tuple(part(kind) for kind in (*KINDS, "comparison")))
    names = [name for name, _, _ in document.charts()]
    assert len(names) == len(set(names)) > 10
    assert names[0].startswith("p1-")


def test_steps_are_shown_by_every_renderer() -> None:
    step = CommandStep("May it <pass>?", "assay certify a b", "It may.\nReally.", ("c d.json",))
    document = ReportDocument("t", (part("power"),), (step,))
    page, markdown, text = page_html(document), document_markdown(document), document_text(document)
    assert "<h3>May it &lt;pass&gt;?</h3>" in page
    assert "<a href='c%20d.json'>c d.json</a>" in page
    assert "It may.<br>Really." in page
    assert "### May it &lt;pass&gt;?\n\n    assay certify a b\n\nIt may." in markdown
    assert "[c d.json](c%20d.json)" in markdown
    assert "$ assay certify a b\nIt may.\nReally.\n" in text


def test_a_folder_is_read_whole_and_what_is_no_result_is_said(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    for place, kind in (("in/b.json", "power"), ("a.json", "scores"), (".hidden.json", "power")):
        (tmp_path / place).write_text(json.dumps(data_of(kind)), encoding="utf-8")
    (tmp_path / "other.json").write_text("[1]", encoding="utf-8")
    document, left_out = document_of([tmp_path])
    assert [one.kind for one in document.parts] == ["comparison", "power"]
    assert document.title == "2 results"
    assert len(left_out) == 1
    assert "other.json: not a result of Assay (schema 'list')" in left_out[0]


def test_one_result_names_the_page(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text(json.dumps(data_of("scores")), encoding="utf-8")
    assert document_of([tmp_path / "a.json"])[0].title == "Comparison: ALPHA → BETA"
    assert document_of([tmp_path / "a.json"], "Mine")[0].title == "Mine"


def test_charts_lie_in_a_folder_of_the_page_and_markdown_shows_them(tmp_path: Path) -> None:
    document = ReportDocument("t", (part("scores"),))
    page, *charts = write_document(document, tmp_path / "my page.md", "svg")
    assert [chart.parent.name for chart in charts] == ["my page-charts"] * 3
    text = page.read_text(encoding="utf-8")
    assert text.count("](my%20page-charts/p1-comparison-") == 3
    assert all(chart.read_text(encoding="utf-8").startswith("<svg") for chart in charts)


def test_a_folder_that_cannot_be_made_is_refused(tmp_path: Path) -> None:
    (tmp_path / "p-charts").write_text("mine")
    with pytest.raises(InputError, match="cannot be made"):
        write_document(ReportDocument("t", (part("scores"),)), tmp_path / "p.html", "svg")
    assert not (tmp_path / "p.html").exists()


def _imports(path: Path) -> set[str]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    whole = {name.name for node in ast.walk(tree) if isinstance(node, ast.Import) for name in node.names}
    return whole | {str(node.module) for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}


@pytest.mark.parametrize("path", sorted(REPORT.rglob("*.py")), ids=lambda path: str(path.relative_to(REPORT)))
def test_no_statistic_is_computed_in_a_report(path: Path) -> None:
    """Reports know the records of numbers, and nothing that makes numbers of data."""
    found = _imports(path)
    assert {name for name in found if name.startswith("assay.stats")} <= {"assay.stats.records"}
    assert not found & {"numpy", "scipy", "statistics", "pandas", "numba", "random"}


def test_read_part_says_what_is_damaged(tmp_path: Path) -> None:
    data = data_of("power")
    path = tmp_path / "a.json"
    path.write_text(json.dumps({key: value for key, value in data.items() if key != "curve"}), encoding="utf-8")
    with pytest.raises(InputError, match=r"a damaged result of schema 'assay/power/1', .* required field `curve`"):
        read_part(path)


@pytest.mark.parametrize(("kind", "step"), [("power", 60), ("reliability", 90), ("japanese", 400)])
def test_an_altered_result_is_shown_or_refused_in_a_line(kind: str, step: int, tmp_path: Path) -> None:
    """Some of all single changes of a file: a page, or a line that says why not."""
    path = tmp_path / "a.json"
    refusals: list[str] = []
    count = 0
    for altered in islice(alterations(data_of(kind)), 0, None, step):
        path.write_text(json.dumps(altered.document), encoding="utf-8")
        count += 1
        try:
            document_text(ReportDocument("t", (read_part(path),)))
        except InputError as error:
            refusals.append(str(error))
    assert 0 < len(refusals) < count
    assert all(line.startswith(str(path)) and "\n" not in line for line in refusals)


def test_a_part_without_anything_is_still_a_page() -> None:
    bare = Part("power", "n", "t?", "s", "plain", (), "")
    document = ReportDocument("t", (bare,))
    assert "<p class='verdict'>" in page_html(document)
    assert document_text(document) == "t\n\n→ s\n"
    assert document_markdown(document) == "# t\n\n## ➡️ t?\n\ns\n"


def test_a_gauge_that_is_a_point_is_drawn() -> None:
    gauge = Gauge("g", 0.0, 0.0, 0.0, (Mark(0.0, "none"),), None, "0")
    document = ReportDocument("t", (Part("power", "n", "t?", "s", "plain", (), "", gauge),))
    assert "━" not in document_text(document)
    assert "●" in document_text(document)
    assert "cx='56.0'" in page_html(document)
