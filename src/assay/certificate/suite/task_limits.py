"""What a policy demands of the tasks that are there: the limits of every task, of every group, and of the total."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase

from assay.data.metrics import Kind
from assay.data.task_groups import TaskTree
from assay.design import Policy
from assay.errors import InputError, UsageError
from assay.limits import COST_LIMITS, LIMITS, GroupLimits, LimitName, Limits, TaskWeights, flat_groups
from assay.names import listed, nearest

#: What can be limited, by what the tasks hold.
FITTING: dict[Kind, tuple[LimitName, ...]] = {
    "scores": ("max_drop", "min_score", *COST_LIMITS),
    "losses": ("max_ratio", *COST_LIMITS),
}
_CHANGES: tuple[LimitName, ...] = ("max_drop", "max_ratio")  # one of them fits, and a policy may have both


@dataclass(frozen=True, slots=True)
class LimitedGroup:
    """The tasks of a group, and the limits of their mean."""

    tasks: tuple[str, ...]
    limits: Limits


@dataclass(frozen=True, slots=True)
class Demands:
    """The limits of each row."""

    total: Limits
    groups: Mapping[str, LimitedGroup]
    tasks: Mapping[str, Limits]
    weights: TaskWeights
    every: bool


def costs_of(policy: Policy) -> tuple[str, ...]:
    """The costs that a policy limits."""
    groups = (one.limits for one in flat_groups(policy.groups or {}))
    every = [policy.total, policy.each, *(policy.tasks or {}).values(), *groups]
    return tuple(
        cost for name, cost in COST_LIMITS.items() if any(one is not None and getattr(one, name) for one in every)
    )


class MissingTaskError(InputError):
    """A policy names a task that is not there: a gate must not open because a task was left out."""


def demands_of(policy: Policy, tasks: Sequence[str], kind: Kind, *, lower_is_better: bool) -> Demands:
    """The limits of the tasks that are there; what the policy names and is not there is refused."""
    _check_kinds(policy, kind, lower_is_better=lower_is_better)
    fitting, limits = FITTING[kind], policy.limits
    whole = Limits(max_drop=limits.max_drop, max_ratio=limits.max_ratio)
    total = whole if policy.total is None else policy.total.over(whole)
    return Demands(
        total=total.only(*fitting),
        groups=_groups(policy, tasks),
        tasks=_by_task(policy, tasks, fitting),
        weights="macro" if policy.total is None or policy.total.weights is None else policy.total.weights,
        every=bool(policy.every),
    )


def matching(pattern: str, tasks: Sequence[str]) -> tuple[str, ...]:
    """The tasks of a name or a pattern; none is refused."""
    found = (pattern,) if pattern in tasks else tuple(task for task in tasks if fnmatchcase(task, pattern))
    if not found:
        close = nearest(pattern, tasks)
        hint = f"did you mean {close!r}?" if close else f"there are {listed(tasks)}."
        raise MissingTaskError(f"the policy names the task {pattern!r}, which is not there; {hint}")
    return found


def _by_task(policy: Policy, tasks: Sequence[str], fitting: Sequence[LimitName]) -> dict[str, Limits]:
    """Of each task: by its name, else by the first pattern that fits it, else those of every task."""
    named = {pattern: matching(pattern, tasks) for pattern in policy.tasks or {}}
    found = {}
    for task in tasks:
        own = [pattern for pattern, fits in named.items() if task in fits]
        pattern = task if task in own else next(iter(own), None)
        limits = Limits() if pattern is None or policy.tasks is None else policy.tasks[pattern]
        found[task] = limits.over(policy.task_limits).only(*fitting)
    return found


def _groups(policy: Policy, tasks: Sequence[str]) -> dict[str, LimitedGroup]:
    found: dict[str, LimitedGroup] = {}
    for one in flat_groups(policy.groups or {}):
        inside = {task for pattern in one.tasks for task in matching(pattern, tasks)}
        if not inside:
            raise MissingTaskError(f"the group {one.name!r} has no tasks; name them.")
        outside = [] if one.parent is None else [task for task in inside if task not in found[one.parent].tasks]
        if outside:
            raise UsageError(
                f"the group {one.name!r} has the task {min(outside)!r}, which is not in {one.parent!r}; add it there."
            )
        found[one.name] = LimitedGroup(tuple(task for task in tasks if task in inside), one.limits)
    return found


def _check_kinds(policy: Policy, kind: Kind, *, lower_is_better: bool) -> None:
    """Refuse limits of what the tasks do not have; those of every task may be of scores and of losses."""
    given: dict[str, Limits | None] = {"total": policy.total, "each": policy.each}
    named = {f"tasks.{name}": one for name, one in (policy.tasks or {}).items()}
    named |= {f"groups.{one.name}": one.limits for one in flat_groups(policy.groups or {})}
    for place, limits in (given | named).items():
        for name in LIMITS if limits is not None else ():
            unfit = name not in FITTING[kind] and (place in named or name not in _CHANGES)
            if getattr(limits, name) is None:
                continue
            if unfit:
                raise UsageError(f"{place}.{name} of the policy is not a limit of {kind}; leave it out.")
            if name == "min_score" and lower_is_better:
                raise UsageError(f"{place}.min_score of the policy is for scores of which higher is better.")


def with_known_groups(policy: Policy, tree: TaskTree) -> Policy:
    """The policy with the tasks of groups that it only names, and weights by groups, as the results know them."""
    known = {group.name: group.tasks for group in tree.groups}
    groups = None if policy.groups is None else {n: _known(n, one, known) for n, one in policy.groups.items()}
    total = policy.total
    if total is not None and total.weights == "groups":
        total = replace(total, weights=dict(zip(tree.tasks, _by_groups(tree), strict=True)))
    return replace(policy, groups=groups, total=total)


def _by_groups(tree: TaskTree) -> list[float]:
    if not tree.groups:
        raise UsageError("the policy weighs groups of tasks alike, but none are known; weigh tasks by macro or items.")
    shares = tree.shares()
    return [shares[task] for task in tree.tasks]


def _known(name: str, group: GroupLimits, known: Mapping[str, tuple[str, ...]]) -> GroupLimits:
    inside = {inner: _known(inner, one, known) for inner, one in group.groups.items()}
    if group.tasks or inside:
        return replace(group, groups=inside)
    if name not in known:
        hint = f"known are {listed(known)}." if known else "none are known."
        raise MissingTaskError(f"the policy has the group {name!r} without tasks, and nothing tells them; {hint}")
    return replace(group, tasks=known[name])
