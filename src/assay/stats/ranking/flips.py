"""Sign flips that all pairs of systems share, and the sums Σ ±x of every system under them.

With signs S (B, n) and values X (n, k) the null differences of pair (i, j) are those of the columns i and j of S·X. The
product is a matrix product, and where it is much work it is computed in single precision, which takes half the time;
how far that is off is measured against double precision on some replicates.

Few groups have few sign vectors, and then all of them are taken: 2^(G − 1), for a vector and its opposite give the same
|Σ ±d|.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property, partial
from math import frexp
from typing import Any

import numpy as np
from numpy.typing import NDArray

from assay.progress import counted
from assay.stats.ranges import in_ranges
from assay.stats.ranking.pairs import Pairs, flipped
from assay.stats.streams import stream_key, words
from assay.stats.units import Floats, Grid, Integers

MOST_ENUMERATED = 16  # groups: 32,768 sign vectors
_SINGLE_ABOVE = 5e8  # multiplications
_MEASURED, _MARGIN = 64, 8.0  # replicates on which single precision is measured, and times what it is off
_FEW = 1_000  # units that are looked at first
_SIGNS = 1 << 22  # signs at a time
_PRODUCTS_A_SECOND = 3e10  # of a core, in single precision, about
_PAIRS = 1 << 22  # null differences at a time


@dataclass(frozen=True, eq=False)
class Flips:
    """What is flipped: sums of k systems by group, and what a system's holes take away from the others."""

    columns: Floats  # (G, k)
    holes: tuple[tuple[Integers, Floats], ...] = ()  # per system: the groups of its holes (h,), the others' sums (h, k)
    seed: int = 0
    purpose: str = "all pairs"
    own: Callable[[int], Floats] | None = None  # (G, m) of a system and all later ones, where pairs weigh units apart

    @classmethod
    def of(cls, grid: Grid, *, seed: int = 0) -> "Flips":
        """The differences of a grid. Units are centred, which changes no difference and keeps the sums small; counts,
        such as right answers, are not, for their sums are exact.

        A stratum weighs the same in every pair, so that where answers are missing its units weigh more in some pairs.
        """
        if grid.whole and _counts(grid.sums):
            return cls(np.ascontiguousarray(grid.sums), seed=seed)
        answers = np.maximum(grid.present.sum(axis=1), 1)
        centre = np.where(grid.present, grid.values, 0.0).sum(axis=1) / answers
        centred = np.where(grid.present, grid.values - centre[:, None], 0.0) * grid.weights[:, None]
        columns = np.ascontiguousarray(grid.grouped(centred))
        if grid.strata is not None and not grid.whole:
            return cls(columns, seed=seed, own=partial(flipped, grid))
        holes = () if grid.whole else tuple(_hole(grid, centred, j) for j in range(grid.k))
        return cls(columns, holes, seed)

    @property
    def k(self) -> int:
        return int(self.columns.shape[1])

    @property
    def exact(self) -> bool:
        """Whether all sign vectors are taken instead of random ones."""
        return len(self.columns) <= MOST_ENUMERATED

    def count(self, resamples: int) -> int:
        """The number of sign vectors taken: all of few groups, else ``resamples`` random ones."""
        return 2 ** (len(self.columns) - 1) if self.exact else resamples

    @cached_property
    def pairs(self) -> Integers:
        """(2, P) The pairs i < j."""
        return np.stack(np.triu_indices(self.k, 1))

    @property
    def by_column(self) -> bool:
        """Whether a pair's null differences are those of two columns."""
        return not self.holes and self.own is None

    def blocks(self, resamples: int) -> Iterator[tuple[int, Floats]]:
        """The first replicate of a block, and (rows, k) sums of its replicates."""
        count = self.count(resamples)
        batch = max(1, min(count, _PAIRS // (self.k * self.k), _SIGNS // len(self.columns)))
        for first in counted(range(0, count, batch), "rank: sign flips", "blocks"):
            yield first, self.signs(first, min(batch, count - first)) @ self.columns

    @cached_property
    def _kept(self) -> "dict[tuple[int, bool], NullSums]":
        return {}

    def sums(self, resamples: int, *, double: bool = False) -> "NullSums":
        """The null sums of all systems, which are kept; where work is little, in double precision."""
        double = double or self.exact or self.count(resamples) * self.columns.size <= _SINGLE_ABOVE
        made = self._kept.get((resamples, double))
        if made is None:
            made = self._kept[resamples, double] = NullSums.of(self, self.columns, resamples, double=double)
        return made

    def signs(self, first: int, rows: int) -> Floats:
        """(rows, G) ±1."""
        return _as_signs(self.codes(first, rows), len(self.columns))

    def signs_of(self, count: int) -> Iterator[Floats]:
        """(rows, G) ±1, of the replicates from the first on, some at a time."""
        batch = self.batch(count)
        for first in counted(range(0, count, batch), "rank: sign flips", "blocks"):
            yield self.signs(first, min(batch, count - first))

    def batch(self, count: int) -> int:
        """How many replicates are summed at a time."""
        return max(1, min(count, _SIGNS // len(self.columns)))

    @cached_property
    def size(self) -> float:
        """A power of 2 beyond every value."""
        return 2.0 ** frexp(float(np.abs(self.columns).max(initial=0.0)))[1]

    def differences_at(self, replicates: Integers, first: Integers, second: Integers) -> Floats:
        """(m,) The null difference of two systems in one replicate each, in double precision."""
        out, batch = np.empty(len(replicates)), max(1, _SIGNS // len(self.columns))
        for low in range(0, len(out), batch):
            part = slice(low, low + batch)
            codes = np.concatenate([self.codes(b, 1) for b in replicates[part].tolist()])
            gaps = self.columns[:, first[part]] - self.columns[:, second[part]]
            out[part] = np.einsum("mg,gm->m", _as_signs(codes, len(self.columns)), gaps)
        return out

    def codes(self, first: int, rows: int) -> NDArray[np.uint8]:
        """(rows, bytes) The signs of some replicates, eight groups to a byte."""
        groups = len(self.columns)
        if self.exact:
            return all_codes(first, rows, groups)
        return sign_codes(stream_key(self.seed, self.purpose), first, rows, groups)

    def differences(self, first: int, sums: Floats) -> Floats:
        """(rows, P) Null differences of all pairs, from the sums of their systems."""
        if self.own is not None:
            signs = self.signs(first, len(sums))
            return np.concatenate([signs @ self.own(system) for system in range(self.k - 1)], axis=1)
        i, j = self.pairs
        found: Floats = sums[:, i] - sums[:, j]
        if not self.holes:
            return found
        rows = len(sums)
        signs = self.signs(first, rows)
        lost = np.empty((rows, self.k, self.k))  # [b, j, i]: what system i has where j has nothing
        for system, (groups, others) in enumerate(self.holes):
            lost[:, system] = signs[:, groups] @ others
        return found - lost[:, j, i] + lost[:, i, j]


def _hole(grid: Grid, centred: Floats, system: int) -> tuple[Integers, Floats]:
    missing = np.where(grid.present[:, [system]], 0.0, centred)
    sums = grid.grouped(missing)
    groups = np.flatnonzero((sums != 0).any(axis=1))
    return groups, sums[groups]


def sign_codes(key: int, first: int, rows: int, groups: int) -> NDArray[np.uint8]:
    """(rows, bytes) The signs of the replicates first, first + 1, …: a bit for each group, lowest bit first."""
    per_row = -(-groups // 64)
    random = words(key, first * per_row, rows * per_row).astype("<u8", copy=False).view(np.uint8)
    return random.reshape(rows, 8 * per_row)[:, : -(-groups // 8)]


def all_codes(first: int, rows: int, groups: int) -> NDArray[np.uint8]:
    """(rows, bytes) The sign vectors first, first + 1, … of all: the bits of their number, 0 for the last group."""
    numbers = np.arange(first, first + rows, dtype="<u8").view(np.uint8)
    return numbers.reshape(rows, 8)[:, : -(-groups // 8)]


def _as_signs(codes: NDArray[np.uint8], groups: int, kind: Any = np.float64) -> NDArray[Any]:
    """(rows, groups) The codes as signs, ±1: eight are looked up at a time."""
    bits = np.unpackbits(np.arange(256, dtype=np.uint8)[:, None], axis=1, bitorder="little")
    signs = (2 * bits.astype(kind) - 1).take(codes, axis=0)  # (rows, bytes, 8)
    return np.asarray(signs.reshape(len(codes), -1)[:, :groups])


def _counts(columns: Floats) -> bool:
    """Whether these are whole numbers of which no sum exceeds what single precision holds exactly."""
    if not (columns[:_FEW] == np.rint(columns[:_FEW])).all():
        return False
    return float(np.abs(columns).max(initial=0.0)) * len(columns) < 2**24 and bool((columns == np.rint(columns)).all())


def flips_of(pairs: Pairs, seed: int = 0) -> Flips:
    """The flips of all pairs, made once: their null sums serve the tests and the adjustment."""
    made: dict[int, Flips] = pairs.__dict__.setdefault("flips", {})  # as a cached property keeps it
    if seed not in made:
        made[seed] = Flips.of(pairs.grid, seed=seed)
    return made[seed]


def _range_of_sums(flips: Flips, begin: int, count: int) -> NDArray[Any]:
    """(k, count) Σ ±x of the columns as they are, for the replicates from the first one on."""
    groups, k = flips.columns.shape
    kind, out, batch = flips.columns.dtype, np.empty((k, count), dtype=flips.columns.dtype), flips.batch(count)
    for low in counted(range(0, count, batch), "rank: sign flips", "blocks"):
        rows = min(batch, count - low)
        out[:, low : low + rows] = (_as_signs(flips.codes(begin + low, rows), groups, kind) @ flips.columns).T
    return out


@dataclass(frozen=True, eq=False, slots=True)
class NullSums:
    """(k, B) Σ ±x of every system, in single or double precision."""

    values: NDArray[Any]  # in units of ``unit``
    slack: Floats  # (k,) by how much rounding may have moved a sum; 0 in double precision, where `TIE` covers it
    unit: float  # a power of 2

    @classmethod
    def of(cls, flips: Flips, columns: Floats, resamples: int, *, double: bool) -> "NullSums":
        count, k = flips.count(resamples), columns.shape[1]
        exact = _counts(columns)  # in single precision too
        unit = 1.0 if double or exact else flips.size
        kind: Any = np.float64 if double and not exact else np.float32
        scaled = (columns / unit).astype(kind, copy=False)
        drawn = replace(flips, columns=scaled, holes=(), own=None)  # it may travel
        batch, seconds = flips.batch(count), count * columns.size / _PRODUCTS_A_SECOND
        parts = list(in_ranges(_range_of_sums, drawn, count, seconds=seconds, step=batch))
        values = parts[0] if len(parts) == 1 else np.concatenate(parts, axis=1)
        if double or exact:
            return cls(values.astype(np.float64, copy=False), np.zeros(k), unit)
        rows = min(_MEASURED, count)
        sums = (flips.signs(0, rows) @ columns).T / unit
        return cls(values, _MARGIN * np.abs(values[:, :rows] - sums).max(axis=1), unit)

    @property
    def exact(self) -> bool:
        """Whether sums are in double precision."""
        return self.values.dtype == np.float64
