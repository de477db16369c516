"""What is written goes to the store when all of it is complete, in the order in which it was written.

Each object appears whole. Files that belong together are put one after the other, the one that names the others last;
if one of them fails, those before it become again what they were.
"""

from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from assay.errors import AssayError, InputError, StoreError
from assay.files.stores.addresses import Address, address_of
from assay.files.stores.copies import unfinished
from assay.files.stores.leases import check_leases
from assay.files.stores.objects import fetched, looked_up, put, removed
from assay.names import one_line
from assay.progress import counted

_MANIFEST = "run.json"
#: Runs that are being written: their manifests are put last.
begun_runs: set[Path] = set()


def commit(files: Sequence[tuple[Path, Path]]) -> None:
    """Put files in the store: pairs of the copy that each shall become, and the temporary file that has its content."""
    check_leases([target for target, _ in files])
    wanted = [(_address(target), source) for target, source in files]
    before = _what_was_there(wanted)
    done: list[Address] = []
    try:
        for address, source in counted(wanted, "writing to the store", "files"):
            done.append(address)
            put(source, address)
    except AssayError as error:
        left = [one for one in done[:-1] if not _undone(one, before.get(one))]
        if left:
            names = ", ".join(one_line(str(one)) for one in left)
            raise type(error)(f"{error} But {names} could not be taken back: run the same command again.") from None
        raise
    finally:
        for copy in before.values():
            copy.unlink(missing_ok=True)


def _address(target: Path) -> Address:
    address = address_of(str(target))
    assert address is not None  # only copies come here
    pending = target.name == _MANIFEST and target.parent in begun_runs
    return address.parent.below(unfinished(_MANIFEST)) if pending else address


def _what_was_there(wanted: Sequence[tuple[Address, Path]]) -> dict[Address, Path]:
    """Copies of objects that are replaced before others are: all but the last."""
    kept = {}
    for address, source in wanted[:-1]:
        info = looked_up(address)
        if info is not None and info.get("type") == "file":
            kept[address] = source.with_name(f"{source.name}.before")
            fetched(address, info, kept[address])
    return kept


def _undone(address: Address, before: Path | None) -> bool:
    with suppress(InputError, StoreError):
        if before is None:
            removed(address)
        else:
            put(before, address)
        return True
    return False


def take_away(path: Path) -> None:
    """Remove what a copy stands for."""
    removed(_address(path))
