"""Random resampling, where no closed form exists or where replicates and a seed were asked for.

What replicate b draws depends on (seed, purpose, b) only, and it is summed in a fixed order, so neither the batch
size, nor the number of threads, nor the backend (numpy for small work, compiled kernels for large) changes a bit.

Units with equal probabilities are drawn in pairs where they are few, and counted (`assay.stats.streams`) where
they are many; unequal probabilities take the alias method.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from assay.stats.compiled import Backend, compiles, compiling
from assay.stats.ranges import in_ranges
from assay.stats.streams import counted_sums, counts_of_draws, in_groups, rule_of, stream_key, words
from assay.stats.units import Floats, Units

_COMPILE_ABOVE = 2e7  # draws: about what numpy does in the time that loading the compiled kernels takes
_ONE_THREAD_BELOW = 2e7  # draws, some milliseconds: on a busy machine a second thread starts later than that
_DRAWS_A_SECOND = 2e8  # of a core, about
_BATCH = 1 << 18  # draws per pass of the numpy backend
_COUNTED = 1 << 18  # counts per pass: they stay in the cache
COUNTED_FROM = 400  # units: fewer are drawn, from a table of all pairs that fits the cache
_LOW, _32 = np.uint64(0xFFFFFFFF), np.uint64(32)


@dataclass(frozen=True, slots=True)
class Replicates:
    """The bootstrap distribution as sorted random replicates."""

    values: Floats  # (B,), sorted
    note: str | None = None

    method: ClassVar[str] = "resampling"

    def cdf(self, x: float) -> float:
        """The share of replicates below x; those equal to x, up to rounding, count half."""
        reach = 1e-12 * max(abs(x), float(self.values[-1] - self.values[0]))
        below = int(np.searchsorted(self.values, x - reach))
        upto = int(np.searchsorted(self.values, x + reach, side="right"))
        return (below + upto) / 2 / len(self.values)

    def quantiles(self, p: Sequence[float]) -> Floats:
        """Linear interpolation between order statistics, as numpy's default (without its overhead)."""
        place = np.asarray(p) * (len(self.values) - 1)
        below = np.minimum(place.astype(np.int64), len(self.values) - 2)
        low, high = self.values[below], self.values[below + 1]
        return np.asarray(low + (place - below) * (high - low))

    def place_of(self, x: float) -> float:
        """The probability whose quantile is x; 0 or 1 where no replicate is beyond it."""
        return float(np.interp(x, self.values, np.linspace(0, 1, len(self.values))))


def replicates(units: Units, resamples: int, seed: int, backend: Backend = "auto") -> Replicates:
    """Random replicates of Σ num / Σ den."""
    if units.equal_denominators:
        sums = resampled_sums(units.numerators[:, None], units.probabilities, resamples, seed, backend=backend)
        return Replicates(np.sort(sums[:, 0] / (units.n * units.denominators[0])))
    columns = np.column_stack([units.numerators, units.denominators])
    sums = resampled_sums(columns, units.probabilities, resamples, seed, backend=backend)
    return Replicates(np.sort(sums[:, 0] / sums[:, 1]))


def studentized_replicates(units: Units, resamples: int, seed: int, backend: Backend = "auto") -> Floats:
    """(B,) sorted (R* − R̂)/se*, se* from the same resample; resamples without spread are left out."""
    estimate, n = units.estimate, units.n
    scale = float(np.abs(units.numerators - estimate * units.denominators).max())
    x = (units.numerators - estimate * units.denominators) / scale  # centred, so that squares do not cancel
    t = units.denominators / units.denominators.mean()
    columns = np.column_stack([x, t, x * x, x * t, t * t])
    sums = resampled_sums(columns, units.probabilities, resamples, seed, backend=backend).T  # (5, B)
    shift = sums[0] / sums[1]
    squares = sums[2] - 2 * shift * sums[3] + shift * shift * sums[4]
    variance = squares * (n / (n - 1)) / sums[1] ** 2
    enough = squares > 1e-12 * sums[2]  # less is what rounding leaves of n times the same unit
    return np.asarray(np.sort(shift[enough] / np.sqrt(variance[enough])))


