"""Whether a table fits into the memory that may be used, judged by its file before it is read."""

from pathlib import Path

from assay.data.columns import ColumnLayout
from assay.data.memory import left, shown_size
from assay.data.metrics import UNITS
from assay.data.readers import RowSource
from assay.data.readers.database import DuckSource
from assay.data.readers.parquet import Parquet
from assay.errors import InputError
from assay.names import argument

#: Bytes of a row beside its id: the score, the order, what pairing and the statistics make of it (docs/sizing.md).
PER_ROW = 40
PER_NUMBER = 14  # and what each further column of numbers adds to that
_SAMPLED = 1 << 16  # bytes of a text file in which lines are counted


def check_fits(source: RowSource, layout: ColumnLayout) -> None:
    """Refuse a file whose table would take more than what is left."""
    rest = left()
    if rest is None or not isinstance(source, DuckSource):
        return
    rows, whole = rows_and_ids(source, layout.columns.get(UNITS[layout.kind]))
    need = whole + rows * (PER_ROW + PER_NUMBER * max(len(layout.columns) - 2, 0))
    if need <= rest:
        return
    smaller = "give more, or read fewer rows"
    if "document" in source.columns and layout.kind == "losses":
        smaller = f"add up the rows of each document with {argument('Selection', sum_by='document')}, or give more"
    room = shown_size(max(rest, 0))
    raise InputError(
        f"{source.label}: {rows:,} rows take about {shown_size(need)} of memory to compare, and {room} are left of "
        f"`memory`; {smaller}."
    )


def rows_and_ids(source: DuckSource, column: str | None) -> tuple[int, int]:
    """About how many rows a file has, and how many bytes their ids take."""
    if isinstance(source, Parquet):
        return source.rows_expected(), 0 if column is None else source.bytes_of_column(column)
    size = source.path.stat().st_size
    lines = _lines_per_byte(source.path)
    return int(size * lines), size // max(len(source.columns), 1)


def _lines_per_byte(path: Path) -> float:
    with path.open("rb") as file:
        head = file.read(_SAMPLED)
    return head.count(b"\n") / max(len(head), 1)
