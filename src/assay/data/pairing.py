"""Pair tables into one panel, by unit id and by nothing else.

The panel has every unit of any table, with holes where a table lacks it, or only the units that all tables have. Tables
that list the same units, as most do, are not copied.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from assay.data.conditions import check_conditions, notes_on_conditions
from assay.data.costs import known_costs
from assay.data.lost_answers import answered_tables, like_tasks, lost_in, lost_notes
from assay.data.metrics import BITS, SIZES, Metric
from assay.data.panel_views import EXAMPLES, NOTHING, Dropped, PanelViews
from assay.data.readers.containers import unpacked_name
from assay.data.same_items import copies_note, equal_note
from assay.data.suspicions import equal_files, equal_files_note, zeros_note
from assay.data.tables import (
    Labels,
    Table,
    check_tables,
    clustered_by,
    direction_of,
    measures_of,
    of_split,
    tokens_notes,
)
from assay.data.text_columns import TextColumn, concatenated
from assay.data.units_and_runs import SortedTable, sorted_tables
from assay.design import Missing
from assay.errors import InputError, NoPairsError, UsageError
from assay.names import argument, listed, names_of, said_once, short_names
from assay.stats.in_blocks import MANY
from assay.stats.units import Floats, Integers, Truths

_NUMBERS = ("start", "stop", "weight")  # what a panel keeps of units beside its parts
#: What is said of documents that nobody asked to draw; a comparison says what it measured of them instead.
INDEPENDENT = "column 'document' not used: windows count as independent (`cluster='document'` draws documents)"
_NOT_LABELS = ("model", "run", "split")
_BLOCK = 1 << 16  # values at a time


@dataclass(frozen=True, slots=True)
class Pairing:
    """How tables are paired."""

    names: Sequence[str] | None = None  # of the systems
    cluster: str | None = None
    split: str | None = None  # only the units of this one
    lower_is_better: bool | None = None
    missing: Missing = "complete"  # what becomes of units that not all tables have
    runs: bool = False  # tables are runs, which may be equal


def pair_tables(tables: Sequence[Table], how: Pairing) -> PanelViews:
    """Pair tables. Tokens, weights and clusters of a unit must agree between tables; repeated runs are averaged."""
    check_tables(tables, how.split)
    check_conditions(tables)
    chosen = [of_split(table, how.split) for table in tables]
    about = chosen[0].about
    metric = Metric.of(
        chosen[0].kind, lower_is_better=direction_of(chosen, asked=how.lower_is_better), name=about.get("measure_name")
    )
    systems = system_names(chosen, how.names)
    cluster = how.cluster or clustered_by(chosen)
    pooled = how.split is None and "split" in chosen[0].labels
    lost, counts = lost_notes(chosen, systems, how.missing), lost_in(chosen, systems)
    chosen = answered_tables(chosen, metric, how.missing)
    union = _Union.of(sorted_tables(chosen, pooled=pooled))
    if how.missing in ("complete", "refuse"):
        union = union.common(strict=how.missing == "refuse")
    union.check_contents()
    weights = union.shared(metric.parts[1])
    sums = union.sums(weights)
    holes = int(np.isnan(sums).sum())
    labels = union.labels(cluster, pooled=pooled)
    sizes = {name: size for name in SIZES if union.all_have(name) and (size := union.shared(name)).any()}
    return PanelViews(
        systems,
        union.ids,
        {
            metric.parts[0]: np.nan_to_num(sums, nan=0.0) if how.missing == "zero" and holes else sums,
            metric.parts[1]: weights[:, None],
            **{name: size[:, None] for name, size in sizes.items()},
        },
        (metric, *(BITS[name] for name in sizes)),
        about.get("unit") or chosen[0].unit,
        labels=labels,
        numbers=union.further_numbers(),
        cluster=cluster,
        dropped=union.dropped,
        lost=counts,
        measures=measures_of(chosen),
        costs=union.costs(),
        settings={"part_of": part} if (part := about.get("part_of")) else {},
        groups={name: tasks for table in chosen for name, tasks in table.about.get("groups", {}).items()},
        notes=(
            *lost,
            *notes_on_conditions(chosen, systems),
            *like_tasks(labels, cluster, chosen[0]),
            *copies_note(union.ids, labels, chosen[0].unit, cluster),
            *(() if how.runs else _doubts(tables, sums, systems, metric)),
            *notes_of(union.sides, cluster),
            *([f"{holes:,} answers that are not there count as 0"] if how.missing == "zero" and holes else []),
        ),
    )


def _doubts(tables: Sequence[Table], sums: Floats, systems: Sequence[str], metric: Metric) -> tuple[str, ...]:
    """The same results twice, and scores that are all 0."""
    unit, same = tables[0].unit, equal_files(tables, systems)
    known = {name for names in same for name in names}
    others = [i for i, name in enumerate(systems) if name not in known or name in {names[0] for names in same}]
    different = sums if len(others) == len(systems) else sums[:, others]
    equal = equal_note(different, [systems[i] for i in others], unit)
    return (*equal_files_note(same), *equal, *zeros_note(sums, systems, metric, unit))


@dataclass(frozen=True, eq=False)
class _Union:
    """The union of the units of several tables (sides), and where each side's units are in it."""

    sides: Sequence[SortedTable]
    ids: TextColumn
    places: list[Integers] | None  # None: every side has every unit
    dropped: Dropped = field(default=NOTHING)

    @classmethod
    def of(cls, sides: Sequence[SortedTable]) -> "_Union":
        if all(sides[0].same_units(side) for side in sides[1:]):
            return cls(sides, sides[0].units(), None)
        own = [side.units() for side in sides]
        every = concatenated(own)
        ids, ranks = every[every.sorted.order[~every.sorted.repeats]], every.ranks
        return cls(sides, ids, np.split(ranks, np.cumsum([len(one) for one in own])[:-1]))

    def common(self, *, strict: bool) -> "_Union":
        """Keep only the units that every side has."""
        if self.places is None:
            return self
        counts = np.bincount(np.concatenate(self.places), minlength=len(self.ids))
        everywhere: Truths = counts == len(self.sides)
        if not everywhere.any():
            raise _nothing_common(self.sides)
        first = np.zeros(len(self.ids), dtype=bool)
        first[self.places[0]] = True
        only = int((~everywhere & first).sum()), int((~everywhere & ~first).sum())
        dropped = Dropped(*only, tuple(self.ids[~everywhere][:EXAMPLES]))
        if strict:
            raise _unpaired(self.sides, dropped)
        kept = [side.keep(everywhere[places]) for side, places in zip(self.sides, self.places, strict=True)]
        return _Union(kept, self.ids[everywhere], None, dropped)

    def all_have(self, name: str) -> bool:
        return all(name in side.table.numbers for side in self.sides)

    def sums(self, weights: Floats) -> Floats:
        """(n, k) Value × weight, NaN where a side lacks the unit."""
        sums: Floats = np.empty((len(self.ids), len(self.sides)), order="F")
        if self.places is not None:
            sums.fill(np.nan)
        total = float(weights.sum())
        with np.errstate(over="ignore"):
            for column, side in enumerate(self.sides):
                if self.places is None:
                    found = side.values_into(sums[:, column])
                    found *= weights
                else:
                    found = side.values * weights[self.places[column]]
                    sums[self.places[column], column] = found
                if not np.isfinite(_size_of(found) + total):
                    raise InputError(f"{side.label}: its values are too large to add up; check in which unit they are.")
        return sums

    def shared(self, name: str) -> Floats:
        """A column of numbers that all sides must agree on; ones where no side has it."""
        have = [name in side.table.numbers for side in self.sides]
        if not any(have):
            n = len(self.ids)
            many = n >= MANY and self.places is None
            return np.broadcast_to(np.ones(1), n) if many else np.ones(n)  # the first takes no memory
        if not all(have):
            has, lacks = self.sides[have.index(True)].label, self.sides[have.index(False)].label
            raise InputError(
                f"{has} has a column {name!r} and {lacks} has none; add it, or leave it out with "
                f"{argument(columns={name: ''})}."
            )
        columns = [side.numbers(name) for side in self.sides]
        self._refuse(self._differing(columns), name)
        found: Floats = self._spread(columns, np.full(len(self.ids), np.nan))
        return found

    def costs(self) -> dict[str, Floats]:
        """(n, k) each: what the answers of each side cost, NaN where that is not known."""
        found = {}
        for name in known_costs([side.costs for side in self.sides]):
            whole = np.full((len(self.ids), len(self.sides)), np.nan, order="F")
            for column, side in enumerate(self.sides):
                if name in side.costs:
                    whole[slice(None) if self.places is None else self.places[column], column] = side.costs[name]
            found[name] = whole
        return found

    def further_numbers(self) -> dict[str, Floats]:
        """Numbers of units that all sides have and agree on."""
        found = {}
        for name in _NUMBERS:
            if self.all_have(name):
                columns = [side.numbers(name) for side in self.sides]
                if self._differing(columns) is None:
                    found[name] = self._spread(columns, np.full(len(self.ids), np.nan))
        return found

    def labels(self, cluster: str | None, *, pooled: bool) -> dict[str, Labels]:
        """The labels that all sides have and agree on; on the cluster they must agree."""
        for side in self.sides if cluster is not None else ():
            if cluster not in side.table.labels:
                raise InputError(
                    f"{side.label}: no column {cluster!r} was read to cluster by; pass {argument(cluster=cluster)} "
                    "where it is read."
                )
        names = [name for name in self.sides[0].table.labels if name not in _NOT_LABELS]
        found = {}
        for name in [*names, *(["split"] if pooled else [])]:
            if not all(name in side.table.labels for side in self.sides):
                continue
            texts, columns = _codes([(side.table.labels[name], side.rows) for side in self.sides])
            differs = self._differing(columns)
            if name == cluster:
                self._refuse(differs, name)
            if differs is None:
                found[name] = Labels(texts, self._spread(columns, np.zeros(len(self.ids), dtype=np.int64)))
        if self.dropped == NOTHING:
            return found
        return {name: one.where(np.arange(len(self.ids))) for name, one in found.items()}  # without names of none left

    def check_contents(self) -> None:
        """Refuse units whose contents differ between files, where the files carry a hash of them."""
        told = [i for i, side in enumerate(self.sides) if "doc_hash" in side.table.labels]
        if len(told) > 1:
            sides, places = [self.sides[i] for i in told], self.places
            part = _Union(sides, self.ids, None if places is None else [places[i] for i in told])
            columns = [side.texts("doc_hash") for side in sides]
            part._refuse(part._differing(columns), "doc_hash")

    def _spread(self, columns: Sequence[Any], found: Any) -> Any:
        """One value for each unit, from whichever side has it."""
        if self.places is None:
            return columns[0]
        for places, values in zip(self.places, columns, strict=True):
            found[places] = values
        return found

    def _differing(self, columns: Sequence[Any]) -> tuple[int, int, int, int] | None:
        """The first unit on which two sides disagree: each side and its row there."""
        if self.places is None:
            for side, values in enumerate(columns[1:], start=1):
                same = columns[0] == values
                if not same.all():
                    at = int(np.argmin(same))
                    return 0, at, side, at
            return None
        found, seen = np.empty(len(self.ids), dtype=columns[0].dtype), np.zeros(len(self.ids), dtype=bool)
        for side, (places, values) in enumerate(zip(self.places, columns, strict=True)):
            differs = seen[places] & (found[places] != values)
            if differs.any():
                at = int(np.argmax(differs))
                return *self._first_with(int(places[at])), side, at
            found[places], seen[places] = values, True
        return None

    def _first_with(self, place: int) -> tuple[int, int]:
        """The first side that has a unit, and its row there."""
        assert self.places is not None
        side = next(side for side, places in enumerate(self.places) if (places == place).any())
        return side, int(np.flatnonzero(self.places[side] == place)[0])

    def _refuse(self, differing: tuple[int, int, int, int] | None, name: str) -> None:
        if differing is None:
            return
        a, b = self.sides[differing[0]], self.sides[differing[2]]
        at, there = differing[1], differing[3]
        two, unit = len(self.sides) == 2, a.table.unit
        unit_name = f"{unit} {a.units(slice(at, at + 1))[0]!r}"
        if name == "doc_hash":
            raise InputError(
                f"{a.place(at)}, and {b.place(there)}: {unit_name} is not the same in both, its contents differ; run "
                f"{'both' if two else 'all models'} on the same version of the data."
            )
        raise InputError(
            f"{a.place(at)}, and {b.place(there)}, column {a.table.columns.get(name, name)!r}: {unit_name} has {name} "
            f"{a.shown(name, at)} and {b.shown(name, there)}; the same {unit} must have the same {name} in "
            f"{'both' if two else 'all files'}."
        )


