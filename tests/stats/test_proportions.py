"""Paired 0/1 scores, against enumeration, scipy, statsmodels and a twin that is slow and literal."""

from fractions import Fraction
from math import comb, inf, sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats as scipy_stats
from scipy.optimize import brentq
from statsmodels.stats.contingency_tables import mcnemar as statsmodels_mcnemar

from assay.stats.numerics import critical_values
from assay.stats.proportions import (
    binomial_cdf,
    binomial_half,
    binomial_mass,
    design_effects,
    effective_counts,
    mcnemar_p,
    paired_shares,
    score_p,
    score_statistic,
    tango_limits,
)
from assay.stats.units import Units

COUNTS = st.integers(0, 60)


@given(COUNTS, COUNTS)
def test_mid_p_against_enumeration(b: int, c: int) -> None:
    """In whole numbers: 2·P(X < s) + P(X = s)."""
    total, s = b + c, min(b, c)
    ways = 2 * sum(comb(total, k) for k in range(s)) + comb(total, s)
    assert float(mcnemar_p(b, c)[0]) == pytest.approx(float(min(Fraction(ways, 2**total), Fraction(1))), rel=1e-12)


@given(COUNTS, COUNTS)
def test_exact_p_against_statsmodels(b: int, c: int) -> None:
    expected = statsmodels_mcnemar([[5, b], [c, 7]], exact=True).pvalue
    assert float(mcnemar_p(b, c, exact=True)[0]) == pytest.approx(expected, rel=1e-11)


@pytest.mark.parametrize("p", [1e-4, 0.01, 0.3, 0.5, 0.77, 0.9999])
def test_binomial_probabilities_against_scipy(p: float) -> None:
    rng = np.random.default_rng(1)
    n = rng.integers(1, 5000, 300).astype(np.float64)
    k = np.floor(rng.random(300) * n)
    assert binomial_mass(n, k, p) == pytest.approx(scipy_stats.binom.pmf(k, n, p), rel=1e-11)
    assert binomial_cdf(n, k, p) == pytest.approx(scipy_stats.binom.cdf(k, n, p), rel=1e-11)


@pytest.mark.parametrize(("p", "expected"), [(0.0, 1.0), (1.0, 0.0)])
def test_a_certain_outcome_has_no_tail(p: float, expected: float) -> None:
    assert binomial_cdf(np.array([5.0, 9.0]), np.array([0.0, 4.0]), p).tolist() == [expected] * 2


@pytest.mark.parametrize(("total", "s"), [(10**6, 498_000), (10**7, 4_999_000), (20_000, 9_000), (3_000, 1_499)])
def test_large_counts_against_scipy(total: int, s: int) -> None:
    expected = 2 * scipy_stats.binom.cdf(s - 1, total, 0.5) + scipy_stats.binom.pmf(s, total, 0.5)
    assert float(mcnemar_p(s, total - s)[0]) == pytest.approx(expected, rel=1e-11)
    assert float(binomial_half(total, s)) == pytest.approx(scipy_stats.binom.pmf(s, total, 0.5), rel=1e-11)


def test_p_is_never_0_and_1_where_nothing_differs() -> None:
    np.testing.assert_array_equal(mcnemar_p([0, 0, 5_000], [0, 9_999, 5_000]), [1.0, 1e-300, 1.0])


def literal_tango(b: int, c: int, n: int, reach: float) -> tuple[float, float]:
    """The likeliest share by the slope of the likelihood, the limits by Brent's method; b, c and the rest are positive.

    The probabilities are q + δ (only B right), q (only A) and 1 − 2q − δ.
    """

    def statistic(delta: float) -> float:
        def slope(q: float) -> float:
            return b / (q + delta) + c / q - 2 * (n - b - c) / (1 - 2 * q - delta)

        least, most = max(0.0, -delta), (1 - delta) / 2
        edge = 1e-8 * (most - least)
        q = brentq(slope, least + edge, most - edge, xtol=1e-15)
        return float((b - c - n * delta) / sqrt(n * (2 * q + delta - delta**2)))

    middle = (b - c) / n
    low = brentq(lambda d: statistic(d) - reach, -1 + 1e-4, middle)
    return low, brentq(lambda d: statistic(d) + reach, middle, 1 - 1e-4)


