"""Random sign flips for all pairs of systems at once.

If two systems do not differ, the sign of every unit's difference is a fair coin. The same signs serve every pair: with
signs S (B, n) and values X (n, k) the null differences of pair (i, j) are those of the columns i and j of S·X, so the
work grows with k and not with k². S·X itself takes a table lookup for eight units: with the 256 sums ±x₁ … ±x₈ at
hand, a byte of random bits is an index.

Shared signs are right pair by pair. Taken together (max-T) they are so when all systems are exchangeable, and
otherwise as the number of units grows. Sums equal to the observed one up to rounding count as reaching it.

Few groups have few sign vectors, and then all of them are taken: 2^(G − 1), for a vector and its opposite give the same
|Σ ±d|. The observed signs are among them, so that p is a share and at least 2 / 2^G.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property, partial
from math import sqrt

import numpy as np
from numpy.typing import NDArray

from assay.progress import counted
from assay.stats.bootstrap.simultaneous import FEWEST
from assay.stats.compiled import Backend, compiles
from assay.stats.ranking.pairs import flipped
from assay.stats.streams import stream_key, words
from assay.stats.units import Floats, Grid, Integers

MOST_ENUMERATED = 16  # groups: 32,768 sign vectors
TIE = 1e-9  # of √G·√Σd² ≥ Σ|d|: sums closer than this to the observed one are equal to it
_COMPILE_ABOVE = 2e8  # additions: about what numpy does in the time that loading the compiled kernels takes
_CODES = 1 << 26  # bytes of signs at a time
_PAIRS = 1 << 22  # null differences at a time


@dataclass(frozen=True, eq=False)
class Flips:
    """What is flipped: sums of k systems by group, and what a system's holes take away from the others."""

    columns: Floats  # (G, k)
    holes: tuple[tuple[Integers, Floats], ...] = ()  # per system: the groups of its holes (h,), the others' sums (h, k)
    seed: int = 0
    purpose: str = "all pairs"
    backend: Backend = "auto"
    own: Callable[[int], Floats] | None = None  # (G, m) of a system and all later ones, where pairs weigh units apart

    @classmethod
    def of(cls, grid: Grid, *, seed: int = 0, backend: Backend = "auto") -> "Flips":
        """The differences of a grid. Units are centred, which changes no difference and keeps the sums small.

        A stratum weighs the same in every pair, so that where answers are missing its units weigh more in some pairs.
        """
        answers = np.maximum(grid.present.sum(axis=1), 1)
        centre = np.where(grid.present, grid.values, 0.0).sum(axis=1) / answers
        centred = np.where(grid.present, grid.values - centre[:, None], 0.0) * grid.weights[:, None]
        columns = np.ascontiguousarray(grid.grouped(centred))
        if grid.strata is not None and not grid.whole:
            return cls(columns, seed=seed, backend=backend, own=partial(flipped, grid))
        holes = () if grid.whole else tuple(_hole(grid, centred, j) for j in range(grid.k))
        return cls(columns, holes, seed, backend=backend)

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

    def compiled(self, resamples: int) -> bool:
        """Whether the compiled loops are worth loading."""
        if not self.by_column or self.backend == "numpy":
            return False
        work = self.count(resamples) * (self.columns.size / 8 + self.k * self.k / 2)
        return compiles(self.backend, work, _COMPILE_ABOVE)

    def blocks(self, resamples: int, *, compiled: bool) -> Iterator[tuple[int, Floats]]:
        """The first replicate of a block, and (rows, k) sums of its replicates."""
        groups, count = len(self.columns), self.count(resamples)
        most = _CODES // (groups // 8 + 1) if compiled else _PAIRS // (self.k * self.k)
        batch = max(1, min(count, most))
        for first in counted(range(0, count, batch), "rank: sign flips", "blocks"):
            codes = self._codes(first, min(batch, count - first))
            yield first, (_compiled_sums if compiled else _numpy_sums)(codes, self.columns)

    def _codes(self, first: int, rows: int) -> NDArray[np.uint8]:
        groups = len(self.columns)
        if self.exact:
            return all_codes(first, rows, groups)
        return sign_codes(stream_key(self.seed, self.purpose), first, rows, groups)

    def differences(self, first: int, sums: Floats) -> Floats:
        """(rows, P) Null differences of all pairs, from the sums of their systems."""
        if self.own is not None:
            signs = _signs(self._codes(first, len(sums)), len(self.columns))
            return np.concatenate([signs @ self.own(system) for system in range(self.k - 1)], axis=1)
        i, j = self.pairs
        found: Floats = sums[:, i] - sums[:, j]
        if not self.holes:
            return found
        rows = len(sums)
        signs = _signs(self._codes(first, rows), len(self.columns))
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


