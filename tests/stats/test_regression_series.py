"""Means and slopes against statsmodels and a slow literal twin, and their size by simulation."""

import numpy as np
import pytest
import statsmodels.api as sm
from scipy import integrate, linalg, stats

from assay.stats.regression import blocks_of, change_of, error_of, mean_of, smoothed, window_of
from assay.stats.units import Floats

RNG = np.random.default_rng(3)
NOISE = np.convolve(RNG.normal(size=240), [1, 0.6, 0.3], mode="valid")


@pytest.mark.parametrize("n", [4, 30, 200])
def test_values_against_statsmodels(n: int) -> None:
    steps, values = np.arange(10.0, 10 + 5 * n, 5), 3 - 0.01 * np.arange(n) + NOISE[:n]
    fitted = sm.OLS(values, sm.add_constant(steps)).fit()
    assert change_of(steps, values, 0.9).value == pytest.approx(fitted.params[1] * np.ptp(steps))
    assert mean_of(values, 0.9).value == pytest.approx(sm.OLS(values, np.ones(n)).fit().params[0])


def twin(design: Floats, values: Floats, column: int, rho: float) -> tuple[float, float]:
    """The restricted likelihood of ρ and the standard error under it, by dense matrices."""
    n, k = design.shape
    covariance = linalg.toeplitz(rho ** np.arange(n)) / (1 - rho**2)
    inverse = np.linalg.inv(covariance)
    gram = design.T @ inverse @ design
    rest = values - design @ np.linalg.solve(gram, design.T @ inverse @ values)
    squares = rest @ inverse @ rest
    likelihood = (np.linalg.det(covariance) * np.linalg.det(gram)) ** -0.5 * squares ** (-(n - k) / 2)
    least = np.linalg.inv(design.T @ design)
    spread = least @ design.T @ covariance @ design @ least
    return float(likelihood), float(np.sqrt(squares / (n - k) * spread[column, column]))


@pytest.mark.parametrize("n", [5, 12, 29])
@pytest.mark.parametrize("column", [0, 1])
def test_the_mixture_over_autocorrelations_against_a_dense_twin(n: int, column: int) -> None:
    values, x, level = NOISE[:n] + 0.1 * np.arange(n), np.linspace(-0.5, 0.5, n), 0.9
    design = np.column_stack([np.ones(n), x])
    error, reach = error_of(x, values, column, level)

    def outside(rho: float) -> float:
        likelihood, scale = twin(design, values, column, rho)
        return float(likelihood * 2 * stats.t.sf(reach / scale, n - 2))

    def variance(rho: float) -> float:
        likelihood, scale = twin(design, values, column, rho)
        return likelihood * scale**2

    whole, out, squares = (
        integrate.quad(part, -0.99, 0.99, limit=200, epsabs=0, epsrel=1e-9)[0]
        for part in (lambda rho: twin(design, values, column, rho)[0], outside, variance)
    )
    assert out / whole == pytest.approx(1 - level, rel=1e-6)
    assert error == pytest.approx(np.sqrt(squares / whole), rel=1e-6)


def test_for_a_known_autocorrelation_the_twin_is_statsmodels() -> None:
    n, rho = 20, 0.4
    design = np.column_stack([np.ones(n), np.linspace(-0.5, 0.5, n)])
    covariance = linalg.toeplitz(rho ** np.arange(n)) / (1 - rho**2)
    scale = sm.GLS(NOISE[:n], design, sigma=covariance).fit().scale
    least = np.linalg.pinv(design)
    wanted = np.sqrt(scale * (least @ covariance @ least.T)[1, 1])
    assert twin(design, NOISE[:n], 1, rho)[1] == pytest.approx(wanted)


def test_blocks_are_equal_and_the_first_points_are_left_out() -> None:
    values = np.arange(65.0)
    assert blocks_of(values).tolist() == [values[low : low + 3].mean() for low in range(2, 65, 3)]
    assert blocks_of(values[:30]).tolist() == values[:30].tolist()


def noise(rng: np.random.Generator, n: int, kept: float) -> Floats:
    values = rng.normal(size=n + 60)
    for place in range(1, n + 60):
        values[place] += kept * values[place - 1]
    return values[60:]


# docs/tune.md has 2,000 simulations of more lengths; here no rate that is really above 7% could pass for long.
@pytest.mark.parametrize("kept", [0.0, 0.3, 0.6, 0.9])
@pytest.mark.parametrize("n", [50, 240])
def test_size_of_the_slope_by_simulation(n: int, kept: float) -> None:
    rng, simulations, steps = np.random.default_rng(5), 300, np.arange(float(n))
    found = [change_of(steps, noise(rng, n, kept), 0.95).interval for _ in range(simulations)]
    rejected = sum(limits is not None and not limits.low <= 0 <= limits.high for limits in found)
    assert rejected <= stats.binom.ppf(0.999, simulations, 0.07)


def test_a_change_well_above_the_noise_is_found() -> None:
    rng, steps = np.random.default_rng(6), np.arange(100.0)
    falls = [change_of(steps, noise(rng, 100, 0.3) - 0.04 * steps, 0.95).interval for _ in range(100)]
    assert sum(limits is not None and limits.high < 0 for limits in falls) >= 90


def test_a_line_without_noise_has_no_error() -> None:
    found = change_of(np.arange(9.0), 3 - np.arange(9.0), 0.95)
    assert found.interval is not None
    assert (found.interval.low, found.interval.high, found.standard_error) == (-8, -8, 0)


def test_fewer_than_three_points_have_no_slope_and_no_spread() -> None:
    assert change_of(np.array([1.0, 2.0]), np.array([1.0, 2.0]), 0.95).reason == "fewer than three points"
    found = mean_of(np.array([1.0, 2.0]), 0.95)
    assert (found.value, found.interval, found.reason) == (1.5, None, "2 points: no spread to measure")


def test_smoothed_against_a_loop() -> None:
    values = NOISE[:30]
    wanted = [values[max(0, i - 6) : i + 1].mean() for i in range(30)]
    assert smoothed(values, 7).tolist() == pytest.approx(wanted)


def test_window_of_short_and_long_logs() -> None:
    assert [window_of(n) for n in (1, 2, 20, 121, 1218)] == [1, 2, 4, 24, 50]
