"""Screenshots for the gallery: every result of a finished demo as its page, in headless Chromium.

    python -m tools.gallery DEMO_FOLDER docs/gallery

The pages are made by `assay report`'s own code; nothing is drawn for the documentation alone.
"""

import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from assay.report.document import ReportDocument
from assay.report.files import document_of
from assay.report.html import write_page

if TYPE_CHECKING:
    from playwright.sync_api import Browser

_BROWSERS = ("chromium", "chromium-browser", "google-chrome")
_WIDTH, _HEIGHT, _PHONE, _DESKTOP = 960, 1180, 390, 1300

#: The results of the demo that are shown, by the name of their picture.
_SHOWN = {
    "comparison": "results/comparison.json",
    "certificate": "certificates/int3.json",
    "leaderboard": "results/leaderboard.json",
    "context": "results/context.json",
    "survey": "survey/survey.json",
    "tuning": "results/tuning.json",
    "power": "results/power.json",
    "reliability": "results/reliability.json",
}


def main(demo: Path, target: Path) -> None:
    """Write a picture of each page; the comparison also in dark and on a phone."""
    from playwright.sync_api import sync_playwright

    target.mkdir(parents=True, exist_ok=True)
    with sync_playwright() as tools, TemporaryDirectory() as folder:
        browser = tools.chromium.launch(executable_path=browser_path(), args=["--no-sandbox"])
        for name, page in _pages(demo, Path(folder)):
            _shoot(browser, page, target / f"{name}.png", width=_DESKTOP if name == "several" else _WIDTH)
            if name == "comparison":
                _shoot(browser, page, target / f"{name}-dark.png", dark=True)
                _shoot(browser, page, target / f"{name}-phone.png", width=_PHONE)
        browser.close()


def browser_path() -> str:
    found = next((path for name in _BROWSERS if (path := shutil.which(name))), None)
    if found is None:
        sys.exit(f"no browser: install one of {', '.join(_BROWSERS)}")
    return found


def _pages(demo: Path, folder: Path) -> Iterator[tuple[str, Path]]:
    for name, file in _SHOWN.items():
        document, _ = document_of([demo / file])
        yield name, _written(document, folder / f"{name}.html")
    whole, _ = document_of([demo / file for file in _SHOWN.values()], "Everything on one page")
    yield "several", _written(whole, folder / "several.html")


def _written(document: ReportDocument, path: Path) -> Path:
    write_page(document, path)
    return path


def _shoot(browser: "Browser", page: Path, picture: Path, *, dark: bool = False, width: int = _WIDTH) -> None:
    shown = browser.new_page(viewport={"width": width, "height": _HEIGHT}, color_scheme="dark" if dark else "light")
    shown.goto(page.as_uri())
    shown.wait_for_selector("html[data-charts=drawn]", state="attached")
    shown.screenshot(path=picture)
    shown.close()
    print(f"{picture}: {picture.stat().st_size // 1000} kB")


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
