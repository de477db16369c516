"""Check the items of logs, and join the logs of a model into columns."""

from collections.abc import Mapping, Sequence
from math import nan
from sys import intern
from typing import Any

import numpy as np

from assay.data.costs import COSTS
from assay.data.metrics import UNITS
from assay.data.readers.harness import Log, Rows
from assay.data.readers.harness.places import ManyPlaces
from assay.errors import InputError

_TWICE_SHOWN = 3


def check_items(name: str, log: Log, rows: Rows) -> None:
    """Refuse empty logs, and items that occur twice in a run."""
    if not len(rows):
        raise InputError(f"{log.label}: no items; check what should have written them.")
    unit = UNITS[rows.kind]
    items, runs = rows.columns[unit], rows.columns.get("run")
    if len(set(items if runs is None else zip(items, runs, strict=True))) == len(rows):
        return
    seen, again = dict[tuple[Any, Any], str](), []
    for item, run, place in zip(items, runs or [""] * len(rows), rows.places, strict=True):
        if (before := seen.setdefault((item, run), place)) is not place:
            again.append((item, place, before))
    if again:
        item, place, before = again[0]
        more = [f"{unit} {item!r} ({_short(place, log)})" for item, place, _ in again[1:_TWICE_SHOWN]]
        more += [f"{len(again) - _TWICE_SHOWN:,} more"] if len(again) > _TWICE_SHOWN else []
        also = f"; so are {', '.join(more)}" if more else ""
        raise InputError(
            f"{place}: {unit} {item!r} of the model {name!r} is there already ({_short(before, log)}){also}; "
            "keep one of each."
        )


def _short(place: str, log: Log) -> str:
    """A location, without the file that the message names already."""
    return place.removeprefix(f"{log.label}, ")


def prefix_items(rows: Rows, task: str) -> None:
    for name in {UNITS[rows.kind], "document"} & rows.columns.keys():
        rows.columns[name] = [intern(f"{task}/{item}") for item in rows.columns[name]]


def joined(parts: Sequence[Rows]) -> Rows:
    """Concatenate logs; columns that one of them lacks are dropped, except the run and what answers cost."""
    first = parts[0]
    if len(parts) == 1:
        return first
    names = [name for name in first.columns if all(name in rows.columns for rows in parts)]
    columns = {name: [value for rows in parts for value in rows.columns[name]] for name in names}
    for name in [one for one in COSTS if any(one in rows.columns for rows in parts)]:
        columns[name] = [cost for rows in parts for cost in rows.columns.get(name, [nan] * len(rows))]
    if any("run" in rows.columns for rows in parts):
        columns["run"] = [run for rows in parts for run in rows.columns.get("run", ["1"] * len(rows))]
    lower = {rows.lower_is_better for rows in parts}
    return Rows(
        first.kind,
        first.measure,
        columns,
        ManyPlaces([rows.places for rows in parts]),
        lower_is_better=lower.pop() if len(lower) == 1 else None,
        notes=[note for rows in parts for note in rows.notes],
        games=tuple(dict.fromkeys(games for rows in parts for games in rows.games)),
    )


def as_arrays(columns: Mapping[str, list[Any]]) -> dict[str, Any]:
    """Numbers as arrays, which take a quarter of the memory; texts stay objects."""
    numeric = ("score", "loss", "tokens", "bytes", *COSTS)
    return {name: np.array(values, dtype=np.float64) if name in numeric else values for name, values in columns.items()}
