"""`assay context`: curves on stdout, a chart in a file, refusals as one line with their exit code."""

import json
from pathlib import Path

import pytest

from assay.analyses.context import context
from assay.analyses.context.result import ContextCurve
from assay.design import Design
from tests.cli.command import Shell
from tests.data.runs.token_runs import Tokens, story, write_run


@pytest.fixture
def runs(shell: Shell) -> tuple[str, str]:
    write_run(shell.folder / "a", story(3, 30), called="base")
    write_run(shell.folder / "b", story(3, 30, shift=0.1), called="edited")
    return "a", "b"


def test_text_is_the_record_of_the_library(shell: Shell, runs: tuple[str, str]) -> None:
    ran = shell("context", *runs, "--resamples", "199", "--seed", "4", "--level", "0.9", "--method", "t")
    design = Design(resamples=199, seed=4, level=0.9, method="t")
    assert (ran.exit_code, ran.err) == (0, "")
    assert ran.out == str(context(*runs, design=design)) + "\n"
    assert ran.out.startswith("base: context still helps ")


def test_json_is_the_record_of_the_library(shell: Shell, runs: tuple[str, str]) -> None:
    ran = shell("context", runs[0], "--bins", "4", "--resamples", "199", "--json")
    found = ContextCurve.from_dict(json.loads(ran.out))
    assert found == context(runs[0], bins=4, design=Design(resamples=199))
    assert len(found.models[0].points) == 4


@pytest.mark.parametrize(("name", "magic"), [("c.svg", b"<svg"), ("c.png", b"\x89PNG")])
def test_chart_is_written_beside_the_text(shell: Shell, runs: tuple[str, str], name: str, magic: bytes) -> None:
    ran = shell("context", *runs, "--resamples", "199", "--chart", name)
    assert (ran.exit_code, ran.err) == (0, f"Chart: {name}\n")
    assert Path(name).read_bytes().startswith(magic)
    assert "B − A" in ran.out


def test_usage_is_refused_before_anything_is_read(shell: Shell) -> None:
    shell.assert_refused("context", "none", "--bins", "many", exit_code=2, parts=["log or a number", "'many'"])
    shell.assert_refused("context", "none", "--chart", "c.gif", exit_code=2, parts=[".svg, .png or .pdf", "c.gif"])
    shell.assert_refused("context", "none", "--level", "2", exit_code=2, parts=["level"])
    shell.assert_refused("context", exit_code=2, parts=["Missing argument"])


def test_runs_that_cannot_be_used_are_refused(shell: Shell, runs: tuple[str, str]) -> None:
    shell.assert_refused("context", "none", parts=["none"])
    write_run(shell.folder / "bare", story(3, 30), keep_tokens=False)
    shell.assert_refused("context", "bare", parts=["bare", "--keep-tokens"])
    write_run(shell.folder / "short", story(3, 30))
    (shell.folder / "short" / "windows-00000.parquet").unlink()
    shell.assert_refused("context", "short", parts=["short", "not complete"])
    write_run(shell.folder / "other", story(3, 30), model={"name": "x", "digests": {"tokenizer": "sha256:other"}})
    shell.assert_refused("context", "a", "other", parts=["a and other", "different tokenizers"])
    write_run(shell.folder / "page", [Tokens("d", [1, 2], [2.0, 1.0])], shards=1)
    shell.assert_refused("context", "page", parts=["page", "one document in one window"])
    write_run(shell.folder / "flat", [Tokens(f"d{i}", [1], [2.0]) for i in range(9)])
    shell.assert_refused("context", "flat", parts=["flat", "same position (1)"])
