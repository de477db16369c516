"""What is shown of a suite: sentence, facts, table, forest and text say what the record says."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay import Design, InputError, Panel, UsageError, compare_suite
from assay.analyses.suite.comparing import suite_of_panel
from assay.analyses.suite.result import SuiteComparison
from assay.data.tables import Labels
from assay.results.figures import Forest
from tests.analyses.suite.test_suite import SIZES, panel_of


@pytest.fixture(scope="module")
def found() -> SuiteComparison:
    return suite_of_panel(panel_of(), Design())


def table(panel: Panel, system: int) -> dict[str, list[object]]:
    """What a file of one system would hold."""
    return {
        "item": panel.ids.tolist(),
        "task": panel.labels["task"].texts.tolist(),
        "score": panel.values[:, system].tolist(),
    }


def test_the_forest_has_the_rows_and_the_total(found: SuiteComparison) -> None:
    (forest,) = found.sections[0].figures
    assert isinstance(forest, Forest)
    *rows, total = forest.lines
    for line, row in zip(rows, found.tasks, strict=True):
        assert (line.label, line.value) == (row.task, row.difference.value)
        assert row.difference.interval is not None
        assert (line.low, line.high) == (row.difference.interval.low, row.difference.interval.high)
    limits = found.total.difference.interval
    assert limits is not None
    assert (total.label, total.value, total.low, total.high) == (
        "mean of the tasks",
        found.total.difference.value,
        limits.low,
        limits.high,
    )


def test_the_gauge_and_the_facts_are_the_total(found: SuiteComparison) -> None:
    facts = {fact.label: fact.value for fact in found.facts}
    assert facts["difference B − A"] == found.total.difference
    assert facts["tasks like these"] == found.total.like_these
    assert facts["tasks differ"] == found.between.test.p_value
    assert facts["on"] == found.n == sum(SIZES.values())
    assert found.gauge is not None
    assert found.gauge.value == found.total.difference.value
    assert [mark.place for mark in found.gauge.marks] == [0.0]
    within = suite_of_panel(panel_of(), Design(margin=0.02)).gauge
    assert within is not None
    assert [mark.place for mark in within.marks] == [0.0, -0.02, 0.02]


def test_the_text_names_every_task_and_begins_with_the_sentence(found: SuiteComparison) -> None:
    text = found.to_text(verbose=True)
    assert text.startswith(found.sentence[:60])
    assert all(f"\n{name}" in text for name in SIZES)
    assert found.signature in text
    assert found.subject == "base → tuned"


def test_the_frame_has_numbers_and_weights_that_add_up_to_one(found: SuiteComparison) -> None:
    frame = found.to_frame()
    assert frame["n"].tolist() == list(SIZES.values())
    assert frame["weight"].sum() == pytest.approx(1)
    assert (frame["weight"] * (frame["b"] - frame["a"])).sum() == pytest.approx(found.total.difference.value)
    assert frame["p_adjusted"].tolist() == [row.p_value for row in found.tasks]


def test_shrunken_points_are_drawn_towards_one_point(found: SuiteComparison) -> None:
    """What rises towards it stays below what falls towards it."""
    rising: list[float] = []
    falling: list[float] = []
    for row in found.tasks:
        assert row.shrunken is not None
        (rising if row.shrunken > (row.difference.value or 0.0) else falling).append(row.shrunken)
    assert max(rising) <= min(falling)


def test_tables_of_two_files_are_the_panel(tmp_path: Path, found: SuiteComparison) -> None:
    panel = panel_of()
    assert compare_suite(table(panel, 0), table(panel, 1), names=("base", "tuned")).tasks == found.tasks
    file = tmp_path / "weights.csv"
    file.write_text("task,weight\n" + "".join(f"{name},{i}\n" for i, name in enumerate(SIZES)), encoding="utf-8")
    told = compare_suite(table(panel, 0), table(panel, 1), total=file)
    assert told.total.weights == "given"
    assert [row.weight for row in told.tasks] == pytest.approx([i / 10 for i in range(5)])


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("task,share\narc,1\n", "no column 'weight'"),
        ("task,weight\narc,1\narc,2\n", "line 3: the task 'arc' is there twice"),
        ("task,weight\narc,-1\n", "line 2: a weight must be a number, 0 or more"),
    ],
)
def test_weights_that_cannot_be_read_are_refused(tmp_path: Path, text: str, said: str) -> None:
    file = tmp_path / "weights.csv"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=said):
        compare_suite(table(panel_of(), 0), table(panel_of(), 1), total=file)


def test_what_is_adjusted_with_less_is_never_larger(found: SuiteComparison) -> None:
    """Benjamini and Hochberg's p is at most Holm's, and no adjusted p is below that of the task alone."""
    holm, bh = (suite_of_panel(panel_of(), Design(), adjust=how) for how in ("holm", "bh"))
    for one, other, row in zip(holm.tasks, bh.tasks, found.tasks, strict=True):
        assert one.p_alone == other.p_alone == row.p_alone
        assert one.p_alone <= other.p_value <= one.p_value <= 1
        assert row.p_alone <= row.p_value <= 1
    assert holm.total == bh.total == found.total


@given(st.permutations(list(SIZES)))
def test_the_order_of_tasks_changes_no_number(order: list[str]) -> None:
    """Tasks are called otherwise, so that they come in another order."""
    panel, names = panel_of(), dict(zip(SIZES, order, strict=True))
    codes = panel.labels["task"]
    turned = Labels(tuple(sorted(order)), np.array([sorted(order).index(names[text]) for text in codes.texts]))
    found, other = (suite_of_panel(one, Design()) for one in (panel, replace(panel, labels={"task": turned})))
    rows = {row.task: row for row in other.tasks}
    for row in found.tasks:
        again = rows[names[row.task]]
        assert again.p_value == pytest.approx(row.p_value, rel=1e-9)
        assert again.difference.interval is not None
        assert row.difference.interval is not None
        assert again.difference.interval.low == pytest.approx(row.difference.interval.low, abs=1e-9)
    assert other.total.test.p_value == pytest.approx(found.total.test.p_value, rel=1e-6)


def test_a_panel_of_three_systems_is_not_two() -> None:
    three = Panel.from_arrays(np.eye(3).repeat(4, axis=0), systems=["a", "b", "c"], labels={"task": list("xy") * 6})
    with pytest.raises((InputError, UsageError), match="two"):
        compare_suite(three)
