"""Effect sizes. Oracles: pingouin, scipy's noncentral t and gamma function, published tables, simulated coverage."""

from math import sqrt

import numpy as np
import pingouin
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from scipy.special import gammaln

from assay.stats.paired_tests import ArmValues, effect_sizes, hedges_factor
from assay.stats.records import Estimate
from assay.stats.units import Floats, Units


def sizes_of(a: Floats, b: Floats, weights: Floats | None = None, level: float = 0.95) -> dict[str, Estimate]:
    weights = np.ones(len(a)) if weights is None else weights
    return effect_sizes(ArmValues(a, b, weights), Units(weights * (b - a), weights), level)


def value(estimate: Estimate) -> float:
    assert estimate.value is not None
    return estimate.value


def limits(estimate: Estimate) -> tuple[float, float]:
    assert estimate.interval is not None
    return estimate.interval.low, estimate.interval.high


def pairs(seed: int, n: int, shift: float = 0.3) -> tuple[Floats, Floats]:
    rng = np.random.default_rng(seed)
    a = rng.normal(0, 1, n)
    return a, a + rng.normal(shift, 0.8, n)


# --------------------------------------------------------------------------------------------------------------- values


@given(st.integers(0, 500), st.integers(3, 60))
def test_d_av_against_pingouin(seed: int, n: int) -> None:
    a, b = pairs(seed, n)
    theirs = pingouin.compute_effsize(b, a, paired=True, eftype="cohen")
    assert value(sizes_of(a, b)["d_av"]) == pytest.approx(theirs, rel=1e-9)


@given(st.integers(0, 500), st.integers(3, 60))
def test_d_z_against_the_one_sample_d_of_pingouin(seed: int, n: int) -> None:
    a, b = pairs(seed, n)
    theirs = pingouin.compute_effsize(b - a, 0, eftype="cohen")
    assert value(sizes_of(a, b)["d_z"]) == pytest.approx(theirs, rel=1e-9)


@given(st.integers(0, 500), st.integers(3, 60))
def test_d_z_is_t_over_root_n(seed: int, n: int) -> None:
    a, b = pairs(seed, n)
    assert value(sizes_of(a, b)["d_z"]) == pytest.approx(stats.ttest_rel(b, a).statistic / sqrt(n), rel=1e-9)


def test_student_1908_against_published_values() -> None:
    """Sleep data: d_z = 1.28 (t = 4.0621, n = 10); d_av = 1.58 / √((1.789² + 2.002²)/2) = 0.832."""
    first = np.array([0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0])
    second = np.array([1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4])
    found = sizes_of(first, second)
    assert value(found["d_z"]) == pytest.approx(1.285, abs=5e-4)
    assert value(found["d_av"]) == pytest.approx(0.832, abs=5e-4)


@pytest.mark.parametrize(
    ("df", "published"),
    [(2, 0.5642), (3, 0.7236), (4, 0.7979), (5, 0.8408), (6, 0.8686), (10, 0.9228), (20, 0.9619), (50, 0.9849)],
)
def test_hedges_factor_against_published_table(df: int, published: float) -> None:
    """Hedges (1981), c(m) = Γ(m/2) / (√(m/2) Γ((m − 1)/2)), as tabulated."""
    assert hedges_factor(df) == pytest.approx(published, abs=1e-4)


@given(st.floats(1.01, 1e6))
def test_hedges_factor_against_scipy_gamma(df: float) -> None:
    expected = np.exp(gammaln(df / 2) - gammaln((df - 1) / 2)) / np.sqrt(df / 2)
    assert hedges_factor(df) == pytest.approx(expected, rel=1e-8)


@given(st.integers(0, 500), st.integers(12, 60))
def test_hedges_g_against_the_approximate_correction(seed: int, n: int) -> None:
    """1 − 3/(4·df − 1), the textbook approximation of the factor."""
    found = sizes_of(*pairs(seed, n))
    assert value(found["hedges_g"]) / value(found["d_z"]) == pytest.approx(1 - 3 / (4 * (n - 1) - 1), abs=1e-3)


def test_hedges_g_removes_the_bias_in_simulation() -> None:
    """6 pairs with a true d_z of 0.5: d_z itself is 19% too large on average."""
    rng = np.random.default_rng(0)
    differences = rng.normal(0.5, 1, (20_000, 6))
    d_z = differences.mean(axis=1) / differences.std(axis=1, ddof=1)
    factor = hedges_factor(5)
    assert factor is not None
    assert d_z.mean() > 0.57
    assert factor * d_z.mean() == pytest.approx(0.5, abs=4 * factor * float(d_z.std()) / sqrt(20_000))


