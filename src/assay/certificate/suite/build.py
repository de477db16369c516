"""Compute every fact of a certificate over tasks from its items and a policy; `certify` and `verify` both run this."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import fsum, log, sqrt
from typing import TypedDict

import numpy as np

from assay.analyses.suite.tasks import TASK, Task, effective_units, shares_of, tasks_of
from assay.certificate.fields import AnyRule, IntervalLimits, rounded
from assay.certificate.rules import Windows
from assay.certificate.suite.costs import cost_ratio
from assay.certificate.suite.fields import (
    ComparedTasks,
    JudgedLimit,
    MeasuredRatio,
    SuiteDecision,
    SuitePolicy,
    SuiteRow,
)
from assay.certificate.suite.judge import SuiteRows, decided, judged
from assay.certificate.suite.scores import score_interval
from assay.certificate.suite.stated_policy import stated_policy
from assay.certificate.suite.task_limits import Demands, demands_of
from assay.data import Panel
from assay.design import Policy, signature
from assay.errors import InputError
from assay.limits import COST_LIMITS
from assay.limits import Limits as GivenLimits
from assay.stats.suites import TaskRows, rows
from assay.stats.suites.gate import noticed, total_within_if_equal, within_if_equal
from assay.stats.suites.total import Total
from assay.stats.suites.total import total as total_of
from assay.stats.units import Floats

TOTAL = "total"  # the name of its row


@dataclass(frozen=True, eq=False, slots=True)
class SuiteEvidence:
    """What the rows are computed from."""

    windows: Windows
    by: str  # what the column of tasks is called


class ComputedSuite(TypedDict):
    """The parts of a certificate that follow from its evidence and its policy."""

    policy: SuitePolicy
    comparison: ComparedTasks
    total: SuiteRow
    groups: tuple[SuiteRow, ...]
    tasks: tuple[SuiteRow, ...]
    rules: tuple[AnyRule, ...]
    limits: tuple[JudgedLimit, ...]
    decision: SuiteDecision
    signature: str


def suite_facts(evidence: SuiteEvidence, policy: Policy, rules: tuple[AnyRule, ...]) -> ComputedSuite:
    """Everything that follows from the evidence and the policy, rounded as printed."""
    panel, policy = evidence.windows.final, policy.complete()
    lower, level = panel.metric.lower_is_better, policy.design().level
    tasks = tasks_of(panel, TASK)
    demands = demands_of(policy, [task.name for task in tasks], panel.kind, lower_is_better=lower)
    measured = _Measuring(panel, tasks, demands, level)
    try:
        found = SuiteRows(measured.tasks(), measured.groups(), measured.whole())
        limits = judged(found, demands, level, lower_is_better=lower)
    except OverflowError as error:
        raise InputError(
            f"{panel.systems[1]}: too large for a perplexity; a loss is a mean per token, in nats."
        ) from error
    return {
        "policy": stated_policy(policy, demands, panel.kind),
        "comparison": ComparedTasks(
            kind="perplexity" if panel.kind == "losses" else "score",
            lower_is_better=lower,
            by=evidence.by,
            cluster_by=panel.cluster_by,
        ),
        "total": found.total,
        "groups": found.groups,
        "tasks": found.tasks,
        "rules": rules,
        "limits": limits,
        "decision": decided(found, limits, level, every=demands.every),
        "signature": _signature(panel, evidence.by, found, policy),
    }


# ---------------------------------------------------------------------------------------------------------------- rows


@dataclass(frozen=True, eq=False)
class _Measuring:
    """The rows of a certificate."""

    panel: Panel
    parts: Sequence[Task]
    demands: Demands
    level: float

    @cached_property
    def shares(self) -> Floats:
        return shares_of({task.name: task.panel for task in self.parts}, self.demands.weights)

    @cached_property
    def adjusted(self) -> TaskRows:
        """Holm's p-values, and intervals that leave out 0 exactly where those are at most α."""
        return rows([task.differences for task in self.parts], level=self.level, adjust="holm")

    @property
    def level_of_each(self) -> float:
        """Of intervals that hold for all tasks at once."""
        return float(self.level ** (1 / len(self.parts)))

    def tasks(self) -> tuple[SuiteRow, ...]:
        return tuple(self._task(i, task) for i, task in enumerate(self.parts))

    def _task(self, i: int, task: Task) -> SuiteRow:
        own, every, limits = rows([task.differences], level=self.level), self.adjusted, self.demands.tasks[task.name]
        limit, single, substance = _change(limits), task.panel.n < 2, task.panel.substance()
        floors = sum(one.min_score is not None for one in self.demands.tasks.values())
        return SuiteRow(
            name=task.name,
            tasks=(task.name,),
            n=task.panel.n,
            clusters=task.panel.n_clusters,
            effective=rounded(substance.effective),
            weight=rounded(float(self.shares[i])),
            baseline=rounded(task.panel.estimate(0)),
            subject=rounded(task.panel.estimate(1)),
            difference=rounded(task.differences.value),
            standard_error=None if single else rounded(sqrt(task.differences.variance)),
            method=_method(task),
            ci=_limits(float(own.low[0]), float(own.high[0])),
            p_value=rounded(float(own.p[0])),
            adjusted_ci=_limits(float(every.low[i]), float(every.high[i])),
            adjusted_p=rounded(float(every.p[i])),
            score_ci=self._score([task], limits, self.level),
            adjusted_score_ci=self._score([task], limits, float(self.level ** (1 / max(floors, 1)))),
            costs=self._costs([task], limits, alone=True),
            noticed=_optional(noticed(task.differences, limit, 1 - (1 - self.level) / len(self.parts))),
            passes_if_equal=rounded(within_if_equal(task.differences, limit, self.level)),
        )

    def groups(self) -> tuple[SuiteRow, ...]:
        places = {task.name: i for i, task in enumerate(self.parts)}
        return tuple(
            self._mean(name, [places[task] for task in group.tasks], group.limits)
            for name, group in self.demands.groups.items()
        )

    def whole(self) -> SuiteRow:
        return self._mean(TOTAL, list(range(len(self.parts))), self.demands.total)

    def _mean(self, name: str, places: list[int], limits: GivenLimits) -> SuiteRow:
        """The mean of some tasks, weighed as in the total; the same where the total leaves all of them out."""
        chosen, weights = [self.parts[i] for i in places], self.shares[places]
        shares = weights / weights.sum() if weights.sum() > 0 else np.full(len(places), 1 / len(places))
        panels = {task.name: task.panel for task in chosen}
        found = total_of([task.differences for task in chosen], shares, level=self.level)
        inside = self._items(chosen)
        limit, changes = _change(limits), limits.max_drop is not None or limits.max_ratio is not None
        return SuiteRow(
            name=name,
            tasks=tuple(panels),
            n=int(inside.sum()),
            clusters=self.panel.rows(inside).n_clusters,
            effective=rounded(effective_units(panels, shares)),
            weight=rounded(float(weights.sum())),
            baseline=rounded(fsum(w * one.estimate(0) for w, one in zip(shares, panels.values(), strict=True))),
            subject=rounded(fsum(w * one.estimate(1) for w, one in zip(shares, panels.values(), strict=True))),
            difference=rounded(found.value),
            standard_error=None if inside.sum() < 2 else rounded(found.error),
            method=found.method,
            ci=_limits(found.low, found.high),
            p_value=rounded(found.p),
            adjusted_ci=None,
            adjusted_p=None,
            score_ci=self._score(chosen, limits, self.level, shares),
            adjusted_score_ci=None,
            costs=self._costs(chosen, limits),
            noticed=None,
            passes_if_equal=_within(found, limit, self.level) if changes else None,
        )

    def _items(self, chosen: Sequence[Task]) -> "np.ndarray[tuple[int], np.dtype[np.bool_]]":
        labels, names = self.panel.label(TASK), {task.name for task in chosen}
        wanted = np.array([name in names for name in labels.names])
        return np.asarray(wanted[labels.codes])

    def _score(
        self, tasks: Sequence[Task], limits: GivenLimits, level: float, shares: Floats | None = None
    ) -> IntervalLimits | None:
        if limits.min_score is None:
            return None
        found = score_interval(self.panel, tasks, np.ones(1) if shares is None else shares, level)
        return _limits(found.low, found.high)

    def _costs(self, tasks: Sequence[Task], limits: GivenLimits, *, alone: bool = False) -> tuple[MeasuredRatio, ...]:
        levels = (self.level, self.level_of_each) if alone else (self.level,)
        inside = self._items(tasks)
        limited = [COST_LIMITS[name] for name, _ in limits.given() if name in COST_LIMITS]
        return tuple(cost_ratio(cost, self.panel, inside, levels) for cost in limited)


def _change(limits: GivenLimits) -> float:
    """The limit of the difference; of perplexities, in nats."""
    return log(limits.max_ratio) if limits.max_ratio is not None else limits.max_drop or 0.0


def _method(task: Task) -> str:
    if task.differences.counts is not None:
        return "tango"
    return "degenerate" if task.differences.moments is None else "t-hall"


def _limits(low: float, high: float) -> IntervalLimits | None:
    return None if np.isnan(low) else (rounded(low), rounded(high))


def _optional(value: float | None) -> float | None:
    return None if value is None else rounded(value)


def _within(found: Total, limit: float, level: float) -> float:
    return rounded(total_within_if_equal(found, limit, level))


def _signature(panel: Panel, by: str, found: SuiteRows, policy: Policy) -> str:
    return signature(
        "suite gate",
        units=panel.unit + "s",
        n=panel.n,
        clusters=None if panel.n_clusters is None else f"{panel.n_clusters} {panel.cluster_by}",
        tasks=f"{len(found.tasks)} {by}",
        method=found.total.method,
        adjust="holm",
        level=policy.design().level,
        data=panel.digest[:16],
    )
