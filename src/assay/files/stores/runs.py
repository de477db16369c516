"""Runs in a store: shards are put as they are finished, the manifest last. Without its manifest a run is none.

Until then the manifest stands in `.run.json.unfinished`, and with it any machine can go on after the shards that are
there.

A run that shall replace another, NAME, is made in `.NAME.new`. When it is complete there, the other one goes: first its
manifest, so that it is no run any more, then its shards; those of the new one are copied to their place, the manifest
last. Whoever writes NAME next finishes what a kill cut off in between, as long as the new one is complete.
"""

import shutil
from pathlib import Path

from assay.errors import InputError
from assay.files.places import replacement
from assay.files.stores.addresses import Address, address_of
from assay.files.stores.commits import begun_runs
from assay.files.stores.copies import unfinished
from assay.files.stores.leases import check_leases, hold, release
from assay.files.stores.objects import Info, copied_to, fetched, files_below, put_new, put_small, removed, small
from assay.names import one_line
from assay.progress import counted

_MANIFEST = "run.json"
_UNFINISHED = unfinished(_MANIFEST)
_WINDOWS = "windows-"
_NEW = ".new"  # how the name of a replacement ends


def begin_run(folder: Path, *, overwrite: bool) -> None:
    """Before a run is made or resumed: nobody else may write it, and what is there of it is copied here.

    Of one that is overwritten, only what it consists of is known here.
    """
    address = address_of(str(folder))
    if address is None or folder in begun_runs:
        return
    _check_ours(address)
    hold(folder, folder=True)
    _swapped(address)  # what a kill cut off
    found = files_below(address, hidden=True)  # only now: until then somebody else may have written
    manifest = next((one for one in (address.below(_MANIFEST), address.below(_UNFINISHED)) if one in found), None)
    begun_runs.add(folder)
    if manifest is None:
        _emptied(found)
        return
    fetched(manifest, found[manifest], folder / _MANIFEST)
    _known(folder, found, fetch=not overwrite)


def _known(folder: Path, found: dict[Address, Info], *, fetch: bool) -> None:
    """Copy the shards of a run here; of others, and of one that is overwritten, only that they are there."""
    shards = [one for one in found if fetch and one.name.startswith(_WINDOWS)]
    for one in found:
        if one not in shards and not one.name.startswith(".") and one.name != _MANIFEST:
            one.copy.parent.mkdir(parents=True, exist_ok=True)
            one.copy.touch()
    for one in counted(shards, f"resuming {one_line(folder.name)}", "shards"):
        fetched(one, found[one], one.copy)


def _check_ours(address: Address) -> None:
    """Refuse a place that holds something else than a run, or one that was begun."""
    names = {one.name for one in files_below(address, hidden=True)}
    ours = names & {_MANIFEST, _UNFINISHED} or all(_is_lease(name) for name in names)
    if not ours and not _is_replacement(address):
        raise InputError(f"{one_line(str(address))}: exists and is not a run; name another folder.")


def _is_lease(name: str) -> bool:
    return name.startswith(".writer-")


def _is_replacement(address: Address) -> bool:
    return address.name.startswith(".") and address.name.endswith(_NEW)


def _emptied(found: dict[Address, Info]) -> None:
    """Remove what a kill left of a replacement whose manifest is gone."""
    for one in found:
        if not _is_lease(one.name):
            removed(one)


def finish_run(folder: Path) -> None:
    """Put the manifest of a run whose shards are all there: from now on it is one."""
    address = address_of(str(folder))
    if address is None or folder not in begun_runs:
        return
    check_leases([folder])
    data = (folder / _MANIFEST).read_bytes()
    manifest = address.below(_MANIFEST)
    if not put_new(data, manifest) and small(manifest) != data:  # a run that was complete already, and says more now
        put_small(data, manifest)
    removed(address.below(_UNFINISHED))
    release(folder)
    begun_runs.discard(folder)


def replace_run(folder: Path) -> None:
    """Let a replacement that is complete take the place of a run, in the store and here."""
    address = address_of(str(folder))
    assert address is not None  # only copies come here
    check_leases([folder])
    _swapped(address)
    shutil.rmtree(folder)
    replacement(folder).rename(folder)
    release(folder)
    begun_runs.discard(folder)


def _swapped(address: Address) -> None:
    """Move a replacement that is complete to its place; every step may be taken again after a kill."""
    new = address.parent.below(f".{address.name}{_NEW}")
    found = {one: info for one, info in files_below(new, hidden=True).items() if not _is_lease(one.name)}
    manifest = new.below(_MANIFEST)
    data = small(manifest) if manifest in found else None
    if data is None:
        return
    put_small(data, address.below(_UNFINISHED))
    removed(address.below(_MANIFEST))
    for one in files_below(address):
        removed(one)
    shards = [one for one in found if one != manifest and not one.name.startswith(".")]
    for one in counted(shards, f"replacing {one_line(address.name)}", "shards"):
        copied_to(one, found[one], address.below(one.name))
    put_small(data, address.below(_MANIFEST))
    removed(address.below(_UNFINISHED))
    removed(manifest)  # first: what is left without it is removed by the next replacement
    for one in found:
        removed(one)
