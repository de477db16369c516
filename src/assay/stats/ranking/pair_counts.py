"""0/1 scores of all pairs of systems: on how many items one alone is right, and what clusters and weights take off.

What `assay.stats.proportions.effective_counts` gives for one pair. The tests and intervals of counts are there.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import inf

import numpy as np

from assay.stats.numerics import critical_values
from assay.stats.proportions import FEWEST_DF, design_effects, mcnemar_p, score_p, score_statistic, tango_limits
from assay.stats.ranking.pairs import Pairs, added_up, answers_only, discordant
from assay.stats.units import Floats, Grid, Integers, Truths

_MOST_TOLD = 2e5  # units: three counts make one number without rounding


@dataclass(frozen=True, eq=False)
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
        some, place = self._kinds
        if self.plain:
            return np.asarray(mcnemar_p(self.b[some], self.c[some], exact=exact)[place])
        return self.own_p

    @cached_property
    def own_p(self) -> Floats:
        """The smallest α at which Tango's interval leaves out 0."""
        some, place = self._kinds
        return np.asarray(score_p(self.b[some], self.c[some], self.deff[some], self.df[some])[place])

    @cached_property
    def _kinds(self) -> tuple[Integers, Integers]:
        """One pair of each kind, and of which kind every pair is: many pairs have the same counts."""
        most = self.n.max(initial=0.0) + 1
        if not self.plain or most > _MOST_TOLD:
            every = np.arange(len(self.b))
            return every, every
        key = (self.n * most + self.b) * most + self.c
        _, some, place = np.unique(key, return_index=True, return_inverse=True)
        return some, place

    def statistics(self) -> Floats:
        return score_statistic(self.b, self.c, self.deff)

    def limits(self, level: float) -> tuple[Floats, Floats]:
        """Tango's limits of each pair's difference."""
        df, place = np.unique(self.df, return_inverse=True)
        return self.limits_at(critical_values(level, df)[place])

    def limits_at(self, reach: Floats) -> tuple[Floats, Floats]:
        """The same at a critical value."""
        some, place = self._kinds
        b, c, n = (part[some] / self.deff[some] for part in (self.b, self.c, self.n))
        low, high = tango_limits(b, c, n, reach[some])
        return low[place], high[place]


def counts_of(pairs: Pairs) -> PairCounts:
    """The counts of all pairs; those that share no unit have 0 of 1."""
    grid, units, binary = pairs.grid, np.maximum(pairs.units, 1).astype(np.float64), right_or_wrong(pairs)
    if grid.equal_weights and grid.clusters is None:
        b, c = (np.where(binary, part, 0.0) for part in alone_right(pairs))
        return PairCounts(b, c, units, np.ones(len(b)), np.full(len(b), inf), plain=True, binary=binary)
    found = _Drawn.joined([_drawn_against_later(grid, i) for i in range(grid.k - 1)])
    shared, kish = np.where(found.mass > 0, found.mass, 1.0), np.maximum(found.kish, 1.0)
    b, c = (np.where(binary, units * part / shared, 0.0) for part in (found.b, found.c))
    variance = np.nan_to_num(pairs.standard_error) ** 2
    effects = design_effects(variance, b, c, units, kish, found.of_weights)
    deff = np.where(np.isfinite(pairs.standard_error), effects, units / kish)
    df = np.where(pairs.groups > 1, found.df, pairs.groups - 1.0)
    return PairCounts(b, c, units, deff, np.maximum(df, FEWEST_DF), plain=False, binary=binary)


def alone_right(pairs: Pairs) -> tuple[Floats, Floats]:
    """(P,) How many items one of the two alone has right: counts, so sums are exact."""
    grid, (i, j) = pairs.grid, pairs.index
    alone = discordant(grid.values == 1, grid.values == 0)
    return np.asarray(alone[i, j]), np.asarray(alone[j, i])


def right_or_wrong(pairs: Pairs) -> Truths:
    """(P,) Whether every score of the items that both have is 0 or 1."""
    grid, (i, j) = pairs.grid, pairs.index
    if grid.whole:
        single = answers_only(grid.values)
        return np.asarray(single[i] & single[j])
    partial = np.where(grid.present & (grid.values != 0) & (grid.values != 1), 1.0, 0.0)
    if not partial.any():
        return np.ones(len(i), dtype=bool)
    shared = partial.T @ grid.present.astype(np.float64)  # [i, j]: items of both where i has neither
    return np.asarray((shared[i, j] == 0) & (shared[j, i] == 0))


@dataclass(frozen=True, eq=False, slots=True)
class _Drawn:
    """(P,) Of units in clusters or with weights, as `assay.stats.proportions.effective_counts` has them of one pair."""

    b: Floats  # the weight of what i alone has right
    c: Floats
    mass: Floats  # of what both have
    of_weights: Floats  # Kish's design effect of those weights
    kish: Floats  # his number of what is drawn
    df: Floats  # Satterthwaite's degrees of freedom

    @classmethod
    def joined(cls, parts: "Sequence[_Drawn]") -> "_Drawn":
        return cls(*(np.concatenate([getattr(part, name) for part in parts]) for name in cls.__slots__))


def _drawn_against_later(grid: Grid, i: int) -> _Drawn:
    """From the jackknife deviations of the ratios, as `units.shape` has them for one."""
    both = grid.present[:, [i]] & grid.present[:, i + 1 :]  # (n, m)
    weights = np.where(both, grid.weights[:, None], 0.0)
    gaps = np.where(both, grid.values[:, [i]] - grid.values[:, i + 1 :], 0.0)
    b, c = (added_up(np.where(ahead, weights, 0.0)) for ahead in (gaps > 0, gaps < 0))
    num, den = grid.grouped(gaps * weights), grid.grouped(weights)  # (G, m)
    drawn = den > 0
    n, total = drawn.sum(axis=0), added_up(den)
    rest = total - den
    left_out = np.divide(added_up(num) - num, rest, out=np.zeros_like(num), where=drawn & (rest > 0))
    mean = added_up(left_out) / np.maximum(n, 1)
    square = np.where(drawn, left_out - mean, 0.0) ** 2
    second = added_up(square)
    kurtosis = np.divide(n * added_up(square * square), second**2, out=np.zeros(len(n)), where=second > 0)
    some = np.maximum(2 * n / np.where(kurtosis > 1, kurtosis - 1, 1.0), 1.0)
    df = np.where(kurtosis > 1, np.minimum(n - 1.0, some), n - 1.0)
    kish = total**2 / np.maximum(added_up(den * den), 1e-300)
    return _Drawn(b, c, total, _of_weights(grid, weights), kish, df)


def _of_weights(grid: Grid, weights: Floats) -> Floats:
    """(m,) Kish's design effect of the weights of the items that a pair shares."""
    if grid.equal_weights:
        return np.ones(weights.shape[1])
    share = weights / grid.weights.max()
    mass, n = added_up(share), np.count_nonzero(weights, axis=0)
    return np.asarray(np.maximum(n * added_up(share * share) / np.where(mass > 0, mass, 1.0) ** 2, 1.0))