@given(st.integers(1, 30), st.integers(1, 30), st.integers(1, 60), st.sampled_from([1.0, 1.96, 3.29]))
def test_tango_against_its_literal_twin(b: int, c: int, same: int, reach: float) -> None:
    n = b + c + same
    low, high = (float(part[0]) for part in tango_limits(b, c, n, reach))
    assert (low, high) == pytest.approx(literal_tango(b, c, n, reach), abs=1e-9)


@given(st.integers(1, 500), st.sampled_from([1.0, 1.96, 3.29]))
def test_tango_where_nothing_differs_by_hand(n: int, reach: float) -> None:
    """Then q = 0 and the statistic is −√(nδ/(1 − δ)), so that the limits are ±z²/(n + z²)."""
    low, high = (float(part[0]) for part in tango_limits(0, 0, n, reach))
    assert (-low, high) == pytest.approx((reach**2 / (n + reach**2),) * 2, rel=1e-12)


def test_tango_against_the_published_interval() -> None:
    """Tango (1998), soft contact lenses: 1 and 7 of 21 pairs differ, −0.517 to −0.026 at 95%."""
    low, high = tango_limits(1, 7, 21, critical_values(0.95, inf))
    assert (round(float(low[0]), 3), round(float(high[0]), 3)) == (-0.517, -0.026)


@given(COUNTS, COUNTS, st.integers(0, 100), st.sampled_from([0.9, 0.95, 0.99, 0.999]))
def test_swapping_the_systems_mirrors_everything(b: int, c: int, same: int, level: float) -> None:
    n = max(b + c + same, 1)
    found, mirrored = paired_shares(b, c, n, level=level), paired_shares(c, b, n, level=level)
    assert found.low.tolist() == (-mirrored.high).tolist()
    assert found.p.tolist() == mirrored.p.tolist()


@pytest.mark.parametrize("exact", [False, True])
@pytest.mark.parametrize("level", [0.9, 0.95, 0.99, 0.999])
def test_every_table_agrees_with_itself(level: float, *, exact: bool) -> None:
    """All b and c of up to 120 items that differ among 150."""
    b, c = (part.ravel() for part in np.meshgrid(np.arange(121), np.arange(121)))
    kept = b + c <= 120
    b, c = b[kept], c[kept]
    found = paired_shares(b, c, 150, level=level, exact=exact)
    left_out = (found.low > 0) | (found.high < 0)
    np.testing.assert_array_equal(left_out, found.p <= 1 - level)
    assert ((found.low <= (b - c) / 150) & ((b - c) / 150 <= found.high)).all()


