"""Max-T intervals. Oracles: a literal bootstrap with the same draws, the distribution of the largest of independent
|t|, Bonferroni with scipy's t, and coverage by simulation."""

from math import ceil, inf

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats as scipy_stats

from assay.errors import UsageError
from assay.stats.bootstrap import simultaneous as module
from assay.stats.bootstrap.simultaneous import FEWEST, MOST_GROUPS, Family, Simultaneous, simultaneous
from assay.stats.streams import stream_key
from assay.stats.units import Floats
from benchmarks.simulation.positions import SHAPES, covered, documents_by_bin
from tests.stats.literal_draws import drawn_units


def normal_family(n: int, k: int, seed: int = 0) -> Family:
    return Family(np.random.default_rng(seed).normal(size=(n, k)), np.ones((n, k)))


def uneven_family(n: int, k: int, seed: int = 0) -> Family:
    """Different denominators, correlated ratios, and clusters that have no part in the later ratios."""
    rng = np.random.default_rng(seed)
    den = rng.integers(1, 9, (n, k)) * (rng.random((n, 1)) >= np.linspace(0, 0.5, k))
    return Family(den * (rng.normal(size=(n, 1)) + rng.exponential(size=(n, k))), den.astype(np.float64))


def limits(found: Simultaneous) -> list[tuple[float, float]]:
    return [(e.interval.low, e.interval.high) if e.interval else (inf, inf) for e in found.estimates]


def p_values(found: Simultaneous) -> list[float | None]:
    return [test.p_value for test in found.tests]


def literal_largest(family: Family, b: int, seed: int, purpose: str) -> list[float]:
    """Resample by resample and ratio by ratio, straight from the definition."""
    n, k = family.numerators.shape
    index = drawn_units(n, None, stream_key(seed, purpose), 0, b)  # (n, B)
    largest = []
    for replicate in range(b):
        statistics = []
        for column in range(k):
            num, den = family.numerators[:, column], family.denominators[:, column]
            m = int((den > 0).sum())
            x, t = num[index[:, replicate]], den[index[:, replicate]]
            if t.sum() == 0:
                statistics.append(inf)
                continue
            ratio = x.sum() / t.sum()
            error = np.sqrt(((x - ratio * t) ** 2).sum() * m / (m - 1)) / t.sum()
            statistics.append(abs(ratio - num.sum() / den.sum()) / error if error > 1e-9 else inf)
        largest.append(max(statistics))
    return largest


# ------------------------------------------------------------------------------------------------------- the definition


@pytest.mark.parametrize(("seed", "level"), [(0, 0.95), (1, 0.9), (2, 0.8)])
def test_critical_value_and_p_against_a_literal_bootstrap(seed: int, level: float) -> None:
    family, b = uneven_family(40, 5, seed), 399
    found = simultaneous(family, confidence_level=level, resamples=b, seed=seed, purpose="test")
    largest = sorted(literal_largest(family, b, seed, "test"))
    assert found.critical_value == pytest.approx(largest[ceil(level * (b + 1)) - 1], rel=1e-9)
    for k, (estimate, test) in enumerate(zip(found.estimates, found.tests, strict=True)):
        present = family.denominators[:, k] > 0
        num, den = family.numerators[present, k], family.denominators[present, k]
        ratio = num.sum() / den.sum()
        error = np.sqrt(((num - ratio * den) ** 2).sum() * len(num) / (len(num) - 1)) / den.sum()
        assert estimate.value == pytest.approx(ratio)
        assert estimate.standard_error == pytest.approx(error)
        assert estimate.n == len(num)
        assert test.statistic == pytest.approx(ratio / error)
        assert test.p_value == (1 + sum(value >= abs(ratio / error) for value in largest)) / (b + 1)
        assert estimate.interval is not None
        assert estimate.interval.low == pytest.approx(ratio - (found.critical_value or 0) * error)


@pytest.mark.parametrize("k", [1, 3, 8])
def test_independent_normal_ratios_against_the_largest_of_independent_t(k: int) -> None:
    """P(max |t| ≤ c) = (2F(c) − 1)^K. One family's c is random: it knows the data's own tails only."""
    n, families = 300, 8
    exact = float(scipy_stats.t.ppf((1 + 0.95 ** (1 / k)) / 2, n - 1))
    found = [simultaneous(normal_family(n, k, seed), resamples=4000, seed=seed) for seed in range(families)]
    values = np.array([f.critical_value for f in found])
    assert values.mean() == pytest.approx(exact, rel=0.01)
    assert np.all(np.abs(values / exact - 1) < 0.06)


