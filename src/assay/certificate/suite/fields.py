"""The parts of a certificate over several tasks that a certificate of one does not have."""

from typing import Annotated, Literal

import msgspec

from assay.analyses.contrast import Reliance, reliance_of
from assay.certificate.fields import Facts, IntervalLimits
from assay.design import Profile, TierName, Weights
from assay.limits import LimitName

SuiteVerdict = Literal["pass", "fail", "undecided"]
LimitOutcome = Literal["met", "not met", "open"]
Of = Literal["total", "group", "task"]


def _said(description: str) -> msgspec.Meta:
    return msgspec.Meta(description=description)


class StatedLimit(Facts, frozen=True, kw_only=True):
    limit: Annotated[LimitName, _said("Which limit.")]
    at: Annotated[float, _said("The limit itself: a change, a score or a ratio.")]


class TaskLimits(Facts, frozen=True, kw_only=True):
    task: Annotated[str, _said("Name or pattern of the tasks.")]
    limits: Annotated[tuple[StatedLimit, ...], _said("Its limits.")]


class GroupOfTasks(Facts, frozen=True, kw_only=True):
    name: Annotated[str, _said("Its name, behind those of the groups that it is within: math/algebra.")]
    tasks: Annotated[tuple[str, ...], _said("Names and patterns of its tasks.")]
    limits: Annotated[tuple[StatedLimit, ...], _said("Its limits.")]


class TaskWeight(Facts, frozen=True, kw_only=True):
    task: Annotated[str, _said("Name of the task.")]
    weight: Annotated[float, _said("What it counts in the total.")]


class SuitePolicy(Facts, frozen=True, kw_only=True):
    """What the tasks were judged by, defaults in place."""

    tier: Annotated[TierName, _said("Whose limits these are, where the policy has none of its own.")]
    profile: Annotated[Profile, _said("Whether broken rules are refused, or only reported.")]
    level: Annotated[float, _said("Confidence level of the intervals, and of all tasks at once.")]
    weights: Annotated[Weights, _said("Whether items may have unequal weights.")]
    min_items: Annotated[int, _said("Least number of items of all tasks.")]
    every: Annotated[bool, _said("Whether every task's bound must be within its limit.")]
    total: Annotated[tuple[StatedLimit, ...], _said("Limits of all tasks together.")]
    total_weights: Annotated[
        Literal["macro", "items", "given"], _said("What a task counts: the same, by its items, or as below.")
    ]
    task_weights: Annotated[tuple[TaskWeight, ...], _said("What each counts; empty where nobody gave weights.")]
    each: Annotated[tuple[StatedLimit, ...], _said("Limits of every single task.")]
    tasks: Annotated[tuple[TaskLimits, ...], _said("Limits of tasks by name; they go before those of every task.")]
    groups: Annotated[tuple[GroupOfTasks, ...], _said("Groups of tasks, with limits of their means.")]
    overrides: Annotated[tuple[str, ...], _said("What of the total's and every task's limits differs from the tier.")]
    note: Annotated[str | None, _said("The audit note: why it differs from the tier.")]


class ComparedTasks(Facts, frozen=True, kw_only=True):
    """What was compared."""

    kind: Annotated[Literal["score", "perplexity"], _said("What the numbers of the rows are of.")]
    lower_is_better: Annotated[bool, _said("Which direction is good; always true for perplexity.")]
    by: Annotated[str, _said("The column that tells the tasks apart.")]
    cluster_by: Annotated[str | None, _said("The column whose groups are drawn whole; null without clusters.")]


class MeasuredRatio(Facts, frozen=True, kw_only=True):
    """What the answers to all items of a row cost, subject over baseline."""

    cost: Annotated[str, _said("Which cost: price, seconds, tokens_out, …")]
    baseline: Annotated[float, _said("Mean of an item, of the baseline.")]
    subject: Annotated[float, _said("Mean of an item, of the subject.")]
    ratio: Annotated[float, _said("Of their sums.")]
    method: Annotated[str, _said("Method of the interval.")]
    ci: Annotated[IntervalLimits, _said("Interval of the ratio.")]
    adjusted_ci: Annotated[
        IntervalLimits | None, _said("The same for all tasks at once; null for groups and the total.")
    ]


