"""Is B different from A over many tasks? A row for each task, one total, one verdict."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import fsum
from os import PathLike
from typing import Any, Literal, Unpack

import msgspec
import numpy as np

from assay.analyses.compare import compare, compare_panel, panel_of_two, pooled
from assay.analyses.compare.result import Comparison, Systems
from assay.analyses.contrast import (
    Verdict,
    binary_of,
    differences_of,
    reliance_of,
    reserve_of,
    verdict_of,
)
from assay.analyses.suite.result import BetweenTasks, SuiteComparison, SuiteTotal, TaskRow
from assay.analyses.suite.sentences import sentence_of
from assay.data import Panel, Selection
from assay.data.panel_views import Substance
from assay.data.runs.rates import Size
from assay.data.sources import Source, read_weights
from assay.design import Design, DesignFields, Missing, as_given, signature
from assay.errors import InputError, NoPairsError, UsageError
from assay.names import listed, nearest
from assay.stats.records import Estimate, Interval, Test
from assay.stats.suites import Adjustment, TaskDifferences, TaskRows, detectable, rows
from assay.stats.suites.heterogeneity import Heterogeneity, heterogeneity
from assay.stats.suites.total import OverTasks, Total, over_tasks
from assay.stats.suites.total import total as total_of
from assay.stats.units import Floats, Integers, effective_number

TASK = "task"
FEWEST = 10  # units of a task, on average, for tasks that nobody asked for
TaskWeights = Literal["macro", "items"] | Mapping[str, float]


def compare_suite(
    a: Source | Panel,
    b: Source | None = None,
    *,
    by: str = TASK,
    total: TaskWeights | str | PathLike[str] = "macro",
    adjust: Adjustment = "product",
    design: Design | None = None,
    models: tuple[str | None, str | None] = (None, None),
    names: Sequence[str] | None = None,
    columns: Mapping[str, str] | None = None,
    cluster: str | None = None,
    missing: Missing = "drop",
    lower_is_better: bool | None = None,
    selection: Selection | None = None,
    **settings: Unpack[DesignFields],
) -> SuiteComparison:
    """Compare two systems on several tasks: every task, and one total with a verdict.

    Sources are those of `compare`, a `Panel` among them, with a column ``task`` (or ``by``, the name of another column
    or label), or logs of a harness, all tasks of which are read. ``total`` says what a task weighs: all the same
    (``"macro"``), by their units (``"items"``), or as a mapping, or a file with the columns task and weight, says.
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
    panel = _panel(a, b, by, columns, selection, {**reading, "lower_is_better": lower_is_better})
    return suite_of_panel(panel, design, by=by, weights=_read(total), adjust=adjust)


def compare_or_suite(
    a: Source | Panel,
    b: Source | None = None,
    *,
    by: str | None = None,
    total: TaskWeights | str | PathLike[str] | None = None,
    adjust: Adjustment | None = None,
    design: Design,
    columns: Mapping[str, str] | None = None,
    selection: Selection | None = None,
    split: str | None = None,
    per: Size | None = None,
    at: int | None = None,
    every: bool = False,
    **reading: Any,
) -> Comparison | SuiteComparison:
    """What the command line shows: task by task where there are several tasks, otherwise one comparison.

    Tasks with fewer than `FEWEST` units on average are none, unless they are asked for. Where a design names methods
    that tasks do not have, units are taken together.
    """
    asked = not (by is None and total is None and adjust is None)
    single = {"split": split, "per": per, "at": at, "every": every or None}
    given = [name for name, value in single.items() if value is not None]
    if asked and given:
        raise UsageError(f"`{given[0]}` is not for several tasks; leave it out, or choose one task.")
    if asked or (not given and _plain(design)):
        panel = _panel(a, b, by or TASK, columns, selection, reading)
        if not asked and not _worth(panel):
            return compare_panel(pooled(panel), design, charts=True)
        weights = _read("macro" if total is None else total)
        return suite_of_panel(panel, design, by=by or TASK, weights=weights, adjust=adjust or "product")
    how: dict[str, Any] = {"split": split, "per": per, "at": at, "every": every, **reading}
    found = compare(a, b, design=design, columns=columns, selection=selection, **how)
    if not found.n_pairs:
        raise NoPairsError(found.difference.reason or "no pairs")
    return found


def _plain(design: Design) -> bool:
    return Design(level=design.level, margin=design.margin) == design


def _worth(panel: Panel) -> bool:
    """Whether units have tasks, and those units enough."""
    tasks = len(panel.labels[TASK].names) if TASK in panel.labels and panel.cluster != TASK else 0
    return tasks > 1 and panel.n >= FEWEST * tasks


