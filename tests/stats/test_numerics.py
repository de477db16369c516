"""The special functions of the default path, against scipy."""

from math import inf

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import special as scipy_special
from scipy import stats as scipy_stats

from assay.stats.numerics import legendre_rule, noncentrality, normal_cdf, normal_quantile, t_cdf, t_quantile

DEGREES_OF_FREEDOM = [1, 1.5, 2, 3, 4.7, 7, 11, 29, 179, 999.5, 99_999]
T_VALUES = [-30, -8.2, -2.5, -1, -1e-3, 0, 0.3, 1.96, 4, 12.7]
LEVELS = [0.0005, 0.005, 0.025, 0.1, 0.5, 0.8, 0.95, 0.975, 0.995, 0.9995]


@given(st.floats(-37, 37))
def test_normal_cdf_against_scipy(z: float) -> None:
    """Relative accuracy, in the far lower tail too: scipy's own differs from the true value by as much."""
    assert normal_cdf(z) == pytest.approx(float(scipy_stats.norm.cdf(z)), rel=2e-13)


@given(st.floats(1e-300, 1 - 1e-16))
def test_normal_quantile_against_scipy(p: float) -> None:
    assert normal_quantile(p) == pytest.approx(float(scipy_stats.norm.ppf(p)), rel=1e-12, abs=1e-12)


def test_normal_quantile_is_infinite_where_scipy_says_so() -> None:
    assert normal_quantile(0) == scipy_stats.norm.ppf(0) == -inf
    assert normal_quantile(1) == scipy_stats.norm.ppf(1) == inf


@pytest.mark.parametrize("n", [2, 3, 20, 96, 97, 200])
def test_legendre_rule_against_scipy(n: int) -> None:
    nodes, weights = legendre_rule(n)
    expected = scipy_special.roots_legendre(n)
    np.testing.assert_allclose(nodes, expected[0], rtol=0, atol=2e-15)
    np.testing.assert_allclose(weights, expected[1], rtol=0, atol=1e-14)


@pytest.mark.parametrize("df", DEGREES_OF_FREEDOM)
def test_t_cdf_against_scipy(df: float) -> None:
    ours = [t_cdf(t, df) for t in T_VALUES]
    np.testing.assert_allclose(ours, scipy_stats.t.cdf(T_VALUES, df), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("df", DEGREES_OF_FREEDOM)
def test_t_quantile_against_scipy(df: float) -> None:
    """At 1 degree of freedom 0.9995 is 637 standard deviations away: relative accuracy is what counts."""
    ours = [t_quantile(p, df) for p in LEVELS]
    np.testing.assert_allclose(ours, scipy_stats.t.ppf(LEVELS, df), rtol=1e-8, atol=1e-10)


@given(st.floats(1, 1e6), st.floats(0.001, 0.999))
def test_t_quantile_against_scipy_at_any_degrees_of_freedom(df: float, p: float) -> None:
    assert t_quantile(p, df) == pytest.approx(float(scipy_stats.t.ppf(p, df)), rel=1e-8, abs=1e-9)


@pytest.mark.parametrize("p", LEVELS)
def test_t_quantile_with_infinite_degrees_of_freedom_is_the_normal_one(p: float) -> None:
    assert t_quantile(p, inf) == pytest.approx(float(scipy_stats.norm.ppf(p)), abs=1e-12)


@pytest.mark.parametrize("shift", [-6.0, -1.3, 0.4, 2.0, 9.0, 60.0])
@pytest.mark.parametrize("df", [1, 4, 29, 179, 5000])
def test_noncentral_t_cdf_against_scipy(df: float, shift: float) -> None:
    """Small and large t. Where scipy has no answer (far tails) there is nothing to compare."""
    t = np.array([-150.0, -12.0, -3.0, -0.5, 0.8, 2.5, 7.0, 14.0, 58.0, 90.0, 700.0])
    theirs = scipy_special.nctdtr(df, shift, t)
    known = np.isfinite(theirs)
    assert known.sum() > 5
    ours = np.array([t_cdf(value, df, shift) for value in t.tolist()])
    np.testing.assert_allclose(ours[known], theirs[known], atol=1e-9)


@pytest.mark.parametrize("p", [0.025, 0.05, 0.5, 0.95, 0.975])
@pytest.mark.parametrize("t", [-120.0, -4.2, -0.1, 0.0, 1.7, 11.0, 300.0])
@pytest.mark.parametrize("df", [2, 9, 179])
def test_noncentrality_is_undone_by_scipys_noncentral_t(df: float, t: float, p: float) -> None:
    """The round trip: scipy's own inverse, nctdtrinc, is good to 1e-6 only."""
    assert float(scipy_special.nctdtr(df, noncentrality(p, t, df), t)) == pytest.approx(p, abs=1e-9)


def test_t_far_from_its_noncentrality_is_certain() -> None:
    """The rise of Φ(t·s − δ) lies outside all of χ's mass."""
    assert t_cdf(500.0, 179, 5000.0) == pytest.approx(0, abs=1e-15)
    assert t_cdf(-500.0, 179, 0.0) == pytest.approx(float(scipy_stats.t.cdf(-500.0, 179)), rel=1e-10)
    assert t_cdf(-500.0, 179, -5000.0) == pytest.approx(1, abs=1e-12)
    assert t_cdf(500.0, 179, 0.0) == 1
