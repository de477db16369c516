"""The verb: what it is given, what it refuses, and that nothing but the seed changes a number."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import assay
from assay import Calibration, Engine, InputError, Panel, UsageError, calibrate
from assay.analyses.calibrate.result import WHAT_IT_SHOWS
from tests.analyses.calibrate.samples import losses, scores

FAST: dict[str, Any] = {"method": "t", "test": "t", "simulations": 20}


def table(n: int = 30, *, seed: int = 0, rows: list[int] | None = None) -> dict[str, Any]:
    rng = np.random.default_rng(seed)
    values = rng.normal(size=n)
    order = list(range(n)) if rows is None else rows
    return {"item": [f"q{i:03}" for i in order], "score": [float(values[i]) for i in order]}


def test_same_seed_same_record_and_other_seed_other_numbers() -> None:
    first = calibrate(table(), table(seed=1), **FAST)
    assert calibrate(table(), table(seed=1), **FAST) == first
    widths = [one.worlds[0].methods[0].width for one in (first, calibrate(table(), table(seed=1), **FAST, seed=1))]
    assert widths[0] != widths[1]


def test_permuting_the_rows_changes_no_bit() -> None:
    order = np.random.default_rng(4).permutation(30).tolist()
    straight = calibrate(table(), table(seed=1), **FAST)
    assert calibrate(table(rows=order), table(seed=1, rows=order), **FAST) == straight


@pytest.mark.slow
@pytest.mark.parametrize("verb", ["compare", "rank"])
def test_workers_change_no_bit(verb: Any) -> None:
    panel = losses(40, clusters=12)
    here = calibrate(panel, verb=verb, simulations=45)
    assert calibrate(panel, verb=verb, simulations=45, engine=Engine(workers=2)) == here


def test_more_simulations_begin_with_the_same_ones() -> None:
    """Simulation i depends on the seed and i: the first 20 of 40 are the 20."""
    few, many = (calibrate(losses(), **(FAST | {"simulations": n})).worlds[0].methods[0] for n in (20, 40))
    assert few.covered.value is not None
    assert many.covered.value is not None
    assert round(20 * few.covered.value) <= round(40 * many.covered.value) <= round(20 * few.covered.value) + 20


def test_a_sample_without_a_discordant_item_is_not_declared_perfect() -> None:
    """The true difference is 0 by symmetry, but items that differ occur."""
    found = calibrate(scores(0, 0, 20), simulations=60)
    assert found.worlds[0].truth == 0
    assert found.worlds[0].equal == 1
    assert found.worlds[0].methods[0].width > 0


def test_a_record_and_its_json_are_the_same() -> None:
    for found in (calibrate(losses(), **FAST), calibrate(scenario="normal-30", verb="certify", simulations=20)):
        assert Calibration.from_dict(found.to_dict()) == found
        assert any(WHAT_IT_SHOWS in str(caution) for caution in found.cautions)
        assert found.sentence in str(found)


def test_the_level_is_that_of_the_design() -> None:
    found = calibrate(losses(), **FAST, level=0.5)
    assert found.level == 0.5
    assert found.worlds[0].methods[0].covered.value is not None
    assert found.worlds[0].methods[0].covered.value < 0.9
    assert "50% CI" in found.sentence


def test_summarize_takes_one_system_and_has_no_verdicts() -> None:
    found = calibrate(Panel.from_arrays(np.arange(12) % 3 > 0), verb="summarize", simulations=20)
    assert found.worlds[0].truth == pytest.approx((8 + 0.5) / 13)  # (right + ½)/(n + 1)
    assert found.worlds[0].methods[0].used == ("agresti-coull",)
    assert all(row.false_verdicts is None for row in found.worlds[0].methods)


@pytest.mark.parametrize(
    ("call", "error", "why"),
    [
        (lambda: calibrate(losses(), simulations=0), UsageError, "simulations must be from 20 to 1,000,000, but got 0"),
        (lambda: calibrate(losses(), simulations=50, quick=True), UsageError, "leave out `simulations`, or `quick`"),
        (lambda: calibrate(losses(), scenario="normal-30"), UsageError, "takes the place of results"),
        (lambda: calibrate(scenario="normal-18"), UsageError, r"no scenario is called 'normal-18'; did you mean"),
        (lambda: calibrate(verb="rank"), UsageError, "no built-in scenarios of rank"),
        (lambda: calibrate(losses(), verb="score"), UsageError, "verb must be one of compare, summarize"),  # type: ignore[arg-type]
        (lambda: calibrate(losses(), test="mcnemar"), UsageError, "mcnemar needs 0/1 scores"),
        (lambda: calibrate(losses(), levl=0.9), TypeError, "no argument 'levl'; did you mean 'level'"),  # type: ignore[call-arg]
        (lambda: calibrate(Panel.from_arrays(np.eye(3))), UsageError, "two systems, but got 3"),
        (lambda: calibrate(Panel.from_arrays(np.ones(5))), UsageError, "two systems, but got 1"),
        (lambda: calibrate(table(), table(seed=1), table(seed=2)), UsageError, "two sources for compare"),
        (lambda: calibrate(Panel.from_arrays([[1.0, 2.0]])), InputError, "at least two items"),
        (lambda: calibrate(Panel.from_arrays([[0.0, 0.5]] * 9)), InputError, "all 9 items have the same difference"),
        (lambda: calibrate([1.0, 2.0], [float("inf"), 3.0]), InputError, "inf|finite"),
        (lambda: calibrate({"item": ["a"], "score": [1]}, {"item": ["b"], "score": [1]}), InputError, "no item"),
        (
            lambda: calibrate(Panel.from_arrays(np.ones(5) / 3), verb="summarize"),
            InputError,
            "the same value everywhere",
        ),
        (lambda: calibrate(Panel.from_arrays(np.eye(3)), verb="summarize"), UsageError, "summarize one model, but got"),
        (lambda: calibrate(losses(), verb="certify", test="t"), UsageError, "leave out test"),
        (lambda: calibrate(table(), verb="survey"), UsageError, "the survey and predictions of it"),
    ],
)
def test_what_is_refused(call: Callable[[], object], error: type[Exception], why: str) -> None:
    with pytest.raises(error, match=why):
        call()


def test_missing_answers_leave_pairs_out() -> None:
    values = np.random.default_rng(1).normal(size=(30, 2))
    values[3, 0] = np.nan
    assert calibrate(Panel.from_arrays(values, holes=True).complete(), **FAST).worlds[0].n == 29
    assert calibrate(values[:, 0], values[:, 1], **FAST).worlds[0].n == 29


def test_the_front_door_has_the_verb() -> None:
    assert assay.calibrate is calibrate
