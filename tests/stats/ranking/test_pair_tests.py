"""All pairs against scipy pair by pair, enumeration, and the exact tests of a single pair."""

from itertools import combinations
from math import erfc, sqrt

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats as scipy_stats

from assay.stats.paired_tests import ArmValues, effect_sizes, sign_flip, t_test, wilcoxon
from assay.stats.ranking import pair_tests
from assay.stats.ranking.pair_tests import sign_flips, t_tests, wilcoxon_tests
from assay.stats.ranking.pairs import Pairs, pairs_of, squared_gaps
from assay.stats.units import Floats, Grid, standard_error
from tests.stats.leaderboards import grid_of, renumbered
from tests.strategies import values

GRIDS = {
    "plain": grid_of(60, 4),
    "weights": grid_of(60, 4, weights=True),
    "clusters": renumbered(grid_of(120, 4, weights=True, groups=25)),
    "holes": grid_of(60, 4, holes=0.25),
    "clusters with holes": renumbered(grid_of(120, 4, weights=True, groups=25, holes=0.25)),
}


def each(pairs: Pairs) -> list[tuple[int, int, int]]:
    return [(r, i, j) for r, (i, j) in enumerate(combinations(range(pairs.grid.k), 2))]


@pytest.mark.untraced
@pytest.mark.parametrize("backend", ["numpy", "compiled"])
@pytest.mark.parametrize("name", GRIDS)
def test_differences_and_errors_against_single_pairs(name: str, backend: str) -> None:
    pairs = pairs_of(GRIDS[name], backend="compiled" if backend == "compiled" else "numpy")
    for r, i, j in each(pairs):
        units = pairs.grid.pair(i, j)
        both = pairs.grid.present[:, i] & pairs.grid.present[:, j]
        assert (pairs.units[r], pairs.groups[r]) == (both.sum(), units.n)
        assert pairs.difference[r] == pytest.approx(units.estimate)
        assert pairs.standard_error[r] == pytest.approx(standard_error(units))
        assert pairs.total[r] == pytest.approx(units.numerators.sum())
        assert pairs.norm[r] == pytest.approx(sqrt((units.numerators**2).sum()))
        a, b = (pairs.grid.values[both, system] for system in (j, i))
        d_z = effect_sizes(ArmValues(a, b, pairs.grid.weights[both]), units, 0.95)["d_z"].value
        assert pairs.difference[r] / pairs.spread[r] == pytest.approx(d_z)


def test_t_tests_against_scipy() -> None:
    grid = GRIDS["plain"]
    found = t_tests(pairs_of(grid))
    for r, i, j in each(pairs_of(grid)):
        exact = scipy_stats.ttest_rel(grid.values[:, i], grid.values[:, j])
        assert found.p_values[r] == pytest.approx(float(exact.pvalue))
        assert found.statistics[r] == pytest.approx(float(exact.statistic))


@pytest.mark.parametrize("name", GRIDS)
def test_t_tests_against_the_test_of_one_pair(name: str) -> None:
    pairs = pairs_of(GRIDS[name])
    expected = [t_test(pairs.grid.pair(i, j)).p_value for _, i, j in each(pairs)]
    np.testing.assert_allclose(t_tests(pairs).p_values, np.array(expected, dtype=float), rtol=1e-9)


def test_wilcoxon_tests_against_scipy() -> None:
    grid = GRIDS["plain"]
    found = wilcoxon_tests(pairs_of(grid))
    for r, i, j in each(pairs_of(grid)):
        exact = scipy_stats.wilcoxon(grid.values[:, i] - grid.values[:, j], zero_method="pratt")
        assert found.p_values[r] == pytest.approx(float(exact.pvalue))
    clustered = pairs_of(GRIDS["clusters"])
    units = clustered.grid.pair(0, 1)
    assert wilcoxon_tests(clustered).p_values[0] == wilcoxon(units.numerators / units.denominators).p_value


