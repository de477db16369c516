"""What users pass to a verb: files, logs of a harness, mappings of columns, data frames, tables, or a panel."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from os import PathLike
from typing import Any

from assay.data.panel import Panel
from assay.data.readers import Selection
from assay.data.tables import Table, check_used, one_model, read_models
from assay.errors import InputError, UsageError
from assay.names import listed, nearest

Source = str | PathLike[str] | Mapping[str, Any] | Table
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
) -> tuple[Table, Table]:
    """The two tables; ``must_pick``: a selection makes no sense where there is nothing to select from."""
    if b is None and None in models:
        raise UsageError("compare needs two files, or one file and the names of two of its models (--a NAME --b NAME).")
    read = partial(read_models, columns=columns, cluster=cluster, selection=selection)
    named = [[name] if name else [] for name in models]
    first = read(a, models=named[0] + (named[1] if b is None else []))
    second = first if b is None else read(b, models=named[1])
    if must_pick:
        check_used(selection, [*first, *second])
    return one_model(first, models[0]), one_model(second, models[1])


def panel_as_asked(
    panel: Panel,
    *,
    cluster: str | None = None,
    split: str | None = None,
    lower_is_better: bool | None = None,
    **not_for_panels: object,
) -> Panel:
    """A panel under the options of a verb; those that only say how files are read are refused."""
    for name, value in not_for_panels.items():
        if value is not None:
            raise UsageError(f"{name} says how files are read, but a panel has been; leave it out.")
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


def two_systems(panel: Panel, models: Models, *, strict: bool = False) -> Panel:
    """Two systems of a panel on the units that both have; runs of a model are averaged."""
    panel = panel.averaged()
    if models != (None, None):
        panel = panel.pair(*(_place(name, panel.systems) for name in models))
    elif panel.k != 2:
        raise UsageError(
            f"compare takes a panel of two systems, but got {panel.k}; choose two with panel.pair(i, j), or name them."
        )
    found = panel.complete()
    if strict and not panel.whole:
        left, examples = panel.n - found.n, listed(map(repr, found.dropped.examples))
        raise InputError(f"{left} {panel.unit}s lack an answer of one of the systems, such as {examples}.")
    return found


def _place(name: str | None, systems: Sequence[str]) -> int:
    if name is None:
        raise UsageError("name both systems of the panel, or neither.")
    if name not in systems:
        close = nearest(name, systems)
        hint = f"did you mean {close!r}?" if close else "name one of them."
        raise InputError(f"the panel has no system {name!r} among {listed(systems)}; {hint}")
    return systems.index(name)
