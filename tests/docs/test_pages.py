"""Every example of the documentation prints what the page says: the oracle is the reader who types it."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tools.docs_outputs import ROOT, environment, pages, rewritten
from tools.warm import possible, warm_assay


@pytest.fixture(scope="module")
def commands() -> Iterator[Path | None]:
    """The command `assay`, each call without the half second of its start."""
    if not possible():
        yield None
        return
    with warm_assay(environment()) as folder:
        yield folder


@pytest.mark.parametrize("page", pages(), ids=lambda page: page.relative_to(ROOT).as_posix())
def test_examples_print_what_the_page_says(page: Path, commands: Path | None) -> None:
    """Those of the README start as they do for its readers."""
    text = page.read_text("utf-8")
    found = rewritten(text, None if page.name == "README.md" else commands)
    assert found == text, f"run `make docs-outputs` to write the real outputs into {page.name}"
