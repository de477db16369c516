"""Index of a results folder; each file version is parsed once, in a background thread."""

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from html import unescape
from pathlib import Path
from threading import Condition, Thread
from typing import Literal

from assay.certificate import evidence_path
from assay.errors import AssayError
from assay.files.reading import read_json
from assay.report.document import Part
from assay.report.saved import read_part
from assay.results.record import SCHEMAS, Status

#: A *result* can be opened, a *page* is a report that was written before, *reading* and *damaged* may become results.
State = Literal["result", "page", "reading", "damaged"]
RESULTS, PAGES = (".json",), (".html", ".htm")
LARGEST = 100 * 2**20  # bytes of a file that is read
_MOST = 2_000  # files that are listed: the newest
_LONGEST = 1_000  # bytes of a relative path
_PATIENCE = 1.5  # seconds that a listing waits for files to be read
_TITLE = re.compile(rb"<title>(.*?)</title>", re.DOTALL | re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Found:
    """A file in the folder as a listing met it."""

    name: str  # relative to the folder, with slashes
    path: Path
    written: float  # seconds since 1970
    stamp: tuple[int, ...]  # another one: another content

    @classmethod
    def of(cls, name: str, path: Path) -> "Found":
        stamp = stamp_of(path)
        return cls(name, path, stamp[0] / 1e9, stamp)


@dataclass(frozen=True, slots=True)
class Entry:
    """A line of the listing."""

    name: str
    written: float
    state: State
    sentence: str = ""
    status: Status = "plain"
    kind: str = ""
    about: str = ""


def locate(folder: Path, name: str, endings: tuple[str, ...]) -> Path | None:
    """The file of this relative name, links followed; nothing if it is hidden, of another kind, or not in the folder.

    ``folder`` is resolved. What a link points at must pass the same rules as the link.
    """
    if not _plain(name) or len(os.fsencode(name)) > _LONGEST:
        return None
    try:
        path = folder.joinpath(*name.split("/")).resolve(strict=True)
        inside = path.relative_to(folder).as_posix()
    except (OSError, RuntimeError, ValueError):  # missing, a circle of links (before Python 3.13), elsewhere
        return None
    fits = all(text.lower().endswith(endings) for text in (name, inside))
    return path if fits and _plain(inside) and path.is_file() else None


def _plain(name: str) -> bool:
    """Steps down through folders that are not hidden: no `..`, no `.git`, nothing a system reads in its own way."""
    odd = any(ord(letter) < 32 or letter == "\\" for letter in name)
    return not odd and all(step and not step.startswith(".") for step in name.split("/"))


def listed(folder: Path) -> list[Found]:
    """Every file that may be a result or a page, the newest first."""
    found = [one for entry in _walk(folder) if (one := _found(folder, entry)) is not None]
    return sorted(found, key=lambda one: (-one.written, one.name))


def _walk(folder: str | Path) -> "Iterator[os.DirEntry[str]]":
    try:
        with os.scandir(folder) as inside:
            entries = [entry for entry in inside if _plain(entry.name)]
    except OSError:  # gone, or not ours to read
        return
    for entry in entries:
        if entry.is_dir(follow_symlinks=False):
            yield from _walk(entry.path)
        elif entry.name.lower().endswith(RESULTS + PAGES):
            yield entry


def _found(folder: Path, entry: "os.DirEntry[str]") -> Found | None:
    name = Path(entry.path).relative_to(folder).as_posix()
    try:
        if not entry.is_symlink():  # then it is in the folder: what leads there was no link either
            return Found.of(name, Path(entry.path)) if entry.is_file() else None
        place = locate(folder, name, RESULTS + PAGES)
        return None if place is None else Found.of(name, place)
    except OSError:  # gone since
        return None


def stamp_of(path: Path) -> tuple[int, ...]:
    """Numbers that change when a file does, or the evidence that a certificate is checked against."""
    about = path.stat()
    numbers = (about.st_mtime_ns, about.st_size, about.st_ino)
    try:
        beside = evidence_path(path).stat()
    except OSError:
        return numbers
    return *numbers, beside.st_mtime_ns, beside.st_size, beside.st_ino


def content_of(path: Path) -> Literal["result", "other", "unclear"]:
    """Whether a file is one of our results or other JSON; what is not JSON may be a result still being written."""
    try:
        if path.stat().st_size > LARGEST:
            return "other"
        data = read_json(path)
    except (OSError, AssayError):
        return "unclear"
    return "result" if isinstance(data, dict) and str(data.get("schema")) in SCHEMAS else "other"


def part_or_reason(folder: Path, path: Path, *, draw: bool) -> Part | str:
    """The part of a result, or why there is none, without the part of the path that everything here shares."""
    try:
        return read_part(path, draw=draw)
    except Exception as error:  # noqa: BLE001 - a file may hold anything, and the other results must stay in sight
        said = str(error) if isinstance(error, AssayError) else f"{type(error).__name__}: {error}"
        return said.removeprefix(f"{path}: ").replace(f"{folder}{os.sep}", "")


def entry_of(folder: Path, found: Found) -> Entry | None:
    """The line of a file; nothing if it is no result. Whatever is wrong with the file becomes a line as well."""
    if found.path.suffix.lower() in PAGES:
        return Entry(found.name, found.written, "page", _title(found), kind="page")
    if content_of(found.path) == "other":
        return None
    part = part_or_reason(folder, found.path, draw=False)  # a list has no charts
    if isinstance(part, str):
        return Entry(found.name, found.written, "damaged", part, "unsure")
    return Entry(found.name, found.written, "result", part.sentence, part.status, part.kind, part.name)


def _title(page: Found) -> str:
    """What a page calls itself, near its beginning; else its name."""
    try:
        with page.path.open("rb") as file:
            title = _TITLE.search(file.read(8_192))
    except OSError:
        title = None
    words = "" if title is None else " ".join(unescape(title[1].decode(errors="replace")).split())
    return words[:200] or page.name


class ServedFolder:
    """The listing of a folder. Files are read by a thread of its own, so that a listing never waits for a slow one."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._changed = Condition()
        self._known: dict[str, tuple[tuple[int, ...], Entry | None]] = {}
        self._wanted: list[Found] = []
        self._busy: Found | None = None
        self._closed = False
        self._thread = Thread(target=self._work, name="results", daemon=True)
        self._thread.start()

    def entries(self, patience: float = _PATIENCE) -> tuple[list[Entry], int]:
        """The newest lines, and how many older files there are. What could not be read in time is *reading*."""
        found = listed(self.folder)
        newest, older = found[:_MOST], len(found) - _MOST
        with self._changed:
            self._known = {one.name: self._known[one.name] for one in newest if one.name in self._known}
            self._wanted = [one for one in newest if not self._is_known(one) and one != self._busy]
            self._changed.notify_all()
            self._changed.wait_for(lambda: all(self._is_known(one) for one in newest), patience)
            lines = [self._line(one) for one in newest]
        return [line for line in lines if line is not None], max(older, 0)

    def _is_known(self, found: Found) -> bool:
        return found.name in self._known and self._known[found.name][0] == found.stamp

    def _line(self, found: Found) -> Entry | None:
        return self._known[found.name][1] if self._is_known(found) else Entry(found.name, found.written, "reading")

    def _work(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._wanted or self._closed)
                if self._closed:
                    return
                self._busy = found = self._wanted.pop(0)
            entry = entry_of(self.folder, found)
            with self._changed:
                self._known[found.name] = found.stamp, entry
                self._busy = None
                self._changed.notify_all()

    def close(self) -> None:
        """Stop reading, without waiting long for a file that is being read."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()
        self._thread.join(2)
