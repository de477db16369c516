"""Long tables of the documentation are sorted by a click, in a browser."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page

from tests.report.browser import chromium

SCRIPT = Path(__file__).resolve().parents[2] / "docs" / "assets" / "sort.js"


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as found:
        yield found


def page_of(browser: Browser, covers: list[str]) -> Page:
    rows = "".join(f"<tr><td>world {i}</td><td>{value}</td></tr>" for i, value in enumerate(covers))
    table = f"<table><thead><tr><th>data</th><th>covers, %</th></tr></thead><tbody>{rows}</tbody></table>"
    page = browser.new_page()
    page.set_content(f'<div class="md-content">{table}</div>')
    page.add_script_tag(content=SCRIPT.read_text("utf-8"))
    return page


def column(page: Page, number: int) -> list[str]:
    return [cell.inner_text() for cell in page.query_selector_all(f"td:nth-child({number})")]


COVERS = ["95.0 ± 1.2", "–", "1,200", "9.5", "−3", "94", "100.0", "–", "88", "94.5"]


def test_numbers_by_size_and_what_is_missing_last(browser: Browser) -> None:
    page = page_of(browser, COVERS)
    page.click("th:nth-child(2) button")
    assert column(page, 2) == ["−3", "9.5", "88", "94", "94.5", "95.0 ± 1.2", "100.0", "1,200", "–", "–"]
    assert page.get_attribute("th:nth-child(2)", "aria-sort") == "ascending"


def test_a_second_click_turns_around_and_a_third_restores(browser: Browser) -> None:
    page = page_of(browser, COVERS)
    for _ in range(2):
        page.click("th:nth-child(2) button")
    assert column(page, 2)[:2] == ["1,200", "100.0"]
    assert column(page, 2)[-2:] == ["–", "–"]
    page.click("th:nth-child(2) button")
    assert column(page, 2) == COVERS
    assert page.get_attribute("th:nth-child(2)", "aria-sort") is None


def test_words_by_the_alphabet(browser: Browser) -> None:
    page = page_of(browser, COVERS)
    page.click("th:nth-child(1) button")
    page.click("th:nth-child(1) button")
    assert column(page, 1)[0] == "world 9"


def test_a_short_table_has_no_buttons(browser: Browser) -> None:
    assert page_of(browser, COVERS[:9]).query_selector("button") is None
