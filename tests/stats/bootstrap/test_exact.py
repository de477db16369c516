"""The bootstrap with infinitely many resamples, against every resample of a few units and a million of more."""

from math import sqrt

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import signal
from scipy import stats as scipy_stats

from assay.stats.bootstrap import interval
from assay.stats.bootstrap.exact import bootstrap_distribution
from assay.stats.bootstrap.inversion import Fourier, Pointwise, invert
from assay.stats.bootstrap.tilted import Tilted, tilted
from assay.stats.records import IntervalName
from assay.stats.units import Units, mean_of_draws
from tests.stats.reference import (
    Enumeration,
    Replicates,
    every_composition,
    every_resample,
    replicated,
    replicated_tokens,
)
from tests.strategies import KINDS, lengths, outlier, sample

LEVELS = [0.001, 0.005, 0.025, 0.05, 0.16, 0.5, 0.84, 0.95, 0.975, 0.995, 0.999]
SCHEMES = ["mean", "ratio", "tokens"]
ALLOWED = 0.02  # bootstrap standard errors


def data(kind: str, n: int, scheme: str, spread: float = 1.0, seed: int = 0) -> Units:
    found, tokens = sample(kind, n, seed), lengths(n, spread, seed)
    if scheme == "mean":
        return Units(found, np.ones(n))
    units = Units(found * tokens, tokens)
    return units if scheme == "ratio" else mean_of_draws(units)


# ------------------------------------------------------------------------------------------ a few units: every resample


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("n", [2, 3, 4, 5, 6])
def test_distribution_against_enumeration(n: int, kind: str, scheme: str) -> None:
    units = next(u for u in (data(kind, n, scheme, seed=seed) for seed in range(20)) if not u.degenerate)
    truth, found = every_resample(units), bootstrap_distribution(units)
    assert found is not None
    assert found.method == "enumeration"
    assert found.cdf(units.estimate) == pytest.approx(truth.cdf(units.estimate), abs=1e-12)
    for x in np.quantile(truth.outcomes, [0.0, 0.1, 0.33, 0.7, 1.0]).tolist():
        assert found.cdf(x) == pytest.approx(truth.cdf(x), abs=1e-12)
    for p in LEVELS:
        assert_quantile_against_enumeration(float(found.quantiles([p])[0]), p, truth)


def assert_quantile_against_enumeration(limit: float, p: float, truth: Enumeration) -> None:
    """The first outcome that reaches p, or the middle of the step where the probability up to it is p exactly."""
    here, after = truth.quantile(p), truth.quantile(p + 1e-9)
    reach = 1e-9 * truth.error
    if after - here > reach:
        assert limit == pytest.approx((here + after) / 2, abs=reach)
    else:
        assert limit == pytest.approx(here, abs=reach)


@pytest.mark.parametrize("n", [3, 5])
def test_compositions_are_the_same_as_ordered_resamples(n: int) -> None:
    """The second oracle against the first, before it is trusted with n = 7 and 8."""
    units = data("log-normal", n, "tokens")
    ordered, unordered = every_resample(units), every_composition(units)
    assert unordered.probabilities.sum() == pytest.approx(1, abs=1e-12)
    for p in LEVELS:
        assert unordered.quantile(p) == pytest.approx(ordered.quantile(p), abs=1e-12)


@pytest.mark.untraced
@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("kind", ["normal", "t2", "cauchy", "log-normal", "outlier 1e3", "outlier 1e6"])
@pytest.mark.parametrize("n", [8])
def test_fourier_inversion_against_enumeration(n: int, kind: str, scheme: str) -> None:
    """Fewer units than it is ever asked to invert, where the truth has visible steps."""
    units = data(kind, n, scheme, spread=0.5)
    truth, found = every_composition(units), tilted(units) if scheme == "ratio" else invert(units)
    assert found is not None
    assert isinstance(found, Pointwise if scheme == "ratio" else Fourier)
    within_an_atom = 0.01 if kind.startswith("outlier") else 1e-3  # where in the outlier's atom the estimate lies
    assert found.cdf(units.estimate) == pytest.approx(truth.cdf(units.estimate), abs=within_an_atom)
    limits = found.quantiles(LEVELS)
    np.testing.assert_allclose(limits, [truth.quantile(p) for p in LEVELS], atol=ALLOWED * truth.error)


# -------------------------------------------------------------------------------------- more units: a million resamples


def limits_of(units: Units, method: IntervalName) -> tuple[float, float]:
    found = interval(units, method=method).interval
    assert found.method == method
    return found.low, found.high


