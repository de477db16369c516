"""A store through fsspec: its objects listed, fetched and put, and what goes wrong in one line without a key in it.

fsspec is imported here, and only when an address is used.
"""

import errno
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from secrets import token_hex
from typing import Any

from assay.errors import AssayError, InputError, StoreError, UsageError, WriteError
from assay.files.reading import megabytes
from assay.files.stores.addresses import Address, check_parts
from assay.names import masked, one_line

#: What of an object's description changes when the object does; stores have some of these.
_MARKS = ("ETag", "etag", "generation", "md5Hash", "blob_id", "oid")
_TIMES = ("mtime", "LastModified", "last_modified", "created")  # where there is no mark
_LONGEST = 200  # characters of what a store says
_DENIED = frozenset({"NoCredentialsError", "PartialCredentialsError", "ProfileNotFound", "RefreshError"})
#: Stores without folders, where to make one could make a bucket.
_FLAT = frozenset({"s3", "s3a", "gs", "gcs", "hf", "az", "abfs", "abfss", "adl", "oss", "oci"})
_PATIENCE = 2.0  # seconds for what was interrupted to end
_CLOUD = "pip install 'assay-eval[cloud]'"

Info = Mapping[str, Any]


@contextmanager
def told(address: Address, *, needed: int | None = None, writes: bool = False) -> Iterator[None]:
    """Say what goes wrong with an address in one line: as input that is refused, or a store that failed.

    ``needed`` is how many bytes are written.
    """
    label = one_line(str(address))
    try:
        yield
    except AssayError:
        raise
    except (FileNotFoundError, NotADirectoryError, IsADirectoryError) as error:
        raise InputError(f"{label}: {_missing(error, writes=writes)}.") from None
    except FileExistsError:
        raise StoreError(f"{label}: somebody else has written it meanwhile; look at what is there.") from None
    except Exception as error:  # noqa: BLE001 - the clients of stores raise whatever they like
        raise _failed(label, error, needed, writes=writes) from None
    except BaseException:
        _interrupted()
        raise


def _interrupted() -> None:
    """End what is still under way in the thread of fsspec, which would complain when the process ends."""
    import asyncio

    from fsspec.asyn import get_loop

    async def cancel() -> None:
        for task in asyncio.all_tasks():
            if task is not asyncio.current_task():
                task.cancel()

    with suppress(TimeoutError):
        asyncio.run_coroutine_threadsafe(cancel(), get_loop()).result(timeout=_PATIENCE)


def _missing(error: OSError, *, writes: bool) -> str:
    if "bucket" in str(error).lower() and "exist" in str(error):
        return "there is no such bucket; check its name, and the store's address (AWS_ENDPOINT_URL)"
    if writes:
        return f"cannot be written ({said(error)}); check the address"
    return "nothing is there; check the address"


def _failed(label: str, error: Exception, needed: int | None, *, writes: bool) -> AssayError:
    size = "" if needed is None else f", {megabytes(needed)} of room needed"
    if isinstance(error, PermissionError) or type(error).__name__ in _DENIED:
        may = "written" if writes else "read"
        return InputError(f"{label}: may not be {may} ({said(error)}); check the store's keys and permissions.")
    if writes:
        return StoreError(f"{label}: cannot be written ({said(error)}{size}); nothing was committed. Try again.")
    number = getattr(error, "errno", None)
    if number in (errno.ENOSPC, errno.EDQUOT):
        return WriteError(f"{label}: no room for its copy ({said(error)}{size}); make room, or set TMPDIR.")
    return StoreError(f"{label}: cannot be read ({said(error)}); try again when the store answers.")


def said(error: BaseException) -> str:
    """What a store said, on one line, without keys."""
    text = str(error) or type(error).__name__
    return masked(one_line(" ".join(text.split())))[:_LONGEST].rstrip(". ")


def filesystem(address: Address) -> tuple[Any, str]:
    """The store of an address, and what it calls the place."""
    try:
        from fsspec.core import url_to_fs
    except ImportError:
        raise InputError(f"{address}: stores need the extra cloud (fsspec is missing): {_CLOUD}.") from None
    try:
        store, path = url_to_fs(str(address))
    except ImportError as error:
        what = said(error)
        then = _CLOUD if address.scheme in ("s3", "s3a") else f"install it beside the extra cloud ({_CLOUD})"
        raise InputError(f"{address}: this store needs another package ({what}): {then}.") from None
    except ValueError as error:
        raise UsageError(f"{address}: not an address of a store ({said(error)}).") from None
    store.invalidate_cache()  # what others write meanwhile must be seen
    return store, str(path)


def looked_up(address: Address) -> Info | None:
    """What is at an address: a file or a directory; ``None`` for nothing."""
    store, path = filesystem(address)
    with told(address):
        try:
            found: Info = store.info(path)
        except FileNotFoundError as error:
            if "bucket" in str(error).lower() and "exist" in str(error):
                raise
            return None
        return found


