"""The compiled loops, and nothing else. Each has a numpy twin in `resampling` that gives the same bits.

Importing this module costs half a second and the first call after an installation some seconds (then the machine
code is on disk), so it is imported late and only for large work.
"""

import math

import numpy as np
from numba import get_num_threads, njit, prange, set_num_threads, uint64
from numpy.typing import NDArray

from assay.stats.streams import GOLDEN, MIX_1, MIX_2

_GOLDEN, _MIX_1, _MIX_2 = np.uint64(GOLDEN), np.uint64(MIX_1), np.uint64(MIX_2)
_30, _27, _31, _32 = np.uint64(30), np.uint64(27), np.uint64(31), np.uint64(32)
_LOW = np.uint64(0xFFFFFFFF)
_ONE = np.uint64(1)
_THREADS = get_num_threads()


def use_threads(count: int | None) -> None:
    """Run the loops that follow on so many threads; ``None`` is as many as numba was given."""
    set_num_threads(count or _THREADS)


@njit(inline="always")  # type: ignore[untyped-decorator]  # numba ships no types
def _word(key: np.uint64, c: np.uint64) -> np.uint64:
    z = key + (c + _ONE) * _GOLDEN
    z = (z ^ (z >> _30)) * _MIX_1
    z = (z ^ (z >> _27)) * _MIX_2
    return z ^ (z >> _31)


