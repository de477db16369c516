"""A random part of a fixed set, against scipy's hypergeometric distribution and enumeration."""

from itertools import combinations, product
from math import comb

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import hypergeom
from scipy.stats import t as student

from assay.errors import UsageError
from assay.stats.bootstrap.t_hall import limits, moments
from assay.stats.finite_set import (
    PartOfSet,
    check_population,
    correction,
    hypergeometric_limits,
    without_replacement_p,
)
from assay.stats.numerics import SMALLEST_P
from assay.stats.units import Units


@st.composite
def draws(draw: st.DrawFn) -> tuple[int, int, int]:
    population = draw(st.integers(1, 200))
    n = draw(st.integers(1, population))
    return draw(st.integers(0, n)), n, population


@given(draws(), st.sampled_from([0.8, 0.95]))
def test_limits_against_scipy(drawn: tuple[int, int, int], level: float) -> None:
    """Every possible number of successes whose two tails are both at least α/2, by trying all of them."""
    x, n, population = drawn
    tail = (1 - level) / 2 * (1 - 1e-9)
    totals = np.arange(x, population - n + x + 1)
    kept = totals[
        (hypergeom.sf(x - 1, population, totals, n) > tail) & (hypergeom.cdf(x, population, totals, n) > tail)
    ]
    low, high = hypergeometric_limits(x, n, population, level)
    assert (round(low * population), round(high * population)) == (kept.min(), kept.max())


@pytest.mark.parametrize("total", [0, 3, 20, 39, 40])
def test_coverage_by_enumeration(total: int) -> None:
    """Of 40 units with so many successes, the interval of 15 covers in at least 95 % of all samples."""
    counts = np.arange(16)
    chances = hypergeom.pmf(counts, 40, total, 15)
    limits = [hypergeometric_limits(int(x), 15, 40) if chances[x] > 0 else (2.0, 2.0) for x in counts]
    covers = sum(chance for chance, (low, high) in zip(chances, limits, strict=True) if low <= total / 40 <= high)
    assert covers >= 0.95 - 1e-12


def test_correction_by_enumeration() -> None:
    """The standard deviation of the means of all samples of 3 of 7 values."""
    values = np.array([1.0, 2.0, 4.0, 4.5, 7.0, 8.0, 15.0])
    means = [np.mean(part) for part in combinations(values, 3)]
    assert np.std(means) == pytest.approx(np.std(values, ddof=1) / np.sqrt(3) * correction(3, 7))
    assert correction(7, 7) == 0


def test_all_units_are_the_answer() -> None:
    assert hypergeometric_limits(3, 8, 8) == (3 / 8, 3 / 8)


def test_what_cannot_be_is_refused() -> None:
    with pytest.raises(UsageError, match="must hold"):
        hypergeometric_limits(5, 4, 10)
    with pytest.raises(UsageError, match="population must be at least the 12 items"):
        check_population(10, 12, "item")


@given(st.integers(0, 12), st.integers(0, 12), st.integers(0, 20), st.integers(0, 40))
def test_exact_p_of_pairs_against_scipy(b: int, c: int, same: int, left: int) -> None:
    """The largest p over every number of pairs that may differ in the whole set, half of them each way."""
    n = max(b + c + same, 1)
    possible = [differing for differing in range(2 * max(b, c), b + c + left + 1) if differing % 2 == 0]
    found = [2 * float(hypergeom.cdf(min(b, c), differing, differing // 2, b + c)) for differing in possible]
    p = without_replacement_p(b, c, PartOfSet(n, n + left), exact=True)
    assert p == pytest.approx(1.0 if b == c else min(max(found, default=0.0), 1.0), rel=1e-9, abs=1e-12)


def test_mid_p_of_pairs_against_scipy() -> None:
    """9 and 1 of 20 pairs of 60: 30 are expected to differ, 15 each way."""
    p = without_replacement_p(9, 1, PartOfSet(20, 60))
    assert p == pytest.approx(2 * hypergeom.cdf(1, 30, 15, 10) - hypergeom.pmf(1, 30, 15, 10))
    assert without_replacement_p(4, 4, PartOfSet(20, 60)) == 1
    assert without_replacement_p(6, 0, PartOfSet(20, 20)) == SMALLEST_P


@pytest.mark.parametrize(("population", "n", "half"), [(40, 25, 8), (100, 50, 10), (100, 80, 10), (200, 60, 30)])
def test_size_of_the_tests_by_enumeration(population: int, n: int, half: int) -> None:
    """As many pairs are better as worse: of all samples, both tests reject at most 5 %."""
    rejected, total = [0.0, 0.0], 0.0
    for b, c in product(range(half + 1), range(half + 1)):
        if 0 <= n - b - c <= population - 2 * half:
            ways = comb(half, b) * comb(half, c) * comb(population - 2 * half, n - b - c)
            chance = ways / comb(population, n)
            total += chance
            for i, exact in enumerate((True, False)):
                rejected[i] += chance * (without_replacement_p(b, c, PartOfSet(n, population), exact=exact) <= 0.05)
    assert total == pytest.approx(1)
    assert rejected[0] <= rejected[1] <= 0.05


def test_mean_of_a_part_by_hand() -> None:
    """Cochran (1977), 2.6: x̄ ± t·s/√n·√(1 − n/N)."""
    values = np.array([1.0, 2.0, 4.0, 3.0, 7.0, 1.0])
    part = PartOfSet(6, 24)
    found = part.interval(Units(values, np.ones(6)), 0.9, "t")
    reach = student.ppf(0.95, 5) * values.std(ddof=1) / np.sqrt(6) * np.sqrt(0.75)
    assert (found.interval.low, found.interval.high) == pytest.approx((3 - reach, 3 + reach))
    statistic = 3 / (values.std(ddof=1) / np.sqrt(6) * np.sqrt(0.75))
    assert found.own_p == pytest.approx(2 * student.sf(statistic, 5))
    assert part.test(Units(values, np.ones(6)), "t").statistic == pytest.approx(statistic)


def test_part_of_an_endless_set_is_as_ever() -> None:
    units = Units(np.random.default_rng(2).exponential(1, 40), np.ones(40))
    found = PartOfSet(40, 10**12).interval(units, 0.95)
    assert (found.interval.low, found.interval.high) == pytest.approx(limits(moments(units), 0.95), rel=1e-9)


@pytest.mark.parametrize(("n", "population"), [(20, 40), (30, 120), (60, 70)])
def test_coverage_of_skewed_values(n: int, population: int) -> None:
    """The mean of exponential sets, of which a part is drawn: 95 ± 2.5 %."""
    rng = np.random.default_rng(population)
    covered = []
    for _ in range(600):
        whole = rng.exponential(1, population)
        ends = PartOfSet(n, population).interval(Units(whole[:n], np.ones(n)), 0.95).interval
        covered.append(ends.low <= whole.mean() <= ends.high)
    assert 0.925 <= np.mean(covered) <= 0.985


def test_all_units_leave_nothing_to_chance() -> None:
    part, units = PartOfSet(4, 4), Units(np.array([1.0, 0.0, 2.0, 1.0]), np.ones(4))
    found = part.interval(units, 0.95)
    assert (found.interval.low, found.interval.high, found.interval.method) == (1.0, 1.0, "census")
    assert part.test(units).p_value == SMALLEST_P
    assert part.census(0.0, 4).p_value == 1.0
