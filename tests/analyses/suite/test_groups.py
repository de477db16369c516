"""Groups in a suite: rows of their own, weights of the total, and what is shown of them."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from assay import Design, Panel, UsageError, compare_suite
from assay.analyses.suite.comparing import suite_of_panel
from assay.analyses.suite.result import SuiteComparison
from assay.results.figures import Forest
from tests.analyses.suite.test_suite import SIZES, panel_of

GROUPS = {"knowledge": ("arc", "boolq", "mmlu"), "qa": ("arc", "boolq")}


def grouped() -> Panel:
    return replace(panel_of(), groups=GROUPS)


@pytest.fixture(scope="module")
def found() -> SuiteComparison:
    return suite_of_panel(grouped(), Design())


def test_a_group_is_the_mean_of_its_tasks_by_hand(found: SuiteComparison) -> None:
    own = {row.task: row for row in found.tasks}
    for row in found.groups:
        tasks = [own[name] for name in row.tasks]
        assert row.a == pytest.approx(np.mean([task.a for task in tasks]))
        assert row.b == pytest.approx(np.mean([task.b for task in tasks]))
        assert row.difference.value == pytest.approx(row.b - row.a)
        assert row.n == sum(task.n for task in tasks)
        assert row.weight == pytest.approx(len(tasks) / 5)
        variance = sum((task.difference.standard_error or 0) ** 2 for task in tasks) / len(tasks) ** 2
        assert row.difference.standard_error == pytest.approx(np.sqrt(variance))
    assert [(row.group, row.inside) for row in found.groups] == [("knowledge", None), ("qa", "knowledge")]
    assert {row.task: row.group for row in found.tasks} == {
        "arc": "qa",
        "boolq": "qa",
        "mmlu": "knowledge",
        "gsm8k": None,
        "hellaswag": None,
    }


def test_groups_change_no_task_and_no_total(found: SuiteComparison) -> None:
    plain = suite_of_panel(panel_of(), Design())
    assert plain.total == found.total
    assert [replace_group(row) for row in found.tasks] == list(plain.tasks)


def replace_group(row: object) -> object:
    import msgspec

    return msgspec.structs.replace(row, group=None)  # type: ignore[type-var]


def test_a_suite_within_a_group_is_that_group(found: SuiteComparison) -> None:
    """The total of the tasks of a group alone, at the level of one of two groups."""
    panel = grouped()
    names = panel.labels["task"].texts
    alone = suite_of_panel(panel.rows(np.isin(names, ["arc", "boolq"])), Design(level=0.95**0.5))
    row = found.groups[1]
    assert row.difference.interval is not None
    assert alone.total.difference.interval is not None
    assert row.p_alone == pytest.approx(alone.total.test.p_value)
    assert row.difference.interval.low == pytest.approx(alone.total.difference.interval.low)
    assert row.p_value == pytest.approx(1 - (1 - row.p_alone) ** 2)


def test_the_total_may_weigh_groups_alike_by_hand() -> None:
    """gsm8k, hellaswag and knowledge a third each; qa and mmlu half of that; arc and boolq half of qa."""
    told = suite_of_panel(grouped(), Design(), weights="groups")
    own = {row.task: row.difference.value or 0.0 for row in told.tasks}
    qa = (own["arc"] + own["boolq"]) / 2
    expected = (own["gsm8k"] + own["hellaswag"] + (qa + own["mmlu"]) / 2) / 3
    assert told.total.difference.value == pytest.approx(expected)
    assert told.total.weights == "groups"
    assert "mean of the groups" in told.sentence
    assert told.groups[0].difference.value == pytest.approx((qa + own["mmlu"]) / 2)


def test_without_groups_they_cannot_be_weighed() -> None:
    with pytest.raises(UsageError, match="no groups are known"):
        suite_of_panel(panel_of(), Design(), weights="groups")


def test_items_weigh_within_groups_too() -> None:
    """As lm-evaluation-harness does for mmlu: a group is the mean of its items."""
    panel = grouped()
    told = suite_of_panel(panel, Design(), weights="items")
    part = panel.rows(np.isin(panel.labels["task"].texts, ["arc", "boolq"]))
    assert told.groups[1].b == pytest.approx(part.estimate(1))


def test_the_table_is_an_outline_and_the_frame_tells_groups_from_tasks(found: SuiteComparison) -> None:
    (table,) = found.tables
    shown = [row[0].replace("\N{NO-BREAK SPACE}", ".") for row in table.rows]
    assert shown == ["knowledge", "..qa", "....arc", "....boolq", "..mmlu", "gsm8k", "hellaswag"]
    frame = found.to_frame()
    assert frame["task"].tolist() == ["knowledge", "qa", "arc", "boolq", "mmlu", "gsm8k", "hellaswag"]
    assert frame[frame["kind"] == "task"]["weight"].sum() == pytest.approx(1)
    assert frame.set_index("task")["group"].to_dict()["qa"] == "knowledge"


def test_the_forest_has_groups_above_their_tasks(found: SuiteComparison) -> None:
    (forest,) = found.sections[0].figures
    assert isinstance(forest, Forest)
    labels = [line.label for line in forest.lines]
    inside = ["· qa", "· · arc", "· · boolq", "· mmlu"]
    assert labels == ["knowledge", *inside, "gsm8k", "hellaswag", "mean of the tasks"]
    assert [line.group for line in forest.lines[:3]] == ["groups", "groups", "each task"]
    assert forest.groups == ("each task", "groups", "all")


def test_the_record_is_the_same_after_json(found: SuiteComparison) -> None:
    assert SuiteComparison.from_dict(found.to_dict()) == found


def test_a_group_that_has_most_tasks_is_said_to_be_most_of_the_total(found: SuiteComparison) -> None:
    said = "3 of the 5 tasks are of knowledge, and so much of the total; `total='groups'` weighs groups alike"
    assert said in found.notes
    assert said not in suite_of_panel(grouped(), Design(), weights="groups").notes


def test_groups_from_a_file_a_mapping_and_a_column_are_the_same(tmp_path: Path) -> None:
    panel = panel_of()
    file = tmp_path / "groups.csv"
    file.write_text("task,group\narc,qa\nboolq,qa\ngsm8k,maths\nmmlu,maths\n", encoding="utf-8")
    mapping = {"qa": ["arc", "boolq"], "maths": ["gsm8k", "mmlu"]}
    own = {"arc": "qa", "boolq": "qa", "gsm8k": "maths", "mmlu": "maths", "hellaswag": ""}
    texts = panel.labels["task"].texts
    column = Panel.from_arrays(
        panel.numerators,
        systems=panel.systems,
        labels={"task": texts, "group": [own[text] for text in texts]},
    )
    first = compare_suite(panel, groups=file)
    assert {row.group for row in first.groups} == {"qa", "maths"}
    assert first.groups == compare_suite(panel, groups=mapping).groups == compare_suite(column).groups
    assert len(first.tasks) == len(SIZES)
