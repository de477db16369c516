"""The winner's curse: limits against scipy and by hand, coverage where all models are equal, and properties."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats as scipy_stats

from assay.stats.bounded_mean import beta_quantile, clopper_pearson, share_limits
from assay.stats.ranking import fitted
from assay.stats.ranking.winner import Winner, effective_items, winner
from assay.stats.units import Floats, Grid
from tests.stats.leaderboards import grid_of, renumbered


def top_of(grid: Grid, *, bounded: bool = True, level: float = 0.95, lower_is_better: bool = False) -> Winner:
    found = fitted(grid)
    first = int(np.argmin(found.estimates) if lower_is_better else np.argmax(found.estimates))
    return winner(grid, found, first, level, bounded=bounded, lower_is_better=lower_is_better)


def plain(values: Floats) -> Grid:
    return Grid(np.asarray(values, dtype=float), np.ones(len(values)))


def right(rng: np.random.Generator, n: int, k: int, accuracy: float) -> Floats:
    return (rng.random((n, k)) < accuracy).astype(float)


# ------------------------------------------------------------------------------------------------------------- limits


@pytest.mark.parametrize(("count", "n"), [(0, 9), (3, 9), (9, 9), (450, 500)])
def test_share_limits_against_scipy(count: int, n: int) -> None:
    for level in (0.9, 0.99):
        exact = scipy_stats.binomtest(count, n).proportion_ci(level, "exact")
        assert clopper_pearson(count, n, level) == pytest.approx((exact.low, exact.high), abs=1e-12)
    low, high = (scipy_stats.binomtest(count, n).proportion_ci(level, "exact") for level in (0.98, 0.9))
    assert share_limits(count, n, 0.01, 0.05) == pytest.approx((low.low, high.high), abs=1e-12)


@pytest.mark.parametrize(("a", "b"), [(4e6, 7e6), (2e4, 2e7), (3e7, 30.5), (2.5, 1.5e7), (9999.0, 2e7)])
@pytest.mark.parametrize("p", [0.001, 0.025, 0.5, 0.975, 0.999])
def test_large_beta_quantiles_against_scipy(a: float, b: float, p: float) -> None:
    """Just beyond the size at which they are no longer inverted, while scipy still can."""
    exact = float(scipy_stats.beta.ppf(p, a, b))
    assert scipy_stats.beta.cdf(exact, a, b) == pytest.approx(p, rel=1e-6)  # scipy's own inverse has failed before
    assert beta_quantile(a, b, p) == pytest.approx(exact, abs=2e-3 * scipy_stats.beta.std(a, b))


@pytest.mark.parametrize("n", [1e9, 1e15, 1e33])
@pytest.mark.parametrize("share", [1e-6, 0.3, 0.999])
def test_limits_of_countless_items_against_the_normal(n: float, share: float) -> None:
    """They were NaN from 1e19 items on, and 28 standard deviations off at 1,000 of 1e9."""
    low, high = share_limits(share * n, n, 0.0125, 0.025)
    error = np.sqrt(share * (1 - share) / n)
    reach = np.array([-scipy_stats.norm.isf(0.0125), scipy_stats.norm.isf(0.025)]) * error
    assert (low, high) == pytest.approx((share + reach).tolist(), abs=float(0.1 * error + 1e-16))


@pytest.mark.parametrize("k", [2, 7, 20])
@pytest.mark.parametrize("level", [0.9, 0.95, 0.999])
def test_right_and_wrong_against_scipy(k: int, level: float) -> None:
    """α/(2k) below, α/2 above: Clopper and Pearson's at levels 1 − α/k and 1 − α."""
    grid = plain(right(np.random.default_rng(k), 80, k, 0.85))
    count = int(grid.values.sum(axis=0).max())
    found, alpha = top_of(grid, level=level), 1 - level
    wide, own = (scipy_stats.binomtest(count, 80).proportion_ci(1 - a, "exact") for a in (alpha / k, alpha))
    assert (found.low, found.high) == pytest.approx((wide.low, own.high), rel=1e-9)


