"""The hull of t and Hall's transformation against statsmodels, matrices, root finding and simulation."""

from math import ldexp, sqrt

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import optimize
from scipy import stats as scipy_stats

from assay.stats.bootstrap import interval
from assay.stats.bootstrap.t_hall import Moments, bell_mccaffrey, limits, moments, own_p
from assay.stats.units import Floats, Units, mean_of_draws

LEVELS = (0.9, 0.95, 0.99)


def drawn(n: int, seed: int, *, equal: bool = False) -> Units:
    rng = np.random.default_rng([n, seed])
    tokens = np.ones(n) if equal else rng.lognormal(0, 0.8, n)
    return Units(tokens * (rng.exponential(size=n) - 0.6), tokens)


def literal_df(weight: Floats) -> float:
    """Satterthwaite's of e'Ae with e = (I − 1w')y, y of variance 1, A = diag(w²/(1 − w)): from traces of matrices."""
    n = len(weight)
    residuals = np.eye(n) - np.outer(np.ones(n), weight)
    form = np.diag(weight**2 / (1 - weight)) @ residuals @ residuals.T
    return float(np.trace(form) ** 2 / np.trace(form @ form))


@pytest.mark.parametrize("n", [2, 3, 10, 60])
def test_bell_mccaffrey_against_matrices(n: int) -> None:
    weight = np.random.default_rng(n).dirichlet(np.full(n, 0.7))
    assert bell_mccaffrey(weight) == pytest.approx(max(1.0, literal_df(weight)))
    assert bell_mccaffrey(np.full(n, 1 / n)) == pytest.approx(n - 1)


@pytest.mark.parametrize("n", [5, 30, 200])
def test_the_error_is_the_larger_of_linearised_and_hc2_against_statsmodels(n: int) -> None:
    from statsmodels.api import WLS

    units = drawn(n, 1)
    fitted = WLS(units.numerators / units.denominators, np.ones(n), weights=units.denominators).fit(cov_type="HC2")
    residual = units.numerators - units.estimate * units.denominators
    linearised = sqrt(float((residual**2).sum()) * n / (n - 1)) / float(units.denominators.sum())
    found = moments(units)
    assert found.estimate == pytest.approx(float(fitted.params[0]))
    assert found.error == pytest.approx(max(float(fitted.bse[0]), linearised))


def test_the_skewness_against_scipy() -> None:
    units = drawn(40, 2, equal=True)
    assert moments(units).skewness == pytest.approx(scipy_stats.skew(units.numerators) / sqrt(40))


def literal_moments(units: Units) -> Moments:
    """One unit after the other, from the formulas of the references."""
    share = [1.0] * units.n if units.probabilities is None else units.probabilities.tolist()
    top = [float(x) * p for x, p in zip(units.numerators, share, strict=True)]
    bottom = [float(x) * p for x, p in zip(units.denominators, share, strict=True)]
    n, total = units.n, sum(bottom)
    estimate = sum(top) / total
    pull = [(a - estimate * b) / total for a, b in zip(top, bottom, strict=True)]
    weight = [b / total for b in bottom]
    square = sum(x**2 for x in pull)
    hc2 = sum(x**2 / (1 - w) for x, w in zip(pull, weight, strict=True))
    kurtosis = n * sum(x**4 for x in pull) / square**2
    satterthwaite = min(n - 1, 2 * n / (kurtosis - 1)) if kurtosis > 1 else n - 1
    df = min(satterthwaite, literal_df(np.array(weight)))
    return Moments(estimate, sqrt(max(hc2, square * n / (n - 1))), sum(x**3 for x in pull) / square**1.5, df, n)


UNITS = {
    "equal": drawn(12, 1, equal=True),
    "unequal": drawn(12, 2),
    "two": Units(np.array([1.0, 3.0]), np.array([1.0, 1.0])),  # kurtosis 1: Satterthwaite has nothing to divide by
    "two unequal": Units(np.array([1.0, 3.0]), np.array([1.0, 5.0])),
    "drawn by tokens": mean_of_draws(drawn(12, 3)),
    "an outlier": Units(np.append(np.linspace(-1, 1, 20), 50.0), np.ones(21)),
    "flat": Units(np.tile([1.0, -1.0, 2.0], 4), np.tile([1.0, 2.0], 6)),
    "the small ones vary": Units(np.array([5.0, 5.0, 3.0, -1.0]), np.array([5.0, 5.0, 1.0, 1.0])),  # HC2 is smaller
    "integers": Units(np.array([3, 1, 4, 1, 5]), np.array([2, 7, 1, 8, 2])),
}


