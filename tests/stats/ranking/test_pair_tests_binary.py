"""Counts of all pairs against those of single pairs, and tests and intervals against one pair at a time."""

from itertools import combinations

import numpy as np
import pytest

from assay.stats.proportions import effective_counts, paired_shares
from assay.stats.ranking.pair_counts import counts_of
from assay.stats.ranking.pairs import pairs_of
from assay.stats.units import Grid
from tests.stats.leaderboards import grid_of, renumbered

GRIDS = {
    "plain": grid_of(60, 4, binary=True),
    "holes": grid_of(60, 4, binary=True, holes=0.3),
    "weights": grid_of(60, 4, binary=True, weights=True),
    "clusters": renumbered(grid_of(120, 4, binary=True, groups=25)),
    "few heavy items": Grid(
        grid_of(120, 4, binary=True, holes=0.2).values, np.where(np.arange(120) % 10 == 0, 1e6, 1e-3)
    ),
    "clusters, weights and holes": renumbered(grid_of(120, 4, binary=True, weights=True, groups=25, holes=0.25)),
}


@pytest.mark.parametrize("name", GRIDS)
@pytest.mark.parametrize("level", [0.9, 0.95, 0.99, 0.999])
def test_every_pair_against_the_pair_alone(name: str, level: float) -> None:
    grid = GRIDS[name]
    found = counts_of(pairs_of(grid))
    low, high = found.limits(level)
    p = found.p_values()
    for r, (i, j) in enumerate(combinations(range(grid.k), 2)):
        both = grid.present[:, i] & grid.present[:, j]
        gaps = grid.values[both, i] - grid.values[both, j]
        if found.plain:
            alone = paired_shares((gaps > 0).sum(), (gaps < 0).sum(), both.sum(), level=level)
        else:
            one = effective_counts(gaps, grid.weights[both], grid.pair(i, j))
            assert (found.b[r], found.c[r], found.n[r]) == pytest.approx((one.b, one.c, one.n))
            assert (found.deff[r], found.df[r]) == pytest.approx((one.deff, one.df))
            alone = paired_shares(one.b, one.c, one.n, level=level, deff=one.deff, df=one.df)
        assert p[r] == pytest.approx(alone.p[0])
        if (p[r] <= 1 - level) == (low[r] > 0 or high[r] < 0):  # where nothing is moved
            assert (low[r], high[r]) == pytest.approx((alone.low[0], alone.high[0]), abs=1e-9)


def test_equal_weights_are_no_weights() -> None:
    plain = GRIDS["plain"]
    heavy = counts_of(pairs_of(Grid(plain.values, np.full(plain.n, 3.5))))
    light = counts_of(pairs_of(plain))
    assert heavy.plain
    assert heavy.b.tolist() == light.b.tolist()
    assert heavy.limits(0.95)[0].tolist() == light.limits(0.95)[0].tolist()


def test_pairs_that_share_nothing_differ_in_nothing() -> None:
    values = np.array([[1.0, np.nan, 1.0], [np.nan, 0.0, 1.0], [1.0, np.nan, 0.0]])
    found = counts_of(pairs_of(Grid(values, np.ones(3))))
    assert (found.b[0], found.c[0]) == (0, 0)
    assert found.p_values()[0] == 1
