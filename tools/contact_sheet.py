"""Every kind of chart on one sheet: on a desktop and a phone, light and dark, with 2, 12 and 60 models.

    python -m tools.contact_sheet FOLDER              # every chart, and sheet.html beside them
    python -m tools.contact_sheet FOLDER rank survey  # only these

Look at it after a change of what draws. Pages are made by `assay report`'s own code and drawn by a browser.
"""

import sys
from collections.abc import Callable, Iterator
from html import escape
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import numpy as np

import assay
from assay.analyses.survey import report_of
from assay.data import Panel
from assay.design import Design
from assay.report.document import ReportDocument
from assay.report.html import write_page
from assay.report.saved import part_of
from assay.results.record import Result
from tests.analyses.survey.surveys import made
from tests.data.runs.token_runs import story, write_run
from tests.report.results import KINDS, leaderboard, result
from tests.training.runs import write_run as write_training
from tools.gallery import browser_path

if TYPE_CHECKING:
    from playwright.sync_api import Browser

COUNTS = (2, 12, 60)
VIEWS = (("desktop", 1300, "light"), ("desktop", 1300, "dark"), ("phone", 390, "light"), ("phone", 390, "dark"))
_QUICK = Design(resamples=200)


def main(folder: Path, wanted: list[str]) -> None:
    from playwright.sync_api import sync_playwright

    folder.mkdir(parents=True, exist_ok=True)
    rows: list[tuple[str, list[Path]]] = []
    with sync_playwright() as tools, TemporaryDirectory() as work:
        browser = tools.chromium.launch(executable_path=browser_path(), args=["--no-sandbox"])
        for name, found in _results(Path(work), wanted):
            page = Path(work) / "page.html"
            write_page(ReportDocument(name, (part_of(found),)), page)
            rows += _charts(browser, page, folder, name)
        browser.close()
    (folder / "sheet.html").write_text(_sheet(rows), encoding="utf-8")
    print(f"{folder / 'sheet.html'}: {len(rows)} charts in {len(VIEWS)} views")


def _results(work: Path, wanted: list[str]) -> Iterator[tuple[str, Result]]:
    """Results with so many models; those that know only two are made once."""
    for kind, maker in _MAKERS.items():
        for count in COUNTS if not wanted or kind in wanted else ():
            yield f"{kind}-{count}", maker(count, work / f"{kind}-{count}")
    yield from ((kind, result(kind)) for kind in KINDS if kind not in _REPLACED and (not wanted or kind in wanted))


def _names(count: int) -> list[str]:
    """Short ones and long ones, as they are met."""
    return [
        f"model-{i:02}" if i % 3 else f"organisation/a-rather-long-name-of-model-{i:02}-instruct" for i in range(count)
    ]


def _summary(count: int, _: Path) -> Result:
    rng = np.random.default_rng(count)
    tables = []
    for i, name in enumerate(_names(count)):
        score = (rng.random(120) < 0.35 + 0.5 * i / count).astype(float).tolist()
        price = (rng.lognormal(0.08 * i * 12 / max(count, 12), 0.3, 120)).tolist()
        tables.append({"item": list(map(str, range(120))), "score": score, "price": price, "model": [name] * 120})
    return assay.summarize(*tables)


def _tasks(count: int, _: Path) -> Result:
    """Five tasks."""
    rng, tasks = np.random.default_rng(count), np.repeat(["arc", "boolq", "gsm8k", "mmlu", "winogrande"], 40)
    values = (rng.random((200, count)) < np.linspace(0.8, 0.3, count)).astype(float)
    return assay.rank(Panel.from_arrays(values, systems=_names(count), labels={"task": tasks}), design=_QUICK)


def _survey(count: int, _: Path) -> Result:
    models = {name: 0.15 + 0.4 * i / count for i, name in enumerate(_names(count))}
    return report_of(made(models=models, questions=8, contexts=(0, 5), runs=2, worse={2: 0.2}), Design(resamples=200))


def _context(count: int, work: Path) -> Result:
    runs = [
        write_run(work / str(i), story(3, 40, shortest=40, shift=0.02 * i), called=name)
        for i, name in enumerate(_names(count))
    ]
    return assay.context(*runs, design=_QUICK)


def _tuning(count: int, work: Path) -> Result:
    """Three seeds of each arm."""
    rng, runs = np.random.default_rng(count), []
    for i, name in enumerate(_names(count)):
        for seed in range(3):
            falls = 2 + (2 + i / count) * np.exp(-np.arange(60) / 15) + rng.normal(0, 0.05, 60) + rng.normal(0, 0.2)
            runs.append(write_training(work / f"{i}-{seed}", falls.tolist(), arm=name, seed=seed))
    return assay.tune(*runs)


def _reliability(count: int, _: Path) -> Result:
    rng = np.random.default_rng(count)
    rows = [(m, str(run), f"q{i}") for m in _names(count) for run in range(4) for i in range(20)]
    columns = {name: [row[place] for row in rows] for place, name in enumerate(("model", "run", "item"))}
    return assay.reliability(columns | {"score": rng.random(len(rows)).tolist()})


_MAKERS: dict[str, Callable[[int, Path], Result]] = {
    "summary": _summary,
    "leaderboard": lambda count, _: leaderboard(count),
    "tasks": _tasks,
    "survey": _survey,
    "context": _context,
    "tuning": _tuning,
    "reliability": _reliability,
}
_REPLACED = {"summary", "leaderboard", "survey", "context", "tuning", "reliability"}


def _charts(browser: "Browser", page: Path, folder: Path, name: str) -> list[tuple[str, list[Path]]]:
    """A picture of each chart in each view."""
    pictures: dict[str, list[Path]] = {}
    for view, width, scheme in VIEWS:
        shown = browser.new_page(viewport={"width": width, "height": 900}, color_scheme=scheme)  # type: ignore[arg-type]
        shown.goto(page.as_uri())
        shown.wait_for_selector("html[data-charts=drawn]", state="attached", timeout=120_000)
        shown.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
        for chart in shown.locator(".chart").all():
            label = str(chart.get_attribute("id")).removeprefix("p1-")
            target = folder / f"{name}-{label}-{view}-{scheme}.png"
            chart.screenshot(path=target)
            pictures.setdefault(f"{name}: {label}", []).append(target)
        shown.close()
    print(f"{name}: {len(pictures)} charts")
    return list(pictures.items())


def _sheet(rows: list[tuple[str, list[Path]]]) -> str:
    body = "".join(
        f"<h2>{escape(title)}</h2><div>{''.join(f'<img src={escape(picture.name)!r}>' for picture in pictures)}</div>"
        for title, pictures in rows
    )
    style = (
        "body{font:14px sans-serif} div{display:flex;gap:8px;align-items:start} img{max-height:420px;max-width:640px}"
    )
    return f"<!doctype html><meta charset='utf-8'><title>Contact sheet</title><style>{style}</style>{body}\n"


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2:])
