"""Does the order repeat? Oracles: scipy's kendalltau with ties, enumeration of pairs of runs, Clopper and Pearson by
scipy, and simulated coverage."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats as scipy_stats

from assay.stats.bounded_mean import clopper_pearson
from assay.stats.repeated_runs import order_repeats, orders, rank_stability
from assay.stats.units import Floats
from benchmarks.simulation.repeated import order_held


def tied_scores(m: int, k: int, seed: int) -> Floats:
    return np.random.default_rng([m, k, seed]).integers(0, 5, (m, k)) / 4


@pytest.mark.parametrize("ties", [True, False])
@pytest.mark.parametrize(("m", "k"), [(2, 5), (3, 3), (8, 4), (20, 6)])
def test_kendalls_tau_against_scipy(m: int, k: int, ties: bool) -> None:
    scores = tied_scores(m, k, 1) if ties else np.random.default_rng([m, k]).normal(size=(m, k))
    expected = [scipy_stats.kendalltau(r, s).statistic for r, s in combinations(scores.T, 2)]
    defined = [tau for tau in expected if np.isfinite(tau)]
    found = rank_stability(scores)
    assert found.pairs_of_runs == len(expected)
    assert (found.tau_mean, found.tau_min) == pytest.approx((np.mean(defined), min(defined)), rel=1e-12)
    assert (found.reason is None) == (len(defined) == len(expected))


def test_runs_in_which_all_tie_have_no_tau() -> None:
    found = rank_stability(np.ones((3, 2)))
    assert (found.tau_mean, found.tau_min) == (None, None)
    assert "1 of 1 pairs of runs left out" in str(found.reason)
    assert found.whole_order_repeats == 0.5**3


def test_the_whole_order_against_enumeration() -> None:
    scores = np.random.default_rng(3).normal(size=(3, 12)) + 0.8 * np.arange(3.0)[:, None]
    ranks = [tuple(np.argsort(column)) for column in scores.T]
    expected = np.mean([a == b for a, b in combinations(ranks, 2)])
    assert rank_stability(scores).whole_order_repeats == pytest.approx(expected)


@given(st.integers(2, 9), st.integers(0, 200))
def test_order_repeats_against_enumeration(k: int, seed: int) -> None:
    first, second = tied_scores(2, k, seed)
    gaps = np.sign(first - second)
    expected = np.mean([(1 + a * b) / 2 for a, b in combinations(gaps, 2)])  # a tie counts half
    assert order_repeats(first, second).value == pytest.approx(expected)


def test_scores_that_differ_by_rounding_tie() -> None:
    first = np.array([0.1 + 0.2, 0.3])
    found = order_repeats(first, np.array([0.3, 0.1 + 0.2]))
    assert found.value == 0.5
    assert found.interval is None
    assert "tie" in str(found.reason)
    assert not orders(np.stack([first, np.array([0.3, 0.3])])).any()


@pytest.mark.parametrize(("count", "n"), [(0, 5), (5, 5), (2, 5), (7, 40)])
def test_clopper_pearson_against_scipy(count: int, n: int) -> None:
    expected = scipy_stats.binomtest(count, n).proportion_ci(0.9, "exact")
    assert clopper_pearson(count, n, 0.9) == pytest.approx((expected.low, expected.high), rel=1e-10)


def test_the_interval_of_an_order_is_that_of_its_probability() -> None:
    """4 of 4 runs: p from 0.398, so that p² + (1 − p)² may be as low as ½; 20 of 20: p from 0.832, at least 0.72."""
    few = order_repeats(np.ones(4), np.zeros(4)).interval
    many = order_repeats(np.zeros(20), np.ones(20)).interval
    assert few is not None
    assert many is not None
    assert (few.low, few.high, many.high) == (0.5, 1, 1)
    low = scipy_stats.binomtest(20, 20).proportion_ci(method="exact").low
    assert many.low == pytest.approx(low**2 + (1 - low) ** 2)


def test_one_run_has_no_pair() -> None:
    assert order_repeats(np.ones(1), np.zeros(1)).value is None


def test_the_interval_of_an_order_holds_at_least_as_often_as_it_says() -> None:
    assert np.mean([order_held(1.0, 20, simulation) for simulation in range(200)]) > 0.95
