"""Small and plain delimited files, read without DuckDB: importing it takes longer than all the rest.

Plain is what can be read in one way only: no quotation marks, lines that end alike, as many cells in every row as the
header has, numbers of digits. Anything else is left to DuckDB, which also says what is wrong.
"""

import re
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from assay.data.readers import Column, Reading

_LARGEST = 1 << 20  # bytes; DuckDB reads larger files in less time
_NUMBER = re.compile(r"[+-]?(\d{1,40}(\.\d{0,40})?|\.\d{1,40})([eE][+-]?\d{1,3})?", re.ASCII)

SmallTableRows = list[list[str]]


def small_table(path: Path, delimiter: str, columns: int) -> SmallTableRows | None:
    """The cells of a plain file, without its header; ``None`` where it is large or not plain."""
    try:
        if path.stat().st_size > _LARGEST:
            return None
        text = path.read_bytes().decode("utf-8-sig")
    except (OSError, UnicodeDecodeError):
        return None
    if text.count("\r") == text.count("\r\n") == text.count("\n"):
        text = text.replace("\r\n", "\n")
    if any(odd in text for odd in ('"', "\r", "\0")):
        return None
    lines = text.removesuffix("\n").split("\n")
    rows = [line.split(delimiter) for line in lines[1:]]
    return rows if "" not in lines and all(len(row) == columns for row in rows) else None


def read_cells(rows: SmallTableRows, wanted: Sequence[tuple[int, Reading]]) -> list[Column] | None:
    """Columns by their places; ``None`` where a number is written in another way than in digits."""
    found: list[Column] = []
    for place, how in wanted:
        cells = [row[place] for row in rows]
        if how in ("text", "packed"):
            texts = np.empty(len(cells), dtype=object)
            texts[:] = cells
            found.append(texts)
        elif how in ("number", "score") and all(map(_NUMBER.fullmatch, cells)):
            found.append(np.array(cells, dtype=np.float64) if cells else np.empty(0))
        else:
            return None
    return found
