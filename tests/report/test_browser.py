"""Pages in a real browser: quiet, drawn, readable in light and dark, on a phone, on paper and to a screen reader."""

import csv
import json
from collections.abc import Callable, Iterator
from functools import cache
from io import StringIO
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page

from assay.analyses.compare import compare
from assay.design import Design
from assay.names import visible
from assay.report.document import Group as Section
from assay.report.document import Part, ReportDocument, ShownTable
from assay.report.html import write_page
from assay.report.saved import part_of
from tests.report.browser import Opened, Scheme, chromium, contrast, opened
from tests.report.results import KINDS, data_of, leaderboard, part, renamed

MOST_BYTES = 2_000_000
Visit = Callable[[str], Opened]


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as found:
        yield found


@pytest.fixture(scope="module")
def visit(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Visit:
    """The page of a kind, opened once."""
    folder = tmp_path_factory.mktemp("pages")

    @cache
    def visited(kind: str) -> Opened:
        parts = tuple(part(one) for one in (KINDS if kind == "all" else [kind]))
        write_page(ReportDocument(f"A page: {parts[0].name}", parts), folder / f"{kind}.html")
        return opened(browser, folder / f"{kind}.html")

    return visited


def shown(browser: Browser, folder: Path, *parts: Part, title: str = "A page") -> Opened:
    write_page(ReportDocument(title, parts), folder / "page.html")
    return opened(browser, folder / "page.html")


def saved(page: Page, selector: str) -> tuple[str, bytes]:
    """What a button saves: the name and the content of the file."""
    with page.expect_download() as waiting:
        page.locator(selector).first.click()
    return waiting.value.suggested_filename, waiting.value.path().read_bytes()


# ------------------------------------------------------------------------------------------ every kind


def test_a_page_of_every_kind_is_quiet_and_every_chart_is_drawn(visit: Visit) -> None:
    found = visit("all")
    page = found.look()
    assert found.quiet, (found.said, found.asked)
    for place, kind in enumerate(KINDS, 1):
        charts = page.locator(f"#p{place} .chart")
        own = [chart for chart in part(kind).charts if not chart.repeats_gauge]
        assert charts.count() == len(own), kind
        for i in range(charts.count()):
            marks = charts.nth(i).locator("svg .role-mark path, svg .role-mark line")
            assert marks.count() > 0, (kind, i)
    assert found.path.stat().st_size < MOST_BYTES
    assert page.locator(".part").count() == page.locator(".verdicts li").count() == len(KINDS)
    page.locator(".verdicts a").nth(4).click()
    assert page.evaluate("location.hash") == "#p5"


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_and_words_in_charts_can_be_read(scheme: Scheme, visit: Visit) -> None:
    found = visit("all")
    page = found.look(scheme)
    only = None if scheme == "light" else {"runOnly": {"type": "rule", "values": ["color-contrast"]}}
    violations = Axe().run(page, options=only).response["violations"]  # in the dark nothing but colours is different
    assert [(one["impact"], one["id"], one["nodes"][0]["html"]) for one in violations] == []
    paper = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert (contrast(paper, "rgb(0, 0, 0)") < 2) == (scheme == "dark")
    colours = page.evaluate(
        "[...new Set([...document.querySelectorAll('.chart svg text')].map((one) => getComputedStyle(one).fill))]"
    )
    assert [colour for colour in colours if contrast(colour, paper) < 4.5] == []
    assert found.quiet, (found.said, found.asked)


def test_a_page_of_one_result_has_the_landmarks_of_a_page(visit: Visit) -> None:
    page = visit("leaderboard").look()
    assert Axe().run(page).response["violations"] == []


def test_a_phone_shows_everything_without_moving_sideways(visit: Visit) -> None:
    page = visit("all").look(width=360)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert page.evaluate("[...document.querySelectorAll('.scroll')].every((one) => one.clientWidth <= innerWidth)")
    small = page.evaluate(
        "[...document.querySelectorAll('.chart svg, svg.gauge.narrow')].filter((one) =>"
        " one.getBoundingClientRect().width < 0.75 * one.viewBox.baseVal.width).map((one) => one.parentElement.id)"
    )
    assert small == []  # letters of 10 pixels must not become smaller than 7.5
    assert page.evaluate("[...document.querySelectorAll('svg.gauge.wide')].every((one) => !one.clientWidth)")


def test_a_wide_table_moves_within_itself(visit: Visit) -> None:
    page = visit("leaderboard").look(width=360)
    table = page.locator(".scroll").first
    assert table.evaluate("(one) => one.scrollWidth > one.clientWidth")
    table.evaluate("(one) => { one.scrollLeft = 50; }")
    assert table.evaluate("(one) => one.scrollLeft") == 50


def test_charts_are_drawn_again_when_the_scheme_changes_and_back(visit: Visit) -> None:
    found = visit("comparison")
    seen = []
    for scheme in ("light", "dark", "light"):
        page = found.look("dark" if scheme == "dark" else "light")
        seen.append(page.locator(".chart svg .role-title text").first.evaluate("(one) => getComputedStyle(one).fill"))
    assert seen[0] == seen[2] != seen[1]


def test_sixty_models_are_a_page_that_is_not_too_large(browser: Browser, tmp_path: Path) -> None:
    found = shown(browser, tmp_path, part_of(leaderboard(60)))
    found.look()
    assert found.quiet, (found.said, found.asked)
    assert found.path.stat().st_size < MOST_BYTES
    assert found.page.locator("table").last.locator("tbody tr").count() == 60 * 59 // 2


def test_a_survey_is_grasped_in_one_screen(visit: Visit) -> None:
    """Where models are between the marginal and the ceiling, how fair they are, what context does, and what to do."""
    page = visit("survey").look(width=1300)
    for shown in (".verdict", ".chart", ".tiles", ".advice"):
        box = page.locator(shown).first.bounding_box()
        assert box is not None
        assert box["y"] + box["height"] <= 900, shown
    assert page.locator(".chart:visible").count() == 1
    numbers = page.locator(".tiles dt").all_inner_texts()
    assert len(numbers) <= 6
    assert {"context helps", "unequal accuracy shown"} <= set(numbers)
    page.locator("details.more > summary").first.click()
    assert page.locator(".chart:visible").count() > 2
    page.locator("details.more > summary").first.click()


def test_japanese_is_written_in_the_heading_and_in_the_chart(visit: Visit) -> None:
    page = visit("japanese").look()
    assert "日本語モデル" in page.locator("h1").inner_text()
    assert "日本語モデル" in page.locator(".chart svg text").all_text_contents()


def test_how_a_number_was_computed_is_shown_when_it_is_asked_for(visit: Visit) -> None:
    page = visit("comparison").unfold()
    asked = page.locator("button[popovertarget]").first
    shown = page.locator("#" + str(asked.get_attribute("popovertarget")))
    assert not shown.is_visible()
    asked.click()
    assert shown.is_visible()
    page.keyboard.press("Escape")
    assert not shown.is_visible()


# ------------------------------------------------------------------------------------------ paper


def test_on_paper_everything_is_unfolded_and_nothing_can_be_pressed(visit: Visit) -> None:
    page = visit("certificate").look()
    folded = page.locator("details:not([open])").count()
    assert folded > 1
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert page.locator("details:not([open])").count() == 0
    page.emulate_media(media="print")
    assert page.locator("[data-save], [data-copy], [data-table], nav").first.is_hidden()
    assert page.locator(".explanation p").first.is_visible()
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    assert page.locator("details:not([open])").count() == folded
    page.emulate_media(media="screen")
    printed = page.pdf()
    assert printed.startswith(b"%PDF-")
    assert len(printed) > 20_000


def test_a_dark_page_is_printed_on_white(visit: Visit) -> None:
    page = visit("comparison").look("dark")
    page.emulate_media(media="print", color_scheme="dark")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert "invert" in page.locator(".chart svg").first.evaluate("(one) => getComputedStyle(one).filter")


# ------------------------------------------------------------------------------------------ tables

CELLS = ["−3", "1,200", "12%", "undefined", "< 0.001", "0.001", "+0.5 [0.1 to 1]", "–"]
NUMBERS = (-3.0, 1200.0, 12.0, None, 0.0005, 0.001, 0.5, None)
ASCENDING = ["−3", "< 0.001", "0.001", "+0.5 [0.1 to 1]", "12%", "1,200"]


@pytest.fixture
def table(browser: Browser, tmp_path: Path) -> Opened:
    names = ["ten 10", "ten 9", "b", "a", "=HYPERLINK(1)", 'say "x", y', "日本", "z"]
    rows = tuple(zip(names, CELLS, strict=True))
    data = tuple({"name": name, "n": value} for name, value in zip(names, NUMBERS, strict=True))
    return shown(browser, tmp_path, _bare(ShownTable("T", ("name", "n"), rows, data, (None, NUMBERS))))


def _bare(table: ShownTable) -> Part:
    return Part("power", "n", "t?", "s", "plain", (), "sig", groups=(Section("G", tables=(table,)),), data={"x": 1})


def column(page: Page, place: int) -> list[str]:
    return page.locator("tbody tr").locator(f"xpath=*[{place}]").all_inner_texts()


def test_a_click_sorts_by_number_and_what_has_none_stays_below(table: Opened) -> None:
    page = table.unfold()
    head = page.locator("thead th").nth(1)
    head.locator("button").click()
    assert column(page, 2)[:6] == ASCENDING
    assert head.get_attribute("aria-sort") == "ascending"
    head.locator("button").click()
    assert column(page, 2)[:6] == ASCENDING[::-1]
    assert set(column(page, 2)[6:]) == {"undefined", "–"}
    assert head.get_attribute("aria-sort") == "descending"
    assert table.quiet


def test_the_keyboard_sorts_too_and_names_are_in_the_order_people_expect(table: Opened) -> None:
    page = table.unfold()
    for _ in range(20):
        page.keyboard.press("Tab")
        if page.evaluate("'sort' in document.activeElement.dataset"):
            break
    page.keyboard.press("Enter")
    names = column(page, 1)
    assert names.index("a") < names.index("b") < names.index("ten 9") < names.index("ten 10") < names.index("z")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    assert column(page, 2)[:6] == ASCENDING
    assert [page.locator("thead th").nth(i).get_attribute("aria-sort") for i in (0, 1)] == [None, "ascending"]


def test_a_table_is_saved_as_csv_that_no_spreadsheet_runs(table: Opened) -> None:
    name, data = saved(table.unfold(), "[data-format=csv]")
    rows = list(csv.reader(StringIO(data.decode(), newline="")))
    assert name == "t.csv"
    assert rows[0] == ["name", "n"]
    assert ["'=HYPERLINK(1)", "0.0005"] in rows
    assert ['say "x", y', "0.001"] in rows
    assert ["ten 10", "-3"] in rows
    assert ["a", ""] in rows


def test_tables_and_results_are_saved_as_the_record_has_them(visit: Visit) -> None:
    page = visit("leaderboard").unfold()
    tables = [table for group in part("leaderboard").groups for table in group.tables]
    name, data = saved(page, "[data-format=json]")
    assert json.loads(data) == [dict(row) for row in tables[0].data or ()]
    assert name.endswith(".json")
    rows = list(csv.DictReader(StringIO(saved(page, "[data-format=csv]")[1].decode(), newline="")))
    first = dict((tables[0].data or ())[0])
    assert [row["name"] for row in rows] == [dict(row)["name"] for row in tables[0].data or ()]
    assert float(rows[0]["estimate"]) == first["estimate"]
    assert json.loads(saved(page, "[data-save]")[1]) == data_of("leaderboard")


def test_the_whole_result_is_saved_exactly(visit: Visit) -> None:
    page = visit("all").unfold()
    for place, kind in enumerate(KINDS[:9], 1):  # the browser lets a page save ten files in a row
        name, data = saved(page, f"#p{place} [data-save]")
        assert name == f"p{place}.json"
        assert json.loads(data) == json.loads(json.dumps(data_of(kind)))
    for kind in KINDS[9:]:
        _, data = saved(visit(kind).unfold(), "#p1 [data-save]")
        assert json.loads(data) == json.loads(json.dumps(data_of(kind)))


# ------------------------------------------------------------------------------------------ charts and words


def test_a_chart_is_saved_as_svg_and_as_png(visit: Visit) -> None:
    page = visit("comparison").look("dark")
    name, svg = saved(page, "[data-chart][data-format=svg]")
    root = ET.fromstring(svg)  # noqa: S314 - our own
    words = [element.text for element in root.iter("{http://www.w3.org/2000/svg}text")]
    assert "The difference by window" in words
    assert name == "p1-differences.svg"
    background = next(iter(root.iter("{http://www.w3.org/2000/svg}rect")))
    assert background.attrib["fill"] == "white"  # a file is for paper, whatever the screen looks like
    name, png = saved(page, "[data-chart][data-format=png]")
    assert name == "p1-differences.png"
    assert png.startswith(b"\x89PNG\r\n\x1a\n")


@pytest.mark.parametrize("kind", ["leaderboard", "context"])
def test_a_mark_says_its_value_and_interval(kind: str, visit: Visit) -> None:
    page = visit(kind).look()
    dot = page.locator(".chart").first.locator("svg .mark-symbol.role-mark path").first
    dot.scroll_into_view_if_needed()
    dot.hover(force=True)
    tip = page.locator(".tip")
    tip.wait_for(state="visible")
    names: list[str] = []
    words: dict[str, str] = {}
    for line in tip.inner_text().splitlines():
        key, separator, value = line.partition(": ")
        names += [] if separator else [key]
        words |= {key: value} if separator else {}
    assert names or kind != "context"  # the model
    assert set(words) <= {"value", "interval", "model", "tier", "note", "what", "x", "end"}  # nothing of the library's
    low, high = map(float, words["interval"].split(" to "))
    assert low <= float(words["value"]) <= high
    page.mouse.move(1, 1)
    tip.wait_for(state="hidden")


def test_the_signature_is_copied(browser: Browser, tmp_path: Path) -> None:
    write_page(ReportDocument("t", (part("power"),)), tmp_path / "page.html")
    found = opened(browser, tmp_path / "page.html", permissions=["clipboard-read", "clipboard-write"])
    page = found.unfold()
    page.locator("[data-copy]").first.click()
    page.get_by_role("button", name="Copied").wait_for()
    assert page.evaluate("getSelection().toString()") == data_of("power")["signature"]
    assert page.evaluate("navigator.clipboard.readText()") == data_of("power")["signature"]


# ------------------------------------------------------------------------------------------ attacks


def test_the_policy_stops_scripts_requests_and_styles_that_are_not_the_pages(browser: Browser, tmp_path: Path) -> None:
    found = shown(browser, tmp_path, part("power"))
    page = found.look()
    broken = page.evaluate(
        """async () => {
          const broken = [];
          document.addEventListener("securitypolicyviolation", (event) => broken.push(event.effectiveDirective));
          const script = document.createElement("script");
          script.textContent = "window.pwned = 1";
          const style = document.createElement("style");
          style.textContent = "body { display: none }";
          const image = document.createElement("img");
          image.src = "https://example.org/x.png";
          document.body.append(script, style, image);
          document.body.insertAdjacentHTML("beforeend", "<b onclick='window.pwned = 1' id='bold'>x</b>");
          document.getElementById("bold").click();
          await fetch("https://example.org/").catch(() => null);
          await new Promise((done) => setTimeout(done, 100));
          return broken;
        }"""
    )
    assert {"script-src-elem", "script-src-attr", "style-src-elem", "img-src", "connect-src"} <= set(broken)
    assert page.evaluate("window.pwned") is None
    assert page.locator("body").is_visible()


ATTACKS = [
    "<script>window.pwned=1</script>",
    "</style><script>window.pwned=1</script>",
    "</script><script>window.pwned=1</script>",
    '"><img src=x onerror=window.pwned=1>',
    "'><svg onload=window.pwned=1>",
    "{{constructor.constructor('window.pwned=1')()}}",
    "javascript:window.pwned=1",
    "<!-- --!> <!--",
    '=HYPERLINK("https://example.org","x")',
    "');window.pwned=1;('",
    '"];window.pwned=1;["',
    "datum.value + window.alert(1)",
    "\u202eevil\u2066",
    "n" * 10_000,
    "two\nlines",
    "\x00\x01\x1b[31m\x7f\u2028",
    "white",
    "__proto__",
    "&lt;b&gt;&amp;",
]


def unseen(page: Page, *names: str) -> list[str]:
    """The names that are not on the page as text."""
    shown = "[...document.querySelectorAll('header, main')].map((one) => one.textContent).join(' ')"
    text = " ".join(str(page.evaluate(shown)).split())
    return [name for name in names if " ".join(visible(name).split()) not in text]


def test_names_that_attack_are_text(browser: Browser, tmp_path: Path) -> None:
    """Each kind has two of them as names."""
    parts, used = [], []
    for place, kind in enumerate(KINDS):
        first, second = (ATTACKS[(2 * place + step) % len(ATTACKS)] for step in (0, 1))
        names = {"ALPHA": first, "BETA": second, "losses-base": first, "losses-int": second}
        parts.append(part_of(renamed(data_of(kind), names)))
        used += [name for name, old in ((first, "ALPHA"), (second, "BETA")) if old in json.dumps(data_of(kind))]
    found = shown(browser, tmp_path, *parts, title=ATTACKS[-1])
    page = found.look("dark")
    assert page.evaluate("window.pwned") is None
    assert found.quiet, (found.said, found.asked)
    assert page.locator(".chart .failed, .chart.failed").count() == 0
    assert unseen(page, *used, ATTACKS[-1]) == []
    assert page.title() == visible(ATTACKS[-1])
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_items_questions_and_segments_that_attack_are_text(browser: Browser, tmp_path: Path) -> None:
    from assay.analyses.survey import survey

    scores: dict[str, Any] = {"item": ATTACKS, "score": [i % 3 / 2 for i in range(len(ATTACKS))]}
    other = scores | {"score": [i % 4 / 3 for i in range(len(ATTACKS))]}
    first = compare(scores, other | {"item": [*ATTACKS[:-1], "<i>alone</i>"]})
    names = ATTACKS[:6]
    cells = [(q, s) for q in names for s in names[:3]]
    truth: dict[str, Any] = {
        "question": [q for q, _ in cells],
        "segment": [s for _, s in cells],
        "n": [80] * len(cells),
    }
    truth |= {"yes": [30 + i for i in range(len(cells))], "no": [70 - i for i in range(len(cells))]}
    guess = {key: value for key, value in truth.items() if key != "n"} | {"model": [ATTACKS[0]] * len(cells)}
    second = survey(truth, guess, design=Design(resamples=1000))
    found = shown(browser, tmp_path, part_of(first), part_of(second))
    page = found.look()
    assert found.quiet, (found.said, found.asked)
    assert page.evaluate("window.pwned") is None
    assert unseen(page, "<i>alone</i>", ATTACKS[0]) == []
    dots = page.locator("#p1-differences svg .mark-symbol.role-mark path")
    assert dots.count() == len(ATTACKS) - 1
    dots.first.scroll_into_view_if_needed()
    dots.first.hover(force=True)
    page.locator(".tip").wait_for(state="visible")
    assert page.locator(".tip *").count() == 0  # words only
    assert page.evaluate("window.pwned") is None


def test_a_model_may_be_called_like_a_colour(browser: Browser, tmp_path: Path) -> None:
    found = shown(browser, tmp_path, part_of(renamed(data_of("leaderboard"), {"ALPHA": "white", "BETA": "#333"})))
    page = found.look("dark")
    assert {"white", "#333"} <= set(page.locator(".chart svg text").all_text_contents())


def test_a_page_says_its_words_without_scripts(browser: Browser, tmp_path: Path) -> None:
    write_page(ReportDocument("t", (part("leaderboard"),)), tmp_path / "page.html")
    page = opened(browser, tmp_path / "page.html", java_script_enabled=False).page
    assert part("leaderboard").sentence in page.locator(".verdict").inner_text()
    assert page.locator("table").first.locator("tbody tr").count() == 5
    assert page.locator("figcaption summary").first.is_visible()
