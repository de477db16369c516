"""A panel task by task: the differences of every task, what it weighs, and the groups of tasks."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from assay.analyses.suite.tasks import effective_units, shares_of, tasks_of
from assay.data import Panel
from assay.data.task_groups import TaskTree, task_tree
from assay.limits import TaskWeights
from assay.stats.suites import TaskDifferences
from assay.stats.units import Floats, Integers


@dataclass(frozen=True, eq=False, slots=True)
class SuiteParts:
    """The tasks of a suite, in the order of their names."""

    panels: Mapping[str, Panel]
    tasks: Sequence[TaskDifferences]
    shares: Floats  # (T,) of each task in the total
    tree: TaskTree

    @property
    def effective(self) -> float:
        """As how many units of equal weight all tasks count in the total."""
        return effective_units(self.panels, self.shares)

    def places(self, names: Sequence[str]) -> Integers:
        """Where some tasks are."""
        order = list(self.panels)
        return np.array([order.index(name) for name in names], dtype=np.int64)

    def of(self, names: Sequence[str]) -> dict[str, Panel]:
        return {name: self.panels[name] for name in names}


def parts_of(panel: Panel, by: str, weights: TaskWeights) -> SuiteParts:
    """Take the two systems of a panel apart by a label."""
    tree, tasks = task_tree(panel, by), tasks_of(panel, by)
    panels = {one.name: one.panel for one in tasks}
    return SuiteParts(panels, [one.differences for one in tasks], shares_of(panels, weights, tree), tree)
