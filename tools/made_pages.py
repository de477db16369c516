"""Pages of the documentation that are made, in part, from tables in Python."""

from collections.abc import Callable
from pathlib import Path


def refresh_page(page: Path, rewritten: Callable[[str], str], *, check: bool) -> int:
    """Rewrite the page, or only say that it differs; 1 if something is left to do."""
    old = page.read_text("utf-8")
    new = rewritten(old)
    if new == old:
        return 0
    print(f"docs/{page.name} {'differs: run make docs-outputs' if check else 'rewritten'}")
    if not check:
        page.write_text(new, "utf-8")
    return int(check)
