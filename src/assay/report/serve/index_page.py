"""The listing of a folder as HTML and as JSON, and the pages that say why there is nothing to see."""

import hashlib
import json
import os
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from html import escape
from typing import Any
from urllib.parse import quote

from assay.report.document import SYMBOLS, WORDS
from assay.report.html import asset, policy
from assay.report.serve.folder import Entry
from assay.version import VERSION

_HREFS = {"result": "/r/", "page": "/f/"}
_EMPTY = (
    "No results yet. Whatever a command saves into this folder appears here by itself: for instance "
    "<code>assay compare A B --save FOLDER/NAME.json</code>, or a certificate of <code>assay certify</code>."
)


@dataclass(frozen=True, slots=True)
class Listing:
    """The lines of the index, as its script reads them, and a tag that changes when they do."""

    summary: str
    lines: tuple[dict[str, str], ...]

    @property
    def body(self) -> bytes:
        return encoded(json.dumps({"summary": self.summary, "lines": self.lines}, ensure_ascii=False))

    @property
    def tag(self) -> str:
        return f'"{_digest(self.body)}"'


def encoded(text: str) -> bytes:
    """As UTF-8; half a character, which JSON and names of files can hold, becomes a question mark."""
    return text.encode(errors="replace")


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()[:16]


def quoted(name: str) -> str:
    """A relative name as the end of an address; any bytes that a name of a file can have."""
    return quote(os.fsencode(name))


def listing_of(entries: Sequence[Entry], older: int) -> Listing:
    return Listing(_summary(entries, older), tuple(_line(entry) for entry in entries))


def _summary(entries: Sequence[Entry], older: int) -> str:
    states = Counter[str](entry.state for entry in entries)
    words = {"result": "result", "page": "page", "reading": "being read", "damaged": "not readable yet"}
    counts = [(states[state], word) for state, word in words.items()]
    said = [f"{n:,} {word}{'s' if n > 1 and word in ('result', 'page') else ''}" for n, word in counts if n]
    said += [f"{older:,} older files not listed"] if older else []
    return f"{', '.join(said) or 'No results'}; the newest first."


def _line(entry: Entry) -> dict[str, str]:
    symbol, word = {"reading": ("…", "being read"), "damaged": ("!", "not readable")}.get(
        entry.state, (SYMBOLS[entry.status], WORDS[entry.status])
    )
    text = {"reading": "being read …", "damaged": f"cannot be read yet: {entry.sentence}"}.get(
        entry.state, entry.sentence
    )
    start = _HREFS.get(entry.state)
    name = quoted(entry.name)
    line = {
        "path": entry.name,
        "status": entry.status,
        "symbol": symbol,
        "word": word,
        "text": text,
        "href": "" if start is None else start + name,
        "save": f"/j/{name}" if entry.state == "result" else "",
        "about": " · ".join(t for t in (entry.kind, entry.about, entry.name, _clock(entry.written)) if t),
    }
    return line | {"version": _digest(encoded(json.dumps(line)))}


def _clock(written: float) -> str:
    """The time on the clock of this machine, which is the reader's."""
    return datetime.fromtimestamp(written, UTC).astimezone().strftime("%Y-%m-%d %H:%M:%S")


def index_html(folder: str, listing: Listing) -> str:
    """The index; its script makes the same lines from `/index.json`."""
    lines = "".join(_line_html(line) for line in listing.lines)
    body = (
        f"<main><p id='said' role='status'>{escape(listing.summary)}</p>"
        f"<p id='none'{' hidden' if lines else ''}>{_EMPTY}</p>"
        f"<ul class='verdicts' id='results' aria-label='Results' data-tag='{escape(listing.tag)}'>{lines}</ul></main>"
        f"<footer>Shown by Assay {VERSION} on this machine, read-only. The list follows the folder by itself.</footer>"
    )
    return _html(f"Results in {folder}", body, asset("index.js"))


def index_policy() -> str:
    """What the index may do: its own style and script, and ask its own server."""
    return f"{policy([asset('page.css')], [asset('index.js')])}; connect-src 'self'; frame-ancestors 'none'"


def _line_html(line: dict[str, Any]) -> str:
    """A line; `index.js` builds the same elements."""
    safe = {name: escape(text) for name, text in line.items()}
    link = f"<a href='{safe['href']}'>{safe['text']}</a>" if line["href"] else f"<span>{safe['text']}</span>"
    save = f" · <a href='{safe['save']}' download>JSON</a>" if line["save"] else ""
    return (
        f"<li class='{safe['status']}' data-path='{safe['path']}' data-version='{safe['version']}'>"
        f"<span class='badge' role='img' aria-label='{safe['word']}' title='{safe['word']}'>{safe['symbol']}</span>"
        f"{link}<span class='kind'>{safe['about']}{save}</span></li>"
    )


def problem_html(title: str, text: str) -> str:
    """A page that says why there is nothing else, and leads back."""
    return _html(title, f"<main><p>{escape(text)}</p><p><a href='/'>All results</a></p></main>")


def problem_policy() -> str:
    return f"{policy([asset('page.css')], [])}; frame-ancestors 'none'"


def with_way_back(page: str) -> str:
    """A page of a result, with a link to the index where a reader looks for one."""
    return page.replace("<body>", "<body><nav aria-label='Index'><a href='/'>All results</a></nav>", 1)


def _html(title: str, body: str, script: str = "") -> str:
    return (
        "<!doctype html>\n<html lang='en'><head><meta charset='utf-8'>"
        "<meta name='viewport' content='width=device-width, initial-scale=1'>"
        "<meta name='color-scheme' content='light dark'><link rel='icon' href='data:,'>"
        f"<title>{escape(title)}</title><style>{asset('page.css')}</style></head><body>"
        f"<header class='top'><p class='brand'>Assay</p><h1>{escape(title)}</h1></header>{body}"
        + (f"<script>{script}</script>" if script else "")
        + "</body></html>\n"
    )