@pytest.mark.parametrize("seed", range(3))
def test_sign_flips_against_scipys_enumeration(seed: int) -> None:
    grid = grid_of(9, 4, seed)
    found = sign_flips(pairs_of(grid))
    assert (found.how, found.resamples) == ("exact", None)
    for r, i, j in each(pairs_of(grid)):
        gap = grid.values[:, i] - grid.values[:, j]
        exact = scipy_stats.permutation_test(
            (gap,), np.mean, permutation_type="samples", n_resamples=1_000, vectorized=True, axis=-1
        )
        assert found.p_values[r] == pytest.approx(float(exact.pvalue))


@pytest.mark.parametrize("holes", [0.0, 0.2])
def test_right_or_wrong_against_scipys_binomial(holes: float) -> None:
    grid = grid_of(80, 5, binary=True, holes=holes)
    found = sign_flips(pairs_of(grid))
    assert (found.name, found.how) == ("mcnemar", "exact")
    for r, i, j in each(pairs_of(grid)):
        gap = grid.values[:, i] - grid.values[:, j]
        ahead, behind = int((gap == 1).sum()), int((gap == -1).sum())
        exact = scipy_stats.binomtest(ahead, ahead + behind, 0.5).pvalue
        assert found.p_values[r] == pytest.approx(float(exact))
        assert np.sign(found.statistics[r]) == np.sign(ahead - behind)


@pytest.mark.parametrize("name", GRIDS)
def test_sign_flips_against_the_exact_test_of_one_pair(name: str) -> None:
    pairs = pairs_of(GRIDS[name])
    expected = [sign_flip(pairs.grid.pair(i, j).numerators)[0].p_value for _, i, j in each(pairs)]
    assert sign_flips(pairs).p_values.tolist() == expected


@pytest.mark.parametrize("name", GRIDS)
def test_random_flips_are_near_the_exact_ones(name: str) -> None:
    """Within five standard errors of 20,000 flips; where flips run out, at most the bound."""
    pairs = pairs_of(GRIDS[name])
    exact, random = sign_flips(pairs), sign_flips(pairs, resamples=20_000, seed=3)
    assert (random.how, random.resamples) == ("shared signs", 20_000)
    error = np.sqrt(exact.p_values * (1 - exact.p_values) / 20_000)
    assert (np.abs(random.p_values - exact.p_values) <= 5 * error + 2 / 20_000).all()


def test_beyond_the_flips_the_bound_is_taken_and_is_one() -> None:
    """A p-value of 10⁻⁸ cannot be counted; the bound is a few times as large."""
    rng = np.random.default_rng(0)
    grid = Grid(rng.normal(size=(400, 2)) + np.array([0.5, 0.0]), np.ones(400))
    pairs = pairs_of(grid)
    exact, random = (sign_flips(pairs, resamples=count).p_values[0] for count in (None, 999))
    assert exact < 1e-7
    assert exact < random < 6 * exact


@settings(max_examples=60)
@given(values(min_n=2, max_n=10))
def test_the_bound_holds_for_any_differences(gap: Floats) -> None:
    """Bentkus and Dzindzalieta: P(|Σ ±d| ≥ t) ≤ 2c·P(Z ≥ t/‖d‖), at every t that can occur."""
    if not gap.any():
        return
    sums = np.array([0.0])
    for d in gap:
        sums = np.concatenate([sums + d, sums - d])
    for t in np.abs(sums):
        share = float((np.abs(sums) >= t - 1e-9).mean())
        z = t / sqrt((gap**2).sum())
        assert share <= 2 * pair_tests._HEAVIEST * 0.5 * erfc(z / sqrt(2)) + 1e-12


def test_doubtful_pairs_are_computed_exactly(monkeypatch: pytest.MonkeyPatch) -> None:
    pairs = pairs_of(grid_of(150, 6))
    exact = sign_flips(pairs)
    few = np.flatnonzero((exact.p_values > 1e-4) & (exact.p_values < 0.005))  # less is clear from the bound
    assert 0 < len(few) < len(exact.p_values)
    monkeypatch.setattr(pair_tests, "EXACT_SECONDS", 0.99 * pair_tests._seconds(pairs, np.arange(15)))
    found = sign_flips(pairs)
    assert (found.how, found.resamples) == ("shared signs", 10_000)
    assert found.p_values[few].tolist() == exact.p_values[few].tolist()
    monkeypatch.setattr(pair_tests, "EXACT_SECONDS", 0.0)
    random = sign_flips(pairs).p_values
    assert (random[few] <= 6 * exact.p_values[few] + 3e-4).all()
    assert (random[few] != exact.p_values[few]).any()


