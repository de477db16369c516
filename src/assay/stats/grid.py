"""n units under k systems, some of them unanswered: what all pairs of systems are tested on.

Sums are by *group*: the clusters, or the units themselves where there are none. A group is what has a sign in a
sign-flip test and what is drawn in a bootstrap.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from assay.stats.rounding import without_noise, without_residue
from assay.stats.units import Floats, Truths, Units


@dataclass(frozen=True, eq=False)
class Grid:
    """Values of n units under k systems, NaN where a system has no answer.

    >>> import numpy as np
    >>> grid = Grid(np.array([[1.0, 0.0], [1.0, 1.0], [0.0, np.nan]]), np.ones(3))
    >>> grid.whole, grid.pair(0, 1).estimate  # on the two units that both have
    (False, 0.5)
    """

    values: Floats  # (n, k)
    weights: Floats  # (n,), positive
    clusters: NDArray[np.int64] | None = None  # (n,) codes 0 … G − 1

    @classmethod
    def of_sums(cls, sums: Floats, weights: Floats, clusters: NDArray[np.int64] | None = None) -> "Grid":
        """The grid of value × weight (n, k), NaN for no answer; the sums stay as they are, for (xw/w)w is not xw."""
        grid = cls(sums / weights[:, None], weights, clusters)
        grid.__dict__["products"] = np.where(grid.present, sums, 0.0)  # as a cached property keeps them
        return grid

    @property
    def n(self) -> int:
        return len(self.values)

    @property
    def k(self) -> int:
        return int(self.values.shape[1])

    @cached_property
    def present(self) -> Truths:
        """(n, k) Where there is an answer."""
        return ~np.isnan(self.values)

    @cached_property
    def whole(self) -> bool:
        """Whether every system has every unit."""
        return bool(self.present.all())

    @property
    def groups(self) -> int:
        return self.n if self.clusters is None else int(self.clusters.max()) + 1

    @cached_property
    def products(self) -> Floats:
        """(n, k) Value × weight, 0 where there is no answer."""
        return np.where(self.present, self.values, 0.0) * self.weights[:, None]

    @cached_property
    def sums(self) -> Floats:
        """(G, k) Value × weight, by group."""
        return self.grouped(self.products)

    @cached_property
    def mass(self) -> Floats:
        """(G,) Weights by group, whoever answered."""
        return self.grouped(self.weights)

    @cached_property
    def equal_weights(self) -> bool:
        return bool((self.weights == self.weights[0]).all())

    @cached_property
    def right_or_wrong(self) -> bool:
        """Whether every value is 0 or 1."""
        there = self.values[self.present]
        return bool(((there == 0) | (there == 1)).all())

    @property
    def binary(self) -> bool:
        """Whether every value is 0 or 1, and units stand for themselves and weigh the same."""
        return self.clusters is None and self.equal_weights and self.right_or_wrong

    @cached_property
    def shares(self) -> bool:
        """Whether every value is between 0 and 1."""
        there = self.values[self.present]
        return bool(((there >= 0) & (there <= 1)).all())

    def grouped(self, values: Floats) -> Floats:
        """(G,) or (G, c) Sums within groups."""
        if self.clusters is None:
            return values
        columns = [np.bincount(self.clusters, column, self.groups) for column in np.atleast_2d(values.T)]
        return np.asarray(columns[0] if values.ndim == 1 else np.column_stack(columns), dtype=np.float64)

    def pair(self, i: int, j: int) -> Units:
        """System i less system j on the units that both have, by group; at least one such unit is there.

        Differences that are rounding are none (`assay.stats.rounding`).
        """
        both = self.present[:, i] & self.present[:, j]
        gaps = self.products[:, i] - self.products[:, j]
        gaps = gaps if self.whole else np.where(both, gaps, 0.0)
        mass = self.mass if self.whole else self.grouped(np.where(both, self.weights, 0.0))
        kept = mass > 0
        sums = self.grouped(gaps)
        if self.clusters is not None:
            sums = without_residue(sums, self.grouped(np.abs(gaps)))
        sizes = np.abs(self.grouped(np.where(both[:, None], self.products[:, [i, j]], 0.0))).sum(axis=1)
        return without_noise(Units(sums[kept], mass[kept]), sizes[kept])

    def system(self, i: int) -> Units:
        """One system on the units it has, by group."""
        if self.whole:
            return Units(self.sums[:, i].copy(), self.mass)
        mass = self.grouped(np.where(self.present[:, i], self.weights, 0.0))
        return Units(self.sums[mass > 0, i], mass[mass > 0])
