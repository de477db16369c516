"""The records of a suite's rows, groups and total, made of what the statistics found."""

from collections.abc import Mapping
from dataclasses import replace
from math import fsum

import numpy as np

from assay.analyses.contrast import Reliance, Verdict, reliance_of, verdict_of
from assay.analyses.suite.parts import SuiteParts
from assay.analyses.suite.result import BetweenTasks, GroupRow, SuiteTotal, TaskRow
from assay.analyses.suite.tasks import effective_units
from assay.data import Panel
from assay.data.task_groups import TaskGroup
from assay.design import Design
from assay.stats.detectable_shifts import detectable_shift
from assay.stats.planning.plans import Goal
from assay.stats.records import Estimate, Interval, Test
from assay.stats.suites import TaskRows, detectable
from assay.stats.suites.groups import GroupRows, inside
from assay.stats.suites.heterogeneity import Heterogeneity
from assay.stats.suites.total import OverTasks, Total
from assay.stats.units import Floats


def total_record(parts: SuiteParts, found: Total, beyond: OverTasks | None, how: str, level: float) -> SuiteTotal:
    a, b = means_of(parts.panels, parts.shares)
    n = sum(one.n for one in parts.panels.values())
    limits = None if np.isnan(found.low) else Interval(found.low, found.high, level, found.method)
    statistic = found.value / found.error if found.error > 0 else None
    like = None
    if beyond is not None:
        made = Interval(beyond.low, beyond.high, level, "t")
        like = Estimate(found.value, made.around(found.value), beyond.error, len(parts.panels))
    return SuiteTotal(
        weights=how,
        a=a,
        b=b,
        difference=Estimate(found.value, limits, found.error, n),
        test=Test(_test_name(found), statistic, found.p, n),
        like_these=like,
        like_these_p=None if beyond is None else beyond.p,
    )


def means_of(panels: Mapping[str, Panel], shares: Floats) -> tuple[float, float]:
    """The weighted mean of the tasks, of A and of B."""
    both = [fsum(w * one.estimate(i) for w, one in zip(shares, panels.values(), strict=True)) for i in (0, 1)]
    return both[0], both[1]


def _test_name(found: Total) -> str:
    return {"tango": "mcnemar-score", "degenerate": "sign-flip"}.get(found.method, found.method)


def task_records(parts: SuiteParts, found: TaskRows, apart: Heterogeneity, design: Design) -> tuple[TaskRow, ...]:
    made, groups = [], parts.tree.innermost
    for i, ((name, panel), task) in enumerate(zip(parts.panels.items(), parts.tasks, strict=True)):
        method = "tango" if task.counts is not None else "degenerate" if task.moments is None else "t-hall"
        known = not np.isnan(found.low[i])
        limits = Interval(float(found.low[i]), float(found.high[i]), design.level, method) if known else None
        reason = None if known else "one unit has no interval"
        difference = Estimate(float(found.value[i]), limits, float(np.sqrt(task.variance)), panel.n, reason)
        substance, lower = panel.substance(), panel.metric.lower_is_better
        reliance = reliance_of(substance.units, substance.effective, method)
        made.append(
            TaskRow(
                task=name,
                group=groups.get(name),
                measure=panel.measures.get(name),
                n=panel.n,
                a=panel.estimate(0),
                b=panel.estimate(1),
                difference=difference,
                p_value=float(found.p[i]),
                p_alone=float(found.alone[i]),
                verdict=_verdict(difference, float(found.p[i]), reliance, design, lower_is_better=lower),
                weight=float(parts.shares[i]),
                detectable=detectable(task, found.level),
                shrunken=None if apart.points is None else float(apart.points[i]),
            )
        )
    return tuple(made)


def _verdict(difference: Estimate, p: float, reliance: Reliance, design: Design, *, lower_is_better: bool) -> Verdict:
    test, plain = Test("adjusted", None, p, difference.n), replace(design, margin=None)
    return verdict_of(difference, test, plain, lower_is_better=lower_is_better, reliance=reliance)


def group_records(parts: SuiteParts, found: GroupRows, design: Design) -> tuple[GroupRow, ...]:
    return tuple(_group(parts, group, found, i, design) for i, group in enumerate(parts.tree.groups))


def _group(parts: SuiteParts, group: TaskGroup, found: GroupRows, i: int, design: Design) -> GroupRow:
    panels, total = parts.of(group.tasks), found.each[i]
    own = parts.shares[parts.places(group.tasks)]
    n, units = (sum(count(one) for one in panels.values()) for count in (_size, _drawn))
    a, b = means_of(panels, inside(own))
    limits = Interval(float(found.low[i]), float(found.high[i]), design.level, total.method)
    difference = Estimate(total.value, None if np.isnan(total.low) else limits, total.error, n)
    lower, p = panels[group.tasks[0]].metric.lower_is_better, float(found.p[i])
    reliance = reliance_of(units, effective_units(panels, inside(own)), total.method)
    return GroupRow(
        group=group.name,
        inside=group.inside,
        tasks=group.tasks,
        absent=group.absent,
        n=n,
        a=a,
        b=b,
        difference=difference,
        p_value=p,
        p_alone=total.p,
        verdict=_verdict(difference, p, reliance, design, lower_is_better=lower),
        weight=float(own.sum()),
        detectable=_detectable(total, units - len(panels), found.level),
    )


def _size(panel: Panel) -> int:
    return panel.n


def _drawn(panel: Panel) -> int:
    return panel.substance().units


def _detectable(total: Total, df: int, level: float) -> float | None:
    return total.error * detectable_shift(df, level, Goal().power) if total.error > 0 and df > 0 else None


def between_record(found: Heterogeneity, count: int) -> BetweenTasks:
    reason = None if found.p is not None else "a task has no spread"
    test = Test(found.test, found.statistic, found.p, count, reason)
    return BetweenTasks(answer=found.answer, test=test, common=found.common, spread=found.spread)
