"""What so many items would have shown, against statsmodels and against sums over every table."""

from functools import cache

import numpy as np
import pytest
from scipy import stats as scipy_stats
from statsmodels.stats.power import TTestPower

from assay.stats.suites import TaskDifferences, detectable
from assay.stats.units import Units
from tests.stats.suites.tasks import binary, real


@cache
def rejected(pairs: int, level: float) -> "np.ndarray":
    """Which numbers of wins among so many that differ McNemar's mid-p rejects."""
    wins = np.arange(pairs + 1)
    least = np.minimum(wins, pairs - wins)
    p = 2 * scipy_stats.binom.cdf(least - 1, pairs, 0.5) + scipy_stats.binom.pmf(least, pairs, 0.5)
    return np.minimum(np.where(2 * wins == pairs, 1.0, p), 1.0) <= 1 - level


def power_of(n: int, share: float, difference: float, level: float) -> float:
    """The chance that mid-p rejects where ``share`` of the items differ, over every number of them."""
    chance = (share + difference) / (2 * share)
    return float(
        sum(
            scipy_stats.binom.pmf(m, n, share)
            * scipy_stats.binom.pmf(np.arange(m + 1), m, chance)[rejected(m, level)].sum()
            for m in range(n + 1)
        )
    )


@pytest.mark.parametrize(("b", "c", "n"), [(8, 6, 60), (20, 20, 150), (2, 0, 40)])
@pytest.mark.parametrize("level", [0.95, 0.99])
def test_of_0_1_scores_against_every_table(b: int, c: int, n: int, level: float) -> None:
    found = detectable(binary(b, c, n), level)
    assert found is not None
    share = max((b + c) / n, found)
    assert power_of(n, share, found, level) == pytest.approx(0.8, abs=0.01)


def test_no_difference_shows_among_four_items() -> None:
    """By hand: four wins of four have the mid-p 1/16."""
    assert detectable(binary(1, 0, 4), 0.95) is None


def test_of_real_scores_against_statsmodels() -> None:
    values = np.random.default_rng(3).normal(0.1, 0.4, 50)
    found = detectable(real(values), 0.95)
    assert found is not None
    power = TTestPower().power(found / values.std(ddof=1), 50, 0.05)
    assert power == pytest.approx(0.8, abs=1e-4)


def test_what_has_no_spread_says_nothing() -> None:
    assert detectable(real(np.full(9, 0.2)), 0.95) is None
    assert detectable(TaskDifferences(Units(np.array([0.3]), np.ones(1))), 0.95) is None
