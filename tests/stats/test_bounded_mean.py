"""The interval of a mean of scores from 0 to 1, against enumeration, statsmodels and arithmetic by hand."""

from math import inf, sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats as scipy_stats
from statsmodels.stats.proportion import proportion_confint

from assay.stats.bounded_mean import (
    EffectiveItems,
    agresti_coull,
    bounded_interval,
    effective_items,
    fitted_interval,
    mean_of_shares,
    nearly_binary,
)
from assay.stats.records import Interval
from assay.stats.units import Floats, Units, effective_number, grouped

SCORES = st.lists(st.floats(0, 1), min_size=1, max_size=30)


def binary(right: int, n: int, level: float = 0.95) -> Interval:
    values = np.repeat([1.0, 0.0], [right, n - right])
    return bounded_interval(Units(values, np.ones(n)), np.ones(n), level, right_or_wrong=True)


def graded(values: Floats, weights: Floats | None = None) -> Interval:
    weights = np.ones(len(values)) if weights is None else weights
    return bounded_interval(Units(values * weights, weights), weights, 0.95, right_or_wrong=False)


@given(st.integers(1, 400), st.data(), st.sampled_from([0.5, 0.8, 0.95, 0.99]))
def test_right_and_wrong_against_statsmodels(n: int, data: st.DataObject, level: float) -> None:
    right = data.draw(st.integers(0, n))
    expected = proportion_confint(right, n, alpha=1 - level, method="agresti_coull")
    found = binary(right, n, level)
    assert (found.low, found.high) == pytest.approx(expected, abs=1e-9)
    assert (found.level, found.method) == (level, "agresti-coull")


@pytest.mark.parametrize(("n", "least", "mean"), [(10, 0.925, 0.964), (20, 0.929, 0.961), (100, 0.939, 0.955)])
def test_coverage_by_enumeration(n: int, least: float, mean: float) -> None:
    """Of 981 shares from 0.01 to 0.99: the chances of the counts whose interval holds each. No simulation."""
    found = [binary(right, n) for right in range(n + 1)]
    low, high = np.array([one.low for one in found]), np.array([one.high for one in found])
    covered = []
    for share in np.arange(10, 991) / 1000:
        inside = (low <= share) & (share <= high)
        covered.append(float(scipy_stats.binom.pmf(np.arange(n + 1), n, share)[inside].sum()))
    assert min(covered) >= 0.92
    assert (min(covered), float(np.mean(covered))) == pytest.approx((least, mean), abs=5e-4)


def test_twenty_right_of_twenty_by_hand() -> None:
    """ñ = 20 + 1.96², p̃ = (20 + 1.96²/2)/ñ."""
    q = 1.959963984540054
    more = 20 + q * q
    centre = (20 + q * q / 2) / more
    found = binary(20, 20)
    assert found.low == pytest.approx(centre - q * sqrt(centre * (1 - centre) / more), rel=1e-12)
    assert (found.high, round(found.low, 3)) == (1.0, 0.81)
    assert (binary(0, 20).low, round(binary(0, 20).high, 3)) == (0.0, 0.19)


@given(SCORES)
def test_limits_are_within_0_and_1_and_hold_the_mean(values: list[float]) -> None:
    found = graded(np.array(values))
    assert 0 <= found.low <= np.mean(values) + 1e-12
    assert np.mean(values) - 1e-12 <= found.high <= 1


@given(st.lists(st.integers(0, 8), min_size=2, max_size=30), st.data())
def test_what_is_wrong_is_the_mirror_of_what_is_right(eighths: list[int], data: st.DataObject) -> None:
    weights = np.array(data.draw(st.lists(st.integers(1, 5), min_size=len(eighths), max_size=len(eighths))), float)
    values = np.array(eighths) / 8
    right, wrong = graded(values, weights), graded(1 - values, weights)
    assert (1 - wrong.high, 1 - wrong.low) == pytest.approx((right.low, right.high), abs=1e-9)


