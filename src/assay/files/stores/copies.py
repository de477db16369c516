"""What is read from a store is copied here first, whole and checked, so that every reader finds it as on a disk."""

from collections.abc import Mapping
from contextlib import suppress
from difflib import get_close_matches
from pathlib import Path
from threading import Lock

from assay.errors import InputError, StoreError, UsageError
from assay.files.manifests import RUNS
from assay.files.stores.addresses import Address, address_of, copies_in_use
from assay.files.stores.objects import (
    Info,
    check_room,
    fetched,
    files_below,
    files_like,
    filesystem,
    looked_up,
    state_of,
    told,
)
from assay.names import one_line
from assay.progress import counted

MOST_FILES = 10_000
_MANIFEST = "run.json"
_MADE_BY = {"run.json": "assay score", "training.json": "assay tune run"}
_LATER = "tokens-"  # shards that few verbs read, and the largest
#: What verbs read again of what they write; of anything else that is there, only that it is.
_READ_AGAIN = (".json", ".jsonl", ".ndjson", ".sh", ".unfinished")

_lock = Lock()  # of verbs in several threads, one copies at a time
_have: dict[Path, tuple[tuple[str, str], ...]] = {}  # copies, by the state of their objects


def unfinished(manifest: str) -> str:
    """Where a run's manifest stands until the run is complete."""
    return f".{manifest}.unfinished"


def forget_copies() -> None:
    _have.clear()


def brought(address: Address) -> Path:
    """The copy of a file, a folder, or all files that a pattern means."""
    if address.is_pattern:
        found = files_like(address)
        if not found:
            raise InputError(f"{one_line(str(address))}: no object has such a name; check the pattern.")
    else:
        info = looked_up(address)
        if info is None:
            raise InputError(f"{one_line(str(address))}: nothing is there; {_nearest(address)}")
        found = _folder(address) if info.get("type") == "directory" else {**_beside(address), address: info}
    _copied(address, found)
    return address.copy


def _folder(address: Address) -> dict[Address, Info]:
    """The files of a folder; of a run those that every verb needs."""
    found = files_below(address, hidden=True)
    for name, verb in _MADE_BY.items():
        for one in found:
            if one.name == unfinished(name) and one.parent.below(name) not in found:
                raise InputError(
                    f"{one_line(str(one.parent))}: the run is not complete, as its manifest is not there yet; run the "
                    f"same `{verb}` again to finish it."
                )
    manifest = address.below(_MANIFEST)
    found = {one: info for one, info in found.items() if not one.name.startswith(".")}
    if manifest in found:
        found = {one: info for one, info in found.items() if not one.name.startswith(_LATER)}
    if not found:
        raise InputError(f"{one_line(str(address))}: nothing is there; check the address.")
    return found


def _beside(address: Address) -> dict[Address, Info]:
    """What belongs to a JSON file, such as the evidence of a certificate: files beside it that begin as it does."""
    stem, dot, ending = address.name.rpartition(".")
    if not dot or ending != "json":
        return {}
    with suppress(InputError, StoreError):  # who may read an object need not be allowed to list others
        return files_like(address.parent.below(f"{stem}.*"))
    return {}


def _nearest(address: Address) -> str:
    if "/" not in address.path:
        return "check the name of the bucket."
    store, path = filesystem(address.parent)
    names: list[str] = []
    with suppress(InputError, StoreError), told(address.parent):
        names = [str(name).rstrip("/").rpartition("/")[2] for name in store.ls(path, detail=False)]
    close = get_close_matches(address.name, names, n=1)
    return f"did you mean {one_line(close[0])!r}?" if close else "check the address."


def brought_too(folder: Path, start: str) -> None:
    """Copy the files of a run that begin with this as well, if it is the copy of one."""
    address = address_of(str(folder))
    if address is None or copies_in_use() is None:
        return
    found = files_below(address)
    _copied(address, {one: info for one, info in found.items() if one.name.startswith(start)})


def brought_again(path: Path) -> None:
    """Copy the file that a path is the copy of, if it is there; what was here of it before is out of date."""
    address = address_of(str(path))
    info = None if address is None else looked_up(address)
    if address is not None and info is not None and info.get("type") == "file":
        _copied(address, {address: info})


def _copied(address: Address, found: Mapping[Address, Info]) -> None:
    if len(found) > MOST_FILES:
        raise InputError(f"{one_line(str(address))}: more than {MOST_FILES:,} files; name those you mean by a pattern.")
    with _lock:
        wanted = {one: info for one, info in found.items() if _have.get(one.copy) != state_of(info)}
        root = copies_in_use()
        if root is not None:
            check_room(address, sum(int(info.get("size") or 0) for info in wanted.values()), root)
        for one in counted(list(wanted), f"reading {one_line(address.name)}", "files"):
            fetched(one, wanted[one], one.copy)
            _have[one.copy] = state_of(wanted[one])


# ------------------------------------------------------------------------------------------------------------- outputs


def prepared(address: Address) -> Path:
    """Where output for an address is written: what is there already, and what belongs to it, is known here as well."""
    if address.is_pattern:
        raise UsageError(f"{one_line(str(address))}: name one file to write, without * ? or [.")
    if "/" not in address.path:
        raise UsageError(f"{one_line(str(address))}: a whole bucket; name a file in it to write.")
    info = looked_up(address)
    address.copy.parent.mkdir(parents=True, exist_ok=True)
    if info is not None and info.get("type") == "directory":
        address.copy.mkdir(exist_ok=True)
    else:
        _known({} if info is None else {address: info})
        _known(_belonging(address))
    _known_runs(address.parent)
    return address.copy


def _belonging(address: Address) -> dict[Address, Info]:
    stem = address.name.rpartition(".")[0] or address.name
    found: dict[Address, Info] = {}
    for pattern in (f"{stem}.*", f".{address.name}.*"):
        with suppress(InputError, StoreError):  # who may write need not be allowed to list
            found |= files_like(address.parent.below(pattern))
    return found


def _known(found: Mapping[Address, Info]) -> None:
    for one, info in found.items():
        if one.name.endswith(_READ_AGAIN):
            _copied(one, {one: info})
        else:
            one.copy.touch()


def _known_runs(folder: Address) -> None:
    """Copy the manifests of runs above: nothing is written into a run."""
    while folder.path:
        for name in RUNS:
            with suppress(InputError, StoreError):
                info = looked_up(folder.below(name))
                if info is not None:
                    _copied(folder, {folder.below(name): info})
        folder = folder.parent
