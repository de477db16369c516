"""The gate that every file passes before it is read: a regular file, not too large, and not a pointer to another.

Pipes, devices and sockets can block or never end, so they are refused before a byte is read. Each kind of file has a
largest size, stated in the message together with what to do beyond it.
"""

import errno
import os
import stat
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from assay.errors import InputError
from assay.names import one_line


@dataclass(frozen=True, slots=True)
class Limit:
    """The largest size of a kind of file, in bytes."""

    bytes: int
    what: str
    beyond: str  # what to do with a larger one


#: Tables are streamed, so that their size is a matter of time rather than of memory.
TABLE = Limit(100_000_000_000, "a table", "split it into several files")
#: JSON lines, read one by one: of each only the fields that are asked for stay in memory.
LINES = Limit(20_000_000_000, "a file of JSON lines", "split it, or convert what you need of it to Parquet")
#: A JSON document is in memory as a whole, at several times its size.
DOCUMENT = Limit(250_000_000, "a JSON document", "write it as JSON lines, or convert what you need of it to Parquet")
#: A ZIP archive; what may come out of it has limits of its own.
ARCHIVE = Limit(10_000_000_000, "an archive", "split the run into several logs")
#: Policies, targets, keys and signatures.
SETTINGS = Limit(1_000_000, "such a file", "check that it is the file you mean")

_KINDS: tuple[tuple[Callable[[int], bool], str], ...] = (
    (stat.S_ISDIR, "a directory"),
    (stat.S_ISFIFO, "a pipe"),
    (stat.S_ISSOCK, "a socket"),
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
)
_POINTER = b"version https://git-lfs.github.com/spec/"
#: A pipe that takes the place of a file between the look and the opening must not block.
_FLAGS = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)


def opened(path: Path, limit: Limit, *, label: str | None = None) -> BinaryIO:
    """A regular file of a bearable size, opened for reading; anything else is refused before it is read."""
    label = label or one_line(str(path))
    try:
        _check_kind(path.stat(), label)
        file = os.fdopen(os.open(path, _FLAGS), "rb")
    except (OSError, ValueError) as error:
        raise cannot_open(label, error) from error
    try:
        _check_content(file, limit, label)
    except BaseException:
        file.close()
        raise
    return file


def head_of(path: Path, size: int = 64) -> bytes:
    """The first bytes of a regular file; none where it cannot be read, for what is wrong is said when it is opened."""
    try:
        if not stat.S_ISREG(path.stat().st_mode):
            return b""
        with os.fdopen(os.open(path, _FLAGS), "rb") as file:
            return file.read(size) or b""
    except (OSError, ValueError):
        return b""


def check_file(path: Path, limit: Limit, *, label: str | None = None) -> None:
    """The same checks for a file that something else opens."""
    opened(path, limit, label=label).close()


def read_bytes(path: Path, limit: Limit, *, label: str | None = None) -> bytes:
    """The content of a file, if it may be read."""
    label = label or one_line(str(path))
    with opened(path, limit, label=label) as file:
        size = os.fstat(file.fileno()).st_size
        try:
            data = file.read(size + 1)  # Python makes room for all that is asked for
        except (OSError, MemoryError) as error:
            raise cannot_open(label, error) from error
    if len(data) > size:
        raise InputError(f"{label}: grows while it is read; wait until it is written.")
    return data


def cannot_open(label: str | Path, error: BaseException) -> InputError:
    said = "not enough memory" if isinstance(error, MemoryError) else getattr(error, "strerror", None) or str(error)
    label = label if isinstance(label, str) else one_line(str(label))
    return InputError(f"{label}: cannot be opened ({said}); check the path and its permissions.")


def check_link(path: Path) -> None:
    """Refuse a link that leads nowhere, which Python takes for a file that is not there."""
    try:
        if not path.is_symlink():
            return
        path.stat()
    except FileNotFoundError as error:
        target = one_line(str(path.readlink()))
        raise InputError(f"{one_line(str(path))}: a link to {target!r}, which is not there; check the link.") from error
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise InputError(f"{one_line(str(path))}: a link that leads in a circle; check the link.") from error


def megabytes(size: int) -> str:
    """A size in a message.

    >>> megabytes(250_000_000), megabytes(1_234_567_890), megabytes(1_000)
    ('250 MB', '1,234.57 MB', '0.001 MB')
    """
    digits = 2 if size >= 1e6 else 6
    return f"{size / 1e6:,.{digits}f}".rstrip("0").rstrip(".") + " MB"


def pointer_fault(head: bytes) -> str | None:
    """What a file is that Git LFS has not yet replaced by its content; ``None`` if it is no such pointer."""
    if not head.startswith(_POINTER):
        return None
    return "a Git LFS pointer, not the file itself; fetch the content with `git lfs pull`"


def _check_kind(status: os.stat_result, label: str) -> None:
    if not stat.S_ISREG(status.st_mode):
        kind = next((words for is_kind, words in _KINDS if is_kind(status.st_mode)), "something else")
        what_next = "name a file in it" if kind == "a directory" else "save it to a file first"
        raise InputError(f"{label}: {kind}, not a regular file; {what_next}.")


def _check_content(file: BinaryIO, limit: Limit, label: str) -> None:
    status = os.fstat(file.fileno())
    _check_kind(status, label)
    if status.st_size > limit.bytes:
        raise _too_large(status.st_size, limit, label)
    try:
        head = file.read(len(_POINTER)) or b""
        file.seek(0)
    except OSError as error:
        raise cannot_open(label, error) from error
    if head and not status.st_size:  # as in /proc, where some files never end
        raise InputError(f"{label}: a file without a size, as the system makes them; copy its content to a file first.")
    fault = pointer_fault(head)
    if fault is not None:
        raise InputError(f"{label}: {fault}.")


def _too_large(size: int, limit: Limit, label: str) -> InputError:
    most = megabytes(limit.bytes)
    return InputError(f"{label}: {megabytes(size)}, and {limit.what} may have at most {most}; {limit.beyond}.")
