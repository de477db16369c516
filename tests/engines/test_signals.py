"""Ctrl-C and SIGTERM in the middle of real commands: the exit code, what is left, and that the command goes on."""

import os
import signal
import subprocess
import sys
import time
from importlib.util import find_spec
from pathlib import Path
from secrets import token_hex

import pytest

from assay.models import path as model_path
from assay.scoring import score as score_text
from assay.scoring.decoding import Decoding
from assay.scoring.generation import generate as write_answers
from assay.scoring.windows import Plan
from tests.engines.test_bytes import contents, one_thread, small_shards

pytestmark = [pytest.mark.slow, pytest.mark.skipif(not Path("/proc").is_dir(), reason="processes are listed in /proc")]

__all__ = ["one_thread", "small_shards"]  # fixtures of every test here
LONGEST = 150.0  # seconds, on a machine that is busy
MARK = "ASSAY_TEST_MARK"
SMALL_SHARDS = "import assay.scoring.windows as w; w.SHARD_TOKENS = 150; from assay.cli.main import main; main()"
PROMPTS_KEPT = "import assay.scoring.generation_files as g; g.SECONDS_BETWEEN_RECORDS = 0; " + SMALL_SHARDS


class Command:
    """A command in a session of its own, with a mark that all its processes inherit."""

    def __init__(self, folder: Path, *arguments: str, **more: str) -> None:
        self.mark = token_hex(8)
        environment = os.environ | {MARK: self.mark, "OMP_NUM_THREADS": "1", "PYTHONUNBUFFERED": "1"} | more
        environment["PYTHONPATH"] = os.pathsep.join(part for part in sys.path if part)
        environment.pop("RAY_ADDRESS", None)
        self.said = folder / f"{self.mark}.txt"
        with self.said.open("wb") as said:
            self.process = subprocess.Popen(
                [sys.executable, "-c", PROMPTS_KEPT, *arguments],
                cwd=folder,
                env=environment,
                stdout=said,
                stderr=said,
                start_new_session=True,
            )

    def alive(self) -> list[int]:
        """The processes that carry the mark."""
        wanted, found = f"{MARK}={self.mark}".encode(), []
        for place in Path("/proc").glob("[0-9]*"):
            try:
                if wanted in (place / "environ").read_bytes() and b"Z" not in (place / "stat").read_bytes().split()[2]:
                    found.append(int(place.name))
            except OSError:
                continue
        return found

    def until(self, there: Path) -> None:
        end = time.monotonic() + LONGEST
        while not there.exists():
            assert self.process.poll() is None, self.said.read_text()
            assert time.monotonic() < end, self.said.read_text()
            time.sleep(0.01)

    def ended_by(self, number: signal.Signals) -> int:
        """Ctrl-C reaches every process of a terminal, SIGTERM the one that it is sent to."""
        if number == signal.SIGINT:
            os.killpg(self.process.pid, number)
        else:
            self.process.send_signal(number)
        code = self.process.wait(LONGEST)
        end = time.monotonic() + 20
        while self.alive() and time.monotonic() < end:
            time.sleep(0.1)
        return code


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    text = model_path("ja.txt").read_text(encoding="utf-8")
    (tmp_path / "text.txt").write_text(text[:14_000], encoding="utf-8")
    rows = "".join(f'{{"prompt": "むかし、{i}", "item": "q{i}"}}\n' for i in range(24))
    (tmp_path / "prompts.jsonl").write_text(rows, encoding="utf-8")
    return tmp_path


ENGINES = {"processes": ("--workers", "2"), "ray": ("--engine", "ray", "--workers", "2")}
RAY = pytest.mark.skipif(find_spec("ray") is None, reason="the extra ray is not installed")
CASES = [
    pytest.param("processes", signal.SIGINT, 130, id="processes-INT"),
    pytest.param("processes", signal.SIGTERM, 143, id="processes-TERM", marks=pytest.mark.nightly),
    pytest.param("ray", signal.SIGINT, 130, id="ray-INT", marks=[RAY, pytest.mark.nightly]),
    pytest.param("ray", signal.SIGTERM, 143, id="ray-TERM", marks=RAY),
]


@pytest.mark.parametrize(("engine", "number", "code"), CASES)
def test_a_command_that_is_ended_leaves_no_process_and_no_temporary_file_and_goes_on(
    folder: Path, engine: str, number: signal.Signals, code: int
) -> None:
    score = ("score", str(model_path("base")), "text.txt", "--context", "48", "--batch-tokens", "96", "-o")
    command = Command(folder, *score, "run", *ENGINES[engine])
    command.until(folder / "run" / "windows-00002.parquet")
    assert command.ended_by(number) == code
    assert command.alive() == []
    said = command.said.read_text().splitlines()
    assert said[-1].endswith("the same command starts again or goes on.")
    assert "Traceback" not in command.said.read_text()
    left = {file.name for file in (folder / "run").iterdir()}
    done = {f"windows-{i:05d}.parquet" for i in range(len(left) - 1)}
    assert left == {"run.json", *done}  # whole shards, in order, and nothing else
    for name in ("run", "whole"):
        score_text(model_path("base"), folder / "text.txt", folder / name, plan=Plan(context=48, batch_tokens=96))
    assert len(contents(folder / "whole")) > len(left)  # it was in the middle
    assert contents(folder / "run") == contents(folder / "whole")


def test_generation_that_is_ended_goes_on(folder: Path) -> None:
    generate = ("generate", str(model_path("base")), "prompts.jsonl", "--max-tokens", "24", "--batch-size", "2", "-o")
    command = Command(folder, *generate, "said.jsonl", "--workers", "2")
    command.until(folder / ".said.jsonl.unfinished")
    assert command.ended_by(signal.SIGTERM) == 143
    assert command.alive() == []
    assert {file.name for file in folder.glob("*said*")} == {".said.jsonl.unfinished"}
    for name in ("said.jsonl", "whole.jsonl"):
        decoding = Decoding(max_tokens=24, batch_size=2)
        write_answers(model_path("base"), folder / "prompts.jsonl", folder / name, decoding=decoding)
    assert (folder / "said.jsonl").read_bytes() == (folder / "whole.jsonl").read_bytes()


@RAY
def test_ray_that_is_ended_while_it_starts(folder: Path) -> None:
    command = Command(folder, "score", str(model_path("base")), "text.txt", "-o", "run", *ENGINES["ray"])
    end = time.monotonic() + LONGEST
    while "starting Ray" not in command.said.read_text():
        assert time.monotonic() < end
        time.sleep(0.01)
    time.sleep(1.0)
    assert command.ended_by(signal.SIGTERM) == 143, command.said.read_text()
    assert command.alive() == []
    assert not (folder / "run").exists()
