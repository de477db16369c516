"""Turn what users pass to a verb (files, logs, frames, arrays, tables, a panel) into tables or panels."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from math import inf
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import NDArray

from assay.data.in_memory import Array, Frame, prepared
from assay.data.metrics import UNITS
from assay.data.panel import Panel
from assay.data.panel_views import Runs, without_splits
from assay.data.readers import Groups, Selection
from assay.data.readers.registry import open_source
from assay.data.reading import check_used, one_model, read_models, read_table, read_tables
from assay.data.tables import Table, told_apart
from assay.data.text_columns import TextColumn
from assay.design import Missing
from assay.errors import InputError, UsageError
from assay.names import argument, listed, nearest

Source = str | PathLike[str] | Mapping[str, Any] | Table | Frame | Array
Models = tuple[str | None, str | None]


def tables_of(
    a: Source,
    b: Source | None,
    models: Models,
    columns: Mapping[str, str] | None,
    cluster: str | None,
    selection: Selection | None = None,
    *,
    must_pick: bool = True,
    verb: str = "compare",
) -> tuple[Table, Table]:
    """Read the two tables to compare; with ``must_pick`` a selection that selects nothing is refused."""
    read = partial(read_models, columns=columns, cluster=cluster, selection=selection)
    if b is None and None in models:
        raise _one_of_two(read(a), verb)
    named = [[name] if name else [] for name in models]
    first = read(a, models=named[0] + (named[1] if b is None else []))
    second = first if b is None else read(b, models=named[1])
    if must_pick:
        check_used(selection, [*first, *second])
    found = told_apart([one_model(first, models[0]), one_model(second, models[1])])
    return found[0], found[1]


def _one_of_two(tables: Sequence[Table], verb: str) -> UsageError:
    """What to type where one file was named, with the models that it has."""
    names = [name for table in tables for name in (table.models if len(tables) == 1 else [table.name])]
    pair = argument(models=tuple(names[:2])) if len(names) > 1 else "`models=('NAME', 'NAME')`"
    among = f" among {listed(names)}" if len(names) > 1 else ""
    return UsageError(f"{verb} needs two files, or one file and the names of two of its models{among} ({pair}).")


def two_tables(
    a: Source,
    b: Source | None,
    models: Models,
    columns: Mapping[str, str] | None,
    cluster: str | None,
    selection: Selection | None = None,
    *,
    gate: bool = False,
    verb: str = "compare",
) -> tuple[Table, Table]:
    """The two tables to compare, of arrays and frames too; one source that holds two models needs no names.

    For a ``gate`` it does, and a selection that selects nothing is what its policy states.
    """
    given = prepared([a] if b is None else [a, b], columns=columns, cluster=cluster, selection=selection)
    if b is not None and len(given) == 2:
        return tables_of(given[0], given[1], models, columns, cluster, selection, must_pick=not gate, verb=verb)
    if b is not None:
        raise UsageError(f"{verb} takes two sources of one model each, or one that holds both.")
    if len(given) == 1 and (gate or None not in models):
        return tables_of(given[0], None, models, columns, cluster, selection, must_pick=not gate, verb=verb)
    if gate and None in models:
        raise _one_of_two(given, verb)
    if None not in models:
        return one_model(given, models[0]), one_model(given, models[1])
    tables = read_tables(given, columns=columns, cluster=cluster, selection=selection)
    if models != (None, None):
        raise _one_of_two(tables, verb)
    return _only_two(tables, verb)


def _only_two(tables: Sequence[Table], verb: str) -> tuple[Table, Table]:
    """Both models of a source, in the order in which it has them."""
    if len(tables) != 2:
        raise _one_of_two(tables, verb)
    first, second = tables
    turned = argument(models=(second.name, first.name))
    note = f"{second.name} is compared with {first.name}, in the order of the table ({turned} turns it around)"
    return replace(first, notes=(*first.notes, note)), second


def read_sources(
    sources: Sequence[Source | Panel],
    *,
    columns: Mapping[str, str] | None = None,
    cluster: str | None = None,
    selection: Selection | None = None,
) -> list[Table]:
    """A table for each model of files, harness logs, mappings, frames, arrays or tables."""
    given = prepared(sources, columns=columns, cluster=cluster, selection=selection)
    return read_tables(given, columns=columns, cluster=cluster, selection=selection)


def read_weights(path: str | PathLike[str]) -> dict[str, float]:
    """The weights of tasks in a table with the columns ``task`` and ``weight``."""
    source = open_source(path)
    lacking = [name for name in ("task", "weight") if name not in source.columns]
    if lacking:
        raise InputError(
            f"{source.label}: no column {lacking[0]!r}, only {listed(source.columns)}; weights of tasks have the "
            "columns task and weight."
        )
    texts, numbers = (part.tolist() for part in source.read([("task", "text"), ("weight", "number")]))
    found: dict[str, float] = {}
    for row, (task, weight) in enumerate(zip(texts, numbers, strict=True), start=1):
        if task in found or not 0 <= weight < inf:
            wrong = f"the task {task!r} is there twice" if task in found else "a weight must be a number, 0 or more"
            raise InputError(f"{source.label}, {source.places([row])[0]}: {wrong}; correct it.")
        found[task] = weight
    return found


def read_groups(source: Groups | str | PathLike[str]) -> dict[str, tuple[str, ...]]:
    """Groups as a mapping tells them, or a table with the columns ``task`` and ``group``.

    A group may stand in the column ``task`` too, and is then inside another one.
    """
    from assay.data.readers.harness import all_tasks, below  # late: few name groups

    told = source if isinstance(source, Mapping) else _read_members(source)
    for name, members in told.items():
        if isinstance(members, str) or name in below(told, name):
            what = "must hold a list of tasks" if isinstance(members, str) else "must not hold itself"
            raise UsageError(f"the group {name!r} {what}; correct it.")
    return all_tasks(told)


def _read_members(path: str | PathLike[str]) -> dict[str, list[str]]:
    source = open_source(path)
    lacking = [name for name in ("task", "group") if name not in source.columns]
    if lacking:
        raise InputError(
            f"{source.label}: no column {lacking[0]!r}, only {listed(source.columns)}; groups of tasks have the "
            "columns task and group."
        )
    tasks, groups = (part.tolist() for part in source.read([("task", "text"), ("group", "text")]))
    found: dict[str, list[str]] = {}
    for row, (task, group) in enumerate(zip(tasks, groups, strict=True), start=1):
        if not task.strip() or not group.strip():
            raise InputError(f"{source.label}, {source.places([row])[0]}: a cell is empty; fill it in or take it out.")
        found.setdefault(group, []).append(task)
    return found


def renamed(panel: Panel, names: Sequence[str] | None) -> Panel:
    """The panel with its systems called otherwise, in their order."""
    if names is None:
        return panel
    if len(names) != panel.k or len(set(names)) < panel.k:
        raise UsageError(f"names must be {panel.k} different ones, one for each model, but got {listed(names)}.")
    lost = {name: panel.lost[was] for was, name in zip(panel.systems, names, strict=True) if was in panel.lost}
    return replace(panel, systems=tuple(names), lost=lost)


def panel_as_asked(
    panel: Panel,
    *,
    cluster: str | None = None,
    split: str | None = None,
    lower_is_better: bool | None = None,
    **not_for_panels: object,
) -> Panel:
    """Apply a verb's options to a panel; options about reading files are refused."""
    for name, value in not_for_panels.items():
        if value is not None:
            raise UsageError(f"{name} is about reading files, which a panel does not need; leave it out.")
    if split is not None:
        panel = panel.where(split=split)
    if cluster is not None:
        panel.label(cluster)  # refused where there is none
        panel = replace(panel, cluster=cluster)
    if lower_is_better is None:
        return panel
    if panel.kind == "losses" and not lower_is_better:
        raise UsageError("lower_is_better must not be False for losses: a lower log-loss is always the better one.")
    return replace(panel, metrics=(replace(panel.metric, lower_is_better=lower_is_better), *panel.metrics[1:]))


