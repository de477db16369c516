"""A folder that is filled on a disk and kept in a store: checkpoints and weights, which other libraries write.

It is made in a temporary folder here. At moments when it is whole (after a checkpoint, at the end) what has changed is
put there, in an order in which a kill between two files does no harm, so that another machine can go on. The manifest
comes last, as `.NAME.unfinished` until the end: what has no manifest is no run. What replaces another is made beside
it, `.NAME.new`, and that is kept as well.
"""

import shutil
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from assay.errors import AssayError, InputError
from assay.files.places import replacement
from assay.files.stores.addresses import Address
from assay.files.stores.copies import unfinished
from assay.files.stores.doors import stores_open
from assay.files.stores.leases import check_leases, hold, release
from assay.files.stores.objects import check_room, fetched, files_below, put, put_small, removed, small
from assay.files.writing import is_part
from assay.names import one_line
from assay.progress import counted

_LEASE = ".writer-"


@dataclass(frozen=True, slots=True)
class Mirrored:
    """What is known of a kind of folder: its manifest, what is put after all else, and what is not put."""

    what: str
    manifest: str
    last: Sequence[str]  # names, in the order in which they are put
    passing: Sequence[str]  # how the paths begin of what nobody else needs


@dataclass
class _Side:
    """A folder here, its place in the store, and which files are the same on both sides."""

    folder: Path
    place: Address
    kind: Mirrored
    same: dict[str, tuple[int, int]] = field(default_factory=dict)  # by relative path: size, time

    @property
    def pending(self) -> Address:
        return self.place.below(unfinished(self.kind.manifest))

    @property
    def manifest(self) -> Address:
        return self.place.below(self.kind.manifest)

    def bring(self) -> None:
        found = {one: info for one, info in files_below(self.place, hidden=True).items() if one.name[:8] != _LEASE}
        check_room(self.place, sum(int(info.get("size") or 0) for info in found.values()), self.folder.parent)
        for one in counted(list(found), f"resuming {one_line(self.folder.name)}", "files"):
            name = one.path.removeprefix(f"{self.place.path}/")
            if one == self.pending:
                name = self.kind.manifest
            if name != self.kind.manifest or one == self.pending or self.pending not in found:
                fetched(one, found[one], self.folder / name)
        self.same = self._states()

    def _states(self) -> dict[str, tuple[int, int]]:
        every = {path.relative_to(self.folder).as_posix(): path for path in self.folder.rglob("*") if path.is_file()}
        found = {name: path.stat() for name, path in every.items() if not self._passes(name)}
        order = {name: place for place, name in enumerate((*self.kind.last, self.kind.manifest), start=1)}
        names = sorted(found, key=lambda name: (order.get(name.rpartition("/")[2], 0), name))
        return {name: (found[name].st_size, found[name].st_mtime_ns) for name in names}

    def _passes(self, name: str) -> bool:
        return is_part(name.rpartition("/")[2]) or any(name.startswith(one) for one in self.kind.passing)

    def put(self) -> None:
        """Put what has changed here, and remove what is gone."""
        now = self._states()
        changed = [name for name, state in now.items() if self.same.get(name) != state]
        for name in counted(changed, f"keeping {one_line(self.folder.name)}", "files"):
            put(self.folder / name, self.pending if name == self.kind.manifest else self.place.below(name))
        for name in self.same.keys() - now.keys():
            removed(self.place.below(name))
        self.same = now

    def complete(self) -> None:
        """Put all of it, and its manifest last; another run that was there goes first, its manifest before all else."""
        data, there = (self.folder / self.kind.manifest).read_bytes(), small(self.manifest)
        if there not in (None, data):
            put_small(data, self.pending)
            removed(self.manifest)
            self.remove(but=self.pending)
        self.put()
        if there != data:
            put_small(data, self.manifest)
        removed(self.pending)

    def remove(self, but: Address | None = None) -> None:
        """Remove all that is there, what says that it is a run first."""
        found = [one for one in files_below(self.place, hidden=True) if one.name[:8] != _LEASE and one != but]
        for one in sorted(found, key=lambda one: one not in (self.manifest, self.pending)):
            removed(one)
        self.same = {}


@contextmanager
def mirrored(address: Address, kind: Mirrored) -> Iterator[tuple[Path, Callable[[], None]]]:
    """A folder here that is kept in a store: its path, and what puts it there.

    At the end of the block it is complete there. If the block fails, what was put stays, and the next one goes on.
    """
    with stores_open(for_good=True):
        _check_ours(address, kind)
        hold(address.copy, folder=True)
        work = Path(tempfile.mkdtemp(prefix="assay-mirror-")).resolve()
        try:
            folder = work / address.name
            sides = [_Side(folder, address, kind)]
            sides.append(_Side(replacement(folder), address.parent.below(replacement(folder).name), kind))
            for side in sides:
                side.bring()

            def keep() -> None:
                check_leases([address.copy])
                for side in sides:
                    side.put()

            yield folder, keep
            check_leases([address.copy])
            sides[0].complete()
            sides[1].remove()
        except AssayError as error:
            error.args = tuple(
                one.replace(str(work), str(address.parent)) if isinstance(one, str) else one for one in error.args
            )
            raise
        finally:
            shutil.rmtree(work, ignore_errors=True)
            release(address.copy)


def _check_ours(address: Address, kind: Mirrored) -> None:
    """Refuse a place that holds something else."""
    names = {one.path.removeprefix(f"{address.path}/") for one in files_below(address, hidden=True)}
    begun = {kind.manifest, unfinished(kind.manifest)}
    known = all(name.startswith(_LEASE) or name in kind.last for name in names)
    if not names & begun and not known:
        raise InputError(f"{one_line(str(address))}: exists and is not a {kind.what}; name another folder.")