def _panel(
    a: Source | Panel,
    b: Source | None,
    by: str,
    columns: Mapping[str, str] | None,
    selection: Selection | None,
    reading: dict[str, Any],
) -> Panel:
    """The panel with the label ``by``; of files, the column of that name is read as the task."""
    if isinstance(a, Panel):
        return panel_of_two(a, b, columns=columns, selection=selection, **reading)
    own = columns if by == TASK else {**(columns or {}), TASK: by}
    panel = panel_of_two(a, b, columns=own, selection=replace(selection or Selection(), every_task=True), **reading)
    if by == TASK or TASK not in panel.labels:
        return panel
    return replace(
        panel, labels={**{name: one for name, one in panel.labels.items() if name != TASK}, by: panel.label(TASK)}
    )


def _read(total: TaskWeights | str | PathLike[str]) -> TaskWeights:
    if isinstance(total, Mapping):
        return total
    known: dict[object, TaskWeights] = {"macro": "macro", "items": "items"}
    return known[total] if total in known else read_weights(total)


def suite_of_panel(
    panel: Panel, design: Design, *, by: str = TASK, weights: TaskWeights = "macro", adjust: Adjustment = "product"
) -> SuiteComparison:
    """Compare the two systems of a panel task by task; ``by`` names the label that tells tasks apart."""
    _check(panel, design, by)
    parts = [(name, _part(panel, by, code)) for code, name in enumerate(panel.label(by).names)]
    tasks = [_differences(panel, part, rows_) for _, (part, rows_) in parts]
    panels = {name: part for name, (part, _) in parts}
    shares = _shares(panels, weights)
    found = rows(tasks, level=design.level, adjust=adjust)
    whole = total_of(tasks, shares, level=design.level)
    beyond = over_tasks(found.value, shares, level=design.level)
    apart = heterogeneity(tasks, level=design.level)
    assert apart is not None  # there are several tasks
    reliance = reliance_of(panel.n, _effective(panels, shares), whole.method)
    summed = _total(panels, shares, whole, beyond, _name(weights), design)
    result = SuiteComparison(
        kind=panel.kind,
        measure=panel.metric.name,
        unit=panel.unit,
        systems=Systems(*panel.systems),
        lower_is_better=panel.metric.lower_is_better,
        by=by,
        verdict=verdict_of(
            summed.difference, summed.test, design, lower_is_better=panel.metric.lower_is_better, reliance=reliance
        ),
        sentence="",
        tasks=_rows(panels, tasks, shares, found, apart, design),
        total=summed,
        between=_between(apart, len(tasks)),
        adjust=adjust,
        level_of_each=found.level,
        n=panel.n,
        n_clusters=panel.n_clusters,
        cluster_by=panel.cluster_by,
        dropped=panel.dropped,
        notes=(*panel.notes, *_shared_note(panel, panels)),
        design=design,
        signature=_signature(panel, design, by, whole, _name(weights), adjust, len(tasks)),
    )
    substance = Substance(panel.n, _effective(panels, shares), None, 0.0)
    return msgspec.structs.replace(result, sentence=sentence_of(result, reserve_of(reliance, substance)))


def _check(panel: Panel, design: Design, by: str) -> None:
    if panel.k != 2:
        raise UsageError(f"compare takes a panel of two systems, but got {panel.k}; choose two with panel.pair(i, j).")
    if panel.denominators.ndim != 1:
        raise InputError("compare needs the same denominators (tokens, weights) in both systems; these differ.")
    if panel.cluster == by:
        raise UsageError(f"{by!r} tells tasks apart, and cannot be the cluster too; leave one of them out.")
    if len(panel.label(by).names) < 2:
        raise InputError(f"all {panel.unit}s have the same {by}: there is nothing to tell apart; leave out `by`.")
    if not _plain(design):
        raise UsageError(
            "several tasks take the level and the margin of a design, and choose intervals and tests themselves; leave "
            "out the rest, or choose one task."
        )


def _part(panel: Panel, by: str, code: int) -> tuple[Panel, Integers]:
    """The units of a task, and where they are in the panel; clusters of one unit each are none."""
    chosen = np.flatnonzero(panel.label(by).codes == code)
    part = panel.rows(chosen)
    return (replace(part, cluster=None) if part.n_clusters == part.n else part), chosen


def _differences(panel: Panel, part: Panel, chosen: Integers) -> TaskDifferences:
    found = differences_of(part)
    binary = binary_of(part, found)
    owners = None if panel.clusters is None else panel.clusters[chosen]
    if owners is not None and part.clusters is not None:
        own = np.empty(found.drawn.n, dtype=np.int64)
        own[part.clusters] = owners
        owners = own
    return TaskDifferences(found.drawn, None if binary is None else binary.counts, owners)


# -------------------------------------------------------------------------------------------------------------- weights


def _name(weights: TaskWeights) -> str:
    return weights if isinstance(weights, str) else "given"


