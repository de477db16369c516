"""The distribution of a ratio in few calls, against sums of exponentials, random resamples and one series a point."""

import numpy as np
import pytest

from assay.stats.bootstrap import interval, tilted, tilted_sums
from assay.stats.bootstrap.fourier import last_revival
from assay.stats.bootstrap.inversion import Pointwise
from assay.stats.bootstrap.tilted import Tilted
from assay.stats.bootstrap.tilted_sums import series_until_decay
from assay.stats.bootstrap.tilted_units import Drawn, drawn_of, revival_of
from assay.stats.units import Floats, Units, shape

LEVELS = (0.001, 0.025, 0.5, 0.975, 0.999)


def values_of(tails: str, n: int, seed: int = 0) -> Floats:
    rng = np.random.default_rng(seed)
    kinds = {
        "normal": rng.normal(0.1, 1.0, n),
        "t2": rng.standard_t(2, n),
        "exponential": rng.exponential(1.0, n),
        "one outlier": np.where(np.arange(n) == 7, 40.0, rng.normal(size=n)),
    }
    return kinds[tails]


def ratio(tails: str, n: int, spread: float = 0.5, seed: int = 0) -> Units:
    tokens = np.random.default_rng(seed + 100).lognormal(6, spread, n)
    return Units(values_of(tails, n, seed) * tokens, tokens)


@pytest.mark.parametrize("n", [120, 1_000, 9_000])
@pytest.mark.parametrize("tails", ["normal", "t2", "exponential", "one outlier"])
def test_sums_against_sums_of_exponentials(tails: str, n: int) -> None:
    """Doubled waves of few units, moments of many."""
    drawn = drawn_of(ratio(tails, n))
    for terms in (1, 4, 5):
        found = series_until_decay(drawn, terms)
        literal = np.exp(1j * (np.arange(len(found.sums)) + 0.5)[:, None] * drawn.y)
        expected = np.stack([(literal * drawn.g**m).mean(axis=1) for m in range(terms)], axis=1)
        assert found.width == 0
        np.testing.assert_allclose(found.sums, expected, rtol=0, atol=2e-14)
        np.testing.assert_allclose(found.psi, np.abs(expected[:, 0]) ** n, rtol=0, atol=1e-11)


@pytest.mark.parametrize("reach", [0.2, 1.0, 3.0, 7.9])
def test_moments_of_any_reach_against_sums_of_exponentials(reach: float) -> None:
    drawn = drawn_of(ratio("normal" if reach < 2 else "one outlier", 150))
    count = int(reach / (drawn.first * drawn.largest))
    assert count > 0
    found = tilted_sums.lowest(drawn, count, 3)
    literal = np.exp(1j * (np.arange(count) + 0.5)[:, None] * drawn.y)
    np.testing.assert_allclose(
        found, literal @ np.stack([drawn.g**m for m in range(3)], axis=1) / 150, rtol=0, atol=1e-13
    )


@pytest.mark.untraced
@pytest.mark.parametrize("n", [60, 180, 1_000, 9_000])
@pytest.mark.parametrize("tails", ["normal", "t2", "exponential", "one outlier"])
def test_against_one_series_for_every_point(tails: str, n: int) -> None:
    for seed in range(3):
        units = ratio(tails, n, seed=seed)
        found = tilted.tilted(units)
        if not isinstance(found, Tilted):
            assert n < 180
            continue
        each = Pointwise(units, found.error, None)
        assert found.cdf(units.estimate) == pytest.approx(each.cdf(units.estimate), abs=1e-8)
        np.testing.assert_allclose(found.quantiles(LEVELS), each.quantiles(LEVELS), atol=1e-6 * found.error)
        for tau in (-4.0, -1.0, 0.3, 3.0, 5.2, 5.4, 9.0):
            x = units.estimate + tau * found.error
            assert found.cdf(x) == pytest.approx(each.cdf(x), abs=1e-8)