def two_systems(panel: Panel, models: Models, *, missing: Missing = "drop", verb: str = "compare") -> Panel:
    """Reduce a panel to two systems and the units both answered; runs of a model are averaged."""
    names = two_names(panel, models, verb)
    panel = panel.averaged()
    if models != (None, None):
        panel = panel.pair(*(panel.systems.index(name) for name in names))
    return panel.without(missing).complete()


def two_names(panel: Panel, models: Models, verb: str) -> tuple[str, str]:
    """Names of the two systems to compare; columns that are runs of a model go by its name."""
    names = tuple(runs.model for runs in panel.by_model)
    if models != (None, None):
        return _known(models[0], names), _known(models[1], names)
    if len(names) != 2:
        raise UsageError(
            f"{verb} takes a panel of two systems, but got {len(names)}; choose two with panel.pair(i, j), or name "
            "them."
        )
    return names[0], names[1]


def _known(name: str | None, systems: Sequence[str]) -> str:
    if name is None:
        raise UsageError("name both systems of the panel, or neither.")
    if name not in systems:
        close = nearest(name, systems)
        hint = f"did you mean {close!r}?" if close else "name one of them."
        raise InputError(f"the panel has no system {name!r} among {listed(systems)}; {hint}")
    return name


def tables_of_panel(panel: Panel) -> list[Table]:
    """One table per model of a panel, validated like those from files; scores have a row for each run.

    Panels hold sums and tables hold values, so pairing these tables again may differ in the last bit.
    """
    if panel.kind == "losses":
        panel = panel.averaged()
    return [_table_of(panel, runs) for runs in panel.by_model]


