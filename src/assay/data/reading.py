"""Read tables of losses and scores from files, mappings and data frames: columns by name, every value checked."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from os import PathLike
from pathlib import Path, PurePath
from typing import Any

import numpy as np

from assay.data.columns import (
    GROUPS,
    ColumnLayout,
    check_number,
    check_split,
    check_texts,
    check_unique,
    columns_by_model,
    layout_of,
)
from assay.data.metrics import UNITS, Kind
from assay.data.readers import Reading, RowSource, Selection, row_places
from assay.data.readers.memory import MemorySource
from assay.data.readers.parquet import Parquet
from assay.data.readers.registry import open_source, open_sources
from assay.data.tables import Labels, Table
from assay.errors import InputError, UsageError
from assay.names import listed, nearest, one_line
from assay.stats.units import Floats, Texts

_NUMBERS = frozenset({"tokens", "loss", "bytes", "chars", "start", "stop", "score", "weight"})
_NOT_CLUSTERS = _NUMBERS | {"model"}  # as labels they would no longer be read as what they are


def read_table(
    source: str | PathLike[str] | Mapping[str, Any] | Any,
    *,
    columns: Mapping[str, str] | None = None,
    kind: Kind | None = None,
    cluster: str | None = None,
    name: str | None = None,
    selection: Selection | None = None,
) -> Table:
    """Read losses (``window, tokens, loss``) or scores (``item, score``) from a file, a mapping or a data frame.

    Files are CSV, TSV, JSONL or Parquet, or the logs of a harness, where ``selection`` says which results are meant.
    ``columns`` maps our names to the file's, ``cluster`` names the column that holds the clusters, ``name`` is what
    results call the system. A value that cannot be right is an error.

    >>> read_table({"item": ["q1", "q2"], "acc": [1, 0]}, columns={"score": "acc"}).numbers["score"]
    array([1., 0.])
    """
    opened = _open(source, name, selection, cluster)
    if len(opened) > 1:
        found = listed(str(one.name) for one in opened)
        raise InputError(f"{source}: {len(opened)} models ({found}); name the folder of one, or read_tables for all.")
    return _table(opened[0], columns or {}, kind, cluster, name)


def read_parquet(path: Path, *, kind: Kind, cluster: str | None = None) -> Table:
    """Read Parquet that `write_tables` wrote, whatever the file is called; nothing is guessed."""
    return _table(Parquet(path, one_line(str(path))), {}, kind, cluster)


def read_tables(
    sources: Sequence[str | PathLike[str] | Mapping[str, Any] | Table | Any],
    *,
    columns: Mapping[str, str] | None = None,
    kind: Kind | None = None,
    cluster: str | None = None,
    selection: Selection | None = None,
) -> list[Table]:
    """Read a table for each model in several files, folders, mappings, data frames or tables.

    Paths may be NAME=PATH. Harness logs are joined by model, whichever path they come from.

    >>> rows = {"model": ["a", "a", "b", "b"], "item": ["q1", "q2", "q1", "q2"], "score": [1, 0, 1, 1]}
    >>> [table.name for table in read_tables([rows])]
    ['a', 'b']
    """
    paths = [source for source in sources if isinstance(source, str | PathLike)]
    tables: list[Table] = []
    for source in sources:
        if isinstance(source, Table):
            tables.append(source)
        elif not isinstance(source, str | PathLike):
            tables += _tables(open_source(source), columns or {}, kind, cluster)
        elif source is paths[0]:
            opened = open_sources(paths, selection, cluster=cluster)
            tables += [table for one in opened for table in _tables(one, columns or {}, kind, cluster)]
    check_used(selection, tables)
    return [one for table in tables for one in table.by_model()]


def read_wide(
    frame: Any, systems: Sequence[str], *, columns: Mapping[str, str] | None = None, cluster: str | None = None
) -> list[Table]:
    """Read one table per score column of a wide frame; units without a score are left out."""
    source, tables = open_source(frame), []
    if not isinstance(source, MemorySource):
        raise UsageError(f"a frame must be a mapping of columns or a data frame, but got {type(frame).__name__}.")
    for name in systems:
        if name not in source.columns:
            raise InputError(f"{source.label}: no column {name!r} among {listed(source.columns)}; name one of them.")
        opened, there = source.filled(name)
        if not there.any():
            raise InputError(f"{source.label}, column {name!r}: every cell is empty; leave that system out.")
        mapping = {**(columns or {}), "score": name}
        table = replace(_table(opened, mapping, "scores", cluster, name), notes=())  # the other systems are not unused
        tables.append(table if there.all() else table.where(there))
    return tables


def read_models(
    source: Any,
    *,
    columns: Mapping[str, str] | None = None,
    cluster: str | None = None,
    selection: Selection | None = None,
    models: Sequence[str] = (),
) -> list[Table]:
    """Read one argument: a single table (of any number of models), or a table for each model of a harness's output.

    Of a harness's output only the logs of ``models`` are read, if it has any.
    """
    if isinstance(source, Table):
        return [source]
    opened = _open(source, None, selection, cluster, models)
    return [table for one in opened for table in _tables(one, columns or {}, None, cluster)]


def one_model(tables: Sequence[Table], model: str | None) -> Table:
    """Pick the table of a model; without a name, the only table."""
    if len(tables) == 1:
        return tables[0] if model is None else tables[0].select(model)
    names = [table.name for table in tables]
    if model not in names:
        what = f"{len(names)} models" if model is None else f"no model {model!r} among its {len(names)} models"
        close = None if model is None else nearest(model, names)
        then = f"did you mean {close!r}?" if close else "say which one is meant with `models`."
        raise InputError(f"{tables[0].label} and others: {what} ({listed(names)}); {then}")
    return tables[names.index(model)]


def check_used(selection: Selection | None, tables: Sequence[Table]) -> None:
    """Refuse a selection among harness results where there are none, rather than ignore it."""
    if selection is not None and selection.picks and not any("measure" in table.about for table in tables):
        labels = listed(table.label for table in tables)
        raise UsageError(
            f"{selection.picks} picks among the results of a harness, but {labels} is a table; leave it out."
        )


def _open(
    source: Any, name: str | None, selection: Selection | None, cluster: str | None, models: Sequence[str] = ()
) -> list[RowSource]:
    if isinstance(source, str | PathLike):
        return open_sources([source], selection, cluster=cluster, models=models)
    return [open_source(source, name=name)]


def _tables(opened: RowSource, columns: Mapping[str, str], kind: Kind | None, cluster: str | None) -> list[Table]:
    """The table of a source, or one per model where models are columns."""
    models = columns_by_model(opened.label, opened.columns, columns, cluster)
    if models is None:
        return [_table(opened, columns, kind, cluster)]
    found = [_table(opened, mapping, kind or "scores", cluster, model) for model, mapping in models.items()]
    return [replace(table, notes=opened.notes, label=f"{table.label} (model {table.name!r})") for table in found]


def _table(
    opened: RowSource, columns: Mapping[str, str], kind: Kind | None, cluster: str | None, name: str | None = None
) -> Table:
    if kind is not None and kind not in UNITS:
        raise UsageError(f"kind must be one of {', '.join(UNITS)}, but got {kind!r}.")
    if columns and "measure" in opened.about:
        raise UsageError(
            f"`columns` names the columns of a table, but {opened.label} was read as files of "
            f"{opened.about['measure']['format']}; leave it out, or add `Selection(format='table')`."
        )
    layout = layout_of(opened.label, opened.columns, columns, kind, cluster)
    if cluster in layout.columns and cluster in _NOT_CLUSTERS:
        raise UsageError(f"cluster must be a column of labels such as document, but {cluster!r} has another use.")
    ids, numbers, labels = _checked(opened, layout, cluster)
    return Table(
        opened.label,
        name or _name(opened, labels),
        layout.kind,
        ids,
        numbers,
        labels,
        np.arange(1, len(ids) + 1),
        layout.columns,
        cluster_by=cluster or ("cluster" if "cluster" in labels else None),
        notes=(*opened.notes, *_notes(opened.label, layout)),
        about=opened.about,
        places=row_places if type(opened) is MemorySource else opened.places,  # else it would keep what it was made of
    )


def _wanted(layout: ColumnLayout, cluster: str | None) -> dict[str, tuple[str, Reading]]:
    """What to read, by our name; a cluster column that is not one of ours keeps its own name.

    Labels come first: their texts are freed before the ids, which are kept, are loaded.
    """
    readings: dict[str, Reading] = {ours: "number" if ours in _NUMBERS else "text" for ours in layout.columns}
    readings.update({"score": "score"} if "score" in layout.columns else {})
    wanted = {ours: (theirs, readings[ours]) for ours, theirs in layout.columns.items()}
    if cluster is not None and layout.cluster is not None:
        wanted[cluster] = (layout.cluster, "text")
    unit = UNITS[layout.kind]
    return dict(sorted(wanted.items(), key=lambda item: (item[0] == unit, item[1][1] != "text")))


def _checked(
    source: RowSource, layout: ColumnLayout, cluster: str | None
) -> tuple[Texts, dict[str, Floats], dict[str, Labels]]:
    """Read and check every column: the ids, the numbers, the labels."""
    wanted = _wanted(layout, cluster)
    numbers: dict[str, Floats] = {}
    labels: dict[str, Labels] = {}
    for (ours, (theirs, how)), values in zip(wanted.items(), source.read(list(wanted.values())), strict=True):
        if not len(values):
            raise InputError(f"{source.label}: a header but no rows; check what should have written them.")
        if how != "text":
            numbers[ours] = _numbers(source, ours, theirs, values)
            continue
        check_texts(source, theirs, values)
        if ours != UNITS[layout.kind]:
            labels[ours] = _labels(source, ours, theirs, values)
        else:
            ids = values
    groups = {name: labels.get(name) for name in GROUPS[layout.kind]}
    check_unique(source, layout.columns[UNITS[layout.kind]], ids, groups)
    return ids, numbers, labels


def _numbers(source: RowSource, ours: str, theirs: str, values: Floats) -> Floats:
    check_number(source, ours, theirs, values)
    return values + 0.0  # -0.0 becomes 0.0, so that equal values have equal bits


def _labels(source: RowSource, ours: str, theirs: str, values: Texts) -> Labels:
    labels = Labels.of(_of_one_line(values) if ours == "model" else values)
    if ours == "split":
        check_split(source, theirs, labels.names, labels.codes)
    return labels


def _of_one_line(names: Texts) -> Texts:
    """Make model names printable on one line, unless two names would become one."""
    plain = {name: one_line(name) for name in set(names)}
    if all(name == shown for name, shown in plain.items()) or len(set(plain.values())) < len(plain):
        return names
    return np.array([plain[name] for name in names], dtype=object)


def _name(source: RowSource, labels: Mapping[str, Labels]) -> str:
    if source.name is not None:
        return source.name
    if "model" in labels and len(labels["model"].names) == 1:
        return labels["model"].names[0]
    told = source.about.get("model", {}).get("name")
    if told:
        return one_line(str(told))
    return PurePath(source.label).stem


def _notes(label: str, layout: ColumnLayout) -> tuple[str, ...]:
    if not layout.unused:
        return ()
    return (f"{label}: columns not used: {listed(layout.unused)}",)
