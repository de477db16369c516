"""Where output may go, and how a folder takes the place of another.

Output never goes over what is read, into a run, or twice to one place. A folder of ours that replaces another is made
beside it, then swapped: `.NAME.new` is the one that is being made, `.NAME.old` the one that is being taken away. The
old one is moved aside only when the new one is complete, and a kill between any two steps is mended by the next command
that writes there.
"""

import json
import os
import stat
from collections.abc import Callable, Iterable, Set
from dataclasses import dataclass
from os import PathLike
from pathlib import Path

from assay.errors import InputError, UsageError, cannot_write
from assay.files.manifests import RUNS
from assay.files.writing import is_part, remove_now
from assay.names import one_line
from assay.signals import held

_LARGEST = 1 << 20  # bytes of a manifest
_PAGES = frozenset({".html", ".md", ".svg", ".png"})  # no verb reads these as data

AnyPath = str | PathLike[str]


def check_outputs(outputs: Iterable[AnyPath | None], inputs: Iterable[object] = ()) -> None:
    """Refuse to write over what is read, into a run, or two outputs to one file, before anything is computed.

    Files are the same if their resolved paths are, or if the system says so (links of both kinds). ``inputs`` may be
    NAME=PATH; what is not a path, such as a data frame, is ignored.
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
    """The path in NAME=PATH, or the path itself."""
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


# -------------------------------------------------------------------------------------------------- replacing a folder


@dataclass(frozen=True, slots=True)
class Owner:
    """Whose folder it is: what messages call it, and the files that its manifest accounts for, as relative paths.

    ``files`` gives ``None`` for a folder without a manifest of ours.
    """

    what: str
    manifest: str
    files: Callable[[Path], set[str] | None]
    begun: frozenset[str] = frozenset()  # what may be there before the manifest is


def replacement(folder: Path) -> Path:
    """Where the folder that shall take its place is made."""
    place = Path(os.path.realpath(folder))
    return place.with_name(f".{place.name}.new")


def _old(folder: Path) -> Path:
    place = Path(os.path.realpath(folder))
    return place.with_name(f".{place.name}.old")


def check_replaceable(folder: Path, owner: Owner) -> None:
    """Refuse to replace a folder that is not ours, or in which there is something that is not."""
    owned = owner.files(folder) if folder.is_dir() else None
    if owned is None:
        raise InputError(f"{folder}: not a {owner.what}, and only a {owner.what} is overwritten; name another folder.")
    foreign = _foreign(folder, owned)
    if foreign:
        names = ", ".join(one_line(name) for name in foreign[:3]) + (", …" if len(foreign) > 3 else "")
        raise InputError(
            f"{folder}: holds files that are not of the {owner.what} ({names}); move them away, or name another folder."
        )
    if Path(os.path.realpath(folder)) in (here := Path.cwd(), *here.parents):
        raise UsageError(f"{folder}: the folder you are in cannot be replaced; run the command from another one.")


def check_begun(folder: Path, owner: Owner) -> None:
    """Refuse a folder without a manifest that holds more than a kill before the manifest leaves."""
    if not folder.exists():
        return
    foreign = _foreign(folder, owner.begun) if folder.is_dir() else ["not a folder"]
    if foreign:
        raise InputError(f"{folder}: exists and is not a {owner.what} ({one_line(foreign[0])}); name another folder.")


def swap(folder: Path, owner: Owner) -> None:
    """Put the new folder in the place of the old one, and remove the old one."""
    place, new, old = Path(os.path.realpath(folder)), replacement(folder), _old(folder)
    with held():
        try:
            if place.exists():
                discard(old, owner)
                place.rename(old)
            new.rename(place)
        except OSError as error:
            recover(folder, owner)
            raise cannot_write(folder, error, "name another folder") from error
        discard(old, owner)


def recover(folder: Path, owner: Owner) -> None:
    """Mend what a kill in the middle of `swap` left: the old folder comes back, or goes for good."""
    place, old = Path(os.path.realpath(folder)), _old(folder)
    if not old.is_dir():
        return
    if place.exists():
        discard(old, owner)
    else:
        old.rename(place)


def discard(folder: Path, owner: Owner) -> None:
    """Remove a folder that was made or moved aside by us: its own files, and itself if nothing else is in it."""
    if not folder.is_dir():
        return
    owned = owner.files(folder)
    known = owner.begun if owned is None else owned
    # Its manifest goes last, and before it those of folders inside: while they are there, the rest is known to be ours.
    for name in sorted(_files(folder), key=lambda name: (name == owner.manifest, name.endswith(".json"), name)):
        if _is_ours(name, known):
            remove_now(folder / name)
    for place, _, _ in os.walk(folder, topdown=False):
        if not os.listdir(place):  # noqa: PTH208 - only whether there is anything
            Path(place).rmdir()


def _files(folder: Path) -> list[str]:
    return [path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_symlink() or not path.is_dir()]


def _foreign(folder: Path, owned: Set[str]) -> list[str]:
    return sorted(name for name in _files(folder) if not _is_ours(name, owned))


def _is_ours(name: str, known: Set[str]) -> bool:
    return name in known or is_part(name.rpartition("/")[2]) or any(name.startswith(k) for k in known if k[-1] == "/")
