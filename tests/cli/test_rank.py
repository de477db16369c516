"""`assay rank`: the leaderboard on stdout, a chart and Markdown in files, refusals as one line with their exit code."""

import json
import sys
from pathlib import Path

import numpy as np
import pytest

from assay.analyses.rank import rank
from assay.analyses.rank.result import Leaderboard
from assay.design import Design
from tests.cli.command import Shell


@pytest.fixture
def files(shell: Shell) -> tuple[str, ...]:
    rng = np.random.default_rng(0)
    shared = rng.normal(size=60)
    for name, shift in (("good", 0.6), ("fair", 0.4), ("poor", -0.5)):
        scores = shared + rng.normal(size=60) + shift
        rows = [f"q{i:02d},p{i // 3},{10 + i},{score:.3f}" for i, score in enumerate(scores)]
        shell.write(f"{name}.csv", "\n".join(["item,passage,n,score", *rows, ""]))
    return "good.csv", "fair.csv", "poor.csv"


def test_text_is_the_record_of_the_library(shell: Shell, files: tuple[str, ...]) -> None:
    ran = shell("rank", *files, "--resamples", "500", "--seed", "4", "--adjust", "bh", "--cluster", "passage")
    board = rank(*files, design=Design(resamples=500, seed=4), adjust="bh", cluster="passage")
    assert (ran.exit_code, ran.err) == (0, "")
    assert ran.out == board.to_text(width=None) + "\n"  # nothing is folded in a pipe
    assert board.n_clusters == 20


def test_json_is_the_record_of_the_library(shell: Shell, files: tuple[str, ...]) -> None:
    ran = shell("rank", *files, "--json", "--test", "t", "--method", "t", "--level", "0.9", "--lower-is-better")
    found = Leaderboard.from_dict(json.loads(ran.out))
    assert found == rank(*files, design=Design(test="t", method="t", level=0.9), lower_is_better=True)
    assert found.models[0].name == "poor"


def test_a_narrow_terminal_has_80_columns(shell: Shell, files: tuple[str, ...]) -> None:
    shell.monkeypatch.setenv("COLUMNS", "40")
    shell.monkeypatch.setenv("NO_COLOR", "1")
    shell.monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    ran = shell("rank", *files)
    assert ran.out == str(rank(*files)) + "\n"
    shell.monkeypatch.delenv("NO_COLOR")
    verdict = shell("rank", *files).out.partition("\n\n")[0]
    assert verdict.startswith("\x1b[")  # in the colour of the answer
    assert verdict.endswith("\x1b[0m")


@pytest.mark.parametrize(("name", "magic"), [("c.svg", b"<svg"), ("c.png", b"\x89PNG")])
def test_chart_and_markdown_are_written_beside_the_text(
    shell: Shell, files: tuple[str, ...], name: str, magic: bytes
) -> None:
    ran = shell("rank", *files, "--chart", name, "--markdown", "board.md")
    assert (ran.exit_code, ran.err) == (0, f"Chart: {name}\nMarkdown: board.md\n")
    assert Path(name).read_bytes().startswith(magic)
    assert "| rank | ranks | tier | model |" in Path("board.md").read_text(encoding="utf-8")


def test_weights_say_what_moves(shell: Shell, files: tuple[str, ...]) -> None:
    ran = shell("rank", *files, "--columns", "weight=n", "--weights", "sqrt", "--min-n", "20")
    assert ran.exit_code == 0
    assert "√n, n ≥ 20 (50 items): τ = " in ran.out
    shell.assert_refused("rank", *files, "--weights", "sqrt", parts=["column 'weight'", "--columns weight=NAME"])
    shell.assert_refused("rank", *files, "--weights", "cube", exit_code=2, parts=["--weights"])


def test_models_can_be_renamed_and_shown_pair_by_pair(shell: Shell, files: tuple[str, ...]) -> None:
    ran = shell("rank", "7b=good.csv", "fair.csv", "poor.csv", "--pairs")
    assert "7b" in ran.out
    assert "good" not in ran.out.split("note")[0]
    assert "good.csv, fair.csv, poor.csv: columns not used: passage, n" in ran.out


