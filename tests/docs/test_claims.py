"""Claims of README and docs: on their page word for word, with a command that exists, and the stored figures."""

import ast
import re
import shlex
from functools import cache
from pathlib import Path

import pytest

from tools import stored_runs
from tools.claims import CLAIMS, PAGE, Claim, rewritten
from tools.docs_outputs import ROOT, pages
from tools.requirements import commands_of
from tools.stored_results import cell, tables_of


@cache
def run_by_pages() -> set[str]:
    return {command for page in pages() for command in commands_of(page.read_text("utf-8"))}


def flat(text: str) -> str:
    """Prose without line breaks, emphasis and the targets of links."""
    return re.sub(r"\s+", " ", re.sub(r"\]\([^)]*\)|[*\[`]", "", text))


def exists(command: str) -> bool:
    words = shlex.split(command)
    if words[0] == "python":
        script = ROOT / words[1]
        known = {
            node.value for node in ast.walk(ast.parse(script.read_text("utf-8"))) if isinstance(node, ast.Constant)
        }
        return all(word in known for word in words[2:] if word.startswith("--"))
    if words[0] == "pytest":
        return all((ROOT / word.partition("::")[0]).exists() for word in words[1:])
    return command in run_by_pages()


def test_the_page_is_made_from_the_table() -> None:
    text = PAGE.read_text("utf-8")
    assert rewritten(text) == text, "run `make docs-outputs`"


def test_the_record_says_what_is_stored_and_where_it_is_quoted() -> None:
    text = stored_runs.PAGE.read_text("utf-8")
    assert stored_runs.rewritten(text) == text, "run `make docs-outputs`"
    assert stored_runs.quoted_on("calibration_few") == ["calibration"]
    assert stored_runs.quoted_on("calibration_suites") == ["suites"]
    assert stored_runs.quoted_on("no_such_benchmark") == []


@pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: claim.text[:40])
def test_a_claim_stands_on_its_page_and_its_command_exists(claim: Claim) -> None:
    page = (ROOT / "docs" / claim.page).read_text("utf-8")
    assert flat(claim.text) in flat(page)
    assert exists(claim.command)


@pytest.mark.parametrize("claim", [claim for claim in CLAIMS if claim.figures], ids=lambda claim: claim.text[:40])
def test_the_figures_of_a_claim_are_the_stored_ones(claim: Claim) -> None:
    assert claim.figures is not None
    assert [figure for figure in claim.figures() if figure not in claim.text] == []


def test_a_command_that_is_gone_is_noticed() -> None:
    assert not exists("assay compare never.csv written.csv")
    assert not exists("pytest tests/no_such_test.py")
    with pytest.raises(FileNotFoundError):
        exists("python benchmarks/no_such_script.py")
    assert not exists("python benchmarks/calibration_suites.py --no-such-option")


def test_cells_are_found_by_the_words_beside_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tools.stored_results.RESULTS", tmp_path)
    (tmp_path / "made.md").write_text(
        "text\n\n| a | b | b |\n| --- | --- | --- |\n| x | 1.5 ± 0.1 | 2 |\n\n| a |\n| - |\n"
    )
    assert cell("made", {"a": "x"}, "b") == "1.5"
    assert cell("made", {"a": "x"}, "b (2)") == "2"
    assert tables_of("made") == [[{"a": "x", "b": "1.5 ± 0.1", "b (2)": "2"}], []]
    with pytest.raises(LookupError, match=r"made\.md has no row"):
        cell("made", {"a": "y"}, "b")
