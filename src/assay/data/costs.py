"""What answers cost: columns of tables and logs that stand beside the score and never become one."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np

from assay.data.readers import RowSource
from assay.errors import InputError
from assay.names import shown
from assay.stats.units import Floats

Cost = Literal["tokens_in", "tokens_out", "tokens_total", "chars_out", "steps", "seconds", "price"]

#: Every cost by name, and what one of it is.
COSTS: dict[str, str] = {
    "tokens_in": "tokens of what was asked",
    "tokens_out": "tokens of what was answered",
    "tokens_total": "tokens of both",
    "chars_out": "characters of what was answered",
    "steps": "turns or actions of an agent",
    "seconds": "seconds until the answer was there",
    "price": "in one currency, such as dollars",
}
#: What other programs call these columns, whatever the case; of a name without a unit nothing is guessed.
USUAL_COSTS: dict[str, tuple[str, ...]] = {
    "tokens_in": ("input_tokens", "prompt_tokens"),
    "tokens_out": ("output_tokens", "completion_tokens"),
    "tokens_total": ("total_tokens",),
    "seconds": ("latency_s", "latency_seconds", "duration_s", "duration_seconds", "latency_ms", "latencyms"),
    "price": ("cost", "cost_usd", "price_usd", "total_cost", "total_cost_usd"),
}
_MILLISECONDS = re.compile(r".*ms", re.IGNORECASE)


@dataclass(frozen=True, eq=False, slots=True)
class CostColumn:
    """A column of costs, NaN where a cell is empty; or what stood in the way of using it."""

    values: Floats | None
    fault: str = ""


def cost_column(source: RowSource, ours: str, theirs: str, values: Floats) -> CostColumn:
    """The numbers of a column of costs; one that holds something else is not used."""
    wrong = ~(np.isfinite(values) & (values >= 0))
    if wrong.any():
        (texts,) = source.read([(theirs, "text")])
        empty = np.array([not str(text).strip() for text in texts.tolist()], dtype=bool)
        bad = np.flatnonzero(wrong & ~empty)
        if bad.size:
            return CostColumn(None, _fault(source, ours, theirs, int(bad[0]) + 1))
        values = np.where(empty, np.nan, values)
    if np.isnan(values).all():
        return CostColumn(None)
    return CostColumn(values / (1000.0 if _in_milliseconds(ours, theirs) else 1.0) + 0.0)


def _in_milliseconds(ours: str, theirs: str) -> bool:
    return ours == "seconds" and _MILLISECONDS.fullmatch(theirs) is not None


def read_as(ours: str, theirs: str) -> str:
    """What a column was read as.

    >>> read_as("seconds", "latency_ms"), read_as("item", "id")
    ('seconds = latency_ms / 1000', 'item = id')
    """
    return f"{ours} = {theirs}" + (" / 1000" if _in_milliseconds(ours, theirs) else "")


def _fault(source: RowSource, ours: str, theirs: str, row: int) -> str:
    place, text = source.places([row])[0], source.cell(theirs, row)
    return f"{place}, column {theirs!r}: {ours} must be a number of at least 0, but got {shown(text)}"


def refuse_cost(source: RowSource, fault: str) -> None:
    """Refuse a column of costs that was asked for and cannot be read."""
    raise InputError(f"{source.label}, {fault}; write a number, or leave the cell empty.")


def known_costs(columns: Iterable[Mapping[str, Floats]]) -> list[str]:
    """The costs that any of some tables knows, in our order."""
    have = {name for numbers in columns for name in numbers}
    return [name for name in COSTS if name in have]
