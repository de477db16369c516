"""Random resampling, where no closed form exists or where replicates and a seed were asked for.

Draw i of replicate b depends on (seed, purpose, b, i) only, and a replicate is summed in a fixed order, so neither
the batch size, nor the number of threads, nor the engine (numpy for small work, compiled kernels for large) changes
a bit.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from assay.stats.streams import stream_key, words
from assay.stats.units import Floats, Units

Engine = Literal["auto", "numpy", "compiled"]

_COMPILE_ABOVE = 2e7  # draws: about what numpy does in the time that loading the compiled kernels takes
_ONE_THREAD_BELOW = 2e6  # draws: less is done before a second thread has started
_BATCH = 1 << 18  # draws per pass of the numpy engine
_32 = np.uint64(32)


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


def replicates(units: Units, n_resamples: int, seed: int, engine: Engine = "auto") -> Replicates:
    """Random replicates of Σ num / Σ den."""
    if units.equal_denominators:
        sums = resampled_sums(units.numerators[:, None], units.probabilities, n_resamples, seed, engine=engine)
        return Replicates(np.sort(sums[:, 0] / (units.n * units.denominators[0])))
    columns = np.column_stack([units.numerators, units.denominators])
    sums = resampled_sums(columns, units.probabilities, n_resamples, seed, engine=engine)
    return Replicates(np.sort(sums[:, 0] / sums[:, 1]))


def studentized_replicates(units: Units, n_resamples: int, seed: int, engine: Engine = "auto") -> Floats:
    """(B,) sorted (R* − R̂)/se*, se* from the same resample; resamples without spread are left out."""
    estimate, n = units.estimate, units.n
    scale = float(np.abs(units.numerators - estimate * units.denominators).max())
    x = (units.numerators - estimate * units.denominators) / scale  # centred, so that squares do not cancel
    t = units.denominators / units.denominators.mean()
    columns = np.column_stack([x, t, x * x, x * t, t * t])
    sums = resampled_sums(columns, units.probabilities, n_resamples, seed, engine=engine).T  # (5, B)
    shift = sums[0] / sums[1]
    squares = sums[2] - 2 * shift * sums[3] + shift * shift * sums[4]
    variance = squares * (n / (n - 1)) / sums[1] ** 2
    enough = squares > 1e-12 * sums[2]  # less is what rounding leaves of n times the same unit
    return np.asarray(np.sort(shift[enough] / np.sqrt(variance[enough])))


def resampled_sums(
    columns: Floats,
    probabilities: Floats | None,
    n_resamples: int,
    seed: int,
    *,
    purpose: str = "bootstrap",
    first: int = 0,
    engine: Engine = "auto",
) -> Floats:
    """(B, c) Column sums over n draws, for the replicates first … first + B − 1 of the stream (seed, purpose)."""
    key, columns = stream_key(seed, purpose), np.ascontiguousarray(columns)
    compiled = engine == "compiled" or (engine == "auto" and n_resamples * len(columns) > _COMPILE_ABOVE)
    table = None if probabilities is None else alias_table(probabilities)
    run = _compiled_sums if compiled else _numpy_sums
    return run(columns, table, key, first, n_resamples)


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
    from assay.stats import kernels  # late: importing numba takes half a second

    kernels.use_threads(1 if count * len(columns) < _ONE_THREAD_BELOW else None)
    out = np.empty((count, columns.shape[1]))
    if table is not None:
        kernels.weighted_sums(columns, *table, np.uint64(key), first, out)
    elif columns.shape[1] == 1:
        kernels.uniform_sums_of_one(columns[:, 0].copy(), np.uint64(key), first, out[:, 0])
    else:
        kernels.uniform_sums(columns, np.uint64(key), first, out)
    return out


def _numpy_sums(columns: Floats, table: "_Table", key: int, first: int, count: int) -> Floats:
    n = len(columns)
    batch = max(2, _BATCH // n)
    parts = [_numpy_batch(columns, table, key, first + low, min(batch, count - low)) for low in range(0, count, batch)]
    return np.concatenate(parts)


def _numpy_batch(columns: Floats, table: "_Table", key: int, first: int, count: int) -> Floats:
    rows = max(count, 2)  # numpy would sum a single replicate in another order
    index = drawn_units(len(columns), table, key, first, rows)  # (n, rows)
    out = np.empty((rows, columns.shape[1]))
    for k, column in enumerate(columns.T):
        values = column.take(index)
        lanes = [values[lane::4].sum(axis=0) for lane in range(4)]  # as the compiled loops do, so that the bits agree
        out[:, k] = (lanes[0] + lanes[1]) + (lanes[2] + lanes[3])
    return out[:count]


def drawn_units(n: int, table: "_Table", key: int, first: int, rows: int) -> NDArray[np.int64]:
    """(n, rows) Which unit is draw i of each replicate.

    Multiply and shift: probabilities are unequal by at most n/2³², one part in 4,000 at n = 10⁶.
    """
    size = np.uint64(n)
    if table is None:
        per_row = (n + 1) // 2
        word = words(key, first * per_row, rows * per_row).reshape(rows, per_row)
        index = np.empty((rows, 2 * per_row), dtype=np.int64)
        index[:, 0::2] = ((word & np.uint64(0xFFFFFFFF)) * size) >> _32
        index[:, 1::2] = ((word >> _32) * size) >> _32
        return np.ascontiguousarray(index[:, :n].T)
    keep, other = table
    word = words(key, first * n, rows * n).reshape(rows, n)
    slot = (((word >> _32) * size) >> _32).astype(np.int64)
    index = np.where((word & np.uint64(0xFFFFFFFF)) < keep[slot], slot, other[slot])
    return np.ascontiguousarray(index.T)


_Table = tuple[NDArray[np.uint64], NDArray[np.int64]] | None