def _table_of(panel: Panel, runs: Runs) -> Table:
    value, below = panel.metric.parts
    rows = [np.flatnonzero(panel.answered[:, column]) for column in runs.columns]
    every = np.concatenate(rows)
    if not len(every):
        raise InputError(f"the panel has no answer of {runs.model!r}; leave that system out.")
    columns: dict[str, Any] = {name: values[every] for name, values in _columns_of_units(panel).items()}
    values, weights = panel.values, [panel.column(below, column) for column in runs.columns]
    columns[value] = np.concatenate([values[own, i] for own, i in zip(rows, runs.columns, strict=True)])
    columns[below] = np.concatenate([one[own] for own, one in zip(rows, weights, strict=True)])
    if below == "weight" and bool((columns[below] == 1).all()):
        del columns[below]  # as files without weights have none
    for name, cost in panel.costs.items():
        columns[name] = np.concatenate([cost[own, i] for own, i in zip(rows, runs.columns, strict=True)])
    if len(rows) > 1:
        columns["run"] = np.repeat(np.array(runs.names, dtype=object), [len(own) for own in rows])
    found = read_table(columns, kind=panel.kind, cluster=panel.cluster, name=runs.model)
    return replace(found, notes=panel.notes, columns={**found.columns, value: panel.metric.name})


def _columns_of_units(panel: Panel) -> dict[str, NDArray[Any] | TextColumn]:
    """Columns that belong to units whatever the system, under the names that tables use."""
    losses = panel.kind == "losses"
    usual = ("split", "document", "task") if losses else ("task",)
    wanted = dict.fromkeys(name for name in (*usual, panel.cluster) if name)
    columns: dict[str, NDArray[Any] | TextColumn] = {UNITS[panel.kind]: panel.ids}
    for name in wanted:
        if name in panel.labels:
            columns[name] = panel.labels[name].texts
    if "split" in columns:
        columns[UNITS[panel.kind]] = without_splits(panel.ids, panel.label("split"))
    if not losses:
        return columns
    numbers = {name: values for name, values in panel.numbers.items() if name in ("start", "stop")}
    return columns | panel.sizes | {name: values for name, values in numbers.items() if not np.isnan(values).any()}


def pair(
    a: Table,
    b: Table,
    *,
    names: Sequence[str] | None = None,
    cluster: str | None = None,
    missing: Missing = "drop",
    lower_is_better: bool | None = None,
    split: str | None = None,
) -> Panel:
    """Pair two tables: the units that both have, sorted by id; ``missing`` may count others as 0, or refuse them.

    >>> from assay.data import read_table
    >>> a = read_table({"window": ["x", "y"], "tokens": [512, 256], "loss": [3.689, 5.394]}, name="A")
    >>> b = read_table({"window": ["y", "x"], "tokens": [256, 512], "loss": [5.561, 3.638]}, name="B")
    >>> panel = pair(a, b)
    >>> round(panel.estimate(1) - panel.estimate(0), 4)
    0.0217
    """
    return Panel.from_tables(
        [a, b],
        names=names,
        cluster=cluster,
        split=split,
        lower_is_better=lower_is_better,
        missing="complete" if missing == "drop" else missing,
    )
