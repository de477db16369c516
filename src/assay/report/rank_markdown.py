"""A leaderboard as Markdown: for a README, a pull request, a paper's appendix."""

from collections.abc import Sequence
from pathlib import Path

from assay.analyses import leaderboard_tables as tables
from assay.analyses.context_tables import Sheet
from assay.analyses.leaderboard import Leaderboard
from assay.data.writing import write_bytes
from assay.report.markdown import cell


def write_rank_markdown(board: Leaderboard, path: Path) -> None:
    write_bytes(path, rank_markdown(board).encode())


def rank_markdown(board: Leaderboard) -> str:
    """The sentence, the models, the pairs that a terminal shows, and how it was computed."""
    parts = [cell(board.sentence), _table(tables.model_sheet(board))]
    pairs = tables.shown_pairs(board, all_pairs=False)
    if pairs:
        parts.append(_table(tables.pair_sheet(board, pairs)))
    rows = [(a, b) for a, b in board.rows() if not a[:1].isdigit()]
    parts.append(_table(Sheet(("", ""), ("", ""), rows)))
    return "\n\n".join(parts) + "\n"


def _table(sheet: Sheet) -> str:
    rule = ["---:" if name in tables.NUMBERS else "---" for name in sheet.header]
    return "\n".join(
        _row(row) for row in (list(map(cell, sheet.header)), rule, *[list(map(cell, r)) for r in sheet.cells])
    )


def _row(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cells) + " |"