def test_identical_constant_and_absent_pairs() -> None:
    rng = np.random.default_rng(0)
    own = rng.normal(size=20)
    apart = np.full(20, np.nan)
    apart[0] = 1.0
    other = np.append([np.nan], own[1:])
    grid = Grid(np.column_stack([own, own, own + 0.25, apart, other]), np.ones(20))
    pairs = pairs_of(grid)
    flips, t = sign_flips(pairs), t_tests(pairs)
    at = {pair: r for r, pair in enumerate(combinations(range(5), 2))}
    assert (flips.p_values[at[0, 1]], t.p_values[at[0, 1]]) == (1.0, 1.0)
    assert flips.p_values[at[0, 2]] == pytest.approx(2.0**-19)
    assert pairs.standard_error[at[0, 2]] == 0.0
    assert np.isnan(t.p_values[at[0, 2]])
    assert (pairs.units[at[0, 3]], pairs.units[at[3, 4]]) == (1, 0)
    assert np.isnan(pairs.standard_error[at[0, 3]])
    for tests in (flips, t, wilcoxon_tests(pairs), sign_flips(pairs, resamples=100)):
        assert np.isnan(tests.p_values[at[3, 4]])


@pytest.mark.untraced
@pytest.mark.parametrize("backend", ["numpy", "compiled"])
def test_squared_gaps_against_two_loops(backend: str) -> None:
    columns = np.random.default_rng(0).normal(size=(15, 40))
    found = squared_gaps(columns, "compiled" if backend == "compiled" else "numpy")
    for i, j in combinations(range(40), 2):
        assert found[i, j] == pytest.approx(((columns[:, i] - columns[:, j]) ** 2).sum())


@settings(max_examples=15)
@given(st.integers(0, 500), st.permutations(range(4)), st.floats(-100, 100))
def test_order_of_systems_and_a_constant_change_nothing(seed: int, order: list[int], constant: float) -> None:
    grid = grid_of(30, 4, seed, holes=0.1)
    plain = sign_flips(pairs_of(grid), resamples=200).p_values
    moved = Grid(grid.values[:, order] + constant, grid.weights)
    found = sign_flips(pairs_of(moved), resamples=200).p_values
    at = {frozenset(pair): r for r, pair in enumerate(combinations(range(4), 2))}
    for r, (i, j) in enumerate(combinations(range(4), 2)):
        assert found[r] == pytest.approx(plain[at[frozenset((order[i], order[j]))]], rel=1e-6)


@pytest.mark.parametrize("groups", [5, 10, 13])
def test_few_groups_are_enumerated_also_where_random_flips_were_asked_for(groups: int) -> None:
    """scipy takes all 2ⁿ sign vectors of so few sums."""
    grid = renumbered(grid_of(80, 4, weights=True, groups=groups))
    found = sign_flips(pairs_of(grid), resamples=500)
    assert (found.how, found.resamples) == ("exact", None)
    for r, i, j in each(pairs_of(grid)):
        sums = grid.pair(i, j).numerators
        exact = scipy_stats.permutation_test(
            (sums,), np.sum, permutation_type="samples", n_resamples=1 << 20, vectorized=True
        )
        assert found.p_values[r] == pytest.approx(float(exact.pvalue))


def test_no_p_value_is_below_two_of_all_sign_vectors() -> None:
    """17 groups, all in favour: the bound for signs of any differences would be smaller than 2 / 2¹⁷."""
    values = np.zeros((17, 60))
    values[:, 0] = 1.0
    found = sign_flips(pairs_of(Grid(values + 1e-3 * np.random.default_rng(0).random((17, 60)), np.ones(17))))
    assert np.nanmin(found.p_values) >= 2**-16
