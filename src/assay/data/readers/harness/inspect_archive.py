"""Archives of inspect_ai: ZIP files whose members are deflated or compressed with zstandard.

Python's own ``zipfile`` knows zstandard (method 93) from 3.14 on, and takes 700 bytes and 6 µs for each of what may be
a million members. So the index is read here, and of each member no more than where it is listed.
"""

import struct
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import BinaryIO

from assay.errors import InputError
from assay.files.reading import ARCHIVE, DOCUMENT, megabytes, opened

_STORED, _DEFLATED, _ZSTANDARD = 0, 8, 93
_LOCAL_HEADER = struct.Struct("<4s5H3I2H")
_LISTED = struct.Struct("<4s6H3I5H2I")
_LENGTHS = struct.Struct("<4s24x3H")  # of the name, and of what follows it
_END = struct.Struct("<4s4H2IH")
_LARGE_END, _LARGE_PLACE = struct.Struct("<4sQ2H2I4Q"), struct.Struct("<4sIQI")
_LONGEST_COMMENT = 1 << 16
_LARGE = 0xFFFFFFFF  # in place of a number that is given behind the name, in eight bytes
_ENCRYPTED = 1
_BLOCK = 1 << 18

#: Unpacked bytes of a member that is read at once, and of all that is read of an archive for each byte of the file.
LARGEST_MEMBER = DOCUMENT.bytes
LARGEST_RATIO = 1000


@dataclass(frozen=True, slots=True)
class Member:
    """What the index says of a member."""

    flags: int
    method: int
    check: int
    packed: int
    size: int
    offset: int


class Archive:
    """The members of a ZIP archive by name; of duplicates the last counts, as in ``zipfile``."""

    def __init__(self, path: Path, file: BinaryIO) -> None:
        self.path = path
        self._file = file
        self._left = LARGEST_MEMBER + LARGEST_RATIO * path.stat().st_size
        self._index, self._shift = _index(file, path.stat().st_size)
        _count(self._index, b"")  # refused where it is no list

    def names(self) -> list[str]:
        return list(self._listed)

    def count(self, start: str) -> int:
        """How many members have a name that begins like this; one that is there twice counts twice."""
        return _count(self._index, start.encode())

    def __contains__(self, name: str) -> bool:
        return self._place(name) is not None

    @cached_property
    def _listed(self) -> dict[str, int]:
        """Where in the index each member is."""
        return dict(_names(self._index))

    def _place(self, name: str) -> int | None:
        """Where in the index a member is, without a list of all of them."""
        if "_listed" in self.__dict__:
            return self._listed.get(name)
        raw, end = name.encode(), len(self._index)
        while (end := self._index.rfind(raw, 0, end)) >= 0:
            at = end - _LISTED.size
            if (
                at >= 0
                and self._index.startswith(b"PK\x01\x02", at)
                and _LISTED.unpack_from(self._index, at)[10] == len(raw)
            ):
                return at
            end += len(raw) - 1
        return None

    def read(self, name: str) -> bytes:
        """A member, unpacked and checked."""
        member = self._member(name)
        if member.size > LARGEST_MEMBER:
            raise self._too_large(name, member)
        return b"".join(self.blocks(name))

    def blocks(self, name: str) -> Iterator[bytes]:
        """A member bit by bit, unpacked and in the end checked."""
        member, place = self._member(name), f"{self.path}, member {name!r}"
        self._left -= member.size
        if self._left < 0:
            raise self._too_large(name, member)
        size, check = 0, 0
        try:
            for block in self._unpacked(member, place):
                size, check = size + len(block), zlib.crc32(block, check)
                if size > member.size:
                    break
                yield block
        except _REFUSALS as error:
            raise InputError(f"{place}: cannot be unpacked ({error}); write or copy the archive again.") from error
        if size != member.size or check != member.check:
            raise InputError(f"{place}: not what was packed; write or copy the archive again.")

    def _too_large(self, name: str, member: Member) -> InputError:
        return InputError(
            f"{self.path}, member {name!r}: {megabytes(member.size)} when unpacked, too much for a log (at most "
            f"{megabytes(LARGEST_MEMBER)} a member and {LARGEST_RATIO:,} times the archive); check the file."
        )

    def _member(self, name: str) -> Member:
        try:
            return _member(self._index, self._listed[name] if (at := self._place(name)) is None else at)
        except struct.error as error:
            raise InputError(f"{self.path}: the archive is truncated or damaged ({error}); {_AGAIN}.") from error

    def _unpacked(self, member: Member, place: str) -> Iterator[bytes]:
        if member.flags & _ENCRYPTED:
            raise ValueError("it is encrypted")
        file = self._file
        file.seek(member.offset + self._shift)
        fields = _LOCAL_HEADER.unpack(file.read(_LOCAL_HEADER.size))
        if fields[0] != b"PK\x03\x04":
            raise InputError(f"{place}: no member where the index says; write or copy the archive again.")
        file.seek(fields[9] + fields[10], 1)  # the name, and what follows it
        packed = file.read(member.packed)
        if member.method == _ZSTANDARD:
            return _zstandard(packed, member.size)
        if member.method == _DEFLATED:
            return _deflated(packed)
        if member.method == _STORED:
            return iter([packed])
        raise ValueError(f"compression method {member.method}")


