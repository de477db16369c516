"""Replicates of many units drawn from their exact distribution: against scipy's bootstrap and its theory."""

import numpy as np
import pytest
from scipy.stats import bootstrap, ks_2samp, kstest

from assay.stats.bootstrap import interval
from assay.stats.bootstrap.drawn import DRAWN_FROM, drawn_replicates, uniforms
from assay.stats.bootstrap.exact import bootstrap_distribution
from assay.stats.units import Units


def test_uniforms_are_uniform_and_of_the_seed() -> None:
    first = uniforms(20_000, 1)
    assert kstest(first, "uniform").pvalue > 0.01
    assert np.array_equal(first[:50], uniforms(50, 1))
    assert not np.array_equal(first[:50], uniforms(50, 2))
    assert abs(np.corrcoef(first[1:], first[:-1])[0, 1]) < 0.03


@pytest.mark.parametrize("values", ["skewed", "lattice"])
def test_replicates_of_a_mean_against_scipy(values: str) -> None:
    rng = np.random.default_rng(4)
    data = rng.exponential(size=300) if values == "skewed" else rng.integers(0, 2, 300).astype(float)
    distribution = bootstrap_distribution(Units(data, np.ones(300)))
    assert distribution is not None
    ours = drawn_replicates(distribution, 5_000, 7).values
    theirs = bootstrap((data,), np.mean, n_resamples=5_000, rng=8, method="percentile").bootstrap_distribution
    assert ks_2samp(ours, theirs).pvalue > 0.01


def test_replicates_of_a_ratio_against_drawing_units() -> None:
    rng = np.random.default_rng(5)
    den = rng.lognormal(5, 0.5, 500)
    num = den * rng.normal(1, 0.3, 500)
    distribution = bootstrap_distribution(Units(num, den))
    assert distribution is not None
    ours = drawn_replicates(distribution, 5_000, 1).values
    drawn = rng.integers(0, 500, (5_000, 500))
    assert ks_2samp(ours, num[drawn].sum(axis=1) / den[drawn].sum(axis=1)).pvalue > 0.01


def test_intervals_of_many_units_near_the_exact_one() -> None:
    units = Units(np.random.default_rng(6).normal(0.1, 1, DRAWN_FROM), np.ones(DRAWN_FROM))
    exact = interval(units).interval
    drawn = interval(units, resamples=5_000, seed=3, drawn_whole=True)
    assert (drawn.source, drawn.resamples) == ("resampling", 5_000)
    # The standard error of a quantile at 2.5 % of 5,000 draws is 0.0375 standard errors of the mean.
    error = 1 / np.sqrt(DRAWN_FROM)
    assert abs(drawn.interval.low - exact.low) < 4 * 0.04 * error
    assert abs(drawn.interval.high - exact.high) < 4 * 0.04 * error


def test_turned_around_the_limits_are_the_same() -> None:
    values = np.random.default_rng(7).normal(0.1, 1, DRAWN_FROM)
    one, other = (
        interval(Units(sign * values, np.ones(DRAWN_FROM)), resamples=1_200, drawn_whole=True).interval
        for sign in (1, -1)
    )
    assert (one.low, one.high) == (-other.high, -other.low)


def test_few_units_are_drawn_one_by_one() -> None:
    units = Units(np.random.default_rng(8).normal(size=500), np.ones(500))
    assert interval(units, resamples=500, drawn_whole=True) == interval(units, resamples=500)
