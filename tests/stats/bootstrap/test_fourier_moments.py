"""Sums of the characteristic function by moments, against sums of exponentials."""

import numpy as np
import pytest

from assay.stats.bootstrap import fourier
from assay.stats.bootstrap.fourier import Draws, series_of


@pytest.mark.parametrize("tails", ["normal", "t2", "one outlier"])
def test_many_units_against_sums_of_exponentials(tails: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fourier, "_MANY", 1_000)
    rng = np.random.default_rng(0)
    values = rng.standard_t(2, 3_000) if tails == "t2" else rng.normal(size=3_000)
    if tails == "one outlier":
        values[7] = 40.0
    y = values - values.mean()
    y /= np.sqrt((y * y).sum())
    found = series_of(Draws(y))
    expected = np.exp(1j * found.frequencies[:, None] * y).mean(axis=1)
    np.testing.assert_allclose(found.sums, expected, rtol=0, atol=1e-14)


def test_too_many_large_units_are_not_expanded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fourier, "_MANY", 10)
    y = np.random.default_rng(1).normal(size=20)
    assert fourier._expanded(Draws(y / np.sqrt((y * y).sum())), 0.5, 20) is None
