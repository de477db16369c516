"""Runs from tables: which scores stand where, and what is refused. The oracle is the table itself."""

from pathlib import Path

import numpy as np
import pytest

from assay.analyses.reliability import RunColumns
from assay.data import Panel, Table, read_table
from assay.data.panel_views import NOTHING
from assay.data.units_and_runs import check_repeated, left_out, runs_of
from assay.errors import InputError


def repeats_of(tables: list[Table], *, files_are_runs: bool = False) -> RunColumns:
    runs = runs_of(tables, files_are_runs=files_are_runs)
    check_repeated(runs)
    return RunColumns(Panel.from_runs(runs, missing="complete"))


def table(rows: list[tuple[str, str, str, float]], name: str = "t", **more: list[float]) -> Table:
    """Rows of model, run, item, score."""
    columns = dict(zip(("model", "run", "item", "score"), map(list, zip(*rows, strict=True)), strict=True))
    return read_table({**columns, **more}, name=name)


ROWS = [
    ("B", "2", "q2", 0.4),
    ("A", "10", "q1", 0.5),
    ("A", "2", "q2", 0.2),
    ("A", "10", "q2", 0.6),
    ("B", "10", "q1", 0.7),
    ("A", "2", "q1", 0.1),
    ("B", "2", "q1", 0.3),
    ("B", "10", "q2", 0.8),
]


def test_scores_stand_by_item_and_run() -> None:
    found = repeats_of([table(ROWS)])
    assert [one.model for one in found.panel.models] == ["A", "B"]
    assert [one.names for one in found.panel.models] == [
        ("2", "10"),
        ("2", "10"),
    ]  # in the order of numbers, not of texts
    assert found.panel.ids.tolist() == ["q1", "q2"]
    np.testing.assert_array_equal(found.values(0), [[0.1, 0.5], [0.2, 0.6]])
    np.testing.assert_array_equal(found.values(1), [[0.3, 0.7], [0.4, 0.8]])
    assert found.scores[found.columns(1)].tolist() == pytest.approx([0.35, 0.75])
    systems, note = found.crossed()
    assert (systems.tolist(), note) == ([[0, 1], [2, 3]], None)
    assert found.shared_runs


def test_the_order_of_rows_changes_nothing() -> None:
    first, second = repeats_of([table(ROWS)]), repeats_of([table(ROWS[::-1])])
    assert first.panel.digest == second.panel.digest


def test_overall_scores_are_weighted() -> None:
    rows = [
        ("A", run, item, score)
        for run, item, score in (("1", "a", 1.0), ("1", "b", 0.0), ("2", "a", 0.0), ("2", "b", 1.0))
    ]
    found = repeats_of([table(rows, weight=[3, 1, 3, 1])])
    assert found.scores[:2].tolist() == [0.75, 0.25]


def test_items_that_a_run_lacks_are_left_out_and_counted() -> None:
    runs = runs_of([table([*ROWS[:-1], ("A", "2", "q3", 1.0), ("A", "10", "q3", 1.0)])])
    panel = Panel.from_runs(runs, missing="complete")
    assert panel.ids.tolist() == ["q1"]
    assert left_out(runs, panel.dropped, panel.unit) == (
        "2 items are left out that not every run has, such as q2, q3; run '10' of B has the fewest, 1",
    )
    assert left_out(runs, NOTHING, "item") == ()


def test_runs_that_only_some_models_have_are_not_compared() -> None:
    rows = [*ROWS, ("A", "7", "q1", 0.0), ("A", "7", "q2", 0.0)]
    systems, note = repeats_of([table(rows)]).crossed()
    assert systems.tolist() == [[0, 2], [3, 4]]
    assert note == "models are compared in the 2 runs that all of them have (2, 10)"


def test_runs_of_other_names_are_paired_in_their_order() -> None:
    renamed = [(model, run + model, item, score) for model, run, item, score in ROWS]
    found = repeats_of([table([*renamed, ("B", "z", "q1", 0.0), ("B", "z", "q2", 0.0)])])
    systems, note = found.crossed()
    assert systems.tolist() == [[0, 1], [2, 3]]
    assert "paired in their order, 2 of each" in str(note)
    assert not found.shared_runs


def test_files_are_runs(tmp_path: Path) -> None:
    for folder in ("one", "two"):
        (tmp_path / folder).mkdir()
        for name in ("a", "b"):
            (tmp_path / folder / f"{name}.csv").write_text("item,score\nq1,1\nq2,0\n")
    same = [read_table(tmp_path / "one" / name) for name in ("a.csv", "b.csv")]
    (named,) = repeats_of(same, files_are_runs=True).panel.models
    assert (named.model, named.names) == ("the model", ("a", "b"))
    other = [read_table(tmp_path / folder / "a.csv") for folder in ("one", "two")]
    labels = repeats_of(other, files_are_runs=True).panel.models[0].names
    assert [label.endswith("a.csv") for label in labels] == [True, True]
    runs = [table(ROWS, name="x"), table(ROWS, name="y")]
    assert repeats_of(runs, files_are_runs=True).panel.models[0].names == ("x/10", "x/2", "y/10", "y/2")


def test_losses_of_several_files_are_runs_of_windows() -> None:
    losses = {"window": ["w1", "w2", "w1"], "split": ["preview", "preview", "final"], "tokens": [10, 20, 30]}
    tables = [read_table({**losses, "loss": [1.0, 2.0, shift]}, name=f"r{shift}") for shift in (3.0, 4.0)]
    found = repeats_of(tables, files_are_runs=True)
    assert found.panel.ids.tolist() == ["final/w1", "preview/w1", "preview/w2"]
    assert found.scores[:2].tolist() == pytest.approx([140 / 60, 170 / 60])


@pytest.mark.parametrize(
    ("tables", "message"),
    [
        ([table(ROWS[:1])], r"t \(run '2'\): model 't' has one run.*column 'run'.*`files_are_runs=True`"),
        ([table(ROWS), table(ROWS, name="u")], r"u: run '10' of model 'A' is in t .* as well"),
        (
            [read_table({"item": ["a"], "score": [1]}, name="t"), read_table({"item": ["a"], "score": [0]}, name="t")],
            r"a run of model 't', without a column 'run' that names it,",
        ),
        (
            [table([("A", "1", "q1", 1.0), ("A", "2", "q2", 1.0)])],
            r"run '2' of model 't' has no item that all runs before it have \(it has 'q2', they have 'q1'\)",
        ),
    ],
)
def test_what_has_no_runs_is_refused(tables: list[Table], message: str) -> None:
    with pytest.raises(InputError, match=message):
        repeats_of(tables)
