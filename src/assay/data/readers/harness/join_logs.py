"""Join the logs of a harness into one source per model: choose tasks and runs, check that they fit together."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from pathlib import Path
from sys import intern
from types import MappingProxyType
from typing import Any

import numpy as np

from assay.data.metrics import UNITS
from assay.data.readers import Selection
from assay.data.readers.harness import Log, Rows
from assay.data.readers.harness.detect import logs_at
from assay.data.readers.memory import MemorySource
from assay.errors import InputError, UsageError
from assay.names import argument, listed, names_of, nearest, one_line

_PLACES_SHOWN = 6
_TWICE_SHOWN = 3


@dataclass(frozen=True, slots=True)
class NamedLog:
    """A log, the path the user gave, and the name for its model (NAME=PATH)."""

    name: str | None
    given: str
    log: Log

    @property
    def model(self) -> str:
        return self.name or one_line(self.log.model)


class HarnessSource(MemorySource):
    """The items of one model, as columns in memory."""

    def __init__(self, label: str, rows: Rows, about: Mapping[str, Any]) -> None:
        super().__init__(_arrays(rows.columns), label)
        self.about = MappingProxyType(dict(about))
        self.name = self.about["model"]["name"]
        self.notes = tuple(dict.fromkeys(rows.notes))
        self._places = rows.places

    def places(self, rows: Sequence[int]) -> list[str]:
        return [self._places[row - 1].removeprefix(self.label).lstrip(", /") for row in rows]


NamedPath = tuple[str | None, Path]  # NAME=PATH taken apart


def open_logs(
    places: Sequence[NamedPath], selection: Selection, cluster: str | None, models: Sequence[str]
) -> tuple[list[NamedPath], list[HarnessSource]]:
    """Which of the paths hold logs, and a source per model; only the ``models`` if any of them is there."""
    found = [(place, logs) for place in places if (logs := logs_at(place[1], selection.format)) is not None]
    for (name, path), logs in found:
        names = sorted({log.model for log in logs})
        if name is not None and len(names) > 1:
            raise UsageError(f"{name}=… renames one model, but {path} holds {len(names)}: {listed(names)}.")
    entries = _told_apart([NamedLog(name, one_line(str(path)), log) for (name, path), logs in found for log in logs])
    chosen = [entry for entry in entries if entry.model in models] or entries
    return [place for place, _ in found], sources_of(chosen, selection, cluster) if chosen else []


def _told_apart(entries: list[NamedLog]) -> list[NamedLog]:
    """Name renamed files after what distinguishes their paths: runs/base/out.jsonl and runs/int4/out.jsonl."""
    files = list({entry.log.files[0]: None for entry in entries if not entry.log.task and entry.name is None})
    if not files:
        return entries
    taken = {entry.model for entry in entries if entry.log.task or entry.name is not None}
    names = dict(zip(files, names_of(files, taken), strict=True))
    return [
        replace(entry, log=replace(entry.log, model=names[entry.log.files[0]]))
        if entry.name is None and entry.log.files[0] in names
        else entry
        for entry in entries
    ]


def sources_of(entries: Sequence[NamedLog], selection: Selection, cluster: str | None) -> list[HarnessSource]:
    """A source for each model of some logs."""
    wanted = _of_tasks(entries, "*" if selection.task is None and _several(entries, selection) else selection.task)
    # Asked for by a group or a pattern, tasks may be one here and several in the file to compare with.
    told = [entry.log.task for entry in wanted if entry.log.task]
    pooled = bool(told) and (selection.task not in told if selection.task is not None else len(set(told)) > 1)
    models: dict[str, list[NamedLog]] = {}
    for entry in wanted:
        models.setdefault(entry.model, []).append(entry)
    return [_source(name, own, selection, cluster, pooled=pooled) for name, own in models.items()]


def _several(entries: Sequence[NamedLog], selection: Selection) -> bool:
    """Whether there are several tasks, and all of them are asked for."""
    return selection.every_task and len({entry.log.task for entry in entries if entry.log.task}) > 1


def _of_tasks(entries: Sequence[NamedLog], asked: str | None) -> Sequence[NamedLog]:
    """The logs of the requested task, or of the only one.

    A renamed file does not state its task and is accepted with any single task: whether its items match is checked
    by pairing.
    """
    tasks = sorted({entry.log.task for entry in entries if entry.log.task})
    where = _where(entries)
    if asked is None:
        if len(tasks) > 1:
            raise _choose_a_task(where, tasks)
        return entries
    chosen = [entry for entry in entries if entry.log.task and entry.log.task == asked]
    several = not chosen
    chosen = chosen or [entry for entry in entries if asked in entry.log.groups]
    chosen = chosen or [entry for entry in entries if entry.log.task and fnmatchcase(entry.log.task, asked)]
    if tasks and not chosen:
        close = nearest(asked, tasks)
        hint = (
            f"did you mean {argument('Selection', task=close)}?" if close else "choose one with `Selection(task=...)`."
        )
        raise InputError(f"{where}: no task {asked!r}, only {listed(tasks, 40)}; {hint}")
    return [*chosen, *_renamed(entries, asked if several and chosen else None)]


def _choose_a_task(where: str, tasks: Sequence[str], why: str = "") -> InputError:
    return InputError(
        f"{where}: {len(tasks)} tasks ({listed(tasks, 40)}){why}; choose one with `Selection(task=...)`, or several "
        "that have the same metric with a pattern such as `Selection(task='*')`."
    )


def _renamed(entries: Sequence[NamedLog], group: str | None) -> list[NamedLog]:
    """The logs that do not state their task; they cannot be part of a group of tasks."""
    found = [entry for entry in entries if not entry.log.task]
    if found and group is not None:
        raise InputError(
            f"{found[0].given}: the file was renamed and does not say its task, so that it cannot be one of "
            f"{group!r}; name a single task with `Selection(task=...)`."
        )
    return found


def _where(entries: Sequence[NamedLog]) -> str:
    """The paths the user gave, for messages and as the label of a source."""
    given = list(dict.fromkeys(entry.given for entry in entries))
    return given[0] if len(given) == 1 else f"{given[0]} and {len(given) - 1} more"


def _source(
    name: str, entries: list[NamedLog], selection: Selection, cluster: str | None, *, pooled: bool
) -> HarnessSource:
    kept, repeated = _runs(name, entries, newest=selection.newest)
    logs = [entry.log for entry in kept]
    parts = [(log, _rows(log, selection, cluster, logs)) for log in logs]
    for log, rows in parts:
        _check_items(name, log, rows)
        if pooled:
            _prefix(rows, log.task)
            rows.columns |= {"task": [log.task] * len(rows)} if rows.kind == "scores" else {}
        if repeated:
            _number_runs(log, rows, logs)
    if selection.task is None and any(_unlike(parts[0][1], rows) for _, rows in parts):
        raise _choose_a_task(_where(kept), sorted({log.task for log in logs}), ", which do not measure the same")
    _check_alike(parts)
    whole = _joined([rows for _, rows in parts])
    whole.columns["model"] = [name] * len(whole)
    whole.notes = [_note(whole, logs, pooled=pooled), *_guesses(kept), *whole.notes]
    return HarnessSource(_where(kept), whole, _about(name, whole, logs))


def _rows(log: Log, selection: Selection, cluster: str | None, logs: Sequence[Log]) -> Rows:
    """The rows of a log; where all tasks are read because none was chosen, one that cannot be read may be left out."""
    tasks = sorted({one.task for one in logs if one.task})
    try:
        return log.rows(selection, cluster)
    except InputError as error:
        if selection.task is not None or len(tasks) < 2:
            raise
        others = f"or one of the {len(tasks)} tasks ({listed(tasks, 40)}) with `Selection(task=...)`"
        raise InputError(f"{str(error).removesuffix('.')}, {others}.") from error


def _note(whole: Rows, logs: Sequence[Log], *, pooled: bool) -> str:
    """A note on what is measured and what items are paired by."""
    tasks, measure = {log.task for log in logs}, whole.measure
    what = (min(tasks) or "renamed samples") if len(tasks) == 1 else f"{len(tasks)} tasks"
    compared = f", {measure.compared} compared" if "doc_hash" in whole.columns else ""
    return (
        f"{measure.format}, {what}: {measure}; paired on {'task and ' if pooled else ''}{measure.paired_on}{compared}"
    )


def _guesses(entries: Sequence[NamedLog]) -> list[str]:
    return [f"{entry.given}: {entry.log.guessed}" for entry in entries if entry.name is None and entry.log.guessed]


def _about(name: str, whole: Rows, logs: Sequence[Log]) -> dict[str, Any]:
    measure = whole.measure
    tasks = tuple(sorted({log.task for log in logs if log.task}))
    return {
        "model": {"name": name},
        "measure": {
            "format": measure.format,
            "task": ", ".join(tasks),
            "tasks": tasks,
            "metric": measure.metric,
            "filter": measure.filter,
            "scorer": measure.scorer,
        },
        "lower_is_better": whole.lower_is_better,
        "files": tuple(dict.fromkeys(file for log in logs for file in log.files)),
    }


def _runs(name: str, entries: list[NamedLog], *, newest: bool) -> tuple[list[NamedLog], bool]:
    """One log per task, or the repeated runs of each that the user gave one name."""
    tasks: dict[str, list[NamedLog]] = {}
    for entry in entries:
        tasks.setdefault(entry.log.task, []).append(entry)
    twice = next((runs for runs in tasks.values() if len(runs) > 1), None)
    if twice is None:
        return entries, False
    if newest:
        return [_newest(runs) for runs in tasks.values()], False
    if all(run.name for run in entries) and all(
        len({run.given for run in runs}) == len(runs) for runs in tasks.values()
    ):
        return entries, True
    raise _several_runs(name, twice)


def _several_runs(name: str, runs: list[NamedLog]) -> InputError:
    """The error for several runs of a task, with the remedies that apply."""
    labels = [run.log.label for run in runs]
    if len(set(labels)) < len(labels):
        return InputError(f"{labels[0]}: the same log is named twice; name it once, or another one.")
    task = f"the task {runs[0].log.task!r}" if runs[0].log.task else "a task"
    newest = ", or take the newest with `Selection(newest=True)`" if _dated(runs) else ""
    return InputError(
        f"{len(runs)} runs of {task} by the model {name!r} ({listed(labels, _PLACES_SHOWN)}); name one of them"
        f"{newest}, or call them NAME=PATH: different names are compared, the same name makes them runs of one model."
    )


def _dated(runs: list[NamedLog]) -> bool:
    """Whether the dates say which run is the newest."""
    dates = sorted(run.log.written for run in runs)
    return bool(dates[0]) and dates[-1] != dates[-2]


def _newest(runs: list[NamedLog]) -> NamedLog:
    if len(runs) > 1 and not _dated(runs):
        labels = listed([run.log.label for run in runs], _PLACES_SHOWN)
        raise InputError(f"{labels}: their dates do not say which is the newest; name one of them.")
    return max(runs, key=lambda run: run.log.written)


def _check_items(name: str, log: Log, rows: Rows) -> None:
    """Refuse empty logs, and items that occur twice in a run."""
    if not len(rows):
        raise InputError(f"{log.label}: no items; check what should have written them.")
    unit, seen = UNITS[rows.kind], dict[tuple[Any, Any], str]()
    again = [
        (item, place, before)
        for item, run, place in zip(
            rows.columns[unit], rows.columns.get("run") or [""] * len(rows), rows.places, strict=True
        )
        if (before := seen.setdefault((item, run), place)) is not place
    ]
    if again:
        item, place, before = again[0]
        more = [f"{unit} {item!r} ({_short(place, log)})" for item, place, _ in again[1:_TWICE_SHOWN]]
        more += [f"{len(again) - _TWICE_SHOWN:,} more"] if len(again) > _TWICE_SHOWN else []
        also = f"; so are {', '.join(more)}" if more else ""
        raise InputError(
            f"{place}: {unit} {item!r} of the model {name!r} is there already ({_short(before, log)}){also}; "
            "keep one of each."
        )


def _short(place: str, log: Log) -> str:
    """A location, without the file that the message names already."""
    return place.removeprefix(f"{log.label}, ")


def _unlike(first: Rows, rows: Rows) -> bool:
    return rows.kind != first.kind or str(rows.measure) != str(first.measure)


def _check_alike(parts: Sequence[tuple[Log, Rows]]) -> None:
    first_log, first = parts[0]
    for log, rows in parts[1:]:
        if rows.kind != first.kind:
            raise InputError(
                f"{first_log.label} holds {first.kind} and {log.label} {rows.kind}; choose with `Selection(task=...)`."
            )
        if str(rows.measure) != str(first.measure):
            raise InputError(f"{first_log.label} has {first.measure} and {log.label} has {rows.measure}; choose one.")


def _prefix(rows: Rows, task: str) -> None:
    for name in {UNITS[rows.kind], "document"} & rows.columns.keys():
        rows.columns[name] = [intern(f"{task}/{item}") for item in rows.columns[name]]


def _number_runs(log: Log, rows: Rows, logs: Sequence[Log]) -> None:
    """Number the runs of a model that has several logs: by log, and by epoch within it."""
    if rows.kind == "losses":
        raise InputError(f"{log.label}: losses have no runs; give each run its own name.")
    place = [other.label for other in logs if other.task == log.task].index(log.label) + 1
    epochs = rows.columns.get("run")
    rows.columns["run"] = [str(place)] * len(rows) if epochs is None else [f"{place}.{epoch}" for epoch in epochs]


def _joined(parts: Sequence[Rows]) -> Rows:
    """Concatenate logs; columns that one of them lacks are dropped, except the run."""
    first = parts[0]
    if len(parts) == 1:
        return first
    names = [name for name in first.columns if all(name in rows.columns for rows in parts)]
    columns = {name: [value for rows in parts for value in rows.columns[name]] for name in names}
    if any("run" in rows.columns for rows in parts):
        columns["run"] = [run for rows in parts for run in rows.columns.get("run", ["1"] * len(rows))]
    lower = {rows.lower_is_better for rows in parts}
    return Rows(
        first.kind,
        first.measure,
        columns,
        [place for rows in parts for place in rows.places],
        lower_is_better=lower.pop() if len(lower) == 1 else None,
        notes=[note for rows in parts for note in rows.notes],
    )


def _arrays(columns: Mapping[str, list[Any]]) -> dict[str, Any]:
    """Numbers as arrays, which take a quarter of the memory; texts stay objects."""
    numeric = ("score", "loss", "tokens", "bytes")
    return {name: np.array(values, dtype=np.float64) if name in numeric else values for name, values in columns.items()}
