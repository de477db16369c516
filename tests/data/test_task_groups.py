"""Groups of tasks: what they hold, how they nest, what tasks weigh by them."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay import InputError, Panel, UsageError
from assay.data import read_tables
from assay.data.readers.harness import all_tasks
from assay.data.sources import read_groups
from assay.data.task_groups import group_notes, task_tree, tree_of, with_groups

MMLU = {"mmlu": ["stem", "humanities", "law"], "stem": ["algebra", "physics"], "humanities": ["history", "logic"]}
TASKS = ("algebra", "gsm8k", "history", "law", "logic", "physics")


def outline(tree: object) -> list[str]:
    return ["  " * one.depth + one.name for one in tree.outline()]  # type: ignore[attr-defined]


def panel_of(groups: list[str] | None = None) -> Panel:
    labels = {"task": list(TASKS), **({} if groups is None else {"group": groups})}
    return Panel.from_arrays(np.zeros((6, 2)), systems=["a", "b"], labels=labels)


def test_groups_hold_the_tasks_of_the_groups_in_them() -> None:
    assert all_tasks(MMLU) == {
        "mmlu": ("algebra", "history", "law", "logic", "physics"),
        "stem": ("algebra", "physics"),
        "humanities": ("history", "logic"),
    }
    assert all_tasks({"gsm8k": [], "both": ["gsm8k", "arc"]}) == {"both": ("arc", "gsm8k")}


def test_an_outline_has_groups_with_their_tasks_below_them() -> None:
    assert outline(tree_of(all_tasks(MMLU), TASKS)) == [
        "mmlu",
        "  stem",
        "    algebra",
        "    physics",
        "  humanities",
        "    history",
        "    logic",
        "  law",
        "gsm8k",
    ]


def test_groups_are_of_the_tasks_that_are_there() -> None:
    tree = tree_of(all_tasks(MMLU), ("algebra", "history", "logic"))
    assert [(group.name, group.tasks, group.absent) for group in tree.groups] == [
        ("mmlu", ("algebra", "history", "logic"), 2),
        ("humanities", ("history", "logic"), 0),
    ]
    assert not tree_of(all_tasks(MMLU), ("algebra", "gsm8k")).groups  # one task is no group


def test_groups_of_the_same_tasks_are_inside_each_other() -> None:
    tree = tree_of({"inner": ["x", "y"], "all": ["x", "y"]}, ("x", "y"))
    assert outline(tree) == ["all", "  inner", "    x", "    y"]
    assert tree.shares() == {"x": 0.5, "y": 0.5}


def test_shares_by_hand() -> None:
    """mmlu and gsm8k a half each; stem, humanities and law a third of mmlu each."""
    shares = tree_of(all_tasks(MMLU), TASKS).shares()
    sixth = 1 / 6
    assert shares == pytest.approx(
        {
            "gsm8k": 0.5,
            "law": sixth,
            "algebra": sixth / 2,
            "physics": sixth / 2,
            "history": sixth / 2,
            "logic": sixth / 2,
        }
    )


@given(st.dictionaries(st.sampled_from("ABCD"), st.sets(st.sampled_from("uvwxyz")), max_size=4))
def test_every_task_and_group_has_one_line_and_shares_add_up_to_one(groups: dict[str, set[str]]) -> None:
    tree = tree_of(all_tasks(groups), tuple("uvwxyz"))
    names = [one.name for one in tree.outline()]
    assert sorted(names) == sorted([*"uvwxyz", *(group.name for group in tree.groups)])
    if tree.overlapping is None:
        assert sum(tree.shares().values()) == pytest.approx(1)
    else:
        with pytest.raises(UsageError, match="share some of their tasks"):
            tree.shares()


def test_a_column_tells_groups() -> None:
    tree = task_tree(panel_of(["stem", "", "hum", "hum", "hum", "stem"]), "task")
    assert outline(tree) == ["hum", "  history", "  law", "  logic", "stem", "  algebra", "  physics", "gsm8k"]


def test_a_column_that_splits_a_task_tells_none() -> None:
    panel = Panel.from_arrays(np.zeros((4, 2)), labels={"task": list("xxyy"), "group": list("pqpp")})
    tree = task_tree(panel, "task")
    assert not tree.groups
    assert group_notes(panel, "task", tree) == (
        "column 'group' not used: the task 'x' has items of the groups 'p', 'q'",
    )


def test_groups_that_are_not_all_there_are_named() -> None:
    panel = replace(panel_of(), groups={"mmlu": ("algebra", "law", "physics", "virology")})
    notes = group_notes(panel, "task", task_tree(panel, "task"))
    assert notes == ("not all tasks of a group have results, and its mean is of those that have: 3 of 4 in mmlu",)


def test_told_groups_replace_those_of_a_column() -> None:
    panel = with_groups(panel_of(["a", "a", "a", "b", "b", "b"]), "task", {"c": ("algebra", "law")})
    assert [group.name for group in task_tree(panel, "task").groups] == ["c"]
    with pytest.raises(InputError, match="no group holds two of the tasks"):
        with_groups(panel, "task", {"c": ("algebra", "lore")})


def test_a_file_may_put_groups_in_groups(tmp_path: Path) -> None:
    file = tmp_path / "groups.csv"
    file.write_text("task,group\nalgebra,stem\nphysics,stem\nstem,mmlu\nlaw,mmlu\n", encoding="utf-8")
    assert read_groups(file) == {"stem": ("algebra", "physics"), "mmlu": ("algebra", "law", "physics")}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("task,kind\na,b\n", "no column 'group', only task, kind"),
        ("task,group\na,b\n,b\n", "line 3: a cell is empty"),
        ("task,group\na,b\nb,a\n", "the group 'b' must not hold itself"),
    ],
)
def test_groups_that_cannot_be_read_are_refused(tmp_path: Path, text: str, said: str) -> None:
    file = tmp_path / "groups.csv"
    file.write_text(text, encoding="utf-8")
    with pytest.raises((InputError, UsageError), match=said):
        read_groups(file)


def test_a_text_is_no_list_of_tasks() -> None:
    with pytest.raises(UsageError, match="'stem' must hold a list"):
        read_groups({"stem": "algebra"})


def lm_eval_folder(folder: Path, tasks: list[str], groups: dict[str, list[str]]) -> Path:
    """What lm-evaluation-harness writes, as far as it is read."""
    folder.mkdir()
    stamp = "2026-01-01T00-00-00.000000"
    for task in tasks:
        lines = [
            {
                "doc_id": i,
                "doc": {},
                "resps": [],
                "filtered_resps": [],
                "metrics": ["acc"],
                "acc": i % 2,
                "filter": "none",
            }
            for i in range(12)
        ]
        text = "".join(json.dumps(line) + "\n" for line in lines)
        (folder / f"samples_{task}_{stamp}.jsonl").write_text(text, encoding="utf-8")
    results = {"results": {}, "configs": {}, "versions": {}, "model_name": folder.name, "group_subtasks": groups}
    (folder / f"results_{stamp}.json").write_text(json.dumps(results), encoding="utf-8")
    return folder


def test_lm_eval_tells_its_groups(tmp_path: Path) -> None:
    groups = {"mmlu": ["stem", "law"], "stem": ["algebra", "physics"], "gsm8k": []}
    folder = lm_eval_folder(tmp_path / "m", ["algebra", "law", "gsm8k"], groups)
    from assay.data import Selection

    [table] = read_tables([folder], selection=Selection(every_task=True))
    panel = Panel.from_tables([table])
    assert panel.groups == {"mmlu": ("algebra", "law", "physics"), "stem": ("algebra", "physics")}
    assert outline(task_tree(panel, "task")) == ["mmlu", "  algebra", "  law", "gsm8k"]
