"""Is B different from A over many tasks? A row for each task, one total, one verdict."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from os import PathLike
from typing import TYPE_CHECKING, Any, Unpack

from assay.analyses.compare import compare, compare_panel, pooled
from assay.analyses.compare.reading import Asked
from assay.analyses.compare.result import Comparison
from assay.analyses.suite.tasks import TASK, called, is_plain, several_tasks, weights_told
from assay.data import Panel, Selection
from assay.data.readers import Groups
from assay.data.runs.rates import Size
from assay.data.sources import Source, read_groups
from assay.design import Design, DesignFields, Missing, as_given
from assay.errors import NoPairsError, UsageError
from assay.limits import TaskWeights

if TYPE_CHECKING:
    from assay.analyses.suite.result import SuiteComparison
    from assay.stats.suites import Adjustment

__all__ = ["compare_or_suite", "compare_suite"]


def compare_suite(
    a: Source | Panel,
    b: Source | None = None,
    *,
    by: str = TASK,
    total: TaskWeights | str | PathLike[str] = "macro",
    groups: Groups | str | PathLike[str] | None = None,
    adjust: "Adjustment" = "product",
    design: Design | None = None,
    models: tuple[str | None, str | None] = (None, None),
    names: Sequence[str] | None = None,
    columns: Mapping[str, str] | None = None,
    cluster: str | None = None,
    missing: Missing = "drop",
    lower_is_better: bool | None = None,
    selection: Selection | None = None,
    **settings: Unpack[DesignFields],
) -> "SuiteComparison":
    """Compare two systems on several tasks: every task, and one total with a verdict.

    Sources are those of `compare`, a `Panel` among them, with a column ``task`` (or ``by``, the name of another column
    or label), or logs of a harness, all tasks of which are read. ``total`` says what a task weighs: all the same
    (``"macro"``), by their units (``"items"``), groups of tasks all the same (``"groups"``), or as a mapping, or a file
    with the columns task and weight, says. ``groups`` tells which tasks belong together, as a mapping of group → tasks
    and groups in it or a file with the columns task and group; else a column ``group`` or the harness does.
    ``adjust`` is how p-values and intervals of single tasks allow for their number: exactly for independent tasks
    (``"product"``), Holm's way or Benjamini and Hochberg's (``"bh"``, a false discovery rate). Of a design, tasks take
    the level and the margin.

    >>> tasks = ["easy"] * 20 + ["hard"] * 20
    >>> a = {"item": range(40), "task": tasks, "score": [1] * 20 + [0] * 20}
    >>> b = {"item": range(40), "task": tasks, "score": [1] * 20 + [1] * 12 + [0] * 8}
    >>> found = compare_suite(a, b, names=("A", "B"))
    >>> found.total.difference.value, [row.verdict for row in found.tasks]
    (0.3, ['no difference shown', 'better'])
    """
    design = as_given("compare_suite", Design, design, settings)
    reading: dict[str, Any] = {"models": models, "names": names, "cluster": cluster, "missing": missing}
    panel, runs = _panel(a, b, by, groups, columns, selection, {**reading, "lower_is_better": lower_is_better})
    from assay.analyses.suite.comparing import suite_of_panel  # late: one task needs none of it

    return suite_of_panel(panel, design, by=by, weights=weights_told(total), adjust=adjust, runs=runs)


def compare_or_suite(
    a: Source | Panel,
    b: Source | None = None,
    *,
    by: str | None = None,
    total: TaskWeights | str | PathLike[str] | None = None,
    groups: Groups | str | PathLike[str] | None = None,
    adjust: "Adjustment | None" = None,
    design: Design,
    columns: Mapping[str, str] | None = None,
    selection: Selection | None = None,
    split: str | None = None,
    per: Size | None = None,
    at: int | None = None,
    every: bool = False,
    population: int | None = None,
    **reading: Any,
) -> "Comparison | SuiteComparison":
    """What the command line shows: task by task where there are several tasks, otherwise one comparison.

    Tasks with few units are none (`several_tasks`), unless they are asked for. Where a design names methods that tasks
    do not have, units are taken together.
    """
    asked = not (by is None and total is None and groups is None and adjust is None)
    single = {"split": split, "per": per, "at": at, "every": every or None, "population": population}
    given = [name for name, value in single.items() if value is not None]
    if asked and given:
        raise UsageError(f"`{given[0]}` is not for several tasks; leave it out, or choose one task.")
    if asked or (not given and is_plain(design)):
        panel, runs = _panel(a, b, by or TASK, groups, columns, selection, reading)
        if not asked and not several_tasks(panel):
            return compare_panel(pooled(panel), design, charts=True, runs=runs)
        from assay.analyses.suite.comparing import suite_of_panel  # late: one task needs none of it

        weights = weights_told("macro" if total is None else total)
        return suite_of_panel(panel, design, by=by or TASK, weights=weights, adjust=adjust or "product", runs=runs)
    how: dict[str, Any] = {"split": split, "per": per, "at": at, "every": every, "population": population, **reading}
    found = compare(a, b, design=design, columns=columns, selection=selection, **how)
    if not found.n_pairs:
        raise NoPairsError(found.difference.reason or "no pairs")
    return found


def _panel(
    a: Source | Panel,
    b: Source | None,
    by: str,
    groups: Groups | str | PathLike[str] | None,
    columns: Mapping[str, str] | None,
    selection: Selection | None,
    reading: dict[str, Any],
) -> tuple[Panel, Panel | None]:
    """The panel with the label ``by``, and that of its runs; of files, the column of that name is read as the task."""
    told = None if groups is None else read_groups(groups)
    if isinstance(a, Panel):
        panel, runs = Asked(columns=columns, selection=selection, **reading).two(a, b)
    else:
        own = columns if by == TASK else {**(columns or {}), TASK: by}
        every = replace(selection or Selection(), every_task=True)
        panel, runs = Asked(columns=own, selection=every, **reading).two(a, b)
        panel = called(panel, by)
    if told is None:
        return panel, runs
    from assay.data.task_groups import with_groups  # late: few name groups

    return with_groups(panel, by, told), runs