def share_reached(reached: Integers, count: int, *, exact: bool) -> Floats:
    """P-values: the share of sign vectors that reach what was observed; random ones are joined by the observed one."""
    return np.asarray(reached / count if exact else (1 + reached) / (1 + count))


def _signs(codes: NDArray[np.uint8], groups: int) -> Floats:
    """(rows, groups) The codes as signs, ±1."""
    bits = np.unpackbits(codes, axis=1, bitorder="little")[:, :groups]
    return 2 * bits.astype(np.float64) - 1


def _compiled_sums(codes: NDArray[np.uint8], columns: Floats) -> Floats:
    from assay.stats.ranking import kernels as kernels_rank  # late: importing numba takes half a second

    out = np.empty((len(codes), columns.shape[1]))
    kernels_rank.signed_sums(np.ascontiguousarray(codes), columns, out)
    return out


def _numpy_sums(codes: NDArray[np.uint8], columns: Floats) -> Floats:
    """(rows, k) Σ ±columns, eight groups at a time."""
    out = np.zeros((len(codes), columns.shape[1]))
    padded = np.vstack([columns, np.zeros((8 * codes.shape[1] - len(columns), columns.shape[1]))])
    for place, code in enumerate(codes.T):
        table = np.zeros((1, columns.shape[1]))
        for row in padded[8 * place : 8 * place + 8]:
            table = np.concatenate([table - row, table + row])
        out += table[code]
    return out


def count_reached(flips: Flips, observed: Floats, norms: Floats, resamples: int) -> Integers:
    """(P,) How many null differences of each pair reach its observed one in size; norms are √Σd²."""
    least = np.abs(observed) - TIE * sqrt(len(flips.columns)) * norms
    counts = np.zeros(len(least), dtype=np.int64)
    if not flips.compiled(resamples):
        for first, sums in flips.blocks(resamples, compiled=False):
            counts += (np.abs(flips.differences(first, sums)) >= least).sum(axis=0)
        return counts
    from assay.stats.ranking import kernels as kernels_rank

    i, j = flips.pairs
    thresholds, square = np.zeros((flips.k, flips.k)), np.zeros((flips.k, flips.k), dtype=np.int64)
    thresholds[i, j] = least
    for _, sums in flips.blocks(resamples, compiled=True):
        kernels_rank.count_reached(np.ascontiguousarray(sums.T), thresholds, square)
    return np.asarray(square[i, j])


@dataclass(frozen=True, eq=False, slots=True)
class Maxima:
    """The largest null statistics |Σ ±d| / √Σd², of all pairs and of the pairs that a step-down test still has."""

    largest: Floats  # (B,) of all pairs
    stepped: Integers  # (P,) how often the largest of a pair and of those with less reaches the pair's own
    exact: bool = False  # whether these are all sign vectors


def maxima(flips: Flips, observed: Floats, norms: Floats, resamples: int) -> Maxima:
    """Max-T over all pairs: observed are the statistics |Σd| / √Σd², 0 where the norm is."""
    order = np.argsort(observed, kind="stable")
    found = ordered_maxima(flips, order, norms, observed[order], resamples)
    stepped = np.empty_like(found.stepped)
    stepped[order] = found.stepped
    return Maxima(found.largest, stepped, found.exact)


