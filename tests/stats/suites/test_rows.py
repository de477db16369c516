"""Rows of a suite, against enumeration in fractions, joint sign flips, statsmodels and the rules of one task."""

from fractions import Fraction
from itertools import product
from math import comb
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from statsmodels.stats.multitest import multipletests

from assay.stats.bootstrap.t_hall import limits, moments, own_p
from assay.stats.proportions import effective_counts, paired_shares
from assay.stats.suites import TaskDifferences, product_p, rows
from assay.stats.units import Units
from tests.stats.suites.tasks import Counts, binary, counts, real, suites

SUITES = suites()


def mid_p(b: int, c: int) -> Fraction:
    m, s = b + c, min(b, c)
    ways = 2 * sum(comb(m, k) for k in range(s)) + comb(m, s)
    return Fraction(1) if 2 * s == m else Fraction(ways, 2**m)


def enumerated(suite: list[Counts]) -> list[float]:
    """Over every outcome of every task: P(min p ≤ p_t) and P(min p < p_t), half each."""
    outcomes = [
        [(mid_p(k, m - k), Fraction(comb(m, k), 2**m)) for k in range(m + 1)] for m in (b + c for b, c, _ in suite)
    ]
    found = []
    for b, c, _ in suite:
        own, at_most, below = mid_p(b, c), Fraction(0), Fraction(0)
        for together in product(*outcomes):
            chance = Fraction(1)
            for _, one in together:
                chance *= one
            least = min(p for p, _ in together)
            at_most, below = at_most + chance * (least <= own), below + chance * (least < own)
        found.append(float(max((at_most + below) / 2, own)))  # never below the p-value alone, which may be 1
    return found


@pytest.mark.parametrize(
    "suite",
    [
        [(9, 1, 50), (3, 2, 50)],
        [(6, 0, 20), (0, 6, 30), (2, 2, 10)],
        [(5, 0, 9), (0, 0, 12), (7, 3, 40), (1, 0, 5)],
        [(1, 1, 4), (0, 0, 4)],
    ],
)
def test_adjusted_p_against_enumeration(suite: list[Counts]) -> None:
    found = rows([binary(*one) for one in suite], level=0.95)
    assert found.p.tolist() == pytest.approx(enumerated(suite), rel=1e-12)


def test_adjusted_p_against_joint_sign_flips() -> None:
    """Signs of all items that differ are drawn together; the smallest mid-p of each draw is looked at."""
    suite = [(14, 4, 100), (9, 8, 60), (3, 0, 30), (20, 31, 200)]
    rng, draws = np.random.default_rng(7), 40_000
    least = np.ones(draws)
    for b, c, _ in suite:
        heads = rng.binomial(b + c, 0.5, size=draws)
        table = np.array([float(mid_p(k, b + c - k)) for k in range(b + c + 1)])
        least = np.minimum(least, table[heads])
    found = rows([binary(*one) for one in suite], level=0.95)
    for own, p in zip(found.alone.tolist(), found.p.tolist(), strict=True):
        share = float(((least < own * (1 - 1e-9)).mean() + (least <= own * (1 + 1e-9)).mean()) / 2)
        assert p == pytest.approx(share, abs=5 * np.sqrt(0.25 / draws))


def test_real_values_against_sidak_by_hand() -> None:
    rng = np.random.default_rng(3)
    data = [rng.normal(0.4, 1, 30), rng.exponential(size=25) - 1, rng.normal(size=200)]
    found = rows([real(values) for values in data], level=0.95)
    expected = [1 - (1 - own_p(moments(Units(values, np.ones(len(values)))))) ** 3 for values in data]
    assert found.p.tolist() == pytest.approx(expected, rel=1e-12)
    low, high = limits(moments(Units(data[2], np.ones(200))), 0.95 ** (1 / 3))
    assert (found.low[2], found.high[2]) == pytest.approx((low, high), rel=1e-12)


def test_mixed_suite_by_hand() -> None:
    """A real-valued task next to one of 5 items that differ: 1 − (1 − x)(1 − F(x)), F by the binomial."""
    p = np.array([0.1, 0.0625])  # 5 of 5 on one side: mid-p 1/32; 4 of 5: 2/32 + 5/32
    found = product_p(p, [None, 5])
    assert found.tolist() == pytest.approx([1 - 0.9 * (1 - 2 / 32), 1 - (1 - 0.0625) * (1 - 2 / 32)], rel=1e-12)


@given(counts())
def test_one_task_is_mid_p_and_tango(one: Counts) -> None:
    found, expected = rows([binary(*one)], level=0.95), paired_shares(*one, level=0.95)
    assert float(found.p[0]) == pytest.approx(float(expected.p[0]), rel=1e-12)
    assert (found.low[0], found.high[0]) == pytest.approx((expected.low[0], expected.high[0]), abs=1e-12)