def test_items_missing_somewhere_and_complete(shell: Shell, files: tuple[str, ...]) -> None:
    lines = Path("fair.csv").read_text(encoding="utf-8").splitlines()
    shell.write("fair.csv", "\n".join([lines[0], *lines[11:], ""]))
    ran = shell("rank", *files)
    assert "answers are missing (1 of 3 models; most: fair, 10 of 60)" in ran.out
    ran = shell("rank", *files, "--missing", "complete")
    assert "data         50 items\n" in ran.out


def test_usage_is_refused_before_anything_is_read(shell: Shell) -> None:
    shell.assert_refused("rank", "none.csv", "--chart", "c.gif", exit_code=2, parts=[".svg, .png or .pdf", "c.gif"])
    shell.assert_refused("rank", "none.csv", "--level", "2", exit_code=2, parts=["level"])
    shell.assert_refused("rank", "none.csv", "--adjust", "tukey", exit_code=2, parts=["--adjust"])
    shell.assert_refused("rank", exit_code=2, parts=["Missing argument"])


def test_files_that_cannot_be_ranked_are_refused(shell: Shell, files: tuple[str, ...]) -> None:
    shell.assert_refused("rank", "good.csv", parts=["at least two models", "only 'good'"])
    shell.assert_refused("rank", "good.csv", "god.csv", parts=["god.csv", "did you mean 'good.csv'?"])
    shell.write("other.csv", "item,score\nx,1\ny,2\n")
    shell.assert_refused("rank", "good.csv", "other.csv", parts=["no item connects 'other' with 'good'"])
    shell.write("broken.csv", "item,score\nq00,1\nq01,inf\n")
    shell.assert_refused("rank", "good.csv", "broken.csv", parts=["broken.csv, line 3, column 'score'"])
    shell.assert_refused("rank", "x=good.csv", "x=fair.csv", parts=["'x'"])
    assert not list(Path().glob("*.svg"))


def test_a_model_joins_a_saved_board(shell: Shell, files: tuple[str, ...]) -> None:
    assert shell("rank", *files[:2], "--save", "board.json").exit_code == 0
    ran = shell("rank", "--previous", "board.json", *files, "--save", "board.json", "--json")
    assert (ran.exit_code, ran.err) == (0, "Saved: board.json\n")
    found = Leaderboard.from_dict(json.loads(ran.out))
    before = rank(*files[:2])
    assert found == rank(*files, previous=before)
    assert found.changes is not None
    assert (found.changes.added, found.changes.moved, found.changes.pairs) == (("poor",), (), 1)
    assert json.loads(Path("board.json").read_text("utf-8"))["changes"]["added"] == ["poor"]
    text = " ".join(shell("rank", "--previous", "board.json", *files).out.split())
    assert "What changed - No model is new." in text


@pytest.mark.parametrize(
    ("options", "code", "part"),
    [
        (["poor.csv"], 3, "the previous board ranks good, fair, but the results are of poor; give those of good, fair"),
        (["good.csv", "fair.csv", "poor.csv", "--level", "0.9"], 2, "made with --level 0.95, and now it is 0.9"),
        (["good.csv", "fair.csv", "poor.csv", "--by", "passage"], 2, "leave out --by, --total and --groups"),
        (["good.csv", "fair.csv", "poor.csv", "--previous", "good.csv"], 3, "good.csv"),
        (["good.csv", "fair.csv", "poor.csv", "--previous", "nowhere.json"], 3, "nowhere.json"),
    ],
)
def test_what_no_board_is_continued_with(
    shell: Shell, files: tuple[str, ...], options: list[str], code: int, part: str
) -> None:
    shell("rank", *files[:2], "--save", "board.json")
    ran = shell("rank", "--previous", "board.json", *options)
    assert (ran.exit_code, ran.out) == (code, "")
    assert part in ran.err
