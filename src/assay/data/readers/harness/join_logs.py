"""Join the logs of a harness into one source per model: choose tasks and runs, check that they fit together."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Any

from assay.data.readers import Selection
from assay.data.readers.harness import Log, Rows, SeveralChoicesError
from assay.data.readers.harness.choices import (
    check_alike,
    choose_each,
    every_measure,
    for_task,
)
from assay.data.readers.harness.chosen_runs import number_runs, runs_of_tasks
from assay.data.readers.harness.chosen_tasks import of_tasks, takes_several_tasks
from assay.data.readers.harness.described_source import about_source, note_on_measure, notes_on_names
from assay.data.readers.harness.joined_rows import as_arrays, check_items, joined, prefix_items
from assay.data.readers.harness.named_logs import NamedLog, NamedPath, named_logs, where_given
from assay.data.readers.memory import MemorySource
from assay.errors import InputError
from assay.names import listed


class HarnessSource(MemorySource):
    """The items of one model, as columns in memory."""

    def __init__(self, label: str, rows: Rows, about: Mapping[str, Any]) -> None:
        super().__init__(as_arrays(rows.columns), label)
        self.about = MappingProxyType(dict(about))
        self.name = self.about["model"]["name"]
        self.notes = tuple(dict.fromkeys(rows.notes))
        self._places = rows.places

    def of_metric(self, name: str) -> "HarnessSource":
        """The same, marked as one of several metrics; what is said of all is not said of each."""
        self.about = MappingProxyType({**self.about, "one_of_metrics": name})
        return self

    def places(self, rows: Sequence[int]) -> list[str]:
        return [self._places[row - 1].removeprefix(self.label).lstrip(", /") for row in rows]


def open_logs(
    places: Sequence[NamedPath], selection: Selection, cluster: str | None, models: Sequence[str]
) -> tuple[list[NamedPath], list[HarnessSource]]:
    """Which of the paths hold logs, and a source per model; only the ``models`` if any of them is there."""
    found, entries = named_logs(places, selection)
    chosen = [entry for entry in entries if entry.model in models] or entries
    return found, sources_of(chosen, selection, cluster) if chosen else []


def sources_of(entries: Sequence[NamedLog], selection: Selection, cluster: str | None) -> list[HarnessSource]:
    """A source for each model of some logs."""
    wanted = of_tasks(
        entries, "*" if selection.task is None and takes_several_tasks(entries, selection) else selection.task
    )
    # Asked for by a group or a pattern, tasks may be one here and several in the file to compare with.
    told = [entry.log.task for entry in wanted if entry.log.task]
    pooled = bool(told) and (selection.task not in told if selection.task is not None else len(set(told)) > 1)
    pooled = pooled or (selection.task is None and any(entry.log.part_of for entry in wanted))
    if selection.every_metric and (measures := every_measure([entry.log for entry in wanted], selection)):
        return [
            source.of_metric(metric)
            for metric, (narrowed, places) in measures.items()
            for source in _of_models([wanted[place] for place in places], narrowed, cluster, pooled=pooled)
        ]
    return _of_models(wanted, replace(selection, every_metric=False), cluster, pooled=pooled)


def _of_models(
    entries: Sequence[NamedLog], selection: Selection, cluster: str | None, *, pooled: bool
) -> list[HarnessSource]:
    models: dict[str, list[NamedLog]] = {}
    for entry in entries:
        models.setdefault(entry.model, []).append(entry)
    return [_source(name, own, selection, cluster, pooled=pooled) for name, own in models.items()]


def _source(
    name: str, entries: list[NamedLog], selection: Selection, cluster: str | None, *, pooled: bool
) -> HarnessSource:
    kept, repeated = runs_of_tasks(name, entries, newest=selection.newest)
    logs = [entry.log for entry in kept]
    parts = _read(where_given(kept), logs, selection, cluster)
    for log, rows in parts:
        check_items(name, log, rows)
        if pooled:
            if not log.part_of:  # whose items have one name in all of it
                prefix_items(rows, log.task)
            rows.columns["task"] = [log.task] * len(rows)
        if repeated:
            number_runs(log, rows, logs)
    check_alike(where_given(kept), parts)
    whole = joined([rows for _, rows in parts])
    whole.columns["model"] = [name] * len(whole)
    note = note_on_measure(whole, parts, pooled=pooled, every_metric=selection.every_metric)
    whole.notes = [note, *notes_on_names(kept), *whole.notes]
    about = about_source(name, whole, parts)
    return HarnessSource(where_given(kept), whole, about | {"allow_different": tuple(selection.allow_different)})


def _read(where: str, logs: Sequence[Log], selection: Selection, cluster: str | None) -> list[tuple[Log, Rows]]:
    """The rows of every log, of the metric that was chosen for its task."""
    found: list[tuple[Log, Rows]] = []
    several: dict[str, SeveralChoicesError] = {}
    for log in logs:
        try:
            found.append((log, _rows(log, for_task(selection, log, logs), cluster, logs)))
        except SeveralChoicesError as error:
            if len({one.task for one in logs}) < 2:
                raise
            several.setdefault(log.task, error)
    if several:
        raise choose_each(where, several, found)
    return found


def _rows(log: Log, selection: Selection, cluster: str | None, logs: Sequence[Log]) -> Rows:
    """The rows of a log; where all tasks are read because none was chosen, one that cannot be read may be left out."""
    tasks = sorted({one.task for one in logs if one.task})
    try:
        return _clustered(log, selection, cluster)
    except InputError as error:
        if isinstance(error, SeveralChoicesError) or selection.task is not None or len(tasks) < 2:
            raise
        others = f"or one of the {len(tasks)} tasks ({listed(tasks, 40)}) with `Selection(task=...)`"
        raise InputError(f"{str(error).removesuffix('.')}, {others}.") from error


def _clustered(log: Log, selection: Selection, cluster: str | None) -> Rows:
    if cluster != "doc_hash":
        return log.rows(selection, cluster)
    found = log.rows(selection, None)  # where there is a hash, it is a column of its own
    if cluster not in found.columns:
        raise InputError(f"{log.label}: no hash of each item to cluster by; cluster by something else.")
    return found
