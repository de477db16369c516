import warnings

import msgspec
import numpy as np
import pytest
import statsmodels.api as sm
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats as scipy_stats

from assay.stats.regression import Slope, slope, slope_limits
from assay.stats.units import Floats


def _case(seed: int, *, unbalanced: bool) -> tuple[Floats, Floats, "np.ndarray", "np.ndarray"]:
    """Questions asked of five segments at four levels; with gaps where it is unbalanced."""
    rng = np.random.default_rng(seed)
    question, segment, level = (
        a.ravel() for a in np.meshgrid(np.arange(12), np.arange(5), np.arange(4), indexing="ij")
    )
    x = np.array([0.0, 2.0, 5.0, 10.0])[level]
    items = question * 5 + segment
    y = 0.6 + 0.004 * x + rng.normal(0, 0.1, 12)[question] + rng.normal(0, 0.02, 12)[question] * x / 10
    y = y + rng.normal(0, 0.05, len(x))
    kept = rng.random(len(x)) < 0.7 if unbalanced else np.ones(len(x), dtype=bool)
    return x[kept], y[kept], items[kept], question[kept]


def _statsmodels(x: Floats, y: Floats, clusters: "np.ndarray") -> "sm.regression.linear_model.RegressionResults":
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fit = sm.OLS(y, sm.add_constant(x))
        return fit.fit(cov_type="cluster", cov_kwds={"groups": clusters}, use_t=True)


def _same(found: Slope, oracle: "sm.regression.linear_model.RegressionResults") -> None:
    low, high = oracle.conf_int()[1]
    assert found.estimate.interval is not None
    assert found.estimate.value == pytest.approx(oracle.params[1], rel=1e-9)
    assert found.estimate.standard_error == pytest.approx(oracle.bse[1], rel=1e-9)
    assert found.test.statistic == pytest.approx(oracle.tvalues[1], rel=1e-9)
    assert found.test.p_value == pytest.approx(oracle.pvalues[1], rel=1e-8)
    assert [found.estimate.interval.low, found.estimate.interval.high] == pytest.approx([low, high], rel=1e-8)


@pytest.mark.parametrize("seed", range(5))
def test_balanced_slope_against_statsmodels_clustered_ols(seed: int) -> None:
    """Every item at every level: the plain least-squares slope, with errors clustered by question."""
    x, y, items, questions = _case(seed, unbalanced=False)
    oracle = _statsmodels(x, y, questions)
    found = slope(x, y, items, questions)
    assert found.estimate.value == pytest.approx(oracle.params[1], rel=1e-9)
    assert found.estimate.standard_error == pytest.approx(oracle.bse[1], rel=1e-9)
    assert found.test.p_value == pytest.approx(oracle.pvalues[1], rel=1e-8)


@pytest.mark.parametrize("seed", range(5))
def test_unbalanced_slope_against_statsmodels_on_demeaned_values(seed: int) -> None:
    x, y, items, questions = _case(seed, unbalanced=True)
    count = np.bincount(items)
    several = count[items] > 1  # items seen once are 0 = 0 after demeaning, and count for nothing
    x, y, items, questions = x[several], y[several], items[several], questions[several]
    means = [(np.bincount(items, v) / np.maximum(np.bincount(items), 1))[items] for v in (x, y)]
    oracle = _statsmodels(x - means[0], y - means[1], questions)
    found = slope(x, y, items, questions)
    _same(found, oracle)
    assert found.r_squared == pytest.approx(oracle.rsquared, rel=1e-9)
    assert found.test.n == len(np.unique(questions))


def test_items_seen_once_change_nothing() -> None:
    x, y, items, questions = _case(3, unbalanced=False)
    more = slope(
        np.append(x, 3.0), np.append(y, 0.1), np.append(items, items.max() + 1), np.append(questions, questions[-1])
    )
    assert more == slope(x, y, items, questions)


