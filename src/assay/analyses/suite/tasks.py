"""The tasks of a panel, each with its differences, and what each of them weighs in the total."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from os import PathLike
from typing import TYPE_CHECKING

import numpy as np

from assay.analyses.contrast import binary_of, differences_of
from assay.data import Panel
from assay.data.same_items import owners_of
from assay.data.sources import read_weights
from assay.design import Design
from assay.errors import UsageError
from assay.limits import TaskWeights
from assay.names import listed, nearest
from assay.stats.units import Floats, Integers, effective_number

if TYPE_CHECKING:
    from assay.data.task_groups import TaskTree
    from assay.stats.suites import TaskDifferences

TASK = "task"
FEWEST = 10  # units of a task, on average, for tasks that nobody asked for
#: What the weights of the total are called.
WEIGHING = {
    "macro": "mean of the {bys}",
    "items": "mean of all {unit}s",
    "groups": "mean of the groups",
    "given": "mean of the {bys} as weighted",
}


def is_plain(design: Design) -> bool:
    """Whether a design asks for nothing that several tasks do not have."""
    return Design(level=design.level, margin=design.margin) == design


def several_tasks(panel: Panel) -> bool:
    """Whether units have tasks that are no parts of one benchmark, and those units enough."""
    if panel.settings.get("part_of"):
        return False
    tasks = len(panel.labels[TASK].names) if TASK in panel.labels and panel.cluster != TASK else 0
    return tasks > 1 and panel.n >= FEWEST * tasks


def called(panel: Panel, by: str) -> Panel:
    """The panel whose label of tasks is called ``by``."""
    if by == TASK or TASK not in panel.labels:
        return panel
    others = {name: one for name, one in panel.labels.items() if name != TASK}
    return replace(panel, labels={**others, by: panel.label(TASK)})


@dataclass(frozen=True, eq=False, slots=True)
class Task:
    """The units of a task, and B − A on them."""

    name: str
    panel: Panel
    differences: "TaskDifferences"


def tasks_of(panel: Panel, by: str) -> list[Task]:
    """The tasks of a panel of two systems, sorted by name; ``by`` names the label that tells them apart."""
    parts = [(name, *_part(panel, by, code)) for code, name in enumerate(panel.label(by).names)]
    owners = owners_of(panel, by)
    return [
        Task(name, part, _differences(part, None if owners is None else owners[chosen])) for name, part, chosen in parts
    ]


def _part(panel: Panel, by: str, code: int) -> tuple[Panel, Integers]:
    """The units of a task, and where they are in the panel; clusters of one unit each are none."""
    chosen = np.flatnonzero(panel.label(by).codes == code)
    part = panel.rows(chosen)
    return (replace(part, cluster=None) if part.n_clusters == part.n else part), chosen


def _differences(part: Panel, owners: Integers | None) -> "TaskDifferences":
    """B − A on a task; ``owners`` are of its units."""
    found = differences_of(part)
    binary = binary_of(part, found)
    if owners is not None and part.clusters is not None:
        own = np.empty(found.drawn.n, dtype=np.int64)
        own[part.clusters] = owners
        owners = own
    from assay.stats.suites import TaskDifferences  # late: one task needs none of it

    return TaskDifferences(found.drawn, None if binary is None else binary.counts, owners)


# -------------------------------------------------------------------------------------------------------------- weights


def weights_told(total: TaskWeights | str | PathLike[str]) -> TaskWeights:
    """Weights by name, as a mapping, or from a file."""
    if isinstance(total, Mapping):
        return total
    known: dict[object, TaskWeights] = {"macro": "macro", "items": "items", "groups": "groups"}
    return known[total] if total in known else read_weights(total)


def name_of(weights: TaskWeights) -> str:
    return weights if isinstance(weights, str) else "given"


def shares_of(panels: Mapping[str, Panel], weights: TaskWeights, tree: "TaskTree | None" = None) -> Floats:
    """(T,) What each task has in the total; they sum to 1."""
    if weights == "macro":
        found = np.ones(len(panels))
    elif weights == "items":
        found = np.array([float(panel.denominators.sum()) for panel in panels.values()])
    elif weights == "groups":
        found = _by_groups(panels, tree)
    elif isinstance(weights, Mapping):
        found = np.array([_weight(weights, name) for name in panels])
        _check_known(weights, panels)
    else:
        raise UsageError(f"total must be macro, items, groups or the weights of the tasks, but got {weights!r}.")
    if not found.sum() > 0:
        raise UsageError("the weights of the tasks must not all be 0.")
    return np.asarray(found / found.sum())


def _by_groups(panels: Mapping[str, Panel], tree: "TaskTree | None") -> Floats:
    if tree is None or not tree.groups:
        raise UsageError(
            "`total='groups'` weighs groups of tasks alike, but no groups are known; tell them with `groups`, or with "
            "`columns={'group': 'NAME'}`."
        )
    shares = tree.shares()
    return np.array([shares[name] for name in panels])


def _weight(weights: Mapping[str, float], task: str) -> float:
    if task not in weights:
        raise UsageError(f"no weight for the task {task!r}, only for {listed(weights)}; give one, 0 leaves it out.")
    value = float(weights[task])
    if not 0 <= value < np.inf:
        raise UsageError(f"the weight of {task!r} must be 0 or more and finite, but got {weights[task]!r}.")
    return value


def _check_known(weights: Mapping[str, float], panels: Mapping[str, Panel]) -> None:
    unknown = [name for name in weights if name not in panels]
    if unknown:
        close = nearest(unknown[0], list(panels))
        hint = f"did you mean {close!r}?" if close else f"there are {listed(panels)}."
        raise UsageError(f"a weight for the task {unknown[0]!r}, which is not there; {hint}")


def effective_units(panels: Mapping[str, Panel], shares: Floats) -> float:
    """As how many units of equal weight all tasks count in the total."""
    sizes = np.array([effective_number(panel.cluster_sums().denominators) for panel in panels.values()])
    return float(1 / (shares**2 / sizes).sum())
