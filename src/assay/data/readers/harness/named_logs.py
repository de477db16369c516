"""Logs at the paths a user gave, each with the name of its model: of its files, or what tells its path apart."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from assay.data.readers import Selection
from assay.data.readers.harness import Log
from assay.data.readers.harness.detect import logs_at
from assay.errors import InputError, UsageError
from assay.names import argument, listed, names_of, nearest, one_line

NamedPath = tuple[str | None, Path]  # NAME=PATH taken apart


@dataclass(frozen=True, slots=True)
class NamedLog:
    """A log, the path the user gave, and the name for its model (NAME=PATH)."""

    name: str | None
    given: str
    log: Log

    @property
    def model(self) -> str:
        return self.name or one_line(self.log.model)


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


def where_given(entries: Sequence[NamedLog]) -> str:
    """The paths the user gave, for messages and as the label of a source."""
    given = list(dict.fromkeys(entry.given for entry in entries))
    return given[0] if len(given) == 1 else f"{given[0]} and {len(given) - 1} more"
