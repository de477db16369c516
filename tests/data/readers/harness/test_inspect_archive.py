"""ZIP archives: Python's own zipfile is the oracle for deflate, the fixtures that inspect packed are for zstandard."""

import struct
import zlib
from pathlib import Path
from zipfile import ZIP_DEFLATED, ZIP_STORED, ZipFile

import pytest
import zstandard

from assay.data.readers.harness import inspect_archive
from assay.errors import InputError
from tests.data.readers.harness.logs import INSPECT, assert_refused, copy, one

_LOCAL, _CENTRAL, _END = struct.Struct("<4s5H3I2H"), struct.Struct("<4s6H3I5H2I"), struct.Struct("<4s4H2IH")


def packed(path: Path, name: str, data: bytes, *, content: bytes, size: int | None = None) -> Path:
    """An archive with one member of method 93, written by hand: what zipfile cannot before Python 3.14."""
    fields = (zlib.crc32(content), len(data), len(content) if size is None else size)
    raw = name.encode()
    head = _LOCAL.pack(b"PK\x03\x04", 45, 0, 93, 0, 0, *fields, len(raw), 0) + raw
    listed = _CENTRAL.pack(b"PK\x01\x02", 45, 45, 0, 93, 0, 0, *fields, len(raw), 0, 0, 0, 0, 0, 0) + raw
    end = _END.pack(b"PK\x05\x06", 0, 0, 1, 1, len(listed), len(head) + len(data), 0)
    path.write_bytes(head + data + listed + end)
    return path


def read(path: Path, name: str) -> bytes:
    with inspect_archive.open_archive(path) as found:
        return found.read(name)


@pytest.mark.parametrize("method", [ZIP_STORED, ZIP_DEFLATED])
def test_deflated_and_stored_members_against_zipfile(tmp_path: Path, method: int) -> None:
    path = tmp_path / "a.zip"
    with ZipFile(path, "w", compression=method) as made:
        made.writestr("x", b"some text " * 100)
        made.writestr("y", b"")
    assert read(path, "x") == b"some text " * 100
    assert read(path, "y") == b""


def test_zstandard_in_one_frame_and_in_several(tmp_path: Path) -> None:
    """inspect cuts what is larger than 200 MiB into frames."""
    parts = [b"first " * 50, b"second " * 50, b"third"]
    whole = b"".join(parts)
    compress = zstandard.ZstdCompressor().compress
    assert read(packed(tmp_path / "one", "x", compress(whole), content=whole), "x") == whole
    frames = b"".join(compress(part) for part in parts)
    assert read(packed(tmp_path / "several", "x", frames, content=whole), "x") == whole


def test_the_last_of_several_members_with_one_name_counts_as_in_zipfile(tmp_path: Path) -> None:
    path = tmp_path / "a.zip"
    with ZipFile(path, "w") as made:
        made.writestr("x", "old")
        with pytest.warns(UserWarning, match="Duplicate name"):
            made.writestr("x", "new")
    with inspect_archive.open_archive(path) as found:
        assert (found.names(), found.read("x")) == (["x"], b"new")


@pytest.mark.parametrize("size", [0, 10, 299, 301, 5000])
def test_a_member_that_is_larger_or_smaller_than_it_says_is_refused(tmp_path: Path, size: int) -> None:
    content = b"abc" * 100
    path = packed(tmp_path / "a", "x", zstandard.ZstdCompressor().compress(content), content=content, size=size)
    with pytest.raises(InputError, match="not what was packed"):
        read(path, "x")


def test_damaged_zstandard_is_refused(tmp_path: Path) -> None:
    content = b"abc" * 100
    data = bytearray(zstandard.ZstdCompressor().compress(content))
    data[0] ^= 0xFF
    with pytest.raises(InputError, match="cannot be unpacked"):
        read(packed(tmp_path / "a", "x", bytes(data), content=content), "x")


def test_a_bomb_is_refused_before_it_is_unpacked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.zip"
    with ZipFile(path, "w", compression=ZIP_DEFLATED) as made:
        for i in range(5):
            made.writestr(f"x{i}", b"\0" * 1000)
    monkeypatch.setattr(inspect_archive, "LARGEST_MEMBER", 999)
    with pytest.raises(InputError, match=r"0\.001 MB when unpacked, too much"):
        read(path, "x0")
    monkeypatch.setattr(inspect_archive, "LARGEST_MEMBER", 1000)
    monkeypatch.setattr(inspect_archive, "LARGEST_RATIO", 1)
    with inspect_archive.open_archive(path) as found, pytest.raises(InputError, match="too much"):
        [found.read(name) for name in found.names()]  # each is allowed, all of them are not


def test_an_index_that_points_elsewhere_is_refused(tmp_path: Path) -> None:
    content = b"abc" * 100
    path = packed(tmp_path / "a", "x", zstandard.ZstdCompressor().compress(content), content=content)
    data = bytearray(path.read_bytes())
    data[:4] = b"\0\0\0\0"
    path.write_bytes(b"PK\x03\x04" + bytes(data[4:]).replace(b"PK\x03\x04", b"", 1))
    data[0:2] = b"XX"
    path.write_bytes(bytes(data))
    with pytest.raises(InputError, match="no member where the index says"):
        read(path, "x")


@pytest.mark.parametrize("name", ["small.eval", "small-deflate.eval"])
@pytest.mark.parametrize("kept", [0.001, 0.1, 0.5, 0.99])
def test_a_truncated_log_is_refused(tmp_path: Path, name: str, kept: float) -> None:
    path = copy(INSPECT / name, tmp_path)
    data = path.read_bytes()
    path.write_bytes(data[: int(len(data) * kept)])
    assert_refused(path, str(path), "truncated or damaged" if kept > 0.01 else "ZIP archive")


def test_an_encrypted_member_is_refused(tmp_path: Path) -> None:
    path = copy(INSPECT / "small-deflate.eval", tmp_path)
    data = bytearray(path.read_bytes())
    for mark, offset in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        at = data.find(mark)
        while at >= 0:
            data[at + offset] |= 1
            at = data.find(mark, at + 1)
    path.write_bytes(bytes(data))
    assert_refused(path, str(path), "cannot be unpacked", "encrypted")


def test_another_archive_is_no_log(tmp_path: Path) -> None:
    path = tmp_path / "book.xlsx"
    with ZipFile(path, "w") as made:
        made.writestr("[Content_Types].xml", "<x/>")
    assert_refused(path, "a ZIP archive")
    assert_refused(path, "no header.json in the archive", format="inspect")


def test_a_log_that_is_still_written_has_a_journal_and_no_header(tmp_path: Path) -> None:
    path = tmp_path / "running.eval"
    with inspect_archive.open_archive(INSPECT / "small-deflate.eval") as whole, ZipFile(path, "w") as made:
        for name in whole.names():
            if name != "header.json":
                made.writestr(name, whole.read(name))
    with inspect_archive.open_archive(path) as found:
        assert "_journal/start.json" in found.names()
    table = one(path)
    assert table.name == "mockllm/small"
    assert any("ended with the status started" in note for note in table.notes)