@pytest.mark.untraced
@pytest.mark.parametrize("tails", ["normal", "t2", "exponential", "one outlier"])
def test_limits_against_random_resamples(tails: str) -> None:
    """400,000 of them, whose own noise at the outer quantiles is 0.005 standard errors."""
    units, rng = ratio(tails, 180, seed=5), np.random.default_rng(1)
    drawn = []
    for _ in range(40):
        counts = rng.multinomial(180, np.full(180, 1 / 180), size=10_000)
        drawn.append((counts @ units.numerators) / (counts @ units.denominators))
    made = np.concatenate(drawn)
    found = interval(units, method="percentile", backend="numpy").interval
    np.testing.assert_allclose([found.low, found.high], np.quantile(made, [0.025, 0.975]), atol=0.02 * made.std())


@pytest.mark.parametrize("tails", ["normal", "t2", "exponential"])
def test_shape_is_that_of_the_jackknife(tails: str) -> None:
    units = ratio(tails, 300)
    found, expected = tilted.tilted(units), shape(units)
    assert isinstance(found, Tilted)
    assert expected is not None
    assert found.shape is not None
    for name in ("acceleration", "trust", "degrees_of_freedom"):
        assert getattr(found.shape, name) == pytest.approx(getattr(expected, name), rel=1e-9)


def test_draws_with_probabilities_of_unequal_units() -> None:
    units = ratio("normal", 400)
    p = np.random.default_rng(3).dirichlet(np.full(400, 5.0))
    drawn = Units(units.numerators, units.denominators, p)
    found = tilted.tilted(drawn)
    assert isinstance(found, Tilted)
    each = Pointwise(drawn, found.error, None)
    np.testing.assert_allclose(found.quantiles(LEVELS), each.quantiles(LEVELS), atol=1e-6 * found.error)


def test_clumps_are_followed_until_they_cannot_revive() -> None:
    """Two values and a little noise: ψ ends, and comes back at the lattice's frequency."""
    rng = np.random.default_rng(0)
    y = np.where(rng.random(200) < 0.5, 0.06, -0.06) + rng.normal(0, 1e-4, 200)
    y -= y.mean()
    y /= np.sqrt((y * y).sum())
    assert revival_of(drawn_with(y)) >= 0.8 * last_revival(y) > 100
    assert revival_of(drawn_with(np.repeat(y, 5) / np.sqrt(5))) > 100
    assert revival_of(drawn_with(np.linspace(-0.1, 0.1, 200))) == 0.0
    assert revival_of(drawn_with(np.linspace(-0.1, 0.1, 2_000) / 2)) < 8


def drawn_with(y: Floats, h: float = 0.5) -> Drawn:
    """Units of equal denominators, with these deviations."""
    none = np.zeros(len(y))
    return Drawn(len(y), h * y, none, none, None, h, float(np.abs(y).max()), 1.0)


def test_a_far_outlier_is_smoothed_or_refused() -> None:
    few, many = ratio("normal", 2_000, spread=0.01), ratio("normal", 60_000, spread=0.01)
    few.numerators[0], many.numerators[0] = 1e9, 1e12
    found = tilted.tilted(few)
    assert found is not None
    assert found.note is not None
    assert "smoothed" in found.note
    assert tilted.tilted(many) is None


@pytest.mark.parametrize("factor", [1e-180, 1e180])
def test_scale_changes_nothing(factor: float) -> None:
    units = ratio("exponential", 150)
    plain = interval(units, backend="numpy").interval
    scaled = interval(Units(units.numerators * factor, units.denominators), backend="numpy").interval
    assert scaled.low / factor == pytest.approx(plain.low, rel=1e-9)
    assert scaled.high / factor == pytest.approx(plain.high, rel=1e-9)


def test_very_unequal_denominators_of_few_units_have_a_series_for_every_point() -> None:
    assert isinstance(tilted.tilted(ratio("normal", 30, spread=1.5)), Pointwise)


def test_limits_where_the_distribution_is_no_line_are_found_each_by_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    units = ratio("exponential", 150)
    found = tilted.tilted(units)
    assert isinstance(found, Tilted)
    expected = Pointwise(units, found.error, None).quantiles((0.025, 0.975))
    monkeypatch.setattr(tilted, "normal_quantiles", lambda values: [float("inf") for _ in values])
    np.testing.assert_allclose(found.quantiles((0.025, 0.975)), expected, atol=1e-6 * found.error)