def test_effective_items_by_hand() -> None:
    rng = np.random.default_rng(1)
    scores = rng.beta(3, 1, (60, 4))
    found = fitted(plain(scores))
    m = scores.mean(axis=0)
    phi = scores.var(axis=0, ddof=1).sum() / (m * (1 - m)).sum()
    assert effective_items(plain(scores), found, m)[0] == pytest.approx(60 / phi)
    answers = plain((scores > 0.5).astype(float))
    assert effective_items(answers, fitted(answers), m) == (60.0, True)
    equal = Grid(np.ones((60, 4)), np.ones(60), np.arange(60) // 6)
    assert effective_items(equal, fitted(equal), np.ones(4)) == (10.0, False)  # nothing varies: the clusters count


def test_copied_items_count_once() -> None:
    """Every item five times over in a cluster of its own: n_e is that of the items."""
    answers = right(np.random.default_rng(2), 50, 3, 0.7)
    copied = Grid(np.repeat(answers, 5, axis=0), np.ones(250), np.repeat(np.arange(50), 5))
    m = answers.mean(axis=0)
    assert effective_items(copied, fitted(copied), m)[0] == pytest.approx(49)  # n − 1: here it is estimated


def test_other_values_by_hand() -> None:
    values = np.random.default_rng(4).normal(size=(30, 2))
    values[:, 1] -= 100  # far behind: only its place among k is paid for
    found, m = top_of(plain(values), bounded=False), values[:, 0].mean()
    error = values[:, 0].std(ddof=1) / np.sqrt(30)
    assert found.low == pytest.approx(m - scipy_stats.t.ppf(1 - 0.0125, 29) * error)
    assert found.high == pytest.approx(m + scipy_stats.t.ppf(0.975, 29) * error)
    assert found.value == pytest.approx(m)
    assert found.rivals == 0


# --------------------------------------------------------------------------------------------------------------- point


def test_a_clear_winner_is_not_corrected() -> None:
    values = np.zeros((200, 3))
    values[:180, 0] = values[60:120, 1] = values[100:160, 2] = 1
    assert top_of(plain(values)).value == pytest.approx(0.9, abs=1e-9)


def test_copies_of_the_winner_are_no_luck() -> None:
    answers = right(np.random.default_rng(0), 300, 1, 0.8)
    copies = np.repeat(answers, 10, axis=1)
    assert top_of(plain(copies)).value == pytest.approx(answers.mean(), abs=0.005)


def test_the_best_of_equal_normals_against_the_median_of_the_largest() -> None:
    """P(max of k ≤ m) = ½ at m = Φ⁻¹(½^(1/k)) standard errors."""
    influence = np.random.default_rng(2).normal(size=(4_000, 10))
    influence -= influence.mean(axis=0)
    grid = plain(influence)  # all means 0 up to rounding, so that all are level
    found = top_of(grid, bounded=False)
    median = float(scipy_stats.norm.ppf(0.5**0.1)) / np.sqrt(4_000)
    assert -found.value == pytest.approx(median, rel=0.05)
    assert found.rivals == pytest.approx(9, abs=1e-6)


# ------------------------------------------------------------------------------------------------------------ coverage


@pytest.mark.parametrize(("k", "n", "accuracy"), [(20, 100, 0.9), (20, 500, 0.95), (5, 50, 0.98)])
def test_equal_models_right_or_wrong_coverage(k: int, n: int, accuracy: float) -> None:
    """Scaled by the winner's own error the limits held 63% (k = 20, n = 100, .9) and 82% (n = 500, .95)."""
    rng = np.random.default_rng([k, n])
    found = [top_of(plain(right(rng, n, k, accuracy))) for _ in range(200)]
    assert sum(top.low <= accuracy <= top.high for top in found) >= 186
    naive = np.mean([(top.value > accuracy) for top in found])
    assert naive <= 0.9


@pytest.mark.parametrize("kind", ["beta", "clusters", "losses"])
def test_equal_models_coverage(kind: str) -> None:
    rng, held = np.random.default_rng(len(kind)), 0
    for _ in range(150):
        if kind == "losses":
            top, truth = top_of(plain(rng.exponential(size=(80, 10))), bounded=False, lower_is_better=True), -1.0
        elif kind == "beta":
            top, truth = top_of(plain(rng.beta(2.7, 0.3, (80, 10)))), 0.9
        else:
            chance = np.repeat(rng.beta(4.5, 0.5, (25, 10)), 6, axis=0)
            values = (rng.random((150, 10)) < chance).astype(float)
            top, truth = top_of(Grid(values, np.ones(150), np.repeat(np.arange(25), 6))), 0.9
        held += top.low <= truth <= top.high
    assert held >= 139  # 93%


# ---------------------------------------------------------------------------------------------------------- properties


@settings(max_examples=60)
@given(
    st.integers(0, 10_000),
    st.integers(2, 6),
    st.sampled_from(["right", "beta", "ceiling", "weights", "clusters", "holes"]),
    st.sampled_from([0.9, 0.95, 0.99, 0.999]),
)
def test_limits_stay_inside_and_hold_the_point(seed: int, k: int, kind: str, level: float) -> None:
    rng = np.random.default_rng(seed)
    base = grid_of(
        24, k, seed, weights=kind == "weights", groups=6 if kind == "clusters" else 0, holes=0.3 * (kind == "holes")
    )
    values = np.where(base.present, rng.beta(2, 0.3, (24, k)), np.nan)
    if kind != "beta":
        values = np.where(np.isnan(values), np.nan, values > (-1.0 if kind == "ceiling" else 0.5))
    grid = renumbered(Grid(values, base.weights, base.clusters))
    found = top_of(grid, level=level)
    assert 0 <= found.low <= found.value <= found.high <= 1
    assert 0 <= found.rivals <= k - 1
    mirrored = top_of(Grid(1 - values, grid.weights, grid.clusters), level=level, lower_is_better=True)
    assert -mirrored.low == pytest.approx(1 - found.low, abs=1e-9)
    assert -mirrored.high == pytest.approx(1 - found.high, abs=1e-9)


def test_scores_that_are_1_up_to_rounding() -> None:
    values = np.ones((40, 2))
    values[0, 0] = np.nextafter(1.0, 0.0)  # the mean is 1, the variance is not 0
    found = top_of(Grid(values, np.ones(40)))
    assert found.high == 1.0
    assert found.value == pytest.approx(1.0)
    assert found.low == pytest.approx((0.05 / 4) ** (1 / 40), rel=0.05)


def test_models_without_spread() -> None:
    constant = top_of(plain(np.ones((30, 3))))
    assert (constant.value, constant.high) == (1.0, 1.0)
    assert constant.low == pytest.approx((0.05 / 6) ** (1 / 30))  # all of 30 right: p³⁰ = α/(2k)
    still = top_of(plain(np.column_stack([np.full(30, 7.0), np.random.default_rng(0).normal(size=30)])), bounded=False)
    assert still.low <= still.value <= still.high


@pytest.mark.parametrize("score", [0.3, 0.7, 0.1 + 0.2])
@pytest.mark.parametrize("holes", [False, True])
def test_constant_scores_are_as_many_right_of_all_items_against_scipy(score: float, *, holes: bool) -> None:
    """The lower limit was NaN: the rounding of a mean of 40 times 0.3 looked like a variance of 1e-33."""
    values = np.full((40, 3), score)
    if holes:
        values[0, 0] = values[1, 1] = np.nan
    found = top_of(plain(values))
    n = 40 * (scipy_stats.norm.isf(0.025) / scipy_stats.t.isf(0.025, 39)) ** 2  # Korn and Graubard's degrees of freedom
    rare = scipy_stats.beta.ppf(0.05 / 6, n * score, n * (1 - score) + 1)
    own = scipy_stats.beta.isf(0.025, n * score + 1, n * (1 - score))
    assert (found.low, found.high) == pytest.approx((rare, own), rel=1e-9)
    assert found.low < found.value <= score + 1e-12
    assert found.value == pytest.approx(score, abs=0.02)  # models that are the same item by item had no luck


@settings(deadline=None, max_examples=60)
@given(st.integers(2, 4), st.integers(2, 30), st.floats(0, 1), st.floats(-16, 0), st.integers(0, 99))
def test_scores_that_hardly_vary_have_limits(k: int, n: int, score: float, size: float, seed: int) -> None:
    values = np.clip(score + 10.0**size * np.random.default_rng(seed).uniform(-1, 1, (n, k)), 0, 1)
    found = top_of(plain(values))
    assert 0 <= found.low <= found.value <= found.high <= 1
    assert found.low <= float(values.mean(axis=0).max()) + 1e-15
