"""Join the logs of a harness into one source per model: choose tasks and runs, check that they fit together."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from math import nan
from pathlib import Path
from sys import intern
from types import MappingProxyType
from typing import Any

import numpy as np

from assay.data.costs import COSTS
from assay.data.metrics import UNITS
from assay.data.readers import Selection
from assay.data.readers.harness import Log, Rows, SeveralChoicesError
from assay.data.readers.harness.choices import (
    PICKED,
    belongs,
    check_alike,
    choose_each,
    every_measure,
    for_task,
    one_text,
)
from assay.data.readers.harness.detect import logs_at
from assay.data.readers.harness.places import ManyPlaces
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

    def of_metric(self, name: str) -> "HarnessSource":
        """The same, marked as one of several metrics; what is said of all is not said of each."""
        self.about = MappingProxyType({**self.about, "one_of_metrics": name})
        return self

    def places(self, rows: Sequence[int]) -> list[str]:
        return [self._places[row - 1].removeprefix(self.label).lstrip(", /") for row in rows]


NamedPath = tuple[str | None, Path]  # NAME=PATH taken apart


def open_logs(
    places: Sequence[NamedPath], selection: Selection, cluster: str | None, models: Sequence[str]
) -> tuple[list[NamedPath], list[HarnessSource]]:
    """Which of the paths hold logs, and a source per model; only the ``models`` if any of them is there."""
    found, entries = named_logs(places, selection)
    chosen = [entry for entry in entries if entry.model in models] or entries
    return found, sources_of(chosen, selection, cluster) if chosen else []


def named_logs(places: Sequence[NamedPath], selection: Selection) -> tuple[list[NamedPath], list[NamedLog]]:
    """Which of the paths hold logs, and the logs, each with the name of its model."""
    found = [(place, logs) for place in places if (logs := logs_at(place[1], selection.format)) is not None]
    found = [(place, _prepared(logs, selection, place[1])) for place, logs in found]
    if selection.reference is not None:
        found = [(place, _against(selection.reference, logs, place[1])) for place, logs in found]
    for (name, path), logs in found:
        names = sorted({log.model for log in logs})
        if name is not None and len(names) > 1:
            raise UsageError(f"{name}=… renames one model, but {path} holds {len(names)}: {listed(names)}.")
    entries = [NamedLog(name, one_line(str(path)), log) for (name, path), logs in found for log in logs]
    return [place for place, _ in found], _told_apart(entries)


def _prepared(logs: Sequence[Log], selection: Selection, path: Path) -> list[Log]:
    """The logs with what the selection says of them."""
    found = [one for log in logs for one in log.prepared(selection)]
    if logs and not found:
        raise InputError(f"{one_line(str(path))}: none of its instances is in {selection.tried}; name another file.")
    return found


def _against(reference: str, logs: Sequence[Log], path: Path) -> list[Log]:
    """The logs with the verdicts against one model; refused where there are none."""
    found = [own for log in logs if (own := log.against(reference)) is not None]
    if not found:
        names = sorted({log.conditions.get("reference", log.model) for log in logs})
        close = nearest(reference, names)
        hint = f"did you mean {argument('Selection', reference=close)}?" if close else "name another."
        raise InputError(
            f"{one_line(str(path))}: no verdict on a model and {reference!r}, only on {listed(names)}; {hint}"
        )
    return found


def _told_apart(entries: list[NamedLog]) -> list[NamedLog]:
    """Name the models that no file names after their paths, by what distinguishes these where one task has several.

    runs/base/out.jsonl and runs/int4/out.jsonl become base and int4; humaneval/int4.json and mbpp/int4.json are two
    tasks of int4.
    """
    unnamed = [entry for entry in entries if entry.name is None and _named_by(entry) is not None]
    paths = list(dict.fromkeys(path for entry in unnamed if (path := _named_by(entry))))
    if not paths:
        return entries
    taken = {entry.model for entry in entries if entry.name is not None or _named_by(entry) is None}
    names = {path: names_of([path])[0] for path in paths}
    of_tasks = {(entry.log.task, names[path]): path for entry in unnamed if (path := _named_by(entry))}
    if len({(entry.log.task, _named_by(entry)) for entry in unnamed}) > len(of_tasks) or taken & {*names.values()}:
        names = dict(zip(paths, names_of(paths, taken), strict=True))
    return [
        replace(entry, log=replace(entry.log, model=names[path]))
        if entry.name is None and (path := _named_by(entry)) is not None
        else entry
        for entry in entries
    ]


def _named_by(entry: NamedLog) -> Path | None:
    """The path that a model is named after; ``None`` where its name is known."""
    log = entry.log
    return log.named_by or (None if log.task else log.files[0])


def sources_of(entries: Sequence[NamedLog], selection: Selection, cluster: str | None) -> list[HarnessSource]:
    """A source for each model of some logs."""
    wanted = _of_tasks(entries, "*" if selection.task is None and _several(entries, selection) else selection.task)
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


def _several(entries: Sequence[NamedLog], selection: Selection) -> bool:
    """Whether there are several tasks, and all of them are asked for."""
    all_asked = selection.every_task or all(entry.log.part_of for entry in entries)
    return all_asked and len({entry.log.task for entry in entries if entry.log.task}) > 1


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
    chosen = chosen or _of_several(entries, asked)
    if tasks and not chosen:
        raise _no_such_task(where, asked, tasks, sorted({name for entry in entries for name in entry.log.groups}))
    return [*chosen, *_renamed(entries, asked if several and chosen else None)]


def _no_such_task(where: str, asked: str, tasks: Sequence[str], groups: Sequence[str]) -> InputError:
    """The error for a task that is not there, with a pattern where several begin so, or the nearest name."""
    patterns = [f"{asked}*", f"*{asked}*"]
    several = next((one for one in patterns if sum(fnmatchcase(task, one) for task in tasks) > 1), None)
    close = several or nearest(asked, [*tasks, *groups])
    hint = f"did you mean {argument('Selection', task=close)}?" if close else "choose one with `Selection(task=...)`."
    of = f" and the groups {listed(groups, 10)}" if groups else ""
    return InputError(f"{where}: no task {asked!r}, only {listed(tasks, 40)}{of}; {hint}")


def _of_several(entries: Sequence[NamedLog], asked: str) -> list[NamedLog]:
    """The logs of a group, of a pattern, or of several of these or of tasks with commas between them."""
    for found in (
        [entry for entry in entries if asked in entry.log.groups],
        [entry for entry in entries if entry.log.task and fnmatchcase(entry.log.task, asked)],
    ):
        if found:
            return found
    names = [name.strip() for name in asked.split(",")]
    known = all(any(belongs(entry.log, name) for entry in entries) for name in names)
    return [entry for entry in entries if known and any(belongs(entry.log, name) for name in names)]


def _choose_a_task(where: str, tasks: Sequence[str]) -> InputError:
    return InputError(
        f"{where}: {len(tasks)} tasks ({listed(tasks, 40)}); choose one with `Selection(task=...)`, or several with a "
        "pattern such as `Selection(task='*')`."
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
    parts = _read(_where(kept), logs, selection, cluster)
    for log, rows in parts:
        _check_items(name, log, rows)
        if pooled:
            if not log.part_of:  # whose items have one name in all of it
                _prefix(rows, log.task)
            rows.columns["task"] = [log.task] * len(rows)
        if repeated:
            _number_runs(log, rows, logs)
    check_alike(_where(kept), parts)
    whole = _joined([rows for _, rows in parts])
    whole.columns["model"] = [name] * len(whole)
    note = _note(whole, parts, pooled=pooled, every_metric=selection.every_metric)
    whole.notes = [note, *_guesses(kept), *whole.notes]
    about = _about(name, whole, parts)
    return HarnessSource(_where(kept), whole, about | {"allow_different": tuple(selection.allow_different)})


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


def _note(whole: Rows, parts: Sequence[tuple[Log, Rows]], *, pooled: bool, every_metric: bool) -> str:
    """A note on what is measured and what items are paired by."""
    tasks, measure = {log.task for log, _ in parts}, whole.measure
    renamed = "renamed samples" if measure.format == "lm-eval" else ""  # others need not name their task
    what = (min(tasks) or renamed) if len(tasks) == 1 else f"{len(tasks)} tasks"
    compared = f", {measure.compared} compared" if "doc_hash" in whole.columns else ""
    own = pooled and not all(log.part_of for log, _ in parts)
    on = f"{'task and ' if own else ''}{measure.paired_on}{compared}"
    measured = "every metric" if every_metric else _measures(parts)
    return f"{measure.format}{', ' if what else ''}{what}: {measured}; paired on {on}"


def _measures(parts: Sequence[tuple[Log, Rows]]) -> str:
    """What is measured; where tasks differ in that, of which."""
    found: dict[str, dict[str, None]] = {}
    for log, rows in parts:
        found.setdefault(str(rows.measure), {})[log.task] = None
    if len(found) == 1:
        return next(iter(found))
    most = sorted(found.items(), key=lambda item: -len(item[1]))
    return "; ".join(f"{measure} of {listed(tasks, 6)}" for measure, tasks in most)


def _guesses(entries: Sequence[NamedLog]) -> list[str]:
    return [f"{entry.given}: {entry.log.guessed}" for entry in entries if entry.name is None and entry.log.guessed]


def _about(name: str, whole: Rows, parts: Sequence[tuple[Log, Rows]]) -> dict[str, Any]:
    logs = [log for log, _ in parts]
    tasks = tuple(sorted({log.task for log in logs if log.task}))
    own = {log.task: {name: getattr(rows.measure, name) for name in PICKED} for log, rows in parts}
    return {
        "model": {"name": name},
        "measure": {
            "format": whole.measure.format,
            "task": ", ".join(tasks),
            "tasks": tasks,
            **{name: _of_all(name, own) for name in PICKED},
            "by_task": own,
        },
        "measure_name": whole.measure.called,
        "games": whole.games,
        "groups": _groups(logs),
        "part_of": logs[0].part_of if all(log.part_of == logs[0].part_of for log in logs) else "",
        "lower_is_better": whole.lower_is_better,
        "conditions": {log.task: dict(log.conditions) for log in logs},
        "settings": {log.task: dict(log.settings) for log in logs},
        "program": {log.task: (log.version, log.written) for log in logs},
        "files": tuple(dict.fromkeys(file for log in logs for file in log.files)),
    }


def _groups(logs: Sequence[Log]) -> dict[str, tuple[str, ...]]:
    """The tasks of every group, by all logs."""
    found: dict[str, dict[str, None]] = {}
    for log in logs:
        for group, tasks in log.tasks_of_groups().items():
            found.setdefault(group, {}).update(dict.fromkeys(tasks))
    return {group: tuple(tasks) for group, tasks in found.items()}


def _of_all(name: str, measures: Mapping[str, Mapping[str, str | None]]) -> str | None:
    """The metric, filter or scorer in one text, as `Selection` takes it."""
    found = {task: value for task, own in sorted(measures.items()) if (value := own[name]) is not None}
    return one_text(found) if found else None


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
    unit = UNITS[rows.kind]
    items, runs = rows.columns[unit], rows.columns.get("run")
    if len(set(items if runs is None else zip(items, runs, strict=True))) == len(rows):
        return
    seen, again = dict[tuple[Any, Any], str](), []
    for item, run, place in zip(items, runs or [""] * len(rows), rows.places, strict=True):
        if (before := seen.setdefault((item, run), place)) is not place:
            again.append((item, place, before))
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
    """Concatenate logs; columns that one of them lacks are dropped, except the run and what answers cost."""
    first = parts[0]
    if len(parts) == 1:
        return first
    names = [name for name in first.columns if all(name in rows.columns for rows in parts)]
    columns = {name: [value for rows in parts for value in rows.columns[name]] for name in names}
    for name in [one for one in COSTS if any(one in rows.columns for rows in parts)]:
        columns[name] = [cost for rows in parts for cost in rows.columns.get(name, [nan] * len(rows))]
    if any("run" in rows.columns for rows in parts):
        columns["run"] = [run for rows in parts for run in rows.columns.get("run", ["1"] * len(rows))]
    lower = {rows.lower_is_better for rows in parts}
    return Rows(
        first.kind,
        first.measure,
        columns,
        ManyPlaces([rows.places for rows in parts]),
        lower_is_better=lower.pop() if len(lower) == 1 else None,
        notes=[note for rows in parts for note in rows.notes],
        games=tuple(dict.fromkeys(games for rows in parts for games in rows.games)),
    )


def _arrays(columns: Mapping[str, list[Any]]) -> dict[str, Any]:
    """Numbers as arrays, which take a quarter of the memory; texts stay objects."""
    numeric = ("score", "loss", "tokens", "bytes", *COSTS)
    return {name: np.array(values, dtype=np.float64) if name in numeric else values for name, values in columns.items()}
