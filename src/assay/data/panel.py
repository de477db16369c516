"""The panel: sums of named parts for the same units under several systems, and the metrics of their totals."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from assay.data import arrays
from assay.data.lost_answers import check_zero
from assay.data.metrics import BITS, SCORE, UNITS, Kind, Metric
from assay.data.pairing import Pairing, pair_tables
from assay.data.panel_views import EXAMPLES, Dropped, PanelViews, ratio_of, without_splits
from assay.data.reading import read_tables, read_wide
from assay.data.tables import Table
from assay.data.text_columns import TextColumn
from assay.data.units_and_runs import RunTable, columns_of, runs_of
from assay.design import Missing, check_missing
from assay.errors import InputError, NoPairsError, UsageError
from assay.names import listed
from assay.stats.units import Floats, grouped


@dataclass(frozen=True, eq=False)
class Panel(PanelViews):
    """Sums of named parts per unit and system; a system's estimate is a metric of their totals.

    Units are sorted by id, so the order of rows in a file changes no bit of any result. NaN is a hole: the system did
    not answer the unit. The first metric decides.

    >>> panel = Panel.from_arrays([[2.0, 1.0], [1.0, 5.0]], [2.0, 1.0], systems=("A", "B"))
    >>> panel.estimate(0), panel.estimate(1)
    (1.0, 2.0)
    """

    def pair(self, first: int, second: int) -> "Panel":
        """The panel of two of the systems, in this order."""
        step = second - first
        stop = second + (1 if step > 0 else -1)
        both = slice(first, None if stop < 0 else stop, step) if step else [first, second]
        parts = {name: part if part.shape[1] == 1 else part[:, both] for name, part in self.parts.items()}
        for name in ratio_of(self.metric)[1]:
            parts[name] = parts[name] if parts[name].shape[1] == 1 else arrays.shared(parts[name])
        costs = {name: cost[:, [first, second]] for name, cost in self.costs.items()}
        return replace(self, systems=(self.systems[first], self.systems[second]), parts=parts, models=(), costs=costs)

    def with_numerators(self, numerators: Floats) -> "Panel":
        """The same units with other numerators (n, k), such as unrounded ones."""
        return replace(self, parts={**self.parts, ratio_of(self.metric)[0][0]: arrays.columnwise(numerators)})

    def rows(self, chosen: NDArray[Any]) -> "Panel":
        """Select units by a mask or by positions."""
        return replace(
            self,
            ids=self.ids[chosen],
            parts={name: arrays.columnwise(part[chosen]) for name, part in self.parts.items()},
            labels={name: labels.where(chosen) for name, labels in self.labels.items()},
            numbers={name: values[chosen] for name, values in self.numbers.items()},
            costs={name: cost[chosen] for name, cost in self.costs.items()},
        )

    def where(self, **chosen: str) -> "Panel":
        """The units with these labels.

        >>> panel = Panel.from_arrays([1.0, 0.0, 1.0], clusters=["a", "a", "b"])
        >>> panel.where(clusters="a").n
        2
        """
        found = self
        for name, value in chosen.items():
            labels = found.label(name)
            if value not in labels.names:
                raise InputError(f"no {self.unit} has the {name} {value!r}, only {', '.join(labels.names)}.")
            found = found.rows(labels.codes == labels.names.index(value))
            if name == "split":
                found = replace(found, ids=without_splits(found.ids, found.label("split")))
        return found

    def by(self, label: str) -> "Iterator[tuple[str, Panel]]":
        """One panel per value of a label, in the order of the values."""
        for name in self.label(label).names:
            yield name, self.where(**{label: name})

    def clusters_as_units(self) -> "Panel":
        """Clusters as units, sorted by name; labels and numbers of single units are left out.

        >>> panel = Panel.from_arrays([[1, 0], [1, 1], [0, 1]], clusters=["b", "a", "b"])
        >>> found = panel.clusters_as_units()
        >>> found.unit, found.ids.tolist(), found.parts["score"].tolist()
        ('cluster', ['a', 'b'], [[1.0, 1.0], [1.0, 1.0]])
        """
        if self.cluster is None:
            return self
        labels = self.labels[self.cluster]
        names = TextColumn.of(labels.names)
        order = names.sorted.order
        codes = names.ranks[labels.codes]
        parts = {name: arrays.columnwise(grouped(part, codes)) for name, part in self.parts.items()}
        units: dict[str, Any] = {"ids": names[order], "unit": "cluster", "labels": {}, "numbers": {}, "costs": {}}
        return replace(self, parts=parts, cluster=None, **units)

    def complete(self) -> "Panel":
        """Only the units that every system has answered; ``dropped`` counts the others."""
        if self.whole:
            return self
        there = np.asarray(self.answered.all(axis=1))
        if not there.any():
            raise self._nothing_common()
        first = self.answered[:, 0]
        only = int((~there & first).sum()), int((~there & ~first).sum())
        return replace(self.rows(there), dropped=Dropped(*only, tuple(self.ids[~there][:EXAMPLES])))

    def without(self, missing: Missing) -> "Panel":
        """The panel with its holes left out, filled with 0 or refused, as asked; ``"drop"`` leaves them."""
        check_missing(missing)
        if self.whole or missing == "drop":
            return self
        if missing == "complete":
            return self.complete()
        check_zero(self.metric, missing)
        if missing == "refuse":
            left = self.n - self.complete().n
            examples = listed(map(repr, self.ids[~np.asarray(self.answered.all(axis=1))][:EXAMPLES]))
            raise InputError(f"{left:,} {self.unit}s lack an answer of one of the systems, such as {examples}.")
        note = f"{int((~self.answered).sum()):,} answers that are not there count as 0"
        return replace(self.with_numerators(np.nan_to_num(self.numerators, nan=0.0)), notes=(*self.notes, note))

    def _nothing_common(self) -> NoPairsError:
        first = zip(self.systems[:3], self.answered.T, strict=False)
        sides = "; ".join(f"{name} has {listed(map(repr, self.ids[there][:3]))}" for name, there in first)
        return NoPairsError(f"no {self.unit} has an answer of every system: {sides}; leave out those that lack many.")

    def per_unit(self, function: Callable[[Floats], Floats], *, weighted: bool = False) -> "Panel":
        """Derive one column per model from its runs: a function (n, runs) → (n,), as scores of weight 1.

        What is not a function of totals is derived this way: pass@k, means and variances over runs. With ``weighted``
        the units keep their weights.

        >>> panel = Panel.from_arrays([[1, 0, 0], [1, 1, 0]], models=["A", "A", "B"])
        >>> panel.per_unit(lambda runs: runs.max(axis=1)).numerators
        array([[1., 0.],
               [1., 0.]])
        """
        models = self.by_model
        found = [function(np.ascontiguousarray(self.values[:, list(runs.columns)])) for runs in models]
        weights = self.denominators[:, None] if weighted else np.ones((self.n, 1))
        parts = {"score": arrays.columnwise(np.column_stack(found) * weights), "weight": weights}
        metric = replace(SCORE, lower_is_better=self.metric.lower_is_better)
        systems, costs = tuple(runs.model for runs in models), self._costs_of_models()
        return replace(self, systems=systems, parts=parts, metrics=(metric,), models=(), costs=costs)

    def of_models(self, names: Sequence[str]) -> "Panel":
        """The columns of some models (or systems, where no column is a run)."""
        chosen = [next(runs for runs in self.by_model if runs.model == name) for name in names]
        places = [column for runs in chosen for column in runs.columns]
        starts = np.cumsum([0, *(len(runs.columns) for runs in chosen)]).tolist()
        moved = tuple(
            replace(runs, columns=tuple(range(start, start + len(runs.columns))))
            for runs, start in zip(chosen, starts, strict=False)
        )
        return replace(self.of_systems(places), models=moved if self.models else ())

    def of_systems(self, places: Sequence[int]) -> "Panel":
        """Select columns, in this order."""
        chosen = list(places)
        parts = {name: part if part.shape[1] == 1 else part[:, chosen] for name, part in self.parts.items()}
        costs = {name: cost[:, chosen] for name, cost in self.costs.items()}
        systems = tuple(self.systems[i] for i in chosen)
        return replace(self, systems=systems, parts=parts, models=(), costs=costs)

    def averaged(self) -> "Panel":
        """Average the runs of each model, unit by unit, over those that answered."""
        if not self.models:
            return self
        parts = {name: part if part.shape[1] == 1 else self._mean_of_runs(part) for name, part in self.parts.items()}
        systems = tuple(runs.model for runs in self.models)
        return replace(self, systems=systems, parts=parts, models=(), costs=self._costs_of_models())

    def _costs_of_models(self) -> dict[str, Floats]:
        """The mean cost of the runs of each model."""
        return {name: self._mean_of_runs(cost) if self.models else cost for name, cost in self.costs.items()}

    def _mean_of_runs(self, part: Floats) -> Floats:
        counts = np.column_stack([(~np.isnan(part[:, runs.columns])).sum(axis=1) for runs in self.models])
        sums = np.column_stack([np.nansum(part[:, runs.columns], axis=1) for runs in self.models])
        return arrays.columnwise(np.divide(sums, counts, out=np.full(sums.shape, np.nan), where=counts > 0))

    def weighted(self, function: Callable[[Floats], Floats]) -> "Panel":
        """The same values with other weights, a function of the present ones."""
        tops, bottoms = ratio_of(self.metric)
        weights = function(self.denominators)[:, None]
        made = {tops[0]: arrays.columnwise(self.values * weights), bottoms[0]: weights}
        return replace(self, parts={**self.parts, **made})

    @classmethod
    def from_arrays(
        cls,
        numerators: ArrayLike,
        denominators: ArrayLike | None = None,
        *,
        weights: ArrayLike | None = None,
        ids: Sequence[Any] | NDArray[Any] | None = None,
        systems: Sequence[str] | None = None,
        models: Sequence[str] | None = None,
        kind: Kind = "scores",
        lower_is_better: bool | None = None,
        clusters: Sequence[Any] | NDArray[Any] | None = None,
        labels: Mapping[str, Sequence[Any] | NDArray[Any]] | None = None,
        sizes: Mapping[str, ArrayLike] | None = None,
        holes: bool = False,
    ) -> "Panel":
        """Make a panel from arrays, (n,) or (n, k): summed losses over tokens, or scores over weights (default 1).

        With ``weights`` instead of ``denominators`` the first array holds values, which are multiplied by them. A
        column is a system; ``models`` names the model of each column where several are runs of one. With ``holes`` NaN
        means that a system did not answer a unit. Units of the same label in ``clusters`` are drawn together; further
        ``labels`` of units, such as ``split`` and ``document``, go by their names. ``sizes`` are the bytes or chars of
        each unit.

        >>> panel = Panel.from_arrays([[1, 0], [1, float("nan")], [0, 1]], systems=["A", "B"], holes=True)
        >>> panel.estimate(1), panel.complete().dropped.only_a
        (0.5, 1)
        """
        metric = Metric.of(kind, lower_is_better=lower_is_better)
        top = arrays.matrix("numerators", numerators, holes=holes)
        n, k = top.shape
        names, runs = arrays.columns_named(systems, models, k)
        found = arrays.unit_ids(ids, n)
        arrays.check_ids(found)
        order = found.sorted.order
        if weights is not None and denominators is not None:
            raise UsageError("give either weights or denominators, not both.")
        given = weights if denominators is None else denominators
        shapes = ((n,),) if denominators is None else ((n,), (n, k))
        what = "denominators" if weights is None else "weights"
        below = arrays.shared(np.ones(n) if given is None else arrays.positive(what, given, shapes))
        parts = {
            metric.parts[0]: arrays.summable("numerators", (top if weights is None else top * below)[order]),
            metric.parts[1]: arrays.summable("denominators", below[order]),
        }
        named = dict(labels or {}) | ({} if clusters is None else {"clusters": clusters})
        measured = {
            name: arrays.positive(name, one, ((n,),), zeros=True)[order][:, None] for name, one in (sizes or {}).items()
        }
        return cls(
            names,
            found[order],
            {name: arrays.columnwise(part) for name, part in (parts | measured).items()},
            (metric, *(BITS[name] for name in measured if name in BITS and kind == "losses")),
            UNITS[kind],
            labels={name: arrays.labels_of(name, values, order) for name, values in named.items()},
            models=runs,
            cluster=None if clusters is None else "clusters",
        )

    @classmethod
    def from_tables(
        cls,
        tables: Sequence[Table],
        *,
        names: Sequence[str] | None = None,
        cluster: str | None = None,
        split: str | None = None,
        lower_is_better: bool | None = None,
        missing: Missing = "drop",
    ) -> "Panel":
        """Make a panel from tables: every unit that any of them has, with holes where others lack it.

        Runs of an item are averaged. Units are kept apart by split where there is one, unless ``split`` picks one of
        them. ``missing="complete"`` takes only the units that all tables have, ``"zero"`` fills the holes with 0, and
        ``"refuse"`` refuses tables that do not have the same units.
        """
        return cls._paired(tables, Pairing(names, cluster, split, lower_is_better, missing))

    @classmethod
    def _paired(cls, tables: Sequence[Table], how: Pairing) -> "Panel":
        found = pair_tables(tables, how)
        return cls(**{one.name: getattr(found, one.name) for one in fields(found)})

    @classmethod
    def from_runs(cls, runs: Sequence[RunTable], *, cluster: str | None = None, missing: Missing = "drop") -> "Panel":
        """Make a panel with one column per run; ``models`` says which runs belong to one model."""
        names = [one.name for one in runs]
        panel = cls._paired([one.table for one in runs], Pairing(names, cluster, missing=missing, runs=True))
        models = columns_of(runs)
        lost = {one.model: sum(panel.lost.get(names[i], 0) for i in one.columns) for one in models}
        return replace(panel, models=models, lost=lost if panel.lost else {})

    @classmethod
    def from_frame(
        cls,
        frame: Any,
        *,
        systems: Sequence[str] | None = None,
        runs: bool = False,
        columns: Mapping[str, str] | None = None,
        kind: Kind | None = None,
        cluster: str | None = None,
        split: str | None = None,
        lower_is_better: bool | None = None,
    ) -> "Panel":
        """Make a panel from a data frame of any library, or a mapping of names to columns.

        A long frame has a row for each unit and model, with the columns ``item``, ``model`` and ``score`` (or
        ``window``, ``model``, ``tokens`` and ``loss``); a wide one has a row for each unit and a column of scores for
        each of the ``systems``, where an empty cell is a hole. ``columns`` maps our names to those of the frame. Runs
        of a model, told apart by a column ``run``, are averaged, or with ``runs`` become a column each.

        >>> long = {"item": [1, 2, 1, 2], "model": ["A", "A", "B", "B"], "score": [1, 0, 1, 1]}
        >>> wide = {"item": [1, 2], "A": [1, 0], "B": [1, 1]}
        >>> Panel.from_frame(long).digest == Panel.from_frame(wide, systems=["A", "B"]).digest
        True
        """
        if systems is None:
            tables = read_tables([frame], columns=columns, kind=kind, cluster=cluster)
        else:
            tables = read_wide(frame, systems, columns=columns, cluster=cluster)
        if runs:
            return cls.from_runs(runs_of(tables), cluster=cluster)
        return cls.from_tables(tables, cluster=cluster, split=split, lower_is_better=lower_is_better)
