"""Addresses in stores, and where their local copies stand.

The copy of ``s3://bucket/key`` is ``ROOT/s3:/bucket/key``, in one temporary folder for each process that only its user
can read. It is emptied when the verb is done, and removed when the process ends.
"""

import atexit
import os
import re
import shutil
from dataclasses import dataclass
from pathlib import Path

from assay.errors import UsageError
from assay.names import copies_are_below, one_line

_ADDRESS = re.compile(r"([a-z][a-z0-9+.-]+)://(.*)", re.DOTALL)
#: Not stores: files as they are, servers of models, clusters.
_NOT_STORES = frozenset({"file", "local", "http", "https", "ray", "tcp"})
_QUERY = re.compile(r"\?[^/?=]+=")
_WILD = "*?["


@dataclass(frozen=True, slots=True)
class Address:
    """A place in a store: ``path`` is the bucket and the key."""

    scheme: str
    path: str

    def __str__(self) -> str:
        return f"{self.scheme}://{self.path}"

    @property
    def copy(self) -> Path:
        """Where its local copy stands."""
        return _root() / f"{self.scheme}:" / self.path

    @property
    def name(self) -> str:
        return self.path.rpartition("/")[2]

    @property
    def parent(self) -> "Address":
        return Address(self.scheme, self.path.rpartition("/")[0])

    @property
    def is_pattern(self) -> bool:
        return any(sign in self.path for sign in _WILD)

    def below(self, name: str) -> "Address":
        return Address(self.scheme, f"{self.path}/{name}")


class _Copies:
    """Where the copies of this process are."""

    root: Path | None = None
    process = 0


def _root() -> Path:
    if _Copies.root is None or _Copies.process != os.getpid():
        import tempfile

        _Copies.root = Path(tempfile.mkdtemp(prefix="assay-store-")).resolve()
        _Copies.process = os.getpid()
        copies_are_below(str(_Copies.root))
        atexit.register(_removed, _Copies.root, _Copies.process)
    return _Copies.root


def _removed(root: Path, process: int) -> None:
    if process == os.getpid():  # not in a process that was forked from it
        shutil.rmtree(root, ignore_errors=True)


def copies_in_use() -> Path | None:
    """The folder of copies, if there is any."""
    return _Copies.root


def remove_copies(*, for_good: bool) -> None:
    """Remove all copies; their folder stays unless it is ``for_good``, so that what was returned keeps its address."""
    if _Copies.root is None or _Copies.process != os.getpid():
        return
    for place in list(_Copies.root.iterdir()):
        shutil.rmtree(place, ignore_errors=True)
    if for_good:
        _Copies.root.rmdir()
        _Copies.root = None


def is_copy(path: Path) -> bool:
    """Whether this is the copy of something in a store."""
    return _Copies.root is not None and path.is_relative_to(_Copies.root)


def address_of(text: str) -> Address | None:
    """The address that a text is, or whose copy it is the path of; ``None`` for any other.

    >>> address_of("s3://bucket/runs/base/")
    Address(scheme='s3', path='bucket/runs/base')
    """
    root = _Copies.root
    if root is not None and text.startswith(f"{root}{os.sep}"):
        scheme, _, rest = text.removeprefix(f"{root}{os.sep}").partition(f":{os.sep}")
        return Address(scheme, rest)
    found = _ADDRESS.fullmatch(text)
    if found is None or found[1] in _NOT_STORES:
        return None
    return _checked(found[1], found[2].removesuffix("/"))


def _checked(scheme: str, path: str) -> Address:
    if "@" in path.partition("/")[0]:
        hidden = f"{scheme}://***@{one_line(path.partition('@')[2])}"
        raise UsageError(f"{hidden}: no keys in an address; give them as the store's own settings, see docs/stores.md.")
    if _QUERY.search(path):
        hidden = f"{scheme}://{one_line(_QUERY.split(path)[0])}?***"
        raise UsageError(f"{hidden}: no queries in an address; give keys as the store's own settings.")
    address = Address(scheme, path)
    check_parts(address)
    return address


def check_parts(address: Address) -> None:
    """Refuse an address that no local path can stand for."""
    if any(part in ("", ".", "..") or "\0" in part for part in address.path.split("/")):
        raise UsageError(
            f"{one_line(str(address))}: a part of it is empty, . or .., and so it cannot be a file; name another."
        )


def copy_or_path(text: str) -> Path:
    """The path that a label means: the copy of an address, or the path itself."""
    found = _ADDRESS.fullmatch(text)
    if found is None or found[1] in _NOT_STORES or _Copies.root is None:
        return Path(text)
    return Address(found[1], found[2]).copy
