"""Whether tasks differ, against scipy, statsmodels and a literal twin."""

from math import log, sqrt

import numpy as np
import pytest
from scipy import stats as scipy_stats
from scipy.optimize import brentq, minimize_scalar
from statsmodels.stats.oneway import anova_oneway

from assay.stats.suites.heterogeneity import common_difference, heterogeneity, paule_mandel
from tests.stats.suites.tasks import binary, real


def literal_variance(b: int, c: int, n: int, delta: float) -> float:
    """Of (b − c)/n under a difference of delta: the likeliest share of c is sought by hand."""

    def lost(q: float) -> float:
        rest = 1 - 2 * q - delta
        return -(b * log(q + delta) + c * log(q) + (n - b - c) * log(rest))

    low, high = max(0.0, -delta) + 1e-12, (1 - delta) / 2 - 1e-12
    q = float(minimize_scalar(lost, bounds=(low, high), method="bounded", options={"xatol": 1e-12}).x)
    return (2 * q + delta - delta**2) / n


SUITE = [(30, 9, 200), (12, 9, 90), (11, 18, 140), (44, 20, 500)]


def test_common_difference_against_a_literal_twin() -> None:
    b, c, n = (np.array(part, dtype=np.float64) for part in zip(*SUITE, strict=True))
    common, variances = common_difference(b, c, n)
    assert variances.tolist() == pytest.approx([literal_variance(*one, common) for one in SUITE], rel=1e-5)
    weighted = float(((b - c) / n / variances).sum() / (1 / variances).sum())
    assert common == pytest.approx(weighted, abs=1e-7)  # a fixed point


def test_cochran_q_against_scipy() -> None:
    found = heterogeneity([binary(*one) for one in SUITE], level=0.95)
    assert found is not None
    assert found.statistic is not None
    assert found.p == pytest.approx(scipy_stats.chi2.sf(found.statistic, 3), rel=1e-12)
    assert (found.answer == "differ") == (scipy_stats.chi2.sf(found.statistic, 3) <= 0.05)


def test_welch_against_statsmodels() -> None:
    """Of two values that are as frequent, whose variance has n − 1 degrees of freedom."""
    shapes = ((0.1, 1.0, 15), (0.6, 2.0, 25), (0.2, 1.0, 40), (0.0, 3.0, 12))
    data = [np.repeat([m - s, m + s], n) for m, s, n in shapes]
    found = heterogeneity([real(values) for values in data], level=0.95)
    expected = anova_oneway(data, use_var="unequal", welch_correction=True)
    assert found is not None
    assert found.statistic == pytest.approx(expected.statistic, rel=1e-9)
    assert found.p == pytest.approx(expected.pvalue, rel=1e-9)


def test_welch_of_skewed_scores_by_hand() -> None:
    """With the degrees of freedom that the kurtosis leaves."""
    data = [np.random.default_rng(i).exponential(size=30 + 10 * i) for i in range(3)]
    found = heterogeneity([real(values) for values in data], level=0.95)
    v = np.array([x.var(ddof=1) / len(x) for x in data])
    df = np.array([2 * len(x) / (scipy_stats.kurtosis(x, fisher=False) - 1) for x in data])
    w, mean = 1 / v, np.array([x.mean() for x in data])
    lack = float(((1 - w / w.sum()) ** 2 / df).sum())
    between = float((w * (mean - (w * mean).sum() / w.sum()) ** 2).sum()) / 2
    statistic = between / (1 + 2 / 8 * lack)
    assert found is not None
    assert found.statistic == pytest.approx(statistic, rel=1e-9)
    assert found.p == pytest.approx(scipy_stats.f.sf(statistic, 2, 8 / (3 * lack)), rel=1e-9)


def test_paule_mandel_against_brent() -> None:
    values, variances = np.array([0.1, 0.3, -0.2, 0.6]), np.array([0.01, 0.02, 0.015, 0.01])

    def excess(between: float) -> float:
        w = 1 / (variances + between)
        return float((w * (values - (w * values).sum() / w.sum()) ** 2).sum()) - 3

    assert paule_mandel(values, variances) == pytest.approx(brentq(excess, 0, 10), rel=1e-9)
    assert paule_mandel(np.full(4, 0.1), variances) == 0


def test_points_lie_between_raw_and_common() -> None:
    tasks = [binary(60, 5, 200), binary(10, 12, 200), binary(8, 9, 150), binary(30, 28, 300)]
    found = heterogeneity(tasks, level=0.95)
    assert found is not None
    assert found.points is not None
    assert found.answer == "differ"
    raw = np.array([task.value for task in tasks])
    middle = (found.points / raw)[0]
    assert 0 < middle < 1
    assert np.ptp(found.points) < np.ptp(raw)


def test_equal_tasks_are_drawn_together_entirely() -> None:
    found = heterogeneity([binary(12, 6, 100), binary(24, 12, 200), binary(36, 18, 300)], level=0.95)
    assert found is not None
    assert found.points is not None
    assert found.spread == 0
    assert found.statistic == pytest.approx(0, abs=1e-9)
    assert found.points.tolist() == pytest.approx([0.06] * 3)


def test_it_cannot_tell_where_few_items_differ() -> None:
    found = heterogeneity([binary(1, 0, 30), binary(0, 1, 30), binary(0, 0, 30)], level=0.95)
    assert found is not None
    assert found.answer == "cannot tell"
    few = heterogeneity([real(np.array([0.1, 0.4])), real(np.array([9.0, 9.1, 9.3]))], level=0.95)
    assert few is not None
    assert few.answer == "cannot tell"
    none = heterogeneity([real(np.zeros(50)), real(np.arange(50.0))], level=0.95)
    assert none is not None
    assert (none.answer, none.p) == ("cannot tell", None)


def test_one_task_has_nothing_to_differ_from() -> None:
    assert heterogeneity([binary(3, 1, 30)], level=0.95) is None


def test_swapping_a_and_b_changes_no_p() -> None:
    found = heterogeneity([binary(*one) for one in SUITE], level=0.95)
    other = heterogeneity([binary(c, b, n) for b, c, n in SUITE], level=0.95)
    assert found is not None
    assert other is not None
    assert other.p == pytest.approx(found.p, rel=1e-8)
    assert other.spread == pytest.approx(found.spread, rel=1e-6, abs=sqrt(1e-12))
