"""Tables to a grid: every unit that any model has answered, with holes where others have not."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from hashlib import sha256
from typing import Any

import numpy as np

from assay.data import Metric, Table
from assay.data.arms import Arm, arms_of
from assay.data.comparable import check_tables, clustered_by, direction_of, of_split
from assay.data.labels import numbered
from assay.data.metrics import UNITS
from assay.data.pairing import notes_of
from assay.data.readers import UNNAMED
from assay.errors import InputError, UsageError
from assay.names import listed
from assay.results import words
from assay.stats.grid import Grid
from assay.stats.rounding import snapped
from assay.stats.units import Floats, Integers, Texts, Truths


@dataclass(frozen=True, eq=False)
class Answers:
    """The values of k models, sorted by name, on n units, sorted by id."""

    systems: tuple[str, ...]
    units: Texts  # (n,)
    grid: Grid
    metric: Metric
    cluster_by: str | None = None
    weighted: bool = False  # whether the tables have weights
    notes: tuple[str, ...] = ()

    @property
    def unit(self) -> str:
        """What a row is called."""
        return UNITS[self.metric.kind]

    @cached_property
    def digest(self) -> str:
        """The sha256 of the ids and of every number, whatever the format and the order of files and rows."""
        hashed = sha256(b"assay rank 1")
        hashed.update("\n".join(self.units).encode("utf-8", "surrogatepass"))
        for part in (self.grid.values, self.grid.weights, self.grid.clusters):
            if part is not None:
                canonical = np.ascontiguousarray(np.nan_to_num(part, nan=-np.inf) + 0)
                hashed.update(f"|{part.shape}|".encode() + canonical.astype("<f8").tobytes())
        return hashed.hexdigest()

    def keep(self, chosen: Truths) -> "Answers":
        """Some of the units."""
        grid = self.grid
        clusters = None if grid.clusters is None else numbered(grid.clusters[chosen].tolist(), int(chosen.sum()))
        return replace(self, units=self.units[chosen], grid=Grid(grid.values[chosen], grid.weights[chosen], clusters))


def answers_of(
    tables: Sequence[Table],
    *,
    names: Sequence[str] | None = None,
    cluster: str | None = None,
    split: str | None = None,
    lower_is_better: bool | None = None,
) -> Answers:
    """The grid of several tables; what belongs to a unit must be the same in all that have it."""
    systems = _names(tables, names)
    order = sorted(range(len(tables)), key=systems.__getitem__)
    chosen = [tables[i] for i in order]
    check_tables(chosen, split)
    chosen = [of_split(table, split) for table in chosen]
    metric = Metric.of(chosen[0].kind, lower_is_better=direction_of(chosen, asked=lower_is_better))
    cluster = cluster or clustered_by(chosen)
    arms = arms_of(chosen, pooled=split is None and "split" in chosen[0].labels)
    union = _Union.of(arms)
    union.check_contents()
    weight = "tokens" if metric.kind == "losses" else "weight"
    return Answers(
        tuple(systems[i] for i in order),
        union.units,
        Grid(union.values(), union.weights(weight), None if cluster is None else union.clusters(cluster)),
        metric,
        cluster,
        weighted=metric.kind == "scores" and "weight" in chosen[0].numbers,
        notes=_joined(notes_of(arms, cluster)),
    )


def _joined(notes: Sequence[str]) -> tuple[str, ...]:
    """The notes of all tables; what several say of themselves is said once."""
    said: dict[str, list[str]] = {}
    for note in notes:
        label, colon, rest = note.partition(": ")
        labels = said.setdefault(rest if colon else note, [])
        labels += [label] if colon and label not in labels else []
    return tuple(f"{listed(labels, 3)}: {rest}" if labels else rest for rest, labels in said.items())


def _names(tables: Sequence[Table], names: Sequence[str] | None) -> list[str]:
    if names is not None and len(names) != len(tables):
        raise UsageError(f"names must be {len(tables)}, one for each model, but got {listed(names)}.")
    found = list(names) if names is not None else [table.name for table in tables]
    if names is None and len(tables) > 1 and set(found) == {UNNAMED}:
        found = [f"table {i}" for i in range(1, len(tables) + 1)]
    if len(tables) < 2:
        only = f": only {found[0]!r}" if found else ""
        raise InputError(f"rank needs at least two models, but got {len(tables)}{only}; name more files.")
    twice = next((name for name in found if found.count(name) > 1), None)
    if twice is not None:
        labels = [table.label for table, name in zip(tables, found, strict=True) if name == twice]
        raise InputError(f"{listed(labels)}: both hold a model called {twice!r}; rename one with NAME=PATH.")
    return found


@dataclass(frozen=True, eq=False)
class _Union:
    """All units of several arms, and where each arm has its own among them."""

    arms: Sequence[Arm]
    units: Texts
    places: list[Integers]

    @classmethod
    def of(cls, arms: Sequence[Arm]) -> "_Union":
        if all(arms[0].same_units(arm) for arm in arms[1:]):
            units = arms[0].units()
            return cls(arms, units, [np.arange(len(units))] * len(arms))
        own = [arm.units().tolist() for arm in arms]
        every = sorted(set().union(*own))
        at = {unit: place for place, unit in enumerate(every)}
        units = np.empty(len(every), dtype=object)
        units[:] = every
        return cls(arms, units, [np.fromiter(map(at.__getitem__, names), np.int64, len(names)) for names in own])

    def values(self) -> Floats:
        values = np.full((len(self.units), len(self.arms)), np.nan)
        for column, (arm, places) in enumerate(zip(self.arms, self.places, strict=True)):
            values[places, column] = arm.values
        with np.errstate(over="ignore"):
            totals = np.nansum(np.abs(values), axis=0)
        if not np.isfinite(totals).all():
            label = self.arms[int(np.argmin(np.isfinite(totals)))].label
            raise InputError(f"{label}: its values are too large to add up; check in which unit they are.")
        return values

    def weights(self, name: str) -> Floats:
        """Tokens or weights; ones where no table has them."""
        have = [name in arm.table.numbers for arm in self.arms]
        if not any(have):
            return np.ones(len(self.units))
        if not all(have):
            has, lacks = self.arms[have.index(True)].label, self.arms[have.index(False)].label
            raise InputError(
                f"{has} has a column {name!r} and {lacks} has none; add it, or leave it out with --columns {name}=."
            )
        found: Floats = self._agreed(name, [arm.numbers(name) for arm in self.arms], np.full(len(self.units), np.nan))
        return found

    def check_contents(self) -> None:
        """Refuse a unit that is something else in another file, where the files tell what it is."""
        told = [(a, p) for a, p in zip(self.arms, self.places, strict=True) if "doc_hash" in a.table.labels]
        if len(told) > 1:
            union = _Union([arm for arm, _ in told], self.units, [places for _, places in told])
            blank = np.full(len(self.units), None, dtype=object)
            union._agreed("doc_hash", [arm.texts("doc_hash") for arm, _ in told], blank)

    def clusters(self, name: str) -> Integers:
        for arm in self.arms:
            if name not in arm.table.labels:
                raise InputError(f"{arm.label}: no column {name!r} to cluster by; add it to every file.")
        texts = self._agreed(name, [arm.texts(name) for arm in self.arms], np.full(len(self.units), None, dtype=object))
        return numbered(texts.tolist(), len(texts))

    def _agreed(self, name: str, columns: Sequence[Any], found: Any) -> Any:
        """One value for each unit, refused where two arms have different ones."""
        unseen = np.ones(len(self.units), dtype=bool)
        for arm, places, values in zip(self.arms, self.places, columns, strict=True):
            differs = ~unseen[places] & (found[places] != values)
            if differs.any():
                at = int(np.argmax(differs))
                raise self._disagreement(arm, at, name, int(places[at]))
            found[places] = values
            unseen[places] = False
        return found

    def _disagreement(self, arm: Arm, at: int, name: str, place: int) -> InputError:
        other, where = next(
            (earlier, int(np.flatnonzero(places == place)[0]))
            for earlier, places in zip(self.arms, self.places, strict=True)
            if (places == place).any()
        )
        unit = arm.table.unit
        if name == "doc_hash":
            return InputError(
                f"{other.place(where)}, and {arm.place(at)}: {unit} {self.units[place]!r} is not the same in both, its "
                "contents differ; run all models on the same version of the data."
            )
        return InputError(
            f"{other.place(where)}, and {arm.place(at)}, column {arm.table.columns.get(name, name)!r}: {unit} "
            f"{self.units[place]!r} has {name} {other.shown(name, where)} and {arm.shown(name, at)}; the same {unit} "
            f"must have the same {name} in all files."
        )


def only_complete(answers: Answers) -> Answers:
    """Only the units that every model has answered."""
    everywhere = np.asarray(answers.grid.present.all(axis=1))
    if not everywhere.any():
        raise InputError(
            f"no {answers.unit} has an answer of every model; leave out --complete, or models that lack many."
        )
    return answers if everywhere.all() else answers.keep(everywhere)


def without_rounding(answers: Answers) -> Answers:
    """Values of a unit that differ by rounding only are made equal: such differences are none."""
    grid = answers.grid
    values, changed = snapped(grid.values)
    if not changed:
        return answers
    notes = (*answers.notes, words.rounded_off(changed))
    return replace(answers, grid=Grid(values, grid.weights, grid.clusters), notes=notes)
