"""What is rounding is no difference, and nothing else is touched."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.stats.rounding import TOLERANCE, snapped, without_residue


@pytest.mark.parametrize("size", [1e-300, 1e-9, 0.3, 2.7, 1e15, 1e300])
def test_values_an_ulp_apart_are_made_equal(size: float) -> None:
    values = np.array([[size, np.nextafter(size, np.inf)], [np.nextafter(size, 0), size]])
    found, changed = snapped(values)
    assert changed == 2
    assert (found[:, 0] == found[:, 1]).all()


def test_scores_of_1e15_cannot_show_a_difference_of_1() -> None:
    found, changed = snapped(1e15 + np.array([[0.0, 1.0], [1.0, 0.0], [1.0, 1.0]]))
    assert changed == 2
    assert (np.ptp(found, axis=1) == 0).all()


@given(st.lists(st.tuples(st.floats(-1e6, 1e6), st.floats(-1e6, 1e6)), min_size=1, max_size=20))
def test_two_systems_by_hand(rows: list[tuple[float, float]]) -> None:
    values = np.array(rows)
    found, changed = snapped(values)
    close = [a != b and abs(a - b) <= TOLERANCE * max(abs(a), abs(b)) for a, b in rows]
    assert changed == sum(close)
    for (a, b), row, near in zip(rows, found.tolist(), close, strict=True):
        assert row == ([min(a, b)] * 2 if near else [a, b])


def test_three_systems_in_any_order_and_a_hole() -> None:
    a, b = 0.1 + 0.2, 0.3
    values = np.array([[a, 5.0, b, np.nan], [np.nan, a, b, 5.0]])
    found, changed = snapped(values)
    assert changed == 2
    np.testing.assert_array_equal(found, [[b, 5.0, b, np.nan], [np.nan, b, b, 5.0]])


def test_equal_values_above_the_least_follow_it() -> None:
    """0.3 in one run and 0.1 + 0.2 in three: the second and the third of them stayed as they were."""
    values = np.array([[0.1 + 0.2, 0.3, 0.1 + 0.2, 0.1 + 0.2], [1.0, 2.0, 2.0, 1.0]])
    found, changed = snapped(values)
    assert changed == 3
    np.testing.assert_array_equal(found, [[0.3] * 4, [1.0, 2.0, 2.0, 1.0]])


@pytest.mark.parametrize("values", [np.zeros((3, 2)), np.array([[0.0, 1.0], [1.0, 0.0]]), np.array([[1.0], [2.0]])])
def test_what_is_far_apart_is_given_back(values: np.ndarray) -> None:
    found, changed = snapped(values)
    assert found is values
    assert changed == 0


def test_a_sum_that_cancels_is_zero() -> None:
    terms = np.array([0.1, 0.2, -0.3])
    assert terms.sum() != 0
    np.testing.assert_array_equal(without_residue(np.array([terms.sum(), 1e-9]), np.array([0.6, 1.0])), [0.0, 1e-9])
