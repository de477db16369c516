"""The demo does what it says: real models are scored, one copy passes the gate and one does not."""

import json
import subprocess
import sys
from html import escape
from pathlib import Path

import pytest

from assay.cli.demo import steps
from assay.cli.main import VERBS

pytest.importorskip("transformers")


def run(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", "from assay.cli.main import main; main()", "demo", *arguments]
    return subprocess.run(command, cwd=folder, capture_output=True, encoding="utf-8", check=False)


def test_every_command_of_the_demo_is_a_verb() -> None:
    assert {step.command.split()[0] for step in steps()} <= set(VERBS)


def test_copies_pass_and_fail_the_gate_and_the_folder_holds_what_the_demo_names(tmp_path: Path) -> None:
    done = run(tmp_path, "out")
    assert done.returncode == 0, done.stderr
    found = {file.stem: json.loads(file.read_text()) for file in (tmp_path / "out" / "certificates").glob("*.json")}
    verdicts = {name: certificate["decision"]["verdict"] for name, certificate in found.items()}
    assert verdicts["int8"] == "pass"
    assert verdicts["int3"] == "regression"
    assert "exit code 1: the gate stays shut" in done.stdout
    assert "The certificate is true" in done.stdout
    page = (tmp_path / "out" / "index.html").read_text()
    assert len(page.encode()) < 2_000_000
    for step in steps():
        assert escape(step.command) in page
        for file in step.files:
            assert f"href='{file}'" in page
            assert (tmp_path / "out" / file).is_file()
    assert len(list((tmp_path / "out" / "charts").glob("*.svg"))) > 10
    assert done.stdout.count("$ assay ") == len(steps())
    assert str(Path.home()) not in done.stdout


def test_a_folder_that_cannot_be_is_refused_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("mine")
    done = run(tmp_path, "file")
    assert (done.returncode, done.stdout) == (3, "")
    assert done.stderr.startswith("assay: ")
    assert done.stderr.count("\n") == 1
