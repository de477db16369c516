"""A panel's fields and what follows from them: sums, denominators, clusters, units to draw, a digest."""

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from assay.data.metrics import SIZES, Kind, Metric, Names
from assay.data.tables import Labels
from assay.data.text_columns import TextColumn
from assay.errors import InputError, UsageError
from assay.names import listed
from assay.stats.exact_sums import exact_sum
from assay.stats.units import Floats, Grid, Integers, Truths, Units, effective_number, grouped, joined

_AT_ONCE = 1 << 16  # units that are hashed or compared; all at once would double what a large panel takes


def without_splits(ids: TextColumn, splits: Labels) -> TextColumn:
    """Strip the prefix SPLIT/ from ids; it is needed only while both splits are present."""
    prefixes = [f"{name}/" for name in splits.names]
    sizes = np.array([len(prefix.encode()) for prefix in prefixes], dtype=np.int64)
    for code, prefix in enumerate(prefixes):
        if not ids[splits.codes == code].first(int(sizes[code])).all_are(prefix):
            return ids
    return ids.without_first(sizes[splits.codes])


@dataclass(frozen=True, slots=True)
class Dropped:
    """Units that only one of the systems has: how many, and the first five ids.

    With more than two systems ``only_b`` counts the ids outside the first system that some system lacks.
    """

    only_a: int = 0
    only_b: int = 0
    examples: tuple[str, ...] = ()


NOTHING = Dropped()


@dataclass(frozen=True, slots=True)
class Runs:
    """Columns of a panel that are runs of one model."""

    model: str
    names: tuple[str, ...]  # what the runs are called
    columns: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Substance:
    """How much evidence there is, whichever way it points."""

    units: int  # that are drawn: clusters, or the units themselves
    effective: float  # Kish's (Σw)² / Σw²: so many of equal weight would say as much
    differing: int | None  # units on which the first two systems differ; None for one system
    largest: float  # the share of all weight that one drawn unit has
    clustered: int | None = None  # units in the clusters that are drawn; None: units are drawn alone
    clustered_effective: float | None = None  # Kish's number of those

    @classmethod
    def of(cls, weights: Floats, differing: int | None = None, clustered: Floats | None = None) -> "Substance":
        """Of the weights of what is drawn and, where that is clusters, of the units in them."""
        inside = (None, None) if clustered is None else (len(clustered), effective_number(clustered))
        return cls(len(weights), effective_number(weights), differing, float(weights.max() / weights.sum()), *inside)


@dataclass(frozen=True, eq=False, slots=True)
class Sums:
    """What is resampled: a row per cluster, or per unit where there are no clusters."""

    numerators: Floats  # (g, k)
    denominators: Floats  # (g,) or (g, k)
    sizes: dict[str, Floats]  # (g,) each


def digest(tag: bytes, ids: TextColumn, named: Mapping[str, NDArray[Any]]) -> str:
    """sha256 of ids and named arrays, in this order; ``tag`` says what they describe."""
    hashed = hashlib.sha256(tag)
    _hash_array(hashed, "units", ids.characters())
    for part in ids.blocks():
        hashed.update(part.data)
    for name, values in named.items():
        _hash_array(hashed, name, values)
    return hashed.hexdigest()


def _hash_array(hashed: "hashlib._Hash", name: str, values: NDArray[Any]) -> None:
    hashed.update(f"|{name}{values.shape}|".encode())
    for start in range(0, len(values), _AT_ONCE):
        # Adding zero turns -0.0, which compares equal to 0.0, into the same bytes. Of the many NaN one is taken.
        part = np.ascontiguousarray(values[start : start + _AT_ONCE] + 0)
        canonical = part.astype("<f8" if values.dtype.kind == "f" else "<i8", copy=False)
        if canonical.dtype.kind == "f":
            canonical[np.isnan(canonical)] = np.nan
        hashed.update(canonical.data)


EXAMPLES = 5  # ids of units that did not pair


