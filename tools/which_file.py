"""Write the table of formats into `docs/which-file.md`, from the registry of readers.

python -m tools.which_file            # writes
python -m tools.which_file --check    # only says whether the page is up to date
"""

import sys
from pathlib import Path

from assay import formats

PAGE = Path(__file__).resolve().parents[1] / "docs" / "which-file.md"
START, END = "<!-- formats: python -m tools.which_file -->\n", "<!-- end of formats -->\n"


def table() -> str:
    """A line for each format: who wrote it, what it is known by, and what to type."""
    rows = [f"| {_cell(one.program)} | {_cell(one.known_by)} | `{one.example}` | `{one.name}` |" for one in formats()]
    return "\n".join(["| written by | known by | type | `--format` |", "| --- | --- | --- | --- |", *rows, ""])


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("<", "&lt;").replace("*", "\\*")


def with_table(page: str) -> str:
    before, _, rest = page.partition(START)
    return before + START + "\n" + table() + "\n" + END + rest.partition(END)[2]


def main(arguments: list[str]) -> int:
    page = PAGE.read_text(encoding="utf-8")
    new = with_table(page)
    if "--check" in arguments:
        print("up to date" if new == page else "out of date: run python -m tools.which_file")
        return int(new != page)
    PAGE.write_text(new, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
