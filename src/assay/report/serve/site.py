"""What the local server answers: the index, a page for each result, and files that reports consist of."""

import os
import re
from collections import OrderedDict
from dataclasses import dataclass, field
from functools import cache
from http import HTTPStatus
from pathlib import Path
from threading import Lock
from urllib.parse import unquote_to_bytes

from assay.report.document import Document
from assay.report.html import asset, chart_library, page_html, policy
from assay.report.serve.folder import (
    LARGEST,
    PAGES,
    RESULTS,
    ServedFolder,
    content_of,
    locate,
    part_or_reason,
    stamp_of,
)
from assay.report.serve.index_page import (
    Listing,
    encoded,
    index_html,
    index_policy,
    listing_of,
    problem_html,
    problem_policy,
    quoted,
    with_way_back,
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


@dataclass(frozen=True, slots=True)
class Answer:
    """What is sent back."""

    body: bytes = b""
    type: str = _HTML
    policy: str = _NOTHING
    status: HTTPStatus = HTTPStatus.OK
    more: dict[str, str] = field(default_factory=dict)


def problem(status: HTTPStatus, title: str, text: str, **more: str) -> Answer:
    return Answer(encoded(problem_html(title, text)), policy=problem_policy(), status=status, more=more)


def not_found() -> Answer:
    return problem(HTTPStatus.NOT_FOUND, "Not found", "There is no result at this address, or there is none any more.")


class Site:
    """The answers for one folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder  # resolved
        self.served = ServedFolder(folder)
        self._pages: OrderedDict[Path, tuple[tuple[int, ...], Answer]] = OrderedDict()
        self._lock = Lock()

    def answer(self, target: str, seen: str | None = None) -> Answer:
        """For the target of a request line; ``seen`` is the tag of the listing that a client has."""
        try:
            return self._answer(target.partition("?")[0], seen)
        except (FileNotFoundError, PermissionError):  # gone since it was found, or not ours to read
            return not_found()

    def _answer(self, path: str, seen: str | None) -> Answer:
        if path == "/":
            listing = self._listing()
            return Answer(encoded(index_html(self.folder.name, listing)), policy=index_policy())
        if path == "/index.json":
            return _listed(self._listing(), seen)
        if path == "/favicon.ico":
            return Answer(status=HTTPStatus.NO_CONTENT)
        rooms = {"/r/": self._result, "/j/": self._data, "/f/": self._file}
        room, name = rooms.get(path[:3]), _unquoted(path[3:])
        return not_found() if room is None or name is None else room(name)

    def _listing(self) -> Listing:
        return listing_of(*self.served.entries())

    def _result(self, name: str) -> Answer:
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

    def _page(self, path: Path) -> Answer:
        part = part_or_reason(self.folder, path, draw=True)
        if isinstance(part, str):
            said = f"This result cannot be read yet: {part}"
            return problem(HTTPStatus.SERVICE_UNAVAILABLE, "Not readable yet", said, Refresh="2")
        page = page_html(Document(f"{part.kind[:1].upper()}{part.kind[1:]}: {part.name}", (part,)))
        own = _POLICY.search(page)
        assert own is not None  # every page of ours states its policy
        return Answer(encoded(with_way_back(page)), policy=f"{own[1]}; frame-ancestors 'none'")

    def _data(self, name: str) -> Answer:
        path = self._known(name)
        if path is None:
            return not_found()
        return Answer(path.read_bytes(), "application/json", more={"Content-Disposition": "attachment"})

    def _known(self, name: str) -> Path | None:
        """A whole result; nothing else that is called .json is given out."""
        path = locate(self.folder, name, RESULTS)
        return path if path is not None and content_of(path) == "result" else None

    def _file(self, name: str) -> Answer:
        if self._known(name) is not None:  # a report links to its results by their names
            return Answer(status=HTTPStatus.FOUND, more={"Location": f"/r/{quoted(name)}"})
        path = locate(self.folder, name, tuple(_TYPES))
        if path is None or path.stat().st_size > LARGEST:
            return not_found()
        data, ending = path.read_bytes(), path.suffix.lower()
        return Answer(data, _TYPES[ending], page_policy(data) if ending in PAGES else _DRAWING)


def _listed(listing: Listing, seen: str | None) -> Answer:
    tag = {"ETag": listing.tag}
    if seen == listing.tag:
        return Answer(status=HTTPStatus.NOT_MODIFIED, more=tag)
    return Answer(listing.body, "application/json", more=tag)


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
    style, first, rest = asset("page.css"), asset("page.js"), [chart_library(), asset("charts.js")]
    return policy([style], [first]), policy([style], [first, *rest])


def _unquoted(text: str) -> str | None:
    """The name that an address means, once decoded; nothing for what is no address."""
    data = unquote_to_bytes(text.encode("latin-1"))  # the bytes of the request line
    return None if b"\0" in data else os.fsdecode(data)