def assert_agreement(units: Units, reference: Replicates) -> None:
    """Each limit within 0.02 standard errors; or, where an atom's edge is the level, on the right side of the noise."""
    assert units.estimate == pytest.approx(reference.estimate, rel=1e-9, abs=1e-12)
    for method in ("bca-plain", "bca"):
        levels = reference.levels(0.95, plain=method == "bca-plain")
        for limit, level in zip(limits_of(units, method), levels, strict=True):
            error = abs(limit - reference.quantile(level)) / reference.error
            assert error <= ALLOWED or reference.misses(limit, level) <= 4, (method, level, limit, error)


@pytest.mark.untraced
@pytest.mark.parametrize("n", [30, 180])
@pytest.mark.parametrize("kind", KINDS)
def test_bca_of_a_mean_against_a_million_resamples(kind: str, n: int) -> None:
    units = data(kind, n, "mean")
    assert_agreement(units, replicated(units, np.random.default_rng(n)))


@pytest.mark.untraced
@pytest.mark.parametrize(("n", "spread"), [(30, 1.0), (180, 1.0)])
@pytest.mark.parametrize("kind", KINDS)
def test_bca_of_a_ratio_against_a_million_resamples(kind: str, n: int, spread: float) -> None:
    """Log-normal(1) lengths: the longest unit is some fifty times the shortest, and each point has its own series."""
    units = data(kind, n, "ratio", spread)
    assert_agreement(units, replicated(units, np.random.default_rng(n)))


@pytest.mark.untraced
@pytest.mark.parametrize(
    ("kind", "n", "spread"),
    [("normal", 30, 0.3), ("normal", 100, 1.0), ("log-normal", 180, 0.5), ("0/1", 180, 0.5)]
    + [(kind, n, 1.0) for kind in ("normal", "t2", "log-normal", "0/1", "-1/0/1") for n in (400, 3000)],
)
def test_one_series_for_a_ratio_against_one_for_every_point(kind: str, n: int, spread: float) -> None:
    """The expansion in the denominators against the inversion that needs none."""
    units = data(kind, n, "ratio", spread)
    expanded = tilted(units)
    assert isinstance(expanded, Tilted)
    each = Pointwise(units, expanded.error, None)
    assert expanded.cdf(units.estimate) == pytest.approx(each.cdf(units.estimate), abs=1e-7)
    np.testing.assert_allclose(expanded.quantiles(LEVELS), each.quantiles(LEVELS), atol=1e-5 * expanded.error)


@pytest.mark.untraced
@pytest.mark.parametrize("n", [30, pytest.param(180, marks=pytest.mark.nightly)])
@pytest.mark.parametrize("kind", KINDS)
def test_bca_of_token_draws_against_a_million_resamples(kind: str, n: int) -> None:
    tokens = lengths(n, 0.5)
    units = data(kind, n, "tokens", spread=0.5)
    assert_agreement(units, replicated_tokens(sample(kind, n), tokens, np.random.default_rng(n)))


@pytest.mark.nightly
@pytest.mark.untraced
def test_bca_with_an_outlier_among_a_thousand_against_a_million_resamples() -> None:
    """The replicates of 1e6 σ hold those of 1e3 σ: how often the outlier was drawn can be read off them."""
    n, rng = 1000, np.random.default_rng(5)
    base = outlier(0.0)(rng, n)
    units = {size: Units(base + size * (np.arange(n) == n - 1), np.ones(n)) for size in (1e3, 1e6)}
    large = replicated(units[1e6], rng)
    assert_agreement(units[1e6], large)
    drawn = np.rint(large.values * n / 1e6)
    left_out = np.array([np.delete(units[1e3].numerators, i).mean() for i in range(n)])
    values, pull = np.sort(large.values - drawn * (1e6 - 1e3) / n), left_out.mean() - left_out
    assert_agreement(units[1e3], Replicates(values, units[1e3].numerators.mean(), pull, large.share, n))


# ----------------------------------------------------------------------------------------------- lattices: closed forms


@pytest.mark.parametrize(("n", "ones"), [(9, 1), (30, 11), (180, 178), (1000, 10), (5684, 2000), (100_000, 40)])
def test_zeros_and_ones_against_the_binomial(n: int, ones: int) -> None:
    scores = np.zeros(n)
    scores[:ones] = 1
    found, truth = bootstrap_distribution(Units(scores, np.ones(n))), scipy_stats.binom(n, ones / n)
    assert found is not None
    assert found.method == "lattice"
    for k in (0, ones - 1, ones, ones + 3):
        assert found.cdf(k / n) == pytest.approx(float(truth.cdf(k) - truth.pmf(k) / 2), abs=1e-10)
    np.testing.assert_allclose(found.quantiles(LEVELS), truth.ppf(LEVELS) / n, atol=1e-12)


