"""Columns of a panel as runs of models, by hand."""

import numpy as np
import pytest

from assay.analyses.reliability import RunColumns, computable, repeated
from assay.data import Panel
from assay.errors import InputError, UsageError

VALUES = np.arange(24.0).reshape(4, 6)


def runs(*models: str) -> RunColumns:
    return RunColumns(Panel.from_arrays(VALUES[:, : len(models)], models=list(models)))


def test_the_columns_of_a_model_are_its_runs_wherever_they_stand() -> None:
    found = runs("A", "B", "A", "B", "A")
    assert [(one.model, len(one.names)) for one in found.panel.models] == [("A", 3), ("B", 2)]
    assert found.columns(0).tolist() == [0, 2, 4]
    assert found.values(1).tolist() == VALUES[:, [1, 3]].tolist()
    assert found.values_of(np.array([4, 0])).tolist() == VALUES[:, [4, 0]].tolist()
    assert found.scores[found.columns(0)] == pytest.approx(VALUES[:, [0, 2, 4]].mean(axis=0))


def test_overall_scores_are_weighted_and_values_are_not() -> None:
    weights = np.array([1.0, 2.0, 3.0, 4.0])
    found = RunColumns(Panel.from_arrays(VALUES[:, :2], weights=weights, models=["A", "A"]))
    assert found.scores[[0, 1]] == pytest.approx(np.average(VALUES[:, :2], axis=0, weights=weights))
    assert found.values(0) == pytest.approx(VALUES[:, :2])


def test_models_are_crossed_in_the_runs_that_all_have() -> None:
    found = runs("A", "A", "A", "B", "B")
    systems, note = found.crossed()
    assert found.shared_runs
    assert systems.tolist() == [[0, 1], [3, 4]]
    assert note is not None
    assert note.startswith("models are compared in the 2 runs that all of them have (")
    systems, note = runs("A", "A", "B", "B").crossed()
    assert (systems.tolist(), note) == ([[0, 1], [2, 3]], None)


def test_only_repeated_models_of_a_panel_are_taken() -> None:
    with pytest.raises(UsageError, match="which of its columns are runs of one model"):
        repeated(Panel.from_arrays(VALUES))
    with pytest.raises(InputError, match="model 'B' has one run"):
        repeated(Panel.from_arrays(VALUES[:, :3], models=["A", "A", "B"]))
    holes = VALUES[:, :2].copy()
    holes[1, 0] = np.nan
    assert repeated(Panel.from_arrays(holes, models=["A", "A"], holes=True)).n == 3


def test_answers_that_differ_by_rounding_are_equal_and_counted() -> None:
    values = np.full((5, 2), 0.3)
    values[2, 1] = 0.1 * 3
    found = computable(Panel.from_arrays(values, models=["A", "A"]))
    assert np.ptp(found.numerators[2]) == 0
    assert any(note.startswith("1 difference is rounding") for note in found.notes)
    untouched = Panel.from_arrays(VALUES[:, :2], models=["A", "A"])
    assert computable(untouched) is untouched


def test_what_has_no_variance_to_compute_is_refused() -> None:
    with pytest.raises(InputError, match="only one item is in every run"):
        computable(Panel.from_arrays(VALUES[:1, :2], models=["A", "A"]))
    with pytest.raises(InputError, match="the scores of 'A'"):
        computable(Panel.from_arrays(VALUES[:, :2] * 1e200, models=["A", "A"]))