@pytest.mark.parametrize("name", UNITS)
def test_the_moments_against_literal_sums(name: str) -> None:
    found, wanted = moments(UNITS[name]), literal_moments(UNITS[name])
    assert (found.estimate, found.error, found.skewness, found.df, found.n) == pytest.approx(
        (wanted.estimate, wanted.error, wanted.skewness, wanted.df, wanted.n), rel=1e-9, abs=1e-12
    )


@pytest.mark.parametrize("name", ["equal", "unequal", "drawn by tokens"])
@pytest.mark.parametrize("power", [-1055, -1000, -960, -300, 900])
def test_the_moments_of_the_smallest_numbers_are_those_of_whole_ones(name: str, power: int) -> None:
    """Multiples of 2ᵏ are exact; what comes out is rounded once, to the nearest number that there is."""
    whole = Units(np.rint(1000 * UNITS[name].numerators), UNITS[name].denominators, UNITS[name].probabilities)
    wanted = literal_moments(whole)
    found = moments(Units(np.ldexp(whole.numerators, power), whole.denominators, whole.probabilities))
    assert found.estimate == pytest.approx(ldexp(wanted.estimate, power), rel=1e-12, abs=5e-324)
    assert found.error == pytest.approx(ldexp(wanted.error, power), rel=1e-12, abs=5e-324)
    assert (found.skewness, found.df, found.n) == pytest.approx((wanted.skewness, wanted.df, wanted.n), rel=1e-9)


def test_the_error_of_the_smallest_number_is_not_0() -> None:
    """A third of the smallest number is nearer to 0 than to it."""
    found = moments(Units(np.array([5e-324, 0.0, 0.0]), np.ones(3)))
    assert (found.estimate, found.error) == (0.0, 5e-324)


def test_an_outlier_leaves_few_degrees_of_freedom_and_unequal_denominators_too() -> None:
    """Either of the two may be the fewer: the kurtosis of 21 values, and one denominator of 50 beside 20 of 1."""
    values = np.append(np.linspace(-1, 1, 20), 50.0)
    assert 2 * 21 / 20 < moments(Units(values, np.ones(21))).df < 2.4  # with one value that is not 0: 2n/(n − 1)
    weights = np.append(np.ones(20), 50.0)
    flat = Units(np.tile([1.0, -1.0, 1.0], 7) * weights, weights)
    assert 1 <= moments(flat).df < 1.5


@pytest.mark.parametrize("rest", [1e-18, 1e-17, 1e-12, 1e-9])
def test_beside_one_unit_there_is_one_degree_of_freedom(rest: float) -> None:
    weight = np.array([1 - 2 * rest, rest, rest])
    assert bell_mccaffrey(weight) == pytest.approx(1.0, abs=1e-6)
    assert bell_mccaffrey(np.array([1.0, 0.0])) == 1.0


@pytest.mark.parametrize("estimate", [0.0, 0.004, -0.004, 0.02, 0.3, -0.3, 5.0, -5.0])
@pytest.mark.parametrize("skewness", [0.0, 1e-12, 0.03, -0.03, 0.5, -0.5])
def test_limits_and_their_p_against_root_finding_and_scipy(estimate: float, skewness: float) -> None:
    """p by its definition: the larger of the two, and 1 where h(T) has the other sign than T."""
    found = Moments(estimate, 0.1, skewness, 7.5, 12)
    t = estimate / 0.1
    bent = hall(t, skewness)
    both = 2 * scipy_stats.t.sf(abs(t), 7.5), 2 * scipy_stats.t.sf(abs(bent), 11)
    assert own_p(found) == pytest.approx(1.0 if t == 0 or t * bent <= 0 else max(both), rel=1e-9)
    for level in LEVELS:
        z, reach = (float(scipy_stats.t.ppf(0.5 + level / 2, df)) for df in (11, 7.5))
        up, down = (optimize.brentq(lambda x, z=z: hall(x, skewness) - z, -1e3, 1e3, xtol=1e-14) for z in (z, -z))
        wanted = (estimate - 0.1 * max(up, reach), estimate - 0.1 * min(down, -reach))
        assert limits(found, level) == pytest.approx(wanted, abs=1e-7)


def test_a_straight_transformation_is_that_of_no_skewness() -> None:
    """Below 1e-9 nothing is divided by the skewness, above it is: both are the same to ten digits."""
    plain = limits(Moments(0.3, 0.1, 0.0, 11.0, 12), 0.95)
    for skewness in (1e-9, -1e-9, 0.99e-9, 1e-7, 5e-324):
        assert limits(Moments(0.3, 0.1, skewness, 11.0, 12), 0.95) == pytest.approx(plain, abs=1e-7)