class SuiteRow(Facts, frozen=True, kw_only=True):
    """A task, a group of tasks, or all of them."""

    name: Annotated[str, _said("The task or the group; 'total' for all of them.")]
    tasks: Annotated[tuple[str, ...], _said("The tasks that it is the mean of.")]
    n: Annotated[int, _said("Paired items.")]
    clusters: Annotated[int | None, _said("Clusters that were drawn whole; null without any.")]
    effective: Annotated[float, _said("As how many items, or clusters, of equal weight they count.")]
    weight: Annotated[float, _said("Share of the total.")]
    baseline: Annotated[float, _said("Mean score, or mean loss, of the baseline.")]
    subject: Annotated[float, _said("The same of the subject.")]
    difference: Annotated[float, _said("Subject − baseline.")]
    standard_error: Annotated[float | None, _said("Of the difference; null for a single item.")]
    method: Annotated[str, _said("Method of the intervals.")]
    ci: Annotated[IntervalLimits | None, _said("Interval of the difference, by itself; null for a single item.")]
    p_value: Annotated[float, _said("Of no difference, by itself.")]
    adjusted_ci: Annotated[
        IntervalLimits | None, _said("Interval for all tasks at once; null for groups and the total.")
    ]
    adjusted_p: Annotated[float | None, _said("Holm's p-value over all tasks; null for groups and the total.")]
    score_ci: Annotated[
        IntervalLimits | None, _said("Interval of the subject's score; null where no score is limited.")
    ]
    adjusted_score_ci: Annotated[IntervalLimits | None, _said("The same for all tasks whose score is limited.")]
    costs: Annotated[tuple[MeasuredRatio, ...], _said("The costs that are limited.")]
    noticed: Annotated[
        float | None, _said("The drop of this task that would have been named 4 times in 5; null where none would.")
    ]
    passes_if_equal: Annotated[
        float | None, _said("How often the difference of an equal model would be shown to be within the limit.")
    ]

    @property
    def drawn(self) -> int:
        """How many items, or clusters, the interval rests on."""
        return self.n if self.clusters is None else self.clusters

    @property
    def reliance(self) -> Reliance:
        """Whether a verdict may rest on them."""
        return reliance_of(self.drawn, self.effective, self.method)


class JudgedLimit(Facts, frozen=True, kw_only=True):
    """A limit, and whether it is met."""

    of: Annotated[Of, _said("What is limited.")]
    name: Annotated[str, _said("Its row.")]
    limit: Annotated[LimitName, _said("Which limit.")]
    at: Annotated[float, _said("The limit itself.")]
    rule: Annotated[
        Literal["bound", "shown"],
        _said("bound: the interval must be within. shown: nothing beyond it may be shown."),
    ]
    value: Annotated[float, _said("The drop, score or ratio that was found.")]
    ci: Annotated[IntervalLimits | None, _said("Its interval: by itself, or for 'shown' that for all tasks at once.")]
    outcome: Annotated[LimitOutcome, _said("Whether it is met; open: not shown either way.")]
    items_needed: Annotated[int | None, _said("Items of this row that would settle an open one, if nothing changes.")]


class SuiteDecision(Facts, frozen=True, kw_only=True):
    """One decision over all limits."""

    rule: Annotated[Literal["total bound, shown drops", "every bound"], _said("How it was decided.")]
    version: Annotated[int, _said("Version of that rule.")]
    verdict: Annotated[SuiteVerdict, _said("The answer.")]
    not_met: Annotated[int, _said("Limits that are not met.")]
    open: Annotated[int, _said("Limits that are open.")]
    items_needed: Annotated[int | None, _said("Items of all tasks, in the same proportions, that would settle it.")]
    error: Annotated[float, _said("How often at most a bound is within its limit although the truth is beyond it.")]
    passes_if_equal: Annotated[
        float | None, _said("How often every task's bound of an equal model would be within; null unless demanded.")
    ]
