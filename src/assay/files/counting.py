"""How many lines a file has, without reading it into memory, or without reading it."""

from pathlib import Path

_BLOCK = 1 << 22


def lines_in(path: Path) -> int:
    """Line ends, in blocks."""
    count = 0
    with path.open("rb") as file:
        while block := file.read(_BLOCK):
            count += block.count(b"\n")
    return count


def lines_by_size(path: Path) -> int:
    """As many as there are if all lines are as long as the first; at least 1."""
    with path.open("rb") as file:
        begun = file.read(_BLOCK)
    return max(round(path.stat().st_size * begun.count(b"\n") / max(len(begun), 1)), 1)
