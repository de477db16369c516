"""Grids for the tests of all pairs: values of several kinds, with and without weights, clusters and holes."""

from collections.abc import Sequence

import numpy as np

from assay.stats.units import Grid


def grid_of(
    n: int, k: int, seed: int = 0, *, binary: bool = False, weights: bool = False, groups: int = 0, holes: float = 0.0
) -> Grid:
    """n units under k systems that differ a little; units are hard for all of them together."""
    rng = np.random.default_rng([seed, n, k])
    values = rng.normal(size=(n, 1)) + rng.normal(size=(n, k)) + np.linspace(0.4, 0, k)
    values = (values > 0).astype(np.float64) if binary else values
    missing = rng.random((n, k)) < holes
    missing[np.arange(n), rng.integers(0, k, n)] = False  # somebody has answered
    values[missing] = np.nan
    mass = rng.integers(1, 9, n).astype(np.float64) if weights else np.ones(n)
    return Grid(values, mass, np.sort(rng.integers(0, groups, n)) if groups else None)


def renumbered(grid: Grid) -> Grid:
    """With clusters 0, 1, … only."""
    if grid.clusters is None:
        return grid
    return Grid(grid.values, grid.weights, np.unique(grid.clusters, return_inverse=True)[1])


def suite_grid(
    sizes: Sequence[int], k: int, seed: int = 0, *, binary: bool = True, groups: int = 0, holes: float = 0.0
) -> Grid:
    """Tasks of these sizes that weigh the same, in one grid; clusters may have units of several tasks."""
    whole = renumbered(grid_of(sum(sizes), k, seed, binary=binary, groups=groups, holes=holes))
    strata = np.repeat(np.arange(len(sizes)), sizes)
    order = np.random.default_rng(seed).permutation(whole.n)
    clusters = None if whole.clusters is None else whole.clusters[order]
    return Grid(whole.values, (whole.n / len(sizes) / np.array(sizes, dtype=np.float64))[strata], clusters, strata)
