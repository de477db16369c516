"""Every example of the documentation prints what the page says: the oracle is the reader who types it."""

from pathlib import Path

import pytest

from tools.docs_outputs import ROOT, pages, rewritten


@pytest.mark.parametrize("page", pages(), ids=lambda page: page.relative_to(ROOT).as_posix())
def test_examples_print_what_the_page_says(page: Path) -> None:
    text = page.read_text("utf-8")
    assert rewritten(text) == text, f"run `make docs-outputs` to write the real outputs into {page.name}"
