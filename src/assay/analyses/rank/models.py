"""The panel of the models to rank: sorted by name, with holes where a model has not answered."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from os import PathLike
from typing import Any

from assay.analyses.contrast import check_clusters
from assay.analyses.rank.previous import of_board
from assay.analyses.rank.result import Leaderboard
from assay.analyses.suite.tasks import TASK, called
from assay.data import Panel, Selection, Table
from assay.data.panel_views import digest
from assay.data.readers import UNNAMED, Groups
from assay.data.sources import Source, panel_as_asked, read_groups, read_sources, renamed
from assay.data.task_groups import with_groups
from assay.data.text_columns import TextColumn
from assay.design import Missing
from assay.errors import InputError, NoPairsError, UsageError
from assay.names import listed, said_once
from assay.results import words
from assay.stats.rounding import snapped


def board_panel(
    sources: Sequence[Source | Panel],
    *,
    names: Sequence[str] | None,
    columns: Mapping[str, str] | None,
    selection: Selection | None,
    missing: Missing,
    cluster: str | None,
    by: str | None = None,
    groups: Groups | str | PathLike[str] | None = None,
    previous: Leaderboard | None = None,
    **how: Any,
) -> Panel:
    """The panel of all models of the sources; with ``by`` all tasks of a harness are read, and told apart so.

    A board that is continued keeps its items, and ``missing`` is about its own models.
    """
    told = None if groups is None else read_groups(groups)
    if sources and isinstance(sources[0], Panel):
        if len(sources) > 1:
            raise UsageError("rank takes one panel, or files and tables, but not both.")
        asked = panel_as_asked(sources[0], columns=columns, selection=selection, cluster=cluster, **how)
        panel = models_of_panel(asked, names)
    else:
        own = columns if by in (None, TASK) else {**(columns or {}), TASK: by}
        every = selection if by is None else replace(selection or Selection(), every_task=True)
        tables = read_sources(sources, columns=own, cluster=cluster, selection=every)
        late = missing == "complete" or (missing == "zero" and previous is not None)
        as_read: Missing = "drop" if late else missing
        how |= {"fewest": 2 if previous is None else 1}
        panel = called(models_of(tables, names=names, missing=as_read, cluster=cluster, **how), by or TASK)
    if previous is not None:
        panel = of_board(panel, previous, missing)
    elif missing == "complete":
        panel = only_complete(panel)
    panel = panel if missing == "complete" else panel.without(missing)
    check_clusters(panel, cluster)
    return panel if told is None or by is None else with_groups(panel, by, told)


def pooled(panel: Panel) -> Panel:
    """With a note where units of several tasks are taken together."""
    tasks = len(panel.labels[TASK].names) if TASK in panel.labels and panel.cluster != TASK else 0
    if tasks < 2:
        return panel
    note = f"{panel.unit}s of {tasks} tasks are taken together: large tasks count most"
    return replace(panel, notes=(*panel.notes, note))


def models_of(
    tables: Sequence[Table],
    *,
    names: Sequence[str] | None = None,
    cluster: str | None = None,
    split: str | None = None,
    lower_is_better: bool | None = None,
    missing: Missing = "drop",
    fewest: int = 2,
) -> Panel:
    """The panel of several tables; what belongs to a unit must be the same in all that have it."""
    systems = _names(tables, names, fewest)
    order = sorted(range(len(tables)), key=systems.__getitem__)
    panel = Panel.from_tables(
        [tables[i] for i in order],
        names=[systems[i] for i in order],
        cluster=cluster,
        split=split,
        lower_is_better=lower_is_better,
        missing=missing,
    )
    return replace(panel, notes=said_once(panel.notes))


def models_of_panel(panel: Panel, names: Sequence[str] | None) -> Panel:
    """A panel as it is ranked: runs averaged, models sorted by name."""
    named = renamed(panel.averaged(), names)
    if named.k < 2:
        raise InputError(f"rank needs at least two models, but got {named.k}: only {named.systems[0]!r}.")
    return named.of_models(sorted(named.systems))


def _names(tables: Sequence[Table], names: Sequence[str] | None, fewest: int) -> list[str]:
    if names is not None and len(names) != len(tables):
        raise UsageError(f"names must be {len(tables)}, one for each model, but got {listed(names)}.")
    found = list(names) if names is not None else [table.name for table in tables]
    if names is None and len(tables) > 1 and set(found) == {UNNAMED}:
        found = [f"table {i}" for i in range(1, len(tables) + 1)]
    if len(tables) < fewest:
        only = f": only {found[0]!r}" if found else ""
        raise InputError(f"rank needs at least two models, but got {len(tables)}{only}; name more files.")
    twice = next((name for name in found if found.count(name) > 1), None)
    if twice is not None:
        labels = [table.label for table, name in zip(tables, found, strict=True) if name == twice]
        raise InputError(f"{listed(labels)}: both hold a model called {twice!r}; rename one with NAME=PATH.")
    return found


def only_complete(panel: Panel) -> Panel:
    """Only the units that every model has answered."""
    try:
        return panel.complete()
    except NoPairsError as error:
        raise InputError(
            f"no {panel.unit} has an answer of every model; leave out `missing`, or models that lack many."
        ) from error


def digests_of(panel: Panel) -> list[str]:
    """A digest for each model: of its answers, and of the units and their weights, clusters and labels of tasks."""
    codes = {"clusters": panel.clusters} if panel.clusters is not None else {}
    asked = digest(b"assay board", panel.ids, {"weights": panel.denominators, **codes})
    nothing = TextColumn.of([])
    return [digest(asked.encode(), nothing, {"answers": column})[:16] for column in panel.numerators.T]


def without_rounding(panel: Panel) -> Panel:
    """Values of a unit that differ by rounding only are made equal: such differences are none."""
    values, changed = snapped(panel.grid.values)
    if not changed:
        return panel
    made = panel.with_numerators(values * panel.denominators[:, None])
    return replace(made, notes=(*panel.notes, words.rounded_off(changed)))
