"""Files appear whole, alone or together, and what a dead process left is removed, never what a live one writes."""

import errno
import os
import signal
import stat
import subprocess
import sys
import threading
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest

from assay.errors import InputError, WriteError
from assay.files.writing import (
    make_folder,
    remove_parts,
    remove_whole,
    staged,
    together,
    write_bytes,
    write_new,
    write_whole,
)
from assay.signals import Stopped, raised

POSIX = pytest.mark.skipif(os.name == "nt", reason="locks, links and pipes are others there")

DIES = """
import os, signal, sys
from pathlib import Path
from assay.files.writing import write_whole
write_whole(Path(sys.argv[1]), lambda part: os.kill(os.getpid(), signal.SIGKILL))
"""


def names(folder: Path) -> list[str]:
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*"))


def full(_: Path) -> None:
    raise OSError(errno.ENOSPC, "No space left on device")


def killed_while_writing(path: Path) -> None:
    done = subprocess.run([sys.executable, "-c", DIES, str(path)], check=False)
    assert done.returncode == -9


@POSIX
@pytest.mark.parametrize("name", ["f.json", "*?[x].json", "f\nf", "日" * 80])
def test_a_part_of_a_dead_process_is_removed_by_the_next_that_writes_there(name: str, tmp_path: Path) -> None:
    killed_while_writing(tmp_path / name)
    assert len(names(tmp_path)) == 1
    write_bytes(tmp_path / name, b"x")
    assert names(tmp_path) == [name]


@POSIX
def test_a_part_of_another_target_or_of_a_live_process_stays(tmp_path: Path) -> None:
    killed_while_writing(tmp_path / "other")
    left = names(tmp_path)

    def meanwhile(part: Path) -> None:
        part.write_bytes(b"first")
        remove_parts(tmp_path / "f")  # it is locked
        assert part.exists()

    write_whole(tmp_path / "f", meanwhile)
    assert names(tmp_path) == [*left, "f"]


def test_a_file_of_somebody_else_that_looks_a_little_like_a_part_stays(tmp_path: Path) -> None:
    for name in (".f.part", ".f.12345678.part.bak", "f.12345678.part", ".f.notes.part"):
        (tmp_path / name).write_text("mine")
    before = names(tmp_path)
    write_bytes(tmp_path / "f", b"x")
    assert names(tmp_path) == [*before, "f"] or names(tmp_path) == sorted([*before, "f"])


def test_writers_of_one_target_do_not_disturb_each_other(tmp_path: Path) -> None:
    contents = [bytes([i]) * 10_000 for i in range(8)]
    errors: list[Exception] = []

    def write(data: bytes) -> None:
        try:
            for _ in range(20):
                write_bytes(tmp_path / "f", data)
        except InputError as error:
            errors.append(error)

    threads = [threading.Thread(target=write, args=(data,)) for data in contents]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not errors
    assert (tmp_path / "f").read_bytes() in contents
    assert names(tmp_path) == ["f"]


def test_files_together_appear_at_the_end(tmp_path: Path) -> None:
    with together():
        make_folder(tmp_path / "new" / "deep")
        write_bytes(tmp_path / "new" / "deep" / "a", b"1")
        write_bytes(tmp_path / "b", b"old")
        write_bytes(tmp_path / "b", b"2")
        assert staged(tmp_path / "b").read_bytes() == b"2"
        assert not (tmp_path / "b").exists()
    assert names(tmp_path) == ["b", "new", "new/deep", "new/deep/a"]
    assert (tmp_path / "b").read_bytes() == b"2"
    assert staged(tmp_path / "b") == tmp_path / "b"


def test_where_one_cannot_be_written_none_is_and_no_folder_stays(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"before")
    (tmp_path / "signature").write_bytes(b"of before")

    def all_of_them() -> None:
        with together():
            make_folder(tmp_path / "new" / "deep")
            write_bytes(tmp_path / "a", b"after")
            remove_whole(tmp_path / "signature")
            write_bytes(tmp_path / "new" / "deep" / "b", b"x")
            write_whole(tmp_path / "c", full)

    with pytest.raises(WriteError, match="No space left on device"):
        all_of_them()
    assert names(tmp_path) == ["a", "signature"]
    assert (tmp_path / "a").read_bytes() == b"before"


