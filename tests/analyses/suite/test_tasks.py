"""Tasks of a panel: what each weighs in the total and how much it counts, against closed forms."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.analyses.suite.tasks import (
    FEWEST,
    TASK,
    called,
    effective_units,
    name_of,
    several_tasks,
    shares_of,
    tasks_of,
    weights_told,
)
from assay.data import Panel
from assay.data.task_groups import tree_of
from assay.errors import UsageError

SIZES = {"arc": 12, "boolq": 30, "gsm8k": 18}


def panel_of(sizes: dict[str, int], clusters: int | None = None, **more: Any) -> Panel:
    """Items of which A has every second and B every third right."""
    tasks = [task for task, n in sizes.items() for _ in range(n)]
    numbers = np.arange(len(tasks))
    scores = np.column_stack([numbers % 2 == 0, numbers % 3 == 0]).astype(float)
    groups = None if clusters is None else (numbers // clusters).tolist()
    return Panel.from_arrays(scores, systems=["A", "B"], clusters=groups, labels={TASK: tasks}, **more)


def parts_of(panel: Panel) -> dict[str, Panel]:
    return {task.name: task.panel for task in tasks_of(panel, TASK)}


def test_tasks_have_their_items_and_differences_by_hand() -> None:
    found = {task.name: task for task in tasks_of(panel_of(SIZES), TASK)}
    assert {name: task.panel.n for name, task in found.items()} == SIZES
    start = 0
    for name, n in SIZES.items():
        numbers = np.arange(start, start + n)
        by_hand = (numbers % 3 == 0).mean() - (numbers % 2 == 0).mean()
        assert found[name].differences.value == pytest.approx(by_hand, abs=1e-15)
        gained, lost = (numbers % 6 == 3).sum(), ((numbers % 2 == 0) & (numbers % 3 != 0)).sum()
        counts = found[name].differences.counts
        assert counts is not None
        assert (counts.b, counts.c, counts.n) == (gained, lost, n)
        start += n


def test_shares_by_hand() -> None:
    parts, n = parts_of(panel_of(SIZES)), sum(SIZES.values())
    assert shares_of(parts, "macro").tolist() == pytest.approx([1 / 3] * 3)
    assert shares_of(parts, "items").tolist() == pytest.approx([size / n for size in SIZES.values()])
    given_weights = {"arc": 2.0, "boolq": 0.0, "gsm8k": 6.0}
    assert shares_of(parts, given_weights).tolist() == pytest.approx([0.25, 0.0, 0.75])
    tree = tree_of({"reading": ("arc", "boolq")}, list(SIZES))
    assert shares_of(parts, "groups", tree).tolist() == pytest.approx([0.25, 0.25, 0.5])


@given(st.lists(st.floats(0.01, 100), min_size=3, max_size=3))
def test_shares_sum_to_one_and_only_their_ratios_count(weights: list[float]) -> None:
    parts = parts_of(panel_of(SIZES))
    found = shares_of(parts, dict(zip(SIZES, weights, strict=True)))
    assert found.sum() == pytest.approx(1)
    twice = shares_of(parts, {task: 2 * weight for task, weight in zip(SIZES, weights, strict=True)})
    assert found.tolist() == pytest.approx(twice.tolist())


def test_items_count_as_many_where_they_weigh_alike() -> None:
    """Kish: (Σw)²/Σw², which is n where every item weighs the same."""
    parts = parts_of(panel_of(SIZES))
    assert effective_units(parts, shares_of(parts, "items")) == pytest.approx(sum(SIZES.values()))
    by_hand = 1 / sum((1 / 3) ** 2 / n for n in SIZES.values())
    assert effective_units(parts, shares_of(parts, "macro")) == pytest.approx(by_hand)
    assert by_hand < sum(SIZES.values())


def test_a_task_without_weight_counts_nothing() -> None:
    parts = parts_of(panel_of(SIZES))
    assert effective_units(parts, shares_of(parts, {"arc": 0, "boolq": 1, "gsm8k": 0})) == pytest.approx(30)


def test_clusters_of_one_item_are_none() -> None:
    alone = tasks_of(panel_of(SIZES, clusters=1), TASK)
    assert [task.panel.n_clusters for task in alone] == [None] * 3
    pairs = tasks_of(panel_of(SIZES, clusters=2), TASK)
    assert [task.panel.n_clusters for task in pairs] == [6, 15, 9]
    assert [task.differences.units.n for task in pairs] == [6, 15, 9]


@pytest.mark.parametrize(
    ("weights", "said"),
    [
        ({"arc": 1, "boolq": 1}, "no weight for the task 'gsm8k'"),
        ({"arc": 1, "boolq": 1, "gsm8k": -1}, "must be 0 or more and finite"),
        ({"arc": 1, "boolq": 1, "gsm8k": float("inf")}, "must be 0 or more and finite"),
        ({"arc": 1, "boolq": 1, "gsm8k": 1, "gsm9k": 1}, "did you mean 'gsm8k'"),
        ({"arc": 0, "boolq": 0, "gsm8k": 0}, "must not all be 0"),
        ("median", "must be macro, items, groups or the weights"),
        ("groups", "no groups are known"),
    ],
)
def test_weights_that_make_no_total_are_refused(weights: Any, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        shares_of(parts_of(panel_of(SIZES)), weights)


def test_weights_go_by_name_or_are_given() -> None:
    assert [weights_told(name) for name in ("macro", "items", "groups")] == ["macro", "items", "groups"]
    assert (name_of("items"), name_of({"arc": 1.0})) == ("items", "given")
    assert weights_told({"arc": 2.0}) == {"arc": 2.0}


def test_several_tasks_have_enough_items_each() -> None:
    assert several_tasks(panel_of({"a": FEWEST, "b": FEWEST}))
    assert not several_tasks(panel_of({"a": FEWEST, "b": FEWEST - 1}))
    assert not several_tasks(panel_of({"a": 5 * FEWEST}))


def test_another_name_of_the_column_moves_its_labels() -> None:
    panel = panel_of(SIZES)
    found = called(panel, "subject")
    assert (TASK in found.labels, found.label("subject").names) == (False, panel.label(TASK).names)
    assert called(panel, TASK) is panel
