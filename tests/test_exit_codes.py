"""Every way a command can end has its exit code, and a crash is never a verdict."""

import errno
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from assay.errors import AssayError, InputError, UsageError, WriteError, cannot_write
from assay.exit_codes import ended

POSIX = pytest.mark.skipif(os.name == "nt", reason="signals and devices are others there")

WAITS = """
import signal, sys, time
from pathlib import Path
from assay.exit_codes import ended
signal.signal(signal.SIGINT, signal.default_int_handler)  # who runs the tests in the background has it ignored
def run():
    part = Path(sys.argv[1])
    part.touch()
    try:
        print("ready", flush=True)
        time.sleep(60)
    finally:
        part.unlink()
sys.exit(ended(run))
"""


def raised(error: BaseException) -> Callable[[], int]:
    def run() -> int:
        raise error

    return run


def tree(kind: type[AssayError]) -> list[type[AssayError]]:
    return [kind, *(found for child in kind.__subclasses__() for found in tree(child))]


def test_no_error_shares_the_exit_code_of_a_verdict() -> None:
    assert {kind.exit_code for kind in tree(AssayError)} == {2, 3, 70, 74}


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (UsageError("no"), 2),
        (InputError("no"), 3),
        (WriteError("no"), 74),
        (KeyboardInterrupt(), 130),
        (OSError(errno.ENOSPC, "No space left on device"), 74),
        (OSError(errno.EIO, "Input/output error", "file"), 74),
        (OSError(errno.ELOOP, "Too many levels of symbolic links", "file"), 3),
        (OSError(errno.ENAMETOOLONG, "File name too long", "x" * 5000), 3),
    ],
)
def test_one_line_and_an_exit_code(error: BaseException, code: int, capsys: pytest.CaptureFixture[str]) -> None:
    assert ended(raised(error)) == code
    said = capsys.readouterr()
    assert (said.out, said.err.count("\n"), said.err.startswith("assay: ")) == ("", 1, True)
    assert len(said.err) < 200


@pytest.mark.parametrize("error", [KeyError("x"), RecursionError("deep"), MemoryError(), OSError("odd"), ValueError()])
def test_a_fault_is_exit_70_with_its_traceback_in_a_file(
    error: Exception, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    assert ended(raised(error)) == 70
    said = capsys.readouterr()
    (file,) = tmp_path.iterdir()
    assert (said.out, said.err.count("\n")) == ("", 1)
    assert str(file) in said.err
    assert "open an issue" in said.err
    assert "Traceback" in file.read_text()
    assert type(error).__name__ in said.err


def test_a_fault_without_room_for_its_traceback_still_is_exit_70(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "missing"))
    assert ended(raised(KeyError("x"))) == 70
    assert capsys.readouterr().err.count("\n") == 1


def test_only_the_disk_is_exit_74() -> None:
    assert isinstance(cannot_write("f", OSError(errno.ENOSPC, "full"), "x"), WriteError)
    assert isinstance(cannot_write("f", OSError(errno.EACCES, "denied"), "name another"), InputError)


@POSIX
@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_unwinds_and_has_its_code(number: signal.Signals, code: int, tmp_path: Path) -> None:
    part = tmp_path / "part"
    process = subprocess.Popen(
        [sys.executable, "-c", WAITS, str(part)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    process.send_signal(number)
    said = process.communicate(timeout=20)[1]
    assert (process.returncode, part.exists(), said.count("\n")) == (code, False, 1)
    assert "Traceback" not in said


@POSIX
def test_a_signal_that_a_library_turns_into_its_own_error_keeps_its_code(capsys: pytest.CaptureFixture[str]) -> None:
    def run() -> int:
        try:
            os.kill(os.getpid(), signal.SIGTERM)
            time.sleep(5)
        except BaseException as error:
            raise RuntimeError("query interrupted") from error
        return 0

    before = signal.getsignal(signal.SIGTERM)
    assert ended(run) == 143
    assert signal.getsignal(signal.SIGTERM) is before
    assert "terminated" in capsys.readouterr().err
