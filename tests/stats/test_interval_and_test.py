"""The one rule of verdicts: p ≤ α exactly where the interval leaves out 0."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.stats.interval_and_test import agreeing, joint_p

NUMBERS = st.floats(-1e6, 1e6, allow_subnormal=False)


@given(NUMBERS, NUMBERS, NUMBERS, st.floats(0, 1), st.sampled_from([0.1, 0.05, 0.01, 0.001]))
def test_zero_is_left_out_exactly_where_p_rejects(a: float, b: float, c: float, p: float, alpha: float) -> None:
    low, estimate, high = sorted((a, b, c))
    if abs(estimate) < 1e-300:
        estimate = 0.0
    (lowest,), (highest,) = (part.tolist() for part in agreeing([low], [high], p, alpha, estimate))
    assert (not lowest <= 0 <= highest) == (p <= alpha and estimate != 0)
    assert lowest <= estimate <= highest
    assert lowest in (low, 0.0) or (p <= alpha and lowest == 1e-9 * estimate)
    assert highest in (high, 0.0) or (p <= alpha and highest == 1e-9 * estimate)


def test_limits_by_hand() -> None:
    low, high = agreeing(
        [0.1, -0.4, 0.1, -0.1, -0.3],
        [0.3, -0.2, 0.3, 0.3, 0.1],
        [0.06, 0.06, 0.04, 0.04, 0.04],
        0.05,
        [0.2, -0.3, 0.2, 0.1, -0.1],
    )
    np.testing.assert_allclose(low, [0, -0.4, 0.1, 1e-10, -0.3])
    np.testing.assert_allclose(high, [0.3, 0, 0.3, 0.3, -1e-10])


def test_the_smallest_number_is_still_left_out() -> None:
    low, high = agreeing([0.0], [1e-322], 0.01, 0.05, 5e-324)
    assert (low.tolist(), high.tolist()) == ([5e-324], [1e-322])
    low, high = agreeing([-1e-322], [0.0], 0.01, 0.05, -5e-324)
    assert (low.tolist(), high.tolist()) == ([-1e-322], [-5e-324])


def test_no_test_rejects_nothing() -> None:
    low, high = agreeing([0.1], [0.3], np.nan, 0.05, 0.2)
    assert (low.tolist(), high.tolist()) == ([0.0], [0.3])


def test_joint_p_is_the_larger_and_undefined_stays_undefined() -> None:
    np.testing.assert_array_equal(joint_p([0.1, 0.2, np.nan], [0.3, 0.0, 0.5]), [0.3, 0.2, np.nan])


@pytest.mark.parametrize("sign", [1, -1])
def test_a_limit_on_0_is_moved_beside_it_and_one_beyond_stays(sign: int) -> None:
    """The limit that is nearer to 0: on it, beyond it, and the smallest number beside it; p = α rejects."""
    near, far, estimate = sign * np.array([0.0, 0.2, 5e-324]), sign * np.ones(3), sign * 0.5
    low, high = agreeing(np.minimum(near, far), np.maximum(near, far), 0.05, 0.05, estimate)
    moved, left = (low, high) if sign > 0 else (high, low)
    assert moved.tolist() == [sign * 0.5e-9, sign * 0.2, sign * 5e-324]
    assert left.tolist() == far.tolist()


def test_an_interval_beyond_0_on_the_other_side_of_the_estimate_stays_when_rejected() -> None:
    """Only the limit between 0 and the estimate may move."""
    low, high = agreeing([-0.3, 0.1], [-0.1, 0.3], 0.01, 0.05, [-0.2, 0.2])
    assert (low.tolist(), high.tolist()) == ([-0.3, 0.1], [-0.1, 0.3])


def test_an_interval_without_limits_stays_without() -> None:
    low, high = agreeing(np.nan, np.nan, [0.01, 0.5], 0.05, [0.2, -0.2])
    assert np.isnan([low, high]).all()


@pytest.mark.parametrize("place", range(2))
def test_whatever_kind_of_number_comes_in_a_float_comes_out(place: int) -> None:
    wide, plain = np.array([0.5], dtype=np.longdouble), np.array([0.25])
    assert (joint_p(wide, plain) if place else joint_p(plain, wide)).dtype == np.float64
    low, high = agreeing(wide, wide, wide, wide, wide)
    assert low.dtype == high.dtype == np.float64
    assert [part.tolist() for part in agreeing([-1], [3], [0], [1], [2])] == [[2e-9], [3.0]]  # integers
