"""The page: head, first screen, contents, parts, and the data that its scripts read."""

import base64
import hashlib
from functools import cache
from html import escape
from importlib.resources import files
from pathlib import Path

from assay.files.writing import write_bytes
from assay.names import visible
from assay.report.charts import DARK
from assay.report.document import ReportDocument, part_id
from assay.report.html.front import chapter_html, chapter_id, chapter_title, chapters, front_html, steps_html
from assay.report.html.how import explanations_html
from assay.report.html.packing import drawable, file_text, packed
from assay.report.html.parts import title_id
from assay.version import VERSION

_MOST_DATA = 1_000_000  # characters that the page carries for downloads, before they are compressed


def write_page(document: ReportDocument, path: Path) -> None:
    """Write the document as one file, whole or not at all."""
    write_bytes(path, page_html(document).encode())


def page_html(document: ReportDocument) -> str:
    """The document as one HTML file: styles, scripts and data inside, no request to anywhere."""
    charts = {name: drawable(chart.specification) for name, _, chart in document.charts() if not chart.repeats_gauge}
    data = {"charts": charts, "dark": DARK, "files": _files(document)}
    scripts = [asset("page.js"), *([asset("vega.js"), asset("charts.js")] if charts else [])]
    style = asset("page.css")
    body = "".join(
        [
            f"<header class='top'><p class='brand'>Assay</p><h1>{escape(document.title)}</h1></header>",
            _contents(document),
            "<main>",
            front_html(document) if len(document.parts) > 1 else "",
            *(chapter_html(kind, parts) for kind, parts in chapters(document).items()),
            steps_html(document.steps),
            explanations_html(document),
            "</main>",
            f"<footer>Made by Assay {VERSION}. This file loads nothing; it can be sent as it is.</footer>",
        ]
    )
    return (
        "<!doctype html>\n<html lang='en'><head><meta charset='utf-8'>"
        f"<meta http-equiv='Content-Security-Policy' content=\"{policy([style], scripts)}\">"
        "<meta name='viewport' content='width=device-width, initial-scale=1'>"
        "<meta name='color-scheme' content='light dark'><meta name='referrer' content='no-referrer'>"
        f"<title>{escape(visible(document.title))}</title><style>{style}</style></head><body>{visible(body)}"
        f"<script type='text/plain' id='data'>{packed(data)}</script>"
        + "".join(f"<script>{script}</script>" for script in scripts)
        + "</body></html>\n"
    )


def policy(styles: list[str], scripts: list[str]) -> str:
    """A content-security policy: exactly these styles and scripts run, nothing is loaded or sent."""
    allowed = {"script-src": scripts, "style-src": styles}
    lists = [f"{name} {' '.join(_digest(text) for text in texts)}" for name, texts in allowed.items()]
    return "; ".join(["default-src 'none'", *lists, "img-src data: blob:", "base-uri 'none'", "form-action 'none'"])


def _digest(text: str) -> str:
    found = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
    return f"'sha256-{found}'"


@cache
def asset(name: str) -> str:
    return files("assay.report.html").joinpath("assets", name).read_text(encoding="utf-8")


def _files(document: ReportDocument) -> dict[str, str]:
    """The exact numbers of tables and results, the smallest first, as far as a page should carry them."""
    wanted = {part_id(i): file_text(part.data) for i, part in enumerate(document.parts)}
    for i, part in enumerate(document.parts):
        for g, group in enumerate(part.groups):
            for t, table in enumerate(group.tables):
                wanted[f"{title_id(i, g)}-t{t}"] = file_text([dict(row) for row in table.data])
    kept, total = {}, 0
    for name in sorted(wanted, key=lambda name: len(wanted[name])):
        total += len(wanted[name])
        if total <= _MOST_DATA:
            kept[name] = wanted[name]
    return kept


def _contents(document: ReportDocument) -> str:
    """A list of the chapters: beside the page where there is room, folded above it on a phone."""
    entries = ["<li><a href='#verdicts'>Verdicts</a></li>"] if len(document.parts) > 1 else []
    for kind, parts in chapters(document).items():
        inner = "".join(
            f"<li><a href='#{part_id(place)}'>{escape(part.name)}</a></li>" for place, part in parts if len(parts) > 1
        )
        inner = f"<ul>{inner}</ul>" if inner else ""
        entries.append(f"<li><a href='#{chapter_id(kind)}'>{escape(chapter_title(kind, parts))}</a>{inner}</li>")
    if document.steps:
        entries.append("<li><a href='#steps'>How this was made</a></li>")
    listed = f"<ul>{''.join(entries)}</ul>"
    return (
        f"<nav class='side' aria-label='Contents'>{listed}</nav>"
        f"<nav class='above' aria-label='Contents'><details><summary>Contents</summary>{listed}</details></nav>"
    )
