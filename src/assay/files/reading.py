"""The gate that every file passes before it is read, and the one way to read JSON.

**Files**: a regular file, not too large, and not a pointer to another. Pipes, devices and sockets can block or never
end, so they are refused before a byte is read. Each kind of file has a largest size, stated in the message together
with what to do beyond it.

**JSON** from files that may hold anything is read within bounds, and what is wrong is said in one line. Python's parser
fails in many ways on hostile input (recursion, memory, integers of 4,300 digits, encodings) and takes some things that
readers disagree about (a duplicate key, half of a surrogate pair).
"""

import errno
import json
import os
import re
import stat
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from math import isfinite
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

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

#: Lists and objects within each other; logs of harnesses have about twenty levels.
DEEPEST = 100
#: No floating-point number is as large as an integer of this many digits.
_DIGITS = 309

_MARK = b"\xef\xbb\xbf"
_ENCODED = {
    b"\xff\xfe": "UTF-16 text, not UTF-8; save it as UTF-8",
    b"\xfe\xff": "UTF-16 text, not UTF-8; save it as UTF-8",
    b"\x1f\x8b": "compressed with gzip; unpack it first",
    b"(\xb5/\xfd": "compressed with zstandard; unpack it first",
}
_AGAIN = "write or copy it again"

_BRACKETS = b'"[]{}'
_OTHERS = bytes(set(range(256)) - set(_BRACKETS))
_STEPS = np.zeros(256, dtype=np.int8)
_STEPS[[ord("["), ord("{")]], _STEPS[[ord("]"), ord("}")]] = 1, -1
_BLOCK = 1 << 22

_SURROGATE = re.compile(rb"\\u[dD][89a-fA-F]")
#: A backslash with what it escapes; a pair of surrogates is one character.
_ESCAPE = re.compile(
    rb"\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|(u[dD][89a-fA-F][0-9a-fA-F]{2})|.)", re.DOTALL
)


def opened(path: Path, limit: Limit, *, label: str | None = None) -> BinaryIO:
    """Open a regular file within the size limit; refuse anything else before it is read."""
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
    """The first bytes of a regular file; none where it cannot be read: `opened` says what is wrong."""
    try:
        if not stat.S_ISREG(path.stat().st_mode):
            return b""
        with os.fdopen(os.open(path, _FLAGS), "rb") as file:
            return file.read(size) or b""
    except (OSError, ValueError):
        return b""


def check_file(path: Path, limit: Limit, *, label: str | None = None) -> None:
    """Check a file as `opened` does, for something else to open it."""
    opened(path, limit, label=label).close()


def read_bytes(path: Path, limit: Limit, *, label: str | None = None) -> bytes:
    """Read a file that passes the checks of `opened`."""
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


def keep_memory() -> None:
    """Have what blocks of a file take used again by the next ones, which halves the time of reading a large one.

    The allocator of Linux gives each block back, and takes the next one page by page; having once given back a far
    larger one, which nobody wrote to, it keeps as much for later.
    """
    bytes(1 << 24)


def cannot_open(label: str | Path, error: BaseException) -> InputError:
    said = "not enough memory" if isinstance(error, MemoryError) else getattr(error, "strerror", None) or str(error)
    label = label if isinstance(label, str) else one_line(str(label))
    return InputError(f"{label}: cannot be opened ({said}); check the path and its permissions.")


def check_link(path: Path) -> None:
    """Refuse a dangling link, which Python takes for a missing file."""
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
    """The fault of a file that Git LFS has not replaced by its content yet; ``None`` if it is no such pointer."""
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
        raise InputError(f"{label}: a file without a size, as in /proc; copy its content to a file first.")
    fault = pointer_fault(head)
    if fault is not None:
        raise InputError(f"{label}: {fault}.")


def _too_large(size: int, limit: Limit, label: str) -> InputError:
    most = megabytes(limit.bytes)
    return InputError(f"{label}: {megabytes(size)}, and {limit.what} may have at most {most}; {limit.beyond}.")


# ---------------------------------------------------------------------------------------------------------------- JSON


def read_json(
    path: Path, *, label: str | None = None, limit: Limit = DOCUMENT, strict: bool = False, advice: str = _AGAIN
) -> Any:
    """Read a JSON file; errors name the file, the line and what to do (``advice``)."""
    label = label or one_line(str(path))
    return parse_json(read_bytes(path, limit, label=label), label, strict=strict, advice=advice)


