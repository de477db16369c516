"""One look, and where looks fall: against the interval of the same units, scipy and closed forms."""

from math import inf

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import pearsonr
from scipy.stats import t as student

from assay.stats.bootstrap.t_hall import limits, moments
from assay.stats.sequential.looks import LEAST_UNITS, information, look_at, schedule
from assay.stats.units import Units, effective_number

VALUES = st.lists(st.floats(-5, 5), min_size=4, max_size=30).filter(lambda x: np.ptp(x) > 0.1)


@given(VALUES)
def test_limits_are_those_of_the_fixed_interval(values: list[float]) -> None:
    """`t_hall.limits` has the coverage that docs/calibration.md prints."""
    units = Units(np.array(values), np.ones(len(values)))
    assert look_at(units).limits(0.025) == pytest.approx(limits(moments(units), 0.95), rel=1e-9)


@given(VALUES, st.sampled_from([0.2, 0.025, 1e-4]))
def test_p_values_and_limits_are_inverse(values: list[float], tail: float) -> None:
    seen = look_at(Units(np.array(values), np.ones(len(values))))
    low, high = seen.limits(tail)
    assert seen.p_above(low) == pytest.approx(tail, rel=1e-5)
    assert seen.p_below(high) == pytest.approx(tail, rel=1e-5)


def test_symmetric_values_against_scipy() -> None:
    """Without skewness Hall's transformation is the identity, and only Student's t is left."""
    values = np.concatenate([np.linspace(-1, 1, 21), np.zeros(4)]) + 0.3
    seen = look_at(Units(values, np.ones(25)))
    found = seen.moments
    assert found is not None
    assert seen.p_above(0.0) == pytest.approx(student.sf(values.mean() / found.error, found.df), rel=1e-9)


def test_units_that_all_agree_decide_by_themselves() -> None:
    same = look_at(Units(np.zeros(30), np.arange(1.0, 31.0)))
    assert (same.moments, same.differing, same.standard_error) == (None, 0, 0.0)
    assert (same.p_below(0.1), same.p_above(0.1), same.p_below(0.0), same.p_above(0.0)) == (0.0, 1.0, 1.0, 1.0)
    assert same.limits(1e-9) == (0.0, 0.0)
    assert look_at(Units(np.array([1.0, 2.0]), np.ones(2))).limits(0.0) == (-inf, inf)


@given(st.lists(st.floats(0.1, 10), min_size=25, max_size=200), st.integers(1, 12))
def test_schedule_rises_to_all_units_and_starts_late_enough(weights: list[float], looks: int) -> None:
    found = schedule(np.array(weights), looks)
    whole = effective_number(np.array(weights))
    if found is None:
        assert whole < LEAST_UNITS
        return
    assert found.places[-1] == len(weights)
    assert 1 <= len(found.places) <= looks
    assert (np.diff(found.places) > 0).all()
    assert (np.diff(found.fractions) > 0).all()
    first = np.array(weights)[: found.places[0]]
    assert effective_number(first) >= LEAST_UNITS * (1 - 1e-9)
    assert found.fractions[-1] == 1


@given(st.lists(st.floats(0.01, 2000), min_size=25, max_size=120), st.integers(1, 12))
def test_no_look_is_worth_fewer_units_than_it_says(weights: list[float], looks: int) -> None:
    """One long unit takes information away again: what a plan states is Kish's number of the units that are there."""
    found = schedule(np.array(weights), looks)
    if found is None:
        assert effective_number(np.array(weights)) < LEAST_UNITS
        return
    for place, effective in zip(found.places.tolist(), found.effective.tolist(), strict=True):
        assert effective == pytest.approx(effective_number(np.array(weights[:place])), rel=1e-12)
        assert effective >= LEAST_UNITS * (1 - 1e-9)


def test_a_long_unit_at_the_end_by_hand() -> None:
    """100 units of 1 and one of 12: (112)²/(100 + 144) = 51.4; one of 30 leaves 130²/1000 = 16.9, too few."""
    found = schedule(np.array([1.0] * 100 + [12.0]), 7)
    assert found is not None
    assert int(found.places[-1]) == 101
    assert float(found.effective[-1]) == pytest.approx(112**2 / 244)
    assert (found.effective[:-1] < found.effective[-1]).all()
    assert schedule(np.array([1.0] * 100 + [30.0]), 7) is None


def test_values_that_go_with_length_widen_the_error_by_hand() -> None:
    """The standard error times n / Kish's number, where |t| of the correlation is above 3; scipy has the t."""
    rng = np.random.default_rng(4)
    tokens = rng.lognormal(0, 1, 60)
    going, flat = (Units(tokens * (slope * tokens + rng.standard_normal(60)), tokens) for slope in (1.0, 0.0))
    seen, plain = look_at(going, by_length=True), look_at(going)
    assert seen.moments is not None
    assert plain.moments is not None
    r = float(pearsonr(going.numerators / tokens, tokens).statistic)
    assert seen.length_t == pytest.approx(r * np.sqrt(58 / (1 - r * r)))
    assert seen.widened == pytest.approx(60 * (tokens**2).sum() / tokens.sum() ** 2)
    assert seen.moments.error == pytest.approx(plain.moments.error * seen.widened)
    assert (plain.length_t, plain.widened) == (None, 1.0)
    unrelated = look_at(flat, by_length=True)
    assert (unrelated.widened, unrelated.moments) == (1.0, look_at(flat).moments)
    equal = look_at(Units(rng.standard_normal(30), np.ones(30)), by_length=True)
    assert (equal.length_t, equal.widened) == (None, 1.0)


def test_fewer_units_than_a_look_needs() -> None:
    assert schedule(np.ones(19), 5) is None
    assert schedule(np.ones(20), 5).places.tolist() == [20]  # type: ignore[union-attr]


def test_information_of_a_part_of_a_fixed_set_by_hand() -> None:
    """Var = σ²(1/n − 1/N): 50 of 100 tell as much as 100 of endlessly many, all of them everything."""
    assert information(np.array([10.0, 50.0, 100.0]), 100.0).tolist() == pytest.approx([100 / 9, 100.0, inf])
    assert information(np.array([10.0])).tolist() == [10.0]
