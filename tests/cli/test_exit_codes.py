"""Exit codes of the command itself, as a shell sees them: a crash or a full device is never a verdict."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import IO

import pytest

import assay.certificate
from tests.cli.command import SCORES, Shell

POSIX = pytest.mark.skipif(os.name == "nt", reason="signals and pipes are others there")
PRINTING = pytest.mark.parametrize(
    "arguments", [["compare", "a.csv", "a.csv"], ["compare", "a.csv", "a.csv", "--json"], ["--help"]]
)
# Tests that run in the background have SIGINT ignored, and so would what they start.
HEARS_SIGINT = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)"
ASSAY = [sys.executable, "-c", f"{HEARS_SIGINT}; from assay.cli.main import main; main()"]


def printed_to(stdout: IO[bytes] | int, folder: Path, *arguments: str) -> tuple[int, str]:
    """Exit code and stderr."""
    (folder / "a.csv").write_text(SCORES)
    ran = subprocess.run([*ASSAY, *arguments], cwd=folder, stdout=stdout, stderr=subprocess.PIPE, check=False)
    return ran.returncode, ran.stderr.decode()


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no device that is always full")
@PRINTING
def test_a_full_device_is_exit_74(arguments: list[str], tmp_path: Path) -> None:
    with Path("/dev/full").open("wb") as full:
        code, said = printed_to(full, tmp_path, *arguments)
    assert (code, said.count("\n")) == (74, 1)
    assert said.startswith("assay: standard output: cannot be written (No space left on device); ")


@POSIX
@PRINTING
def test_a_closed_pipe_is_quiet_and_exit_74(arguments: list[str], tmp_path: Path) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    assert printed_to(writer, tmp_path, *arguments) == (74, "")
    os.close(writer)


def test_the_help_lists_every_exit_code(shell: Shell) -> None:
    said = " ".join(shell("--help").out.split())
    for code in ("0 done", "1 gate failed", "2 usage", "3 input", "4 verification", "70 ", "74 ", "130, 143 "):
        assert code in said


def test_a_crash_of_a_gate_is_not_a_failed_gate(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    def crash(*_: object, **__: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr("tempfile.tempdir", str(shell.folder))
    monkeypatch.setattr(assay.certificate, "certify", crash)
    shell.write("a.csv", SCORES)
    shell.assert_refused("certify", "a.csv", "a.csv", exit_code=70, parts=["ZeroDivisionError", "assay-fault-"])


@POSIX
@pytest.mark.slow
@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_demo_that_is_stopped_says_so(number: signal.Signals, code: int, tmp_path: Path) -> None:
    pytest.importorskip("peft")
    process = subprocess.Popen(
        [*ASSAY, "demo", "d"], cwd=tmp_path, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert process.stdout is not None
    while not (line := process.stdout.readline()).startswith("$ assay score"):
        assert line, "the demo ended"
    time.sleep(1)  # inside a verb that it runs
    process.send_signal(number)
    _, said = process.communicate(timeout=60)
    assert (process.returncode, said.count("\n")) == (code, 1), said


@POSIX
@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_server_that_is_stopped_says_by_what(number: signal.Signals, code: int, tmp_path: Path) -> None:
    process = subprocess.Popen(
        [*ASSAY, "report", "--serve", ".", "--port", "0"],
        cwd=tmp_path,
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stdout is not None
    assert process.stdout.readline().startswith("Showing . at http://127.0.0.1:")
    process.send_signal(number)
    assert (process.communicate(timeout=60)[1], process.returncode) == ("Stopped.\n", code)


@pytest.mark.parametrize("verb", ["compare", "rank", "context", "japanese", "survey"])
def test_more_resamples_than_fit_into_memory_are_a_usage_error(shell: Shell, verb: str) -> None:
    """They ended as a fault of ours, in a MemoryError."""
    a, b = shell.write("a.csv", SCORES), shell.write("b.csv", SCORES)
    ran = shell(verb, a, b, "--resamples", "999999999999")
    assert ran.exit_code == 2
    assert ran.err.startswith("assay: resamples must be at most 1,000,000, but got 999999999999; ")
