"""The HTML page: what is from a file stays text, tables sort by their numbers, and only its own scripts may run."""

import base64
import hashlib
import json
import re
import zlib
from dataclasses import replace
from html.parser import HTMLParser
from typing import Any
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.names import visible
from assay.report.document import Group, Part, ReportDocument, ShownTable
from assay.report.html import asset, page_html
from assay.report.html.gauges import gauge_html
from assay.report.html.packing import drawable, file_text, packed
from assay.report.html.tables import table_html
from assay.results.figures import Gauge, Mark
from assay.results.parts import Fact
from tests.report.results import KINDS, data_of, part

NAME = st.text(st.characters(exclude_categories=["Cs"]), max_size=40)
VOID = {"meta", "br"}


class Reader(HTMLParser):
    """What a browser would see: elements with their attributes and texts. Refuses what is not well nested."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[tuple[str, str]] = []
        self.feed(html)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.texts.append((self.open[-1] if self.open else "", data))

    def inside(self, tag: str) -> list[str]:
        return [text for where, text in self.texts if where == tag]

    def named(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for where, attributes in self.elements if where == tag]


@pytest.fixture(scope="module", params=["comparison", "reliability", "all"])
def html(request: pytest.FixtureRequest) -> str:
    kinds = KINDS if request.param == "all" else (request.param,)
    return page_html(ReportDocument("A title", tuple(part(kind) for kind in kinds)))


# ------------------------------------------------------------------------------------------ the policy


def _digest(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def test_the_policy_names_exactly_the_scripts_and_styles_of_the_page(html: str) -> None:
    page = Reader(html)
    policy = next(m["content"] for m in page.named("meta") if m.get("http-equiv") == "Content-Security-Policy") or ""
    rules = {rule.split()[0]: rule.split()[1:] for rule in policy.split(";")}
    scripts = [text for text, about in zip(page.inside("script"), page.named("script"), strict=True) if not about]
    assert rules["script-src"] == [_digest(text) for text in scripts]
    assert rules["style-src"] == [_digest(text) for text in page.inside("style")]
    assert rules["default-src"] == ["'none'"]
    assert (rules["base-uri"], rules["form-action"]) == (["'none'"], ["'none'"])
    assert "unsafe" not in policy
    assert "*" not in policy
    assert set(rules["img-src"]) <= {"data:", "blob:"}


def test_nothing_is_loaded_from_outside(html: str) -> None:
    page = Reader(html)
    assert {tag for tag, _ in page.elements} & {"link", "img", "iframe", "object", "embed", "base", "form"} == set()
    addresses = [value or "" for _, about in page.elements for key, value in about.items() if key in ("src", "href")]
    assert all(address.startswith("#") for address in addresses)
    handlers = [key for _, about in page.elements for key in about if key.startswith("on") or key == "style"]
    assert handlers == []


def test_identifiers_are_unique_and_links_lead_somewhere(html: str) -> None:
    page = Reader(html)
    names = [about["id"] for _, about in page.elements if "id" in about]
    assert len(names) == len(set(names))
    keys = ("aria-labelledby", "aria-describedby", "data-table", "data-chart", "data-save")
    wanted = {about[key] for _, about in page.elements for key in keys if key in about}
    wanted |= {(about["href"] or "")[1:] for about in page.named("a")}
    assert wanted <= set(names)


def test_the_library_of_charts_cannot_end_its_element() -> None:
    assert not re.search(r"</script|<!--", asset("vega.js"), re.IGNORECASE)
    assert len(asset("vega.js")) < 1_000_000


# ------------------------------------------------------------------------------------------ data


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
        lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    )
)
def test_data_comes_back_whole_and_cannot_end_its_element(data: Any) -> None:
    """The oracle is Python's zlib; a browser reads the same in `test_browser.py`."""
    text = packed({"x": data})
    assert unpacked(text) == {"x": data}
    assert not set(text) & set("<>&")
    assert json.loads(file_text(data)) == data
    assert file_text(data).encode().decode() == file_text(data)  # also where it holds half a character


