"""Shared signs against signs drawn one by one, exact distributions and the studentized range."""

from math import sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats as scipy_stats

from assay.stats.ranking.flips import Flips, sign_codes
from assay.stats.ranking.pairs import pairs_of, squared_gaps
from assay.stats.ranking.shared_signs import Maxima, count_reached, critical_value, maxima, step_down
from assay.stats.streams import signs, stream_key
from assay.stats.units import Floats, Grid
from tests.stats.leaderboards import grid_of, renumbered, suite_grid

GRIDS = {
    "plain": grid_of(37, 5),
    "0/1": grid_of(64, 4, binary=True),
    "weights": grid_of(50, 4, weights=True),
    "clusters": renumbered(grid_of(90, 4, weights=True, groups=20)),
    "holes": grid_of(50, 5, holes=0.3),
    "clusters with holes": renumbered(grid_of(90, 4, groups=20, holes=0.2)),
    "tasks": suite_grid((12, 25, 40), 5),
    "tasks with holes": suite_grid((12, 25, 40), 5, holes=0.3),
    "tasks that share clusters": suite_grid((20, 30, 40), 4, groups=20),
}
B = 400


def literal_differences(grid: Grid, rows: int, seed: int = 0) -> Floats:
    """(rows, P) Σ ±ωd with the signs of the stream, pair by pair on the units that both have.

    ω is the weight of a unit, times what its task weighs over what the units that both have weigh in it.
    """
    plus = signs(stream_key(seed, "all pairs"), 0, rows, grid.groups)
    codes = np.arange(grid.n) if grid.clusters is None else grid.clusters
    columns = []
    for i, j in zip(*np.triu_indices(grid.k, 1), strict=True):
        gap = np.nan_to_num(grid.weights * (grid.values[:, i] - grid.values[:, j]))
        both, strata = grid.present[:, i] & grid.present[:, j], grid.strata
        if strata is not None:
            gap *= [grid.weights[strata == t].sum() / grid.weights[(strata == t) & both].sum() for t in strata]
        columns.append(np.where(plus[:, codes], gap, -gap).sum(axis=1))
    return np.column_stack(columns)


@pytest.mark.parametrize("name", GRIDS)
def test_counts_against_signs_drawn_one_by_one(name: str) -> None:
    grid = GRIDS[name]
    pairs = pairs_of(grid)
    null = literal_differences(grid, B)
    expected = (np.abs(null) >= np.abs(pairs.total) - 1e-9 * sqrt(grid.groups) * pairs.norm).sum(axis=0)
    assert count_reached(Flips.of(grid), pairs.total, pairs.norm, B).tolist() == expected.tolist()


@pytest.fixture
def single(monkeypatch: pytest.MonkeyPatch) -> None:
    """Single precision, however little the work is."""
    monkeypatch.setattr("assay.stats.ranking.flips._SINGLE_ABOVE", 0)


@pytest.mark.usefixtures("single")
@pytest.mark.parametrize("name", ["plain", "0/1", "weights", "clusters", "tasks"])
def test_single_precision_decides_as_signs_drawn_one_by_one(name: str) -> None:
    grid = GRIDS[name]
    pairs = pairs_of(grid)
    flips, null = Flips.of(grid), literal_differences(grid, B)
    assert flips.sums(B).exact == (name == "0/1")  # whole numbers are exact
    expected = (np.abs(null) >= np.abs(pairs.total) - 1e-9 * sqrt(grid.groups) * pairs.norm).sum(axis=0)
    assert count_reached(flips, pairs.total, pairs.norm, B).tolist() == expected.tolist()


@pytest.mark.usefixtures("single")
@given(st.integers(0, 10_000), st.sampled_from([1e-50, 1.0, 1e50]))
def test_ties_and_near_copies_are_decided_in_double_precision(seed: int, unit: float) -> None:
    """Values on a coarse grid, so that many sums tie with the observed one; and two systems that hardly differ."""
    rng = np.random.default_rng(seed)
    values = rng.integers(0, 5, size=(40, 5)) / 4 * unit
    values[:, 4] = values[:, 3] + rng.normal(size=40) * 1e-9 * unit
    grid = Grid(values, np.ones(40))
    pairs = pairs_of(grid)
    null = literal_differences(grid, 200)
    expected = (np.abs(null) >= np.abs(pairs.total) - 1e-9 * sqrt(40) * pairs.norm).sum(axis=0)
    assert count_reached(Flips.of(grid), pairs.total, pairs.norm, 200).tolist() == expected.tolist()


