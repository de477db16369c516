"""The grid against sums done unit by unit."""

import numpy as np
import pytest

from assay.stats.units import Grid, standard_error
from tests.stats.leaderboards import grid_of, renumbered


@pytest.mark.parametrize("holes", [0.0, 0.3])
@pytest.mark.parametrize("groups", [0, 7])
def test_pairs_against_sums_by_hand(groups: int, holes: float) -> None:
    grid = renumbered(grid_of(40, 3, weights=True, groups=groups, holes=holes))
    codes = np.arange(40) if grid.clusters is None else grid.clusters
    for i, j in ((0, 1), (2, 0)):
        both = [u for u in range(40) if not np.isnan(grid.values[u, [i, j]]).any()]
        sums: dict[int, float] = {}
        mass: dict[int, float] = {}
        for u in both:
            gap = grid.weights[u] * (grid.values[u, i] - grid.values[u, j])
            sums[codes[u]] = sums.get(codes[u], 0.0) + gap
            mass[codes[u]] = mass.get(codes[u], 0.0) + grid.weights[u]
        units = grid.pair(i, j)
        np.testing.assert_allclose(units.numerators, [sums[c] for c in sorted(sums)])
        np.testing.assert_allclose(units.denominators, [mass[c] for c in sorted(mass)])


def test_systems_are_what_they_answered() -> None:
    grid = Grid(np.array([[1.0, np.nan], [2.0, 4.0], [6.0, np.nan]]), np.array([1.0, 2, 1]))
    assert not grid.whole
    assert grid.system(0).estimate == pytest.approx(11 / 4)
    assert (grid.system(1).estimate, grid.system(1).n) == (4.0, 1)
    assert standard_error(grid.system(1)) is None


def test_binary_means_right_or_wrong_and_nothing_else() -> None:
    values = np.array([[1.0, 0.0], [np.nan, 1.0]])
    assert Grid(values, np.ones(2)).binary
    assert not Grid(values, np.array([1.0, 2.0])).binary
    assert not Grid(values, np.ones(2), np.array([0, 0])).binary
    assert not Grid(values + 0.5, np.ones(2)).binary


def test_a_grid_of_sums_keeps_them_to_the_last_bit() -> None:
    rng = np.random.default_rng(5)
    values, weights = rng.normal(size=(200, 3)), rng.uniform(0.1, 9, 200)
    values[3, 1] = np.nan
    sums = values * weights[:, None]
    grid = Grid.of_sums(sums, weights)
    assert grid.products.tolist() == np.where(np.isnan(sums), 0.0, sums).tolist()
    np.testing.assert_allclose(grid.values, values, rtol=1e-15)
