"""The model confidence set against a literal loop over sign flips, enumeration, arch, and its size."""

from itertools import combinations, product

import numpy as np
import pytest
from arch.bootstrap import MCS
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.stats.ranking.flips import Flips
from assay.stats.ranking.pairs import pairs_of
from assay.stats.ranking.winner import confidence_set
from assay.stats.streams import signs, stream_key
from assay.stats.units import Floats, Grid
from tests.stats.leaderboards import grid_of, renumbered


def set_of(grid: Grid, resamples: int = 999, *, lower_is_better: bool = False) -> Floats:
    return confidence_set(pairs_of(grid), Flips.of(grid), resamples, lower_is_better=lower_is_better)


def literal_set(sums: Floats, vectors: Floats, *, exact: bool) -> Floats:
    """Step by step, every pair of those that are left flipped by itself; (G, k) sums by group and (B, G) signs."""
    left, p, largest = list(range(sums.shape[1])), np.ones(sums.shape[1]), 0.0
    while len(left) > 1:
        gaps = {(i, j): sums[:, i] - sums[:, j] for i, j in combinations(left, 2)}
        sizes = {pair: float(np.sqrt((gap**2).sum())) or 1.0 for pair, gap in gaps.items()}
        observed = {pair: gap.sum() / sizes[pair] for pair, gap in gaps.items()}
        null = np.max([np.abs(vectors @ gap) / sizes[pair] for pair, gap in gaps.items()], axis=0)
        (i, j), ahead = max(observed.items(), key=lambda item: abs(item[1]))
        reached = int((null >= abs(ahead) - 1e-9).sum())
        largest = max(largest, reached / len(vectors) if exact else (1 + reached) / (1 + len(vectors)))
        worse = j if ahead > 0 else i
        p[worse] = largest
        left.remove(worse)
    return p


@pytest.mark.parametrize("seed", range(4))
def test_few_groups_against_enumeration(seed: int) -> None:
    grid = renumbered(grid_of(60, 4, seed, weights=True, groups=9))
    vectors = np.array(list(product((-1.0, 1.0), repeat=grid.groups)))
    np.testing.assert_allclose(set_of(grid), literal_set(grid.sums, vectors, exact=True))


@pytest.mark.parametrize("grid", [grid_of(40, 5, 1), grid_of(60, 4, 2, binary=True), grid_of(30, 3, weights=True)])
def test_random_flips_against_a_literal_loop(grid: Grid) -> None:
    plus = signs(stream_key(0, "all pairs"), 0, 300, grid.groups)
    expected = literal_set(grid.sums, np.where(plus, 1.0, -1.0), exact=False)
    np.testing.assert_allclose(set_of(grid, 300), expected)


def test_many_units_against_arch() -> None:
    """Hansen, Lunde and Nason's bootstrap and sign flips are the same as the number of units grows."""
    rng = np.random.default_rng(5)
    losses = rng.normal(size=(2_000, 1)) + rng.normal(size=(2_000, 6)) + 0.025 * np.arange(6)
    oracle = MCS(losses, size=0.05, reps=4_000, block_size=1, method="R", bootstrap="circular", seed=1)
    oracle.compute()
    ours = set_of(Grid(losses, np.ones(2_000)), 10_000, lower_is_better=True)
    np.testing.assert_allclose(ours, oracle.pvalues.Pvalue.sort_index().to_numpy(), atol=0.03)
    assert np.flatnonzero(ours > 0.05).tolist() == oracle.included


def test_systems_that_do_not_differ_at_all_stay() -> None:
    column = np.random.default_rng(0).normal(size=(50, 1))
    p = set_of(Grid(np.hstack([column, column, column - 2 + 0.1 * column**2]), np.ones(50)))
    assert p[:2].tolist() == [1.0, 1.0]
    assert p[2] < 0.01


@settings(max_examples=25)
@given(st.integers(0, 1_000), st.integers(2, 6), st.sampled_from([0.0, 0.3]))
def test_the_best_stays_and_less_is_better_mirrors(seed: int, k: int, holes: float) -> None:
    grid = grid_of(25, k, seed, holes=holes)
    p = set_of(grid, 199)
    assert p.max() == 1.0
    if grid.whole:
        assert p[np.argmax(grid.sums.sum(axis=0))] == 1.0
    mirrored = set_of(Grid(-grid.values, grid.weights), 199, lower_is_better=True)
    np.testing.assert_allclose(mirrored, p)


def test_first_test_has_the_size_it_says_coverage() -> None:
    """20 equal models, right or wrong at .9, 100 items: the bootstrap with fixed errors rejected 8%, nominal 5."""
    rng = np.random.default_rng(3)
    grids = [Grid((rng.random((100, 20)) < 0.9).astype(float), np.ones(100)) for _ in range(100)]
    assert sum(set_of(grid, 499).min() <= 0.05 for grid in grids) <= 11  # binomial(100, .05): 1 in 200
