"""What a replicate draws, one number after the other, in Python's integers and decimals.

Nothing here uses the code under test but the alias table, which has a test of its own.
"""

from decimal import Decimal, localcontext
from functools import cache
from math import factorial, floor

import numpy as np
from numpy.typing import NDArray

COUNTED_FROM = 400
WORD = 2**64 - 1


def word(key: int, c: int) -> int:
    """Word c of a stream: SplitMix64."""
    z = (key + (c + 1) * 0x9E3779B97F4A7C15) & WORD
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & WORD
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & WORD
    return z ^ (z >> 31)


def half(key: int, q: int) -> int:
    return word(key, q // 2) >> 32 * (q % 2) & 0xFFFFFFFF


def paired_draws(n: int, key: int, b: int) -> list[int]:
    """A half-word is two draws: the digits of h/2³² in base n."""
    halves = (n + 1) // 2
    start = b * ((halves + 1) // 2 * 2)
    pairs = [divmod(half(key, start + q) * n * n >> 32, n) for q in range(halves)]
    return [unit for pair in pairs for unit in pair][:n]


@cache
def poisson(n: int) -> tuple[Decimal, ...]:
    """Probabilities of the counts 0, 1, … of mean 1 − 2/√n, to 60 digits."""
    with localcontext(prec=60):
        mean = 1 - 2 / Decimal(n).sqrt()
        return tuple((-mean).exp() * mean**k / factorial(k) for k in range(40))


@cache
def cells(n: int) -> tuple[tuple[int, ...], tuple[Decimal, ...]]:
    """How many of 65,536 cells the counts 0 … 6 own, and the distribution function of a left-over cell's count."""
    with localcontext(prec=60):
        own = tuple(floor(p * 65_536) for p in poisson(n)[:7])
        left = [p * 65_536 - (own[k] if k < 7 else 0) for k, p in enumerate(poisson(n))]
        return own, tuple(sum(left[: k + 1], Decimal(0)) / sum(left) for k in range(40))


def poisson_counts(n: int, key: int) -> tuple[list[int], int]:
    """The counts of n units from one stream, and how many of its words they took."""
    own, rare = cells(n)
    taken = -(-n // 64) * 16
    counts = []
    for unit in range(n):
        bits = word(key, unit // 4) >> 16 * (unit % 4) & 0xFFFF
        cell = bits ^ 0x8000  # the lowest number of 16 bits with a sign is the first cell
        count = sum(cell >= sum(own[: k + 1]) for k in range(7))
        if count == 7:
            with localcontext(prec=60):
                count = sum(Decimal(word(key, taken)) / 2**64 >= below for below in rare)
            taken += 1
        counts.append(count)
    return counts, taken


def counted_draws(n: int, key: int, b: int) -> tuple[list[int], int]:
    """Units in order, as often as they were counted, then the draws that were missing; and the attempts it took."""
    attempt = 0
    while True:
        stream = word(word(key, b), attempt)
        counts, taken = poisson_counts(n, stream)
        attempt += 1
        if sum(counts) <= n:
            break
    draws = [unit for unit, count in enumerate(counts) for _ in range(count)]
    missing = n - len(draws)
    return draws + [half(stream, 2 * taken + q) * n >> 32 for q in range(missing)], attempt


def drawn_units(
    n: int, table: tuple[NDArray[np.uint64], NDArray[np.int64]] | None, key: int, first: int, rows: int
) -> NDArray[np.int64]:
    """(n, rows) The units that the replicates first, first + 1, … draw."""
    if table is not None:
        found = [alias_draws(n, table, key, b) for b in range(first, first + rows)]
    elif n < COUNTED_FROM:
        found = [paired_draws(n, key, b) for b in range(first, first + rows)]
    else:
        found = [counted_draws(n, key, b)[0] for b in range(first, first + rows)]
    return np.array(found, dtype=np.int64).T


def alias_draws(n: int, table: tuple[NDArray[np.uint64], NDArray[np.int64]], key: int, b: int) -> list[int]:
    """One word a draw: the high half chooses a slot, the low half whether it is kept."""
    keep, other = (part.tolist() for part in table)
    draws = []
    for i in range(n):
        bits = word(key, b * n + i)
        slot = (bits >> 32) * n >> 32
        draws.append(slot if bits & 0xFFFFFFFF < keep[slot] else other[slot])
    return draws
