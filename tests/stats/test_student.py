"""One quantile of Student's t at a time, against scipy."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats as scipy_stats

from assay.stats import student
from assay.stats.student import t_beyond, t_reach


@given(st.sampled_from([0.3, 0.1, 0.05, 0.025, 0.005, 1e-4, 1e-9, 1e-20, 1e-100]), st.floats(1, 1e7))
def test_quantiles_against_scipy(tail: float, df: float) -> None:
    """A series, its continuation, and what is nearer to 0 than the fraction converges."""
    assert t_beyond(tail, df) == pytest.approx(float(scipy_stats.t.isf(tail, df)), rel=2e-10)


@pytest.mark.parametrize("df", [1.0, 2.5, 3.0, 4.0, 5.0, 7.0, 10.0, 22.5, 60.0])
def test_where_a_term_of_the_series_is_zero_by_chance_against_scipy(df: float) -> None:
    for tail in (0.05, 0.025, 0.005, 1e-4):
        assert t_beyond(tail, df) == pytest.approx(float(scipy_stats.t.isf(tail, df)), rel=2e-10)


@pytest.mark.parametrize("df", [1.0, 5.0, 60.0, 199.0, 201.0, 5_000.0])
@pytest.mark.parametrize("t", [1.75, 3.0, 30.0])
def test_tail_and_density_against_scipy(t: float, df: float) -> None:
    tail, rise = student._tail(t, df)
    assert tail == pytest.approx(float(scipy_stats.t.sf(t, df)), rel=1e-11)
    assert rise == pytest.approx(t * float(scipy_stats.t.pdf(t, df)), rel=1e-11)


def test_a_level_is_two_tails() -> None:
    assert t_reach(0.95, 9.0) == t_beyond((1 - 0.95) / 2, 9.0)
