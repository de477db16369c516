"""The panel of the models to rank: sorted by name, with holes where a model has not answered."""

from collections.abc import Sequence
from dataclasses import replace

from assay.data import Panel, Table
from assay.data.readers import UNNAMED
from assay.data.sources import renamed
from assay.design import Missing
from assay.errors import InputError, NoPairsError, UsageError
from assay.names import listed, said_once
from assay.results import words
from assay.stats.rounding import snapped


def models_of(
    tables: Sequence[Table],
    *,
    names: Sequence[str] | None = None,
    cluster: str | None = None,
    split: str | None = None,
    lower_is_better: bool | None = None,
    missing: Missing = "drop",
) -> Panel:
    """The panel of several tables; what belongs to a unit must be the same in all that have it."""
    systems = _names(tables, names)
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


def only_complete(panel: Panel) -> Panel:
    """Only the units that every model has answered."""
    try:
        return panel.complete()
    except NoPairsError as error:
        raise InputError(
            f"no {panel.unit} has an answer of every model; leave out `missing`, or models that lack many."
        ) from error


def without_rounding(panel: Panel) -> Panel:
    """Values of a unit that differ by rounding only are made equal: such differences are none."""
    values, changed = snapped(panel.grid.values)
    if not changed:
        return panel
    made = panel.with_numerators(values * panel.denominators[:, None])
    return replace(made, notes=(*panel.notes, words.rounded_off(changed)))
