"""The one rule of verdicts: p ≤ α exactly where the interval leaves out 0."""

import numpy as np
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


def test_no_test_rejects_nothing() -> None:
    low, high = agreeing([0.1], [0.3], np.nan, 0.05, 0.2)
    assert (low.tolist(), high.tolist()) == ([0.0], [0.3])


def test_joint_p_is_the_larger_and_undefined_stays_undefined() -> None:
    np.testing.assert_array_equal(joint_p([0.1, 0.2, np.nan], [0.3, 0.0, 0.5]), [0.3, 0.2, np.nan])
