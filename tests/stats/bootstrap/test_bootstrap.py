"""Intervals, against scipy, arch, statsmodels, enumeration, literal loops and published examples."""

from dataclasses import replace
from itertools import pairwise
from math import sqrt
from typing import Any, Literal

import numpy as np
import pytest
import statsmodels.api as sm
from arch.bootstrap import IIDBootstrap
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import stats as scipy_stats

from assay.stats import bootstrap
from assay.stats.bootstrap import IntervalResult, interval
from assay.stats.bootstrap.exact import bootstrap_distribution, enumerated
from assay.stats.bootstrap.resampling import replicates
from assay.stats.records import Interval, IntervalName
from assay.stats.streams import stream_key
from assay.stats.units import Units, mean_of_draws, standard_error
from tests.stats.literal_draws import drawn_units
from tests.strategies import lengths, sample, units

Floats = NDArray[np.float64]
METHODS: list[IntervalName] = ["bca", "bca-plain", "percentile", "t", "studentized"]
EXACT: list[IntervalName] = ["bca", "bca-plain", "percentile", "t"]


def a_ratio(n: int, kind: str = "log-normal") -> Units:
    return Units(sample(kind, n) * lengths(n, 0.5), lengths(n, 0.5))


def ratio_of_sums(num: Floats, den: Floats, axis: int = -1) -> Floats:
    return np.asarray(num.sum(axis=axis) / den.sum(axis=axis))


# --------------------------------------------------------------------------------------------------- published examples


def test_bca_levels_against_efron_and_tibshirani() -> None:
    """*An Introduction to the Bootstrap* (1993), pp. 185-186: z0 = 0.146, a = 0.061, 90% gives 0.110 and 0.985."""
    levels = bootstrap._corrected(0.146, 0.061, float(scipy_stats.norm.ppf(0.95)))
    assert levels is not None
    assert list(levels) == pytest.approx([0.110, 0.985], abs=6e-4)


def spread_of(found: Units) -> float:
    """The bootstrap standard error for B = ∞, from the distribution over all resamples."""
    atoms = enumerated(found)
    return float(np.sqrt(np.cov(atoms.points, aweights=atoms.masses, ddof=0)))


def test_mouse_data_against_efron_and_tibshirani() -> None:
    """Table 2.2: survival of the treated mice has mean 86.86, and its bootstrap standard error for B = ∞ is 23.36."""
    treated = Units(np.array([94.0, 197, 16, 38, 99, 141, 23]), np.ones(7))
    assert treated.estimate == pytest.approx(86.86, abs=5e-3)
    assert spread_of(treated) == pytest.approx(23.36, abs=5e-3)


def test_patch_data_against_efron_and_tibshirani() -> None:
    """Section 10.3: the ratio is −0.0713, and 400 resamples have standard error 0.105."""
    patch = Units(
        np.array([-1200.0, 2601, -2705, 1982, -1290, 351, -638, -2719]),
        np.array([8406.0, 2342, 8187, 8459, 4795, 3516, 4796, 10238]),
    )
    assert patch.estimate == pytest.approx(-0.0713, abs=5e-5)
    assert spread_of(patch) == pytest.approx(0.105, abs=3 * 0.105 / sqrt(2 * 400))
    assert standard_error(patch) == pytest.approx(0.105, abs=0.001)


CITY = Units(
    np.array([143.0, 104, 69, 260, 75, 63, 50, 48, 111, 50]), np.array([138.0, 93, 61, 179, 48, 37, 29, 23, 30, 2])
)