def ordered_maxima(flips: Flips, order: Integers, norms: Floats, observed: Floats, resamples: int) -> Maxima:
    """The largest null statistic of the pairs up to each one in an order, against what was observed there."""
    scale = np.divide(1.0, norms, out=np.zeros(len(norms)), where=norms > 0)[order]
    least = observed - TIE * sqrt(len(flips.columns))
    counts, largest = np.zeros(len(order), dtype=np.int64), np.empty(flips.count(resamples))
    compiled = flips.compiled(resamples)
    pairs = np.ascontiguousarray(flips.pairs[:, order])
    for first, sums in flips.blocks(resamples, compiled=compiled):
        if not flips.by_column:
            found = _running(flips.differences(first, sums)[:, order], scale, least)
        else:
            found = running_maxima(sums, pairs, scale, least, backend="compiled" if compiled else "numpy")
        counts += found[0]
        largest[first : first + len(sums)] = found[1]
    return Maxima(largest, counts, flips.exact)


def running_maxima(
    sums: Floats, pairs: Integers, scale: Floats, least: Floats, *, backend: Backend = "auto"
) -> tuple[Integers, Floats]:
    """How often the largest |sumᵢ − sumⱼ|·scale of the pairs up to each one reaches its least; and the largest of all.

    ``sums`` is (B, k), ``pairs`` (2, P), and the result (P,) and (B,).
    """
    if compiles(backend, len(sums) * len(scale), _COMPILE_ABOVE / 4):
        from assay.stats.ranking import kernels as kernels_rank

        counts, largest = np.zeros(len(scale), dtype=np.int64), np.empty(len(sums))
        kernels_rank.count_maxima(
            np.ascontiguousarray(sums), np.ascontiguousarray(pairs), scale, least, counts, largest
        )
        return counts, largest
    batch = max(1, _PAIRS // max(len(scale), 1))
    rows = (sums[first : first + batch] for first in range(0, len(sums), batch))
    parts = [_running(part[:, pairs[0]] - part[:, pairs[1]], scale, least) for part in rows]
    return np.sum([part[0] for part in parts], axis=0), np.concatenate([part[1] for part in parts])


def _running(differences: Floats, scale: Floats, least: Floats) -> tuple[Integers, Floats]:
    running = np.maximum.accumulate(np.abs(differences) * scale, axis=1)
    return (running >= least).sum(axis=0), running[:, -1]


def step_down(found: Maxima, observed: Floats) -> Floats:
    """(P,) Westfall and Young's step-down p-values: no pair may have a smaller one than a pair with more evidence."""
    order = np.argsort(observed, kind="stable")[::-1]
    p = np.maximum.accumulate(share_reached(found.stepped[order], len(found.largest), exact=found.exact))
    out = np.empty_like(p)
    out[order] = p
    return out


def quantile_of(found: Maxima, level: float) -> float:
    """The largest statistic that the single-step test at this level does not reject."""
    count = len(found.largest)
    place = min(int(np.ceil(level * (count + (not found.exact)) - 1e-9)), count)
    return float(np.sort(found.largest)[place - 1])


def critical_value(flips: Flips, norms: Floats, level: float, resamples: int) -> float | None:
    """The reach in standard errors of intervals that hold for all pairs at once; ``None`` for too few groups.

    The largest |Σ ±r| / √Σr² over the pairs, r the residuals of a difference: the wild bootstrap. Signs leave Σr² as it
    is, so the statistic that is studentized in every replicate is a function of this one.
    """
    groups = len(flips.columns)
    if groups < FEWEST:
        return None
    found = maxima(flips, np.full(len(norms), np.inf), norms, resamples)
    z = quantile_of(found, level)
    return None if z * z >= groups * (1 - 1e-9) else z * sqrt((groups - 1) / (groups - z * z))
