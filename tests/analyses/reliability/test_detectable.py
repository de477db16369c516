"""Detectable differences stay on the scale: scores from 0 to 1 cannot differ by more than 1."""

from math import sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from assay.analyses.reliability import reliability
from assay.analyses.reliability.result import Reliability
from assay.stats.detectable_shifts import detectable_shift

#: Two runs of four items that agree in nothing: a noise of half the scale.
NOISY = [[1, 0], [1, 0], [1, 0], [0, 0]]


def facts(found: Reliability) -> dict[str, str]:
    return {fact.label: fact.text for fact in found.facts}


def test_nothing_on_the_scale_can_be_detected_and_it_is_said() -> None:
    found = reliability(NOISY)
    sd = found.run_sd.value
    assert sd is not None
    needed = sqrt(2) * sd * detectable_shift(round(found.run_sd_df, 6), 0.95, 0.8)
    assert needed / sqrt(2) > 1  # by hand: not even the means of both runs
    assert (found.detectable.one_run, found.detectable.all_runs) == (None, None)
    assert found.detectable.reason == "so much noise hides every difference that scores from 0 to 1 can have"
    assert facts(found)["detectable"] == f"undefined: {found.detectable.reason}"
    assert found.sentence.endswith("; so much noise hides every difference that scores from 0 to 1 can have.")


def test_the_same_noise_on_an_open_scale_has_its_number_by_hand() -> None:
    found = reliability(np.array(NOISY) * 10.0)
    assert found.run_sd.value is not None
    needed = sqrt(2) * found.run_sd.value * detectable_shift(round(found.run_sd_df, 6), 0.95, 0.8)
    assert found.detectable.one_run == pytest.approx(needed)
    assert needed > 10
    assert found.detectable.reason is None


def test_means_of_several_runs_may_show_what_single_ones_cannot() -> None:
    runs = np.zeros((6, 16))
    runs[:, ::2] = 1  # all items right in every other run
    runs[0] = 1
    found = reliability(runs)
    assert found.detectable.one_run is None
    assert found.detectable.all_runs is not None
    assert found.detectable.all_runs <= 1
    assert facts(found)["detectable, 1 run"] == "none from 0 to 1 by single runs, 80% power"
    assert "by means of 16 runs" in facts(found)["detectable, 16 runs"]
    assert "no difference from 0 to 1 shows in two single runs with 80% power" in found.sentence


def test_two_models_that_flip_have_no_detectable_difference_on_new_items() -> None:
    found = reliability([[1, 0], [0, 1], [1, 1]], [[0, 1], [1, 0], [0, 0]], names=("a", "b"))
    assert found.across is not None
    (pair,) = found.across.pairs
    assert pair.error is not None
    assert pair.detectable is None
    [table] = [table for table in found.sections[0].tables if table.key == "pairs"]
    assert table.rows[0][-1] == "none from 0 to 1"


@given(st.integers(2, 8), st.integers(2, 5), st.data())
def test_no_detectable_difference_of_shares_is_above_1(n: int, runs: int, data: st.DataObject) -> None:
    values = data.draw(arrays(np.float64, (2, n, runs), elements=st.sampled_from([0.0, 0.25, 0.5, 1.0])))
    found = reliability(values[0], values[1], names=("a", "b"))
    detectable = found.detectable
    assert found.across is not None
    every = [detectable.one_run, detectable.all_runs, *(pair.detectable for pair in found.across.pairs)]
    every += [limits.high for limits in (detectable.one_run_limits, detectable.all_runs_limits) if limits is not None]
    assert all(value is None or 0 < value <= 1 for value in every)
