"""What a gate over tasks notices, and how often an equal system passes: against every outcome, and closed forms."""

from itertools import product
from math import exp, inf, lgamma, log, sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar
from scipy.stats import binom, nct, norm, t

from assay.stats.proportions import Effective
from assay.stats.suites import TaskDifferences
from assay.stats.suites.gate import named_chance, noticed, share_within, total_within_if_equal, within_if_equal
from assay.stats.suites.total import Total
from assay.stats.units import Units
from tests.stats.suites.tasks import binary, real

VALUES = np.random.default_rng(1).normal(size=40)


def chance(n: int, b: int, c: int, better: float, worse: float) -> float:
    """Trinomial."""
    if (better == 0 and b) or (worse == 0 and c) or b + c > n:
        return 0.0
    ways = lgamma(n + 1) - lgamma(b + 1) - lgamma(c + 1) - lgamma(n - b - c + 1)
    same = 1 - better - worse
    logs = [k * log(p) for k, p in ((b, better), (c, worse), (n - b - c, same)) if k]
    return exp(ways + sum(logs))


def mid_p(b: int, c: int) -> float:
    least = min(b, c)
    return 1.0 if b == c else float(2 * binom.cdf(least, b + c, 0.5) - binom.pmf(least, b + c, 0.5))


@pytest.mark.parametrize(
    ("n", "better", "worse", "limit", "level"),
    [(30, 0.05, 0.25, 0.1, 0.95), (24, 0.0, 0.4, 0.3, 0.99), (40, 0.1, 0.1, 0.0, 0.9), (20, 0.02, 0.3, 0.15, 0.8)],
)
def test_the_chance_to_be_named_against_every_outcome(
    n: int, better: float, worse: float, limit: float, level: float
) -> None:
    named = [
        chance(n, b, c, better, worse)
        for b, c in product(range(n + 1), repeat=2)
        if c > b and (c - b) / n > limit + 1e-12 and mid_p(b, c) <= 1 - level
    ]
    assert named_chance(n, better, worse, limit, level) == pytest.approx(sum(named), abs=1e-9)


def score_test(b: int, c: int, n: int, delta: float) -> float:
    """Tango's statistic with the constrained likelihood maximised numerically, not by its closed form."""

    def unlikely(q: float) -> float:
        p12, p21 = q + delta, q
        cells = ((b, p12), (c, p21), (n - b - c, 1 - p12 - p21))
        return inf if any(k and p <= 0 for k, p in cells) else -sum(k * log(p) for k, p in cells if k)

    low, high = max(0.0, -delta), min((1 - delta) / 2, 1.0)
    best = float(minimize_scalar(unlikely, bounds=(low, high), method="bounded", options={"xatol": 1e-12}).x)
    best = min((best, low, high), key=unlikely)
    return (b - c - n * delta) / sqrt(n * (2 * best + delta * (1 - delta)))


@pytest.mark.parametrize(
    ("n", "differing", "limit", "level"),
    [(30, 0.1, 0.15, 0.95), (25, 0.3, 0.2, 0.9), (40, 0.0, 0.1, 0.95), (20, 0.6, 0.5, 0.8)],
)
def test_an_equal_systems_bound_against_every_outcome(n: int, differing: float, limit: float, level: float) -> None:
    reach = norm.ppf(0.5 + level / 2)
    outcomes = [(b, c) for b, c in product(range(n + 1), repeat=2) if b + c <= n]
    within = [
        chance(n, b, c, differing / 2, differing / 2)
        for b, c in outcomes
        if chance(n, b, c, differing / 2, differing / 2) > 0 and score_test(b, c, n, -limit) >= reach
    ]
    assert share_within(n, differing, limit, level) == pytest.approx(sum(within), abs=1e-6)


def test_a_drop_is_noticed_with_the_power_that_was_asked_for() -> None:
    task, level = binary(12, 14, 200), 1 - 0.05 / 6
    for limit in (0.0, 0.05, 0.2):
        drop = noticed(task, limit, level, 0.8)
        assert drop is not None
        assert named_chance(200, 0.065, 0.065 + drop, limit, level) == pytest.approx(0.8, abs=2e-3)


def test_a_drop_must_be_larger_to_be_noticed_beyond_a_larger_limit() -> None:
    found = [noticed(binary(12, 14, 200), limit, 0.99) for limit in (0.0, 0.05, 0.1, 0.3)]
    assert None not in found
    assert found == sorted(found, key=lambda one: one or 0.0)
    assert noticed(binary(1, 1, 4), 0.0, 0.99) is None


def test_real_scores_pass_the_larger_of_two_thresholds_by_hand() -> None:
    task, level = real(VALUES), 0.99
    error = float(task.units.numerators.std(ddof=1)) / sqrt(40)
    shift = next(s for s in np.arange(0, 10, 1e-3) if nct.sf(t.ppf(0.995, 39), 39, s) >= 0.8)
    assert noticed(task, 0.0, level) == pytest.approx(error * shift, rel=1e-3)
    assert noticed(task, 5.0, level) == pytest.approx(5 + norm.ppf(0.8) * error)


def test_real_scores_of_an_equal_system_against_scipy() -> None:
    task = real(VALUES)
    assert task.moments is not None
    error, df = task.moments.error, task.moments.df
    expected = nct.sf(t.ppf(0.975, df), df, 0.4 / error)
    assert within_if_equal(task, 0.4, 0.95) == pytest.approx(expected, abs=1e-6)


def test_clusters_against_scipy() -> None:
    rng = np.random.default_rng(3)
    units = Units(rng.integers(-2, 3, 30).astype(float), np.full(30, 4.0))
    task = TaskDifferences(units, Effective(12.0, 10.0, 120.0, 1.7, 24.0))
    expected = nct.sf(t.ppf(0.975, 24), 24, 0.1 / (sqrt(1.7 * 22) / 120))
    assert within_if_equal(task, 0.1, 0.95) == pytest.approx(expected, abs=1e-6)


def test_what_has_no_spread_passes_by_the_width_of_its_interval() -> None:
    same = real(np.zeros(30))
    assert within_if_equal(same, 0.0, 0.95) == 1.0
    assert within_if_equal(real(np.zeros(1)), 0.5, 0.95) == 0.0
    assert noticed(same, 0.0, 0.95) is None
    clusters = TaskDifferences(Units(np.zeros(30), np.full(30, 4.0)), Effective(0.0, 0.0, 120.0, 2.0, 29.0))
    wide, narrow = (within_if_equal(clusters, limit, 0.95) for limit in (0.3, 0.001))
    assert (wide, narrow) == (1.0, 0.0)


def test_a_total_by_hand() -> None:
    found = Total(-0.01, -0.03, 0.01, 0.4, 0.01, "tango", 0.2)
    assert total_within_if_equal(found, 0.02, 0.95) == pytest.approx(norm.cdf(2 - norm.ppf(0.975)))
    assert total_within_if_equal(Total(0.0, -0.03, 0.03, 1.0, 0.0, "tango", 0.2), 0.02, 0.95) == 0.0
    assert total_within_if_equal(Total(0.0, -0.01, 0.01, 1.0, 0.0, "tango", 0.2), 0.02, 0.95) == 1.0


@given(st.integers(5, 200), st.floats(0, 1), st.floats(0, 1), st.sampled_from([0.8, 0.95, 0.99]))
def test_chances_are_chances_and_grow_with_the_limit(n: int, differing: float, limit: float, level: float) -> None:
    narrow, wide = share_within(n, differing, limit / 2, level), share_within(n, differing, limit, level)
    assert 0 <= narrow <= wide + 1e-9
    assert wide <= 1
