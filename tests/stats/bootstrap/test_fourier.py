"""How far a characteristic function must be followed: it may revive long after it has decayed."""

from math import pi, sqrt

import numpy as np
import pytest
from numpy.typing import NDArray

from assay.stats.bootstrap.fourier import DECAYED, FINEST, Draws, last_revival, series_of
from assay.stats.paired_tests import sign_flip

Floats = NDArray[np.float64]


def clumped(n: int, many: int, far: float, spread: float, seed: int) -> Floats:
    """Standard normal values, some of them far away and somewhat spread."""
    rng = np.random.default_rng(seed)
    return rng.normal(size=n) + (np.arange(n) < many) * (far + rng.uniform(-spread, spread, size=n))


def standardised(values: Floats) -> Floats:
    centred = values - values.mean()
    return np.asarray(centred / sqrt((centred * centred).sum()))


def psi(y: Floats, u: Floats) -> Floats:
    """|φ(u)|ⁿ, literally."""
    return np.asarray(np.abs(np.exp(1j * np.outer(u, y)).mean(axis=1)) ** len(y))


def test_values_without_gaps_do_not_revive() -> None:
    assert last_revival(standardised(np.linspace(-1, 1, 200))) == 0


def test_a_lattice_revives_for_ever() -> None:
    assert last_revival(standardised(np.repeat([0.0, 1.0], [30, 70]))) == pytest.approx(2 * pi / FINEST)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize(("n", "many", "far", "spread"), [(100, 40, 100, 8), (400, 20, 200, 12), (2000, 20, 1000, 100)])
def test_after_the_last_revival_there_is_none(n: int, many: int, far: float, spread: float, seed: int) -> None:
    """ψ by its definition: what comes later moves a limit by less than 0.001 standard errors, what came before more.

    |ΔF| ≤ ∫ |ψ|/(πu) du, and at 95% a limit moves by ΔF over the normal density, 0.058.
    """
    y = standardised(clumped(n, many, far, spread, seed))
    last = last_revival(y)
    later, before = np.linspace(last, 3 * last, 4000), np.linspace(10, last, 4000)
    assert np.trapezoid(psi(y, later) / (pi * later), later) / 0.058 < 1e-3
    assert np.trapezoid(psi(y, before) / (pi * before), before) / 0.058 > 1e-3


def test_a_weighted_value_counts_as_often_as_it_is_drawn() -> None:
    values = clumped(60, 20, 50, 5, 1)
    y = standardised(np.repeat(values, 2))
    assert last_revival(y[::2], 2.0) == pytest.approx(last_revival(y), rel=1e-9)
    assert last_revival(y[::2], np.full(60, 2.0)) == pytest.approx(last_revival(y), rel=1e-9)


def test_a_series_is_cut_and_smoothed_only_where_it_has_not_ended() -> None:
    smooth, outlier = standardised(np.linspace(-1, 1, 200)), standardised(np.append(np.linspace(-1, 1, 199), 1e6))
    assert series_of(Draws(smooth)).width == 0
    cut = series_of(Draws(outlier))
    assert cut.width > 0
    assert float(cut.taper[-1]) == pytest.approx(DECAYED, rel=1e-6)


@pytest.mark.parametrize("seed", [3, 17, 50])
def test_sign_flips_of_clumps_against_convolution_on_a_grid(seed: int) -> None:
    """Forty large differences among a hundred: the sum of sign flips has clumps 0.3 standard deviations apart."""
    rng = np.random.default_rng(seed)
    halves = np.rint(2 * clumped(100, 40, 100, 8, seed)) * rng.choice([-1, 1], size=100)  # multiples of ½
    mass = np.ones(1)
    for step in np.abs(halves).astype(int).tolist():
        mass = (np.append(mass, np.zeros(2 * step)) + np.append(np.zeros(2 * step), mass)) / 2
    sums = np.abs(np.arange(len(mass)) - len(mass) // 2)
    at_least, more = mass[sums >= abs(halves.sum())].sum(), mass[sums > abs(halves.sum())].sum()
    off_the_grid = halves / 2 + np.sign(halves) * rng.uniform(-1e-5, 1e-5, size=100)
    found = sign_flip(off_the_grid)[0].p_value
    assert found is not None
    assert more - 1e-4 <= found <= at_least + 1e-4
