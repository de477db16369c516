"""What follows from the units in closed form: against worked examples, derivatives, leave-one-out, other packages."""

from math import exp, sqrt

import numpy as np
import pytest
import statsmodels.api as sm
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import stats as scipy_stats

from assay.stats.units import (
    Units,
    design_effect,
    deviations,
    influence,
    joined,
    mean_of_draws,
    shape,
    standard_error,
    weighted_deviation,
    weighted_mean,
)
from tests.strategies import lengths, sample, units, values

# ------------------------------------------------------------------------------------------------------ worked examples


def test_the_two_window_example() -> None:
    """512 and 256 tokens, perplexities 40 → 38 and 220 → 260: 1.0217, where a ratio of means says 1.12 (P2)."""
    tokens = np.array([512.0, 256.0])
    before, after = np.array([40.0, 220.0]), np.array([38.0, 260.0])
    found = Units(tokens * np.log(after / before), tokens)
    assert exp(found.estimate) == pytest.approx(1.0217, abs=5e-5)
    assert (tokens * after).sum() / (tokens * before).sum() == pytest.approx(1.12)


def test_three_probabilities_have_perplexity_five() -> None:
    """0.2, 0.1 and 0.4: exp of the mean negative logarithm is 5 (L1)."""
    loss = -np.log(np.array([0.2, 0.1, 0.4]))
    assert exp(Units(loss, np.ones(3)).estimate) == pytest.approx(5, abs=1e-12)


def test_design_effect_of_two_windows() -> None:
    """2·(512² + 256²)/(512 + 256)² = 10/9."""
    assert design_effect(np.array([512.0, 256.0])) == pytest.approx(10 / 9)


@given(st.lists(st.floats(0.01, 1e6), min_size=1, max_size=30))
def test_design_effect_against_kishs_formula(counts: list[float]) -> None:
    t = np.array(counts)
    assert design_effect(t) == pytest.approx(len(t) * (t**2).sum() / t.sum() ** 2, rel=1e-9)
    assert design_effect(np.full(5, t[0])) == pytest.approx(1, abs=1e-12)


def test_token_draws_understate_the_variance_by_the_design_effect() -> None:
    """With losses unrelated to lengths the schemes' variances differ by the design effect, on average (C4)."""
    rng = np.random.default_rng(3)
    ratios = []
    for seed in range(200):
        tokens = lengths(200, 0.7, seed)
        by_windows = Units(rng.normal(size=200) * tokens, tokens)
        errors = standard_error(by_windows), standard_error(mean_of_draws(by_windows))
        assert errors[0] is not None
        assert errors[1] is not None
        ratios.append(errors[0] ** 2 / errors[1] ** 2 / design_effect(tokens))
    assert np.mean(ratios) == pytest.approx(1, abs=4 * float(np.std(ratios)) / sqrt(200))


@given(units())
def test_geometric_mean_is_at_most_the_arithmetic_mean(found: Units) -> None:
    """exp of the weighted mean difference against the weighted mean of the ratios (P12)."""
    scaled = Units(found.numerators / 20, found.denominators)
    ratios = np.exp(scaled.numerators / scaled.denominators)
    assert exp(scaled.estimate) <= (scaled.denominators * ratios).sum() / scaled.denominators.sum() * (1 + 1e-12)


# --------------------------------------------------------------------------------------------------------- the estimate


@given(units())
def test_estimate_is_the_ratio_of_sums(found: Units) -> None:
    expected = found.numerators.sum() / found.denominators.sum()
    assert found.estimate == pytest.approx(expected, rel=1e-12, abs=1e-12)
    assert mean_of_draws(found).estimate == pytest.approx(expected, rel=1e-12, abs=1e-12)


@given(values())
def test_weighted_mean_against_numpy(found: NDArray[np.float64]) -> None:
    share = np.arange(1, len(found) + 1) / np.arange(1, len(found) + 1).sum()
    assert weighted_mean(found, None) == pytest.approx(float(found.mean()), abs=1e-12)
    assert weighted_mean(found, share) == pytest.approx(float(np.average(found, weights=share)), abs=1e-12)


