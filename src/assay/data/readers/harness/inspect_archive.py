"""Archives of inspect_ai: ZIP files whose members are deflated or compressed with zstandard.

Python's own ``zipfile`` knows zstandard (method 93) from 3.14 on; before that the member is found by its header.
"""

import struct
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from assay.errors import InputError
from assay.files.reading import ARCHIVE, DOCUMENT, cannot_open, check_file, megabytes

if TYPE_CHECKING:
    from zipfile import ZipFile, ZipInfo

_ZSTANDARD = 93
_LOCAL_HEADER = struct.Struct("<4s5H3I2H")

#: Unpacked bytes of a member, and of all that is read of an archive for each byte of the file: more is no log.
LARGEST_MEMBER = DOCUMENT.bytes
LARGEST_RATIO = 1000


class Archive:
    """The members of a ZIP archive by name; of duplicates the last counts, as in ``zipfile``."""

    def __init__(self, path: Path, archive: "ZipFile") -> None:
        self.path = path
        self._archive = archive
        self._left = LARGEST_MEMBER + LARGEST_RATIO * path.stat().st_size

    def names(self) -> list[str]:
        return list(dict.fromkeys(self._archive.namelist()))

    def read(self, name: str) -> bytes:
        """A member, unpacked and checked."""
        info = self._archive.getinfo(name)
        place = f"{self.path}, member {name!r}"
        self._left -= info.file_size
        if info.file_size > LARGEST_MEMBER or self._left < 0:
            raise InputError(
                f"{place}: {megabytes(info.file_size)} when unpacked, too much for a log (at most "
                f"{megabytes(LARGEST_MEMBER)} a member and {LARGEST_RATIO:,} times the archive); check the file."
            )
        try:
            data = self._zstandard(info, place) if info.compress_type == _ZSTANDARD else self._archive.read(info)
        except _REFUSALS as error:
            raise InputError(f"{place}: cannot be unpacked ({error}); write or copy the archive again.") from error
        if len(data) != info.file_size or zlib.crc32(data) != info.CRC:
            raise InputError(f"{place}: not what was packed; write or copy the archive again.")
        return data

    def _zstandard(self, info: "ZipInfo", place: str) -> bytes:
        import zstandard  # late: only such members need it

        with self.path.open("rb") as file:
            file.seek(info.header_offset)
            fields = _LOCAL_HEADER.unpack(file.read(_LOCAL_HEADER.size))
            if fields[0] != b"PK\x03\x04":
                raise InputError(f"{place}: no member where the index says; write or copy the archive again.")
            file.seek(fields[9] + fields[10], 1)  # the name, and what follows it
            packed = file.read(info.compress_size)
        try:
            with zstandard.ZstdDecompressor().stream_reader(packed, read_across_frames=True) as reader:
                return bytes(reader.read(info.file_size + 1))
        except zstandard.ZstdError as error:
            raise ValueError(str(error)) from error


_REFUSALS = (OSError, EOFError, ValueError, RuntimeError, NotImplementedError, struct.error, zlib.error)


@contextmanager
def open_archive(path: Path) -> Iterator[Archive]:
    """Open an archive; errors say what is wrong with it."""
    from zipfile import BadZipFile, ZipFile

    check_file(path, ARCHIVE)
    try:
        archive = ZipFile(path)
    except OSError as error:
        raise cannot_open(path, error) from error
    except (BadZipFile, *_REFUSALS) as error:
        raise InputError(f"{path}: the archive is truncated or damaged ({error}); write or copy it again.") from error
    with archive:
        try:
            yield Archive(path, archive)
        except BadZipFile as error:
            raise InputError(f"{path}: the archive is damaged ({error}); write or copy it again.") from error


def first_name(head: bytes) -> str:
    """The name of the first member, read from the first bytes, so it works for truncated archives."""
    if len(head) < _LOCAL_HEADER.size:
        return ""
    length = _LOCAL_HEADER.unpack_from(head)[9]
    return head[_LOCAL_HEADER.size : _LOCAL_HEADER.size + length].decode("utf-8", errors="replace")
