"""How much memory may be used: sizes as people write them, what is used already, and whether a table fits."""

import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path

from assay.errors import UsageError

_UNITS = {"": 1, "K": 10**3, "M": 10**6, "G": 10**9, "T": 10**12}
_SIZE = r"\s*(\d{1,15}(?:\.\d{1,6})?)\s*([KMGT]?)(I?)B?\s*"
LEAST = 100_000_000  # bytes: Python, numpy and DuckDB themselves take most of that
_PAGE = 4096  # bytes, of which Linux counts what a process has

_ALLOWED: ContextVar[int | None] = ContextVar("memory that may be used", default=None)


def bytes_of(size: str | int) -> int:
    """A size in bytes.

    >>> bytes_of("1.5GB"), bytes_of("500 mb"), bytes_of("1GiB"), bytes_of(2_000_000_000)
    (1500000000, 500000000, 1073741824, 2000000000)
    """
    found = None if isinstance(size, bool) else re.fullmatch(_SIZE, str(size), re.IGNORECASE | re.ASCII)
    if found is None:
        raise UsageError(f"memory must be a size such as 500MB or 2GB, but got {size!r}.")
    number, unit, binary = found[1], found[2].upper(), bool(found[3])
    if binary and not unit:
        raise UsageError(f"memory must be a size such as 500MB or 2GB, but got {size!r}.")
    each = 1024 ** ("KMGT".index(unit) + 1) if binary else _UNITS[unit]
    whole = int(float(number) * each)
    if whole < LEAST:
        raise UsageError(f"memory must be at least {shown_size(LEAST)}, which starting takes, but got {size!r}.")
    return whole


def shown_size(size: float) -> str:
    """A size as people read it.

    >>> shown_size(1_234_000_000), shown_size(64_000_000)
    ('1.2 GB', '64 MB')
    """
    return f"{size / 1e9:.1f} GB" if size >= 1e9 else f"{size / 1e6:,.0f} MB"


@contextmanager
def allowed(memory: int | None) -> Iterator[None]:
    """Within it, so many bytes may be used; ``None``: as many as there are."""
    before = _ALLOWED.set(memory)
    try:
        yield
    finally:
        _ALLOWED.reset(before)


def left() -> int | None:
    """What may still be used, in bytes; ``None`` where nothing limits it."""
    limit = _ALLOWED.get()
    return None if limit is None else limit - in_use()


def in_use() -> int:
    """What this process has in memory, in bytes; where the system does not say, the most that it ever had."""
    try:
        return int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1]) * _PAGE
    except (OSError, ValueError, IndexError):
        import resource  # late: not on every system

        most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return most if sys.platform == "darwin" else most * 1024