@pytest.mark.parametrize(("adjust", "name"), [("holm", "holm"), ("bh", "fdr_bh")])
def test_holm_and_bh_against_statsmodels(adjust: str, name: str) -> None:
    suite = [(30, 9, 200), (12, 9, 90), (1, 8, 40), (0, 0, 30), (44, 20, 500)]
    found = rows([binary(*one) for one in suite], level=0.95, adjust=adjust)  # type: ignore[arg-type]
    assert found.p.tolist() == pytest.approx(multipletests(found.alone, method=name)[1].tolist(), rel=1e-12)


def test_bh_intervals_have_the_level_of_benjamini_and_yekutieli_by_hand() -> None:
    suite = [(30, 9, 200), (12, 9, 90), (1, 8, 40), (0, 0, 30), (44, 20, 500)]
    found = rows([binary(*one) for one in suite], level=0.95, adjust="bh")
    selected = int((found.p <= 0.05).sum())
    assert selected >= 2
    assert found.level == pytest.approx(1 - 0.05 * selected / 5)


def test_clusters_take_their_design_effect_and_sidak_by_hand() -> None:
    rng = np.random.default_rng(5)
    values = rng.choice([-1.0, 0.0, 1.0], p=[0.1, 0.6, 0.3], size=120)
    drawn = Units(values.reshape(24, 5).sum(axis=1), np.full(24, 5.0))
    made = effective_counts(values, np.ones(120), drawn)
    found = rows([TaskDifferences(drawn, made), real(rng.normal(size=40))], level=0.95)
    alone = paired_shares(made.b, made.c, made.n, level=0.95 ** (1 / 2), deff=made.deff, df=made.df)
    assert float(found.p[0]) == pytest.approx(1 - (1 - float(alone.p[0])) ** 2, rel=1e-12)
    assert float(found.low[0]) == pytest.approx(float(alone.low[0]), abs=1e-12)


def test_a_task_too_small_to_reject_costs_the_others_nothing() -> None:
    big, small = binary(40, 15, 300), binary(1, 1, 10)
    alone, both = rows([big], level=0.95), rows([big, small, small], level=0.95)
    assert float(both.p[0]) == pytest.approx(float(alone.p[0]), rel=1e-12)


def test_one_real_unit_has_no_interval_and_equal_differences_collapse() -> None:
    found = rows([real(np.array([0.4])), real(np.full(8, 0.25)), real(np.zeros(3))], level=0.95)
    assert np.isnan(found.low[0])
    assert found.p[0] == 1
    assert found.alone.tolist() == [1.0, 2**-7, 1.0]
    assert (found.low[1], found.high[1]) == (0.25, 0.25)
    assert (found.low[2], found.high[2]) == (0, 0)


def test_thousands_of_pairs_that_differ() -> None:
    """The table of 200,000 pairs, and p-values that underflow."""
    found = rows([binary(100_400, 99_600, 300_000), binary(5_000, 0, 5_000)], level=0.95)
    assert found.p[0] > found.alone[0] > 0
    assert 0 < found.p[1] <= 1e-299


@given(SUITES, st.sampled_from(["product", "holm", "bh"]), st.sampled_from([0.9, 0.95, 0.99, 0.999]))
def test_p_and_interval_never_contradict(suite: list[Counts], adjust: str, level: float) -> None:
    found = rows([binary(*one) for one in suite], level=level, adjust=adjust)  # type: ignore[arg-type]
    excludes = (found.low > 0) | (found.high < 0)
    assert ((found.p <= 1 - level) == excludes).all()
    assert (found.low <= found.value).all()
    assert (found.value <= found.high).all()


@given(SUITES, st.randoms())
def test_order_of_tasks_changes_nothing(suite: list[Counts], random: Random) -> None:
    order = list(range(len(suite)))
    random.shuffle(order)
    found = rows([binary(*one) for one in suite], level=0.95)
    moved = rows([binary(*suite[i]) for i in order], level=0.95)
    np.testing.assert_allclose(moved.p, found.p[order], rtol=1e-12)
    np.testing.assert_allclose(moved.low, found.low[order], atol=1e-12)


@given(SUITES)
def test_swapping_a_and_b_flips_signs(suite: list[Counts]) -> None:
    found = rows([binary(b, c, n) for b, c, n in suite], level=0.95)
    other = rows([binary(c, b, n) for b, c, n in suite], level=0.95)
    np.testing.assert_allclose(other.p, found.p, rtol=1e-12)
    np.testing.assert_allclose(other.low, -found.high, atol=1e-12)


@given(SUITES)
def test_adjusted_is_between_the_p_alone_and_sidak(suite: list[Counts]) -> None:
    found = rows([binary(*one) for one in suite], level=0.95)
    exact = 1 - (1 - np.minimum(2 * found.alone, 1)) ** len(suite)  # no level attained is above twice the mid-p
    assert (found.p >= found.alone * (1 - 1e-12)).all()
    assert (found.p <= exact + 1e-9).all()
