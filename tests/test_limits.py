"""Limits of tasks, groups and the total, as Python takes them."""

from typing import Any

import pytest

from assay.data.costs import COSTS
from assay.design import Policy
from assay.errors import UsageError
from assay.limits import COST_LIMITS, LIMITS, GroupLimits, Limits, TotalLimits, flat_groups


def test_every_cost_that_is_read_can_be_limited() -> None:
    assert set(COST_LIMITS.values()) == set(COSTS)
    assert {"max_drop", "min_score", "max_ratio"} == set(LIMITS) - set(COST_LIMITS)


@pytest.mark.parametrize(
    ("kind", "wrong", "said"),
    [
        (Limits, {"max_drop": -0.1}, "max_drop must be 0 or more"),
        (Limits, {"max_drop": float("nan")}, "max_drop must be 0 or more"),
        (Limits, {"min_score": float("inf")}, "min_score must be finite"),
        (Limits, {"max_price_ratio": 0}, "max_price_ratio must be positive"),
        (Limits, {"max_ratio": True}, "max_ratio must be positive"),
        (Limits, {"max_drop": 10**400}, "a number of more than 30 digits"),
        (TotalLimits, {"weights": "median"}, "weights of the total must be macro, items, groups"),
        (TotalLimits, {"weights": {}}, "weights of the total must be"),
        (TotalLimits, {"weights": {"arc": -1}}, "the weight of 'arc' must be 0 or more"),
        (TotalLimits, {"weights": {" ": 1}}, "a task that is weighed must be a text"),
        (GroupLimits, {"tasks": ("",)}, "a task of a group must be a text"),
        (GroupLimits, {"tasks": ("a", "a")}, "must name a task once"),
        (Policy, {"each": {"max_drop": 0.1}}, r"each must be Limits\(…\)"),
        (Policy, {"each": TotalLimits()}, r"each must be Limits\(…\)"),
        (Policy, {"total": Limits()}, r"total must be TotalLimits\(…\)"),
        (Policy, {"tasks": [Limits()]}, "tasks must be limits by the name"),
        (Policy, {"tasks": {"": Limits()}}, "a task must be a text"),
        (Policy, {"tasks": {"arc": 0.1}}, "the limits of the task 'arc' must be"),
        (Policy, {"groups": {"a/b": GroupLimits(tasks=("x",))}}, "must not have a '/'"),
        (Policy, {"groups": {"a": Limits()}}, "the group 'a' must be"),
        (Policy, {"groups": "a"}, "groups must be limits by the name"),
        (Policy, {"every": 1}, "every must be true or false"),
        (Policy, {"max_drop": 0.1, "total": TotalLimits(max_drop=0.2)}, "max_drop must be said once"),
    ],
)
def test_what_is_refused(kind: Any, wrong: dict[str, Any], said: str) -> None:
    with pytest.raises(UsageError, match=said):
        kind(**wrong)


def test_a_change_of_the_total_is_the_policys_own_field() -> None:
    policy = Policy(total=TotalLimits(max_drop=0.01, min_score=0.5))
    assert (policy.max_drop, policy.total) == (0.01, TotalLimits(min_score=0.5))
    assert Policy(total=TotalLimits(max_drop=0.01)) == Policy(max_drop=0.01)


def test_groups_within_groups_by_their_paths() -> None:
    inner = {"algebra": GroupLimits(tasks=("alg*",), max_drop=0.1), "rest": GroupLimits(tasks=("geo",))}
    found = list(flat_groups({"math": GroupLimits(groups=inner, max_drop=0.05), "code": GroupLimits(tasks=("py",))}))
    assert [(one.name, one.parent, one.tasks) for one in found] == [
        ("math", None, ("alg*", "geo")),
        ("math/algebra", "math", ("alg*",)),
        ("math/rest", "math", ("geo",)),
        ("code", None, ("py",)),
    ]
    assert found[0].limits == Limits(max_drop=0.05)


@pytest.mark.parametrize(
    ("policy", "changed"),
    [
        (Policy(each=Limits(max_drop=0.06)), "each.max_drop"),
        (Policy(tasks={"arc": Limits(max_ratio=1.5)}), "tasks.arc.max_ratio"),
        (Policy(total=TotalLimits(weights="items")), "total.weights"),
        (Policy(tier="conservative", each=Limits(max_drop=0.05)), "each.max_drop"),
    ],
)
def test_what_makes_a_gate_easier_to_pass_needs_a_note(policy: Policy, changed: str) -> None:
    with pytest.raises(UsageError, match=f"{changed} of the tier .* changed: say why"):
        policy.complete()
    assert policy.with_options(note="agreed").complete().note == "agreed"


@pytest.mark.parametrize(
    "policy",
    [
        Policy(each=Limits(max_drop=0.05, max_price_ratio=2)),
        Policy(tasks={"arc": Limits(max_drop=0.01, min_score=0.1)}),
        Policy(groups={"all": GroupLimits(tasks=("*",), max_drop=0.5)}),
        Policy(every=True, total=TotalLimits(weights="macro", min_score=0.9)),
        Policy(max_drop=0.2, each=Limits(max_drop=0.2), note="the total's own limit is as wide"),
    ],
)
def test_what_adds_demands_needs_none(policy: Policy) -> None:
    assert policy.complete().every is bool(policy.every)


def test_a_task_may_fall_by_as_much_as_the_total_may() -> None:
    assert Policy().task_limits == Limits(max_drop=0.05, max_ratio=1.2)
    assert Policy(max_drop=0.3).task_limits == Limits(max_drop=0.3, max_ratio=1.2)
    assert Policy(tier="aggressive", each=Limits(max_drop=0.01)).task_limits == Limits(max_drop=0.01, max_ratio=1.4)


def test_options_beside_a_policy_may_be_stricter() -> None:
    policy = Policy(each=Limits(max_drop=0.04, min_score=0.2), every=False)
    found = policy.with_options(each=Limits(max_drop=0.03), every=True)
    assert (found.each, found.every) == (Limits(max_drop=0.03, min_score=0.2), True)
    for looser in (Limits(max_drop=0.05), Limits(min_score=0.1)):
        with pytest.raises(UsageError, match="of each task contradicts the policy"):
            policy.with_options(each=looser)
    with pytest.raises(UsageError, match="every false contradicts the policy, which says true"):
        Policy(every=True).with_options(every=False)
