"""One log for each task of a model, or several that the user calls its runs."""

from collections.abc import Sequence

from assay.data.readers.harness import Log, Rows
from assay.data.readers.harness.named_logs import NamedLog
from assay.errors import InputError
from assay.names import listed

_PLACES_SHOWN = 6


def runs_of_tasks(name: str, entries: list[NamedLog], *, newest: bool) -> tuple[list[NamedLog], bool]:
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


def number_runs(log: Log, rows: Rows, logs: Sequence[Log]) -> None:
    """Number the runs of a model that has several logs: by log, and by epoch within it."""
    if rows.kind == "losses":
        raise InputError(f"{log.label}: losses have no runs; give each run its own name.")
    place = [other.label for other in logs if other.task == log.task].index(log.label) + 1
    epochs = rows.columns.get("run")
    rows.columns["run"] = [str(place)] * len(rows) if epochs is None else [f"{place}.{epoch}" for epoch in epochs]
