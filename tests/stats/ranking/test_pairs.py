"""Pairs: sums in one order whatever the shape, numbers that other systems do not move, strata against closed forms."""

from itertools import combinations
from math import sqrt

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from assay.stats.ranking import connected, fitted
from assay.stats.ranking.pairs import Pairs, StratumPairs, added_up, pairs_of
from assay.stats.units import Floats, Grid, Units, standard_error
from tests.stats.leaderboards import grid_of, renumbered, suite_grid

FIELDS = ("units", "groups", "difference", "standard_error", "total", "norm", "spread")


@given(arrays(np.float64, st.tuples(st.integers(1, 300), st.integers(1, 5)), elements=st.floats(-1e9, 1e9)))
def test_columns_are_added_one_row_after_the_other(values: Floats) -> None:
    expected = np.cumsum(values, axis=0)[-1]
    assert added_up(values).tolist() == expected.tolist()
    assert added_up(np.asfortranarray(values)).tolist() == expected.tolist()


def numbers_of(pairs: Pairs, i: int, j: int) -> list[bytes]:
    place = np.flatnonzero((pairs.index[0] == i) & (pairs.index[1] == j))[0]
    return [getattr(pairs, name)[place].tobytes() for name in FIELDS]


@st.composite
def grids(draw: st.DrawFn) -> Grid:
    n, k, seed = draw(st.integers(6, 70)), draw(st.integers(3, 6)), draw(st.integers(0, 10_000))
    binary, holes = draw(st.booleans()), draw(st.sampled_from([0.0, 0.3]))
    if draw(st.booleans()):
        sizes = draw(st.lists(st.integers(3, 30), min_size=2, max_size=5))
        return suite_grid(sizes, k, seed, binary=binary, groups=draw(st.sampled_from([0, 8])), holes=holes)
    groups = draw(st.sampled_from([0, 5]))
    return renumbered(grid_of(n, k, seed, binary=binary, weights=draw(st.booleans()), groups=groups, holes=holes))


@settings(deadline=None)
@given(grids(), st.data())
def test_no_number_of_a_pair_depends_on_other_systems(grid: Grid, data: st.DataObject) -> None:
    """To the last bit, wherever the two stand among the others, and whether those have holes."""
    chosen = data.draw(st.permutations(range(grid.k)))[: data.draw(st.integers(2, grid.k))]
    some = np.array(sorted(chosen))
    whole, part = pairs_of(grid), pairs_of(grid.of_systems(some))
    for i, j in combinations(range(len(some)), 2):
        assert numbers_of(part, i, j) == numbers_of(whole, int(some[i]), int(some[j]))


@pytest.mark.untraced
@pytest.mark.parametrize("grid", [grid_of(60, 5), renumbered(grid_of(90, 4, weights=True, groups=20))])
def test_backends_give_the_same_bits(grid: Grid) -> None:
    numpy, compiled = pairs_of(grid, backend="numpy"), pairs_of(grid, backend="compiled")
    for name in FIELDS:
        assert getattr(numpy, name).tobytes() == getattr(compiled, name).tobytes()


# --------------------------------------------------------------------------------------------------------------- strata


@pytest.mark.parametrize("binary", [True, False])
@pytest.mark.parametrize("holes", [0.0, 0.25])
def test_difference_and_variance_of_the_macro_mean_in_closed_form(holes: float, binary: bool) -> None:
    """Σ D_t/T, and Σ s²_t/n_t / T² with n_t − 1, on the units of each task that both have."""
    sizes = (14, 30, 55, 21)
    grid = suite_grid(sizes, 4, binary=binary, holes=holes)
    pairs = pairs_of(grid)
    for r, (i, j) in enumerate(pairs.index.T.tolist()):
        gaps = [grid.values[grid.strata == t, i] - grid.values[grid.strata == t, j] for t in range(4)]
        gaps = [gap[~np.isnan(gap)] for gap in gaps]
        assert pairs.difference[r] == pytest.approx(np.mean([gap.mean() for gap in gaps]), rel=1e-12)
        error = sqrt(sum(gap.var(ddof=1) / len(gap) for gap in gaps)) / 4
        assert pairs.standard_error[r] == pytest.approx(error, rel=1e-12)
        assert pairs.units[r] == sum(len(gap) for gap in gaps)