def test_units_without_spread_are_degenerate() -> None:
    assert Units(np.full(5, 0.1) * np.arange(1.0, 6), np.arange(1.0, 6)).degenerate  # 0.1·3 is not 0.3
    assert Units(np.array([7.0]), np.array([2.0])).degenerate
    assert Units(np.zeros(4), np.ones(4)).degenerate
    assert not Units(np.array([1.0, 1.0 + 1e-9]), np.ones(2)).degenerate


# ------------------------------------------------------------------------------------------------- errors and influence


@given(units())
def test_influence_is_the_derivative_of_the_estimate(found: Units) -> None:
    """Move a little weight onto one unit: (1 − ε)F + ε·δᵢ."""
    n, step = found.n, 1e-6
    for i, pull in enumerate(influence(found).tolist()):
        weights = np.full(n, (1 - step) / n) + step * (np.arange(n) == i)
        moved = (weights * found.numerators).sum() / (weights * found.denominators).sum()
        assert (moved - found.estimate) / step == pytest.approx(pull, abs=1e-3 + 1e-3 * abs(pull))


@given(values(2, 30))
def test_standard_error_of_a_mean_against_scipy(found: NDArray[np.float64]) -> None:
    assert standard_error(Units(found, np.ones(len(found)))) == pytest.approx(
        float(scipy_stats.sem(found)), rel=1e-9, abs=1e-12
    )


@pytest.mark.parametrize("n", [5, 30, 180])
def test_standard_error_of_a_ratio_against_statsmodels(n: int) -> None:
    """Weighted least squares of the values on a constant, with White's robust covariance and n/(n − 1)."""
    found, tokens = sample("normal", n), lengths(n, 1.0)
    fit = sm.WLS(found, np.ones(n), weights=tokens).fit(cov_type="HC1")
    assert standard_error(Units(found * tokens, tokens)) == pytest.approx(float(fit.bse[0]), rel=1e-10)


def test_one_unit_has_no_standard_error() -> None:
    assert standard_error(Units(np.array([3.0]), np.array([2.0]))) is None
    assert weighted_deviation(np.array([3.0]), np.array([2.0])) is None
    assert shape(Units(np.array([3.0]), np.array([2.0]))) is None


@given(units())
def test_weighted_deviation_against_numpy(found: Units) -> None:
    ratio, n = found.numerators / found.denominators, found.n
    expected = sqrt(float(np.cov(ratio, aweights=found.denominators, ddof=0)) * n / (n - 1))
    assert weighted_deviation(ratio, found.denominators) == pytest.approx(expected, rel=1e-9)


# ------------------------------------------------------------------------------------------------------------ the shape


@given(units())
def test_deviations_against_leaving_each_unit_out(found: Units) -> None:
    left_out = np.array(
        [np.delete(found.numerators, i).sum() / np.delete(found.denominators, i).sum() for i in range(found.n)]
    )
    np.testing.assert_allclose(deviations(found), left_out.mean() - left_out, atol=1e-9)


def test_deviations_of_token_draws_are_the_influence() -> None:
    drawn = mean_of_draws(Units(sample("normal", 20) * lengths(20, 1.0), lengths(20, 1.0)))
    np.testing.assert_allclose(deviations(drawn), drawn.numerators - drawn.estimate, atol=1e-12)


def test_deviations_where_one_unit_is_all() -> None:
    """Beside 1e300 tokens the others vanish, and so does the estimate without that unit."""
    found = deviations(Units(np.array([1e300, 2.0, 3.0]), np.array([1e300, 1.0, 1.0])))
    assert np.isfinite(found).all()


