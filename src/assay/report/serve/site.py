"""What the local server answers: the index, a page for each result, files that reports consist of, and why not."""

import hashlib
import json
import os
import re
from collections import Counter, OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cache
from html import escape
from http import HTTPStatus
from pathlib import Path
from threading import Lock
from typing import Any
from urllib.parse import quote, unquote_to_bytes

from assay.report.document import SYMBOLS, WORDS, ReportDocument
from assay.report.html import asset, page_html, policy
from assay.report.serve.folder import (
    LARGEST,
    PAGES,
    RESULTS,
    Entry,
    ServedFolder,
    content_of,
    locate,
    part_or_reason,
    stamp_of,
)
from assay.version import VERSION

_HREFS = {"result": "/r/", "page": "/f/"}
_EMPTY = (
    "No results yet. Whatever a command saves into this folder appears here by itself: for instance "
    "<code>assay compare A B --save FOLDER/NAME.json</code>, or a certificate of <code>assay certify</code>."
)
_HTML = "text/html; charset=utf-8"
#: What `assay report` writes; nothing else of the folder is given out, except results.
_TYPES = {
    ".html": _HTML,
    ".htm": _HTML,
    ".md": "text/plain; charset=utf-8",
    ".svg": "image/svg+xml",
    ".png": "image/png",
}
_CLOSED = "default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'"
_NOTHING = f"sandbox; {_CLOSED}"
_DRAWING = f"sandbox; style-src 'unsafe-inline'; img-src data:; {_CLOSED}"
_POLICY = re.compile(r"<meta http-equiv='Content-Security-Policy' content=\"([^\"]*)\">")
_PAGES_KEPT = 8  # of about a megabyte


# ------------------------------------------------------------------------------------------------------------ the index


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


# ---------------------------------------------------------------------------------------------------------- the answers


@dataclass(frozen=True, slots=True)
class Response:
    """What is sent back."""

    body: bytes = b""
    type: str = _HTML
    policy: str = _NOTHING
    status: HTTPStatus = HTTPStatus.OK
    more: dict[str, str] = field(default_factory=dict)


def problem(status: HTTPStatus, title: str, text: str, **more: str) -> Response:
    return Response(encoded(problem_html(title, text)), policy=problem_policy(), status=status, more=more)


def not_found() -> Response:
    return problem(HTTPStatus.NOT_FOUND, "Not found", "There is no result at this address, or there is none any more.")


class Site:
    """The answers for one folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder  # resolved
        self.served = ServedFolder(folder)
        self._pages: OrderedDict[Path, tuple[tuple[int, ...], Response]] = OrderedDict()
        self._lock = Lock()

    def answer(self, target: str, seen: str | None = None) -> Response:
        """For the target of a request line; ``seen`` is the tag of the listing that a client has."""
        try:
            return self._answer(target.partition("?")[0], seen)
        except (FileNotFoundError, PermissionError):  # gone since it was found, or not ours to read
            return not_found()

    def _answer(self, path: str, seen: str | None) -> Response:
        if path == "/":
            listing = self._listing()
            return Response(encoded(index_html(self.folder.name, listing)), policy=index_policy())
        if path == "/index.json":
            return _listed(self._listing(), seen)
        if path == "/favicon.ico":
            return Response(status=HTTPStatus.NO_CONTENT)
        rooms = {"/r/": self._result, "/j/": self._data, "/f/": self._file}
        room, name = rooms.get(path[:3]), _unquoted(path[3:])
        return not_found() if room is None or name is None else room(name)

    def _listing(self) -> Listing:
        return listing_of(*self.served.entries())

    def _result(self, name: str) -> Response:
        path = locate(self.folder, name, RESULTS)
        if path is None or content_of(path) == "other":  # other JSON that happens to lie in the folder
            return not_found()
        with self._lock:  # two who ask for the same page make it once
            stamp = stamp_of(path)
            kept = self._pages.get(path)
            if kept is None or kept[0] != stamp:
                kept = stamp, self._page(path)
            self._pages[path] = kept
            self._pages.move_to_end(path)
            if len(self._pages) > _PAGES_KEPT:
                self._pages.popitem(last=False)
        return kept[1]

    def _page(self, path: Path) -> Response:
        part = part_or_reason(self.folder, path, draw=True)
        if isinstance(part, str):
            said = f"This result cannot be read yet: {part}"
            return problem(HTTPStatus.SERVICE_UNAVAILABLE, "Not readable yet", said, Refresh="2")
        page = page_html(ReportDocument(f"{part.kind[:1].upper()}{part.kind[1:]}: {part.name}", (part,)))
        own = _POLICY.search(page)
        assert own is not None  # every page of ours states its policy
        return Response(encoded(with_way_back(page)), policy=f"{own[1]}; frame-ancestors 'none'")

    def _data(self, name: str) -> Response:
        path = self._known(name)
        if path is None:
            return not_found()
        return Response(path.read_bytes(), "application/json", more={"Content-Disposition": "attachment"})

    def _known(self, name: str) -> Path | None:
        """A whole result; nothing else that is called .json is given out."""
        path = locate(self.folder, name, RESULTS)
        return path if path is not None and content_of(path) == "result" else None

    def _file(self, name: str) -> Response:
        if self._known(name) is not None:  # a report links to its results by their names
            return Response(status=HTTPStatus.FOUND, more={"Location": f"/r/{quoted(name)}"})
        path = locate(self.folder, name, tuple(_TYPES))
        if path is None or path.stat().st_size > LARGEST:
            return not_found()
        data, ending = path.read_bytes(), path.suffix.lower()
        return Response(data, _TYPES[ending], page_policy(data) if ending in PAGES else _DRAWING)


def _listed(listing: Listing, seen: str | None) -> Response:
    tag = {"ETag": listing.tag}
    if seen == listing.tag:
        return Response(status=HTTPStatus.NOT_MODIFIED, more=tag)
    return Response(listing.body, "application/json", more=tag)


def page_policy(page: bytes) -> str:
    """For a page that anybody may have put there. One that states our policy, by whomever, is held to it: then the
    only scripts that run are ours. Any other is shown without scripts; it stays in the origin to link to neighbours.
    """
    stated = _POLICY.search(page[:8_192].decode(errors="replace"))
    if stated is None or stated[1] not in _own_policies():
        return f"sandbox allow-same-origin; style-src 'unsafe-inline'; img-src data:; {_CLOSED}"
    return f"{stated[1]}; frame-ancestors 'none'"


@cache
def _own_policies() -> tuple[str, str]:
    """What pages of this version state: without charts, and with them."""
    style, first, rest = asset("page.css"), asset("page.js"), [asset("vega.js"), asset("charts.js")]
    return policy([style], [first]), policy([style], [first, *rest])


def _unquoted(text: str) -> str | None:
    """The name that an address means, once decoded; nothing for what is no address."""
    data = unquote_to_bytes(text.encode("latin-1"))  # the bytes of the request line
    return None if b"\0" in data else os.fsdecode(data)
