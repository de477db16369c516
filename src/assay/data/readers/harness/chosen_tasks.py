"""Choose the logs of the requested task, group or pattern, or say which tasks there are."""

from collections.abc import Sequence
from fnmatch import fnmatchcase

from assay.data.readers import Selection
from assay.data.readers.harness.choices import (
    belongs,
)
from assay.data.readers.harness.named_logs import NamedLog, where_given
from assay.errors import InputError
from assay.names import argument, listed, nearest


def takes_several_tasks(entries: Sequence[NamedLog], selection: Selection) -> bool:
    """Whether there are several tasks, and all of them are asked for."""
    all_asked = selection.every_task or all(entry.log.part_of for entry in entries)
    return all_asked and len({entry.log.task for entry in entries if entry.log.task}) > 1


def of_tasks(entries: Sequence[NamedLog], asked: str | None) -> Sequence[NamedLog]:
    """The logs of the requested task, or of the only one.

    A renamed file does not state its task and is accepted with any single task: whether its items match is checked
    by pairing.
    """
    tasks = sorted({entry.log.task for entry in entries if entry.log.task})
    where = where_given(entries)
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
