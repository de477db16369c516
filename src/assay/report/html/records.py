"""The data of a table that is saved: the result's own numbers, or what its cells say, taken apart."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from assay.report.document import Table
from assay.report.html.tables import first_number, is_numeric

_LIMITS = re.compile(r"\[\s*([^\]\s]+) to ([^\]\s]+)\s*\]")


def records_of(table: Table) -> list[Mapping[str, Any]]:
    """A record for each row: the numbers without rounding where the result has them, else those that are shown."""
    if table.data is not None:
        return [dict(row) for row in table.data]
    columns = [_column(name or f"column {place + 1}", cells) for place, (name, cells) in enumerate(_by_column(table))]
    return [{key: value for column in columns for key, value in column[row].items()} for row in range(len(table.rows))]


def _by_column(table: Table) -> list[tuple[str, Sequence[str]]]:
    return list(zip(table.header, zip(*table.rows, strict=True), strict=True)) if table.rows else []


def _column(name: str, cells: Sequence[str]) -> list[dict[str, Any]]:
    """Text as text; of numbers the value and, where there is one, the interval."""
    if not is_numeric(cells):
        return [{name: cell.strip()} for cell in cells]
    limits = [_LIMITS.search(cell) for cell in cells]
    own = [cell for cell, found in zip(cells, limits, strict=True) if found is None or not _only_limits(cell)]
    rows: list[dict[str, Any]] = [{name: _value(cell)} if own else {} for cell in cells]
    if any(found is not None for found in limits):
        for row, found in zip(rows, limits, strict=True):
            low, high = (None, None) if found is None else (first_number(part) for part in found.groups())
            row |= {f"{name}, low": low, f"{name}, high": high}
    return rows


def _value(cell: str) -> float | str | None:
    """The number; a bound, such as `< 0.001`, stays what it is."""
    return cell.strip() if cell.strip().startswith(tuple("<>≤≥")) else first_number(cell)


def _only_limits(cell: str) -> bool:
    return cell.strip().startswith("[")
