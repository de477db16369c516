"""Counter-based random numbers: word c of a stream depends on (seed, purpose, c) and on nothing else.

Cutting the work into other batches, threads or machines therefore changes no bit. The generator is SplitMix64
(Steele, Lea, Flood 2014) read at any position of its sequence; the seed and the purpose choose where the sequence
starts.

**Resamples of many units** are counted, not drawn: how often is each unit drawn? Independent Poisson counts are, given
their total N, the counts of N uniform draws. So Poisson counts of mean a little below 1, topped up with n − N uniform
draws, are the counts of n uniform draws, exactly; where N exceeds n (one time in 40), the replicate starts again. The
sum over a resample then reads the data in order, not here and there.

A Poisson count comes from 16 random bits: each count up to 6 owns as many of the 65,536 cells as its probability
fills, and the cells that are left over (some ten) are decided by a further word. Probabilities are right to 2⁻⁶⁴.

The stream of replicate b, attempt a has the key word(word(key, b), a): its first words hold the bits of 64 units at a
time, then come the words for left-over cells, in the order of the units, then two draws a word.
"""

from dataclasses import dataclass
from functools import lru_cache
from hashlib import blake2b
from math import isqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from assay.stats.units import Floats

Words = NDArray[np.uint64]

GOLDEN = 0x9E3779B97F4A7C15
MIX_1 = 0xBF58476D1CE4E5B9
MIX_2 = 0x94D049BB133111EB

GROUP = 64  # units: as many sums run side by side, and as many units have their bits at a time
_PER_GROUP = GROUP // 4  # words
_CELLED = 7  # counts 0 … 6 have cells of their own
_SCALE = 128  # bits after the point in which probabilities are computed: no machine's exp() has a part in them
_BATCH = 1 << 18  # units per pass
_GOLDEN, _LOW, _32 = np.uint64(GOLDEN), np.uint64(0xFFFFFFFF), np.uint64(32)


def stream_key(seed: int, purpose: str) -> int:
    """Where the stream of this seed and purpose starts: 64 bits, unrelated for any two pairs."""
    return int.from_bytes(blake2b(f"{seed}/{purpose}".encode(), digest_size=8).digest(), "little")


def words(key: int, first: int, count: int) -> Words:
    """(count,) Words first, first + 1, … of the stream."""
    z = np.arange(first + 1, first + count + 1, dtype=np.uint64)
    z *= np.uint64(GOLDEN)  # all arithmetic is modulo 2⁶⁴
    z += np.uint64(key)
    return mixed(z)


def mixed(z: Words) -> Words:
    """The words of the states key + (c + 1)·GOLDEN, in their place."""
    z ^= z >> np.uint64(30)
    z *= np.uint64(MIX_1)
    z ^= z >> np.uint64(27)
    z *= np.uint64(MIX_2)
    z ^= z >> np.uint64(31)
    return z