def test_with_token_counts_against_repeated_rows() -> None:
    """Weights 1 and 2 are like a row once and twice, up to the n − 1 of the standard deviation."""
    a, b = pairs(3, 40)
    weights = np.tile([1.0, 2.0], 20)
    repeated = np.repeat(b - a, weights.astype(int))
    expected = repeated.mean() / (repeated.std() * sqrt(40 / 39))
    assert value(sizes_of(a, b, weights)["d_z"]) == pytest.approx(float(expected), rel=1e-12)


# ------------------------------------------------------------------------------------------------------------ intervals


@pytest.mark.parametrize("n", [3, 8, 20, 180])
@pytest.mark.parametrize("level", [0.5, 0.9, 0.95, 0.999])
def test_limits_against_scipy_noncentral_t(n: int, level: float) -> None:
    """At the limits the observed t is just the (1 ± level)/2 quantile of the noncentral t (Cumming and Finch 2001)."""
    a, b = pairs(n, n, shift=0.5)
    t, tail = float(stats.ttest_rel(b, a).statistic), (1 - level) / 2
    low, high = limits(sizes_of(a, b, level=level)["d_z"])
    assert stats.nct.sf(t, n - 1, low * sqrt(n)) == pytest.approx(tail, rel=1e-5)
    assert stats.nct.cdf(t, n - 1, high * sqrt(n)) == pytest.approx(tail, rel=1e-5)


def test_limits_of_a_large_effect_against_scipy_noncentral_t() -> None:
    a, b = pairs(1, 30, shift=12)
    t = float(stats.ttest_rel(b, a).statistic)
    low, high = limits(sizes_of(a, b)["d_z"])
    assert stats.nct.sf(t, 29, low * sqrt(30)) == pytest.approx(0.025, rel=1e-4)
    assert stats.nct.cdf(t, 29, high * sqrt(30)) == pytest.approx(0.025, rel=1e-4)


def test_the_limits_of_all_three_are_the_same_limits_on_other_scales() -> None:
    found = sizes_of(*pairs(5, 15))
    low, high = limits(found["d_z"])
    for name in ("hedges_g", "d_av"):
        scale = value(found[name]) / value(found["d_z"])
        assert limits(found[name]) == pytest.approx((scale * low, scale * high), rel=1e-12)


@pytest.mark.untraced
def test_coverage_of_the_d_z_interval() -> None:
    """1,000 samples of 20 pairs with d_z = 0.5: 95% within three standard errors of the simulation (2.1 points)."""
    rng = np.random.default_rng(20)
    covered = 0
    for _ in range(1_000):
        differences = rng.normal(0.5, 1, 20)
        low, high = limits(sizes_of(np.zeros(20), differences)["d_z"])
        covered += low <= 0.5 <= high
    assert 930 <= covered <= 970


def test_clusters_take_their_own_degrees_of_freedom() -> None:
    """Five identical copies of a pair carry the information of one: the interval is that of the distinct pairs."""
    a, b = pairs(9, 12)
    alone = sizes_of(a, b)["d_z"]
    arms = ArmValues(np.repeat(a, 5), np.repeat(b, 5), np.ones(60))
    together = effect_sizes(arms, Units(5 * (b - a), np.full(12, 5.0)), 0.95)["d_z"]
    shrunk = sqrt((60 / 59) / (12 / 11))  # the spread of 60 rows has the divisor 59
    assert limits(together) == pytest.approx(tuple(limit / shrunk for limit in limits(alone)), rel=1e-9)


# ------------------------------------------------------------------------------------------------------------ undefined


@pytest.mark.parametrize(
    ("a", "b", "reason"),
    [
        ([1.0], [2.0], "one unit"),
        ([1.0, 2.0, 3.0], [1.0, 2.0, 3.0], "all differences are equal"),
        ([0.3, 0.4, 0.7], [0.4, 0.5, 0.8], "all differences are equal"),
    ],
)
def test_no_spread_is_undefined_with_a_reason(a: list[float], b: list[float], reason: str) -> None:
    missing = Estimate(None, None, None, len(a), reason)
    assert sizes_of(np.array(a), np.array(b)) == {"d_z": missing, "hedges_g": missing, "d_av": missing}


def test_what_vanishes_in_rounding_is_undefined_and_no_division_by_0() -> None:
    """Sums of clusters are made apart from the differences: each may vanish where the other has some rounding left."""
    equal = ArmValues(np.zeros(3), np.ones(3), np.ones(3))
    uneven = ArmValues(np.zeros(3), np.array([1.0, 2.0, 4.0]), np.ones(3))
    tiny = Units(np.array([5e-324, 0.0, 0.0]), np.ones(3))  # its standard error is below the smallest number
    for arms, drawn in ((equal, Units(np.array([1.0, 1.0, 1.1]), np.ones(3))), (uneven, tiny)):
        found = effect_sizes(arms, drawn, 0.95)
        assert {e.reason for e in found.values()} == {"all differences are equal"}


