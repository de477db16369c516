"""The interval of the subject's score: of one task, or of the mean of several."""

from collections.abc import Sequence

from assay.analyses.suite.tasks import Task
from assay.data import Panel
from assay.design import Design
from assay.stats.bounded_mean import bounded_interval, effective_items, mean_of_shares
from assay.stats.records import Interval
from assay.stats.suites import TaskDifferences
from assay.stats.suites.total import total
from assay.stats.units import Floats, Units


def score_interval(panel: Panel, tasks: Sequence[Task], shares: Floats, level: float) -> Interval:
    """As `summarize` has it: Agresti and Coull's of scores from 0 to 1, of several tasks MOVER of theirs.

    Other scores, and clusters that may be in several tasks, have the design's interval, or t-hall.
    """
    drawn = [_subject(task.panel) for task in tasks]
    bounded = bool(((panel.values[:, 1] >= 0) & (panel.values[:, 1] <= 1)).all())
    if len(tasks) == 1:
        one = tasks[0].panel
        if bounded:
            return bounded_interval(drawn[0], one.denominators, level, right_or_wrong=one.binary)
        return Design(level=level).interval(drawn[0]).interval.around(one.estimate(1))
    if bounded and panel.clusters is None:
        items = [
            effective_items(units, task.panel.denominators, right_or_wrong=task.panel.binary)
            for units, task in zip(drawn, tasks, strict=True)
        ]
        return mean_of_shares([task.panel.estimate(1) for task in tasks], items, level, shares.tolist())
    sources = zip(drawn, tasks, strict=True)
    found = total(
        [TaskDifferences(units, None, task.differences.owners) for units, task in sources], shares, level=level
    )
    return Interval(found.low, found.high, level, found.method)


def _subject(panel: Panel) -> Units:
    return panel.units(panel.metric.name, 1)
