"""Write into docs/record.md what is stored of every benchmark, and where the documentation quotes it.

    python -m tools.stored_runs            rewrite the table
    python -m tools.stored_runs --check    only say whether it differs

`make docs-outputs` does it too.
"""

import re
import sys

from benchmarks import run
from tools.made_pages import refresh_page
from tools.stored_results import ROOT

PAGE = ROOT / "docs" / "record.md"
BETWEEN = re.compile(r"(?<=<!-- stored -->\n).*(?=<!-- end of stored -->)", re.DOTALL)


def quoted_on(name: str) -> list[str]:
    """The pages that quote a result, or a part of it."""
    snippet = re.compile(rf'^--8<-- "benchmarks/results/{name}(_[a-z]+)?\.md"$', re.MULTILINE)
    own = {other for other in run.names() if other != name and other.startswith(f"{name}_")}
    pages = []
    for page in sorted((ROOT / "docs").glob("*.md")):
        found = {match[0].split("/")[-1].removesuffix('.md"') for match in snippet.finditer(page.read_text("utf-8"))}
        pages += [page.stem] if found - own else []
    return pages


def rewritten(text: str) -> str:
    lines = run.summary(lambda name: ", ".join(f"[{page}]({page}.md)" for page in quoted_on(name)) or "–")
    return BETWEEN.sub(lambda _: f"\n{lines}\n\n", text)


def refresh(*, check: bool) -> int:
    """Rewrite the page, or only say that it differs; 1 if something is left to do."""
    return refresh_page(PAGE, rewritten, check=check)


if __name__ == "__main__":
    sys.exit(refresh(check="--check" in sys.argv[1:]))