def test_one_cluster_of_many_pairs_is_one_unit() -> None:
    arms = ArmValues(np.zeros(3), np.array([1.0, 2.0, 4.0]), np.ones(3))
    found = effect_sizes(arms, Units(np.array([7.0]), np.array([3.0])), 0.95)
    assert {(e.value, e.n, e.reason) for e in found.values()} == {(None, 3, "one unit")}


def test_the_record_of_an_effect_size_by_hand() -> None:
    """Differences 1, 2, 6: mean 3, standard deviation √7; arms 0, 0, 0 and 1, 2, 6: √(7/2) on average."""
    found = sizes_of(np.zeros(3), np.array([1.0, 2.0, 6.0]), level=0.9)
    assert value(found["d_z"]) == pytest.approx(3 / sqrt(7), rel=1e-12)
    assert value(found["d_av"]) == pytest.approx(3 / sqrt(3.5), rel=1e-12)
    assert value(found["hedges_g"]) == pytest.approx(3 / sqrt(7) / sqrt(np.pi), rel=1e-12)  # J(2) = Γ(1)/Γ(1/2)
    for estimate in found.values():
        assert estimate.interval is not None
        assert (estimate.interval.level, estimate.interval.method) == (0.9, "noncentral t")
        assert (estimate.standard_error, estimate.n, estimate.reason) == (None, 3, None)


def test_hedges_g_of_two_pairs_is_undefined_not_zero() -> None:
    found = sizes_of(np.array([0.0, 1.0]), np.array([1.0, 1.0]))
    assert value(found["d_z"]) == pytest.approx(sqrt(0.5))
    assert found["hedges_g"] == Estimate(None, None, None, 2, "two units: d_z has no expectation to correct")
    assert hedges_factor(1) is None


def test_swapping_the_systems_mirrors_every_effect_size() -> None:
    a, b = pairs(2, 14)
    there, back = sizes_of(a, b), sizes_of(b, a)
    for name in ("d_z", "hedges_g", "d_av"):
        low, high = limits(there[name])
        assert value(back[name]) == pytest.approx(-value(there[name]), rel=1e-12)
        assert limits(back[name]) == pytest.approx((-high, -low), rel=1e-9)


@pytest.mark.parametrize("scale", [1e-200, 1e200])
def test_effect_sizes_have_no_unit(scale: float) -> None:
    a, b = pairs(6, 10)
    plain, scaled = sizes_of(a, b), sizes_of(scale * a, scale * b)
    assert [value(e) for e in scaled.values()] == pytest.approx([value(e) for e in plain.values()], rel=1e-9)


@pytest.mark.parametrize("power", [-1070, -1000, -901, -899, 899, 901, 1000])
def test_effect_sizes_of_the_smallest_and_the_largest_numbers(power: int) -> None:
    """Whole multiples of 2ᵏ are exact: the effect sizes are those of the whole numbers, to the last digits."""
    a, b = np.array([0.0, 3.0, 1.0, 4.0, 1.0]), np.array([5.0, 9.0, 2.0, 6.0, 5.0])
    weights = np.array([1.0, 2.0, 1.0, 1.0, 4.0])
    plain, scaled = sizes_of(a, b, weights), sizes_of(np.ldexp(a, power), np.ldexp(b, power), weights)
    assert [value(e) for e in scaled.values()] == pytest.approx([value(e) for e in plain.values()], rel=1e-12)
    for name, estimate in plain.items():
        assert limits(scaled[name]) == pytest.approx(limits(estimate), rel=1e-9)


@pytest.mark.parametrize("sign", [1, -1])
def test_the_arm_with_the_larger_values_decides_the_unit(sign: int) -> None:
    """One arm is 0 throughout, the other near the smallest or the largest number."""
    values = np.array([1.0, 2.0, 6.0]) * sign
    plain = sizes_of(np.zeros(3), values)
    for power in (-1070, 1015):
        there, back = sizes_of(np.zeros(3), np.ldexp(values, power)), sizes_of(np.ldexp(values, power), np.zeros(3))
        for name, estimate in plain.items():
            assert value(there[name]) == pytest.approx(value(estimate), rel=1e-12)
            assert value(back[name]) == pytest.approx(-value(estimate), rel=1e-12)


def test_units_drawn_by_tokens_keep_their_probabilities_in_another_unit() -> None:
    a, b = np.zeros(4), np.array([1.0, 2.0, 6.0, 3.0])
    share = np.array([0.1, 0.2, 0.3, 0.4])
    plain, tiny = (
        effect_sizes(ArmValues(a, by * b, np.ones(4)), Units(by * b, np.ones(4), share), 0.95) for by in (1, 2.0**-1000)
    )
    for name, estimate in plain.items():
        assert value(tiny[name]) == pytest.approx(value(estimate), rel=1e-12)
        assert limits(tiny[name]) == pytest.approx(limits(estimate), rel=1e-9)
