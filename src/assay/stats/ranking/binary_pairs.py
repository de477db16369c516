"""0/1 scores of all pairs at once: on how many items one system alone is right, and what clusters and weights take off.

The counts go to `assay.stats.proportions`, which has the tests and the intervals. Everything here is what its
`effective_counts` gives for one pair.
"""

from dataclasses import dataclass
from math import inf

import numpy as np

from assay.stats.numerics import critical_values
from assay.stats.proportions import FEWEST_DF, design_effects, mcnemar_p, score_p, score_statistic, tango_limits
from assay.stats.ranking.pairs import Pairs
from assay.stats.units import Floats, Grid, Truths


@dataclass(frozen=True, eq=False, slots=True)
class PairCounts:
    """For every pair i < j: the items that i alone has right, those that j alone has, and all; times their weights."""

    b: Floats  # (P,)
    c: Floats  # (P,)
    n: Floats  # (P,)
    deff: Floats  # (P,) the design effect; 1 without clusters and weights
    df: Floats  # (P,) infinite without them
    plain: bool
    binary: Truths  # (P,) whether a pair's scores are 0/1; others have no counts

    def p_values(self, *, exact: bool = False) -> Floats:
        """McNemar's mid-p, or its exact p; with clusters or weights that of the score statistic."""
        return mcnemar_p(self.b, self.c, exact=exact) if self.plain else score_p(self.b, self.c, self.deff, self.df)

    def own_p(self) -> Floats:
        """The smallest α at which Tango's interval leaves out 0."""
        return score_p(self.b, self.c, self.deff, self.df)

    def statistics(self) -> Floats:
        return score_statistic(self.b, self.c, self.deff)

    def limits(self, level: float) -> tuple[Floats, Floats]:
        """Tango's limits of each pair's difference."""
        df, place = np.unique(self.df, return_inverse=True)
        return self.limits_at(critical_values(level, df)[place])

    def limits_at(self, reach: Floats) -> tuple[Floats, Floats]:
        """The same at a critical value."""
        return tango_limits(self.b / self.deff, self.c / self.deff, self.n / self.deff, reach)


def counts_of(pairs: Pairs) -> PairCounts:
    """The counts of all pairs; those that share no unit have 0 of 1."""
    grid, units = pairs.grid, np.maximum(pairs.units, 1).astype(np.float64)
    i, j = pairs.index
    present = grid.present.astype(np.float64)
    binary = right_or_wrong(pairs)
    right = np.where(grid.present, grid.values, 0.0)
    mass = (present * grid.weights[:, None]).T @ present
    alone = (right * grid.weights[:, None]).T @ (present - right)  # [i, j]: the weight of what i alone has right
    shared = np.where(mass[i, j] > 0, mass[i, j], 1.0)
    b, c = (np.where(binary, units * alone[pair] / shared, 0.0) for pair in ((i, j), (j, i)))
    if grid.equal_weights and grid.clusters is None:
        b, c = np.rint(b), np.rint(c)
        return PairCounts(b, c, units, np.ones(len(i)), np.full(len(i), inf), plain=True, binary=binary)
    kish, df = _drawn(grid, pairs)
    variance = np.nan_to_num(pairs.standard_error) ** 2
    effects = design_effects(variance, b, c, units, kish, _of_weights(grid, pairs))
    deff = np.where(np.isfinite(pairs.standard_error), effects, units / kish)
    return PairCounts(b, c, units, deff, np.maximum(df, FEWEST_DF), plain=False, binary=binary)


def right_or_wrong(pairs: Pairs) -> Truths:
    """(P,) Whether every score of the items that both have is 0 or 1."""
    grid, (i, j) = pairs.grid, pairs.index
    partial = np.where(grid.present & (grid.values != 0) & (grid.values != 1), 1.0, 0.0)
    if not partial.any():
        return np.ones(len(i), dtype=bool)
    shared = partial.T @ grid.present.astype(np.float64)  # [i, j]: items of both where i has neither
    return np.asarray((shared[i, j] == 0) & (shared[j, i] == 0))


def _of_weights(grid: Grid, pairs: Pairs) -> Floats:
    """(P,) Kish's design effect of the weights of the items that a pair shares."""
    if grid.equal_weights:
        return np.ones(len(pairs.units))
    present, share = grid.present.astype(np.float64), (grid.weights / grid.weights.max())[:, None]
    (n, mass, squares), (i, j) = ((present * part).T @ present for part in (1.0, share, share * share)), pairs.index
    return np.asarray(np.maximum(n * squares / np.where(mass > 0, mass, 1.0) ** 2, 1.0)[i, j])


def _drawn(grid: Grid, pairs: Pairs) -> tuple[Floats, Floats]:
    """(P,) Kish's number of units drawn, and Satterthwaite's degrees of freedom of each difference."""
    parts = [_against_later(grid, i) for i in range(grid.k - 1)]
    kish, df = (np.concatenate([part[field] for part in parts]) for field in range(2))
    return np.maximum(kish, 1.0), np.where(pairs.groups > 1, df, pairs.groups - 1.0)


def _against_later(grid: Grid, i: int) -> tuple[Floats, Floats]:
    """From the jackknife deviations of the ratios, as `units.shape` has them for one."""
    both = grid.present[:, [i]] & grid.present[:, i + 1 :]  # (n, m)
    weights = np.where(both, grid.weights[:, None], 0.0)
    gaps = np.where(both, grid.values[:, [i]] - grid.values[:, i + 1 :], 0.0)
    num, den = grid.grouped(gaps * weights), grid.grouped(weights)  # (G, m)
    drawn = den > 0
    n, total = drawn.sum(axis=0), den.sum(axis=0)
    rest = total - den
    left_out = np.divide(num.sum(axis=0) - num, rest, out=np.zeros_like(num), where=drawn & (rest > 0))
    mean = left_out.sum(axis=0) / np.maximum(n, 1)
    square = np.where(drawn, left_out - mean, 0.0) ** 2
    second = square.sum(axis=0)
    kurtosis = np.divide(n * (square * square).sum(axis=0), second**2, out=np.zeros(len(n)), where=second > 0)
    some = np.maximum(2 * n / np.where(kurtosis > 1, kurtosis - 1, 1.0), 1.0)
    df = np.where(kurtosis > 1, np.minimum(n - 1.0, some), n - 1.0)
    return total**2 / np.maximum((den * den).sum(axis=0), 1e-300), df