@dataclass(frozen=True, eq=False)
class PanelViews:
    """The fields of a panel, and what follows from them."""

    systems: tuple[str, ...]  # k columns: a model, or one run of one
    ids: TextColumn  # (n,) sorted, unique; names are made only of what is shown
    parts: Mapping[str, Floats]  # (n, k), or (n, 1) where all systems share it; columns contiguous
    metrics: tuple[Metric, ...]
    unit: str = "item"  # what a row is called: "window", "item", "document"
    labels: Mapping[str, Labels] = field(default_factory=dict)  # of units: document, split, task
    numbers: Mapping[str, Floats] = field(default_factory=dict)  # (n,) of units: start, stop
    models: tuple[Runs, ...] = ()  # which columns are runs of one model; none where each is a model
    cluster: str | None = None  # the label of units that are drawn together
    strata: str | None = None  # the label of units that are drawn apart
    dropped: Dropped = NOTHING
    notes: tuple[str, ...] = ()  # what the reader did that a person should know (runs averaged, ...)
    settings: Mapping[str, str | int] = field(default_factory=dict)  # how parts were counted, what tasks are part of
    lost: Mapping[str, int] = field(default_factory=dict)  # by model: rows without an answer; empty where none is
    measures: Mapping[str, str] = field(default_factory=dict)  # of tasks: the metric of each, where they differ
    costs: Mapping[str, Floats] = field(default_factory=dict)  # (n, k) each, by `data.costs.COSTS`; NaN: not known
    groups: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # of tasks: all of each, results or not

    def __post_init__(self) -> None:
        object.__setattr__(self, "ids", TextColumn.of(self.ids))
        for name, part in self.parts.items():
            if part.shape not in ((self.n, self.k), (self.n, 1)):
                raise UsageError(
                    f"part {name!r} must have the shape {(self.n, self.k)} or {(self.n, 1)}, but got {part.shape}."
                )
        for name, cost in self.costs.items():
            if cost.shape != (self.n, self.k):
                raise UsageError(f"cost {name!r} must have the shape {(self.n, self.k)}, but got {cost.shape}.")
        lacking = [name for metric in self.metrics for name in metric.parts if name not in self.parts]
        if lacking:
            raise UsageError(f"the metrics of a panel need the part {lacking[0]!r}, but got only {listed(self.parts)}.")
        for label in (self.cluster, self.strata):
            if label is not None and label not in self.labels:
                raise UsageError(f"cluster and strata must name a label of the units, but got {label!r}.")

    @property
    def n(self) -> int:
        """How many units."""
        return len(self.ids)

    def among(self, ids: Iterable[str]) -> Truths:
        """(n,) Which units are among these."""
        if isinstance(ids, TextColumn) and self.ids.same(ids):
            return np.ones(self.n, dtype=bool)
        chosen = frozenset(ids)
        return np.fromiter((one in chosen for one in self.ids), np.bool_, self.n)

    @property
    def k(self) -> int:
        """How many systems."""
        return len(self.systems)

    @property
    def by_model(self) -> tuple[Runs, ...]:
        """The columns of each model; without ``models`` every column is a model of its own."""
        return self.models or tuple(Runs(name, ("1",), (i,)) for i, name in enumerate(self.systems))

    @property
    def lost_answers(self) -> dict[str, int]:
        """How many answers each model lost to errors, nulls or empty cells; empty where none lost any."""
        found = {one.model: self.lost.get(one.model, 0) for one in self.by_model}
        return found if any(found.values()) else {}

    @property
    def metric(self) -> Metric:
        """The metric that decides."""
        return self.metrics[0]

    @property
    def kind(self) -> Kind:
        return self.metric.kind

    @cached_property
    def numerators(self) -> Floats:
        """(n, k) Numerators of the deciding metric."""
        return self._sum(ratio_of(self.metric)[0])

    @cached_property
    def denominators(self) -> Floats:
        """(n,) where all systems share them, or (n, k)."""
        found = self._sum(ratio_of(self.metric)[1])
        return found[:, 0] if found.shape[1] == 1 else found

    @cached_property
    def sizes(self) -> dict[str, Floats]:
        """(n,) each: bytes and characters, for bits per byte and per character."""
        return {name: self.parts[name][:, 0] for name in SIZES if name in self.parts}

    @property
    def values(self) -> Floats:
        """(n, k) The deciding metric of each single unit; NaN where there is no answer."""
        below = self.denominators
        return np.ascontiguousarray(self.numerators) / (below[:, None] if below.ndim == 1 else below)

    @cached_property
    def answered(self) -> Truths:
        """(n, k) Which system answered which unit."""
        found: Truths = np.ones((self.n, self.k), dtype=bool, order="F")
        for part in self.parts.values():
            found &= ~np.isnan(part)
        return found

    @cached_property
    def whole(self) -> bool:
        """Whether every system has answered every unit."""
        return bool(self.answered.all())

    @cached_property
    def clusters(self) -> Integers | None:
        """(n,) Codes 0 … G − 1, numbered as they appear."""
        return None if self.cluster is None else self.labels[self.cluster].by_appearance

    @property
    def cluster_by(self) -> str | None:
        """What the clusters are: the name of their column."""
        return self.cluster

    @property
    def n_clusters(self) -> int | None:
        """Number of clusters; ``None`` without clusters."""
        return None if self.clusters is None else int(self.clusters.max()) + 1

    @property
    def equal_denominators(self) -> bool:
        """Whether every unit weighs the same, so that an estimate is a plain mean."""
        return bool(np.all(self.denominators == self.denominators.flat[0]))

    @cached_property
    def binary(self) -> bool:
        """Whether the values are scores and all are 0 or 1."""
        if self.kind != "scores":
            return False
        below = self.denominators if self.denominators.ndim == 2 else self.denominators[:, None]
        for rows in (slice(low, low + _AT_ONCE) for low in range(0, self.n, _AT_ONCE)):  # the first tell, mostly
            right = (self.numerators[rows] == 0) | (self.numerators[rows] == below[rows]) | ~self.answered[rows]
            if not right.all():
                return False
        return True

    @cached_property
    def digest(self) -> str:
        """sha256 of ids and numbers; independent of file format, row order and system names."""
        clusters: dict[str, NDArray[Any]] = {} if self.clusters is None else {"clusters": self.clusters}
        if not set(self.parts) <= {*self.metric.parts, *SIZES} or len(self.metric.parts) != 2:
            return digest(b"assay panel 2", self.ids, dict(sorted(self.parts.items())) | clusters)
        sums = {"numerators": self.numerators, "denominators": self.denominators}
        return digest(b"assay panel 1", self.ids, sums | clusters | dict(sorted(self.sizes.items())))

    def denominators_of(self, system: int) -> Floats:
        """The denominators of one system, (n,)."""
        return self.denominators if self.denominators.ndim == 1 else self.denominators[:, system]

    def estimate(self, system: int) -> float:
        """The deciding metric of one system over the units it answered; sums of ratios are correctly rounded."""
        if self.metric.ratio is None:
            rows = self.sums(self.metric.name, system)
            return float(self.metric.value(rows[~np.isnan(rows).any(axis=1)].sum(axis=0)))
        top, below = self.numerators[:, system], self.denominators_of(system)
        if not self.whole:
            there = self.answered[:, system]
            top, below = top[there], below[there]
        return exact_sum(top) / exact_sum(below)

    def units(self, metric: str, system: int) -> Units:
        """The units (or clusters) to resample when one system is judged by one metric.

        Units without an answer, and those that have no part in the metric, are left out.
        """
        chosen = self.metric_named(metric)
        top, below = (self._column(names, system) for names in ratio_of(chosen))
        sized = ratio_of(chosen)[1][0] in SIZES  # a window without a byte of its own has losses all the same
        there, codes = ~np.isnan(top) & ~np.isnan(below) & ((below > 0) | sized), self.clusters
        if not there.all():
            top, below, codes = top[there], below[there], None if codes is None else codes[there]
        if codes is not None:
            codes = np.unique(codes, return_inverse=True)[1]
            top, below = grouped(top, codes), grouped(below, codes)
        if sized:
            top, below = joined(top, below)
        return Units(top if chosen.divisor == 1 else top / chosen.divisor, below)

    def metric_named(self, name: str) -> Metric:
        """One of the metrics."""
        found = next((one for one in self.metrics if one.name == name), None)
        if found is None:
            known = ", ".join(one.name for one in self.metrics)
            raise UsageError(f"metric must be one of this panel's ({known}), but got {name!r}.")
        return found

    def sums(self, metric: str, system: int) -> Floats:
        """(n, m) The parts of a metric for one system; for metrics that are not ratios."""
        return np.column_stack([self.column(part, system) for part in self.metric_named(metric).parts])

    @cached_property
    def grid(self) -> Grid:
        """All systems by unit, with weights, for tests of all pairs."""
        if self.denominators.ndim != 1:
            raise InputError("all systems must have the same denominators (tokens, weights); these differ.")
        sums = np.ascontiguousarray(self.numerators)
        if self.strata is None:
            return Grid.of_sums(sums, self.denominators, self.clusters)
        from assay.data.same_items import owners_of  # late: it knows panels

        strata, owners = np.unique(self.labels[self.strata].codes, return_inverse=True)[1], owners_of(self, self.strata)
        joined = None if owners is self.clusters or owners is None else np.unique(owners, return_inverse=True)[1]
        return Grid.of_sums(sums, self.denominators, self.clusters, strata, joined)

    def cluster_sums(self) -> Sums:
        """Numerators, denominators and sizes summed within clusters; per unit where there are none."""
        if self.clusters is None:
            return Sums(self.numerators, self.denominators, self.sizes)
        sizes = {name: grouped(values, self.clusters) for name, values in self.sizes.items()}
        return Sums(grouped(self.numerators, self.clusters), grouped(self.denominators, self.clusters), sizes)

    def substance(self) -> Substance:
        """Count the evidence that any system has: units drawn, their effective number, and how many differ."""
        differ = None if self.k < 2 else self._differing()
        weights = self.denominators if self.denominators.ndim == 1 else np.nanmax(self.denominators, axis=1)
        there = self.answered.any(axis=1) & (weights > 0)
        if self.clusters is None:
            return Substance.of(weights if there.all() else weights[there], differ)
        drawn = grouped(weights[there], np.unique(self.clusters[there], return_inverse=True)[1])
        return Substance.of(drawn, differ, weights[there])

    def _differing(self) -> int:
        """On how many units that both have answered the first two systems differ."""
        count = 0
        for rows in (slice(low, low + _AT_ONCE) for low in range(0, self.n, _AT_ONCE)):
            a, b = (self.numerators[rows, i] / self.denominators_of(i)[rows] for i in (0, 1))
            count += int(((a != b) & self.answered[rows, 0] & self.answered[rows, 1]).sum())
        return count

    def label(self, name: str) -> Labels:
        """The labels of this name, one of each unit."""
        if name not in self.labels:
            known = f"only {', '.join(self.labels)}" if self.labels else "none"
            raise UsageError(f"no label {name!r} of the {self.unit}s was read, {known}.")
        return self.labels[name]

    def _sum(self, names: Names) -> Floats:
        found = self.parts[names[0]]
        for name in names[1:]:
            found = found + self.parts[name]
        return found

    def _column(self, names: Names, system: int) -> Floats:
        found = self._sum(names)
        return found[:, 0 if found.shape[1] == 1 else system]

    def column(self, part: str, system: int) -> Floats:
        """(n,) One part for one system, or the part that all share."""
        return self._column((part,), system)


def ratio_of(metric: Metric) -> tuple[Names, Names]:
    """Numerator and denominator parts of a metric that is a ratio of sums."""
    if metric.ratio is None:
        raise UsageError(f"{metric.name} is not a ratio of sums.")
    return metric.ratio