@pytest.mark.parametrize(
    ("method", "level", "published"),
    [
        ("percentile", 0.90, [(1.268, 1.994), (1.276, 1.936)]),
        ("percentile", 0.95, [(1.241, 2.180), (1.245, 2.057)]),
        ("bca-plain", 0.90, [(1.271, 2.002), (1.278, 1.939)]),
        ("bca-plain", 0.95, [(1.242, 2.195), (1.245, 2.064)]),
    ],
)
def test_city_data_against_r_boot(method: IntervalName, level: float, published: list[tuple[float, float]]) -> None:
    """Davison and Hinkley (1997): populations of ten cities in 1920 and 1930.

    ``boot.ci(boot(city, ratio, R = 999, stype = "w"), conf = c(0.90, 0.95))`` of R's package boot, its documented
    example, as printed in two published runs. 999 resamples: what they call a limit is one of ours to within noise.
    """
    assert pytest.approx(1.520, abs=5e-4) == CITY.estimate
    found, distribution = interval(CITY, method=method, confidence_level=level).interval, bootstrap_distribution(CITY)
    assert distribution is not None
    noise = sqrt(level * (1 - level) / 4 / 999) * (2 if method == "bca-plain" else 1)  # z0 was estimated as well
    for low, high in published:
        assert distribution.cdf(low) == pytest.approx(distribution.cdf(found.low), abs=4 * noise)
        assert distribution.cdf(high) == pytest.approx(distribution.cdf(found.high), abs=4 * noise)


# ------------------------------------------------------------------------------------------------------- scipy and arch


def scipys(found: Units, **options: Any) -> Any:
    return scipy_stats.bootstrap((found.numerators, found.denominators), ratio_of_sums, paired=True, **options)


@pytest.mark.parametrize("level", [0.8, 0.95])
@pytest.mark.parametrize(("method", "theirs"), [("percentile", "percentile"), ("bca-plain", "BCa")])
@pytest.mark.parametrize("ratio", [False, True])
def test_random_resampling_against_scipy_on_the_same_replicates(
    method: IntervalName, theirs: str, level: float, ratio: bool
) -> None:
    """scipy.stats.bootstrap is handed our replicates and draws none of its own."""
    found = a_ratio(40) if ratio else Units(sample("log-normal", 40), np.ones(40))
    ours = replace(
        scipys(found, n_resamples=2, rng=0, method="percentile"),
        bootstrap_distribution=replicates(found, 2000, 6).values,
    )
    expected = scipys(found, n_resamples=0, bootstrap_result=ours, method=theirs, confidence_level=level)
    got = interval(found, method=method, confidence_level=level, resamples=2000, seed=6)
    assert [got.interval.low, got.interval.high] == pytest.approx(list(expected.confidence_interval), rel=1e-12)
    assert (got.source, got.resamples, got.fallbacks) == ("resampling", 2000, ())


@pytest.mark.parametrize("ratio", [False, True])
def test_exact_bca_against_scipys_own_resamples(ratio: bool) -> None:
    """200,000 of them: their limits wander by 0.01 standard errors."""
    found = a_ratio(30) if ratio else Units(sample("log-normal", 30), np.ones(30))
    theirs = scipys(found, n_resamples=200_000, batch=20_000, method="BCa", rng=np.random.default_rng(3))
    got = interval(found, method="bca-plain").interval
    assert [got.low, got.high] == pytest.approx(
        list(theirs.confidence_interval), abs=0.04 * float(theirs.standard_error)
    )


@pytest.mark.parametrize(("method", "theirs"), [("bca-plain", "bca"), ("percentile", "percentile")])
def test_exact_intervals_against_arch(method: IntervalName, theirs: Literal["bca", "percentile"]) -> None:
    """20,000 resamples: their limits wander by some 0.03 standard errors."""
    found = a_ratio(30)
    drawn = IIDBootstrap(found.numerators, found.denominators, seed=np.random.default_rng(4))
    low, high = (
        drawn.conf_int(lambda num, den: num.sum() / den.sum(), 20_000, method=theirs, size=0.95).ravel().tolist()
    )
    got, error = interval(found, method=method).interval, standard_error(found)
    assert error is not None
    assert got.low == pytest.approx(low, abs=0.12 * error)
    assert got.high == pytest.approx(high, abs=0.12 * error)


# ----------------------------------------------------------------------------------------------------------- t interval


@pytest.mark.parametrize("level", [0.5, 0.9, 0.95, 0.999])
@pytest.mark.parametrize("n", [2, 3, 30, 180])
def test_t_interval_of_a_mean_against_scipy(n: int, level: float) -> None:
    found = sample("normal", n)
    expected = scipy_stats.ttest_1samp(found, 0).confidence_interval(level)
    got = interval(Units(found, np.ones(n)), method="t", confidence_level=level)
    assert [got.interval.low, got.interval.high] == pytest.approx([float(limit) for limit in expected])
    assert (got.source, got.resamples) == ("closed form", None)