def test_two_levels_against_the_paired_difference() -> None:
    """Closed form: with levels 0 and 4, the slope is a quarter of the mean difference; clusters are items."""
    rng = np.random.default_rng(1)
    difference = rng.normal(0.1, 0.2, 30)
    x, items = np.tile([0.0, 4.0], 30), np.repeat(np.arange(30), 2)
    y = np.column_stack([np.zeros(30), difference]).ravel()
    found = slope(x, y, items, items)
    assert found.estimate.value == pytest.approx(difference.mean() / 4, rel=1e-12)
    spread = difference.std(ddof=1) / 4 / np.sqrt(30)
    correction = np.sqrt(59 / 58)  # (N − 1)/(N − K), which a paired t test does not have
    assert found.estimate.standard_error == pytest.approx(spread * correction, rel=1e-9)


def test_easy_items_at_one_level_make_no_slope() -> None:
    """Easy items were asked at 0 and 1, hard ones at 9 and 10; within items nothing changes."""
    rng = np.random.default_rng(4)
    x = np.concatenate([np.tile([0.0, 1.0], 20), np.tile([9.0, 10.0], 20)])
    items = np.repeat(np.arange(40), 2)
    y = np.where(items < 20, 0.9, 0.3) + rng.normal(0, 0.01, 80)
    found = slope(x, y, items, items)
    assert abs(found.estimate.value or 1.0) < 0.01
    assert abs(np.polyfit(x, y, 1)[0]) > 0.05


def test_what_cannot_be_known() -> None:
    one = slope(np.array([1.0, 1.0]), np.array([0.2, 0.3]), np.array([0, 0]), np.array([0, 0]))
    assert (one.estimate.value, one.estimate.reason) == (None, "no item was seen at two values")
    assert one.test.p_value is None
    single = slope(np.array([0.0, 1.0]), np.array([0.2, 0.3]), np.array([0, 0]), np.array([0, 0]))
    assert single.estimate.value == pytest.approx(0.1)
    assert single.estimate.interval is None
    assert single.test.reason == "one cluster has no standard error"


def test_lines_without_noise() -> None:
    x, items = np.tile([0.0, 1.0, 2.0], 5), np.repeat(np.arange(5), 3)
    exact = slope(x, 0.5 + 0.25 * x, items, items)
    assert exact.estimate.value == pytest.approx(0.25)
    assert exact.test.p_value is None
    assert exact.r_squared == pytest.approx(1.0)
    flat = slope(x, np.full(15, 0.5), items, items)
    assert (flat.estimate.value, flat.test.p_value, flat.r_squared) == (0.0, 1.0, None)


@given(st.integers(0, 10_000), st.floats(0.1, 10), st.floats(-5, 5))
def test_units_and_origins_change_nothing(seed: int, scale: float, shift: float) -> None:
    x, y, items, questions = _case(seed, unbalanced=True)
    found, other = slope(x, y, items, questions), slope(scale * x + shift, y + shift, items, questions)
    assert found.estimate.value is not None
    assert other.estimate.value == pytest.approx(found.estimate.value / scale, rel=1e-6, abs=1e-12)
    assert other.test.p_value == pytest.approx(found.test.p_value, rel=1e-5)


def test_the_record_comes_back_from_plain_data() -> None:
    found = slope(*_case(0, unbalanced=True))
    assert msgspec.convert(msgspec.to_builtins(found), Slope) == found


def test_limits_of_a_family_are_those_of_the_level_divided_against_scipy() -> None:
    """Bonferroni: of three slopes each has the level 1 − 0.05/3; p above the level keeps 0 in."""
    x, y, items, clusters = _case(2, unbalanced=False)
    found = slope(x, y, items, clusters)
    value, error = found.estimate.value, found.estimate.standard_error
    assert value is not None
    assert error is not None
    reach = scipy_stats.t.isf(0.05 / 6, found.test.n - 1) * error
    shown = slope_limits(found, 0.001, confidence_level=0.95, family=3)
    assert shown is not None
    assert (shown.low, shown.high) == pytest.approx((value - reach, value + reach), rel=1e-9)
    kept = slope_limits(found, 0.2, confidence_level=0.95, family=3)
    assert kept is not None
    assert kept.low <= 0 <= kept.high
    alone = slope(x, y, items, np.zeros_like(clusters))
    assert slope_limits(alone, 1.0, confidence_level=0.95, family=3) is None
