"""Student's t for arrays, against scipy."""

from math import inf

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats as scipy_stats

from assay.stats.numerics import critical_values, t_cdf, t_tail, two_sided

DEGREES = st.floats(1, 1e7)


@given(st.floats(0, 200), DEGREES)
def test_tail_against_scipy(t: float, df: float) -> None:
    """Relative accuracy, however far out."""
    expected = float(scipy_stats.t.sf(t, df))
    if expected > 1e-290:
        assert float(t_tail(t, df)[0]) == pytest.approx(expected, rel=2e-12)


def test_far_tail_against_scipy() -> None:
    """Two values that were 2e-57 and 0."""
    assert t_cdf(-30, 104) == pytest.approx(float(scipy_stats.t.cdf(-30, 104)), rel=1e-11)
    assert t_cdf(-30, 104) == pytest.approx(2.5716e-53, rel=1e-4)
    assert t_cdf(-50, 104) == pytest.approx(float(scipy_stats.t.cdf(-50, 104)), rel=1e-11)
    assert t_cdf(-50, 104) == pytest.approx(7.4547e-75, rel=1e-4)


def test_infinitely_many_degrees_are_the_normal_distribution_against_scipy() -> None:
    z = np.array([0.0, 0.5, 1.0, 1.959963984540054, 5, 20, 37])
    np.testing.assert_allclose(t_tail(z, inf), scipy_stats.norm.sf(z), rtol=1e-12)


@given(st.sampled_from([0.5, 0.8, 0.9, 0.95, 0.99, 0.999, 1 - 4e-7]), DEGREES)
def test_critical_values_against_scipy(level: float, df: float) -> None:
    expected = float(scipy_stats.t.isf((1 - level) / 2, df))
    assert float(critical_values(level, df)[0]) == pytest.approx(expected, rel=1e-10)


def test_arrays_go_through_in_one_call() -> None:
    df = np.array([1.0, 2.0, 30.0, inf])
    np.testing.assert_allclose(critical_values(0.95, df), [12.7062047362, 4.3026527297, 2.0422724563, 1.9599639845])
    np.testing.assert_allclose(two_sided(critical_values(0.95, df), df), 0.05, rtol=1e-12)
    np.testing.assert_allclose(two_sided(-critical_values(0.95, df), df), 0.05, rtol=1e-12)


def test_no_p_is_zero() -> None:
    assert two_sided([1e6, 1e200], 1000.0).tolist() == [1e-300, 1e-300]


def test_many_rows_give_the_same_bits_as_one() -> None:
    """More rows than one block."""
    t, df = np.linspace(0, 30, 9000), np.linspace(1, 500, 9000)
    whole = t_tail(t, df)
    for row in (0, 4095, 4096, 8999):
        assert whole[row] == t_tail(t[row], df[row])[0]