def unpacked(text: str) -> Any:
    return json.loads(zlib.decompress(base64.b64decode(text)))


def carried(html: str) -> dict[str, Any]:
    """What the page holds for its scripts."""
    found = re.search(r"<script type='text/plain' id='data'>(.*?)</script>", html)
    assert found is not None
    data: dict[str, Any] = unpacked(found[1])
    return data


def test_the_page_carries_results_as_they_were_saved() -> None:
    data = data_of("power") | {"big": 2**63 + 1, "name": "</script><!--", "zero": -0.0}
    files = carried(page_html(ReportDocument("t", (replace(part("power"), data=data),))))["files"]
    assert json.loads(files["p1"]) == data
    assert '"big":9223372036854775809' in files["p1"]


def test_a_page_carries_no_more_than_it_should() -> None:
    big = replace(part("power"), data={"x": "y" * 1_100_000})
    files = carried(page_html(ReportDocument("t", (big, part("power")))))["files"]
    assert "p1" not in files
    assert "p2" in files


@given(st.lists(st.floats(-1e9, 1e9), min_size=1, max_size=20))
def test_numbers_of_a_drawing_move_by_less_than_a_pixel(numbers: list[float]) -> None:
    rows = drawable({"datasets": {"rows": [{"x": number} for number in numbers]}})["datasets"]["rows"]
    width = max(numbers) - min(numbers)
    for row, number in zip(rows, numbers, strict=True):
        assert width == 0 or abs(row["x"] - number) <= 1e-5 * width
        assert abs(row["x"] - number) <= 1e-5 * abs(number)


def test_every_explanation_stands_once_and_can_be_reached(html: str) -> None:
    page = Reader(html)
    asked = {about["popovertarget"] for about in page.named("button") if "popovertarget" in about}
    shown = [about["id"] for about in page.named("div") if about.get("class") == "explanation"]
    assert asked == set(shown)
    assert len(shown) == len(set(shown))


# ------------------------------------------------------------------------------------------ tables


def test_a_table_keeps_every_cell_and_numbers_go_to_the_right() -> None:
    numbers = (None, None, (1000.0, None))
    table = ShownTable("A <table>", ("name", "", "n"), (("<a>", "≈", "1,000"), ("b", ">", "–")), (), numbers)
    page = Reader(table_html("t", table))
    assert page.inside("span") == ["A <table>"]
    assert page.inside("button")[:2] == ["name", "n"]
    heads = page.named("th")
    assert [head.get("scope") for head in heads] == ["col", "col", "row", "row"]
    cells = [cell for cell in page.named("td") if cell]
    assert cells == [{"class": "number", "data-value": "1000"}, {"class": "number"}]
    assert page.inside("th") == ["<a>", "b"]


def test_a_table_without_rows_is_a_header() -> None:
    assert Reader(table_html("t", ShownTable("t", ("a", "b"), ()))).inside("button")[:2] == ["a", "b"]


# ------------------------------------------------------------------------------------------ the gauge

SVG = "{http://www.w3.org/2000/svg}"


def drawings(gauge: Gauge) -> list[ET.Element]:
    """The drawing for screens and that for phones."""
    text = gauge_html(gauge, "g").partition("</p>")[2].replace("<svg ", "<svg xmlns='http://www.w3.org/2000/svg' ")
    return list(ET.fromstring(f"<div>{text}</div>"))  # noqa: S314 - our own


def at(element: ET.Element | None, key: str) -> float:
    assert element is not None
    return float(element.attrib[key])


FINITE = st.floats(-1e6, 1e6)


