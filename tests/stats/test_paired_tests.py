"""The classical tests. Oracles: statsmodels, scipy, pingouin, and tables worked out by hand."""

from types import SimpleNamespace

import numpy as np
import pingouin
import pytest
import statsmodels.api as sm
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from assay.stats.numerics import SMALLEST_P
from assay.stats.paired_tests import t_test, wilcoxon
from assay.stats.records import Test
from assay.stats.units import Floats, Units


def plain(differences: Floats) -> Units:
    return Units(differences, np.ones(len(differences)))


# --------------------------------------------------------------------------------------------------------- Student's t


@given(st.integers(0, 1000), st.integers(2, 40))
def test_t_against_scipy_ttest_rel(seed: int, n: int) -> None:
    rng = np.random.default_rng(seed)
    a = rng.normal(3, 1, n)
    b = a + rng.normal(0.1, 0.3, n)
    found, theirs = t_test(plain(b - a)), stats.ttest_rel(b, a)
    assert found.statistic == pytest.approx(theirs.statistic, rel=1e-9)
    assert found.p_value == pytest.approx(theirs.pvalue, rel=1e-9)


def test_t_against_scipy_ttest_1samp_for_equal_denominators() -> None:
    differences = np.random.default_rng(1).exponential(1, 25) - 0.7
    found = t_test(Units(512 * differences, np.full(25, 512.0)))
    theirs = stats.ttest_1samp(differences, 0)
    assert found.statistic == pytest.approx(theirs.statistic, rel=1e-12)
    assert found.p_value == pytest.approx(theirs.pvalue, rel=1e-12)


def test_t_against_published_sleep_data() -> None:
    """Student (1908), R's `sleep`: t = 4.0621 on 9 degrees of freedom, p = 0.002833."""
    first = np.array([0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0])
    second = np.array([1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4])
    found = t_test(plain(second - first))
    assert found.statistic == pytest.approx(4.0621, abs=5e-5)
    assert found.p_value == pytest.approx(0.002833, abs=5e-7)


@pytest.mark.parametrize("weighted", [False, True])
def test_t_of_cluster_sums_against_statsmodels_cluster_robust(weighted: bool) -> None:
    """A regression on a constant, its cluster-robust variance times G/(G − 1), and G − 1 degrees of freedom."""
    rng = np.random.default_rng(4)
    clusters = rng.integers(0, 17, 120)
    tokens = rng.integers(50, 600, 120).astype(np.float64) if weighted else np.ones(120)
    differences = rng.normal(0.1, 1, 120) + rng.normal(0, 0.5, 17)[clusters]
    model = sm.WLS(differences, np.ones(120), weights=tokens)
    theirs = model.fit(cov_type="cluster", cov_kwds={"groups": clusters}, use_t=True)
    top, bottom = (
        np.bincount(clusters, weights=values).astype(np.float64) for values in (tokens * differences, tokens)
    )
    found = t_test(Units(top, bottom))
    assert found.statistic == pytest.approx(float(theirs.tvalues[0]), rel=1e-9)
    assert found.p_value == pytest.approx(float(theirs.pvalues[0]), rel=1e-9)
    assert found.n == 17


def test_t_is_undefined_for_one_unit() -> None:
    assert t_test(plain(np.array([0.3]))) == Test("t", None, None, 1, "one unit")


@pytest.mark.parametrize(
    "values", [np.full(5, 0.1), np.zeros(4), 0.1 * np.ones(5) + np.array([0, 1, -1, 0, 1]) * 1e-17]
)
def test_t_is_undefined_for_equal_differences(values: Floats) -> None:
    """Equal up to rounding: otherwise the rounding would be the standard error, and p would be 1e-60."""
    reason = "all differences are equal: the standard error is 0"
    assert t_test(plain(values)) == Test("t", None, None, len(values), reason)


def test_t_is_undefined_where_the_standard_error_is_too_small_for_a_number() -> None:
    """√(1/6) of the smallest number is nearer to 0 than to it."""
    found = t_test(plain(np.array([5e-324, 0.0, 0.0])))
    assert found == Test("t", None, None, 3, "all differences are equal: the standard error is 0")


