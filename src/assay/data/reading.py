"""Read tables of losses and scores from files, mappings and data frames: columns by name, every value checked."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from os import PathLike
from pathlib import Path
from typing import Any
from weakref import WeakValueDictionary

import numpy as np
from numpy.typing import NDArray

from assay.data.cells import NUMBERS, Cells, cells_of
from assay.data.columns import USUAL, ColumnLayout, ColumnsAsked, layout_of
from assay.data.costs import read_as
from assay.data.memory import allowed
from assay.data.metrics import UNITS, Kind
from assay.data.model_columns import columns_by_model
from assay.data.readers import RowSource, Selection, row_places
from assay.data.readers.added_rows import AddedRows, added_up
from assay.data.readers.containers import plain_stem
from assay.data.readers.memory import MemorySource
from assay.data.readers.parquet import Parquet
from assay.data.readers.registry import open_source, open_sources
from assay.data.runs import RunPart
from assay.data.table_metrics import of_metrics, with_direction
from assay.data.table_sizes import check_fits
from assay.data.tables import Labels, Table, told_apart
from assay.data.verdict_tables import columns_of_verdicts, sources_of_verdicts
from assay.design import Errors
from assay.errors import InputError, UsageError
from assay.names import listed, nearest, one_line

_NOT_CLUSTERS = NUMBERS | {"model"}  # as labels they would no longer be read as what they are


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
    rules = _Rules.of(columns, kind, cluster, selection)
    if rules.selection.sum_by is not None:
        return _table(added_up(opened[0], rules.selection.sum_by, rules.asked.mapping), rules, name)
    return of_metrics(_table(opened[0], rules, name), replace(rules.selection, every_metric=False))[0]


def read_parquet(path: Path, *, kind: Kind, cluster: str | None = None) -> Table:
    """Read Parquet that `write_tables` wrote, whatever the file is called; nothing is guessed."""
    rules = _Rules(ColumnsAsked({}, kind, cluster, usual=False))
    return with_direction(_table(Parquet(path, one_line(str(path))), rules))


def read_shards(files: Sequence[Path], run: Path) -> Table:
    """Read some shards of a run, which need not be complete."""
    return _table(RunPart(run, one_line(str(run)), files), _Rules(ColumnsAsked({}, "losses", None, usual=False)))


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
    rules = _Rules.of(columns, kind, cluster, selection)
    for source in sources:
        if isinstance(source, Table):
            tables.append(source)
        elif not isinstance(source, str | PathLike):
            tables += _tables(open_source(source), rules)
        elif source is paths[0]:
            opened = open_sources(paths, selection, cluster=cluster)
            tables += [table for one in opened for table in _tables(one, rules)]
    check_used(selection, tables)
    return told_apart([one for table in tables for one in table.by_model()])


def read_wide(
    frame: Any,
    systems: Sequence[str],
    *,
    columns: Mapping[str, str] | None = None,
    cluster: str | None = None,
    errors: Errors = "missing",
) -> list[Table]:
    """Read one table per score column of a wide frame; an empty cell is a lost answer."""
    source = open_source(frame)
    if not isinstance(source, MemorySource):
        raise UsageError(f"a frame must be a mapping of columns or a data frame, but got {type(frame).__name__}.")
    for name in systems:
        if name not in source.columns:
            raise InputError(f"{source.label}: no column {name!r} among {listed(source.columns)}; name one of them.")
    mappings = {name: {**(columns or {}), "score": name} for name in systems}
    rules = {name: _Rules(ColumnsAsked(mapping, "scores", cluster), errors) for name, mapping in mappings.items()}
    found = [_table(source, rule, name) for name, rule in rules.items()]
    return [replace(table, notes=()) for table in found]  # the other systems are not unused


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
    rules = _Rules.of(columns, None, cluster, selection)
    return [table for one in opened for table in _tables(one, rules)]


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
    if selection is not None and any("metric" in table.about for table in tables):
        selection = replace(selection, metric=None)  # it picked among the rows of a table
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


@dataclass(frozen=True, slots=True)
class _Rules:
    """How the rows of a table are read."""

    asked: ColumnsAsked
    errors: Errors = "missing"
    selection: Selection = field(default_factory=Selection)

    @classmethod
    def of(
        cls, columns: Mapping[str, str] | None, kind: Kind | None, cluster: str | None, selection: Selection | None
    ) -> "_Rules":
        if kind is not None and kind not in UNITS:
            raise UsageError(f"kind must be one of {', '.join(UNITS)}, but got {kind!r}.")
        chosen = selection or Selection()
        return cls(ColumnsAsked(columns or {}, kind, cluster, chosen.pair_by == "row"), chosen.errors, chosen)

    def of_source(self, opened: RowSource) -> "_Rules":
        """The same for logs of a harness, whose columns we have named ourselves."""
        if isinstance(opened, AddedRows):  # whose columns are ours
            return replace(self, asked=replace(self.asked, mapping={}, kind="losses", usual=False, by_row=False))
        if "measure" not in opened.about:
            return self
        if self.asked.mapping:
            raise UsageError(
                f"`columns` names the columns of a table, but {opened.label} was read as files of "
                f"{opened.about['measure']['format']}; leave it out, or add `Selection(format='table')`."
            )
        return replace(self, asked=replace(self.asked, usual=False, by_row=False))


def _tables(opened: RowSource, rules: _Rules) -> list[Table]:
    """The table of a source, or one per model where models are columns, or where two of them are compared in a row."""
    if rules.selection.sum_by is not None:
        return [_table(added_up(opened, rules.selection.sum_by, rules.asked.mapping), rules)]
    verdicts = columns_of_verdicts(opened, rules.asked)
    if verdicts is not None:
        return _tables_of_verdicts(opened, verdicts, rules)
    models = columns_by_model(opened, rules.asked)
    if models is None:
        return of_metrics(_table(opened, rules), rules.selection)
    asked = rules.asked
    told = [replace(asked, mapping=mapping, kind=asked.kind or "scores") for mapping in models.values()]
    found = [_table(opened, replace(rules, asked=one), name) for name, one in zip(models, told, strict=True)]
    notes = (*opened.notes, *(() if "score" in asked.mapping else _wide_notes(opened, found[0], models, asked)))
    return [replace(table, notes=notes, label=f"{table.label} (model {table.name!r})") for table in found]


def _tables_of_verdicts(opened: RowSource, columns: Mapping[str, str], rules: _Rules) -> list[Table]:
    """A table of win rates for each model of a table of verdicts."""
    plain = replace(rules, asked=replace(rules.asked, mapping={}))
    found = [_table(one, plain) for one in sources_of_verdicts(opened, columns, rules.asked, rules.selection)]
    return [replace(table, label=f"{table.label} (model {table.name!r})") for table in found]


def _wide_notes(opened: RowSource, table: Table, models: Collection[str], asked: ColumnsAsked) -> tuple[str, ...]:
    """What was taken for what in a table with a column for each model, unasked."""
    others = {ours: theirs for ours, theirs in table.columns.items() if ours != "score" and ours not in asked.mapping}
    item = others.get("item")
    guessed = item is not None and item.casefold() not in ("item", *USUAL["item"])
    read = [
        f"{ours} = {theirs}" for ours, theirs in others.items() if ours != theirs and not (guessed and ours == "item")
    ]
    taken = {*table.columns.values(), *models, asked.cluster}
    unused = [name for name in opened.columns if name and name not in taken]
    said = [f"{len(models)} columns of scores read as one model each: {listed(models)}"]
    said += [f"no column item: {item!r} names the items, all its cells are different"] if guessed else []
    said += ["rows are paired by their place in the file"] if asked.by_row else []
    said += [f"read as {', '.join(read)}"] if read else []
    said += [f"columns not used: {listed(unused)}"] if unused else []
    return tuple(f"{opened.label}: {one}" for one in said)


def _table(opened: RowSource, rules: _Rules, name: str | None = None) -> Table:
    rules = rules.of_source(opened)
    layout = layout_of(opened, rules.asked)
    cluster = rules.asked.cluster
    if cluster in layout.columns and cluster in _NOT_CLUSTERS:
        raise UsageError(f"cluster must be a column of labels such as document, but {cluster!r} has another use.")
    with allowed(rules.selection.most_bytes):
        check_fits(opened, layout)
        cells = cells_of(opened, layout, rules.asked.cluster, rules.errors, attempts=rules.selection.attempts)
    return Table(
        opened.label,
        name or _name(opened, cells.labels),
        layout.kind,
        cells.ids,
        cells.numbers,
        cells.labels,
        _row_numbers(len(cells.ids)),
        layout.columns,
        cluster_by=cluster or ("cluster" if "cluster" in cells.labels else None),
        notes=(*opened.notes, *_notes(opened.label, layout, cells)),
        about=opened.about,
        places=row_places if type(opened) is MemorySource else opened.places,  # else it would keep what it was made of
        lost=cells.lost,
        errors=cells.errors,
    )


def _row_numbers(rows: int) -> NDArray[np.integer[Any]]:
    """1, 2, … as long as any table of so many rows is in use, one array serves all."""
    found = _NUMBERED.get(rows)
    if found is None:
        found = np.arange(1, rows + 1, dtype=np.int32 if rows < 1 << 31 else np.int64)
        found.flags.writeable = False
        _NUMBERED[rows] = found
    return found


_NUMBERED: WeakValueDictionary[int, NDArray[np.integer[Any]]] = WeakValueDictionary()


def _name(source: RowSource, labels: Mapping[str, Labels]) -> str:
    if source.name is not None:
        return source.name
    if "model" in labels and len(labels["model"].names) == 1:
        return labels["model"].names[0]
    told = source.about.get("model", {}).get("name")
    if told:
        return one_line(str(told))
    return plain_stem(source.label)


def _notes(label: str, layout: ColumnLayout, cells: Cells) -> tuple[str, ...]:
    usual = [name for name in layout.usual if name in cells.numbers or name in cells.labels or name == "item"]
    read = ", ".join(read_as(name, layout.columns[name]) for name in usual)
    idle = [name for name in layout.usual if name not in usual and name != "error"]
    unused = (*layout.unused, *(layout.columns[name] for name in idle))
    said = [f"read as {read}"] if read else []
    said += cells.said + ([f"columns not used: {listed(unused)}"] if unused else [])
    return tuple(f"{label}: {one}" for one in said)