def test_many_clusters_drawn_in_groups_against_the_largest_of_independent_t() -> None:
    n, k = 3 * MOST_GROUPS + 17, 5
    exact = float(scipy_stats.t.ppf((1 + 0.95 ** (1 / k)) / 2, n - 1))
    found = simultaneous(normal_family(n, k), resamples=4000, backend="compiled")
    assert found.critical_value == pytest.approx(exact, rel=0.03)


def test_groups_hold_every_cluster_once() -> None:
    n = 2 * MOST_GROUPS + 5
    grouped = module._grouped(np.arange(float(n))[:, None])
    assert len(grouped) == MOST_GROUPS
    by_hand = [sum(range(first, n, MOST_GROUPS)) for first in range(MOST_GROUPS)]
    assert grouped[:, 0].tolist() == by_hand


def test_copies_of_one_ratio_cost_nothing() -> None:
    """Perfectly correlated ratios are one question, however often it is asked."""
    one = normal_family(50, 1)
    many = Family(np.repeat(one.numerators, 6, axis=1), np.repeat(one.denominators, 6, axis=1))
    assert limits(simultaneous(many)) == limits(simultaneous(one)) * 6
    assert p_values(simultaneous(many)) == p_values(simultaneous(one)) * 6


# ----------------------------------------------------------------------------------------------------------- properties


@settings(max_examples=30)
@given(st.integers(0, 10_000), st.integers(2, 60), st.sampled_from([0.8, 0.95, 0.99]))
def test_p_is_at_most_alpha_exactly_where_the_interval_leaves_out_0(seed: int, n: int, level: float) -> None:
    family = uneven_family(n, 4, seed)
    shifted = Family(family.numerators - 0.6 * family.denominators, family.denominators)
    found = simultaneous(shifted, confidence_level=level, resamples=499, seed=seed)
    for estimate, test in zip(found.estimates, found.tests, strict=True):
        if estimate.interval is None or test.p_value is None:
            continue
        inside = estimate.interval.low <= 0 <= estimate.interval.high
        assert inside == (test.p_value > 1 - level + 1e-12)
        assert 0 < test.p_value <= 1


@settings(max_examples=20)
@given(st.integers(0, 10_000), st.floats(1e-6, 1e6))
def test_another_unit_scales_and_another_sign_mirrors(seed: int, scale: float) -> None:
    family = uneven_family(25, 3, seed)
    plain = simultaneous(family, resamples=299)
    scaled = simultaneous(Family(scale * family.numerators, family.denominators), resamples=299)
    mirrored = simultaneous(Family(-family.numerators, family.denominators), resamples=299)
    np.testing.assert_allclose(limits(scaled), np.array(limits(plain)) * scale, rtol=1e-9)
    assert limits(mirrored) == [(-high, -low) for low, high in limits(plain)]
    assert p_values(mirrored) == p_values(plain)


def test_backends_give_the_same_bits() -> None:
    family = uneven_family(60, 4)
    found = [simultaneous(family, resamples=500, backend=backend) for backend in ("numpy", "compiled")]
    assert found[0] == found[1]


def test_seed_and_purpose_choose_the_draws() -> None:
    family = uneven_family(60, 4)
    values = {simultaneous(family, seed=s, purpose=p).critical_value for s in (0, 1) for p in ("a", "b")}
    assert len(values) == 4


# ------------------------------------------------------------------------------------------------------------ the edges


@pytest.mark.parametrize("n", [2, 3, FEWEST - 1])
def test_few_clusters_against_bonferroni_with_scipys_t(n: int) -> None:
    values = np.random.default_rng(n).normal(0.5, 1, (n, 4))
    found = simultaneous(Family(values, np.ones((n, 4))))
    assert found.critical_value is None
    for k, (estimate, test) in enumerate(zip(found.estimates, found.tests, strict=True)):
        single = scipy_stats.ttest_1samp(values[:, k], 0)
        exact = single.confidence_interval(1 - 0.05 / 4)
        assert estimate.interval is not None
        assert estimate.interval.low == pytest.approx(float(exact.low))
        assert estimate.interval.high == pytest.approx(float(exact.high))
        assert estimate.interval.method == test.name == "bonferroni-t"
        assert test.p_value == pytest.approx(min(1.0, 4 * single.pvalue))