def signs(key: int, first: int, rows: int, n: int) -> NDArray[np.bool_]:
    """(rows, n) Fair bits for the replicates first, first + 1, …"""
    per_row = -(-n // 64)
    bits = np.unpackbits(words(key, first * per_row, rows * per_row).astype("<u8").view(np.uint8), bitorder="little")
    return bits.reshape(rows, per_row * 64)[:, :n].astype(np.bool_)


# ---------------------------------------------------------------------------------------------------- counts of draws


@dataclass(frozen=True, slots=True, eq=False)
class CountRule:
    """How random bits become Poisson counts."""

    cells: NDArray[np.int16]  # (7,) count k ≥ 1 starts at cells[k − 1]; from cells[6] on, cells are left over
    rare: Words  # a word decides a left-over cell: the count is how many of these do not exceed it


@lru_cache(maxsize=16)
def rule_of(n: int) -> CountRule:
    """Poisson counts of mean 1 − 2/√n, in integer arithmetic."""
    one = 1 << _SCALE
    masses = _poisson_masses(one - 2 * one * one // isqrt(n << 2 * _SCALE))
    own = [mass >> (_SCALE - 16) for mass in masses[:_CELLED]]  # cells of each count
    starts = np.cumsum(own)
    left = [mass - (cells << (_SCALE - 16)) for mass, cells in zip(masses, own, strict=False)] + masses[_CELLED:]
    total, below, rare = (65_536 - sum(own)) << (_SCALE - 16), 0, []
    for mass in left:
        below += mass
        rare.append(min((below << 64) // total, 2**64 - 1))
    return CountRule((starts - 32_768).astype(np.int16), np.array(rare[:-1], dtype=np.uint64))


def _poisson_masses(rate: int) -> list[int]:
    """The probabilities of 0, 1, … as integers over 2¹²⁸, to the last that a word can tell."""
    zero, term, k = 0, 1 << _SCALE, 0
    while term:  # exp(−rate), an alternating series
        zero += -term if k % 2 else term
        k += 1
        term = (term * rate // k) >> _SCALE
    masses = [zero]
    while masses[-1] >> (_SCALE - 96):
        masses.append((masses[-1] * rate // len(masses)) >> _SCALE)
    return masses


def in_groups(columns: Floats) -> Floats:
    """(c, m·64) The columns, filled up with zeros to whole groups."""
    n, width = columns.shape
    out = np.zeros((width, -(-n // GROUP) * GROUP))
    out[:, :n] = columns.T
    return out


def counted_sums(columns: Floats, key: int, first: int, count: int) -> Floats:
    """(count, c) Sums of each column over n uniform draws, for the replicates first, first + 1, …"""
    n, batch = len(columns), max(2, _BATCH // len(columns))
    grouped = in_groups(columns)
    parts = [_batch(grouped, n, words(key, first + low, min(batch, count - low))) for low in range(0, count, batch)]
    return np.concatenate(parts)


def counts_of_draws(n: int, own: Words, kind: Any = np.float64) -> NDArray[Any]:
    """(rows, n) How often each unit is among n uniform draws, for replicates with these keys."""
    drawn = poisson_counts(n, own)
    rows = len(own)
    counts = np.zeros((rows, len(drawn.units) * GROUP + 1), dtype=kind)  # the last is no unit: it takes draws of none
    counts[:, :-1].reshape(rows, -1, GROUP)[:] = drawn.units.transpose(1, 0, 2)
    each = np.arange(rows)
    for index in topping_up(n, drawn):  # one more draw of every replicate
        counts[each, np.where(index == n, -1, index)] += 1
    return counts[:, :n]


@dataclass(frozen=True, slots=True)
class DrawnCounts:
    """Poisson counts of some replicates, and what of their streams comes next."""

    units: Floats  # (m, rows, 64), whole numbers
    missing: NDArray[np.int64]  # (rows,) draws to the full n
    keys: Words  # (rows,)
    spent: NDArray[np.uint64]  # (rows,) words of the stream


def _batch(grouped: Floats, n: int, own: Words) -> Floats:
    rows = len(own)
    drawn = poisson_counts(n, np.resize(own, max(rows, 2)))  # numpy would sum a single replicate in another order
    index = topping_up(n, drawn)  # (most missing, rows)
    out = np.empty((len(drawn.keys), len(grouped)))
    for k, column in enumerate(grouped):
        sums = (drawn.units * column.reshape(-1, 1, GROUP)).sum(axis=0)  # (rows, 64)
        while sums.shape[1] > 1:  # as the compiled loops do, so that the bits agree
            half = sums.shape[1] // 2
            sums = sums[:, :half] + sums[:, half:]
        extra = np.append(column[:n], 0.0).take(index)
        lanes = [extra[lane::4].sum(axis=0) for lane in range(4)]
        out[:, k] = (sums[:, 0] + ((lanes[0] + lanes[1]) + (lanes[2] + lanes[3]))) + 0.0  # never −0
    return out[:rows]


def poisson_counts(n: int, own: Words, attempt: int = 0) -> DrawnCounts:
    """Counts whose total is at most n, for replicates with these keys."""
    found = _attempt(n, mixed(own + np.uint64((attempt + 1) * GOLDEN % 2**64)))
    again = np.flatnonzero(found.missing < 0)
    if len(again):
        later = poisson_counts(n, own[again], attempt + 1)
        found.units[:, again], found.missing[again] = later.units, later.missing
        found.keys[again], found.spent[again] = later.keys, later.spent
    return found


def _attempt(n: int, keys: Words) -> DrawnCounts:
    rule, groups = rule_of(n), -(-n // GROUP)
    place = np.arange(1, groups * _PER_GROUP + 1, dtype=np.uint64).reshape(groups, 1, _PER_GROUP)
    bits = mixed(place * _GOLDEN + keys[:, None]).astype("<u8", copy=False).view("<i2")  # (m, rows, 64)
    bits[-1, :, n - GROUP * (groups - 1) :] = -32_768  # there is no such unit: a count of 0
    counts = np.zeros(bits.shape, dtype=np.int8)
    for start in rule.cells:
        counts += (bits >= start).view(np.int8)
    units = counts.astype(np.float64)
    spent = _settle(units, np.flatnonzero(bits >= rule.cells[-1]), rule, keys)
    total = units.sum(axis=0).sum(axis=1).astype(np.int64)  # of whole numbers, in any order
    return DrawnCounts(units, n - total, keys, spent)


def _settle(units: Floats, left_over: NDArray[np.int64], rule: CountRule, keys: Words) -> NDArray[np.uint64]:
    """Decide the counts of left-over cells; how many words of each stream are spent after that."""
    groups, rows, _ = units.shape
    row = left_over // GROUP % rows
    order = np.argsort(row, kind="stable")  # by replicate, and in each by unit
    left_over, row = left_over[order], row[order]
    each = np.bincount(row, minlength=rows)
    rank = np.arange(len(row)) - (np.cumsum(each) - each)[row]
    place = (groups * _PER_GROUP + 1 + rank).astype(np.uint64)
    units.reshape(-1)[left_over] = np.searchsorted(rule.rare, mixed(keys[row] + place * _GOLDEN), side="right")
    return np.asarray(groups * _PER_GROUP + each, dtype=np.uint64)


def topping_up(n: int, drawn: DrawnCounts) -> NDArray[np.int64]:
    """(most missing, rows) The units that are drawn besides; n, which is none, where a replicate has enough."""
    most = int(drawn.missing.max())
    place = drawn.spent + np.arange(1, most // 2 + 2, dtype=np.uint64)[:, None]
    word = mixed(place * _GOLDEN + drawn.keys)
    index = np.empty((2 * len(word), len(drawn.keys)), dtype=np.int64)
    index[0::2] = ((word & _LOW) * np.uint64(n)) >> _32
    index[1::2] = ((word >> _32) * np.uint64(n)) >> _32
    index[np.arange(len(index))[:, None] >= drawn.missing] = n
    return index[:most]
