"""Mean roots of noisy divergences against scipy's non-central χ², quadrature and simulation."""

from math import log, sqrt

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import gamma, ncx2

from assay.stats.survey import divergence
from assay.stats.survey.denoised import (
    GRID,
    ExpectedRoots,
    SamplingNoise,
    chi_root,
    mean_root_ratio,
    noise_of,
    root_table,
    single_divergence,
    spread_of,
)
from assay.stats.units import Floats


@pytest.mark.parametrize(("freedom", "centre"), [(1, 0.0), (1, 0.5), (3, 2.0), (4.4, 50.0), (2, 900.0), (7, 5_000.0)])
def test_chi_root_against_scipys_non_central_chi_square(freedom: float, centre: float) -> None:
    expected = (
        ncx2.expect(np.sqrt, args=(freedom, centre))
        if centre
        else sqrt(2) * np.exp(_log_gamma((freedom + 1) / 2) - _log_gamma(freedom / 2))
    )
    assert float(chi_root(np.array(freedom), np.array(centre))) == pytest.approx(float(expected), rel=1e-6)


def _log_gamma(x: float) -> float:
    from math import lgamma

    return lgamma(x)


@pytest.mark.parametrize("shape", [0.3, 1.0, 4.0])
def test_mean_root_ratio_against_scipys_gamma(shape: float) -> None:
    expected = gamma(shape, scale=1 / shape).expect(np.sqrt)
    assert mean_root_ratio(shape) == pytest.approx(float(expected), rel=1e-5)


@pytest.mark.parametrize(("shape", "freedom", "centre"), [(1.1, 1.3, 0.07), (0.7, 3.4, 2.4), (2.3, 5.0, 40.0)])
def test_the_table_against_quadrature(shape: float, freedom: float, centre: float) -> None:
    mixing = gamma(shape, scale=centre / shape)

    def root(x: float) -> float:
        return float(chi_root(np.array(freedom), np.array(x)))

    far = float(mixing.ppf(1 - 1e-12))
    mean = quad(lambda x: root(x) * mixing.pdf(x), 0, far, limit=300)[0]
    square = quad(lambda x: root(x) ** 2 * mixing.pdf(x), 0, far, limit=300)[0]
    table = root_table(shape)
    found, variance = table.at(np.array([freedom]), np.array([centre]))
    assert float(found[0]) == pytest.approx(mean, rel=2e-3)
    assert float(variance[0]) == pytest.approx(freedom + centre - square, rel=6e-3)
    assert table.ratio == pytest.approx(mean_root_ratio(shape), rel=3e-3)


def test_noise_of_a_perfect_prediction_is_chi_square() -> None:
    p, n = np.array([[0.1, 0.2, 0.3, 0.4, 0.0]]), 100_000
    noise = noise_of(p, p, np.array([n]))
    assert float(noise.freedom[0]) == pytest.approx(3, rel=1e-3)
    assert float(noise.scale[0]) == pytest.approx(1 / (8 * n * log(2)), rel=1e-3)


def test_a_question_with_one_answer_has_no_noise() -> None:
    p, q = np.array([[1.0, 0.0]]), np.array([[0.5, 0.5]])
    noise = noise_of(p, q, np.array([50]))
    assert float(noise.excess[0]) == pytest.approx(0, abs=1e-12)
    mean, _ = root_table(1.0).at(noise.freedom, divergence(p, q) / noise.scale)
    assert np.isfinite(mean).all()


def drawn(count: int, mean: float, shape: float, seed: int) -> tuple[Floats, Floats, SamplingNoise]:
    """Gamma distributed divergences, measured with a scaled non-central χ²."""
    rng = np.random.default_rng(seed)
    true = rng.gamma(shape, mean / shape, size=count)
    scale, freedom = np.full(count, 2e-3), np.full(count, 3.0)
    measured = scale * rng.noncentral_chisquare(freedom, true / scale)
    excess = scale * freedom
    variance = 2 * scale * excess + 4 * scale * true
    return true, measured, SamplingNoise(excess, variance, scale, freedom, np.full(count, 0.02))


@pytest.mark.parametrize("shape", [0.5, 1.2, 3.0])
def test_the_shape_that_was_put_in_comes_out(shape: float) -> None:
    true, measured, noise = drawn(6_000, 0.02, shape, 3)
    weights = np.full(len(true), 1 / len(true))
    found = spread_of(measured - noise.excess, noise, np.full(len(true), 90), weights)
    assert abs(np.log(found.shape / shape)) < 3 * found.log_error + 0.1
    assert float(weights @ found.relative) == pytest.approx(1)


