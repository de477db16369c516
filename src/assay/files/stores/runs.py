"""Runs in a store: shards are put as they are finished, the manifest last. Without its manifest a run is none.

Until then the manifest stands in `.run.json.unfinished`, and with it any machine can go on after the shards that are
there.
"""

from pathlib import Path

from assay.errors import InputError, UsageError
from assay.files.stores.addresses import Address, address_of
from assay.files.stores.commits import begun_runs
from assay.files.stores.copies import UNFINISHED
from assay.files.stores.leases import check_leases, hold, release
from assay.files.stores.objects import fetched, files_below, put_new, put_small, removed, small
from assay.names import one_line
from assay.progress import counted

_MANIFEST = "run.json"
_WINDOWS = "windows-"


def begin_run(folder: Path, *, overwrite: bool) -> None:
    """Before a run is made or resumed: nobody else may write it, and what is there of it is copied here."""
    address = address_of(str(folder))
    if address is None or folder in begun_runs:
        return
    if not files_below(address, hidden=True) or _is_ours(address, overwrite=overwrite):
        hold(folder, folder=True)
    found = files_below(address, hidden=True)  # again: until now somebody else may have written
    manifest = next((one for one in (address.below(_MANIFEST), address.below(UNFINISHED)) if one in found), None)
    begun_runs.add(folder)
    if manifest is None:
        return
    fetched(manifest, found[manifest], folder / _MANIFEST)
    shards = [one for one in found if one.name.startswith(_WINDOWS)]
    for one in counted(shards, f"resuming {one_line(folder.name)}", "shards"):
        fetched(one, found[one], one.copy)


def _is_ours(address: Address, *, overwrite: bool) -> bool:
    names = {one.name for one in files_below(address, hidden=True)}
    label = one_line(str(address))
    if names & {_MANIFEST, UNFINISHED}:
        if overwrite:
            raise UsageError(
                f"{label}: `overwrite=True` replaces runs on a disk only; remove this one with the store's own tool, "
                "or name another folder."
            )
        return True
    if all(name.startswith(".writer-") for name in names):
        return True
    raise InputError(f"{label}: exists and is not a run; name another folder.")


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
    removed(address.below(UNFINISHED))
    release(folder)
    begun_runs.discard(folder)
