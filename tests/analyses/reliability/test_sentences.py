"""What is said of repeated runs."""

from math import sqrt

import numpy as np
import pytest

from assay import examples
from assay.analyses.reliability import reliability, reliability_of
from assay.data import Panel, read_table
from assay.stats.planning.plans import Goal
from tests.analyses.reliability.repeated import by_hand, columns, simulated


def test_the_sentence_of_two_models() -> None:
    values = np.zeros((2, 4, 3))
    values[0, :, :] = [[1, 1, 1], [1, 1, 0], [1, 0, 1], [0, 0, 0]]
    values[1, :, :] = [[1, 0, 0], [0, 0, 1], [0, 0, 0], [0, 0, 0]]
    runs, items, few, many = by_hand(values)
    assert runs == pytest.approx(1 / 48)  # scores ¾, ½, ½ and ¼, 0, ¼
    pooled = sqrt((few * runs + many * items) / (few + many))
    assert reliability(columns(values, "AB")).sentence == (
        f"Run-to-run noise moves a score by ±{pooled:.2g} (one standard deviation, 3 runs of 4 items); "
        "the order of A and B repeats in 100% of pairs of runs."
    )


def test_the_sentence_of_the_shipped_runs_names_the_least_stable_pair() -> None:
    found = reliability(examples.path("runs-sampled.csv"))
    assert "the order of base and int3, the least stable, repeats in 60% of pairs of runs" in found.sentence
    assert found.sentence.endswith("that of all 3 models in 45%.")


@pytest.mark.parametrize("swapped", [False, True])
def test_two_runs_do_not_say_how_often_an_order_repeats(swapped: bool) -> None:
    """One pair of runs agrees or it does not: 0 or 100% would be no estimate of a probability that is at least ½."""
    values = np.zeros((2, 4, 2))
    values[0, :3, 0] = values[1, 0, :] = 1
    values[0, : 0 if swapped else 2, 1] = 1
    found = reliability(columns(values, "AB"))
    assert found.across is not None
    repeats = found.across.pairs[0].repeats
    assert (repeats.value, repeats.interval, repeats.n) == (None, None, 2)
    assert "at least three are needed" in str(repeats.reason)
    said = "not the same in both" if swapped else "the same in both"
    assert f"two runs cannot tell how often the order repeats: it is {said}." in found.sentence
    assert f"it is {said}" in str(found)
    assert "0%" not in str(found).partition("order repeats?")[2].partition("detectable")[0]


def test_two_runs_with_a_tie() -> None:
    values = np.zeros((2, 4, 2))
    values[0, :2, :] = values[1, :2, 0] = values[1, 0, 1] = 1
    assert "models tie in one of them" in reliability(columns(values, "AB")).sentence


@pytest.mark.parametrize("runs", range(3, 9))
def test_the_estimate_of_repetition_is_within_its_interval(runs: int) -> None:
    """The oracle is p² + (1 − p)² ≥ ½ for every p."""
    for ahead in range(runs + 1):
        values = np.random.default_rng(runs).uniform(0, 0.1, (2, 2, runs))
        values[0, :, :ahead] += 1
        values[1, :, ahead:] += 1
        found = reliability(columns(values, "AB"))
        assert found.across is not None
        repeats = found.across.pairs[0].repeats
        assert repeats.value is not None
        assert repeats.interval is not None
        assert 0.5 <= repeats.interval.low <= repeats.value <= repeats.interval.high


def test_one_model_is_told_what_its_runs_can_show() -> None:
    found = reliability(columns(simulated(1)))
    assert found.across is None
    assert found.sentence.startswith("Run-to-run noise moves the score of A by ±")
    assert "two single runs show a difference of " in found.sentence


def test_runs_that_are_all_equal_are_no_noise() -> None:
    values = np.repeat(simulated(1, 5, 1), 4, axis=2)
    found = reliability(columns(values))
    assert found.sentence == "No run-to-run noise: A has the same answers in every run (4 runs of 5 items)."
    assert (found.run_sd.value, found.detectable.one_run) == (0, None)
    assert "they show no noise" in str(found.detectable.reason)
    assert found.models[0].item_sd.interval is None
    assert "detectable" in str(found)
    constant = reliability(columns(np.ones((2, 5, 3)), "AB"))
    assert constant.across is not None
    assert constant.across.pairs[0].detectable is None
    assert constant.models[0].icc["ICC(1,1)"].reason == "all scores are equal"


def test_scores_that_are_equal_although_answers_are_not() -> None:
    """Equal scores of runs whose answers differ are chance: one residual of ½ in four cells, 2 degrees of freedom."""
    found = reliability(columns(np.array([[[1.0, 0.0], [0.0, 1.0]]])))
    assert found.sentence.startswith(
        "Run-to-run noise moves the score of A by ±0.5 (one standard deviation, 2 runs of 2"
    )
    assert any("are equal by chance" in note for note in found.notes)


def test_different_numbers_of_runs_are_said() -> None:
    rows = columns(simulated(2, 6, 4), "AB")
    kept = [i for i in range(len(rows["item"])) if not (rows["model"][i] == "B" and rows["run"][i] == 4)]
    found = reliability({name: [column[i] for i in kept] for name, column in rows.items()})
    assert "3 to 4 runs of 6 items" in found.sentence
    assert found.across is not None
    assert found.across.n_runs == 3


def test_few_runs_and_runs_that_differ_are_noted() -> None:
    values = simulated(1, 50, 3)
    values += np.array([0.0, 1.0, 2.0])
    found = reliability(columns(values))
    assert any("2 degrees of freedom" in note for note in found.notes)
    assert any("differ by more than the noise of single items explains (F test, p = " in note for note in found.notes)


def test_losses_are_called_losses() -> None:
    rows = {"window": ["a", "b", "c"], "tokens": [1, 2, 3]}
    tables = [read_table(rows | {"loss": [1.0, 2.0, last]}, name=f"run {last}") for last in (3.0, 3.5)]
    result = reliability(*tables, files_are_runs=True)
    assert result.sentence.startswith("Run-to-run noise moves the loss of the model by ±0.")
    assert any("an overall loss is weighted by tokens" in note for note in result.notes)


def test_many_models_are_compared_with_their_neighbours() -> None:
    values = np.random.default_rng(1).normal(size=(3, 52 * 2))
    panel = Panel.from_arrays(values, models=[f"m{i}" for i in range(52) for _ in range(2)])
    found = reliability_of(panel, Goal())
    assert found.across is not None
    assert len(found.across.pairs) == 51