@pytest.mark.parametrize("n", [12, 60, 300])
def test_three_scores_against_convolution(n: int) -> None:
    """−1, 0 and 1: the distribution of the sum is the n-th convolution of that of one draw."""
    scores = np.concatenate([np.full(n // 6, -1.0), np.full(n // 2, 1.0), np.zeros(n - n // 6 - n // 2)])
    mass = convolution_power(np.array([np.mean(scores == v) for v in (-1, 0, 1)]), n)
    found = bootstrap_distribution(Units(scores, np.full(n, 4.0)))
    assert found is not None
    assert found.method == "lattice"
    steps = np.arange(-n, n + 1) / n / 4
    up_to = np.cumsum(mass)
    for k in (n, n + 1, n + n // 3, n + n // 3 + 2):
        assert found.cdf(float(steps[k])) == pytest.approx(up_to[k] - mass[k] / 2, abs=1e-12)
    np.testing.assert_allclose(found.quantiles(LEVELS), steps[np.searchsorted(up_to, LEVELS)], atol=1e-12)


@pytest.mark.parametrize("n", [30, 180, 1000, 5000])
def test_an_outlier_against_the_binomial(n: int) -> None:
    """A unit 1e6 σ away: the mean is how often it was drawn. Here levels of one in a million can be checked, too."""
    units = data("outlier 1e6", n, "mean")
    found, times = invert(units), scipy_stats.binom(n, 1 / n)
    assert found is not None
    levels = [*LEVELS, 1e-6, 1e-4, 1 - 1e-4, 1 - 1e-6]
    k = times.ppf(levels)
    truth = (k * 1e6 + (n - k) * units.numerators[:-1].mean()) / n
    np.testing.assert_allclose(found.quantiles(levels), truth, atol=ALLOWED * units.numerators.std() / sqrt(n))


def test_token_draws_of_zeros_and_ones_against_the_binomial() -> None:
    """Units drawn ∝ their tokens: a draw is 1 with the tokens' share of ones."""
    n = 50
    scores, tokens = sample("0/1", n), lengths(n, 1.0)
    found = bootstrap_distribution(mean_of_draws(Units(scores * tokens, tokens)))
    truth = scipy_stats.binom(n, (scores * tokens).sum() / tokens.sum())
    assert found is not None
    assert found.method == "lattice"
    np.testing.assert_allclose(found.quantiles(LEVELS), truth.ppf(LEVELS) / n, atol=1e-12)


def convolution_power(mass: NDArray[np.float64], n: int) -> NDArray[np.float64]:
    out = np.ones(1)
    for _ in range(n):
        out = np.convolve(out, mass)
    return out


# ------------------------------------------------------------------------ nearly lattices: exact on a grid of their own


@pytest.mark.parametrize(
    ("n", "many", "far", "spread", "span"),
    [
        (100, 50, 100, 2.0, 0.1),  # 0/1 with a little noise
        (100, 50, 100, 4.0, 0.1),
        (100, 40, 100, 8.0, 0.1),
        (400, 20, 200, 5.0, 0.1),  # a group of distant values
        (400, 20, 200, 12.0, 0.1),
        (400, 24, 200, 16.0, 0.1),
        (1500, 18, 300, 25.0, 0.5),
    ],
)
def test_clumps_against_convolution_on_a_grid(n: int, many: int, far: float, spread: float, span: float) -> None:
    """Two clumps: the sum is nearly a lattice, and its characteristic function revives after it has decayed.

    The values are multiples of a span, so that their convolution can be had exactly.
    """
    rng = np.random.default_rng(n)
    found = rng.normal(0, 1, size=n)
    found[:many] += far + rng.uniform(-spread, spread, size=many)
    found = span * np.rint(found / span)
    fourier = invert(Units(found, np.ones(n)))
    assert fourier is not None
    grid, up_to = convolved_on_a_grid(found, span)
    truth = np.array([grid[np.searchsorted(up_to, p)] for p in LEVELS])
    np.testing.assert_allclose(fourier.quantiles(LEVELS), truth, atol=0.005 * found.std() / sqrt(n))


def convolved_on_a_grid(found: NDArray[np.float64], span: float) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Means of n draws and their cumulative probabilities, by squaring and multiplying."""
    n, steps = len(found), np.rint((found - found.min()) / span).astype(np.int64)
    square, out = np.bincount(steps) / n, np.ones(1)
    power = n
    while power:
        if power & 1:
            out = np.maximum(signal.fftconvolve(out, square), 0)
        square = np.maximum(signal.fftconvolve(square, square), 0) if power > 1 else square
        power >>= 1
    return found.min() + span * np.arange(len(out)) / n, np.cumsum(out / out.sum())


# --------------------------------------------------------------------------------------------------------- known limits


def test_a_level_that_rounds_to_one_gives_a_finite_limit() -> None:
    """One rare, distant unit: BCa's upper level is 1 − 1e-17, of which nothing is left in floating point."""
    tokens = np.array([40.0] * 29 + [1.0])
    found = np.append(np.random.default_rng(1).normal(size=29), 60.0)
    for method in ("bca", "bca-plain", "percentile"):
        for level in (0.95, 1 - 1e-12):
            got = interval(mean_of_draws(Units(found * tokens, tokens)), method=method, confidence_level=level).interval
            assert found.min() <= got.low <= got.high <= found.max()


def test_two_values_symmetric_about_zero_reach_their_largest_mean() -> None:
    """The normal start of the search is beyond every resample, where the distribution function is 1 and flat."""
    units = Units(np.array([-1.0, 1.0] * 4), np.ones(8))
    found = invert(units)
    assert found is not None
    assert float(found.quantiles([0.9995])[0]) == pytest.approx(1.0, abs=0.01)


def test_what_cannot_be_inverted_is_refused_and_smoothing_is_noted() -> None:
    """An outlier among 50,000: the characteristic function does not decay within the budget."""
    rng = np.random.default_rng(2)
    assert bootstrap_distribution(Units(outlier(1e6)(rng, 50_000), np.ones(50_000))) is None
    smoothed = bootstrap_distribution(Units(outlier(1e6)(rng, 500), np.ones(500)))
    assert smoothed is not None
    assert smoothed.note is not None
    assert smoothed.note.startswith("smoothed by 0.0")


def test_numerators_on_a_line_have_a_point_without_spread() -> None:
    """num = 3 + 2·den: at x = 2 every num − x·den is 3, and no ratio is that small."""
    tokens = np.array([1.0, 50.0, 2.0, 30.0, 4.0, 9.0, 1.0, 12.0, 3.0])
    found = tilted(Units(3 + 2 * tokens, tokens))
    assert isinstance(found, Pointwise)
    assert found.cdf(2.0) == 0
    mirrored = tilted(Units(-3 - 2 * tokens, tokens))
    assert mirrored is not None
    assert mirrored.cdf(-2.0) == 1


# ---------------------------------------------------------------------------------------------------- the compiled path


def clumped(n: int, many: int, far: float, spread: float) -> NDArray[np.float64]:
    rng = np.random.default_rng(n)
    return rng.normal(size=n) + (np.arange(n) < many) * (far + rng.uniform(-spread, spread, size=n))


@pytest.mark.untraced
@pytest.mark.parametrize("method", ["bca", "bca-plain", "percentile"])
@pytest.mark.parametrize("n", [12, 30, 180, 1000])
def test_compiled_series_against_the_one_in_numpy(n: int, method: IntervalName) -> None:
    """The backend changes no number that anyone could see: 1e-6 standard errors."""
    several = [sample(kind, n) for kind in KINDS] + [clumped(n, n // 3, 20.0, 2.0), clumped(n, n // 50, 300.0, 30.0)]
    for found in several:
        units = Units(2 * found, np.full(n, 2.0))
        if units.degenerate:
            continue
        ours = interval(units, method=method, backend="compiled").interval
        theirs = interval(units, method=method).interval
        assert [ours.low, ours.high] == pytest.approx([theirs.low, theirs.high], abs=1e-6 * found.std() / sqrt(n))
        assert ours.method == theirs.method


@pytest.mark.parametrize("scheme", ["ratio", "tokens"])
def test_what_is_not_compiled_takes_the_other_path(scheme: str) -> None:
    units = data("normal", 40, scheme)
    assert interval(units, backend="compiled") == interval(units)


@pytest.mark.untraced
def test_levels_beyond_the_compiled_series_take_the_other_path() -> None:
    units = data("normal", 400, "mean")
    far = interval(units, method="percentile", confidence_level=1 - 1e-12, backend="compiled")
    assert far == interval(units, method="percentile", confidence_level=1 - 1e-12)
