"""Bounds of several looks, against published tables, scipy's multivariate normal distribution and simulation."""

from math import inf, sqrt

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import norm

from assay.errors import UsageError
from assay.stats.sequential.boundaries import bounds, drift_for, fixed_drift, futility, inflation
from assay.stats.sequential.paths import exits
from assay.stats.sequential.spending import spent
from tests.stats.normal_paths import within

FIVE = [0.2, 0.4, 0.6, 0.8, 1.0]
THREE = [0.35, 0.7, 1.0]


@pytest.mark.parametrize(
    ("fractions", "alpha", "two_sided", "expected"),
    [
        (FIVE, 0.025, False, [4.8769, 3.3570, 2.6803, 2.2898, 2.0310]),  # ld98, Reboussin et al. 1996, and ldbounds
        (FIVE, 0.025, True, [4.8769, 3.3570, 2.6803, 2.2898, 2.0310]),
        (THREE, 0.025, False, [3.6128, 2.4406, 2.0002]),  # gsDesign's sfLDOF, as its article of seven test types prints
        ([0.25, 0.5, 0.75, 1.0], 0.05, False, [3.74955, 2.53993, 2.01604, 1.72014]),  # SeqBounds.jl's README
    ],
)
def test_obrien_fleming_against_published_tables(
    fractions: list[float], alpha: float, two_sided: bool, expected: list[float]
) -> None:
    assert bounds(fractions, alpha, two_sided=two_sided).upper == pytest.approx(expected, abs=1e-4)


def test_pocock_against_published_table() -> None:
    """Two-sided 0.05: ld98 and SeqBounds.jl's tests, whose coarser grids are right to 1e-4."""
    found = bounds(FIVE, 0.025, "pocock", two_sided=True).upper
    assert found == pytest.approx([2.4380, 2.4268, 2.4101, 2.3966, 2.3859], abs=1.2e-4)


@pytest.mark.parametrize("spending", ["obrien-fleming", "pocock"])
@pytest.mark.parametrize("two_sided", [False, True])
def test_spent_error_against_scipy(spending: str, two_sided: bool) -> None:
    """At each look the paths that have left so far are as many as may be spent."""
    fractions = [0.1, 0.45, 0.5, 1.0]
    found = bounds(fractions, 0.025, spending, two_sided=two_sided)  # type: ignore[arg-type]
    for k in range(1, 5):
        stayed = within(found.lower[:k], found.upper[:k], fractions[:k])
        sides = 2 if two_sided else 1
        assert 1 - stayed == pytest.approx(sides * spent(fractions[k - 1], 0.025, spending), abs=5e-6)  # type: ignore[arg-type]


def test_power_against_gsdesign() -> None:
    """The probabilities that the same article prints at the drift whose power is 0.85."""
    found = bounds(THREE)
    reached = np.cumsum(found.exits(drift_for(found, 0.85)).above)
    assert reached == pytest.approx([0.0338, 0.5341, 0.85], abs=2e-3)


@pytest.mark.parametrize("drift", [-1.0, 0.0, 2.5])
def test_exits_against_scipy(drift: float) -> None:
    information, low, high = [0.3, 0.5, 1.2], [-2.0, -1.0, 0.0], [2.5, 2.2, 1.5]
    found = exits(np.array(information), np.array(low), np.array(high), drift)
    for k in range(3):
        before = within(low[:k], high[:k], information[:k], drift) if k else 1.0
        above = before - within([*low[:k], -inf], [*high[:k], high[k]], information[: k + 1], drift)
        assert float(found.above[k]) == pytest.approx(above, abs=5e-6)


def test_expected_size_against_simulation() -> None:
    found = bounds(FIVE, two_sided=True)
    drift, rng = 3.0, np.random.default_rng(5)
    steps = rng.normal(drift * 0.2, sqrt(0.2), (40_000, 5)).cumsum(axis=1) / np.sqrt(FIVE)
    left = np.abs(steps) >= found.upper
    stop = np.where(left.any(axis=1), left.argmax(axis=1), 4)
    expected = found.exits(drift).expected(np.array(FIVE))
    assert expected == pytest.approx(np.array(FIVE)[stop].mean(), abs=4 * 0.25 / sqrt(40_000))
    assert found.exits(drift).stops.sum() == pytest.approx(1)


def test_one_look_is_the_fixed_test() -> None:
    found = bounds([1.0])
    assert float(found.upper[0]) == pytest.approx(norm.isf(0.025), abs=1e-10)
    assert drift_for(found, 0.8) == pytest.approx(fixed_drift(0.025, 0.8), abs=1e-7)
    assert inflation(found, 0.9) == pytest.approx(1.0, abs=1e-7)


@settings(max_examples=15)
@given(st.lists(st.floats(0.02, 1.0), min_size=1, max_size=6), st.sampled_from([0.005, 0.025, 0.1]))
def test_all_of_the_error_is_spent_whatever_the_looks(steps: list[float], alpha: float) -> None:
    fractions = (np.cumsum(steps) / sum(steps)).tolist()
    fractions[-1] = 1.0
    found = bounds(fractions, alpha)
    assert float(found.exits(0.0).above.sum()) == pytest.approx(alpha, abs=1e-8)
    assert (found.nominal <= alpha * (1 + 1e-9)).all()


def test_futility_is_not_binding_and_spends_beta() -> None:
    found = bounds(THREE)
    lower = futility(found, 0.15)
    assert float(lower.lower[-1]) == found.upper[-1]  # one of the two at the end
    left = exits(found.fractions, lower.lower, found.upper, lower.drift)
    assert float(left.below.sum()) == pytest.approx(0.15, abs=1e-7)
    assert np.cumsum(left.below)[:2] == pytest.approx([spent(t, 0.15) for t in THREE[:2]], abs=1e-7)
    assert lower.drift > drift_for(found, 0.85)  # the price of stopping for nothing
    stayed = within([*lower.lower[:2], -inf], found.upper, THREE, lower.drift)
    assert stayed == pytest.approx(1 - left.above.sum() - left.below[:2].sum(), abs=5e-6)


@pytest.mark.parametrize("fractions", [[], [0.5], [0.6, 0.5, 1.0], [0.0, 1.0], [0.5, 1.1], [0.01] * 101])
def test_fractions_that_are_none(fractions: list[float]) -> None:
    with pytest.raises(UsageError, match="fractions must rise"):
        bounds(fractions)


def test_bad_numbers_are_refused() -> None:
    with pytest.raises(UsageError, match="alpha"):
        bounds([1.0], 0.5)
    with pytest.raises(UsageError, match="spending must be one of"):
        bounds([1.0], 0.025, "peto")  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="power"):
        drift_for(bounds([1.0]), 0.02)
    with pytest.raises(UsageError, match="beta"):
        futility(bounds([1.0]), 0.99)


def test_looks_that_may_spend_nothing_have_no_bound() -> None:
    found = bounds([0.0005, 1.0])
    assert found.upper[0] == inf
    assert found.nominal[0] == 0
    assert float(found.upper[1]) == pytest.approx(norm.isf(0.025), abs=1e-9)
