"""The noise of a run's score: against the analysis of variance by hand, its coverage, and the power it promises."""

from math import sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats as scipy_stats

from assay.stats.detectable_shifts import detectable_shift
from assay.stats.reliability import TwoWay
from assay.stats.repeated_runs import RunNoise, RunVariance, item_spread, run_noise
from assay.stats.units import Floats


def noise_of(values: Floats, level: float = 0.95) -> RunNoise:
    """Of (n, k) items × runs."""
    scores = RunVariance(float(values.mean(axis=0).var(ddof=1)), values.shape[1] - 1)
    return run_noise([scores], [item_spread(values, np.ones(len(values)))], level)


@pytest.mark.parametrize("shape", [(5, 2), (40, 4), (300, 3)])
def test_spreads_against_the_mean_squares(shape: tuple[int, int]) -> None:
    values = np.random.default_rng(1).normal(size=shape)
    table, n = TwoWay.of(values), shape[0]
    assert item_spread(values, np.ones(n)).variance == pytest.approx(table.error / n)


def test_degrees_of_freedom_are_those_of_the_items_that_vary_by_hand() -> None:
    """Two of 100 items change from run to run, all others never: they are worth about two items, not a hundred."""
    values = np.zeros((100, 5))
    values[:2] = np.random.default_rng(0).normal(size=(2, 5))
    assert item_spread(values, np.ones(100)).df < 8
    many = np.random.default_rng(0).normal(size=(4_000, 5))
    assert item_spread(many, np.ones(4_000)).df == pytest.approx(16_000, rel=0.1)


def test_copied_items_in_clusters_count_once() -> None:
    values = np.random.default_rng(3).normal(size=(30, 4))
    alone, copied = item_spread(values, np.ones(30)), item_spread(3 * values, np.full(30, 3.0))
    assert (copied.variance, copied.df) == pytest.approx((alone.variance, alone.df))


def test_pooling_stops_where_the_f_test_rejects_at_a_quarter_against_scipy() -> None:
    limit = float(scipy_stats.f.isf(0.25, 3, 150))
    for ratio in (0.99, 1.01):
        found = run_noise([RunVariance(ratio * limit, 3)], [RunVariance(1.0, 150)])
        assert found.pooled == (ratio < 1)
        assert found.df == (153 if found.pooled else 3)


@given(st.integers(0, 10_000), st.integers(2, 20), st.integers(2, 6), st.sampled_from([0.0, 0.3, 3.0]))
def test_the_estimate_is_within_its_limits(seed: int, n: int, k: int, shift: float) -> None:
    rng = np.random.default_rng(seed)
    found = noise_of(rng.normal(size=(n, k)) + shift * rng.normal(size=k)).estimate
    assert found.interval is not None
    assert found.value is not None
    assert 0 <= found.interval.low <= found.value <= found.interval.high


@pytest.mark.parametrize("shared", [0.0, 1.0, 2.0])
def test_limits_hold_whatever_runs_share_coverage(shared: float) -> None:
    """300 simulations, ``shared`` in standard deviations of a mean: 95% is at least 274 (binomial, 1 in 1,000)."""
    rng, held, true = np.random.default_rng(5), 0, sqrt((1 + shared**2) / 50)
    for _ in range(300):
        found = noise_of(rng.normal(size=(50, 4)) + shared / sqrt(50) * rng.normal(size=4)).estimate.interval
        held += found is not None and found.low <= true <= found.high
    assert held >= 274


def test_the_difference_that_is_stated_has_the_power_that_is_stated() -> None:
    """4 runs of 50 items. By the scores alone a tenth of the stated differences have 48% power or less."""
    rng, true, powers = np.random.default_rng(6), 1 / sqrt(50), []
    for _ in range(300):
        found = noise_of(rng.normal(size=(50, 1)) + rng.normal(size=(50, 4)))
        stated = sqrt(2) * (found.estimate.value or 0.0) * detectable_shift(round(found.df, 6), 0.95, 0.8)
        powers.append(scipy_stats.norm.sf(1.96 - stated / (sqrt(2) * true)))
    assert np.median(powers) == pytest.approx(0.82, abs=0.03)
    assert np.quantile(powers, 0.1) >= 0.7
