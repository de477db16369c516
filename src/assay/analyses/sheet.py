"""Tables as people read them: the form in which every result gives its own."""

from collections.abc import Sequence
from dataclasses import dataclass

Row = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Sheet:
    """A table as a person reads it."""

    title: Row
    header: Sequence[str]
    cells: Sequence[Sequence[str]]


def lines_of(sheet: Sheet) -> list[Row]:
    """The first column as labels, the others padded to line up; numbers to the right."""
    table = [sheet.header, *sheet.cells]
    widths = [max(len(row[i]) for row in table) for i in range(1, len(sheet.header))]
    return [(row[0], "  ".join(_padded(cell, w) for cell, w in zip(row[1:], widths, strict=True))) for row in table]


def _padded(cell: str, width: int) -> str:
    return cell.rjust(width) if cell[:1].isdigit() and "[" not in cell else cell.ljust(width)
