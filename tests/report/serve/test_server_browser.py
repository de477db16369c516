"""The index in a real browser: it follows the folder by itself, and nothing in a name runs."""

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.report.serving import furnished, running, sample

sync: Any = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
CHROMIUM = shutil.which("chromium")
if CHROMIUM is None:
    pytest.skip("no chromium is installed", allow_module_level=True)
ATTACK = "</script><script>alert(1)</script><img src=x onerror=alert(2)>"


class Watched:
    """A tab, and everything in it that should not happen."""

    def __init__(self, tab: Any, own: str) -> None:
        self.tab, self.bad = tab, list[str]()
        tab.on("console", lambda said: self.bad.append(said.text))
        tab.on("pageerror", lambda error: self.bad.append(str(error)))
        tab.on("dialog", self._dismiss)
        tab.on("request", lambda asked: None if asked.url.startswith((own, "data:")) else self.bad.append(asked.url))

    def _dismiss(self, dialog: Any) -> None:
        self.bad.append(dialog.message)
        dialog.dismiss()

    def rows(self, count: int) -> None:
        sync.expect(self.tab.locator("#results > li")).to_have_count(count, timeout=30_000)


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with sync.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.mark.slow
def test_the_index_follows_the_folder(browser: Any, tmp_path: Path) -> None:
    with running(tmp_path) as server, browser.new_context() as context:
        seen = Watched(context.new_page(), server.url)
        seen.tab.goto(server.url)
        assert seen.tab.locator("#none").is_visible()
        (tmp_path / "a.json").write_text(sample())
        seen.rows(1)
        assert seen.tab.locator("#none").is_hidden()
        sync.expect(seen.tab.locator("#results a").first).to_have_text(json.loads(sample())["sentence"], timeout=30_000)
        seen.tab.locator("#results a").first.focus()
        (tmp_path / "b.json").write_text(sample().replace("losses-int3", json.dumps(ATTACK)[1:-1]))
        seen.rows(2)
        sync.expect(seen.tab.locator("#results a").first).to_contain_text(ATTACK, timeout=30_000)
        assert seen.tab.evaluate("document.activeElement.getAttribute('href')") == "/r/a.json"  # nobody lost the place
        by_script = seen.tab.locator("#results").inner_html()
        seen.tab.reload()
        assert seen.tab.locator("#results").inner_html() == by_script
        seen.tab.locator("#results a").first.click()
        sync.expect(seen.tab.locator(".chart svg").first).to_be_visible(timeout=60_000)
        seen.tab.get_by_role("link", name="All results").click()
        seen.rows(2)
        (tmp_path / "a.json").unlink()
        seen.rows(1)
        assert seen.bad == []


@pytest.mark.slow
def test_pages_of_others_run_nothing_and_other_sites_get_nothing(browser: Any, tmp_path: Path) -> None:
    folder = furnished(tmp_path)
    page = "<h1>still</h1><script>document.querySelector('h1').textContent = 'ran'</script><a href='int3.json'>next</a>"
    (folder / "foreign.html").write_text(page)
    with running(folder) as server, browser.new_context() as context:
        tab = context.new_page()
        tab.goto(f"{server.url}f/foreign.html")
        assert tab.locator("h1").inner_text() == "still"
        tab.locator("a").click()  # and still links to its neighbours
        tab.wait_for_url("**/r/int3.json")
        own = Watched(context.new_page(), server.url)
        own.tab.goto(f"{server.url}f/report.html")
        sync.expect(own.tab.locator(".chart svg").first).to_be_visible(timeout=60_000)
        assert own.bad == []
        tab.goto("about:blank")
        tab.set_content(f"<a href='{server.url}'>there</a>")
        tab.locator("a").click()
        sync.expect(tab.locator("h1")).to_have_text("Not from another site")
        tab.get_by_role("link", name="All results").click()
        sync.expect(tab.locator("h1")).to_have_text("Results in results")