def hall(t: float, g: float) -> float:
    return t + g * t**2 / 3 + g**2 * t**3 / 27 + g / 6


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("seed", range(4))
def test_limits_against_root_finding(level: float, seed: int) -> None:
    """Hall's transformation is inverted by looking for T, and the outer limits are taken."""
    found = moments(drawn(25, seed))
    z, reach = (float(scipy_stats.t.ppf(0.5 + level / 2, df)) for df in (24, found.df))
    roots = [optimize.brentq(lambda t, z=z: hall(t, found.skewness) - z, -1e3, 1e3, xtol=1e-13) for z in (z, -z)]
    wanted = [min(found.estimate - found.error * t for t in (reach, roots[0]))]
    wanted.append(max(found.estimate - found.error * t for t in (-reach, roots[1])))
    assert limits(found, level) == pytest.approx(wanted, abs=1e-6 * found.error)


@settings(max_examples=40, deadline=None)
@given(st.integers(2, 60), st.integers(0, 999), st.booleans())
def test_own_p_is_the_level_at_which_0_is_on_the_limit(n: int, seed: int, equal: bool) -> None:
    found = moments(drawn(n, seed, equal=equal))
    p = own_p(found)
    if 1e-6 < p < 0.499:
        low, high = limits(found, 1 - p)
        assert min(abs(low), abs(high)) == pytest.approx(0, abs=1e-6 * found.error)
    for level in LEVELS:
        low, high = limits(found, level)
        assert (low > 0 or high < 0) == (p < 1 - level)


@settings(max_examples=40, deadline=None)
@given(st.integers(2, 40), st.integers(0, 999), st.floats(1e-3, 1e3))
def test_mirrored_scaled_and_in_any_order(n: int, seed: int, factor: float) -> None:
    units = drawn(n, seed)
    low, high = limits(moments(units), 0.95)
    assert low < units.estimate < high
    mirrored = limits(moments(Units(-units.numerators, units.denominators)), 0.95)
    assert mirrored == pytest.approx((-high, -low))
    scaled = limits(moments(Units(factor * units.numerators, units.denominators)), 0.95)
    assert scaled == pytest.approx((factor * low, factor * high))
    order = np.random.default_rng(seed).permutation(n)
    assert limits(moments(Units(units.numerators[order], units.denominators[order])), 0.95) == pytest.approx(
        (low, high)
    )
    assert limits(moments(mean_of_draws(units)), 0.95) == pytest.approx((low, high))


def test_never_inside_student_s_interval() -> None:
    for seed in range(20):
        units = drawn(30, seed)
        ours, plain = (interval(units, method=method).interval for method in ("t-hall", "t"))
        assert ours.low <= plain.low + 1e-12
        assert ours.high >= plain.high - 1e-12


def test_a_unit_beside_which_the_others_vanish_is_no_fault() -> None:
    units = Units(np.array([1.0, 1e-18, 3e-18]), np.array([2.0, 1e-18, 1e-18]))
    low, high = limits(moments(units), 0.95)
    assert low <= 0.5 <= high
    assert np.isfinite([low, high]).all()


def test_the_method_by_name_records_itself() -> None:
    units = drawn(30, 3)
    found = interval(units, method="t-hall", own_p=True)
    assert (found.interval.method, found.source, found.resamples) == ("t-hall", "closed form", None)
    assert (found.interval.low, found.interval.high) == pytest.approx(limits(moments(units), 0.95))
    assert found.own_p == pytest.approx(own_p(moments(units)))


@pytest.mark.slow
@pytest.mark.untraced
def test_coverage_of_skewed_samples_of_30() -> None:
    """Exponential, n = 30: .95 within the error of 2,000 simulations, where Student's t has .93."""
    rng = np.random.default_rng(8)
    covered = plain = 0
    for values in rng.exponential(size=(2_000, 30)):
        found = moments(Units(values, np.ones(30)))
        low, high = limits(found, 0.95)
        covered += low <= 1 <= high
        reach = float(scipy_stats.t.ppf(0.975, 29)) * values.std(ddof=1) / sqrt(30)
        plain += abs(values.mean() - 1) <= reach
    assert covered / 2_000 > 0.94 > plain / 2_000


def test_moments_are_a_record() -> None:
    assert moments(drawn(9, 0)) == moments(drawn(9, 0))
    assert isinstance(moments(drawn(9, 0)), Moments)