def resampled_sums(
    columns: Floats,
    probabilities: Floats | None,
    resamples: int,
    seed: int,
    *,
    purpose: str = "bootstrap",
    first: int = 0,
    backend: Backend = "auto",
) -> Floats:
    """(B, c) Column sums over n draws, for the replicates first … first + B − 1 of the stream (seed, purpose)."""
    key, columns = stream_key(seed, purpose), np.ascontiguousarray(columns)
    loop = loop_of(*columns.shape, weighted=probabilities is not None)
    compiled = compiles(backend, resamples * len(columns), _COMPILE_ABOVE, loop)
    table = None if probabilities is None else alias_table(probabilities)
    shared = columns, table, key, first, compiled
    seconds = resamples * columns.size / _DRAWS_A_SECOND
    with compiling(loop) if compiled else nullcontext():
        parts = list(in_ranges(_range_of_sums, shared, resamples, seconds=seconds))
    return parts[0] if len(parts) == 1 else np.concatenate(parts)


def loop_of(n: int, width: int, *, weighted: bool) -> str:
    """The compiled loop that `_compiled_sums` takes for so many units and columns."""
    if weighted:
        name = "weighted_sums"
    elif n >= COUNTED_FROM:
        name = "counted_sums"
    else:
        name = "paired_sums_of_one" if width == 1 else "paired_sums"
    return f"assay.stats.bootstrap.kernels_resampling.{name}"


def _range_of_sums(shared: "tuple[Floats, _Table, int, int, bool]", first: int, count: int) -> Floats:
    columns, table, key, offset, compiled = shared
    return (_compiled_sums if compiled else _numpy_sums)(columns, table, key, offset + first, count)


