"""A policy as a certificate over tasks states it, and the policy that such a certificate claims."""

from collections.abc import Iterator, Sequence
from typing import Any

from assay.certificate.suite.fields import GroupOfTasks, StatedLimit, SuitePolicy, TaskLimits, TaskWeight
from assay.certificate.suite.task_limits import FITTING, Demands, matching
from assay.data.metrics import Kind
from assay.design import TIERS, Policy
from assay.errors import UsageError
from assay.limits import TASK_LIMITS, GroupLimits, Limits, TaskWeights, TotalLimits, flat_groups


def stated_policy(policy: Policy, demands: Demands, kind: Kind) -> SuitePolicy:
    """A complete policy: what fits the tasks, defaults in place."""
    assert policy.tier is not None  # it is complete
    assert policy.profile is not None
    assert policy.weights is not None
    weights = demands.weights
    assert weights != "groups"  # which were made weights of tasks
    given = () if isinstance(weights, str) else tuple(sorted(weights.items()))
    return SuitePolicy(
        tier=policy.tier,
        profile=policy.profile,
        level=policy.design().level,
        weights=policy.weights,
        min_items=policy.limits.windows,
        every=demands.every,
        total=_stated(demands.total),
        total_weights=weights if isinstance(weights, str) else "given",
        task_weights=tuple(TaskWeight(task=task, weight=float(weight)) for task, weight in given),
        each=_stated(policy.task_limits.only(*FITTING[kind])),
        tasks=tuple(TaskLimits(task=name, limits=_stated(one)) for name, one in _in_order(policy, demands)),
        groups=tuple(
            GroupOfTasks(name=one.name, tasks=tuple(sorted({*one.tasks})), limits=_stated(one.limits))
            for one in flat_groups(policy.groups or {})
        ),
        overrides=tuple(_overrides(policy, demands.total, kind)),
        note=policy.note,
    )


def _in_order(policy: Policy, demands: Demands) -> Iterator[tuple[str, Limits]]:
    """The limits that tasks have by name, then by pattern, in the order of the alphabet where no other is needed.

    Where two patterns fit a task, the first one counts, and goes first; a pattern that counts for no task is left out.
    So no limit and no order is stated that could be changed unnoticed.
    """
    given, names = policy.tasks or {}, set(demands.tasks)
    yield from ((name, given[name]) for name in sorted(given.keys() & names))
    fits = {one: {*matching(one, [*names])} - given.keys() for one in given if one not in names}
    rest = [one for i, one in enumerate(fits) if fits[one] - set().union(*[*fits.values()][:i])]
    while rest:
        free = [one for i, one in enumerate(rest) if not any(fits[one] & fits[before] for before in rest[:i])]
        rest.remove(min(free))
        yield min(free), given[min(free)]


def _overrides(policy: Policy, total: Limits, kind: Kind) -> Iterator[str]:
    """What differs from the tier."""
    tier, usual = TIERS[policy.tier or "balanced"], TASK_LIMITS[policy.tier or "balanced"]
    if policy.limits.windows != tier.windows:
        yield "min_items"
    change = total.only("max_drop", "max_ratio")
    yield from (f"total.{name}" for name, at in change.given() if at != getattr(tier, name))
    each = policy.task_limits.only(*FITTING[kind])
    yield from (f"each.{name}" for name, at in each.given() if at != getattr(usual, name))


def _stated(limits: Limits) -> tuple[StatedLimit, ...]:
    return tuple(StatedLimit(limit=name, at=float(at)) for name, at in limits.given())


def policy_claimed(stated: SuitePolicy) -> Policy:
    """The policy that is stated; one that nobody could have issued by is refused."""
    weights: TaskWeights = stated.total_weights if stated.total_weights != "given" else _weights(stated)
    if stated.total_weights != "given" and stated.task_weights:
        raise UsageError("weights of tasks are stated, and not taken.")
    total = _limits(stated.total)
    few = stated.min_items != TIERS[stated.tier].windows
    return Policy(
        tier=stated.tier,
        profile=stated.profile,
        level=stated.level,
        weights=stated.weights,
        min_windows=stated.min_items if few else None,
        note=stated.note,
        total=TotalLimits(weights=weights, **dict(total.given())),
        each=_limits(stated.each),
        tasks=_once((one.task, _limits(one.limits)) for one in stated.tasks) or None,
        groups=_nested(stated.groups) or None,
        every=stated.every,
    ).complete()


def _weights(stated: SuitePolicy) -> dict[str, float]:
    return _once((one.task, one.weight) for one in stated.task_weights)


def _limits(stated: Sequence[StatedLimit]) -> Limits:
    return Limits(**_once((one.limit, one.at) for one in stated))


def _once(pairs: Any) -> dict[str, Any]:
    """A mapping; a name that stands twice is refused."""
    found: dict[str, Any] = {}
    for name, value in pairs:
        if name in found:
            raise UsageError(f"{name!r} is stated twice.")
        found[name] = value
    return found


def _nested(groups: Sequence[GroupOfTasks]) -> dict[str, GroupLimits]:
    """Groups within groups, from their paths."""
    _once((one.name, one) for one in groups)
    return {one.name: _group(one, groups) for one in groups if not _has_parent(one, groups)}


def _has_parent(one: GroupOfTasks, groups: Sequence[GroupOfTasks]) -> bool:
    return one.name.rpartition("/")[0] in {other.name for other in groups}


def _group(one: GroupOfTasks, groups: Sequence[GroupOfTasks]) -> GroupLimits:
    inside = {
        other.name.removeprefix(f"{one.name}/"): _group(other, groups)
        for other in groups
        if other.name.rpartition("/")[0] == one.name
    }
    return GroupLimits(tasks=one.tasks, groups=inside, **dict(_limits(one.limits).given()))
