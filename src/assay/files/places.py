"""Where output may go: never over what is read, into a run, or twice to one place."""

import json
import os
import stat
from collections.abc import Iterable
from os import PathLike
from pathlib import Path

from assay.errors import UsageError
from assay.names import one_line

#: Manifests of runs, and how their schemas begin: of `assay score`, and of `assay tune run`.
RUNS = {"run.json": "assay/run/", "training.json": "assay/training/"}
_LARGEST = 1 << 20  # bytes of a manifest
_PAGES = frozenset({".html", ".md", ".svg", ".png"})  # no verb reads these as data

Place = str | PathLike[str]


def check_outputs(outputs: Iterable[Place | None], inputs: Iterable[object] = ()) -> None:
    """Refuse to write over what is read, into a run, or two outputs to one file, before anything is computed.

    Files are the same if their resolved paths are, or if the system says so (links of both kinds). ``inputs`` may be
    NAME=PATH; what is not a path, such as a data frame, is nowhere.
    """
    read = [_input(source) for source in inputs if isinstance(source, str | PathLike)]
    taken: list[tuple[Path, str]] = [(path, f"{one_line(str(path))} is read") for path in read]
    for output in outputs:
        if output is None:
            continue
        path = Path(output)
        if _is_folder(path):
            raise UsageError(f"{path}: a folder; name a file to write.")
        twice = next((why for other, why in taken if same(path, other)), None)
        why = twice or _in_a_run(path) or _in_what_is_read(path, read)
        if why is not None:
            raise UsageError(f"{one_line(str(path))}: cannot be written, as {why}; name another file.")
        taken.append((path, f"{one_line(str(path))} is written already"))


def same(one: Path, other: Path) -> bool:
    """Whether two paths are one place: by their names, resolved, or because the system says so."""
    if _resolved(one) == _resolved(other):
        return True
    first, second = _status(one), _status(other)
    known = first is not None and second is not None and stat.S_ISREG(first.st_mode)
    return known and os.path.samestat(first, second)  # type: ignore[arg-type]  # both are known here


def is_run(folder: Path, *manifests: str) -> bool:
    """Whether a folder has a manifest of ours (one of these); one of somebody else makes no run."""
    return any(_is_manifest(folder / name, RUNS[name]) for name in manifests or RUNS)


def _is_manifest(path: Path, schema: str) -> bool:
    try:
        if not path.is_file() or path.stat().st_size > _LARGEST:
            return False
        found = json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError):
        return False
    return isinstance(found, dict) and str(found.get("schema")).startswith(schema)


def _input(source: str | PathLike[str]) -> Path:
    """Where NAME=PATH or a path is."""
    text = os.fspath(source)
    whole = Path(text)
    return whole if "=" not in text or _status(whole) is not None else Path(text.partition("=")[2])


def _in_a_run(path: Path) -> str | None:
    folder = _folder(path)
    run = next((place for place in (folder, *folder.parents) if is_run(place)), None)
    return None if run is None else f"{one_line(str(run))} is a run, and nothing is added to a run"


def _in_what_is_read(path: Path, read: Iterable[Path]) -> str | None:
    """A file in a folder that is read, unless it is a page or a result of ours: those are no evidence."""
    if _status(path) is None or path.suffix.lower() in _PAGES or _is_result(path):
        return None
    here = _folder(path)
    for folder in read:
        if _is_folder(folder) and _resolved(folder) in (here, *here.parents):
            return f"it is in {one_line(str(folder))}, which is read"
    return None


def _is_result(path: Path) -> bool:
    """Whether a file is a result that Assay saved: such a file begins with its schema."""
    try:
        with path.open("rb") as file:
            head = file.read(200)
    except OSError:
        return False
    return b'"schema": "assay/' in head or b'"schema":"assay/' in head


def _folder(path: Path) -> Path:
    return _resolved(path).parent


def _resolved(path: Path) -> Path:
    try:
        return Path(os.path.realpath(path))
    except ValueError:  # a name that no system allows
        return path.absolute()


def _is_folder(path: Path) -> bool:
    status = _status(path)
    return status is not None and stat.S_ISDIR(status.st_mode)


def _status(path: Path) -> os.stat_result | None:
    try:
        return path.stat()
    except (OSError, ValueError):  # not there, a loop of links, a name that no system allows
        return None
