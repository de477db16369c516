"""Tables to one panel: units are paired by id and by nothing else.

The panel has every unit that any table has, with holes where others lack it; or only the units that all have. Tables
that list the same units, as most do, are not copied.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from assay.data.comparable import check_tables, clustered_by, direction_of, of_split
from assay.data.metrics import BITS, SIZES, Metric
from assay.data.panel_records import NOTHING, Dropped, Labels
from assay.data.panel_views import EXAMPLES, PanelViews
from assay.data.systems import Arm, arms_of
from assay.data.tables import Table
from assay.errors import InputError, NoPairsError, UsageError
from assay.names import argument, listed
from assay.stats.units import Floats, Integers, Texts, Truths

_NUMBERS = ("start", "stop", "weight")  # what a panel keeps of units beside its parts
_NOT_LABELS = ("model", "run", "doc_hash", "split")


@dataclass(frozen=True, slots=True)
class Pairing:
    """How tables are paired."""

    names: Sequence[str] | None = None  # of the systems
    cluster: str | None = None
    split: str | None = None  # only the units of this one
    lower_is_better: bool | None = None
    complete: bool = True  # only the units that all tables have
    strict: bool = False  # refuse tables that do not have the same units


def pair_tables(tables: Sequence[Table], how: Pairing) -> PanelViews:
    """Pair tables; what belongs to a unit must be the same in all that have it. Runs of a unit are averaged."""
    check_tables(tables, how.split)
    chosen = [of_split(table, how.split) for table in tables]
    about = chosen[0].about
    metric = Metric.of(
        chosen[0].kind,
        lower_is_better=direction_of(chosen, asked=how.lower_is_better),
        name=about.get("measure_name"),
    )
    systems = system_names(chosen, how.names)
    cluster = how.cluster or clustered_by(chosen)
    pooled = how.split is None and "split" in chosen[0].labels
    union = _Union.of(arms_of(chosen, pooled=pooled))
    if how.complete or how.strict:
        union = union.common(strict=how.strict)
    union.check_contents()
    weights = union.shared(metric.parts[1])
    sizes = {name: union.shared(name) for name in SIZES if union.all_have(name)}
    return PanelViews(
        systems,
        union.ids,
        {
            metric.parts[0]: union.sums(weights),
            metric.parts[1]: weights[:, None],
            **{name: size[:, None] for name, size in sizes.items()},
        },
        (metric, *(BITS[name] for name in sizes)),
        about.get("unit") or chosen[0].unit,
        labels=union.labels(cluster, pooled=pooled),
        numbers=union.further_numbers(),
        cluster=cluster,
        dropped=union.dropped,
        notes=notes_of(union.arms, cluster),
    )


@dataclass(frozen=True, eq=False)
class _Union:
    """All units of several arms, and where each arm has its own among them."""

    arms: Sequence[Arm]
    ids: Texts
    places: list[Integers] | None  # None: every arm has every unit
    dropped: Dropped = field(default=NOTHING)

    @classmethod
    def of(cls, arms: Sequence[Arm]) -> "_Union":
        if all(arms[0].same_units(arm) for arm in arms[1:]):
            return cls(arms, arms[0].units(), None)
        own = [arm.units().tolist() for arm in arms]
        every = sorted(set().union(*own))
        at = {unit: place for place, unit in enumerate(every)}
        ids = np.empty(len(every), dtype=object)
        ids[:] = every
        return cls(arms, ids, [np.fromiter(map(at.__getitem__, names), np.int64, len(names)) for names in own])

    def common(self, *, strict: bool) -> "_Union":
        """Only the units that every arm has."""
        if self.places is None:
            return self
        counts = np.bincount(np.concatenate(self.places), minlength=len(self.ids))
        everywhere: Truths = counts == len(self.arms)
        if not everywhere.any():
            raise _nothing_common(self.arms)
        first = np.zeros(len(self.ids), dtype=bool)
        first[self.places[0]] = True
        only = int((~everywhere & first).sum()), int((~everywhere & ~first).sum())
        dropped = Dropped(*only, tuple(self.ids[~everywhere][:EXAMPLES]))
        if strict:
            raise _unpaired(self.arms, dropped)
        kept = [arm.keep(everywhere[places]) for arm, places in zip(self.arms, self.places, strict=True)]
        return _Union(kept, self.ids[everywhere], None, dropped)

    def all_have(self, name: str) -> bool:
        return all(name in arm.table.numbers for arm in self.arms)

    def sums(self, weights: Floats) -> Floats:
        """(n, k) Value × weight, NaN where an arm lacks the unit."""
        sums = np.full((len(self.ids), len(self.arms)), np.nan, order="F")
        with np.errstate(over="ignore"):
            for column, arm in enumerate(self.arms):
                places = slice(None) if self.places is None else self.places[column]
                sums[places, column] = arm.values * weights[places]
            totals = np.nansum(np.abs(sums), axis=0)
            summable = np.isfinite(totals) & np.isfinite(weights.sum())
        if not summable.all():
            label = self.arms[int(np.argmin(summable))].label
            raise InputError(f"{label}: its values are too large to add up; check in which unit they are.")
        return sums

    def shared(self, name: str) -> Floats:
        """A column of numbers that all arms must agree on; ones where no arm has it."""
        have = [name in arm.table.numbers for arm in self.arms]
        if not any(have):
            return np.ones(len(self.ids))
        if not all(have):
            has, lacks = self.arms[have.index(True)].label, self.arms[have.index(False)].label
            raise InputError(
                f"{has} has a column {name!r} and {lacks} has none; add it, or leave it out with "
                f"{argument(columns={name: ''})}."
            )
        columns = [arm.numbers(name) for arm in self.arms]
        self._refuse(self._differing(columns), name)
        found: Floats = self._spread(columns, np.full(len(self.ids), np.nan))
        return found

    def further_numbers(self) -> dict[str, Floats]:
        """Numbers of units that all arms have and agree on."""
        found = {}
        for name in _NUMBERS:
            if self.all_have(name):
                columns = [arm.numbers(name) for arm in self.arms]
                if self._differing(columns) is None:
                    found[name] = self._spread(columns, np.full(len(self.ids), np.nan))
        return found

    def labels(self, cluster: str | None, *, pooled: bool) -> dict[str, Labels]:
        """The labels that all arms have and agree on; on the cluster they must agree."""
        for arm in self.arms if cluster is not None else ():
            if cluster not in arm.table.labels:
                raise InputError(
                    f"{arm.label}: no column {cluster!r} was read to cluster by; pass {argument(cluster=cluster)} "
                    "where it is read."
                )
        names = [name for name in self.arms[0].table.labels if name not in _NOT_LABELS]
        found = {}
        for name in [*names, *(["split"] if pooled else [])]:
            if not all(name in arm.table.labels for arm in self.arms):
                continue
            texts, columns = _codes([arm.table.labels[name] for arm in self.arms], [arm.rows for arm in self.arms])
            differs = self._differing(columns)
            if name == cluster:
                self._refuse(differs, name)
            if differs is None:
                found[name] = Labels(texts, self._spread(columns, np.zeros(len(self.ids), dtype=np.int64)))
        return found

    def check_contents(self) -> None:
        """Refuse a unit that is something else in another file, where the files tell what it is."""
        told = [i for i, arm in enumerate(self.arms) if "doc_hash" in arm.table.labels]
        if len(told) > 1:
            arms, places = [self.arms[i] for i in told], self.places
            part = _Union(arms, self.ids, None if places is None else [places[i] for i in told])
            columns = [arm.texts("doc_hash") for arm in arms]
            part._refuse(part._differing(columns), "doc_hash")

    def _spread(self, columns: Sequence[Any], found: Any) -> Any:
        """One value for each unit, from whichever arm has it."""
        if self.places is None:
            return columns[0]
        for places, values in zip(self.places, columns, strict=True):
            found[places] = values
        return found

    def _differing(self, columns: Sequence[Any]) -> tuple[int, int, int, int] | None:
        """The first unit of which two arms have different values: both arms, and where they have it."""
        if self.places is None:
            for arm, values in enumerate(columns[1:], start=1):
                same = columns[0] == values
                if not same.all():
                    at = int(np.argmin(same))
                    return 0, at, arm, at
            return None
        found, seen = np.empty(len(self.ids), dtype=columns[0].dtype), np.zeros(len(self.ids), dtype=bool)
        for arm, (places, values) in enumerate(zip(self.places, columns, strict=True)):
            differs = seen[places] & (found[places] != values)
            if differs.any():
                at = int(np.argmax(differs))
                return *self._first_with(int(places[at])), arm, at
            found[places], seen[places] = values, True
        return None

    def _first_with(self, place: int) -> tuple[int, int]:
        """The first arm that has a unit, and where."""
        assert self.places is not None
        arm = next(arm for arm, places in enumerate(self.places) if (places == place).any())
        return arm, int(np.flatnonzero(self.places[arm] == place)[0])

    def _refuse(self, differing: tuple[int, int, int, int] | None, name: str) -> None:
        if differing is None:
            return
        a, b = self.arms[differing[0]], self.arms[differing[2]]
        at, there = differing[1], differing[3]
        two, unit = len(self.arms) == 2, a.table.unit
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


def _codes(labels: Sequence[Labels], rows: Sequence[Integers]) -> tuple[tuple[str, ...], list[Integers]]:
    """The labels of the rows of several tables as codes of the same names."""
    if all(one.names == labels[0].names for one in labels[1:]):
        return labels[0].names, [one.codes[chosen] for one, chosen in zip(labels, rows, strict=True)]
    names = sorted(set().union(*(one.names for one in labels)))
    codes = {name: code for code, name in enumerate(names)}
    renamed = [np.array([codes[name] for name in one.names], dtype=np.int64) for one in labels]
    return tuple(names), [new[one.codes[own]] for new, one, own in zip(renamed, labels, rows, strict=True)]


def system_names(tables: Sequence[Table], names: Sequence[str] | None) -> tuple[str, ...]:
    """The names given, or those of the models or files; with letters if nothing else tells them apart."""
    if names is not None:
        if len(names) != len(tables) or len(set(names)) != len(tables):
            raise UsageError(f"names must be {len(tables)} different names, but got {listed(names)}.")
        return tuple(names)
    for found in ([table.name for table in tables], [table.label for table in tables]):
        if len(set(found)) == len(tables):
            return tuple(found)
    return tuple(f"{table.name} ({i + 1})" for i, table in enumerate(tables))


def _unpaired(arms: Sequence[Arm], dropped: Dropped) -> InputError:
    others, examples = listed([arm.label for arm in arms[1:]]), listed(map(repr, dropped.examples))
    counts = f"{dropped.only_a} only in {arms[0].label}, {dropped.only_b} only in {others}, such as {examples}"
    total = dropped.only_a + dropped.only_b
    return InputError(f"{total} {arms[0].table.unit}s do not pair: {counts}; complete the files, or drop `strict`.")


def _nothing_common(arms: Sequence[Arm]) -> NoPairsError:
    sides = "; ".join(f"{arm.label} has {listed(map(repr, arm.units(slice(3))))}" for arm in arms)
    unit = arms[0].table.unit
    return NoPairsError(
        f"no {unit} is in every table: {sides}; write the same ids, or name them with "
        f"{argument(columns={unit: 'NAME'})}."
    )


def notes_of(arms: Sequence[Arm], cluster: str | None) -> tuple[str, ...]:
    notes = [note for arm in arms for note in (*arm.table.notes, *arm.notes)]
    for name in SIZES:
        have = [name in arm.table.numbers for arm in arms]
        if any(have) and not all(have):
            notes.append(f"column {name!r} not used: {arms[have.index(False)].label} has none")
    if cluster is None and any(_has_long_documents(arm) for arm in arms):
        notes.append("column 'document' not used: windows count as independent (`cluster='document'` draws documents)")
    return tuple(dict.fromkeys(notes))


def _has_long_documents(arm: Arm) -> bool:
    """Whether several windows are of one document."""
    return "document" in arm.table.labels and len(set(arm.texts("document"))) < len(arm)
