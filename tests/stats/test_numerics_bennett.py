"""Bennett's bound, against distributions whose tails are known."""

from math import log, log1p, sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import optimize
from scipy import stats as scipy_stats

from assay.stats.numerics import bennett_window


@pytest.mark.parametrize("mass", [1e-4, 1e-9, 1e-12])
@pytest.mark.parametrize(("n", "share"), [(1, 0.5), (10, 0.3), (1000, 0.001), (500, 0.5), (100_000, 0.0005)])
def test_window_holds_a_binomial_against_scipy(n: int, share: float, mass: float) -> None:
    """A standardised binomial: n terms between −p/σ and (1 − p)/σ."""
    deviation = sqrt(n * share * (1 - share))
    low, high = bennett_window(-share / deviation, (1 - share) / deviation, mass)
    binomial = scipy_stats.binom(n, share)
    outside = binomial.cdf(np.ceil(n * share + low * deviation) - 1) + binomial.sf(n * share + high * deviation)
    assert outside <= mass


@given(st.floats(1e-3, 30), st.floats(1e-14, 1e-2))
def test_reach_solves_bennetts_equation_against_brentq(bound: float, mass: float) -> None:
    def excess(t: float) -> float:
        x = bound * t
        return ((1 + x) * log1p(x) - x) / bound**2 + log(mass / 2)

    exact = float(optimize.brentq(excess, 1e-6, 1e6))
    reach = bennett_window(-1.0, bound, mass)[1]
    assert exact * (1 - 1e-9) <= reach <= exact * 1.02


@given(st.floats(1e-9, 1e-3), st.floats(1e-14, 1e-2))
def test_small_terms_need_the_normal_tail(bound: float, mass: float) -> None:
    """As the terms shrink the bound becomes exp(−t²/2), from above."""
    normal = sqrt(-2 * log(mass / 2))
    assert normal <= bennett_window(-bound, bound, mass)[1] <= normal * 1.01


@given(st.floats(1e-6, 10), st.floats(1e-6, 10))
def test_mirrored_terms_mirror_the_window(low: float, high: float) -> None:
    window, mirrored = bennett_window(-low, high, 1e-12), bennett_window(-high, low, 1e-12)
    assert window == (-mirrored[1], -mirrored[0])
