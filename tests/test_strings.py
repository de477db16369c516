"""What users read: nothing that only the project knows, and of the library nothing that only its command line has."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import assay

ROOT = Path(assay.__file__).parent
INTERNAL = re.compile(r"\bthe sources?\b|\bsource's\b|\bsources'|\((?:[A-Z]\d+[a-z]?)(?:, ?[A-Z]\d+[a-z]?)*\)")

OPTION = re.compile(r"(?<![\w!-])--(?:[a-z]|$)")
#: Options of `python -m`, of other programs, and of a whole command; and patterns of names of files.
OTHERS = re.compile(r"^--help$|lm_eval with --|vLLM: --|<code>assay [^<]*--|^assay [a-z]+ |\(\?P<")


def texts(file: Path) -> Iterator[tuple[int, str]]:
    """The texts of a module that are not docstrings."""
    tree = ast.parse(file.read_text(encoding="utf-8"))
    alone = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in alone:
            yield node.lineno, node.value


def test_no_text_names_what_only_the_project_knows() -> None:
    found = [
        f"{file.relative_to(ROOT)}:{line}: {text}"
        for file in sorted(ROOT.rglob("*.py"))
        for line, text in texts(file)
        if INTERNAL.search(text)
    ]
    assert found == []


def test_the_library_names_arguments_and_no_options() -> None:
    """What it says is read in Python too; `assay.cli.arguments` translates."""
    found = [
        f"{file.relative_to(ROOT)}:{line}: {text}"
        for file in sorted(ROOT.rglob("*.py"))
        if file.relative_to(ROOT).parts[0] != "cli"
        for line, text in texts(file)
        if OPTION.search(text) and not OTHERS.search(text)
    ]
    assert found == []


def test_the_pattern_of_options_finds_them() -> None:
    assert OPTION.search("raise --resamples")
    assert OPTION.search("(--cluster document draws documents)")
    assert OPTION.search("did you mean --")
    assert not OPTION.search("a -- b, ---, a--b")


def test_the_pattern_finds_what_it_should() -> None:
    assert INTERNAL.search("the source's formulas")
    assert INTERNAL.search("left out (C9)")
    assert INTERNAL.search("(S4, S5)")
    assert not INTERNAL.search("split by its source (1 run)")
