"""A random part of a fixed set, against scipy's hypergeometric distribution and enumeration."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import hypergeom

from assay.errors import UsageError
from assay.stats.sequential.finite import check_population, correction, hypergeometric_limits


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