def files_below(address: Address, *, hidden: bool = False) -> dict[Address, Info]:
    """The files in a folder and those in it; markers of empty folders are none."""
    store, path = filesystem(address)
    with told(address):
        found = store.find(path, detail=True)
    return _files(address.scheme, found, hidden=hidden, above=address.path)


def files_like(address: Address) -> dict[Address, Info]:
    """The files that a pattern means."""
    store, path = filesystem(address)
    with told(address):
        found = store.glob(path, detail=True)
    return _files(address.scheme, found, hidden=True)


def _files(scheme: str, found: Mapping[str, Info], *, hidden: bool, above: str = "") -> dict[Address, Info]:
    files = {}
    for name, info in found.items():
        path = name.strip("/")
        if info.get("type") != "file" or name.endswith("/") or path == above:
            continue
        parts = path.removeprefix(above).strip("/").split("/")
        if hidden or not any(part.startswith(".") for part in parts):
            address = Address(scheme, path)
            check_parts(address)
            files[address] = info
    return dict(sorted(files.items(), key=lambda one: one[0].path))


def fetched(address: Address, info: Info, target: Path) -> None:
    """Copy an object here; one that changes meanwhile, or comes in part, is refused."""
    store, path = filesystem(address)
    size = int(info.get("size") or 0)
    target.parent.mkdir(parents=True, exist_ok=True)
    part = target.with_name(f".{token_hex(8)}.coming")
    try:
        with told(address, needed=size):
            store.get_file(path, str(part))
            store.invalidate_cache()
            now: Info = store.info(path)
        came = part.stat().st_size if part.exists() else 0
        if state_of(info) != state_of(now):
            raise InputError(f"{one_line(str(address))}: changed while it was read; wait until it is written.")
        if came != size:
            raise StoreError(f"{one_line(str(address))}: only {came:,} of {size:,} bytes came; try again.")
        part.replace(target)
    finally:
        part.unlink(missing_ok=True)


def state_of(info: Info) -> tuple[tuple[str, str], ...]:
    """The size of an object and what tells its versions apart: a mark of the store, or else a time."""
    known = [name for name in _MARKS if info.get(name) is not None] or [name for name in _TIMES if info.get(name)]
    told_by = [(name, info[name]) for name in known[:1]]
    return (
        ("size", str(int(info.get("size") or 0))),
        *((name, str(value.timestamp() if hasattr(value, "timestamp") else value)) for name, value in told_by),
    )


def put(source: Path, address: Address) -> None:
    """Put a file there, whole, and look whether all of it came."""
    store, path = filesystem(address)
    size = source.stat().st_size
    with told(address, needed=size, writes=True):
        if address.scheme not in _FLAT:
            store.makedirs(path.rpartition("/")[0], exist_ok=True)
        store.put_file(str(source), path)
        store.invalidate_cache()
        there = int(store.info(path).get("size") or 0)
    if there != size:
        raise StoreError(f"{one_line(str(address))}: only {there:,} of {size:,} bytes are there; try again.")


def copied_to(source: Address, info: Info, target: Address) -> None:
    """Copy an object within a store, which does it itself where it can."""
    store, path = filesystem(source)
    size = int(info.get("size") or 0)
    with told(target, needed=size, writes=True):
        try:
            store.cp_file(path, filesystem(target)[1])
        except NotImplementedError:  # then through here
            fetched(source, info, target.copy)
            put(target.copy, target)
        store.invalidate_cache()
        there = int(store.info(filesystem(target)[1]).get("size") or 0)
    if there != size:
        raise StoreError(f"{one_line(str(target))}: only {there:,} of {size:,} bytes are there; try again.")


def put_new(data: bytes, address: Address) -> bool:
    """Put a small object that must not be there; ``False`` if it is.

    S3 and Google's store decide that themselves, so that of two who try one succeeds; others look first.
    """
    store, path = filesystem(address)
    with told(address, needed=len(data), writes=True):
        try:
            store.pipe_file(path, data, mode="create")
        except FileExistsError:
            return False
        except (TypeError, NotImplementedError):  # a store without such a mode
            if store.exists(path):
                return False
            store.pipe_file(path, data)
    return True


def put_small(data: bytes, address: Address) -> None:
    store, path = filesystem(address)
    with told(address, needed=len(data), writes=True):
        store.pipe_file(path, data)


def small(address: Address) -> bytes | None:
    """A small object; ``None`` if it is not there."""
    store, path = filesystem(address)
    with told(address):
        try:
            data: bytes = store.cat_file(path)
        except FileNotFoundError:
            return None
        return data


def removed(address: Address) -> None:
    """Remove an object, if it is there."""
    store, path = filesystem(address)
    with told(address, writes=True), suppress(FileNotFoundError):
        store.rm_file(path)


def check_room(address: Address, needed: int, folder: Path) -> None:
    """Refuse what does not fit on this disk, before any of it is copied."""
    free = shutil.disk_usage(folder).free
    if needed > free:
        raise WriteError(
            f"{one_line(str(address))}: {megabytes(needed)} to copy, and {folder.parent} has {megabytes(free)} of "
            "room; make room, or set TMPDIR to a folder on another disk."
        )