def test_weights_of_units_inside_tasks_against_the_error_of_each_task() -> None:
    rng = np.random.default_rng(3)
    strata, inside = np.repeat([0, 1, 2], [20, 30, 40]), rng.integers(1, 5, 90).astype(np.float64)
    shares = np.array([0.5, 0.3, 0.2])
    weights = inside * (shares / np.bincount(strata, inside))[strata]
    grid = Grid(rng.normal(size=(90, 2)), weights, None, strata)
    pairs, tasks = pairs_of(grid), [strata == t for t in range(3)]
    own = [Units(((grid.values[:, 0] - grid.values[:, 1]) * inside)[rows], inside[rows]) for rows in tasks]
    value = sum(share * one.estimate for share, one in zip(shares, own, strict=True))
    error = sqrt(sum((share * (standard_error(one) or 0)) ** 2 for share, one in zip(shares, own, strict=True)))
    assert (pairs.difference[0], pairs.standard_error[0]) == pytest.approx((value, error), rel=1e-12)
    found = fitted(grid)
    assert found.estimates[0] - found.estimates[1] == pytest.approx(value, rel=1e-9)
    assert found.error_of(0)[1] == pytest.approx(error, rel=1e-9)


def test_clusters_in_several_tasks_are_summed_before_they_are_squared() -> None:
    """Every task has the same items with the same scores: the mean of the tasks has the variance of one of them."""
    once = np.random.default_rng(0).normal(size=(40, 3))
    strata, clusters = np.repeat([0, 1, 2], 40), np.tile(np.arange(40), 3)
    found = pairs_of(Grid(np.tile(once, (3, 1)), np.ones(120), clusters, strata))
    alone = pairs_of(Grid(once, np.ones(40)))
    np.testing.assert_allclose(found.standard_error, alone.standard_error, rtol=1e-12)
    np.testing.assert_allclose(found.difference, alone.difference, rtol=1e-12)
    assert found.groups.tolist() == [40] * 3


@pytest.mark.parametrize("holes", [0.0, 0.3])
def test_fits_by_task_are_the_mean_of_each_tasks_own(holes: float) -> None:
    grid = suite_grid((20, 35, 50), 4, binary=False, holes=holes)
    own = [fitted(Grid(grid.values[grid.strata == t], grid.weights[grid.strata == t])) for t in range(3)]
    found = fitted(grid)
    np.testing.assert_allclose(found.estimates, np.mean([one.estimates for one in own], axis=0), rtol=1e-12)
    np.testing.assert_allclose(found.errors, np.sqrt(sum(one.errors**2 for one in own)) / 3, rtol=1e-9)
    np.testing.assert_allclose(found.influence.sum(axis=0), 0, atol=1e-12)


def test_systems_that_share_no_unit_of_a_task_have_no_difference() -> None:
    values = np.random.default_rng(0).normal(size=(12, 3))
    values[:3, 0] = values[3:6, 1] = np.nan  # of the first task one has the last three, the other the first three
    grid = Grid(values, np.ones(12), None, np.repeat([0, 1], 6))
    pairs = pairs_of(grid)
    assert pairs.units.tolist() == [0, 9, 9]
    assert np.isnan(pairs.difference).tolist() == [True, False, False]
    assert StratumPairs.of(grid, 0).compared.tolist() == [False, True]
    assert connected(grid).all()


def test_a_system_without_a_unit_of_a_task_is_connected_with_nobody() -> None:
    values = np.ones((6, 3))
    values[:3, 2] = np.nan
    assert connected(Grid(values, np.ones(6), None, np.repeat([0, 1], 3))).tolist() == [True, True, False]