@pytest.mark.parametrize("level", [0.9, 0.95])
def test_t_interval_of_clusters_against_statsmodels(level: float) -> None:
    """Windows of unequal length in documents: weighted least squares on a constant, errors clustered by document."""
    rng = np.random.default_rng(8)
    document = np.repeat(np.arange(25), rng.integers(1, 9, size=25))
    loss, tokens = rng.normal(size=len(document)) + rng.normal(size=25)[document], lengths(len(document), 0.7)
    fit = sm.WLS(loss, np.ones(len(loss)), weights=tokens).fit(
        cov_type="cluster", cov_kwds={"groups": document}, use_t=True
    )
    sums = Units(np.bincount(document, loss * tokens).astype(float), np.bincount(document, tokens).astype(float))
    got = interval(sums, method="t", confidence_level=level).interval
    np.testing.assert_allclose([got.low, got.high], fit.conf_int(1 - level)[0], rtol=1e-9)
    assert sums.estimate == pytest.approx(float(fit.params[0]))


# ---------------------------------------------------------------------------------------------------------- studentized


@pytest.mark.parametrize("n", [12, 60])
def test_studentized_interval_against_a_literal_loop(n: int) -> None:
    """The identical draws, one resample after the other; their quantiles by numpy."""
    found = a_ratio(n)
    index = drawn_units(n, None, stream_key(5, "bootstrap"), 0, 2000)
    t = []
    for draw in index.T:
        num, den = found.numerators[draw], found.denominators[draw]
        fit = num.sum() / den.sum()
        error = sqrt(((num - fit * den) ** 2).sum() * n / (n - 1)) / den.sum()
        t.append((fit - found.estimate) / error)
    residual = found.numerators - found.estimate * found.denominators
    error = sqrt((residual**2).sum() * n / (n - 1)) / found.denominators.sum()
    upper, lower = np.quantile(t, [0.025, 0.975])
    got = interval(found, method="studentized", resamples=2000, seed=5)
    assert got.interval.low == pytest.approx(found.estimate - lower * error, rel=1e-9)
    assert got.interval.high == pytest.approx(found.estimate - upper * error, rel=1e-9)
    assert (got.source, got.resamples, got.fallbacks) == ("resampling", 2000, ())


def test_studentized_interval_of_a_mean_against_arch() -> None:
    """arch is given the standard error of the mean; it divides by the bootstrap one, and so do we here."""
    found = sample("log-normal", 50)
    drawn = IIDBootstrap(found, seed=np.random.default_rng(1))
    low, high = (
        drawn.conf_int(
            np.mean,
            20_000,
            method="studentized",
            std_err_func=lambda _, x: np.array([x.std(ddof=1) / sqrt(len(x))]),
        )
        .ravel()
        .tolist()
    )
    got = interval(Units(found, np.ones(50)), method="studentized", resamples=20_000).interval
    error = float(scipy_stats.sem(found))
    ratio = sqrt(49 / 50)  # the bootstrap's standard error over the sample's
    assert (got.low - found.mean()) * ratio == pytest.approx(low - found.mean(), abs=0.15 * error)
    assert (got.high - found.mean()) * ratio == pytest.approx(high - found.mean(), abs=0.3 * error)


def test_studentized_leaves_out_and_counts_resamples_without_spread() -> None:
    """Four units: one resample in 64 repeats one of them, and has no standard error."""
    got = interval(a_ratio(4), method="studentized", resamples=4000)
    assert len(got.fallbacks) == 1
    assert got.fallbacks[0].wanted == "studentized"
    lost = int(got.fallbacks[0].why.split()[0])
    assert lost == pytest.approx(4000 / 64, abs=4 * sqrt(4000 / 64))
    index = drawn_units(4, None, stream_key(0, "bootstrap"), 0, 4000)
    assert lost == int((np.ptp(index, axis=0) == 0).sum())


