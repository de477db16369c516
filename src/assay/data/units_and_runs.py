"""The rows of a table by unit, and by repeated run: averaged, or one table per run."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from assay.data.costs import known_costs
from assay.data.panel_views import Dropped, Runs
from assay.data.readers import UNNAMED
from assay.data.readers.containers import plain_stem
from assay.data.tables import Labels, Table
from assay.data.text_columns import TextColumn
from assay.errors import InputError
from assay.names import listed, one_line
from assay.stats.units import Floats, Integers, Texts

#: What belongs to a unit whatever the system, and so cannot differ between runs or systems.
SHARED = ("tokens", "weight", "bytes", "chars")
_OF_FILES = {"files", "metric", "one_of_metrics", "lower_is_better"}  # what is known of a table without a model
_BLOCK = 1 << 16  # units that are compared at once
_NO_NAME = "the model"  # what the runs of a model without a name are called


@dataclass(frozen=True, eq=False)
class SortedTable:
    """A table with one row per unit, sorted by unit."""

    table: Table
    rows: Integers  # (n,) where the table has the unit first
    pooled: bool  # both splits are there, so that the split is a part of what a unit is called
    means: Floats | None = None  # (n,) of the runs of each unit; None: there is one row of each
    notes: tuple[str, ...] = ()
    costs: Mapping[str, Floats] = field(default_factory=dict)  # (n,) each; NaN where not known

    @property
    def label(self) -> str:
        return self.table.label

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def values(self) -> Floats:
        """(n,) The loss or the score of each unit."""
        return self.numbers("loss" if self.table.kind == "losses" else "score") if self.means is None else self.means

    def values_into(self, out: Floats) -> Floats:
        """The same, written into an array."""
        if self.means is None and not self.in_place:
            own = self.table.numbers["loss" if self.table.kind == "losses" else "score"]
            return own.take(self.rows, out=out, mode="clip")  # another mode would make a copy first
        out[:] = self.values
        return out

    def keep(self, chosen: NDArray[np.bool_]) -> "SortedTable":
        costs = {name: values[chosen] for name, values in self.costs.items()}
        means = None if self.means is None else self.means[chosen]
        return replace(self, rows=self.rows[chosen], means=means, costs=costs)

    def units(self, chosen: slice = slice(None)) -> TextColumn:
        """Names of the units: the id, prefixed with the split where both splits are present."""
        ids = self.table.ids[chosen] if self.in_place else self.table.ids[self.rows[chosen]]
        if not self.pooled:
            return ids
        splits = self.table.labels["split"]
        return ids.behind(TextColumn.of([f"{name}/" for name in splits.names])[splits.codes[self.rows[chosen]]])

    def same_units(self, other: "SortedTable") -> bool:
        """Whether the other has the same units; compared without building their names, which takes memory."""
        if self.pooled and not np.array_equal(self.texts("split"), other.texts("split")):
            return False
        if self.rows is other.rows and self.table.ids.same(other.table.ids):
            return True
        if self.sorted_as is not None and self.sorted_as == other.sorted_as:
            return True
        blocks = (slice(low, low + _BLOCK) for low in range(0, len(self), _BLOCK))
        return len(self) == len(other) and all(
            self.table.ids[self.rows[some]].same(other.table.ids[other.rows[some]]) for some in blocks
        )

    @cached_property
    def in_place(self) -> bool:
        """Whether the rows of the table are the units, in their order."""
        n = len(self.table)
        return len(self.rows) == n and (not n or bool(self.rows[0] == 0 and (np.diff(self.rows) == 1).all()))

    @property
    def sorted_as(self) -> bytes | None:
        """A digest of the sorted ids; ``None``: not known, or these are not the rows of the table in their order."""
        found = self.table.ids.sorted
        return found.digest if self.rows is found.order and not found.repeats.any() else None

    def numbers(self, name: str) -> Floats:
        """A column of numbers, by unit."""
        values = self.table.numbers[name]
        return values if self.in_place else values.take(self.rows)

    def texts(self, name: str) -> Texts:
        """A column of labels, by unit."""
        labels = self.table.labels[name]
        names = np.empty(len(labels.names), dtype=object)
        names[:] = labels.names
        return names[labels.codes[self.rows]]

    def place(self, at: int) -> str:
        """Location of a unit, for messages."""
        return self.table.place(int(self.rows[at]))

    def shown(self, name: str, at: int) -> str:
        """The value of a unit in a column, for messages."""
        if name not in self.table.numbers:
            return repr(self.texts(name)[at])
        value = float(self.numbers(name)[at])
        return str(int(value)) if value.is_integer() else repr(value)


def sorted_tables(tables: Sequence[Table], *, pooled: bool) -> list[SortedTable]:
    """Sort every table by unit; those that list the same ids in the same order are sorted once."""
    sides: list[SortedTable] = []
    orders: list[Integers] = []
    for table in tables:
        before = (order for known, order in zip(tables, orders, strict=False) if known.ids.same(table.ids))
        orders.append(order if (order := next(before, None)) is not None else table.ids.sorted.order)
        sides.append(_sorted(table, orders[-1], pooled=pooled))
    return sides


def _sorted(table: Table, order: Integers, *, pooled: bool) -> SortedTable:
    # Within an id by run, so that a sum of runs does not depend on the order of the file.
    if "run" in table.labels:
        order = np.lexsort((table.labels["run"].codes, table.ids.ranks))
    if pooled:
        order = order[np.argsort(table.labels["split"].codes[order], kind="stable")]
    costs = {name: table.numbers[name][order] for name in known_costs([table.numbers])}
    side = SortedTable(table, order, pooled, costs=costs)
    return _averaged(side) if "run" in table.labels else side


def _places(ids: TextColumn, order: Integers) -> Integers:
    """(rows,) The ids of rows in this order, in which equal ones are neighbours, numbered 0, 1, …"""
    ranks = ids.ranks[order]
    places: Integers = np.cumsum(np.concatenate(([False], ranks[1:] != ranks[:-1])), dtype=np.int64)
    return places


def _averaged(side: SortedTable) -> SortedTable:
    """Average the runs of each unit into one row."""
    table, order = side.table, side.rows
    counts = np.bincount(_places(table.ids, order))
    starts = np.concatenate(([0], np.cumsum(counts)[:-1]))
    _check_runs(table, order, order[np.repeat(starts, counts)])
    few, many = int(counts.min()), int(counts.max())
    if many == 1:
        return side
    note = f"{table.label}: {few if few == many else f'{few} to {many}'} runs of each {table.unit} averaged"
    with np.errstate(over="ignore"):  # what is too large to add up is refused with the panel
        means = np.add.reduceat(side.values, starts) / counts
    costs = {name: _mean_of_known(values, starts) for name, values in side.costs.items()}
    return replace(side, rows=order[starts], means=means, notes=(note,), costs=costs)


def _mean_of_known(values: Floats, starts: Integers) -> Floats:
    known = ~np.isnan(values)
    counts = np.add.reduceat(known.astype(np.float64), starts)
    sums = np.add.reduceat(np.where(known, values, 0.0), starts)
    return np.asarray(np.divide(sums, counts, out=np.full(len(starts), np.nan), where=counts > 0))


def _check_runs(table: Table, rows: Integers, first: Integers) -> None:
    """Refuse a weight or cluster that changes between runs of an item."""
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


# ------------------------------------------------------------------------------------------------------------ runs


@dataclass(frozen=True, eq=False, slots=True)
class RunTable:
    """The rows of one run of one model."""

    model: str
    run: str
    table: Table

    @property
    def name(self) -> str:
        return f"{self.model}, run {self.run}"


def runs_of(tables: Sequence[Table], *, files_are_runs: bool = False) -> list[RunTable]:
    """Split tables into runs by the column ``run``, or with ``files_are_runs`` one per table; sorted per model."""
    parts = _parts(tables, files_are_runs=files_are_runs)
    ordered = {model: dict(sorted(runs.items(), key=lambda item: _natural(item[0]))) for model, runs in parts.items()}
    return [RunTable(model, run, table) for model, runs in ordered.items() for run, table in runs.items()]


def numbered_attempts(table: Table) -> Table:
    """The table with its runs numbered item by item: whatever they are called, no more columns than attempts."""
    if "run" not in table.labels:
        return table
    order = np.lexsort((table.labels["run"].codes, table.ids.ranks))
    places = _places(table.ids, order)
    starts = np.flatnonzero(np.diff(places, prepend=-1))
    codes = np.empty(len(order), dtype=np.int64)
    codes[order] = np.arange(len(order)) - starts[places]
    names = tuple(str(i + 1) for i in range(int(codes.max()) + 1))
    return replace(table, labels={**table.labels, "run": Labels(names, codes)})


def columns_of(runs: Sequence[RunTable]) -> tuple[Runs, ...]:
    """Which of the runs are of one model."""
    places: dict[str, list[int]] = {}
    for place, one in enumerate(runs):
        places.setdefault(one.model, []).append(place)
    return tuple(Runs(model, tuple(runs[i].run for i in own), tuple(own)) for model, own in places.items())


def check_repeated(runs: Sequence[RunTable]) -> None:
    """Refuse models with a single run, and runs without a common item."""
    for found in columns_of(runs):
        if len(found.columns) < 2:
            label = runs[found.columns[0]].table.label
            raise InputError(
                f"{label}: model {found.model!r} has one run, and agreement between runs needs two; add a column 'run' "
                "that numbers them, or name one file per run with `files_are_runs=True`."
            )
    _check_common(runs)


def _parts(tables: Sequence[Table], *, files_are_runs: bool) -> dict[str, dict[str, Table]]:
    """The rows of every run of every model."""
    found = [
        (model, run, table, part)
        for table in tables
        for model, rows in _by_model(table, files_are_runs=files_are_runs)
        for run, part in _by_run(rows)
    ]
    short = len({(model, run, _stem(table)) for model, run, table, _ in found}) == len(found)
    parts: dict[str, dict[str, Table]] = {}
    for model, run, table, part in found:
        file = _stem(table) if short else table.label
        name = run if not files_are_runs else file if "run" not in table.labels else f"{file}/{run}"
        known = parts.setdefault(model, {})
        if name in known:
            raise _twice(model, name, known[name], table)
        known[name] = part
    return parts


def _stem(table: Table) -> str:
    return plain_stem(table.label)


def _twice(model: str, run: str, first: Table, second: Table) -> InputError:
    what = f"run {one_line(run)!r} of model {one_line(model)!r}"
    if "run" not in second.labels:
        what = f"a run of model {one_line(model)!r}, without a column 'run' that names it,"
    return InputError(
        f"{second.label}: {what} is in {first.label} as well; distinguish the runs in the column 'run', or take each "
        "file as a run with `files_are_runs=True`."
    )


def _by_model(table: Table, *, files_are_runs: bool) -> Iterator[tuple[str, Table]]:
    if len(table.models) > 1:
        yield from ((model, table.select(model)) for model in table.models)
        return
    after_its_file = not table.models and not set(table.about) - _OF_FILES and table.name in (_stem(table), table.label)
    nameless = table.name == UNNAMED or (files_are_runs and after_its_file)
    yield _NO_NAME if nameless else table.name, table


def _by_run(table: Table) -> Iterator[tuple[str, Table]]:
    if "run" not in table.labels:
        yield "1", table
        return
    labels = table.labels["run"]
    for code, run in enumerate(labels.names):
        part = table.where(labels.codes == code)
        yield run, replace(part, label=f"{table.label} (run {one_line(run)!r})")


def _natural(run: str) -> tuple[bool, float, str]:
    """Sort key: numbers in numeric order, then other names."""
    try:
        return False, float(run), run
    except ValueError:
        return True, 0.0, run


def _check_common(runs: Sequence[RunTable]) -> None:
    """Refuse runs without a common item; name the first run that shares none with all before it."""
    common = set(runs[0].table.ids)
    for one, before in zip(runs[1:], runs, strict=False):
        table = one.table
        if table.ids.same(before.table.ids):
            continue
        left = common.intersection(table.ids)
        if not left:
            examples = listed(map(repr, table.ids[:3].tolist()))
            others = listed(map(repr, sorted(common)[:3]))
            raise InputError(
                f"{table.label}: run {one.run!r} of model {one.model!r} has no {table.unit} that all runs before it "
                f"have (it has {examples}, they have {others}); write the same ids in all runs, or leave this one out."
            )
        common = left


def left_out(runs: Sequence[RunTable], dropped: Dropped, unit: str) -> tuple[str, ...]:
    """A note on units missing from some run."""
    count = dropped.only_a + dropped.only_b
    if not count:
        return ()
    least = min(runs, key=lambda one: len(one.table))
    what = f"{count} {unit}{'s are' if count > 1 else ' is'} left out that not every run has"
    fewest = f"run {least.run!r} of {least.model} has the fewest, {len(least.table):,}"
    return (f"{what}, such as {listed(dropped.examples)}; {fewest}",)