@njit(parallel=True, cache=True)  # type: ignore[untyped-decorator]  # numba ships no types
def uniform_sums(columns: NDArray[np.float64], key: np.uint64, first: int, out: NDArray[np.float64]) -> None:
    """out[b, c] = Σ over n uniform draws of column c, for the replicates first, first + 1, …"""
    n, width = columns.shape
    size = uint64(n)
    per_replicate = uint64((n + 1) // 2)
    for b in prange(out.shape[0]):
        sums = np.zeros((4, width))
        c = uint64(first + b) * per_replicate
        for i in range(0, n, 2):
            word = _word(uint64(key), c)
            c += _ONE
            even = ((word & _LOW) * size) >> _32
            for k in range(width):
                sums[i & 3, k] += columns[even, k]
            if i + 1 < n:
                odd = ((word >> _32) * size) >> _32
                for k in range(width):
                    sums[(i + 1) & 3, k] += columns[odd, k]
        for k in range(width):
            out[b, k] = (sums[0, k] + sums[1, k]) + (sums[2, k] + sums[3, k])


@njit(parallel=True, cache=True)  # type: ignore[untyped-decorator]  # numba ships no types
def uniform_sums_of_one(column: NDArray[np.float64], key: np.uint64, first: int, out: NDArray[np.float64]) -> None:
    """The same for a single column: twice as fast."""
    n = len(column)
    size = uint64(n)
    per_replicate = uint64((n + 1) // 2)
    whole = n - n % 4
    for b in prange(len(out)):
        s0, s1, s2, s3 = 0.0, 0.0, 0.0, 0.0
        c = uint64(first + b) * per_replicate
        for _ in range(0, whole, 4):
            word = _word(uint64(key), c)
            s0 += column[((word & _LOW) * size) >> _32]
            s1 += column[((word >> _32) * size) >> _32]
            word = _word(uint64(key), c + _ONE)
            s2 += column[((word & _LOW) * size) >> _32]
            s3 += column[((word >> _32) * size) >> _32]
            c += _ONE + _ONE
        if n - whole > 0:
            word = _word(uint64(key), c)
            s0 += column[((word & _LOW) * size) >> _32]
            if n - whole > 1:
                s1 += column[((word >> _32) * size) >> _32]
            if n - whole > 2:
                s2 += column[((_word(uint64(key), c + _ONE) & _LOW) * size) >> _32]
        out[b] = (s0 + s1) + (s2 + s3)


@njit(parallel=True, cache=True)  # type: ignore[untyped-decorator]  # numba ships no types
def weighted_sums(
    columns: NDArray[np.float64],
    keep: NDArray[np.uint64],
    other: NDArray[np.int64],
    key: np.uint64,
    first: int,
    out: NDArray[np.float64],
) -> None:
    """out[b, c] for draws with unequal probabilities, by the alias method: one word per draw."""
    n, width = columns.shape
    size = uint64(n)
    for b in prange(out.shape[0]):
        sums = np.zeros((4, width))
        c = uint64(first + b) * size
        for i in range(n):
            word = _word(uint64(key), c)
            c += _ONE
            slot = ((word >> _32) * size) >> _32
            row = np.int64(slot) if (word & _LOW) < keep[slot] else other[slot]
            for k in range(width):
                sums[i & 3, k] += columns[row, k]
        for k in range(width):
            out[b, k] = (sums[0, k] + sums[1, k]) + (sums[2, k] + sums[3, k])


@njit(cache=True)  # type: ignore[untyped-decorator]  # numba ships no types
def _reach(b: float, needed: float) -> float:
    """`tails._reach`, compiled: Bennett's bound."""
    t = needed * b / 3 + math.sqrt((needed * b / 3) ** 2 + 2 * needed)
    if b < 1e-3:
        return t
    for _ in range(4):
        x = b * t
        t -= (((1 + x) * math.log1p(x) - x) / (b * b) - needed) * b / math.log1p(x)
    return t


@njit(cache=True)  # type: ignore[untyped-decorator]  # numba ships no types
def _tied(y: NDArray[np.float64]) -> bool:
    """Are values repeated, as on a lattice they are?"""
    gaps = np.diff(np.sort(y[:: max(1, len(y) // 512)]))
    return bool((gaps <= 0).sum() >= 0.1 * len(gaps))


@njit(cache=True)  # type: ignore[untyped-decorator]  # numba ships no types
def _last_revival(y: NDArray[np.float64], finest: float, decayed: float) -> float:
    """`series.last_revival`, compiled: the frequency from which on ψ cannot revive."""
    low = y.min()
    places = int((y.max() - low) / finest) + 1
    sums = np.zeros((3, places))
    for d in y:
        k = int((d - low) / finest)
        sums[0, k] += 1
        sums[1, k] += d
        sums[2, k] += d * d
    within, clumps = 0.0, 0
    count, first, second = 0.0, 0.0, 0.0
    for k in range(places + 1):
        if k < places and sums[0, k] > 0:
            count, first, second = count + sums[0, k], first + sums[1, k], second + sums[2, k]
        elif count > 0:  # an empty place ends a clump
            within += second - first * first / count
            clumps += 1
            count, first, second = 0.0, 0.0, 0.0
    if clumps == 1:
        return 0.0
    return min(2 * math.pi / finest, math.sqrt(-2 * math.log(decayed) / max(within, 1e-12)))


@njit(cache=True, fastmath={"reassoc", "contract", "nsz"})  # type: ignore[untyped-decorator]  # numba ships no types
def _transform(y: NDArray[np.float64], first: float, least: float, decayed: float, psi: NDArray[np.complex128]) -> int:
    """ψ(u) = (mean exp(iuy))ⁿ at u = first, 2·first, … until it has decayed for good; how many, or −1: too many."""
    n = len(y)
    wr, wi = np.cos(first * y), np.sin(first * y)
    zr, zi = wr.copy(), wi.copy()
    quiet = 0
    for k in range(len(psi)):
        real, imag = 0.0, 0.0
        for j in range(n):
            real += zr[j]
            imag += zi[j]
        size, turn = math.hypot(real, imag) / n, math.atan2(imag, real)
        power = size**n
        psi[k] = complex(power * math.cos(n * turn), power * math.sin(n * turn))
        quiet = quiet + 1 if power < decayed else 0
        if quiet >= 3 and first * (k + 1) >= least:
            return k + 1
        for j in range(n):
            a = zr[j] * wr[j] - zi[j] * wi[j]
            zi[j] = zr[j] * wi[j] + zi[j] * wr[j]
            zr[j] = a
    return -1


@njit(cache=True)  # type: ignore[untyped-decorator]  # numba ships no types
def mean_series(
    values: NDArray[np.float64], wrapped: float, decayed: float, finest: float, psi: NDArray[np.complex128]
) -> tuple[int, float, float, float, float, float, float, float]:
    """The bootstrap distribution of a plain mean as a Fourier series, and the moments of its units, in one pass.

    Gives (terms, mean, error, start, period, Σy³, Σy⁴, Σy⁶) for deviations y with Σy² = 1; no terms where the careful
    path is needed.
    """
    n = len(values)
    mean = values.mean()
    y = values - mean
    second = (y * y).sum()
    if not 1e-280 < second < 1e280 or second < 1e-22 * n * mean * mean:
        return 0, mean, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    y /= math.sqrt(second)
    third, fourth, sixth = 0.0, 0.0, 0.0
    for d in y:
        square = d * d
        third += square * d
        fourth += square * square
        sixth += square * square * square
    needed = -math.log(wrapped / 2)
    start, stop = -_reach(-y.min(), needed), _reach(y.max(), needed)
    terms = 0
    if not _tied(y):
        terms = _transform(y, 2 * math.pi / (stop - start), _last_revival(y, finest, decayed), decayed, psi)
    return max(terms, 0), mean, math.sqrt(second) / n, start, stop - start, third, fourth, sixth


@njit(cache=True)  # type: ignore[untyped-decorator]  # numba ships no types
def series_cdf(psi: NDArray[np.complex128], terms: int, start: float, period: float, tau: float) -> tuple[float, float]:
    """Distribution function and density of a Fourier series at τ."""
    first = 2 * math.pi / period
    here, at_start = complex(1.0, 0.0), complex(1.0, 0.0)
    turn = complex(math.cos(first * tau), -math.sin(first * tau))
    from_start = complex(math.cos(first * start), -math.sin(first * start))
    rise, slope = 0.0, 0.0
    for k in range(terms):
        here *= turn
        at_start *= from_start
        rise += (psi[k] * (at_start - here)).imag / (first * (k + 1))
        slope += (psi[k] * here).real
    return (tau - start + 2 * rise) / period, (1 + 2 * slope) / period


@njit(cache=True)  # type: ignore[untyped-decorator]  # numba ships no types
def series_quantile(
    psi: NDArray[np.complex128], terms: int, start: float, period: float, guess: float, p: float
) -> float:
    """The τ with distribution function p, by Newton's method from a good guess; NaN if that fails."""
    tau = guess
    for _ in range(12):
        value, density = series_cdf(psi, terms, start, period, tau)
        if not density > 1e-6:
            return math.nan
        step = (p - value) / density
        tau += min(max(step, -1.0), 1.0)
        if abs(step) < 1e-7:
            return float(tau)
    return math.nan
