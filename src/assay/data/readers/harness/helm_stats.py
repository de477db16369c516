"""The statistics of a run of HELM, column by column: of each instance how many values a metric has, and their sum.

Files of a few hundred megabytes are usual, and most of them describes requests: such metrics are not kept.
"""

import re
from array import array
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import repeat
from pathlib import Path
from sys import intern
from typing import Any

import numpy as np

from assay.data.readers.harness import field_of, number
from assay.data.readers.harness.helm_columns import EqualEntries, HelmColumns, HelmEntry
from assay.data.readers.harness.long_lists import NotPlainError, RecordsOfPart, file_blocks, parts_of_list
from assay.data.readers.harness.places import NumberedPlaces
from assay.data.readers.harness.shorter_lists import WithoutItems
from assay.errors import InputError
from assay.files.reading import read_json
from assay.stats.units import Floats, Integers

Key = tuple[str, int, str]  # instance, trial and split
Keeps = Callable[[str], bool]  # whether a metric is kept

_BETWEEN = re.compile(rb'\}(\s*,\s*)\{\s*"instance_id"\s*:')


@dataclass(eq=False, slots=True)
class HelmMetric:
    """Of each unit how many values, and their sum; the units after the last have none."""

    counts: "array[float]" = field(default_factory=lambda: array("d"))
    sums: "array[float]" = field(default_factory=lambda: array("d"))

    def add(self, unit: int, count: float, total: float) -> None:
        new = unit - len(self.counts)
        if new == 0:
            self.counts.append(count)
            self.sums.append(total)
            return
        if new > 0:
            self.counts.extend([0.0] * (new + 1))
            self.sums.extend([0.0] * (new + 1))
        self.counts[unit] += count
        self.sums[unit] += total

    def extend(self, unit: int, counts: Floats, sums: Floats) -> None:
        """Add those of the units from one on, which have none yet."""
        for own, more in ((self.counts, counts), (self.sums, sums)):
            own.frombytes(bytes(own.itemsize * (unit - len(own))) + more.tobytes())

    def of(self, units: Integers) -> tuple[Floats, Floats]:
        """How many values some units have, and their sums."""
        counts, sums = np.zeros((2, 1 + max(int(units.max(initial=0)), len(self.counts))))
        counts[: len(self.counts)], sums[: len(self.sums)] = self.counts, self.sums
        return counts[units], sums[units]


@dataclass(eq=False, slots=True)
class HelmUnits:
    """The unperturbed instances of each trial and split, and their metrics."""

    path: Path
    keeps: Keeps
    keys: dict[Key, int] = field(default_factory=dict)  # with their place in the columns
    entries: "array[int]" = field(default_factory=lambda: array("q"))  # where each is first told of, from 1
    metrics: dict[str, HelmMetric | None] = field(default_factory=dict)  # None of those that are not kept
    splits: dict[str, None] = field(default_factory=dict)  # in the order of the file
    perturbed: set[tuple[str, int]] = field(default_factory=set)

    def add(self, key: Key, entry: int, name: str, count: float, total: float) -> None:
        unit = self.unit(key, entry)
        if (metric := self.metric(name)) is not None:
            metric.add(unit, count, total)

    def unit(self, key: Key, entry: int) -> int:
        unit = self.keys.setdefault(key, len(self.keys))
        self.splits[key[2]] = None
        if unit == len(self.entries):
            self.entries.append(entry)
        return unit

    def metric(self, name: str) -> HelmMetric | None:
        if name not in self.metrics:
            self.metrics[name] = HelmMetric() if self.keeps(name) else None
        return self.metrics[name]

    def place(self, unit: int) -> str:
        return f"{self.path}, entry {self.entries[unit]}"


@dataclass(frozen=True, eq=False, slots=True)
class OfSplit:
    """The units of one split, in the order of the file."""

    every: HelmUnits
    keys: list[Key]
    units: Integers

    @classmethod
    def of(cls, every: HelmUnits, split: str) -> "OfSplit":
        if list(every.splits) == [split]:
            return cls(every, list(every.keys), np.arange(len(every.keys)))
        found = {key: unit for key, unit in every.keys.items() if key[2] == split}
        return cls(every, list(found), np.fromiter(found.values(), dtype=np.int64, count=len(found)))

    @property
    def places(self) -> NumberedPlaces:
        entries = np.frombuffer(self.every.entries, dtype=np.int64)[self.units]
        return NumberedPlaces(str(self.every.path), array("q", entries.tobytes()), "entry")

    @property
    def names(self) -> list[str]:
        """The metrics that have values here."""
        return [
            name for name, metric in self.every.metrics.items() if metric is not None and metric.of(self.units)[0].any()
        ]

    def means(self, name: str) -> Floats:
        """The mean of a metric in each unit; NaN where it has no values."""
        counts, sums = self.of_metric(name)
        found: Floats = np.divide(sums, counts, out=np.full(len(sums), np.nan), where=counts != 0)
        return found

    def of_metric(self, name: str) -> tuple[Floats, Floats]:
        return (self.every.metrics.get(name) or HelmMetric()).of(self.units)


