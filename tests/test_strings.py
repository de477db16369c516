"""What users read names nothing that only the project knows: no codes of requirements, no "source" without a name."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import assay

ROOT = Path(assay.__file__).parent
INTERNAL = re.compile(r"\bthe sources?\b|\bsource's\b|\bsources'|\((?:[A-Z]\d+[a-z]?)(?:, ?[A-Z]\d+[a-z]?)*\)")


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


def test_the_pattern_finds_what_it_should() -> None:
    assert INTERNAL.search("the source's formulas")
    assert INTERNAL.search("left out (C9)")
    assert INTERNAL.search("(S4, S5)")
    assert not INTERNAL.search("split by its source (1 run)")
