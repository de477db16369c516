"""The page on which file one has is made from the registry of readers."""

from assay import formats
from tools.which_file import PAGE, table, with_table


def test_the_table_of_the_page_is_that_of_the_registry() -> None:
    page = PAGE.read_text(encoding="utf-8")
    assert with_table(page) == page, "run python -m tools.which_file"


def test_every_format_has_a_line_with_a_command() -> None:
    lines = table().splitlines()[2:]
    assert len(lines) == len(formats())
    for one in formats():
        assert any(f"`{one.example}`" in line and f"`{one.name}`" in line for line in lines)
        assert one.example.startswith("assay ")
