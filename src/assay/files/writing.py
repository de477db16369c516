"""Files that appear whole or not at all, alone or together.

What is written goes to a temporary file beside its target first, `.NAME.xxxxxxxx.part`, which is locked as long as its
process lives and then renamed. A process that is killed leaves at most such files, and the next one that writes the
same target removes them: a part whose lock is free has no owner any more.
"""

import errno
import os
import re
import stat
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from hashlib import sha256
from pathlib import Path
from secrets import token_hex

from assay.errors import UsageError, WriteError, cannot_write
from assay.files.stores.addresses import is_copy
from assay.signals import held

_LONGEST = 200  # bytes of a name that still has room for what makes it temporary
_NO_LINKS = (errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS)  # what file systems without hard links say
_RANDOM = "[0-9a-f]{8}"


class _Batch:
    """Temporary files that wait to be renamed, and folders made for them."""

    def __init__(self) -> None:
        self.parts: dict[Path, tuple[Path, int]] = {}  # by target: the temporary file, and the handle that locks it
        self.folders: list[Path] = []
        self.removed: list[Path] = []  # at the end

    def add(self, path: Path, fill: Callable[[Path], None]) -> None:
        self._drop(path)
        with held():  # what was created is known, or it could not be removed
            try:
                _check_target(path)
                self.parts[path] = _created(path)
            except OSError as error:
                raise cannot_write(path, error, "name a file in an existing folder") from error
        part = self.parts[path][0]
        try:
            fill(part)
            with part.open("rb") as written:
                os.fsync(written.fileno())
        except OSError as error:
            raise cannot_write(path, error, "name another file") from error

    def commit(self) -> None:
        with held():
            stored = [(path, part) for path, (part, _) in self.parts.items() if is_copy(path)]
            if stored:
                from assay.files.stores.commits import commit  # late: few write to a store

                commit(stored)
            for path in list(self.parts):
                part, handle = self.parts[path]
                try:
                    part.replace(path)
                except OSError as error:
                    raise cannot_write(path, error, "name another file") from error
                del self.parts[path]
                os.close(handle)
            for path in self.removed:
                remove_now(path)

    def undo(self) -> None:
        with held():
            for path in list(self.parts):
                self._drop(path)
            for folder in reversed(self.folders):
                with suppress(OSError):  # it is not empty: something else is in it
                    folder.rmdir()

    def _drop(self, path: Path) -> None:
        if path in self.parts:
            part, handle = self.parts.pop(path)
            part.unlink(missing_ok=True)
            os.close(handle)


_open: ContextVar[_Batch | None] = ContextVar("open", default=None)


@contextmanager
def together() -> Iterator[None]:
    """All files that are written inside appear at its end, or none does, and no folder that was made for them."""
    if _open.get() is not None:  # a part of a larger whole
        yield
        return
    batch = _Batch()
    before = _open.set(batch)
    try:
        yield
        batch.commit()
    except BaseException:
        batch.undo()
        raise
    finally:
        _open.reset(before)


def write_whole(path: Path, fill: Callable[[Path], None]) -> None:
    """Let ``fill`` write to a temporary name beside ``path``, then rename: no reader ever sees half a file."""
    if _is_device(path):  # a pipe, a terminal, /dev/null: nothing may take its place
        try:
            fill(path)
        except OSError as error:
            raise cannot_write(path, error, "name another file") from error
        return
    with together():
        batch = _open.get()
        assert batch is not None
        batch.add(path, fill)


def write_bytes(path: Path, data: bytes) -> None:
    """Write a file whole."""
    try:
        write_whole(path, lambda part: _write(part, data))
    except WriteError as error:
        raise error.needing(len(data)) from error.__cause__


def _write(part: Path, data: bytes) -> None:
    part.write_bytes(data)


def staged(path: Path) -> Path:
    """Where the content of a file stands that was written inside `together`: its temporary name until the end."""
    batch = _open.get()
    return path if batch is None or path not in batch.parts else batch.parts[path][0]


def remove_whole(path: Path) -> None:
    """Remove a file; inside `together`, when the others have appeared."""
    if (batch := _open.get()) is None:
        remove_now(path)
    else:
        batch.removed.append(path)


