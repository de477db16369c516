"""Means over seeds and their differences, against scipy."""

import numpy as np
import pytest
from scipy import stats

from assay.stats.repeated_runs import over_seeds, seed_difference


def test_over_seeds_against_scipy() -> None:
    values = np.array([3.1, 3.4, 3.2])
    found = over_seeds(values, 0.95)
    wanted = stats.ttest_1samp(values, 0).confidence_interval(0.95)
    assert found.interval is not None
    assert (found.interval.low, found.interval.high) == pytest.approx((wanted.low, wanted.high))
    assert over_seeds(values[:1], 0.95).interval is None
    assert over_seeds(values[:0], 0.95).value is None


@pytest.mark.parametrize("paired", [True, False])
def test_differences_over_seeds_against_scipy(paired: bool) -> None:
    a, b = np.array([3.1, 3.4, 3.2, 3.3]), np.array([2.9, 3.5, 3.0, 3.1])
    found, test = seed_difference(a, b, 0.95, paired=paired)
    wanted = stats.ttest_rel(b, a) if paired else stats.ttest_ind(b, a, equal_var=False)
    limits = wanted.confidence_interval(0.95)
    assert found.interval is not None
    assert test.p_value == pytest.approx(wanted.pvalue)
    assert (found.interval.low, found.interval.high) == pytest.approx((limits.low, limits.high))


@pytest.mark.parametrize("paired", [True, False])
def test_seeds_that_differ_by_rounding_do_not_differ(paired: bool) -> None:
    a = np.array([3.1, 3.4, 3.2, 3.3]) if paired else np.full(4, 3.1)
    b = a + np.array([1, 2, 1, 3]) * np.spacing(a)
    found, test = seed_difference(a, b, 0.95, paired=paired)
    assert (found.value, found.standard_error) == (0, 0)
    assert (test.p_value, test.reason) == (None, "the seeds do not differ")


def test_one_seed_has_no_interval_and_no_test() -> None:
    for paired in (True, False):
        found, test = seed_difference(np.array([3.0]), np.array([2.5]), 0.95, paired=paired)
        assert (found.value, found.interval, test.p_value) == (-0.5, None, None)
