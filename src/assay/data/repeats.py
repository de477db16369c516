"""Repeated runs: the scores of the same items in every run of every model, not averaged."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import accumulate
from pathlib import PurePath
from typing import Literal

import numpy as np

from assay.data.panel import Panel, panel_of
from assay.data.readers import UNNAMED
from assay.data.tables import Table
from assay.errors import InputError
from assay.names import listed, one_line
from assay.stats.units import Floats, Integers, Texts

_NO_NAME = "the model"  # what the runs of a model without a name are called


@dataclass(frozen=True, eq=False)
class Repeats:
    """The items that every run of every model has; a system of the panel is one run of one model."""

    panel: Panel
    models: tuple[str, ...]
    runs: tuple[tuple[str, ...], ...]  # the runs of each model, in order
    notes: tuple[str, ...] = ()

    @cached_property
    def _starts(self) -> list[int]:
        return list(accumulate(map(len, self.runs), initial=0))

    @cached_property
    def _scores(self) -> Floats:
        return np.array([self.panel.estimate(system) for system in range(self.panel.k)])

    def columns(self, model: int) -> slice:
        """Where the runs of a model are among the systems of the panel."""
        return slice(self._starts[model], self._starts[model + 1])

    def values(self, columns: slice | Integers) -> Floats:
        """(n, k) Scores item by item, in these systems of the panel."""
        order: Literal["C", "F"] = "C" if isinstance(columns, slice) else "F"  # sums over rows depend on it
        return np.asarray(self.panel.numerators[:, columns], order=order) / self.panel.denominators[:, None]

    def scores(self, columns: slice | Integers) -> Floats:
        """The overall scores of these systems."""
        return self._scores[columns]

    @cached_property
    def _common(self) -> list[str]:
        return [run for run in self.runs[0] if all(run in others for others in self.runs)]

    @property
    def shared_runs(self) -> bool:
        """Whether the models have at least two names of runs in common."""
        return len(self._common) >= 2

    def crossed(self) -> tuple[Integers, str | None]:
        """(m, k) Systems by model and run: the runs that all models have, and a note where that is not all of them.

        Runs of the same name may share what the name stands for, a seed or a prompt, so they stay together. Where the
        names differ, runs are independent, and any of one model may stand beside any of another.
        """
        shared, total = self._common, sum(map(len, self.runs))
        if self.shared_runs:
            starts = self._starts[:-1]
            places = [[s + runs.index(run) for run in shared] for s, runs in zip(starts, self.runs, strict=True)]
            note = None
            if len(shared) * len(self.models) < total:
                note = f"models are compared in the {len(shared)} runs that all of them have ({listed(shared)})"
            return np.array(places), note
        count = min(map(len, self.runs))
        note = f"the models share no names of runs: they are paired in their order, {count} of each model"
        return np.array([range(start, start + count) for start in self._starts[:-1]]), note


def repeats_of(tables: Sequence[Table], *, cluster: str | None = None, files_are_runs: bool = False) -> Repeats:
    """Collect the runs of every model from tables with a ``run`` column, or with ``files_are_runs`` from one each."""
    parts = _parts(tables, files_are_runs=files_are_runs)
    for model, runs in parts.items():
        if len(runs) < 2:
            label = next(iter(runs.values())).label
            raise InputError(
                f"{label}: model {model!r} has one run, and how far runs agree takes two; add a column 'run' that "
                "numbers them, or name one file per run with --files-are-runs."
            )
    ordered = {model: dict(sorted(runs.items(), key=lambda item: _natural(item[0]))) for model, runs in parts.items()}
    chosen = [(model, run, table) for model, runs in ordered.items() for run, table in runs.items()]
    _check_common(chosen)
    panel = panel_of(
        [table for _, _, table in chosen], names=[f"{model}, run {run}" for model, run, _ in chosen], cluster=cluster
    )
    notes = (*panel.notes, *_left_out(chosen, panel))
    return Repeats(panel, tuple(ordered), tuple(tuple(runs) for runs in ordered.values()), notes)


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
    return PurePath(table.label).stem


def _twice(model: str, run: str, first: Table, second: Table) -> InputError:
    what = f"run {one_line(run)!r} of model {one_line(model)!r}"
    if "run" not in second.labels:
        what = f"a run of model {one_line(model)!r}, without a column 'run' that names it,"
    return InputError(
        f"{second.label}: {what} is in {first.label} as well; name the runs apart in the column 'run', or take each "
        "file as a run with --files-are-runs."
    )


def _by_model(table: Table, *, files_are_runs: bool) -> Iterator[tuple[str, Table]]:
    if len(table.models) > 1:
        yield from ((model, table.select(model)) for model in table.models)
        return
    after_its_file = not table.models and not table.about and table.name in (_stem(table), table.label)
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
    """Runs that are numbers in their order, before those that are not."""
    try:
        return False, float(run), run
    except ValueError:
        return True, 0.0, run


def _check_common(chosen: Sequence[tuple[str, str, Table]]) -> None:
    """Refuse runs that have no item in common, and name the first that has none of what all before it have."""
    common = set(chosen[0][2].ids)
    for model, run, table in chosen[1:]:
        left = common.intersection(table.ids)
        if not left:
            examples = listed(map(repr, table.ids[:3].tolist()))
            others = listed(map(repr, sorted(common)[:3]))
            raise InputError(
                f"{table.label}: run {run!r} of model {model!r} has no {table.unit} that all runs before it have (it "
                f"has {examples}, they have {others}); write the same ids in all runs, or leave this one out."
            )
        common = left


def _left_out(chosen: Sequence[tuple[str, str, Table]], panel: Panel) -> tuple[str, ...]:
    count = panel.dropped.only_a + panel.dropped.only_b
    if not count:
        return ()
    model, run, least = min(chosen, key=lambda part: len(part[2]))
    what = f"{count} {panel.unit}{'s are' if count > 1 else ' is'} left out that not every run has"
    examples = f"such as {listed(panel.dropped.examples)}"
    return (f"{what}, {examples}; run {run!r} of {model} has the fewest, {len(least):,}",)


@dataclass(frozen=True, slots=True)
class Noise:
    """What the runs of the same items differ by, in one table."""

    variance: float  # between the runs of an item, pooled over items
    inverse_runs: float  # the mean of 1 / runs over items: this part of the noise is left in their means


def noise_of(table: Table, items: Texts) -> Noise | None:
    """The noise between the runs of these items; ``None`` where no item has two."""
    chosen = table.where(np.isin(table.ids.astype(str), items.astype(str)))
    _, codes = np.unique(chosen.ids.astype(str), return_inverse=True)
    values = chosen.numbers["loss" if table.kind == "losses" else "score"]
    counts = np.bincount(codes)
    if counts.max() < 2:
        return None
    means = np.bincount(codes, weights=values) / counts
    squares = float(((values - means[codes]) ** 2).sum())
    return Noise(squares / float((counts - 1).sum()), float((1 / counts).mean()))
