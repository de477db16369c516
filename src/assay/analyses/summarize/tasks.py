"""The mean of the tasks of every model: of all tasks, and of each group of them."""

from collections.abc import Sequence
from dataclasses import replace
from math import fsum

import numpy as np

from assay.analyses.summarize.result import GroupMeans
from assay.data import Panel
from assay.data.lost_answers import scales_apart
from assay.data.same_items import owners_of
from assay.data.task_groups import TaskTree, group_notes, task_tree
from assay.stats.bounded_mean import effective_items, mean_of_shares
from assay.stats.records import Estimate, Interval
from assay.stats.suites import TaskDifferences
from assay.stats.suites.total import sharing, total
from assay.stats.units import Integers

TASK = "task"  # the label of units by which models are summarized apart as well


class TaskMeans:
    """The tasks of a panel, of which every model has a mean: each of them counts the same."""

    def __init__(self, panel: Panel, level: float, *, bounded: bool) -> None:
        self.panel, self.level, self.bounded = panel, level, bounded
        self.sign = 1 if panel.metric.lower_is_better else -1
        self.parts = dict(panel.by(TASK))
        owners = owners_of(panel, TASK)
        known = {} if owners is None else dict(zip(panel.ids.tolist(), owners.tolist(), strict=True))
        self.owners: dict[str, int] = known
        self.apart = scales_apart(panel, TASK)

    @property
    def tree(self) -> TaskTree:
        return task_tree(self.panel, TASK)

    @property
    def notes(self) -> tuple[str, ...]:
        apart = () if self.apart is None or len(self.parts) < 2 else (f"no mean of the tasks: {self.apart}",)
        return (*apart, *group_notes(self.panel, TASK, self.tree))

    def of(self, tasks: Sequence[str]) -> dict[str, Estimate]:
        """The mean of some tasks, of every model that has units of each, the best first; none of a single task."""
        parts = [self.parts[task] for task in tasks]
        if len(parts) < 2 or self.apart is not None:
            return {}
        whole = [i for i in range(self.panel.k) if all(part.answered[:, i].any() for part in parts)]
        found = {i: self._mean([part.of_systems([i]).complete() for part in parts]) for i in whole}
        ordered = sorted(whole, key=lambda i: self.sign * (found[i].value or 0.0))
        return {self.panel.systems[i]: found[i] for i in ordered}

    def groups(self) -> tuple[GroupMeans, ...]:
        return tuple(
            GroupMeans(group=one.name, inside=one.inside, tasks=one.tasks, absent=one.absent, macro=self.of(one.tasks))
            for one in self.tree.groups
        )

    def _mean(self, parts: Sequence[Panel]) -> Estimate:
        n, means = sum(one.n for one in parts), [one.estimate(0) for one in parts]
        tasks = [TaskDifferences(one.units(one.metric.name, 0), owners=self._owners(one)) for one in parts]
        shares = np.full(len(parts), 1 / len(parts))
        found = total(tasks, shares, level=self.level)
        if not self.bounded:
            limits = Interval(found.low, found.high, self.level, found.method)
        else:
            pairs = zip(tasks, parts, strict=True)
            items = [effective_items(task.units, one.denominators, right_or_wrong=one.binary) for task, one in pairs]
            shared = sharing(tasks, shares)
            limits = mean_of_shares(means, [replace(one, n=one.n / shared) for one in items], self.level)
        value = fsum(means) / len(means)
        if limits.method == "degenerate":
            return Estimate(value, None, found.error, n, "no task has a spread")
        return Estimate(value, limits.around(value), found.error, n)

    def _owners(self, one: Panel) -> Integers | None:
        """(drawn,) What each item or cluster of a task is, the same code in every task."""
        if not self.owners:
            return None
        codes = np.array([self.owners[name] for name in one.ids.tolist()], dtype=np.int64)
        return codes if one.clusters is None else codes[np.unique(one.clusters, return_index=True)[1]]