@given(st.lists(st.integers(0, 8), min_size=2, max_size=30), st.randoms(use_true_random=False))
def test_the_order_of_items_changes_nothing(eighths: list[int], random: st.DataObject) -> None:
    shuffled = list(eighths)
    random.shuffle(shuffled)  # type: ignore[attr-defined]  # a Random, whose type hypothesis does not export
    one, other = (graded(np.array(values) / 8) for values in (eighths, shuffled))
    assert (one.low, one.high) == pytest.approx((other.low, other.high), abs=1e-9)


# ------------------------------------------------------------------------------------------ the effective number


def test_partial_credit_counts_as_more_items_by_hand() -> None:
    """Scores 0.4 and 0.6, twelve of each: v = 0.1²/23, n_e = 0.25·23/0.01; kurtosis 1, so all 23 degrees of freedom."""
    values = np.array([0.4, 0.6] * 12)
    items = effective_items(Units(values, np.ones(24)), np.ones(24), right_or_wrong=False)
    assert items.df == 23
    assert items.n == pytest.approx(575)
    reach = scipy_stats.t.ppf(0.975, 23)
    found = graded(values)
    assert (found.low, found.high) == pytest.approx(agresti_coull(0.5, 575, reach), rel=1e-12)


def test_clusters_that_agree_count_as_their_number() -> None:
    """Ten clusters of five equal answers: the variance is that of ten answers, with n − 1 in its denominator."""
    values, clusters = np.repeat([1.0, 0.0, 1.0, 1.0, 0.0, 1.0, 0.0, 1.0, 1.0, 0.0], 5), np.repeat(np.arange(10), 5)
    drawn = Units(grouped(values, clusters), np.full(10, 5.0))
    assert effective_items(drawn, np.ones(50), right_or_wrong=True).n == pytest.approx(9)


def test_clusters_never_add_items() -> None:
    """Every cluster has one right of two: they differ less than chance would have it, and still are 20 items."""
    pairs = Units(np.array([1.0] * 9 + [2.0]), np.full(10, 2.0))
    assert effective_items(pairs, np.ones(20), right_or_wrong=True).n == 20
    assert effective_items(pairs, np.ones(20), right_or_wrong=False).n > 20


def test_right_and_wrong_answers_with_weights_never_count_as_more_than_kish() -> None:
    """The only wrong answer has next to no weight, and so next to no variance."""
    weights = np.array([1.0] * 10 + [1e-3])
    values = np.array([1.0] * 10 + [0.0])
    items = effective_items(Units(values * weights, weights), weights, right_or_wrong=True)
    assert items.n == pytest.approx(effective_number(weights))
    assert items.df == inf  # which is known
    heavy = Units(np.where(values > 0, 0.0, weights), weights)  # the mirror image
    assert effective_items(heavy, weights, right_or_wrong=True) == items
    credit = effective_items(Units(values * weights * 0.9, weights), weights, right_or_wrong=False)
    assert credit.n > 100
    assert 2 <= credit.df < 3  # and that is not known well


@pytest.mark.parametrize("value", [0.0, 0.3, 1.0])
def test_without_spread_weights_count_as_kish_and_clusters_by_their_number(value: float) -> None:
    weights = np.array([1.0, 2.0, 3.0, 4.0])
    binary = value in (0, 1)
    items = effective_items(Units(value * weights, weights), weights, right_or_wrong=binary)
    assert items.n == pytest.approx(100 / 30)
    drawn = Units(value * np.array([3.0, 7.0]), np.array([3.0, 7.0]))
    assert effective_items(drawn, weights, right_or_wrong=binary).n == 2


def test_a_single_item_says_little() -> None:
    assert effective_items(Units(np.ones(1), np.ones(1)), np.ones(1), right_or_wrong=True).df == inf
    found = binary(1, 1)
    assert (round(found.low, 2), found.high) == (0.17, 1.0)
    graded_one = graded(np.array([0.5]))
    assert graded_one.high - graded_one.low > 0.9