def test_a_sparse_ratio_takes_its_share_and_the_others_the_rest() -> None:
    family = normal_family(50, 4)
    family.denominators[5:, 3] = 0
    family.numerators[5:, 3] = 0
    found = simultaneous(family)
    three = simultaneous(
        Family(family.numerators[:, :3], family.denominators[:, :3]), confidence_level=1 - 0.05 * 3 / 4
    )
    assert found.critical_value == three.critical_value
    assert [test.name for test in found.tests] == ["max-t"] * 3 + ["bonferroni-t"]
    for mine, alone in zip(p_values(found), p_values(three), strict=False):
        assert mine is not None
        assert alone is not None
        assert mine == pytest.approx(min(1.0, alone * 4 / 3))


def test_spread_that_one_cluster_carries_is_not_resampled() -> None:
    """A third of the resamples lack it and have no standard error: max-T would be infinite for every ratio."""
    family = normal_family(50, 3)
    family.numerators[:, 2] = 1.0
    family.numerators[7, 2] = 2.0
    found = simultaneous(family)
    assert [test.name for test in found.tests] == ["max-t", "max-t", "bonferroni-t"]
    assert found.critical_value is not None
    assert found.critical_value < 4
    kurtosis = float(scipy_stats.kurtosis(family.numerators[:, 2], fisher=False))
    exact = scipy_stats.t(100 / (kurtosis - 1))  # Satterthwaite: the error itself is known from one cluster only
    last = found.estimates[2]
    assert last.interval is not None
    assert last.standard_error is not None
    assert last.interval.high == pytest.approx(1.02 + exact.ppf(1 - 0.05 / 6) * last.standard_error)
    assert found.tests[2].p_value == pytest.approx(6 * exact.sf(1.02 / last.standard_error))


def test_undefined_is_undefined() -> None:
    num, den = np.random.default_rng(0).normal(size=(20, 4)), np.ones((20, 4))
    num[:, 0], num[:, 1] = 0.0, 3.0
    num[1:, 2], den[1:, 2] = 0.0, 0.0
    num[:, 3], den[:, 3] = 0.0, 0.0
    found = simultaneous(Family(num, den))
    equal, constant, single, absent = found.estimates
    assert (equal.value, equal.interval and equal.interval.low, found.tests[0].p_value) == (0.0, 0.0, 1.0)
    assert constant.interval is not None
    assert (constant.value, constant.interval.method, found.tests[1].p_value) == (3.0, "degenerate", None)
    assert (single.value, single.interval, single.standard_error, single.n) == (num[0, 2], None, None, 1)
    assert (absent.value, absent.interval, absent.n) == (None, None, 0)
    assert all(estimate.reason for estimate in found.estimates)


def test_too_few_resamples_for_the_level_are_refused() -> None:
    with pytest.raises(UsageError, match=r"at least 999 at this level, but got 500"):
        simultaneous(normal_family(30, 2), confidence_level=0.999, resamples=500)


# ------------------------------------------------------------------------------------------------------------- coverage


@pytest.mark.untraced
@pytest.mark.parametrize("shape", SHAPES)
def test_all_bins_at_once_coverage(shape: str) -> None:
    """40 documents, 8 bins: 95% within three binomial standard errors (1.5 points) and half a point of bias."""
    simulations = 200
    held = [covered(documents_by_bin(shape, 40, 8, seed), seed, resamples=399) for seed in range(simulations)]
    assert 0.90 <= np.mean([all_bins for all_bins, _ in held]) <= 0.995
    assert np.mean([one_bin for _, one_bin in held]) < 0.85  # unadjusted t intervals miss somewhere far too often


def test_family_gives_the_clusters_of_a_ratio() -> None:
    den: Floats = np.array([[1.0, 0.0], [2.0, 0.0]])
    family = Family(np.array([[3.0, 0.0], [5.0, 0.0]]), den)
    first = family.units(0)
    assert first is not None
    assert first.estimate == pytest.approx(8 / 3)
    assert family.units(1) is None
