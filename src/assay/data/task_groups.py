"""Groups of tasks, and groups of groups: mmlu, its four fields, their 57 subjects.

Harnesses, files and people tell them as group → what it holds, tasks or other groups. A panel knows each group by all
of its tasks, those that nobody brought results for among them. Which group is inside which follows from the tasks that
are there.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple, TypeVar

import numpy as np

from assay.data.panel_views import PanelViews
from assay.data.readers import Groups
from assay.errors import InputError, UsageError
from assay.names import listed, plural

_Panel = TypeVar("_Panel", bound=PanelViews)

GROUP = "group"  # the label of units that says which group their task belongs to


@dataclass(frozen=True, slots=True)
class TaskGroup:
    """Tasks that belong together."""

    name: str
    tasks: tuple[str, ...]  # at least two, in the order of all tasks
    absent: int = 0  # further tasks of the group, of which there are no results
    inside: str | None = None  # the smallest group around it


class OutlineLine(NamedTuple):
    """A line of an outline of tasks: a group, or a task."""

    name: str
    depth: int  # how many groups are around it
    group: TaskGroup | None  # None: a task


@dataclass(frozen=True, slots=True)
class TaskTree:
    """The tasks of a suite and the groups among them."""

    tasks: tuple[str, ...]
    groups: tuple[TaskGroup, ...] = ()  # those around others first

    @property
    def innermost(self) -> dict[str, str]:
        """The smallest group of each task that is in one."""
        return {task: group.name for group in self.groups for task in group.tasks}  # later ones are smaller

    @property
    def overlapping(self) -> tuple[TaskGroup, TaskGroup] | None:
        """Two groups with some tasks in common, of which neither holds the other."""
        for place, first in enumerate(self.groups):
            for second in self.groups[place + 1 :]:
                both = set(first.tasks) & set(second.tasks)
                if both and len(both) < min(len(first.tasks), len(second.tasks)):
                    return first, second
        return None

    def outline(self) -> list[OutlineLine]:
        """Groups with what they hold below them, in the order of their first tasks; then tasks without a group."""
        return list(self._below(None, 0))

    def _below(self, inside: str | None, depth: int) -> Iterator[OutlineLine]:
        own = self.innermost
        for group in self.groups:
            if group.inside == inside:
                yield OutlineLine(group.name, depth, group)
                yield from self._below(group.name, depth + 1)
        yield from (OutlineLine(task, depth, None) for task in self.tasks if own.get(task) == inside)

    def shares(self) -> dict[str, float]:
        """What each task weighs where everything beside each other, groups and single tasks, weighs the same."""
        if clash := self.overlapping:
            raise UsageError(
                f"the groups {clash[0].name!r} and {clash[1].name!r} share some of their tasks, so that no weights "
                "follow from them; give weights of the tasks, or other groups."
            )
        found: dict[str, float] = {}
        self._share(None, 1.0, found)
        return found

    def _share(self, inside: str | None, share: float, found: dict[str, float]) -> None:
        groups = [group.name for group in self.groups if group.inside == inside]
        own = self.innermost
        single = [task for task in self.tasks if own.get(task) == inside]
        each = share / (len(groups) + len(single)) if groups or single else 0.0
        found |= dict.fromkeys(single, each)
        for group in groups:
            self._share(group, each, found)


def task_tree(panel: PanelViews, by: str) -> TaskTree:
    """The tasks of a panel, told apart by a label, with the groups that it knows of and those of the label `GROUP`."""
    tasks = panel.label(by).names
    return tree_of({**panel.groups, **_by_label(panel, by)}, tasks)


def tree_of(groups: Groups, tasks: Sequence[str]) -> TaskTree:
    """The groups that hold at least two of these tasks."""
    here = {name: tuple(task for task in tasks if task in set(members)) for name, members in groups.items()}
    kept = [name for name, own in here.items() if len(own) > 1 and name not in tasks]
    ordered = sorted(kept, key=lambda name: (-len(here[name]), tasks.index(here[name][0]), name))
    made: list[TaskGroup] = []
    for name in ordered:
        own = here[name]
        around = [one for one in made if set(own) <= set(one.tasks)]
        absent = len(set(groups[name])) - len(own)
        made.append(TaskGroup(name, own, absent, around[-1].name if around else None))
    return TaskTree(tuple(tasks), tuple(made))


def _by_label(panel: PanelViews, by: str) -> dict[str, tuple[str, ...]]:
    """The groups of a column, unless a task has units of several."""
    pairs = _pairs(panel, by)
    if len({task for task, _ in pairs}) < len(pairs):
        return {}
    found: dict[str, list[str]] = {}
    for task, group in pairs:
        found.setdefault(group, []).append(task)
    return {group: tuple(tasks) for group, tasks in found.items() if group.strip()}


def _pairs(panel: PanelViews, by: str) -> list[tuple[str, str]]:
    """Which task has units of which group."""
    if GROUP not in panel.labels or by == GROUP:
        return []
    tasks, groups = panel.label(by), panel.labels[GROUP]
    codes = np.unique(tasks.codes * len(groups.names) + groups.codes).tolist()
    return [(tasks.names[code // len(groups.names)], groups.names[code % len(groups.names)]) for code in codes]


def group_notes(panel: PanelViews, by: str, tree: TaskTree) -> tuple[str, ...]:
    """What a reader must know of the groups: a column that tells none, groups that are not all there."""
    found, pairs = [], _pairs(panel, by)
    tasks = [task for task, _ in pairs]
    twice = next((task for task in tasks if tasks.count(task) > 1), None)
    if twice is not None:
        own = listed(repr(group) for task, group in pairs if task == twice)
        found.append(f"column {GROUP!r} not used: the {by} {twice!r} has {panel.unit}s of the groups {own}")
    lacking = [f"{len(one.tasks)} of {len(one.tasks) + one.absent} in {one.name}" for one in tree.groups if one.absent]
    if lacking:
        found.append(
            f"not all {plural(by)} of a group have results, and its mean is of those that have: {listed(lacking, 4)}"
        )
    return tuple(found)


def with_groups(panel: _Panel, by: str, groups: Mapping[str, tuple[str, ...]]) -> _Panel:
    """The panel with these groups of its tasks and no others; refused where they are about other tasks."""
    tasks = panel.label(by).names
    if not tree_of(groups, tasks).groups:
        raise InputError(
            f"no group holds two of the {plural(by)} {listed(tasks)}, only {listed(groups) or 'none'}; name tasks as "
            "they are there."
        )
    return replace(panel, groups=groups, labels={name: one for name, one in panel.labels.items() if name != GROUP})
