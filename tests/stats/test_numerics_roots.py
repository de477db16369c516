"""The root finder, against roots that are known."""

from math import atan, exp, inf

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import optimize

from assay.stats.numerics import increasing_root


@given(st.floats(-50, 50), st.floats(-50, 50), st.floats(0.01, 5))
def test_root_of_a_line(root: float, guess: float, step: float) -> None:
    assert increasing_root(lambda x: 3 * (x - root), guess, step) == pytest.approx(root, abs=1e-10)


@given(st.floats(-20, 20), st.floats(-3, 3))
def test_root_of_a_cubic_whose_slope_vanishes_there(root: float, guess: float) -> None:
    found = increasing_root(lambda x: (x - root) ** 3, guess, 0.5, 1e-9)
    assert found == pytest.approx(root, abs=1e-8)


@given(st.floats(-8, 8), st.floats(-8, 8))
def test_root_of_a_steep_curve_against_brentq(level: float, guess: float) -> None:
    def f(x: float) -> float:
        return exp(x) + atan(50 * x) - exp(level)

    assert increasing_root(f, guess, 0.3) == pytest.approx(float(optimize.brentq(f, -60, 60, xtol=1e-13)), abs=1e-10)


@pytest.mark.parametrize("guess", [-1000.0, 0.25, 1000.0])
def test_a_jump_is_found_where_it_is(guess: float) -> None:
    """A distribution function with an atom has no root: the place where it jumps past 0 is wanted."""
    found = increasing_root(lambda x: -1.0 if x < 0.25 else 2.0, guess, 1.0, 1e-9)
    assert found == pytest.approx(0.25, abs=1e-8)


@pytest.mark.parametrize("guess", [-3.0, 3.0])
def test_a_flat_stretch_is_crossed(guess: float) -> None:
    """Between two clumps of probability the distribution function is constant."""

    def f(x: float) -> float:
        return max(x - 1, 0.0) + min(x, 0.0) - 0.5

    assert increasing_root(f, guess, 0.1) == pytest.approx(1.5, abs=1e-10)


def test_a_guess_that_is_the_root_costs_one_bracket() -> None:
    seen: list[float] = []

    def f(x: float) -> float:
        seen.append(x)
        return x - 2

    assert increasing_root(f, 2.0, 0.5) == 2.0
    assert len(seen) == 3


def test_an_end_of_the_bracket_that_is_the_root_is_returned() -> None:
    assert increasing_root(lambda x: x - 2.5, 2.0, 0.5) == 2.5
    assert increasing_root(lambda x: x - 1.5, 2.0, 0.5) == 1.5


def test_a_function_that_never_rises_ends() -> None:
    """No root, no bracket: the search gives up at a finite point instead of going on for ever."""
    assert abs(increasing_root(lambda _: -1.0, 0.0, 1.0)) < inf