def parse_json(data: bytes, place: str, *, strict: bool = False, advice: str = _AGAIN) -> Any:
    """Parse JSON; errors say where it breaks and what to do next.

    Files of other programs may have ``NaN``, ``Infinity`` and numbers too large for a float, which their readers check
    where they matter; ``strict`` refuses them: our own files have none. Halves of a surrogate pair, which no file can
    hold as text, become U+FFFD. A duplicate key is refused: readers would disagree on it.

    >>> parse_json(b'{"item": 7}', "a.json")
    {'item': 7}
    """
    fault = _unreadable(data)
    if fault is not None:
        raise InputError(f"{place}: {fault}.")
    try:
        _check_depth(data)
        return _loaded(_whole_characters(data).decode("utf-8-sig"), strict=strict)
    except UnicodeDecodeError as error:
        raise InputError(f"{place}{_encoding_fault(error, data, advice)}.") from error
    except json.JSONDecodeError as error:
        raise InputError(f"{place}{_syntax_fault(error)}; {advice}.") from error
    except (ValueError, RecursionError, MemoryError) as error:
        raise InputError(f"{place}: {_fault(error)}; {advice}.") from error


def _unreadable(data: bytes) -> str | None:
    if not data[:64].removeprefix(_MARK).strip() and not data.removeprefix(_MARK).strip():
        return "empty; check what should have written it"
    return next((what for start, what in _ENCODED.items() if data.startswith(start)), pointer_fault(data[:64]))


def _fault(error: BaseException) -> str:
    if isinstance(error, RecursionError):
        return f"nested too deeply: lists and objects more than {DEEPEST} levels deep"
    if isinstance(error, MemoryError):
        return "not enough memory for this JSON"
    return "a number has more than 4,300 digits" if "for integer string conversion" in str(error) else str(error)


def _syntax_fault(error: json.JSONDecodeError) -> str:
    msg = error.msg.removesuffix(" starting at")
    cut = error.pos >= len(error.doc.rstrip()) - 1 or msg.startswith("Unterminated string")
    line = f", line {error.lineno:,}" if "\n" in error.doc.strip() else ""
    return f"{line}: not JSON{': it ends too early' if cut else ''} ({msg} at column {error.colno:,})"


def _encoding_fault(error: UnicodeDecodeError, data: bytes, advice: str) -> str:
    line = data.count(b"\n", 0, error.start) + 1
    where = f", line {line:,}" if b"\n" in data.strip() else ""
    if error.reason == "unexpected end of data":
        return f"{where}: not JSON: it ends too early (in the middle of a character); {advice}"
    return f"{where}: byte 0x{error.object[error.start]:02x} is not UTF-8; save it as UTF-8"


def _loaded(text: str, *, strict: bool) -> Any:
    if not strict:
        return json.loads(text, object_pairs_hook=_once)
    return json.loads(text, object_pairs_hook=_once, parse_int=_integer, parse_float=_finite, parse_constant=_finite)


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        counts = Counter(name for name, _ in pairs)
        raise ValueError(f"the key {counts.most_common(1)[0][0][:60]!r} appears twice")
    return found


def _integer(text: str) -> int:
    if len(text) >= _DIGITS and not isfinite(float(text)):
        raise ValueError(f"the number {text[:9]}… has {len(text.lstrip('-')):,} digits")
    return int(text)


def _finite(text: str) -> float:
    number = float(text)
    if not isfinite(number):
        raise ValueError(f"{text[:20]} is not a finite number")
    return number


def _whole_characters(data: bytes) -> bytes:
    """The text with U+FFFD for the halves of surrogate pairs, which programs that cut texts leave behind."""
    if rb"\u" not in data or _SURROGATE.search(data) is None:
        return data
    return _ESCAPE.sub(lambda found: rb"\ufffd" if found[1] else found[0], data)


def _check_depth(data: bytes) -> None:
    """Refuse what is nested too deeply before a parser recurses into it, in one pass over the brackets."""
    if data.count(b"[") + data.count(b"{") <= DEEPEST:
        return
    # Without escaped quotation marks, every mark that is left opens or closes a text.
    kept = data.replace(rb"\\", b"").replace(rb"\"", b"").translate(None, _OTHERS)
    inside, depth = False, 0
    for start in range(0, len(kept), _BLOCK):
        block = np.frombuffer(kept, dtype=np.uint8, count=min(_BLOCK, len(kept) - start), offset=start)
        within = np.logical_xor.accumulate(block == ord('"')) ^ inside
        depths = depth + np.cumsum(np.where(within, 0, _STEPS[block]), dtype=np.int64)
        if depths.max() > DEEPEST:
            raise RecursionError
        inside, depth = bool(within[-1]), int(depths[-1])
