"""What may be read: regular files of a bearable size. Special files are refused before they are opened or read."""

import os
import socket
from collections.abc import Iterator
from pathlib import Path
from time import process_time

import pytest

from assay.data.readers.registry import open_source
from assay.errors import InputError
from assay.files.reading import DOCUMENT, SETTINGS, TABLE, check_file, head_of, opened, read_bytes
from tests.training.runs import read_logs

pytestmark = pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes and sockets")
POINTER = b"version https://git-lfs.github.com/spec/v1\noid sha256:4d7a2146\nsize 12345\n"


@pytest.fixture
def pipe(tmp_path: Path) -> Path:
    os.mkfifo(tmp_path / "pipe")
    return tmp_path / "pipe"


@pytest.fixture
def line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.chdir(tmp_path)  # the address of a socket may have about a hundred characters
    with socket.socket(socket.AF_UNIX) as server:
        server.bind("line")
        yield tmp_path / "line"


def refusal(path: Path) -> str:
    began = process_time()
    with pytest.raises(InputError) as refused:
        check_file(path, TABLE)
    assert process_time() - began < 1
    assert str(refused.value).startswith(str(path))
    return str(refused.value).removeprefix(f"{path}: ")


def test_special_files_are_refused_without_waiting(tmp_path: Path, pipe: Path, line: Path) -> None:
    assert refusal(pipe) == "a pipe, not a regular file; save it to a file first."
    assert refusal(line) == "a socket, not a regular file; save it to a file first."
    assert refusal(Path("/dev/zero")) == "a device, not a regular file; save it to a file first."
    assert refusal(tmp_path) == "a directory, not a regular file; name a file in it."
    (tmp_path / "link").symlink_to(pipe)
    assert refusal(tmp_path / "link").startswith("a pipe")
    assert [head_of(path) for path in (pipe, line, tmp_path, tmp_path / "none", Path("/dev/zero"))] == [b""] * 5


def test_a_pipe_that_takes_the_place_of_a_file_does_not_block(pipe: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    regular = Path(__file__).stat()
    monkeypatch.setattr(Path, "stat", lambda _: regular)
    assert refusal(pipe).startswith("a pipe")


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="needs /proc")
def test_files_of_the_system_that_have_no_size_are_refused() -> None:
    assert refusal(Path("/proc/self/status")).startswith("a file without a size")


def test_paths_that_no_system_allows_are_refused(tmp_path: Path) -> None:
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    assert "cannot be opened" in refusal(tmp_path / "loop")
    assert "cannot be opened" in refusal(tmp_path / ("a" * 5000))
    assert "cannot be opened" in refusal(tmp_path / "none")
    with pytest.raises(InputError, match=r"cannot be opened .*null"):
        check_file(tmp_path / "a\0b", TABLE)


def test_a_file_that_is_too_large_is_refused_before_it_is_read(tmp_path: Path) -> None:
    path = tmp_path / "large"
    with path.open("wb") as file:
        file.truncate(300_000_000)  # takes no room
    began = process_time()
    with pytest.raises(InputError, match="large: 300 MB, and a JSON document may have at most 250 MB; write"):
        read_bytes(path, DOCUMENT)
    with pytest.raises(InputError, match="may have at most 1 MB; check that it is the file you mean"):
        read_bytes(path, SETTINGS)
    assert process_time() - began < 1
    check_file(path, TABLE)


def test_a_pointer_of_git_lfs_is_named(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_bytes(POINTER)
    assert refusal(tmp_path / "a.csv") == (
        "a Git LFS pointer, not the file itself; fetch the content with `git lfs pull`."
    )


def test_reading_takes_no_more_memory_than_the_file_has(tmp_path: Path) -> None:
    import tracemalloc

    (tmp_path / "a").write_bytes(b"x" * 1000)
    tracemalloc.start()
    assert len(read_bytes(tmp_path / "a", TABLE)) == 1000
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert most < 1_000_000


def test_what_is_opened_is_read_from_its_beginning(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"abc" * 50)
    with opened(tmp_path / "a", SETTINGS) as file:
        assert file.read() == b"abc" * 50
    (tmp_path / "empty").write_bytes(b"")
    assert read_bytes(tmp_path / "empty", SETTINGS) == b""
    assert head_of(tmp_path / "a", 4) == b"abca"


def test_links_that_lead_nowhere_say_so(tmp_path: Path) -> None:
    """The message was: no such file; did you mean the same name?"""
    (tmp_path / "a.csv").symlink_to(tmp_path / "b.csv")
    (tmp_path / "b.csv").symlink_to(tmp_path / "a.csv")
    (tmp_path / "c.csv").symlink_to("nowhere")
    for read in (open_source, lambda path: read_logs([path])):
        for name, said in {"a.csv": "a link that leads in a circle", "c.csv": "a link to 'nowhere'"}.items():
            with pytest.raises(InputError, match=said):
                read(tmp_path / name)