@pytest.mark.parametrize("count", [1, 50])
def test_studentized_of_two_units_falls_back_to_t(count: int) -> None:
    """Every resample with spread is the sample itself."""
    found = Units(np.array([1.0, 4.0]), np.ones(2))
    got = interval(found, method="studentized", resamples=count)
    assert got.interval == interval(found, method="t").interval
    assert [f.used for f in got.fallbacks] == ["t"]


def test_studentized_draws_ten_thousand_unless_told() -> None:
    assert interval(a_ratio(20), method="studentized").resamples == bootstrap.STAND_IN_RESAMPLES == 10_000


# ------------------------------------------------------------------------------------------ the exact path's own limits


def test_an_exact_distribution_that_cannot_be_had_is_replaced_and_recorded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bootstrap, "bootstrap_distribution", lambda _: None)
    found = a_ratio(40)
    got = interval(found)
    assert (got.source, got.resamples) == ("resampling", 10_000)
    assert [(f.wanted, f.used) for f in got.fallbacks] == [("exact bca", "10000 random resamples")]
    assert got.interval == interval(found, resamples=10_000).interval


def test_smoothing_is_recorded() -> None:
    got = interval(Units(sample("outlier 1e6", 60), np.ones(60)))
    assert got.source == "characteristic function"
    assert [(f.wanted, f.used.startswith("exact bca, smoothed by 0.0")) for f in got.fallbacks] == [("exact bca", True)]


def test_undefined_acceleration_falls_back_to_percentile() -> None:
    """One rare, distant unit: 1 − a(z0 + z) is negative and Efron's levels do not exist (P5)."""
    tokens = np.array([40.0] * 11 + [1.0])
    found = mean_of_draws(Units(tokens * np.append(np.linspace(-1, 1, 11), 500.0), tokens))
    got = interval(found, method="bca-plain", confidence_level=0.999)
    assert (got.interval.method, [f.used for f in got.fallbacks]) == ("percentile", ["percentile"])
    assert got.interval == interval(found, method="percentile", confidence_level=0.999).interval


def test_replicates_all_on_one_side_fall_back_to_percentile() -> None:
    """A single replicate lies above or below the estimate: z0 is infinite."""
    got = interval(a_ratio(20), resamples=1)
    assert (got.interval.method, [f.used for f in got.fallbacks]) == ("percentile", ["percentile"])
    assert got.interval.low == got.interval.high == float(replicates(a_ratio(20), 1, 0).values[0])


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(
    ("found", "why"),
    [
        (Units(np.array([3.0]), np.array([4.0])), "one unit"),
        (Units(np.full(7, 0.1) * np.arange(1.0, 8), np.arange(1.0, 8)), "all units have the same value"),
        (Units(np.zeros(5), np.ones(5)), "all units have the same value"),
    ],
)
def test_without_spread_the_interval_collapses(found: Units, why: str, method: IntervalName) -> None:
    """[μ, μ], degenerate, and the fallback recorded (P4)."""
    got = interval(found, method=method, confidence_level=0.9)
    assert got.degenerate
    assert got.interval == Interval(found.estimate, found.estimate, 0.9, "degenerate")
    assert [(f.wanted, f.used) for f in got.fallbacks] == [(method, "collapsed interval")]
    assert got.fallbacks[0].why.startswith(why)


@pytest.mark.parametrize("n", [12, 13])
def test_limits_stay_among_the_values(n: int) -> None:
    """Mostly zeros: the lower limit is an atom at 0, and a smoothed atom would reach below it."""
    found = Units(sample("99% zeros", n) * lengths(n, 1.0), lengths(n, 1.0))
    assert interval(found).interval.low == 0


# ----------------------------------------------------------------------------------------------------------- properties


def limits(found: Units, method: IntervalName, level: float = 0.9) -> Floats:
    got = interval(found, method=method, confidence_level=level)
    return np.array([got.interval.low, got.interval.high])


def close(found: Units) -> float:
    error = standard_error(found)
    assert error is not None
    return 1e-6 * error