def read_units(path: Path, keeps: Keeps) -> HelmUnits:
    """Read the statistics of a run; each of its metrics adds an entry of its own, so an instance has several."""
    try:
        found = _quickly(path, keeps)
    except NotPlainError:
        found = _slowly(path, keeps)
    if not found.keys:
        raise InputError(f"{path}: no instance without perturbation; run HELM on the original instances too.")
    return found


def _quickly(path: Path, keeps: Keeps) -> HelmUnits:
    found, before = HelmUnits(path, keeps), 0
    decoded = RecordsOfPart(HelmEntry, _once, WithoutItems("instance_id", _names, keeps))
    alike = EqualEntries(keeps)
    for part in parts_of_list(file_blocks(path), _BETWEEN):
        columns = None if decoded.looks else alike(part)
        if columns is not None and _add_columns(found, columns, before + 1):
            before += len(columns.instances)
            continue
        entries = decoded(part)
        if columns is None:
            alike.learn(part, entries)
        if not _add_together(found, entries, before + 1):
            for at, entry in enumerate(entries, start=before + 1):
                _add_quickly(found, entry, at)
        before += len(entries)
    if not before:
        raise NotPlainError
    return found


def _add_columns(found: HelmUnits, columns: HelmColumns, first: int) -> bool:
    """Add entries of new units; False where some are known."""
    unit = len(found.keys)
    split = intern(columns.split)
    keys = list(zip(columns.instances, columns.trials, repeat(split)))
    if not _add_keys(found, keys, first):
        return False
    found.splits[split] = None
    for name, (counts, sums) in columns.metrics.items():
        if (metric := found.metric(name)) is not None:
            metric.extend(unit, counts, sums)
    return True


def _add_keys(found: HelmUnits, keys: Sequence[Key], first: int) -> bool:
    """Add new units, one for each entry; False where some are known."""
    before, after = len(found.keys), len(found.keys) + len(keys)
    deque(map(found.keys.setdefault, keys, range(before, after)), maxlen=0)
    if len(found.keys) < after:
        while len(found.keys) > before:
            found.keys.popitem()  # the last one
        return False
    found.entries.extend(range(first, first + len(keys)))
    return True


def _names(entry: HelmEntry) -> list[str]:
    return [stat.name.name for stat in entry.stats]


def _once(entries: list[HelmEntry], part: bytes) -> bool:
    """Whether each statistic has its sum once."""
    return part.count(b'"sum":') == sum(len(entry.stats) for entry in entries)


def _add_together(found: HelmUnits, entries: Sequence[HelmEntry], first: int) -> bool:
    """Add entries that have the same metrics of new units; False where they must be added one by one."""
    sizes = {len(entry.stats) for entry in entries}
    if len(sizes) != 1 or 0 in sizes or any(entry.perturbation for entry in entries):
        return False
    columns = list(zip(*(entry.stats for entry in entries), strict=True))
    names = [{stat.name.name for stat in column} for column in columns]
    splits = [intern(stat.name.split) for stat in columns[0]]
    if any(len(name) > 1 for name in names) or len(set.union(*names)) < len(names):
        return False
    if any([stat.name.split for stat in column] != splits for column in columns[1:]):
        return False
    unit = len(found.keys)
    keys = [(entry.instance_id, entry.train_trial_index, split) for entry, split in zip(entries, splits, strict=True)]
    if not _add_keys(found, keys, first):
        return False
    found.splits.update(dict.fromkeys(splits))
    for [name], column in zip(names, columns, strict=True):
        if (metric := found.metric(name)) is not None:
            metric.extend(unit, np.array([stat.count for stat in column]), np.array([stat.sum for stat in column]))
    return True


def _add_quickly(found: HelmUnits, entry: HelmEntry, at: int) -> None:
    if entry.perturbation:
        found.perturbed.add((entry.instance_id, entry.train_trial_index))
        return
    for stat in entry.stats:
        key = (entry.instance_id, entry.train_trial_index, stat.name.split)
        found.add(key, at, stat.name.name, stat.count, stat.sum)


def _slowly(path: Path, keeps: Keeps) -> HelmUnits:
    """The same by the parser of any JSON, which says what is wrong."""
    entries = read_json(path)
    if not isinstance(entries, list) or not entries:
        raise InputError(f"{path}: must be a list of instances, and not an empty one; run HELM again.")
    found = HelmUnits(path, keeps)
    for at, entry in enumerate(entries, start=1):
        place = f"{path}, entry {at}"
        instance = str(field_of(entry, "instance_id", place, str))
        trial = int(field_of({"train_trial_index": 0} | entry, "train_trial_index", place, int))
        if entry.get("perturbation"):
            found.perturbed.add((instance, trial))
            continue
        for name, split, count, total in _stats(entry, place):
            found.add((instance, trial, split), at, name, count, total)
    return found


def _stats(entry: dict[str, Any], place: str) -> Iterator[tuple[str, str, float, float]]:
    for stat in field_of(entry, "stats", place, list):
        name = field_of(stat, "name", place, dict)
        what = str(field_of(name, "name", place, str))
        count = number(field_of(stat, "count", place), place, f"the count of {what}")
        total = number(field_of(stat, "sum", place), place, what)
        yield what, str(name.get("split", "")), count, total