@pytest.mark.parametrize("kind", ["normal", "t2", "log-normal", "0/1", "outlier 1e6"])
@pytest.mark.parametrize("n", [5, 30, 180])
def test_shape_of_a_mean_against_scipy(n: int, kind: str) -> None:
    """a = skewness/(6√n) (Efron 1987); Satterthwaite's degrees of freedom are 2n/(kurtosis − 1)."""
    found = sample(kind, n, seed=1)
    form = shape(Units(found, np.ones(n)))
    assert form is not None
    assert form.acceleration == pytest.approx(float(scipy_stats.skew(found)) / (6 * sqrt(n)), rel=1e-8, abs=1e-14)
    kurtosis = float(scipy_stats.kurtosis(found, fisher=False))
    assert form.degrees_of_freedom == pytest.approx(min(n - 1, 2 * n / (kurtosis - 1)), rel=1e-8)


@given(units(3))
def test_shape_against_the_literal_sums(found: Units) -> None:
    d = deviations(found)
    form = shape(found)
    assert form is not None
    assert form.acceleration == pytest.approx((d**3).sum() / (6 * (d**2).sum() ** 1.5), abs=1e-9)
    assert 1 <= form.degrees_of_freedom <= found.n - 1
    if abs(form.acceleration) > 1e-6:
        assert form.trust == pytest.approx(max(0.0, 1 - (d**6).sum() / (d**3).sum() ** 2), abs=1e-6)


def test_equal_and_missing_probabilities_have_the_same_shape() -> None:
    found = sample("log-normal", 40)
    without, given_equal = shape(Units(found, np.ones(40))), shape(Units(found, np.ones(40), np.full(40, 1 / 40)))
    assert without is not None
    assert given_equal is not None
    assert given_equal.acceleration == pytest.approx(without.acceleration, rel=1e-10)
    assert given_equal.trust == pytest.approx(without.trust, rel=1e-10)
    assert given_equal.degrees_of_freedom == pytest.approx(without.degrees_of_freedom, rel=1e-10)


def test_one_outlier_is_not_trusted() -> None:
    """All of the skewness is one unit: nothing is left of it. Skewness that many units share is kept."""
    alone, shared = (
        shape(Units(sample("outlier 1e3", 180), np.ones(180))),
        shape(Units(np.arange(180.0) ** 2, np.ones(180))),
    )
    assert alone is not None
    assert shared is not None
    assert alone.trust == pytest.approx(0, abs=1e-3)
    assert shared.trust > 0.9


def test_a_rare_unit_far_away_leaves_one_degree_of_freedom() -> None:
    """Drawn once in 2,000 times, a unit can push the kurtosis above any sample's: the t distribution needs one."""
    tokens = np.array([100.0] * 20 + [1.0])
    form = shape(mean_of_draws(Units(tokens * np.append(np.linspace(-1, 1, 20), 1e4), tokens)))
    assert form is not None
    assert form.degrees_of_freedom == 1


def test_symmetric_units_have_no_acceleration_and_no_trust() -> None:
    form = shape(Units(np.array([-2.0, -1.0, 1.0, 2.0]), np.ones(4)))
    assert form is not None
    assert form.acceleration == pytest.approx(0, abs=1e-15)
    assert form.trust == 0


def test_equal_units_have_no_shape() -> None:
    """The jackknife variance is zero (P5)."""
    assert shape(Units(np.full(6, 0.5), np.ones(6))) is None


def test_two_units_have_the_kurtosis_of_a_coin() -> None:
    form = shape(Units(np.array([0.0, 1.0]), np.ones(2)))
    assert form is not None
    assert form.degrees_of_freedom == 1


@given(
    st.lists(st.tuples(st.floats(0, 9), st.sampled_from([0.0, 0.0, 1.0, 3.0])), min_size=1, max_size=12),
)
def test_joined_units_against_a_walk_through_them(pairs: list[tuple[float, float]]) -> None:
    """The twin: every unit without a denominator goes to the last one that has one, those at the start to the first."""
    top, below = (np.array(column) for column in zip(*pairs, strict=True))
    found = joined(top, below)
    walked: list[list[float]] = []
    early = 0.0
    for numerator, denominator in pairs:
        if denominator:
            walked.append([numerator + early, denominator])
            early = 0.0
        elif walked:
            walked[-1][0] += numerator
        else:
            early += numerator
    if not walked:
        assert (found[0] == top).all()
        return
    assert np.column_stack(found) == pytest.approx(np.array(walked))
