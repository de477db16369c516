"""One system of a panel: its units sorted by id, the runs of a unit averaged."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from assay.data.tables import Table
from assay.errors import InputError
from assay.stats.units import Floats, Integers, Texts

#: What belongs to a unit whatever the system, and so cannot differ between runs or systems.
SHARED = ("tokens", "weight", "bytes", "chars")


@dataclass(frozen=True, eq=False)
class Arm:
    """One row per unit, sorted by unit."""

    table: Table
    rows: Integers  # (n,) where the table has the unit first
    values: Floats  # (n,) the loss or the score
    pooled: bool  # both splits are there, so that the split is a part of what a unit is called
    notes: tuple[str, ...] = ()

    @property
    def label(self) -> str:
        return self.table.label

    def __len__(self) -> int:
        return len(self.rows)

    def keep(self, chosen: NDArray[np.bool_]) -> "Arm":
        return replace(self, rows=self.rows[chosen], values=self.values[chosen])

    def units(self, chosen: slice = slice(None)) -> Texts:
        """What the units are called: the id, after the split where both are there."""
        ids = self.table.ids[self.rows[chosen]]
        if not self.pooled:
            return ids
        prefixes = np.array([f"{name}/" for name in self.table.labels["split"].names], dtype=object)
        named: Texts = prefixes[self.table.labels["split"].codes[self.rows[chosen]]] + ids
        return named

    def same_units(self, other: "Arm") -> bool:
        """Whether the other has the same units; compared without naming them, which takes memory."""
        if self.pooled and not np.array_equal(self.texts("split"), other.texts("split")):
            return False
        return np.array_equal(self.table.ids[self.rows], other.table.ids[other.rows])

    def numbers(self, name: str) -> Floats:
        """A column of numbers, by unit."""
        return self.table.numbers[name][self.rows]

    def texts(self, name: str) -> Texts:
        """A column of labels, by unit."""
        labels = self.table.labels[name]
        names = np.empty(len(labels.names), dtype=object)
        names[:] = labels.names
        return names[labels.codes[self.rows]]

    def place(self, at: int) -> str:
        """Where a unit is, for a message."""
        return self.table.place(int(self.rows[at]))

    def shown(self, name: str, at: int) -> str:
        """What a unit has in a column, for a message."""
        if name not in self.table.numbers:
            return repr(self.texts(name)[at])
        value = float(self.numbers(name)[at])
        return str(int(value)) if value.is_integer() else repr(value)


def arms_of(tables: Sequence[Table], *, pooled: bool) -> list[Arm]:
    """Sort every table by unit; those that list the same ids in the same order are sorted once."""
    arms: list[Arm] = []
    orders: list[Integers] = []
    for table in tables:
        before = (order for known, order in zip(tables, orders, strict=False) if np.array_equal(known.ids, table.ids))
        orders.append(order if (order := next(before, None)) is not None else _by_id(table))
        arms.append(_arm(table, orders[-1], pooled=pooled))
    return arms


def _by_id(table: Table) -> Integers:
    ids = table.ids.tolist()
    return np.array(sorted(range(len(ids)), key=ids.__getitem__), dtype=np.int64)


def _arm(table: Table, order: Integers, *, pooled: bool) -> Arm:
    # Within an id by run, so that a sum of runs does not depend on the order of the file.
    if "run" in table.labels:
        order = order[np.lexsort((table.labels["run"].codes[order], _places(table.ids[order])))]
    if pooled:
        order = order[np.argsort(table.labels["split"].codes[order], kind="stable")]
    value = "loss" if table.kind == "losses" else "score"
    arm = Arm(table, order, table.numbers[value][order], pooled)
    return _averaged(arm) if "run" in table.labels else arm


def _places(sorted_ids: Texts) -> Integers:
    """0, 1, … for the different ids among sorted ones."""
    places: Integers = np.cumsum(np.concatenate(([False], sorted_ids[1:] != sorted_ids[:-1])), dtype=np.int64)
    return places


def _averaged(arm: Arm) -> Arm:
    """One row for the runs of a unit."""
    table, order = arm.table, arm.rows
    counts = np.bincount(_places(table.ids[order]))
    starts = np.concatenate(([0], np.cumsum(counts)[:-1]))
    _check_runs(table, order, order[np.repeat(starts, counts)])
    few, many = int(counts.min()), int(counts.max())
    if many == 1:
        return arm
    note = f"{table.label}: {few if few == many else f'{few} to {many}'} runs of each {table.unit} averaged"
    with np.errstate(over="ignore"):  # what is too large to add up is refused with the panel
        means = np.add.reduceat(arm.values, starts) / counts
    return replace(arm, rows=order[starts], values=means, notes=(note,))


def _check_runs(table: Table, rows: Integers, first: Integers) -> None:
    """Refuse a weight or a cluster that changes between the runs of an item."""
    columns: dict[str, NDArray[np.int64] | Floats] = {
        name: table.numbers[name] for name in SHARED if name in table.numbers
    }
    columns.update({name: labels.codes for name, labels in table.labels.items() if name not in ("run", "model")})
    for name, values in columns.items():
        differs = np.flatnonzero(values[rows] != values[first])
        if differs.size:
            later, earlier = rows[differs[0]], first[differs[0]]
            raise InputError(
                f"{table.place(later)}, column {table.columns.get(name, name)!r}: not the {name} of "
                f"{table.places([int(table.rows[earlier])])[0]}, a run of the same {table.unit} {table.ids[later]!r}; "
                "give runs the same."
            )
