"""The page of requirements: complete, and every command, test and section that it names is there."""

import ast
import re
from functools import cache

import pytest

from tools.docs_outputs import ROOT, pages
from tools.requirements import PAGE, TABLE, Requirement, commands_of, plain, rewritten

LAST = {"P": 12, "L": 4, "T": 15, "S": 11, "C": 9}


@cache
def run_by_pages() -> set[str]:
    """What test_pages.py runs."""
    return {command for page in pages() for command in commands_of(page.read_text("utf-8"))}


def slug(heading: str) -> str:
    """What mkdocs makes of a heading."""
    return re.sub(r"[-\s]+", "-", re.sub(r"[^\w\s-]", "", heading).strip().lower())


def test_every_requirement_has_its_row() -> None:
    expected = [f"{letter}{number}" for letter, last in LAST.items() for number in range(1, last + 1)]
    assert [row.code for row in TABLE] == expected


def test_the_page_is_made_from_the_table() -> None:
    text = PAGE.read_text("utf-8")
    assert rewritten(text) == text, "run `make docs-outputs`"


@pytest.mark.parametrize("row", TABLE, ids=lambda row: row.code)
def test_command_test_and_section_are_there(row: Requirement) -> None:
    assert row.command in run_by_pages()
    file, _, name = row.test.partition("::")
    tree = ast.parse((ROOT / "tests" / file).read_text("utf-8"))
    assert name in {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}
    page, _, anchor = row.page.partition("#")
    headings = re.findall(r"^#+ (.*)$", (ROOT / "docs" / page).read_text("utf-8"), re.MULTILINE)
    assert anchor in {slug(heading) for heading in headings}


def test_a_command_is_read_without_its_output_and_over_several_lines() -> None:
    block = "$ assay a b \\\n>   --c d 2> log.txt; echo $?\nassay x\n0\n$ assay e | head -1\nf\n"
    page = f"```console\n{block}```\n$ assay g\n"
    assert commands_of(page) == {"assay a b --c d", "assay e"}
    assert plain("assay a > log.txt; echo $?") == "assay a"