def test_a_file_is_removed_with_the_others(tmp_path: Path) -> None:
    (tmp_path / "old").touch()
    with together():
        remove_whole(tmp_path / "old")
        write_bytes(tmp_path / "new", b"x")
        assert names(tmp_path)[-1] == "old"
    assert names(tmp_path) == ["new"]
    remove_whole(tmp_path / "new")
    assert names(tmp_path) == []


def stuck(monkeypatch: pytest.MonkeyPatch, name: str, number: int) -> None:
    """A file that cannot be removed."""
    plain = Path.unlink

    def unlink(self: Path, *, missing_ok: bool = False) -> None:
        if self.name == name:
            raise OSError(number, os.strerror(number), str(self))
        plain(self, missing_ok=missing_ok)

    monkeypatch.setattr(Path, "unlink", unlink)


@pytest.mark.parametrize("batch", [False, True])
@pytest.mark.parametrize(
    ("number", "error", "says"),
    [
        (errno.EPERM, InputError, "remove it, it does not belong to what was written"),
        (errno.EIO, WriteError, "make room, then run the same command again"),
    ],
)
def test_a_file_that_cannot_be_removed_is_named_with_what_to_do(
    number: int, error: type[Exception], says: str, *, batch: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was written with it has appeared by then, and nothing temporary is left."""
    (tmp_path / "old").write_bytes(b"of before")
    stuck(monkeypatch, "old", number)

    def remove() -> None:
        with together() if batch else nullcontext():
            write_bytes(tmp_path / "new", b"x")
            remove_whole(tmp_path / "old")

    with pytest.raises(error) as caught:
        remove()
    assert str(caught.value) == f"{tmp_path / 'old'}: cannot be removed ({os.strerror(number)}); {says}."
    assert names(tmp_path) == ["new", "old"]


def test_a_file_that_is_gone_needs_no_removing(tmp_path: Path) -> None:
    remove_whole(tmp_path / "gone")
    with together():
        remove_whole(tmp_path / "gone")
    assert names(tmp_path) == []


@POSIX
def test_a_pipe_is_written_to_and_not_replaced(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    write_bytes(pipe, b"through")
    assert os.read(reader, 100) == b"through"
    os.close(reader)
    assert stat.S_ISFIFO(pipe.stat().st_mode)
    assert names(tmp_path) == ["pipe"]


@POSIX
def test_a_new_file_is_private_and_never_over_another(tmp_path: Path) -> None:
    write_new(tmp_path / "key", b"secret", 0o600)
    assert stat.S_IMODE((tmp_path / "key").stat().st_mode) == 0o600
    with pytest.raises(InputError, match="File exists"):
        write_new(tmp_path / "key", b"another", 0o600)
    assert ((tmp_path / "key").read_bytes(), names(tmp_path)) == (b"secret", ["key"])


def test_a_file_system_without_links_makes_no_difference(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def unsupported(*_: object) -> None:
        raise PermissionError(errno.EPERM, "Operation not permitted")

    monkeypatch.setattr(os, "link", unsupported)
    write_new(tmp_path / "key", b"secret", 0o600)
    with pytest.raises(InputError, match="File exists"):
        write_new(tmp_path / "key", b"another", 0o600)
    assert ((tmp_path / "key").read_bytes(), names(tmp_path)) == (b"secret", ["key"])


@pytest.mark.parametrize("write", [lambda path: write_bytes(path, b"x"), lambda path: write_new(path, b"x", 0o600)])
def test_names_that_no_system_allows_are_refused_in_a_line(write: Callable[[Path], None], tmp_path: Path) -> None:
    loop = tmp_path / "loop"
    loop.symlink_to(loop)
    for path in (tmp_path / ("x" * 5000), loop / "f", tmp_path / "\udcff" / "f"):
        with pytest.raises(InputError) as refused:
            write(path)
        assert "\n" not in str(refused.value)


def test_a_signal_in_the_midst_of_making_a_folder_leaves_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It comes when the folder exists and nobody has noted yet that it must be removed."""
    mkdir = os.mkdir

    def interrupted(*arguments: Any, **options: Any) -> None:
        mkdir(*arguments, **options)
        os.kill(os.getpid(), signal.SIGTERM)

    monkeypatch.setattr(os, "mkdir", interrupted)
    with raised(), pytest.raises(Stopped), together():
        make_folder(tmp_path / "out")
    assert list(tmp_path.iterdir()) == []
