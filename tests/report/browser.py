"""A headless Chromium, and pages opened in it with everything noted that they should not do."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import pytest
from playwright.sync_api import Browser, Page, sync_playwright

Scheme = Literal["light", "dark"]
NAMES = ("chromium", "chromium-browser", "google-chrome")

#: All charts are drawn in the scheme, and none is being drawn again.
_SETTLED = """scheme => document.documentElement.dataset.charts === "drawn"
  && [...document.querySelectorAll(".chart")].every((one) => one.dataset.drawn === scheme)"""


@contextmanager
def chromium() -> Iterator[Browser]:
    """The browser that is installed; without one the tests are skipped."""
    found = next((path for path in map(shutil.which, NAMES) if path), None)
    if found is None:
        pytest.skip(f"no browser is installed: looked for {', '.join(NAMES)}")
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=found, args=["--no-sandbox"])
        yield browser
        browser.close()


@dataclass
class Opened:
    """A page, and what it complained about or asked for."""

    page: Page
    path: Path
    said: list[str] = field(default_factory=list)
    asked: list[str] = field(default_factory=list)

    def look(self, scheme: Scheme = "light", width: int = 1000) -> Page:
        """The page in this scheme and width, its charts drawn."""
        self.page.emulate_media(color_scheme=scheme, media="screen")
        if self.page.viewport_size != {"width": width, "height": 800}:
            self.page.set_viewport_size({"width": width, "height": 800})
            self.page.wait_for_timeout(300)  # charts are drawn again a little after a screen has changed
        if self.page.locator(".chart").count():
            self.page.wait_for_function(_SETTLED, arg=scheme, timeout=60_000)
        return self.page

    def unfold(self, scheme: Scheme = "light", width: int = 1000) -> Page:
        """The same with everything open that is folded."""
        page = self.look(scheme, width)
        page.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
        return page

    @property
    def quiet(self) -> bool:
        """No error, no warning, and no request but for the file itself."""
        return not self.said and set(self.asked) == {self.path.as_uri()}


def opened(browser: Browser, path: Path, **context: Any) -> Opened:
    """Open a file in a window of its own."""
    window = browser.new_context(viewport={"width": 1000, "height": 800}, accept_downloads=True, **context)
    found = Opened(window.new_page(), path)
    found.page.on("console", lambda line: found.said.append(f"{line.type}: {line.text}"))
    found.page.on("pageerror", lambda error: found.said.append(str(error)))
    window.on("request", lambda request: found.asked.append(request.url))
    found.page.goto(path.as_uri())
    return found


def contrast(first: str, second: str) -> float:
    """The contrast of two colours `rgb(r, g, b)`, as WCAG 2 defines it."""
    high, low = sorted((_luminance(first), _luminance(second)), reverse=True)
    return (high + 0.05) / (low + 0.05)


def _luminance(colour: str) -> float:
    shares = [int(part) / 255 for part in colour[colour.index("(") + 1 : -1].split(",")[:3]]
    linear = [share / 12.92 if share <= 0.04045 else ((share + 0.055) / 1.055) ** 2.4 for share in shares]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
