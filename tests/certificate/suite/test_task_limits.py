"""Which limits a policy puts on which task, group and total."""

import pytest

from assay.certificate.suite.task_limits import MissingTaskError, costs_of, demands_of, with_known_groups
from assay.data.task_groups import tree_of
from assay.design import Policy
from assay.errors import InputError, UsageError
from assay.limits import GroupLimits, Limits, TotalLimits

TASKS = ["arc", "gsm8k", "mmlu_law", "mmlu_math"]


def test_without_a_policy_the_tiers_limits_apply() -> None:
    found = demands_of(Policy(), TASKS, "scores", lower_is_better=False)
    assert found.total == Limits(max_drop=0.02)
    assert found.tasks == dict.fromkeys(TASKS, Limits(max_drop=0.05))
    assert (found.groups, found.weights, found.every) == ({}, "macro", False)
    losses = demands_of(Policy(tier="conservative"), TASKS, "losses", lower_is_better=True)
    assert (losses.total, losses.tasks["arc"]) == (Limits(max_ratio=1.05), Limits(max_ratio=1.1))


def test_a_name_goes_before_a_pattern_and_both_before_every_task() -> None:
    policy = Policy(
        each=Limits(max_drop=0.04, min_score=0.1),
        tasks={"mmlu_*": Limits(max_drop=0.03), "*": Limits(max_drop=0.02), "mmlu_law": Limits(min_score=0.3)},
    )
    found = demands_of(policy, TASKS, "scores", lower_is_better=False).tasks
    assert found["mmlu_math"] == Limits(max_drop=0.03, min_score=0.1)  # of two patterns the first
    assert found["arc"] == Limits(max_drop=0.02, min_score=0.1)
    assert found["mmlu_law"] == Limits(max_drop=0.04, min_score=0.3)  # of the name alone, else of every task


def test_groups_have_their_tasks_in_the_order_of_all() -> None:
    inner = {"law": GroupLimits(tasks=("mmlu_law",), max_drop=0.1)}
    policy = Policy(groups={"mmlu": GroupLimits(tasks=("mmlu_math", "mmlu_*"), groups=inner, max_drop=0.03)})
    found = demands_of(policy, TASKS, "scores", lower_is_better=False).groups
    assert {name: group.tasks for name, group in found.items()} == {
        "mmlu": ("mmlu_law", "mmlu_math"),
        "mmlu/law": ("mmlu_law",),
    }


@pytest.mark.parametrize(
    ("policy", "said"),
    [
        (Policy(tasks={"gms8k": Limits()}), "names the task 'gms8k', which is not there; did you mean 'gsm8k'?"),
        (Policy(tasks={"hella*": Limits()}), "names the task 'hella*', which is not there; there are arc, gsm8k"),
        (Policy(groups={"g": GroupLimits(tasks=("x_*",))}), "names the task 'x_*'"),
        (Policy(groups={"g": GroupLimits()}), "the group 'g' has no tasks; name them"),
    ],
)
def test_a_task_that_is_not_there_is_refused(policy: Policy, said: str) -> None:
    with pytest.raises(MissingTaskError) as refused:
        demands_of(policy, TASKS, "scores", lower_is_better=False)
    assert said in str(refused.value)
    assert isinstance(refused.value, InputError)


@pytest.mark.parametrize(
    ("policy", "said"),
    [
        (Policy(tasks={"arc": Limits(max_ratio=1.1)}), "tasks.arc.max_ratio of the policy is not a limit of scores"),
        (Policy(groups={"g": GroupLimits(tasks=("arc",), max_ratio=1.1)}), "groups.g.max_ratio of the policy"),
    ],
)
def test_a_limit_of_another_kind_is_refused(policy: Policy, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        demands_of(policy, TASKS, "scores", lower_is_better=False)


def test_a_smallest_score_is_for_scores_of_which_higher_is_better() -> None:
    policy = Policy(each=Limits(min_score=0.5))
    with pytest.raises(UsageError, match=r"each\.min_score of the policy is for scores of which higher is better"):
        demands_of(policy, TASKS, "scores", lower_is_better=True)
    with pytest.raises(UsageError, match=r"each\.min_score of the policy is not a limit of losses"):
        demands_of(policy, TASKS, "losses", lower_is_better=True)


def test_limits_of_every_task_may_be_of_both_kinds() -> None:
    policy = Policy(each=Limits(max_drop=0.03, max_ratio=1.1))
    assert demands_of(policy, TASKS, "scores", lower_is_better=False).tasks["arc"] == Limits(max_drop=0.03)
    assert demands_of(policy, TASKS, "losses", lower_is_better=True).tasks["arc"] == Limits(max_ratio=1.1)


def test_a_group_has_only_tasks_of_the_group_around_it() -> None:
    inner = {"odd": GroupLimits(tasks=("arc",), max_drop=0.1)}
    policy = Policy(groups={"mmlu": GroupLimits(tasks=("mmlu_*",), groups=inner)})
    with pytest.raises(UsageError, match="the group 'mmlu/odd' has the task 'arc', which is not in 'mmlu'; add it"):
        demands_of(policy, TASKS, "scores", lower_is_better=False)


def test_groups_that_results_know_need_no_tasks() -> None:
    tree = tree_of({"mmlu": ("mmlu_law", "mmlu_math", "mmlu_absent")}, TASKS)
    policy = Policy(groups={"mmlu": GroupLimits(max_drop=0.03)}, total=TotalLimits(weights="groups"))
    found = with_known_groups(policy, tree)
    assert found.groups is not None
    assert found.groups["mmlu"].tasks == ("mmlu_law", "mmlu_math")
    assert found.total is not None
    assert found.total.weights == pytest.approx({"arc": 1 / 3, "gsm8k": 1 / 3, "mmlu_law": 1 / 6, "mmlu_math": 1 / 6})
    with pytest.raises(MissingTaskError, match="has the group 'code' without tasks, and nothing tells them; known are"):
        with_known_groups(Policy(groups={"code": GroupLimits(max_drop=0.1)}), tree)
    with pytest.raises(UsageError, match="weighs groups of tasks alike, but none are known"):
        with_known_groups(Policy(total=TotalLimits(weights="groups")), tree_of({}, TASKS))


def test_costs_are_those_that_anything_limits() -> None:
    assert costs_of(Policy()) == ()
    groups = {"g": GroupLimits(groups={"h": GroupLimits(tasks=("arc",), max_steps_ratio=2)})}
    policy = Policy(tasks={"arc": Limits(max_seconds_ratio=2)}, total=TotalLimits(max_price_ratio=1.1), groups=groups)
    assert costs_of(policy) == ("price", "seconds", "steps")