def remove_now(path: Path) -> None:
    """Remove a file, here and in the store that it is a copy from."""
    if is_copy(path):
        from assay.files.stores.commits import take_away  # late: few write to a store

        take_away(path)
    try:
        path.unlink(missing_ok=True)
    except OSError as error:
        raise cannot_write(path, error, "remove it, it does not belong to what was written", how="removed") from error


def write_new(path: Path, data: bytes, mode: int) -> None:
    """Write a file that must not exist; one that appears meanwhile is not replaced."""
    if is_copy(path):
        raise UsageError(
            f"{path}: keys are written to a disk, as whoever can read a store could sign; name a local file, and keep "
            "the key where secrets are kept."
        )
    with held():  # it is small
        try:
            part, handle = _created(path, mode)
        except OSError as error:
            raise cannot_write(path, error, "name a new file in an existing folder") from error
        try:
            _write(part, data)
            os.fsync(handle)
            _name(part, path)
        except OSError as error:
            raise cannot_write(path, error, "name a new file in an existing folder") from error
        finally:
            part.unlink(missing_ok=True)
            os.close(handle)


def make_folder(folder: Path) -> None:
    """A folder for output, with those above it."""
    with held():  # what was made is known, or it could not be removed
        try:
            missing = [place for place in (folder, *folder.parents) if not place.exists()]
            if (batch := _open.get()) is not None:
                batch.folders += reversed(missing)
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise cannot_write(folder, error, "choose another folder", how="made") from error


def _name(part: Path, path: Path) -> None:
    """Give a temporary file its name unless that is taken: then a link fails, where a rename would replace."""
    try:
        os.link(part, path)
    except OSError as error:
        if error.errno not in _NO_LINKS:
            raise
        if path.exists() or path.is_symlink():
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(path)) from error
        part.rename(path)


def remove_parts(path: Path) -> None:
    """Remove temporary files of this target whose process is gone."""
    pattern = _pattern(path)
    with suppress(OSError):
        for found in [entry.path for entry in os.scandir(path.parent) if pattern.fullmatch(entry.name)]:
            _remove_unlocked(Path(found))


def is_part(name: str) -> bool:
    """Whether a name is one of a temporary file."""
    return re.fullmatch(rf"\..+\.{_RANDOM}\.part", name) is not None


def _remove_unlocked(part: Path) -> None:
    with suppress(OSError):  # it is locked, gone, or not ours to open
        handle = os.open(part, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0))
        try:
            _lock(handle, wait=False)
            part.unlink()
        finally:
            os.close(handle)


def _check_target(path: Path) -> None:
    """Raise now what a rename would find out only after others of the batch."""
    with suppress(FileNotFoundError):
        if stat.S_ISDIR(path.lstat().st_mode):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))


def _lock(handle: int, *, wait: bool) -> None:
    if sys.platform != "win32":  # there, a file that is open cannot be removed: that is lock enough
        from fcntl import LOCK_EX, LOCK_NB, flock

        flock(handle, LOCK_EX if wait else LOCK_EX | LOCK_NB)


def _created(path: Path, mode: int = 0o666) -> tuple[Path, int]:
    """A new, locked temporary file for this target, after those of dead processes are gone."""
    remove_parts(path)
    while True:
        part = path.with_name(f"{_stem(path)}{token_hex(4)}.part")
        handle = os.open(part, os.O_RDWR | os.O_CREAT | os.O_EXCL, mode)
        with suppress(OSError):  # a file system without locks
            _lock(handle, wait=True)
        if os.fstat(handle).st_nlink:  # otherwise it was taken for a dead process's before it was locked
            return part, handle
        os.close(handle)


def _stem(path: Path) -> str:
    name = path.name
    return f".{name if len(os.fsencode(name)) <= _LONGEST else sha256(os.fsencode(name)).hexdigest()[:16]}."


def _pattern(path: Path) -> re.Pattern[str]:
    return re.compile(rf"{re.escape(_stem(path))}{_RANDOM}\.part", re.DOTALL)


def _is_device(path: Path) -> bool:
    try:
        mode = path.stat().st_mode
    except (OSError, ValueError):
        return False
    return not (stat.S_ISREG(mode) or stat.S_ISDIR(mode))