def test_where_nothing_is_known_the_shape_is_the_usual_one() -> None:
    _, measured, noise = drawn(50, 0.02, 1.0, 1)
    weights = np.full(50, 1 / 50)
    found = spread_of(0 * measured - 1e-3, noise, np.full(50, 90), weights)
    assert found.shape == pytest.approx(1.2)
    assert found.log_error == 0.6
    assert found.relative.tolist() == [1.0] * 50


def test_divergences_that_grow_with_their_noise_are_seen() -> None:
    rng = np.random.default_rng(2)
    true = np.repeat([0.01, 0.05], 400)
    scale, freedom = np.full(800, 1e-3), np.repeat([1.0, 5.0], 400)
    measured = scale * rng.noncentral_chisquare(freedom, true / scale)
    noise = SamplingNoise(
        scale * freedom, 2 * scale**2 * freedom + 4 * scale * true, scale, freedom, np.full(800, 0.02)
    )
    found = spread_of(measured - noise.excess, noise, np.full(800, 100), np.full(800, 1 / 800))
    low, high = found.relative[:400].mean(), found.relative[400:].mean()
    assert high / low == pytest.approx(5, rel=0.15)


def test_inverted_limits_hold_the_true_mean_root() -> None:
    """Of a good, a middling and a perfect predictor, 60 times each: at least 54 of 60 in the central 95%."""
    for mean, shape in ((0.002, 1.2), (0.02, 1.2), (1e-12, 1.0)):
        held = 0
        for seed in range(60):
            true, measured, noise = drawn(300, mean, shape, seed)
            centre = GRID[:, None] ** 2 / noise.scale
            table = root_table(shape)
            roots, variances = table.at(np.broadcast_to(noise.freedom, centre.shape), centre)
            expected = (np.sqrt(noise.scale) * roots).mean(axis=1)
            error = np.sqrt((noise.scale * variances).sum(axis=1)) / 300
            curve, root = ExpectedRoots(expected, error, table.ratio), float(np.sqrt(measured).mean())
            low, high = curve.solved(root, 1.96), curve.solved(root, -1.96)
            # the divergences themselves are a sample of the gamma distribution: a little more than noise
            held += low - 2e-3 <= float(np.sqrt(true).mean()) <= high + 2e-3
        assert held >= 54


def test_a_straight_curve_is_its_own_inverse() -> None:
    curve = ExpectedRoots(0.5 + 2 * GRID, np.full(len(GRID), 0.01), 3.0)
    assert curve.root_of(0.9) == pytest.approx(0.2)
    assert curve.solved(0.9) == pytest.approx(0.6)
    assert curve.solved(0.9, 1.0) == pytest.approx(3 * (0.9 - 0.51) / 2)
    assert curve.error_at(0.9) == pytest.approx(0.01)
    assert curve.amplified(0.9) == pytest.approx(1.5)
    assert curve.solved(0.4) == 0


def test_a_single_divergence_against_scipys_non_central_chi_square() -> None:
    """P(Ĵ ≤ measured) at what is found is the chance that was asked for; 0 where even no divergence is rarer."""
    scale, freedom = np.full(4, 0.002), np.full(4, 3.0)
    noise = SamplingNoise(scale, scale, scale, freedom, scale)
    measured = np.array([0.0001, 0.01, 0.05, 0.4])
    for chance in (0.025, 0.5, 0.975):
        found = single_divergence(measured, noise, chance)
        some = found > 0
        assert ncx2.cdf(measured[some] / 0.002, 3.0, found[some] / 0.002) == pytest.approx(chance, abs=1e-6)
        assert (gamma.cdf(measured[~some] / 0.002, 1.5, scale=2) <= chance).all()  # χ² with three degrees of freedom


@pytest.mark.parametrize("shape", [0.5, 1.0, 4.0])
def test_log_normal_divergences_against_the_closed_form_and_scipy(shape: float) -> None:
    """A log-normal of mean 1 and variance 1/a: the mean of its root is exp(−σ²/8), σ² = log(1 + 1/a)."""
    table, spread = root_table(shape, "log-normal"), np.log(1 + 1 / shape)
    assert table.ratio == pytest.approx(np.exp(-spread / 8), rel=2e-3)
    sizes = np.exp(np.sqrt(spread) * np.random.default_rng(0).normal(size=100_000) - spread / 2)
    drawn = ncx2.rvs(3.0, 8.0 * sizes, random_state=np.random.default_rng(1))
    mean, _ = table.at(np.array([3.0]), np.array([8.0]))
    assert float(mean[0]) == pytest.approx(np.sqrt(drawn).mean(), rel=5e-3)