def test_t_of_two_pairs_by_hand() -> None:
    """1 and 3: t = 2/(√2/√2), and Student's t with 1 degree of freedom is Cauchy's: p = 1 − 2·arctan(2)/π."""
    found = t_test(plain(np.array([1.0, 3.0])))
    assert (found.name, found.n, found.reason) == ("t", 2, None)
    assert found.statistic == pytest.approx(2)
    assert found.p_value == pytest.approx(1 - 2 * np.arctan(2) / np.pi, rel=1e-12)


def test_t_is_never_zero() -> None:
    values = 1 + 1e-9 * np.random.default_rng(0).normal(size=400)
    assert t_test(plain(values)).p_value == SMALLEST_P


# ------------------------------------------------------------------------------------------------------------ Wilcoxon


@pytest.mark.parametrize("n", [6, 20, 49, 51, 200])
def test_wilcoxon_against_scipy_and_pingouin(n: int) -> None:
    rng = np.random.default_rng(n)
    a, b = rng.normal(0, 1, n), rng.normal(0.3, 1, n)
    found = wilcoxon(b - a)
    theirs = stats.wilcoxon(b, a, zero_method="pratt")
    third = pingouin.wilcoxon(b, a, zero_method="pratt", correction=False)
    assert found.p_value == pytest.approx(theirs.pvalue, rel=1e-12)
    assert found.p_value == pytest.approx(float(third.filter(regex="p[_-]val").iloc[0, 0]), rel=1e-12)
    assert (found.name, found.statistic, found.n, found.reason) == ("wilcoxon", theirs.statistic, n, None)


def test_wilcoxon_is_never_zero() -> None:
    """3,000 of one sign: z = √(3n)/2 = 47."""
    assert wilcoxon(np.arange(1.0, 3001.0)) == Test("wilcoxon", 0.0, SMALLEST_P, 3000)


def test_wilcoxon_against_enumerated_ranks() -> None:
    """Distinct sizes 1 … 8: the ranks are the sizes, and 2⁸ sign vectors are counted."""
    differences = np.array([-1.0, 2, 3, -4, 5, 6, 7, 8])
    ranks = np.arange(1, 9)
    signs = np.array([[1 if mask >> i & 1 else 0 for i in range(8)] for mask in range(256)])
    smaller = np.minimum(signs @ ranks, 36 - signs @ ranks)
    assert wilcoxon(differences).p_value == pytest.approx(float(np.mean(smaller <= 5)))


def test_wilcoxon_with_zeros_and_ties_against_the_normal_approximation_of_pratt() -> None:
    """Pratt (1959): zeros are ranked and then left out of sums and variance; ties by mean ranks."""
    differences = np.array([0.0, 0, 0, 1, 1, -1, 2, 2, 2, -3, 4, 5, 5, 6, 7, 7, -8, 9, 10, 11])
    ranks = stats.rankdata(np.abs(differences))
    kept = differences != 0
    total = ranks[kept & (differences > 0)].sum()
    mean, variance = ranks[kept].sum() / 2, (ranks[kept] ** 2).sum() / 4
    z = (total - mean) / np.sqrt(variance)
    assert wilcoxon(differences).p_value == pytest.approx(2 * stats.norm.sf(abs(z)), rel=1e-9)


@pytest.mark.parametrize("differences", [[0.0], [0.0] * 12])
def test_wilcoxon_of_no_difference_is_one(differences: list[float]) -> None:
    assert wilcoxon(np.array(differences)) == Test("wilcoxon", 0.0, 1.0, len(differences), "all differences are 0")


def test_wilcoxon_that_scipy_cannot_compute_is_undefined_with_a_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stats, "wilcoxon", lambda *_, **__: SimpleNamespace(statistic=0.5, pvalue=float("nan")))
    assert wilcoxon(np.array([1.0, -1.0])) == Test("wilcoxon", 0.5, None, 2, "the ranks have no variance")


@pytest.mark.parametrize("n", [5, 14, 60])
def test_swapping_the_systems_leaves_the_p_value_of_wilcoxon(n: int) -> None:
    values = np.random.default_rng(n).integers(-3, 5, n).astype(np.float64)
    assert wilcoxon(values).p_value == pytest.approx(wilcoxon(-values).p_value, rel=1e-12)


@given(st.lists(st.integers(-3, 3), min_size=1, max_size=30))
def test_swapping_the_systems_leaves_the_p_value_of_t(differences: list[int]) -> None:
    values = np.array(differences, dtype=np.float64)
    assert t_test(plain(values)).p_value == t_test(plain(-values)).p_value