def _size_of(values: Floats) -> float:
    """Σ |value| without those that are NaN, some at a time."""
    blocks = (values[low : low + _BLOCK] for low in range(0, len(values), _BLOCK))
    return float(sum(np.nansum(np.abs(block)) for block in blocks))


def _codes(labels: Sequence[tuple[Labels, Integers]]) -> tuple[tuple[str, ...], list[Integers]]:
    """Labels of rows of several tables as codes into one list of names."""
    first = labels[0][0].names
    if all(one.names == first for one, _ in labels):
        return first, [one.codes[rows] for one, rows in labels]
    names = sorted(set().union(*(one.names for one, _ in labels)))
    codes = {name: code for code, name in enumerate(names)}
    renamed = [np.array([codes[name] for name in one.names], dtype=np.int64) for one, _ in labels]
    return tuple(names), [new[one.codes[rows]] for new, (one, rows) in zip(renamed, labels, strict=True)]


def system_names(tables: Sequence[Table], names: Sequence[str] | None) -> tuple[str, ...]:
    """The given names, or those of the models or files; numbered if nothing else tells them apart."""
    if names is not None:
        if len(names) != len(tables) or len(set(names)) != len(tables):
            raise UsageError(f"names must be {len(tables)} different names, but got {listed(names)}.")
        return tuple(names)
    found = [table.name for table in tables]
    labels = [unpacked_name(table.label) for table in tables]
    if len(set(found)) < len(tables) == len(set(labels)):
        found = names_of(labels)
    if len(set(found)) == len(tables):
        return tuple(short_names(found))
    return tuple(f"{table.name} ({i + 1})" for i, table in enumerate(tables))


