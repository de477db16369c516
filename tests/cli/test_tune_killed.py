"""`assay tune run`, killed by the system in the middle of a step, and started again."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

pytest.importorskip("peft")

from assay import models
from tests.cli.command import Shell
from tests.training.runs import one_thread, read_logs

STEPS, CHECKPOINT = 12, 4
LONGEST = 120  # seconds until the checkpoint is there, on a machine that is busy


def command(method: str, run: str, steps: int = STEPS) -> list[str]:
    return [
        *("tune", "run", "--base", str(models.path("base")), "--train", "train.txt", "--valid", "valid.txt"),
        *("--split-on", r"\n\n", "--context", "64", "--rows", "2", "--method", method, "--rank", "2", "--lr", "1e-3"),
        *("--steps", str(steps), "--checkpoint", str(CHECKPOINT), "--every-validation", "3", "--every-quality", "0"),
        *("-o", run),
    ]


def kill_after_the_checkpoint(arguments: list[str], folder: Path, run: Path) -> None:
    program = [sys.executable, "-c", "from assay.cli.main import main; main()", *arguments]
    with (folder / "said.txt").open("w") as said:
        quick = os.environ | {"OMP_NUM_THREADS": "1"}
        process = subprocess.Popen(program, cwd=folder, stdout=said, stderr=said, env=quick)
    until = time.monotonic() + LONGEST
    try:
        while not steps_after_checkpoint(run):
            assert process.poll() is None, (folder / "said.txt").read_text()
            assert time.monotonic() < until, "no checkpoint in time"
            time.sleep(0.005)
    finally:
        process.send_signal(signal.SIGKILL)
        process.wait()
    assert process.returncode == -signal.SIGKILL


def steps_after_checkpoint(run: Path) -> bool:
    events = run / "events.jsonl"
    there = (run / "checkpoints" / f"checkpoint-{CHECKPOINT}" / "trainer_state.json").is_file()
    return there and f'"kind": "step", "step": {CHECKPOINT + 1}' in events.read_text(encoding="utf-8")


@pytest.mark.skipif(sys.platform == "win32", reason="there is no SIGKILL")
@pytest.mark.parametrize("method", ["lora"])
def test_a_run_that_is_killed_stays_readable_and_goes_on(shell: Shell, method: str) -> None:
    text = models.path("ja.txt").read_text(encoding="utf-8").split("\n\n")
    shell.write("train.txt", "\n\n".join(text[:4]))
    shell.write("valid.txt", text[4])
    run = shell.folder / "killed"
    kill_after_the_checkpoint(command(method, "killed"), shell.folder, run)
    (cut,) = read_logs([run])
    assert (cut.finished, cut.loss.steps.tolist()) == (False, list(range(1, cut.last_step + 1)))
    assert CHECKPOINT < cut.last_step < STEPS
    assert shell("tune", "killed").exit_code == 0

    with one_thread():
        assert shell(*command(method, "killed")).exit_code == 0
        assert shell(*command(method, "whole")).exit_code == 0
    found, whole = read_logs([run, shell.folder / "whole"])
    assert found.finished
    assert any(note.startswith("resumed from step ") for note in found.notes)
    for name in ("loss", "grad_norm", "rate", "valid"):  # no step twice, none missing, and the same numbers
        mine, other = getattr(found, name), getattr(whole, name)
        assert mine.steps.tolist() == other.steps.tolist()
        assert mine.values.tolist() == pytest.approx(other.values.tolist(), rel=1e-5)
    assert (found.tokens, len(found.step_seconds)) == (whole.tokens, STEPS)
    windows = [json.loads((folder / "windows" / "run.json").read_text()) for folder in (run, shell.folder / "whole")]
    assert windows[0]["text"] == windows[1]["text"]
