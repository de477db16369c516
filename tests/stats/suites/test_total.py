"""The total of a suite, against closed forms of its variance, the rules of one task, and simulation."""

from math import inf, sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats as scipy_stats
from scipy.optimize import brentq

from assay.stats.bootstrap.t_hall import limits, moments, own_p
from assay.stats.numerics import critical_values
from assay.stats.proportions import Effective, paired_shares, tango_limits
from assay.stats.suites import TaskDifferences
from assay.stats.suites.total import over_tasks, total
from assay.stats.units import Floats, Units
from tests.stats.suites.tasks import Counts, binary, counts, real, suites, values_of

SUITES = suites(2, 60)


def equal(count: int) -> Floats:
    return np.full(count, 1 / count)


@given(counts())
def test_one_task_is_mid_p_and_tango(one: Counts) -> None:
    found, expected = total([binary(*one)], equal(1), level=0.95), paired_shares(*one, level=0.95)
    assert found.p == pytest.approx(float(expected.p[0]), rel=1e-12)
    assert (found.low, found.high) == pytest.approx((float(expected.low[0]), float(expected.high[0])), abs=1e-12)
    assert found.method == "tango"


def test_one_task_of_real_values_is_t_hall() -> None:
    values = np.random.default_rng(2).exponential(size=40) - 0.7
    made = moments(Units(values, np.ones(40)))
    found = total([real(values)], equal(1), level=0.95)
    assert (found.low, found.high) == pytest.approx(limits(made, 0.95), rel=1e-12)
    assert found.p == pytest.approx(own_p(made), rel=1e-12)


def test_variance_of_the_macro_mean_in_closed_form() -> None:
    """Σ s²/n / T², s² with n − 1."""
    suite = [(12, 5, 60), (9, 8, 100), (20, 11, 80)]
    found = total([binary(*one) for one in suite], equal(3), level=0.95)
    own = [values_of(*one).var(ddof=1) / one[2] for one in suite]
    assert found.error == pytest.approx(sqrt(sum(own)) / 3, rel=1e-12)
    assert found.value == pytest.approx(np.mean([values_of(*one).mean() for one in suite]), rel=1e-12)


def test_effective_tango_by_hand() -> None:
    suite = [(12, 5, 60), (9, 8, 100), (20, 11, 80)]
    w = np.array([0.3, 0.4, 0.3])
    data = [values_of(*one) for one in suite]
    parts = [weight**2 * x.var(ddof=1) / len(x) for weight, x in zip(w, data, strict=True)]
    kurtosis = [scipy_stats.kurtosis(x, fisher=False) for x in data]
    dfs = [min(len(x) - 1, 2 * len(x) / (k - 1)) for x, k in zip(data, kurtosis, strict=True)]
    df = sum(parts) ** 2 / sum(v**2 / d for v, d in zip(parts, dfs, strict=True))
    b, c = (float(sum(weight * one[i] / one[2] for weight, one in zip(w, suite, strict=True))) for i in (0, 1))
    n = (b + c - (b - c) ** 2) / sum(parts)
    expected = tango_limits(n * b, n * c, n, critical_values(0.95, df))
    found = total([binary(*one) for one in suite], w, level=0.95)
    p = 2 * scipy_stats.t.sf(abs(n * b - n * c) / sqrt(n * b + n * c), df)
    assert found.p == pytest.approx(p, rel=1e-9)
    low = 0.0 if p > 0.05 and expected[0][0] > 0 else float(expected[0][0])
    assert (found.low, found.high) == pytest.approx((low, float(expected[1][0])), abs=1e-9)


def test_mover_by_hand() -> None:
    """One task with nearly all the weight: D ∓ √Σ w²(D_t − limit)², and p where a limit is 0, by Brent's method."""
    suite, w = [(12, 2, 60), (90, 80, 1000)], np.array([0.8, 0.2])

    def low(level: float) -> float:
        reach = scipy_stats.norm.ppf(0.5 + level / 2)
        limit = np.array([tango_limits(*one, reach)[0][0] for one in suite])
        each = np.array([(b - c) / n for b, c, n in suite])
        return float((w * each).sum() - np.sqrt((w**2 * (each - limit) ** 2).sum()))

    found = total([binary(*one) for one in suite], w, level=0.95)
    assert found.method == "mover"
    assert found.share > 0.5
    assert found.low == pytest.approx(low(0.95), abs=1e-9)
    assert found.p == pytest.approx(1 - brentq(low, 0.5, 1 - 1e-9), rel=1e-6)