@pytest.mark.untraced
@pytest.mark.parametrize(
    ("totals", "alphas"),
    [
        (range(1, 501), (0.1, 0.05, 0.01)),
        pytest.param(range(1, 3001), (0.1, 0.05, 0.01, 0.001), marks=pytest.mark.nightly),
    ],
    ids=["few", "many"],
)
def test_mid_p_at_most_alpha_implies_that_tango_leaves_out_0(totals: range, alphas: tuple[float, ...]) -> None:
    """For b + c ≤ 3,000 and α ≥ 0.01; at 0.001 there are 50 tables (half of them mirrored) where it does not."""
    disagreeing = dict.fromkeys(alphas, 0)
    for total in totals:
        s = np.arange(total // 2 + 1)
        p, statistic = mcnemar_p(s, total - s), np.abs(score_statistic(s, total - s))
        for alpha in disagreeing:
            disagreeing[alpha] += int(((p <= alpha) & (statistic < critical_values(1 - alpha, inf)[0])).sum())
    assert disagreeing == {alpha: 50 if alpha == 0.001 else 0 for alpha in alphas}


@given(st.integers(0, 40), st.integers(0, 40), st.floats(1, 6), st.floats(2, 200), st.sampled_from([0.9, 0.95, 0.999]))
def test_clusters_and_weights_agree_without_being_moved(b: int, c: int, deff: float, df: float, level: float) -> None:
    n = b + c + 20
    low, high = tango_limits(b / deff, c / deff, n / deff, critical_values(level, df))
    p = score_p(b, c, deff, df)[0]
    if abs(p - (1 - level)) > 1e-9:
        assert (not low[0] <= 0 <= high[0]) == (p <= 1 - level)


def test_many_pairs_are_the_same_as_one_at_a_time() -> None:
    """More pairs than a block, with counts that repeat and with each its own n."""
    rng = np.random.default_rng(3)
    b, c = rng.integers(0, 40, (2, 20_000))
    whole = paired_shares(b, c, 100, level=0.95)
    uneven = paired_shares(b, c, 100 + np.arange(20_000) % 7, level=0.95)
    for at in (0, 8_191, 8_192, 19_999):
        assert whole.low[at] == paired_shares(b[at], c[at], 100, level=0.95).low[0]
        assert uneven.high[at] == paired_shares(b[at], c[at], 100 + at % 7, level=0.95).high[0]


def test_design_effect_of_plain_items_is_1_and_of_copied_items_their_number() -> None:
    rng = np.random.default_rng(1)
    d = rng.choice([-1.0, 0.0, 1.0], 40, p=[0.1, 0.6, 0.3])
    plain = effective_counts(d, np.ones(40), Units(d, np.ones(40)))
    assert plain.deff == pytest.approx(1)
    assert (plain.b, plain.c) == (int((d == 1).sum()), int((d == -1).sum()))
    copied = effective_counts(np.repeat(d, 5), np.ones(200), Units(5 * d, np.full(40, 5.0)))
    assert copied.deff == pytest.approx(199 / 39)  # the same spread over 40 − 1 and over 200 − 1
    assert copied.df == plain.df


def test_design_effect_without_spread_is_of_the_units_that_are_drawn() -> None:
    same = effective_counts(np.zeros(60), np.ones(60), Units(np.zeros(3), np.array([10.0, 20.0, 30.0])))
    assert same.deff == pytest.approx(60 * (100 + 400 + 900) / 3600)
    assert same.df == 2
    weights = np.array([1.0, 2.0, 3.0, 4.0])
    one_sided = effective_counts(np.ones(4), weights, Units(weights, weights))
    assert one_sided.b == 4
    assert one_sided.deff == pytest.approx(4 * 30 / 100)


def test_light_items_do_not_speak_for_heavy_ones_by_hand() -> None:
    """Three of 180 light items are lost and none of 20 heavy ones: the spread they show is next to nothing."""
    weights = np.repeat([100.0, 1.0], [20, 180])
    d = np.zeros(200)
    d[100:103] = -1
    found = effective_counts(d, weights, Units(d * weights, weights))
    assert found.deff == pytest.approx(200 * (20 * 100**2 + 180) / 2180**2)  # Kish's: 200 items count as 23.7
    low, high = tango_limits(found.b / found.deff, found.c / found.deff, found.n / found.deff, critical_values(0.95, 2))
    assert low[0] < -0.03 < high[0]


def test_light_items_do_not_speak_for_heavy_ones_coverage() -> None:
    weights = np.repeat([100.0, 1.0], [20, 180])
    counts = []
    for seed in range(300):
        d = -(np.random.default_rng(seed).random(200) < 0.03).astype(float)
        counts.append(effective_counts(d, weights, Units(d * weights, weights)))
    b, c, n, deff, df = (np.array([getattr(one, name) for one in counts]) for name in ("b", "c", "n", "deff", "df"))
    found = paired_shares(b, c, n, level=0.95, deff=deff, df=df)
    assert np.mean((found.low <= -0.03) & (found.high >= -0.03)) > 0.95 - 3 * np.sqrt(0.95 * 0.05 / 300)


def test_equal_weights_in_clusters_have_the_design_effect_of_the_clusters_alone() -> None:
    """To the last digit, whatever the weight: 0.1 has no exact square."""
    d, cluster = np.tile([1.0, 0.0, -1.0, 0.0, 0.0], 12), np.arange(60) // 6  # balanced in nearly every cluster
    drawn = Units(np.bincount(cluster, d).astype(float), np.bincount(cluster).astype(float))
    heavy = Units(0.1 * drawn.numerators, 0.1 * drawn.denominators)
    plain, tenth = effective_counts(d, np.ones(60), drawn), effective_counts(d, np.full(60, 0.1), heavy)
    assert plain.deff == 1.0
    assert tenth.deff == 1.0


def test_design_effects_take_arrays() -> None:
    found = design_effects(np.array([0.002, 0.004]), np.array([10, 10]), np.array([5, 5]), 100, 90.0)
    expected = (15 - 25 / 100) / (100 * 99)
    np.testing.assert_allclose(found, [max(1, 0.002 / expected), 0.004 / expected])
