"""What is said of a model's results: measure, tasks, groups, conditions, files."""

from collections.abc import Mapping, Sequence
from typing import Any

from assay.data.readers.harness import Log, Rows
from assay.data.readers.harness.choices import (
    PICKED,
    one_text,
)
from assay.data.readers.harness.named_logs import NamedLog
from assay.names import listed


def note_on_measure(whole: Rows, parts: Sequence[tuple[Log, Rows]], *, pooled: bool, every_metric: bool) -> str:
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


def notes_on_names(entries: Sequence[NamedLog]) -> list[str]:
    return [f"{entry.given}: {entry.log.guessed}" for entry in entries if entry.name is None and entry.log.guessed]


def about_source(name: str, whole: Rows, parts: Sequence[tuple[Log, Rows]]) -> dict[str, Any]:
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