def test_items_in_every_task_are_one_sample_of_means_by_hand() -> None:
    """The same items in every task with equal weights: the total is the mean of the items' means."""
    rng = np.random.default_rng(8)
    each = rng.normal(size=(40, 1)) + 0.5 * rng.normal(size=(40, 4)) + 0.3
    shared = [real(np.ascontiguousarray(each[:, t]), np.arange(40)) for t in range(4)]
    found = total(shared, equal(4), level=0.95)
    means = each.mean(axis=1)
    assert found.value == pytest.approx(means.mean(), rel=1e-12)
    assert found.error == pytest.approx(means.std(ddof=1) / sqrt(40), rel=1e-3)  # HC2 of each task is as good as n − 1
    apart = total([real(np.ascontiguousarray(each[:, t])) for t in range(4)], equal(4), level=0.95)
    assert found.error > 1.5 * apart.error


def test_binary_items_in_every_task_by_hand() -> None:
    rng = np.random.default_rng(9)
    each = np.sign(np.where(rng.random((80, 1)) < 0.3, rng.choice([-1.0, 1.0], p=[0.3, 0.7], size=(80, 1)), 0.0))
    tasks = []
    for _ in range(3):
        values = np.where(rng.random(80) < 0.9, each[:, 0], 0.0)
        b, c = float((values > 0).sum()), float((values < 0).sum())
        tasks.append(TaskDifferences(Units(values, np.ones(80)), Effective(b, c, 80.0, 1.0, inf), np.arange(80)))
    found = total(tasks, equal(3), level=0.95)
    means = np.mean([task.units.numerators for task in tasks], axis=0)
    assert found.error == pytest.approx(means.std(ddof=1) / sqrt(80), rel=1e-9)


def test_nothing_differs_is_kishs_number_by_hand() -> None:
    found = total([binary(0, 0, 50), binary(0, 0, 60), binary(0, 0, 90)], equal(3), level=0.95)
    parts = [1 / 50, 1 / 60, 1 / 90]
    df = sum(parts) ** 2 / (1 / 50**2 / 49 + 1 / 60**2 / 59 + 1 / 90**2 / 89)
    reach = scipy_stats.t.ppf(0.975, df)
    assert (found.value, found.p, found.method) == (0, 1, "tango")
    assert found.high == pytest.approx(reach**2 / (9 / sum(parts) + reach**2), rel=1e-9)  # Tango's where b = c = 0
    assert found.low == pytest.approx(-found.high)


def test_equal_differences_collapse() -> None:
    found = total([real(np.full(6, 0.5)), real(np.full(8, 0.25))], equal(2), level=0.95)
    assert (found.method, found.low, found.high) == ("degenerate", 0.375, 0.375)
    assert found.p == 2**-5


@given(SUITES, st.sampled_from([0.9, 0.95, 0.99]), st.integers(0, 10**6))
def test_p_and_interval_never_contradict(suite: list[Counts], level: float, seed: int) -> None:
    weights = np.random.default_rng(seed).dirichlet(np.ones(len(suite)))
    found = total([binary(*one) for one in suite], weights, level=level)
    assert (found.p <= 1 - level) == (found.low > 0 or found.high < 0)
    assert found.low <= found.value <= found.high


@given(SUITES)
def test_swapping_and_reordering(suite: list[Counts]) -> None:
    found = total([binary(*one) for one in suite], equal(len(suite)), level=0.95)
    other = total([binary(c, b, n) for b, c, n in reversed(suite)], equal(len(suite)), level=0.95)
    assert other.p == pytest.approx(found.p, rel=1e-6)
    assert (other.low, other.high) == pytest.approx((-found.high, -found.low), abs=1e-8)


def test_over_tasks_against_scipy() -> None:
    values = np.array([0.01, -0.02, 0.05, 0.03, 0.04, 0.00])
    found = over_tasks(values, equal(6), level=0.9)
    expected = scipy_stats.ttest_1samp(values, 0)
    assert found is not None
    assert found.p == pytest.approx(expected.pvalue, rel=1e-9)
    assert (found.low, found.high) == pytest.approx(tuple(expected.confidence_interval(0.9)), rel=1e-9)


def test_over_tasks_needs_five_that_differ() -> None:
    assert over_tasks(np.array([0.1, 0.2, 0.3, 0.4]), equal(4), level=0.95) is None
    assert over_tasks(np.full(7, 0.1), equal(7), level=0.95) is None
