"""The demo does what it says: real models are scored, one copy passes the gate and one does not."""

import json
from html import escape
from pathlib import Path

import pytest

from assay.cli import demo
from assay.cli.verbs import VERBS
from tests.cli.command import Shell

pytest.importorskip("transformers")


def test_every_command_of_the_demo_is_a_verb() -> None:
    assert {step.command.split()[0] for step in demo.steps()} <= set(VERBS)


def test_copies_pass_and_fail_the_gate_and_the_folder_holds_what_the_demo_names(
    shell: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All of it, on windows of an eighth of the length."""
    monkeypatch.setattr(demo, "_CONTEXT", 32)
    done, out = shell("demo", "out"), shell.folder / "out"
    assert done.exit_code == 0, done.err
    found = {file.stem: json.loads(file.read_text()) for file in (out / "certificates").glob("*.json")}
    verdicts = {name: certificate["decision"]["verdict"] for name, certificate in found.items()}
    assert verdicts["int8"] == "pass"
    assert verdicts["int3"] == "regression"
    assert "exit code 1: the gate stays shut" in done.out
    assert "The certificate is true" in done.out
    page = (out / "index.html").read_text()
    assert len(page.encode()) < 2_000_000
    for step in demo.steps():
        assert escape(step.command) in page
        for file in step.files:
            assert f"href='{file}'" in page
            assert (out / file).is_file()
    assert len(list((out / "charts").glob("*.svg"))) > 10
    assert done.out.count("$ assay ") == len(demo.steps())
    assert str(Path.home()) not in done.out


def test_a_folder_that_cannot_be_is_refused_in_one_line(shell: Shell) -> None:
    shell.write("file", "mine")
    shell.assert_refused("demo", "file")