def test_only_what_is_wanted_is_counted() -> None:
    grid = GRIDS["plain"]
    pairs = pairs_of(grid)
    every = count_reached(Flips.of(grid), pairs.total, pairs.norm, B)
    wanted = np.arange(len(every)) % 2 == 0
    assert count_reached(Flips.of(grid), pairs.total, pairs.norm, B, wanted).tolist() == (every * wanted).tolist()


@given(st.integers(1, 200), st.integers(0, 50), st.integers(1, 5))
def test_codes_are_the_bits_of_the_stream(groups: int, first: int, rows: int) -> None:
    key = stream_key(7, "x")
    codes = sign_codes(key, first, rows, groups)
    bits = np.unpackbits(codes, axis=1, bitorder="little")[:, :groups].astype(bool)
    assert bits.tolist() == signs(key, first, rows, groups).tolist()


@pytest.mark.parametrize("name", GRIDS)
def test_max_t_against_a_literal_step_down(name: str) -> None:
    grid = GRIDS[name]
    pairs = pairs_of(grid)
    null = np.abs(literal_differences(grid, B)) / pairs.norm
    found = maxima(Flips.of(grid), pairs.evidence, pairs.norm, B)
    np.testing.assert_allclose(found.largest, null.max(axis=1), rtol=1e-9)
    adjusted, previous = np.empty(len(pairs.norm)), 0.0
    remaining = list(np.argsort(-pairs.evidence, kind="stable"))
    while remaining:  # Westfall and Young: the largest of what is left, and never below the one before
        r = remaining[0]
        reached = (null[:, remaining].max(axis=1) >= pairs.evidence[r] - 1e-9 * sqrt(grid.groups)).sum()
        adjusted[r] = previous = max(previous, (1 + reached) / (1 + B))
        remaining.pop(0)
    np.testing.assert_allclose(step_down(found, pairs.evidence), adjusted)


def test_ties_have_the_same_adjusted_p_value() -> None:
    found = Maxima(np.array([3.0, 1.0, 2.0]), np.array([2, 1, 0]))
    assert step_down(found, np.array([1.0, 1.0, 5.0])).tolist() == [0.75, 0.5, 0.25]


@pytest.mark.parametrize("k", [2, 5, 10])
def test_critical_value_against_the_studentized_range(k: int) -> None:
    """Independent systems of equal variance: max |t| over pairs is Tukey's range over √2, as n grows."""
    columns = np.random.default_rng(k).normal(size=(4_000, k))
    columns -= columns.mean(axis=0)
    i, j = np.triu_indices(k, 1)
    found = critical_value(Flips(columns), np.sqrt(squared_gaps(columns)[i, j]), 0.95, 20_000)
    exact = float(scipy_stats.studentized_range.ppf(0.95, k, np.inf)) / sqrt(2)
    assert found == pytest.approx(exact, rel=0.02)


def test_critical_value_of_one_pair_against_t() -> None:
    """For normal differences the studentized sign-flip quantile is Student's, on average over data."""
    values = []
    for seed in range(60):
        column = np.random.default_rng(seed).normal(size=(20, 1))
        columns = np.hstack([column - column.mean(), np.zeros((20, 1))])
        norm = np.array([sqrt(float((columns[:, 0] ** 2).sum()))])
        values.append(critical_value(Flips(columns, seed=seed), norm, 0.95, 2_000))
    found = [value for value in values if value is not None]
    assert len(found) == 60
    assert np.mean(found) == pytest.approx(float(scipy_stats.t.ppf(0.975, 19)), rel=0.03)


def test_too_few_groups_have_no_critical_value() -> None:
    columns = np.random.default_rng(0).normal(size=(9, 2))
    assert critical_value(Flips(columns), np.sqrt(squared_gaps(columns)[[0], [1]]), 0.95, 999) is None


def test_residuals_of_one_size_have_no_critical_value_at_high_levels() -> None:
    """All of 10 signs agree in one of 512 replicates, and then the studentized statistic is infinite."""
    columns = np.column_stack([np.tile([1.0, -1.0], 5), np.zeros(10)])
    norms = np.array([sqrt(10)])
    assert critical_value(Flips(columns), norms, 0.999, 4_000) is None
    assert critical_value(Flips(columns), norms, 0.95, 4_000) is not None