@given(st.tuples(FINITE, FINITE, FINITE).map(sorted), st.lists(st.tuples(FINITE, NAME), max_size=4))
def test_places_in_a_gauge_are_in_the_order_of_the_numbers(
    numbers: list[float], marks: list[tuple[float, str]]
) -> None:
    low, value, high = numbers
    shown = tuple(Mark(place, visible(label)) for place, label in marks)
    for svg in drawings(Gauge("g", value, low, high, shown, "lower", "words")):
        width = float(svg.attrib["viewBox"].split()[2])
        lines = {line.attrib["class"]: line for line in svg.iter(f"{SVG}line")}
        first, last = (at(lines["interval"], key) for key in ("x1", "x2"))
        dot = at(svg.find(f"{SVG}circle"), "cx")
        assert 0 <= first <= dot <= last <= width
        places = sorted(
            (place, at(line, "x1"))
            for (place, _), line in zip(marks, svg.findall(f"{SVG}line[@class='mark']"), strict=True)
        )
        assert [x for _, x in places] == sorted(x for _, x in places)
        assert all(0 <= x <= width for _, x in places)


def test_a_gauge_is_to_scale_and_says_its_numbers() -> None:
    gauge = Gauge("ratio", 1.05, 1.0, 1.1, (Mark(1.0, "no change"), Mark(1.2, "limit 1.2")), "lower", "1.05 [1 to 1.1]")
    for svg in drawings(gauge):
        marks = [at(line, "x1") for line in svg.findall(f"{SVG}line[@class='mark']")]
        dot = at(svg.find(f"{SVG}circle"), "cx")
        assert (dot - marks[0]) / (marks[1] - marks[0]) == pytest.approx(0.25, abs=0.002)
        title = svg.find(f"{SVG}title")
        assert title is not None
        assert title.text == "ratio: 1.05 [1 to 1.1]; no change at 1; limit 1.2 at 1.2"
        assert [text.text for text in svg.iter(f"{SVG}text")] == [
            "no change",
            "limit 1.2",
            "1.05 [1 to 1.1]",
        ]


def test_labels_of_marks_that_are_close_stand_in_lines_of_their_own() -> None:
    marks = (Mark(0.0, "no difference"), Mark(-0.01, "−0.01"), Mark(0.01, "+0.01"))
    for svg in drawings(Gauge("g", 5.0, 4.0, 6.0, marks, None, "5 [4 to 6]")):
        labels = svg.findall(f"{SVG}text[@class='label']")
        assert len({label.attrib["y"] for label in labels}) == 3
        height = float(svg.attrib["viewBox"].split()[3])
        assert all(0 < float(text.attrib["y"]) < height for text in svg.iter(f"{SVG}text"))


# ------------------------------------------------------------------------------------------ names


@given(NAME)
def test_a_name_is_text_wherever_it_stands(name: str) -> None:
    table = ShownTable(name, (name, name), ((name, name),))
    gauge = Gauge(name, 0.0, -1.0, 1.0, (Mark(0.5, name),), "higher", name)
    made = Part(
        "comparison",
        name,
        name,
        name,
        "good",
        (Fact(name, name),),
        name,
        gauge,
        facts=(Fact(name, name),),
        main_facts=(Fact(name, name),),
        to_do=(f"{name}!",),
        groups=(Group(name, name, (), (table,), (name,)),),
        notes=(name,),
        data={name: name},
    )
    page = Reader(page_html(ReportDocument(name, (made, made))))
    plain = Reader(page_html(ReportDocument("x", (replace(made, kind="comparison"),) * 2)))
    assert [tag for tag, _ in page.elements] == [tag for tag, _ in plain.elements]
    assert page.inside("h1") == ([visible(name)] if name else [])
    assert page.inside("li").count(visible(name)) == (4 if name else 0)  # twice said, twice noted


@given(st.text())
def test_what_is_not_seen_is_shown_as_a_sign(name: str) -> None:
    shown = visible(name)
    assert len(shown) == len(name)
    assert shown.encode().decode() == shown
    assert not set(shown) & {chr(i) for i in (0, 7, 8, 0x1B, 0x7F, 0x9B, 0x202A, 0x202E, 0x2066, 0x2069, 0xD800)}
    assert visible("日本語 ém\t\n") == "日本語 ém\t\n"