def _shares(panels: Mapping[str, Panel], weights: TaskWeights) -> Floats:
    """(T,) What each task has in the total; they sum to 1."""
    if weights == "macro":
        found = np.ones(len(panels))
    elif weights == "items":
        found = np.array([float(panel.denominators.sum()) for panel in panels.values()])
    elif isinstance(weights, Mapping):
        found = np.array([_weight(weights, name) for name in panels])
        _check_known(weights, panels)
    else:
        raise UsageError(f"total must be macro, items or the weights of the tasks, but got {weights!r}.")
    if not found.sum() > 0:
        raise UsageError("the weights of the tasks must not all be 0.")
    return np.asarray(found / found.sum())


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


def _effective(panels: Mapping[str, Panel], shares: Floats) -> float:
    """As how many units of equal weight all tasks count in the total."""
    sizes = np.array([effective_number(panel.cluster_sums().denominators) for panel in panels.values()])
    return float(1 / (shares**2 / sizes).sum())


# -------------------------------------------------------------------------------------------------------------- records


def _total(
    panels: Mapping[str, Panel],
    shares: Floats,
    found: Total,
    beyond: OverTasks | None,
    how: str,
    design: Design,
) -> SuiteTotal:
    a, b = (fsum(w * one.estimate(i) for w, one in zip(shares, panels.values(), strict=True)) for i in (0, 1))
    n, level = sum(one.n for one in panels.values()), design.level
    limits = None if np.isnan(found.low) else Interval(found.low, found.high, level, found.method)
    statistic = found.value / found.error if found.error > 0 else None
    like = None
    if beyond is not None:
        made = Interval(beyond.low, beyond.high, level, "t")
        like = Estimate(found.value, made.around(found.value), beyond.error, len(panels))
    return SuiteTotal(
        weights=how,
        a=a,
        b=b,
        difference=Estimate(found.value, limits, found.error, n),
        test=Test(_test_name(found), statistic, found.p, n),
        like_these=like,
        like_these_p=None if beyond is None else beyond.p,
    )


def _test_name(found: Total) -> str:
    return {"tango": "mcnemar-score", "degenerate": "sign-flip"}.get(found.method, found.method)


def _rows(
    panels: Mapping[str, Panel],
    tasks: list[TaskDifferences],
    shares: Floats,
    found: TaskRows,
    apart: Heterogeneity,
    design: Design,
) -> tuple[TaskRow, ...]:
    made = []
    for i, ((name, panel), task) in enumerate(zip(panels.items(), tasks, strict=True)):
        method = "tango" if task.counts is not None else "degenerate" if task.moments is None else "t-hall"
        known = not np.isnan(found.low[i])
        limits = Interval(float(found.low[i]), float(found.high[i]), design.level, method) if known else None
        reason = None if known else "one unit has no interval"
        difference = Estimate(float(found.value[i]), limits, float(np.sqrt(task.variance)), panel.n, reason)
        made.append(
            TaskRow(
                task=name,
                n=panel.n,
                a=panel.estimate(0),
                b=panel.estimate(1),
                difference=difference,
                p_value=float(found.p[i]),
                p_alone=float(found.alone[i]),
                verdict=_verdict(panel, difference, float(found.p[i]), method, design),
                weight=float(shares[i]),
                detectable=detectable(task, found.level),
                shrunken=None if apart.points is None else float(apart.points[i]),
            )
        )
    return tuple(made)


def _verdict(panel: Panel, difference: Estimate, p: float, method: str, design: Design) -> Verdict:
    substance = panel.substance()
    reliance = reliance_of(substance.units, substance.effective, method)
    test, lower = Test("adjusted", None, p, panel.n), panel.metric.lower_is_better
    return verdict_of(difference, test, replace(design, margin=None), lower_is_better=lower, reliance=reliance)


def _between(found: Heterogeneity, count: int) -> BetweenTasks:
    reason = None if found.p is not None else "a task has no spread"
    test = Test(found.test, found.statistic, found.p, count, reason)
    return BetweenTasks(answer=found.answer, test=test, common=found.common, spread=found.spread)


def _shared_note(panel: Panel, panels: Mapping[str, Panel]) -> tuple[str, ...]:
    """Clusters that occur in several tasks."""
    if panel.cluster is None:
        return ()
    own = sum(len(one.labels[panel.cluster].names) for one in panels.values())
    both = own - len(panel.labels[panel.cluster].names)
    if not both:
        return ()
    return (f"{panel.cluster}: some occur in several tasks; the total takes each of them as one",)


def _signature(panel: Panel, design: Design, by: str, found: Total, how: str, adjust: str, count: int) -> str:
    return signature(
        "suite",
        units=panel.unit + "s",
        n=panel.n,
        clusters=None if panel.n_clusters is None else f"{panel.n_clusters} {panel.cluster_by}",
        tasks=f"{count} {by}",
        total=how,
        method=found.method,
        adjust=adjust,
        level=design.level,
        data=panel.digest[:16],
    )
