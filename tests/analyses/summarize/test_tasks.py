"""The mean of the tasks, of all and of groups, of one model and of many."""

from dataclasses import replace
from math import inf
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from assay import InputError, Panel, summarize
from assay.analyses.summarize.result import Summary
from assay.data.tables import Labels
from assay.stats.bounded_mean import EffectiveItems, mean_of_shares

SIZES = {"algebra": 40, "gsm8k": 30, "history": 50, "law": 60, "physics": 20}
GROUPS = {"mmlu": ("algebra", "history", "law", "physics"), "stem": ("algebra", "physics")}


def panel_of(models: int = 3, **labels: Any) -> Panel:
    rng = np.random.default_rng(1)
    tasks = np.repeat(list(SIZES), list(SIZES.values()))
    scores = (rng.random((len(tasks), models)) < np.linspace(0.5, 0.7, models)).astype(float)
    return Panel.from_arrays(scores, labels={"task": tasks, **labels})


@pytest.mark.parametrize("models", [1, 3])
def test_groups_are_means_of_their_tasks_by_hand(models: int) -> None:
    found = summarize(replace(panel_of(models), groups=GROUPS))
    assert [(one.group, one.inside) for one in found.groups] == [("mmlu", None), ("stem", "mmlu")]
    for group in found.groups:
        assert len(group.macro) == models
        for name, mean in group.macro.items():
            own = [next(one for one in found.tasks[task] if one.name == name) for task in group.tasks]
            assert mean.value == pytest.approx(np.mean([one.value.value for one in own]))
            errors = [one.value.standard_error or 0.0 for one in own]
            assert mean.standard_error == pytest.approx(np.sqrt(np.sum(np.square(errors))) / len(own))
            items = [EffectiveItems(float(SIZES[task]), inf) for task in group.tasks]
            limits = mean_of_shares([one.value.value or 0.0 for one in own], items, 0.95)
            assert mean.interval is not None
            assert (mean.interval.low, mean.interval.high) == pytest.approx((limits.low, limits.high))


def test_groups_of_a_file_and_of_a_mapping(tmp_path: Path) -> None:
    file = tmp_path / "groups.csv"
    file.write_text("task,group\nalgebra,stem\nphysics,stem\nstem,mmlu\nlaw,mmlu\nhistory,mmlu\n", encoding="utf-8")
    told = summarize(panel_of(), groups=file)
    mapping = {"mmlu": ["stem", "law", "history"], "stem": ["algebra", "physics"]}
    assert told.groups == summarize(panel_of(), groups=mapping).groups
    assert told.macro == summarize(panel_of()).macro
    with pytest.raises(InputError, match="no group holds two of the tasks"):
        summarize(panel_of(), groups={"x": ["a", "b"]})


def test_the_table_has_all_tasks_and_then_groups() -> None:
    found = summarize(replace(panel_of(1), groups=GROUPS))
    table = next(table for table in found.tables if table.key == "macro")
    shown = [row[0].replace("\N{NO-BREAK SPACE}", ".") for row in table.rows]
    assert shown == ["all", "..mmlu (4 tasks)", "....stem (2 tasks)"]
    assert [record["group"] for record in table.records()] == ["", "mmlu", "stem"]
    assert Summary.from_dict(found.to_dict()) == found


def test_one_model_is_said_with_the_mean_of_its_tasks() -> None:
    found = summarize(panel_of(1))
    mean = found.macro["system 1"]
    assert mean.value is not None
    assert f"; the mean of its 5 tasks is {mean.value:.2f} (95% CI" in found.sentence
    assert "mean of its" not in summarize(panel_of(2)).sentence


def test_items_in_several_tasks_widen_the_mean_by_hand() -> None:
    """Every item is in both tasks with the same answer: the mean is as wide as one task's."""
    rng = np.random.default_rng(2)
    right = (rng.random(100) < 0.6).astype(float)
    tasks, hashes = np.repeat(["x", "y"], 100), np.tile([f"h{i}" for i in range(100)], 2)
    panel = Panel.from_arrays(np.tile(right, 2)[:, None], labels={"task": tasks, "doc_hash": hashes})
    [both] = summarize(panel).macro.values()
    [alone] = summarize(panel.where(task="x")).models
    assert both.standard_error == pytest.approx(alone.value.standard_error)
    apart = replace(panel, labels={"task": panel.labels["task"]})
    [free] = summarize(apart).macro.values()
    assert (free.standard_error or 0) * np.sqrt(2) == pytest.approx(both.standard_error)
    assert both.interval is not None
    assert free.interval is not None
    assert both.interval.high - both.interval.low > 1.3 * (free.interval.high - free.interval.low)


def test_a_model_that_lacks_a_task_has_no_mean_of_it() -> None:
    panel = panel_of(2)
    scores = panel.numerators.copy()
    scores[panel.labels["task"].texts == "law", 1] = np.nan
    found = summarize(replace(panel.with_numerators(scores), groups=GROUPS))
    assert set(found.macro) == {"system 1"}
    assert {one.group: set(one.macro) for one in found.groups} == {
        "mmlu": {"system 1"},
        "stem": {"system 1", "system 2"},
    }


def test_tasks_on_different_scales_have_no_mean() -> None:
    panel = panel_of(1)
    scores = panel.numerators.copy()
    scores[panel.labels["task"].texts == "law"] *= 100
    found = summarize(panel.with_numerators(scores))
    assert found.macro == {}
    assert len(found.tasks) == 5
    assert any(note.startswith("no mean of the tasks: tasks are on different scales") for note in found.notes)


def test_tasks_say_their_metric_where_they_differ() -> None:
    panel = replace(panel_of(1), measures={task: "f1" if task == "law" else "acc" for task in SIZES})
    table = next(table for table in summarize(panel).tables if table.key == "tasks")
    assert [row[1] for row in table.rows] == ["acc", "acc", "acc", "f1", "acc"]
    plain = next(table for table in summarize(panel_of(1)).tables if table.key == "tasks")
    assert "metric" not in plain.header


def test_a_column_of_groups_is_read() -> None:
    own = {"algebra": "stem", "physics": "stem", "law": "other", "history": "other", "gsm8k": ""}
    panel = panel_of(1)
    labels = Labels.of(np.array([own[task] for task in panel.labels["task"].texts], dtype=object))
    found = summarize(replace(panel, labels={**panel.labels, "group": labels}))
    assert {one.group: one.tasks for one in found.groups} == {
        "stem": ("algebra", "physics"),
        "other": ("history", "law"),
    }
