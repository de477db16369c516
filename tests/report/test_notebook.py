"""Results in a notebook: the compact section with its chart, every name as text, no script."""

import re
import sys
from pathlib import Path

import pytest

import assay
from assay import examples
from assay.report.notebook import section_html
from assay.results.parts import Fact
from assay.results.record import Result, record_type
from assay.results.text import plain_html
from tests.report.html.test_page import Reader
from tests.report.results import RECORDS, data_of, leaderboard, part, renamed, result

EVIL = "</svg><script>window.pwned=1</script>"


def read(html: str) -> Reader:
    """Well nested, and nothing in it that runs or loads."""
    found = Reader(html)
    assert {tag for tag, _ in found.elements} & {"script", "style", "link", "img", "iframe", "foreignobject"} == set()
    assert [key for _, about in found.elements for key in about if key.startswith("on")] == []
    return found


@pytest.mark.parametrize("kind", RECORDS)
def test_a_section_has_the_verdict_the_first_chart_and_every_table(kind: str) -> None:
    html = section_html(result(kind))
    shown, found = part(kind), read(html)
    assert "".join(found.inside("strong")) == shown.sentence.replace("\n", "")
    assert len(found.named("svg")) == min(1, len(shown.charts))
    tables = [table for group in shown.groups for table in group.tables]
    assert found.inside("caption") == [table.title for table in tables]
    assert found.inside("code") == [shown.signature]
    assert html.count("<section>") == html.count("</section>") == 1
    if shown.charts:
        assert found.named("figure")[0]["aria-label"] == shown.charts[0].text


@pytest.mark.parametrize("kind", ["scores", "leaderboard", "survey", "context", "japanese", "reliability"])
def test_names_in_a_section_are_text(kind: str) -> None:
    record = record_type(data_of(kind)["schema"]).from_dict(
        renamed(data_of(kind), {"ALPHA": EVIL, "BETA": "b\x1b\u202e"})
    )
    html = section_html(record)
    found = read(html)
    assert EVIL in "".join(text for _, text in found.texts)
    assert "<script" not in html
    assert not re.search("[\x1b\u202e]", html)


def test_results_of_the_package_are_shown_with_their_charts() -> None:
    made = assay.compare(examples.path("scores-base.csv"), examples.path("scores-int3.csv"))
    assert made._repr_html_() == section_html(made)
    assert "<svg" in made._repr_html_()


@pytest.mark.parametrize("kind", RECORDS)
def test_every_result_uses_what_the_package_sets(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Result, "notebook", None)
    assert result(kind)._repr_html_() == plain_html(result(kind))
    monkeypatch.setattr(Result, "notebook", staticmethod(section_html))
    assert result(kind)._repr_html_() == section_html(result(kind))


def test_a_certificate_and_its_check_are_shown_too(tmp_path: Path) -> None:
    issued = assay.certify(examples.path("losses-base.csv"), examples.path("losses-int8.csv"), tmp_path / "c.json")
    assert "<svg" in issued._repr_html_()
    checked = assay.verify(tmp_path / "c.json")
    assert checked._repr_html_() == plain_html(checked)
    assert "recomputed" in checked._repr_html_()


def test_without_what_draws_pictures_the_rows_are_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "vl_convert", None)
    found = result("power")
    assert section_html(found) == plain_html(found)


def test_a_long_table_is_cut_and_says_so() -> None:
    html = section_html(leaderboard(40))
    rows = html.count("<tr>")
    assert "<p>and 10 more rows</p>" in html
    assert f"<p>and {40 * 39 // 2 - 30} more rows</p>" in html
    assert rows < 100


def test_what_has_no_page_is_rows(tmp_path: Path) -> None:
    class Odd(Result, frozen=True, kw_only=True, tag="other/1"):
        question, kind_name, subject = "Why?", "odd", "x"
        sentence: str
        signature: str

        @property
        def facts(self) -> tuple[Fact, ...]:
            return (Fact("a", "<b>"),)

    odd = Odd(sentence="<Odd>", signature="")
    assert section_html(odd) == plain_html(odd)
    assert "&lt;Odd&gt;" in section_html(odd)
    assert "&lt;b&gt;" in section_html(odd)
