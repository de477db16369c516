"""A folder of ours that takes the place of another: made beside it, then swapped.

`.NAME.new` is the one that is being made, `.NAME.old` the one that is being taken away. The old one is moved aside only
when the new one is complete, and a kill between any two steps is mended by the next command that writes there.
"""

import os
from collections.abc import Callable, Set
from dataclasses import dataclass
from pathlib import Path

from assay.errors import InputError, UsageError, cannot_write
from assay.files.writing import is_part
from assay.names import one_line
from assay.signals import held


@dataclass(frozen=True, slots=True)
class Owner:
    """Whose folder it is: what messages call it, and the files that its manifest accounts for, as relative paths.

    ``files`` gives ``None`` for a folder without a manifest of ours.
    """

    what: str
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
    """Refuse a folder without a manifest in which there is anything but what a kill before the manifest leaves."""
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
    # The manifest goes last: while it is there, the rest is known to be ours.
    for name in sorted(_files(folder), key=lambda name: ("/" not in name and name.endswith(".json"), name)):
        if _is_ours(name, known):
            (folder / name).unlink(missing_ok=True)
    for place, _, _ in os.walk(folder, topdown=False):
        if not os.listdir(place):  # noqa: PTH208 - only whether there is anything
            Path(place).rmdir()


def _files(folder: Path) -> list[str]:
    return [path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_symlink() or not path.is_dir()]


def _foreign(folder: Path, owned: Set[str]) -> list[str]:
    return sorted(name for name in _files(folder) if not _is_ours(name, owned))


def _is_ours(name: str, known: Set[str]) -> bool:
    return name in known or is_part(name.rpartition("/")[2]) or any(name.startswith(k) for k in known if k[-1] == "/")
