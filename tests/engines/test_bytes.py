"""Runs are the same to the last byte wherever they were made."""

import hashlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Thread

import pytest

from assay.engines import LOCAL, Engine
from assay.errors import InputError, UsageError
from assay.models import path as model_path
from assay.scoring import score
from assay.scoring.decoding import Decoding
from assay.scoring.generation import generate
from assay.scoring.generation_files import record_of, unfinished
from assay.scoring.models_and_texts import Document, EndpointSpec
from assay.scoring.windows import Plan

STORY = "Once there were {} models, and all of them were small. "
TEXTS = [Document(f"story {i}", STORY.format(i) * (3 + i)) for i in range(12)]
PLAN = Plan(context=48, batch_tokens=96)


def contents(folder: Path) -> dict[str, str]:
    files = sorted(file for file in folder.rglob("*") if file.is_file())
    return {str(file.relative_to(folder)): hashlib.sha256(file.read_bytes()).hexdigest() for file in files}


@pytest.fixture(autouse=True)
def small_shards(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("assay.scoring.windows.SHARD_TOKENS", 150)


@pytest.fixture(autouse=True)
def one_thread() -> Iterator[None]:
    """In a process that has computed with torch before, the number of threads may change a bit."""
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.mark.slow
def test_threads_change_no_bit_of_a_command(tmp_path: Path) -> None:
    """Against the same command on another number of threads: without the request to MKL the first shard differs."""
    script = (
        "import sys, torch, assay.scoring.windows as w; w.SHARD_TOKENS = 150; torch.set_num_threads(int(sys.argv[1]));"
        "from assay.scoring import score; from assay.models import path; from tests.engines.test_bytes import *;"
        "score(path('base'), TEXTS, sys.argv[2], plan=PLAN)"
    )
    environment = {name: value for name, value in os.environ.items() if name != "MKL_CBWR"}
    commands = [[sys.executable, "-c", script, threads, str(tmp_path / threads)] for threads in ("1", "2")]
    both = [subprocess.Popen(command, cwd=Path(__file__).parents[2], env=environment) for command in commands]
    assert [process.wait() for process in both] == [0, 0]
    assert contents(tmp_path / "1") == contents(tmp_path / "2")


@pytest.fixture
def here(tmp_path: Path) -> dict[str, str]:
    score(model_path("base"), TEXTS, tmp_path / "here", plan=PLAN)
    return contents(tmp_path / "here")


@contextmanager
def killed_after(first: Path) -> Iterator[list[int]]:
    """Kill a worker once a file that it helped to make is there; the ids of what was killed."""
    import multiprocessing

    killed: list[int] = []

    def kill_one() -> None:
        end = time.monotonic() + 120
        while time.monotonic() < end and not first.exists():
            time.sleep(0.01)
        children = multiprocessing.active_children()
        if children and children[0].pid is not None:
            os.kill(children[0].pid, signal.SIGKILL)
            killed.append(children[0].pid)

    killer = Thread(target=kill_one)
    killer.start()
    yield killed
    killer.join()


@pytest.mark.slow
def test_a_run_from_two_processes_of_which_one_is_killed(here: dict[str, str], tmp_path: Path) -> None:
    with killed_after(tmp_path / "run" / "windows-00000.parquet") as killed:
        score(model_path("base"), TEXTS, tmp_path / "run", plan=PLAN, engine=Engine(workers=2))
    assert contents(tmp_path / "run") == here
    assert killed
    assert len(here) > 5  # there was something to lose


PROMPTS = {"prompt": [STORY.format(i)[: 7 + 3 * i] for i in range(12)], "item": [f"q{i}" for i in range(12)]}
DRAWN = Decoding(max_tokens=12, temperature=0.8, batch_size=2)


def generated(output: Path, engine: Engine) -> tuple[bytes, bytes]:
    """A table and its record, by an engine."""
    found = generate(model_path("base"), PROMPTS, output, decoding=DRAWN, engine=engine)
    return found.file.read_bytes(), record_of(output).read_bytes()


@pytest.mark.slow
def test_generations_from_two_processes_of_which_one_is_killed(tmp_path: Path) -> None:
    with killed_after(unfinished(tmp_path / "there.jsonl")) as killed:
        there = generated(tmp_path / "there.jsonl", Engine(workers=2))
    assert there == generated(tmp_path / "here.jsonl", LOCAL)
    assert killed
    assert not unfinished(tmp_path / "there.jsonl").exists()


@pytest.mark.slow
def test_generations_go_on_with_another_engine(tmp_path: Path) -> None:
    class StopError(Exception):
        pass

    def stop(done: int, _all: int) -> None:
        if done >= 4:
            raise StopError

    output = tmp_path / "said.jsonl"
    with pytest.raises(StopError):
        generate(model_path("base"), PROMPTS, output, decoding=DRAWN, progress=lambda _: stop)
    assert unfinished(output).exists()
    assert generated(output, Engine(workers=2)) == generated(tmp_path / "here.jsonl", LOCAL)


def test_a_prompt_that_is_too_long_is_refused_by_the_driver(tmp_path: Path) -> None:
    prompts = {"prompt": ["word " * 5000]}
    with pytest.raises(InputError, match=r"its prompt of .* tokens and 256 new ones are more than the model's"):
        generate(model_path("base"), prompts, tmp_path / "said.jsonl", engine=Engine(workers=2))
    assert not list(tmp_path.iterdir())


def test_a_server_has_workers_of_its_own(tmp_path: Path) -> None:
    server = EndpointSpec("http://127.0.0.1:9", model="m", tokenizer=str(model_path("base")))
    with pytest.raises(UsageError, match="raise `concurrency` instead of `workers`"):
        score({"served": server}, TEXTS, tmp_path / "run", engine=Engine(workers=2))
    with pytest.raises(UsageError, match="raise `concurrency` instead of `workers`"):
        generate({"served": server}, PROMPTS, tmp_path / "said.jsonl", engine=Engine(workers=2))
    assert not list(tmp_path.iterdir())
