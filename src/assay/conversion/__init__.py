"""Files of any harness as one plain table, or as the records that others share."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from os import PathLike
from pathlib import Path
from time import time
from typing import Literal, get_args

import numpy as np

from assay.conversion.every_eval_ever import RecordSource as RecordSource
from assay.conversion.every_eval_ever import Relationship, records_of, write_record
from assay.conversion.long_table import check_suffix, long_table, write_long_table
from assay.conversion.sample_texts import texts_of
from assay.data import Selection, Table
from assay.data.conditions import EVERYTHING
from assay.data.sources import Source, read_sources
from assay.design import Design
from assay.errors import UsageError
from assay.files.places import check_outputs
from assay.files.writing import make_folder, together
from assay.names import listed, one_line, said_once

To = Literal["table", "every-eval-ever"]


@dataclass(frozen=True, slots=True)
class ConvertedFiles:
    """What was written: the files, and what is in them."""

    files: tuple[Path, ...]
    rows: int
    models: tuple[str, ...]
    metrics: tuple[str, ...]
    notes: tuple[str, ...] = ()

    def __str__(self) -> str:
        counts = [(self.rows, "row"), (len(self.models), "model"), (len(self.metrics), "metric")]
        said = ", ".join(f"{count:,} {word}{'' if count == 1 else 's'}" for count, word in counts if count)
        return "\n".join(
            [*(f"Written: {one_line(str(file))}" for file in self.files), said, *(f"note: {one}" for one in self.notes)]
        )


def convert(
    *sources: Source,
    output: str | PathLike[str],
    to: To = "table",
    columns: Mapping[str, str] | None = None,
    cluster: str | None = None,
    selection: Selection | None = None,
    organization: str | None = None,
    relationship: Relationship = "other",
    level: float = 0.95,
) -> ConvertedFiles:
    """Write the results in files, logs, frames or tables as one plain long table, or as records that others share.

    A row of the table (CSV, JSON lines or Parquet, as ``output`` ends) is an answer of a model to an item, in one run,
    by one metric: ``model``, ``task``, ``item``, ``run``, ``metric``, ``score``, ``error`` and what it cost; every
    metric and task that ``selection`` does not choose among is written. Losses have the columns of a table of losses.
    Every verb reads the table as it reads what it was made from.

    ``to="every-eval-ever"`` writes records of that schema below the folder ``output``: for each model and task an
    aggregate with the interval of every metric at this ``level``, and the samples where the logs hold what was asked
    and answered. ``organization`` and ``relationship`` say who evaluated, and as what. Files appear together and whole,
    or not at all.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     found = convert({"item": ["a", "b"], "score": [1, 0]}, output=f"{folder}/table.csv")
    >>> found.rows, found.metrics
    (2, ('score',))
    """
    path = Path(output)
    if not sources:
        raise UsageError("convert needs at least one file or table of results.")
    if to not in get_args(To):
        raise UsageError(f"to must be one of {', '.join(get_args(To))}, but got {to!r}.")
    if to == "table":
        check_suffix(path)
    elif path.exists() and not path.is_dir():
        raise UsageError(f"{one_line(str(path))}: records go into a folder, and this is a file; name another.")
    check_outputs([path / "data" / "record.json" if to == "every-eval-ever" else path], sources)
    every = replace(selection or Selection(), every_task=True, every_metric=True, allow_different=(EVERYTHING,))
    tables = read_sources(sources, columns=columns, cluster=cluster, selection=every)
    if to == "table":
        return _write_table(tables, path)
    source = RecordSource(organization or "unknown", relationship, int(time()))
    return _write_records(sources, tables, path, every, source, Design(level=level))


def _write_table(tables: Sequence[Table], path: Path) -> ConvertedFiles:
    found = long_table(tables)
    with together():
        make_folder(path.parent)
        write_long_table(found, path)
    metrics = np.unique(found["metric"].astype(str)).tolist() if "metric" in found else []
    return ConvertedFiles((path,), len(found["model"]), _models(tables), tuple(metrics), _notes(tables))


def _write_records(
    sources: Sequence[Source],
    tables: Sequence[Table],
    folder: Path,
    selection: Selection,
    source: RecordSource,
    design: Design,
) -> ConvertedFiles:
    records = records_of(tables, texts_of(sources, selection), source, design)
    with together():
        files = [file for record in records for file in write_record(record, folder)]
    notes = list(_notes(tables))
    alone = [f"{record.task} of {record.model}" for record in records if not record.has_samples]
    if alone:
        why = "samples need a score and what was asked and answered"
        notes.append(f"the aggregate alone of {listed(alone, 6)}: {why}")
    nameless = [name for name in dict.fromkeys(record.model for record in records) if "/" not in name]
    if nameless:
        notes.append(f"no developer of {listed(nameless, 6)}: DEVELOPER/MODEL=PATH says who made a model")
    if source.organization == "unknown":
        notes.append("the records do not say who evaluated: `organization` does")
    rows = sum(len(one.table) for record in records if record.has_samples for one in record.metrics)
    metrics = tuple(dict.fromkeys(one.name for record in records for one in record.metrics))
    return ConvertedFiles(tuple(files), rows, _models(tables), metrics, tuple(notes))


def _models(tables: Sequence[Table]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(table.name for table in tables))


def _notes(tables: Sequence[Table]) -> tuple[str, ...]:
    return said_once(note for table in tables for note in table.notes)