def test_scores_that_are_settled_but_for_a_few_count_as_right_or_wrong() -> None:
    """By hand: fewer than five are not at the end where most are."""
    assert nearly_binary(np.array([1.0] * 16 + [0.9, 0.5, 0.0, 0.2]))
    assert not nearly_binary(np.array([1.0] * 15 + [0.9, 0.5, 0.0, 0.2, 0.1]))
    assert nearly_binary(np.array([0.0, 0.0, 0.3]))
    assert not nearly_binary(np.full(5, 0.5))


# ------------------------------------------------------------------------------------ fitted where answers are missing


@given(st.integers(2, 400), st.data())
def test_a_fit_without_spread_is_that_of_a_share_against_statsmodels(n: int, data: st.DataObject) -> None:
    """All right: as many answers as there are, and Student's t of the units for the normal quantile."""
    answers = data.draw(st.integers(1, n))
    found = fitted_interval(1.0, 0.0, answers, n, 0.95, right_or_wrong=True)
    alpha = 2 * float(scipy_stats.norm.sf(scipy_stats.t.ppf(0.975, n - 1)))
    expected = proportion_confint(answers, answers, alpha=alpha, method="agresti_coull")
    assert (found.low, found.high) == pytest.approx(expected, abs=1e-9)


@given(st.floats(-0.1, 1.1), st.floats(0, 0.5), st.integers(2, 50), st.booleans())
def test_a_fit_stays_between_0_and_1_unless_the_estimate_does_not(
    value: float, error: float, n: int, right_or_wrong: bool
) -> None:
    found = fitted_interval(value, error, n, n, 0.95, right_or_wrong=right_or_wrong)
    assert min(value, 0) <= found.low <= value <= found.high <= max(value, 1)


def test_right_and_wrong_answers_count_once_each() -> None:
    """A small error of many units cannot make of 20 answers more than 20."""
    few = fitted_interval(0.95, 0.001, 20, 500, 0.95, right_or_wrong=True)
    assert few.low < 0.8 < fitted_interval(0.95, 0.001, 20, 500, 0.95, right_or_wrong=False).low


def test_mean_of_one_share_is_agresti_coull() -> None:
    for share, n in ((0.0, 12), (0.7, 40), (1.0, 20)):
        found = mean_of_shares([share], [EffectiveItems(n, inf)], 0.95)
        assert (found.low, found.high) == pytest.approx(agresti_coull(share, n, scipy_stats.norm.ppf(0.975)), abs=1e-9)


def test_mean_of_shares_by_hand() -> None:
    """Distances to each share's limits, added as squares; the limits by the formula of Agresti and Coull."""
    shares, sizes = [0.9, 0.4, 1.0], [30, 200, 15]
    z = scipy_stats.norm.ppf(0.975)
    below = above = 0.0
    for p, n in zip(shares, sizes, strict=True):
        centre = (p * n + z * z / 2) / (n + z * z)
        reach = z * np.sqrt(centre * (1 - centre) / (n + z * z))
        below, above = below + (p - centre + reach) ** 2, above + (centre + reach - p) ** 2
    mean = sum(shares) / 3
    found = mean_of_shares(shares, [EffectiveItems(n, inf) for n in sizes], 0.95)
    assert (found.low, found.high) == pytest.approx((mean - np.sqrt(below) / 3, mean + np.sqrt(above) / 3), abs=1e-9)


def test_mean_of_shares_coverage() -> None:
    """Tasks of 15 to 300 items, some with nearly everything right: 95% of the intervals hold."""
    rng, p, n = np.random.default_rng(12), np.array([0.98, 0.6, 0.9, 0.3]), np.array([15, 80, 40, 300])
    inside = 0
    for _ in range(600):
        shares = (rng.binomial(n, p) / n).tolist()
        found = mean_of_shares(shares, [EffectiveItems(float(size), inf) for size in n], 0.95)
        inside += found.low <= p.mean() <= found.high
    assert inside / 600 == pytest.approx(0.95, abs=0.03)