def resampled_counts(n: int, resamples: int, seed: int, purpose: str, kind: Any = np.float64) -> Iterator[NDArray[Any]]:
    """(rows, n) How often each of n units is drawn in the replicates 0, 1, …, some at a time.

    The draws of `resampled_sums`: of many columns their sums are a matrix product.
    """
    key, batch = stream_key(seed, purpose), max(2, _COUNTED // n)
    for first in range(0, resamples, batch):
        rows = min(batch, resamples - first)
        if n >= COUNTED_FROM:
            yield counts_of_draws(n, words(key, first, rows), kind)
            continue
        index = np.concatenate(drawn_pairs(n, _half_words(n, key, first, rows)))[:n]  # (n, rows)
        place = index + n * np.arange(rows)
        yield np.bincount(place.ravel(), minlength=rows * n).reshape(rows, n).astype(kind)


def alias_table(probabilities: Floats) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
    """Walker's alias method (Vose 1991): keep slot j where the low word is below keep[j], else take other[j]."""
    n = len(probabilities)
    scaled = (probabilities / probabilities.sum() * n).tolist()
    keep, other = [1.0] * n, list(range(n))
    small = [i for i, s in enumerate(scaled) if s < 1]
    large = [i for i, s in enumerate(scaled) if s >= 1]
    while small and large:
        less, more = small.pop(), large[-1]
        keep[less], other[less] = scaled[less], more
        scaled[more] -= 1 - scaled[less]
        if scaled[more] < 1:
            small.append(large.pop())
    return np.rint(np.array(keep) * 2.0**32).astype(np.uint64), np.array(other, dtype=np.int64)


def _compiled_sums(columns: Floats, table: "_Table", key: int, first: int, count: int) -> Floats:
    from assay.stats.bootstrap import kernels_resampling as kernels  # late: importing numba takes half a second

    kernels.use_threads(1 if count * len(columns) < _ONE_THREAD_BELOW else None)
    n, start, out = len(columns), np.uint64(key), np.empty((count, columns.shape[1]))
    if table is not None:
        kernels.weighted_sums(columns, *table, start, first, out)
    elif n >= COUNTED_FROM:
        rule = rule_of(n)
        kernels.counted_sums(in_groups(columns), n, rule.cells, rule.rare, start, first, out)
    elif columns.shape[1] == 1:
        column = columns[:, 0].copy()
        kernels.paired_sums_of_one(column, _sums_of_two(column), start, first, out[:, 0])
    else:
        kernels.paired_sums(columns, start, first, out)
    return out


def _numpy_sums(columns: Floats, table: "_Table", key: int, first: int, count: int) -> Floats:
    n = len(columns)
    if table is None and n >= COUNTED_FROM:
        return counted_sums(columns, key, first, count)
    batch = max(2, _BATCH // n)
    sums = _paired_batches(columns) if table is None else _weighted_batches(columns, table)
    parts = [
        sums(key, first + low, max(2, min(batch, count - low)))  # numpy would sum a single replicate in another order
        for low in range(0, count, batch)
    ]
    return np.concatenate(parts)[:count]


def _paired_batches(columns: Floats) -> "_Batches":
    n, width = columns.shape
    of_two = _sums_of_two(columns[:, 0]) if width == 1 else None

    def sums(key: int, first: int, rows: int) -> Floats:
        half = _half_words(n, key, first, rows)
        i, j = drawn_pairs(n, half) if of_two is None else (half, half)
        out = np.empty((rows, width))
        for k, column in enumerate(columns.T):
            if of_two is None:
                values = column.take(i) + column.take(j)
            else:
                values = of_two.take(((half * np.uint64(n * n)) >> _32).view(np.int64))
            if n % 2:  # the last draw is alone
                values[-1] = column.take(drawn_pairs(n, half[-1])[0])
            out[:, k] = _in_lanes(values)
        return out

    return sums


def _sums_of_two(column: Floats) -> Floats:
    """(n²,) At i·n + j, the sum of the values i and j."""
    return np.add.outer(column, column).ravel()


def _half_words(n: int, key: int, first: int, rows: int) -> NDArray[np.uint64]:
    """(⌈n/2⌉, rows) The low half of each word, then its high half."""
    halves = (n + 1) // 2
    per_row = (halves + 1) // 2
    word = words(key, first * per_row, rows * per_row).reshape(rows, per_row).T
    out = np.empty((2 * per_row, rows), dtype=np.uint64)
    out[0::2], out[1::2] = word & _LOW, word >> _32
    return out[:halves]


def drawn_pairs(n: int, half: NDArray[np.uint64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Two draws i, j from each half-word h: h·n²/2³² is i·n + j and a fraction.

    Multiply and shift: probabilities are unequal by at most n²/2³², one part in 26,000 at n = 400.
    """
    scaled = half * np.uint64(n)
    return (scaled >> _32).view(np.int64), (((scaled & _LOW) * np.uint64(n)) >> _32).view(np.int64)


def _weighted_batches(columns: Floats, table: "_AliasTable") -> "_Batches":
    def sums(key: int, first: int, rows: int) -> Floats:
        index = drawn_units(table, key, first, rows)  # (n, rows)
        return np.column_stack([_in_lanes(column.take(index)) for column in columns.T])

    return sums


def _in_lanes(values: Floats) -> Floats:
    """(rows,) Sums over the first axis, every fourth value in one sum: as the compiled loops do."""
    lanes = [values[lane::4].sum(axis=0) for lane in range(4)]
    return np.asarray((lanes[0] + lanes[1]) + (lanes[2] + lanes[3]))


def drawn_units(table: "_AliasTable", key: int, first: int, rows: int) -> NDArray[np.int64]:
    """(n, rows) Which unit is draw i of each replicate, with the probabilities of an alias table."""
    keep, other = table
    n = len(keep)
    word = words(key, first * n, rows * n).reshape(rows, n)
    slot = (((word >> _32) * np.uint64(n)) >> _32).astype(np.int64)
    index = np.where((word & _LOW) < keep[slot], slot, other[slot])
    return np.ascontiguousarray(index.T)


_AliasTable = tuple[NDArray[np.uint64], NDArray[np.int64]]
_Table = _AliasTable | None
_Batches = Callable[[int, int, int], Floats]
