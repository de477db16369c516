"""Random sign flips for all pairs of systems at once: what they reach.

If two systems do not differ, the sign of every unit's difference is a fair coin. The same signs serve every pair
(`assay.stats.ranking.flips`), so that the work grows with k and not with k².

Sums in single precision that come closer to a threshold than eight times what they are off are decided again in
double precision; where those are many (values on a grid tie often), all are. So counts are those of double precision.

Shared signs are right pair by pair. Taken together (max-T) they are so when all systems are exchangeable, and
otherwise as the number of units grows. Sums equal to the observed one up to rounding count as reaching it.

Among all sign vectors of few groups are the observed signs, so that p is a share and at least 2 / 2^G.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf, sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from assay.stats.bootstrap.simultaneous import FEWEST
from assay.stats.ranking.flips import Flips, NullSums
from assay.stats.units import Floats, Integers, Truths

TIE = 1e-9  # of √G·√Σd² ≥ Σ|d|: sums closer than this to the observed one are equal to it
_MOST_DOUBTFUL = 1 << 28  # additions that deciding again may take
_FEW_DOUBTS = 0.01  # of the replicates of a pair: more, and all of them are
_CACHED = 1 << 17  # null differences that stay in the cache
_ROUNDED = 4e-7  # of a threshold: what a few operations in single precision are off by, many times over


def share_reached(reached: Integers, count: int, *, exact: bool) -> Floats:
    """P-values: the share of sign vectors that reach what was observed; random ones are joined by the observed one."""
    return np.asarray(reached / count if exact else (1 + reached) / (1 + count))


def count_reached(
    flips: Flips, observed: Floats, norms: Floats, resamples: int, wanted: Truths | None = None
) -> Integers:
    """(P,) How many null differences of each pair reach its observed one in size; norms are √Σd².

    Pairs that are not ``wanted`` are not counted.
    """
    least = np.abs(observed) - TIE * sqrt(len(flips.columns)) * norms
    wanted = np.ones(len(least), dtype=bool) if wanted is None else wanted
    if flips.by_column:
        told = wanted & (norms > 0)
        found = _count_by_column(flips, flips.sums(resamples), least, told)
        if found is None:
            found = _count_by_column(flips, flips.sums(resamples, double=True), least, told)
        assert found is not None  # in double precision nothing is doubtful
        return np.where(wanted & (norms == 0), flips.count(resamples), found)  # 0 reaches 0
    counts = np.zeros(len(least), dtype=np.int64)
    for first, sums in flips.blocks(resamples):
        counts += (np.abs(flips.differences(first, sums)) >= least).sum(axis=0)
    return np.where(wanted, counts, 0)


def _count_by_column(flips: Flips, sums: NullSums, least: Floats, wanted: Truths) -> Integers | None:
    """Pair by pair over the replicates; ``None`` where too many have to be decided again."""
    (first, second), chosen = flips.pairs, np.flatnonzero(wanted)
    count = sums.values.shape[1]
    counts, batch = np.zeros(len(least), dtype=np.int64), max(1, _CACHED // count)
    slack = sums.slack[first] + sums.slack[second] + (0.0 if sums.exact else _ROUNDED * np.abs(least) / sums.unit)
    gaps, beyond = np.empty((batch, count), sums.values.dtype), _Flags(batch, count)
    doubts, again, left = [], [], _MOST_DOUBTFUL // len(flips.columns)
    for low in range(0, len(chosen), batch):
        some = chosen[low : low + batch]
        part = gaps[: len(some)]
        for row, (i, j) in enumerate(zip(first[some].tolist(), second[some].tolist(), strict=True)):
            np.subtract(sums.values[i], sums.values[j], out=part[row])
        np.abs(part, out=part)
        needed = (least[some] / sums.unit)[:, None]
        counts[some] = beyond.counted(part, needed - slack[some, None])
        if sums.exact:
            continue
        sure = beyond.counted(part, needed + slack[some, None])
        for place in np.flatnonzero(counts[some] > sure).tolist():
            if counts[some[place]] - sure[place] > _FEW_DOUBTS * count:
                again.append(int(some[place]))
            else:
                near = np.abs(part[place] - needed[place]) <= 2 * slack[some[place]]
                doubts.append((int(some[place]), np.flatnonzero(near)))
                left -= len(doubts[-1][1])
        if len(again) > flips.k // 2 or left < 0:
            return None
    if again:
        counts[again] = _count_again(flips, again, least, count)
    return counts - _not_reached(flips, doubts, least, sums, slack) if doubts else counts


def _count_again(flips: Flips, pairs: Sequence[int], least: Floats, count: int) -> Integers:
    """Some pairs in double precision."""
    first, second = flips.pairs[:, pairs]
    gaps, counts = flips.columns[:, first] - flips.columns[:, second], np.zeros(len(pairs), dtype=np.int64)
    for signs in flips.signs_of(count):
        counts += (np.abs(signs @ gaps) >= least[pairs]).sum(axis=0)
    return counts


def _not_reached(
    flips: Flips, doubts: Sequence[tuple[int, Integers]], least: Floats, sums: NullSums, slack: Floats
) -> Integers:
    """(P,) How many of the doubtful null differences were counted and do not reach what was observed."""
    (first, second), places = flips.pairs, np.concatenate([np.full(len(near), r) for r, near in doubts])
    replicates = np.concatenate([near for _, near in doubts])
    i, j = first[places], second[places]
    exact = np.abs(flips.differences_at(replicates, i, j))
    single = np.abs(sums.values[i, replicates] - sums.values[j, replicates])
    counted = single >= _as_kind(least[places] / sums.unit - slack[places], sums.values)
    over = counted.astype(np.int64) - (exact >= least[places])
    return np.bincount(places, weights=over, minlength=len(least)).astype(np.int64)


def _as_kind(thresholds: Floats, values: NDArray[Any]) -> NDArray[Any]:
    return thresholds.astype(values.dtype)


class _Flags:
    """Room for comparisons of some rows, which are counted eight at a time."""

    def __init__(self, rows: int, count: int) -> None:
        self._flags = np.zeros((rows, -(-count // 8) * 8), dtype=np.bool_)
        self._count = count

    def counted(self, values: NDArray[Any], thresholds: Floats) -> Integers:
        """(rows,) How many values of each row reach its threshold, (rows, 1)."""
        flags = self._flags[: len(values)]
        np.greater_equal(values, _as_kind(thresholds, values), out=flags[:, : self._count])
        lanes, total = flags.view(np.uint64), np.zeros(len(values), dtype=np.int64)
        for low in range(0, lanes.shape[1], 255):  # a byte holds as much
            part = np.add.reduce(lanes[:, low : low + 255], axis=1)
            total += part.view(np.uint8).reshape(len(values), 8).sum(axis=1, dtype=np.int64)
        return total


@dataclass(frozen=True, eq=False, slots=True)
class Maxima:
    """The largest null statistics |Σ ±d| / √Σd², of all pairs and of the pairs that a step-down test still has."""

    largest: Floats  # (B,) of all pairs
    stepped: Integers  # (P,) how often the largest of a pair and of those with less reaches the pair's own
    exact: bool = False  # whether these are all sign vectors


def maxima(flips: Flips, observed: Floats, norms: Floats, resamples: int) -> Maxima:
    """Max-T over all pairs: observed are the statistics |Σd| / √Σd², 0 where the norm is."""
    order = np.argsort(observed, kind="stable")
    scale, least = _inverse(norms)[order], observed[order] - TIE * sqrt(len(flips.columns))
    if flips.by_column:
        values = flips.sums(resamples, double=True).values
        largest, counts = _pair_by_pair(values, flips.pairs[:, order], scale, least)
    else:
        counts, largest = np.zeros(len(order), dtype=np.int64), np.empty(flips.count(resamples))
        for first, sums in flips.blocks(resamples):
            found = _running(flips.differences(first, sums)[:, order], scale, least)
            counts += found[0]
            largest[first : first + len(sums)] = found[1]
    stepped = np.empty_like(counts)
    stepped[order] = counts
    return Maxima(largest, stepped, flips.exact)


def _inverse(norms: Floats) -> Floats:
    return np.divide(1.0, norms, out=np.zeros(len(norms)), where=norms > 0)


def _pair_by_pair(values: Floats, pairs: Integers, scale: Floats, least: Floats) -> tuple[Floats, Integers]:
    counts, (largest, own) = np.zeros(len(scale), dtype=np.int64), np.zeros((2, values.shape[1]))
    for place, (i, j, factor, needed) in enumerate(
        zip(pairs[0].tolist(), pairs[1].tolist(), scale.tolist(), least.tolist(), strict=True)
    ):
        np.subtract(values[i], values[j], out=own)
        np.abs(own, out=own)
        np.multiply(own, factor, out=own)
        np.maximum(largest, own, out=largest)
        if needed < inf:
            counts[place] = np.count_nonzero(largest >= needed)
    return largest, counts


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
    z = quantile_of(Maxima(_largest(flips, norms, resamples), np.zeros(0, dtype=np.int64), flips.exact), level)
    return None if z * z >= groups * (1 - 1e-9) else z * sqrt((groups - 1) / (groups - z * z))


def _largest(flips: Flips, norms: Floats, resamples: int) -> Floats:
    """(B,) The largest null statistic of all pairs."""
    if not flips.by_column:
        return maxima(flips, np.full(len(norms), inf), norms, resamples).largest
    scale, values = np.zeros((flips.k, flips.k)), flips.sums(resamples, double=True).values
    scale[tuple(flips.pairs)] = _inverse(norms)
    out, rows = np.zeros(values.shape[1]), max(64, _CACHED // flips.k)
    for low in range(0, len(out), rows):  # few replicates at a time, so that all systems stay in the cache
        part, largest = np.ascontiguousarray(values[:, low : low + rows]), out[low : low + rows]
        room = np.empty_like(part)
        for m in range(1, flips.k):
            gaps = np.subtract(part[:m], part[m], out=room[:m])
            np.abs(gaps, out=gaps)
            gaps *= scale[:m, m, None]
            np.maximum(largest, np.maximum.reduce(gaps, axis=0), out=largest)
    return out