_AGAIN = "write or copy it again"
_REFUSALS = (OSError, EOFError, ValueError, RuntimeError, NotImplementedError, struct.error, zlib.error)


def _deflated(packed: bytes) -> Iterator[bytes]:
    unpack, left = zlib.decompressobj(-zlib.MAX_WBITS), packed
    while left:
        yield unpack.decompress(left, _BLOCK)
        left = unpack.unconsumed_tail
    yield unpack.flush()


def _zstandard(packed: bytes, size: int) -> Iterator[bytes]:
    import zstandard  # late: only such members need it

    left = size + 1
    try:
        with zstandard.ZstdDecompressor().stream_reader(packed, read_across_frames=True) as reader:
            while left > 0 and (block := reader.read(min(left, _BLOCK))):
                left -= len(block)
                yield block
    except zstandard.ZstdError as error:
        raise ValueError(str(error)) from error


# --------------------------------------------------------------------------------------------------------------- index


def _index(file: BinaryIO, size: int) -> tuple[bytes, int]:
    """The list of members as it is written, and how far everything stands behind where the archive says."""
    start = max(0, size - _LONGEST_COMMENT - _END.size)
    file.seek(start)
    tail = file.read()
    at = tail.rfind(b"PK\x05\x06")
    if at < 0 or len(tail) - at < _END.size:
        raise ValueError("no index at its end")
    *_, length, offset, _ = _END.unpack_from(tail, at)
    end = start + at
    if tail[at - _LARGE_PLACE.size :].startswith(b"PK\x06\x07") and at >= _LARGE_PLACE.size:
        place = end - _LARGE_PLACE.size - _LARGE_END.size
        file.seek(place)
        fields = _LARGE_END.unpack(file.read(_LARGE_END.size))
        if fields[0] == b"PK\x06\x06":
            length, offset, end = fields[8], fields[9], place
    shift = end - length - offset
    if shift < 0 or length > size:
        raise ValueError("its index is not where it says")
    file.seek(offset + shift)
    return file.read(length), shift


def _count(index: bytes, start: bytes) -> int:
    at, unpack, length, found = 0, _LENGTHS.unpack_from, len(index), 0
    while at < length:
        mark, name, extra, comment = unpack(index, at)
        if mark != b"PK\x01\x02":
            raise ValueError("its index is not a list of members")
        found += index.startswith(start, at + _LISTED.size)
        at += _LISTED.size + name + extra + comment
    return found


def _names(index: bytes) -> Iterator[tuple[str, int]]:
    """The name of every member, and where in the index it is listed."""
    at, unpack, length = 0, _LENGTHS.unpack_from, len(index)
    while at < length:
        _, name, extra, comment = unpack(index, at)
        start = at + _LISTED.size
        yield index[start : start + name].decode("utf-8", errors="replace"), at
        at = start + name + extra + comment


def _member(index: bytes, at: int) -> Member:
    fields = _LISTED.unpack_from(index, at)
    _, _, _, flags, method, _, _, check, packed, size, name, extra, *_, offset = fields
    if _LARGE in (packed, size, offset):
        more = _large_numbers(index[at + _LISTED.size + name :][:extra])
        size, packed, offset = (next(more) if number == _LARGE else number for number in (size, packed, offset))
    return Member(flags, method, check, packed, size, offset)


def _large_numbers(extra: bytes) -> Iterator[int]:
    """The numbers of eight bytes behind the name of a member."""
    at = 0
    while at + 4 <= len(extra):
        kind, length = struct.unpack_from("<2H", extra, at)
        if kind == 1:
            for place in range(at + 4, at + 4 + length, 8):
                yield struct.unpack_from("<Q", extra, place)[0]
        at += 4 + length
    raise struct.error("a large member without its size")


@contextmanager
def open_archive(path: Path) -> Iterator[Archive]:
    """Open an archive; errors say what is wrong with it."""
    with opened(path, ARCHIVE) as file:
        try:
            archive = Archive(path, file)
        except _REFUSALS as error:
            raise InputError(f"{path}: the archive is truncated or damaged ({error}); {_AGAIN}.") from error
        yield archive


def first_name(head: bytes) -> str:
    """The name of the first member, read from the first bytes, so it works for truncated archives."""
    if len(head) < _LOCAL_HEADER.size:
        return ""
    length = _LOCAL_HEADER.unpack_from(head)[9]
    return head[_LOCAL_HEADER.size : _LOCAL_HEADER.size + length].decode("utf-8", errors="replace")