@settings(max_examples=40)
@given(units(2, 8), st.sampled_from(EXACT), st.randoms(use_true_random=False))
def test_the_order_of_units_does_not_matter(found: Units, method: IntervalName, random: object) -> None:
    order = list(range(found.n))
    random.shuffle(order)  # type: ignore[attr-defined]  # Hypothesis types its Random as an object
    mixed = Units(found.numerators[order], found.denominators[order])
    np.testing.assert_allclose(limits(mixed, method), limits(found, method), atol=close(found))


@settings(max_examples=40)
@given(units(2, 8), st.sampled_from(EXACT))
def test_negating_numerators_mirrors_the_interval(found: Units, method: IntervalName) -> None:
    """Swapping the two systems flips the sign."""
    mirrored = Units(-found.numerators, found.denominators)
    np.testing.assert_allclose(limits(mirrored, method), -limits(found, method)[::-1], atol=close(found))


@settings(max_examples=40)
@given(units(2, 8), st.sampled_from(EXACT), st.sampled_from([0.001, 0.3, 7.0, 4096.0]), st.integers(-50, 50))
def test_scale_and_shift_carry_over(found: Units, method: IntervalName, scale: float, shift: int) -> None:
    """num → scale·(num + shift·den), den → 2·den."""
    moved = Units(scale * (found.numerators + shift * found.denominators), 2 * found.denominators)
    expected = scale * (limits(found, method) + shift) / 2
    np.testing.assert_allclose(limits(moved, method), expected, atol=scale * close(found) + 1e-10)


@settings(max_examples=40)
@given(units(2, 8), st.sampled_from(EXACT))
def test_limits_are_ordered_and_attainable(found: Units, method: IntervalName) -> None:
    low, high = limits(found, method)
    assert low <= high
    ratios = found.numerators / found.denominators
    if method == "t":
        assert low < found.estimate < high
    else:
        assert ratios.min() <= low
        assert high <= ratios.max()


@settings(max_examples=25)
@given(units(2, 8))
def test_a_higher_level_contains_a_lower_one(found: Units) -> None:
    for method in ("percentile", "t"):
        nested = [limits(found, method, level) for level in (0.5, 0.8, 0.95, 0.99)]
        for inner, outer in pairwise(nested):
            assert outer[0] <= inner[0] + close(found)
            assert inner[1] <= outer[1] + close(found)


@settings(max_examples=25)
@given(units(2, 8, equal=True), st.sampled_from(EXACT))
def test_equal_probabilities_give_the_numbers_of_none(found: Units, method: IntervalName) -> None:
    """All tokens equal: the weighted path and the plain mean agree (P6)."""
    weighted = Units(found.numerators, found.denominators, np.full(found.n, 1 / found.n))
    np.testing.assert_allclose(limits(weighted, method), limits(found, method), atol=close(found))
    np.testing.assert_allclose(limits(mean_of_draws(found), method), limits(found, method), atol=close(found))


@pytest.mark.parametrize("method", EXACT)
@pytest.mark.parametrize("n", [30, 180])
@pytest.mark.parametrize("name", ["normal", "log-normal", "t2"])
def test_order_sign_and_scale_of_many_units_carry_over(name: str, n: int, method: IntervalName) -> None:
    """What the properties above say of a handful of units, for the inverted distribution of many."""
    found = Units(sample(name, n) * lengths(n, 0.5), lengths(n, 0.5))
    expected = limits(found, method)
    order = np.random.default_rng(n).permutation(n)
    mixed = Units(found.numerators[order], found.denominators[order])
    np.testing.assert_allclose(limits(mixed, method), expected, atol=close(found))
    mirrored = Units(-found.numerators, found.denominators)
    np.testing.assert_allclose(limits(mirrored, method), -expected[::-1], atol=close(found))
    moved = Units(7 * (found.numerators + 3 * found.denominators), 2 * found.denominators)
    np.testing.assert_allclose(limits(moved, method), 7 * (expected + 3) / 2, atol=7 * close(found))


@pytest.mark.parametrize("method", METHODS)
def test_a_seed_gives_the_same_interval_again(method: IntervalName) -> None:
    def run(seed: int) -> IntervalResult:
        return interval(a_ratio(50), method=method, resamples=500, seed=seed)

    assert run(0) == run(0)
    assert (run(0) == run(1)) == (method == "t")
