"""Sums that are rounded once; `math.fsum` is the oracle."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.stats.exact_sums import exact_sum

RNG = np.random.default_rng(1)


@pytest.mark.parametrize("n", [0, 5, 1_000, 150_000])
@pytest.mark.parametrize(
    "scale",
    [
        np.ones_like,
        np.zeros_like,
        lambda x: 10.0 ** RNG.integers(-300, 290, x.shape),
        lambda x: np.full(x.shape, 5e-324),
        lambda x: np.where(RNG.random(x.shape) < 0.01, 1e16, 1e-16),
    ],
)
def test_sums_of_many_numbers_against_fsum(n, scale) -> None:  # type: ignore[no-untyped-def]
    values = RNG.normal(size=n)
    values = values * scale(values)
    assert exact_sum(values) == math.fsum(values.tolist())


@given(st.lists(st.floats(-1e290, 1e290), min_size=1, max_size=20))
def test_sums_that_cancel_against_fsum(values: list[float]) -> None:
    many = np.array((values + [-value for value in values[1:]]) * 300)
    assert exact_sum(many) == math.fsum(many.tolist())