def _unpaired(sides: Sequence[SortedTable], dropped: Dropped) -> InputError:
    others, examples = listed([side.label for side in sides[1:]]), listed(map(repr, dropped.examples))
    counts = f"{dropped.only_a} only in {sides[0].label}, {dropped.only_b} only in {others}, such as {examples}"
    total = dropped.only_a + dropped.only_b
    return InputError(
        f"{total} {sides[0].table.unit}s do not pair: {counts}; complete the files, or leave out `missing`."
    )


def _nothing_common(sides: Sequence[SortedTable]) -> NoPairsError:
    told = "; ".join(f"{side.label} has {listed(map(repr, side.units(slice(3))))}" for side in sides)
    unit = sides[0].table.unit
    return NoPairsError(
        f"no {unit} is in every table: {told}; write the same ids, or name them with "
        f"{argument(columns={unit: 'NAME'})}."
    )


def notes_of(sides: Sequence[SortedTable], cluster: str | None) -> tuple[str, ...]:
    notes = [*said_once(note for side in sides for note in (*side.table.notes, *side.notes))]
    notes += tokens_notes([(side.label, side.table.about) for side in sides])
    for name in SIZES:
        have = [name in side.table.numbers for side in sides]
        if any(have) and not all(have):
            notes.append(f"column {name!r} not used: {sides[have.index(False)].label} has none")
    if cluster is None and any(_has_long_documents(side) for side in sides):
        notes.append(INDEPENDENT)
    return tuple(dict.fromkeys(notes))


def _has_long_documents(side: SortedTable) -> bool:
    """Whether any document has several windows."""
    labels = side.table.labels.get("document")
    if labels is None:
        return False
    return len(labels.names) < len(side) or len(np.unique(labels.codes[side.rows])) < len(side)
