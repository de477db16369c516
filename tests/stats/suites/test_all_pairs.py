"""Totals of all pairs at once, against the total of each pair alone."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats as scipy_stats

from assay.stats.ranking.pairs import pairs_of
from assay.stats.suites import all_pairs
from assay.stats.suites.all_pairs import PairTotals, pair_totals, task_differences
from assay.stats.suites.total import Summed, summed
from assay.stats.units import Floats, Grid
from tests.stats.leaderboards import suite_grid
from tests.stats.suites.tasks import binary, counts

GRIDS = {
    "effective tango": suite_grid((40, 50, 60, 45), 5),
    "mover": suite_grid((8, 200, 300), 5),
    "holes": suite_grid((40, 50, 60, 45), 5, holes=0.2),
    "clusters": suite_grid((40, 50, 60), 4, groups=30),
    "real": suite_grid((40, 50, 60), 4, binary=False),
    "one without spread": Grid(np.tile([[1.0, 0.0, 1.0]], (30, 1)), np.ones(30), None, np.repeat([0, 1], 15)),
}


def alone(grid: Grid) -> list[Summed]:
    shares = grid.stratum_mass / grid.stratum_mass.sum()
    return [summed(task_differences(grid, i, j), shares) for i, j in combinations(range(grid.k), 2)]


def check(found: PairTotals, expected: list[Summed], level: float) -> None:
    np.testing.assert_allclose(found.value, [one.value for one in expected], rtol=1e-11, atol=1e-14)
    np.testing.assert_allclose(found.error, [one.error for one in expected], rtol=1e-11, atol=1e-14)
    np.testing.assert_allclose(found.p, [one.p for one in expected], rtol=1e-6)
    assert found.methods.tolist() == [one.method for one in expected]
    low, high = found.limits(level)
    np.testing.assert_allclose(np.stack([low, high], axis=1), [one.limits(level) for one in expected], atol=1e-9)


@pytest.mark.parametrize("level", [0.9, 0.999])
@pytest.mark.parametrize("name", GRIDS)
def test_against_the_total_of_each_pair(name: str, level: float) -> None:
    check(pair_totals(pairs_of(GRIDS[name])), alone(GRIDS[name]), level)


@settings(deadline=None)
@given(st.lists(counts(1, 25), min_size=2, max_size=6))
def test_one_pair_of_counts_against_its_total(suite: list[tuple[int, int, int]]) -> None:
    rows = [np.repeat([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]], [b, c, n - b - c], axis=0) for b, c, n in suite]
    sizes = np.array([n for *_, n in suite])
    strata = np.repeat(np.arange(len(suite)), sizes)
    grid = Grid(np.vstack(rows), (1.0 / sizes)[strata], None, strata)
    expected = summed([binary(*one) for one in suite], np.full(len(suite), 1 / len(suite)))
    check(pair_totals(pairs_of(grid)), [expected], 0.95)


def test_by_task_are_the_differences_of_the_means() -> None:
    grid = GRIDS["effective tango"]
    means = np.array([grid.values[grid.strata == t].mean(axis=0) for t in range(4)])
    i, j = np.triu_indices(grid.k, 1)
    np.testing.assert_allclose(pair_totals(pairs_of(grid)).by_task, means[:, i] - means[:, j], atol=1e-14)


@pytest.mark.parametrize("name", ["effective tango", "mover", "holes", "clusters", "real"])
def test_no_total_depends_on_other_systems(name: str) -> None:
    """To the last bit."""
    grid = GRIDS[name]
    some = np.array([0, 2, 3])
    whole, part = pair_totals(pairs_of(grid)), pair_totals(pairs_of(grid.of_systems(some)))
    i, j = np.triu_indices(grid.k, 1)
    place = np.isin(i, some) & np.isin(j, some)
    numbers = [(part.value, whole.value), (part.error, whole.error), (part.p, whole.p)]
    numbers += list(zip(part.limits(0.99), whole.limits(0.99), strict=True))
    for few, many in numbers:
        assert few.tobytes() == many[place].tobytes()


def student(grid: Grid, level: float) -> tuple[Floats, Floats]:
    """By hand: the error of the strata, n − T degrees of freedom."""
    pairs = pairs_of(grid)
    reach = scipy_stats.t.ppf(0.5 + level / 2, grid.n - 3) * pairs.standard_error
    return pairs.difference - reach, pairs.difference + reach


def test_where_there_is_no_time_students_t_stands_in(monkeypatch: pytest.MonkeyPatch) -> None:
    grid = GRIDS["real"]
    monkeypatch.setattr(all_pairs, "SECONDS", 0.0)
    found = pair_totals(pairs_of(grid))
    np.testing.assert_allclose(found.limits(0.95), student(grid, 0.95), rtol=1e-9)
    assert set(found.methods) == {"t"}
    assert set(pair_totals(pairs_of(grid), one_by_one=True).methods) == {"t-hall"}


def test_pairs_that_share_no_unit_of_a_task_have_no_total() -> None:
    values = np.array([[1.0, np.nan, 1], [np.nan, 1, 0], [1, 0, 1], [0, 1, 1], [1, 1, 0], [1, 0, 0]])
    found = pair_totals(pairs_of(Grid(values, np.ones(6), None, np.array([0, 0, 1, 1, 1, 1]))))
    assert np.isnan(found.p).tolist() == [True, False, False]
    assert np.isnan(found.limits(0.9)[0]).tolist() == [True, False, False]
