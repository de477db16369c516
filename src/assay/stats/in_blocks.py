"""Moments of many values, some at a time: no array as long as the data is made beside them.

Sums of blocks are added in the order of the blocks, so results do not depend on the machine. Of fewer than `MANY`
values nothing is gained, and they are summed as one array.
"""

from collections.abc import Callable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

MANY = 1 << 17  # values, from which on blocks cost less than whole arrays
_BLOCK = 1 << 15  # a block and what is made of it stay in the cache

_Block = Callable[[slice], NDArray[np.float64]]


def slices(n: int) -> Iterator[slice]:
    """The blocks of n values, in their order."""
    return (slice(low, min(low + _BLOCK, n)) for low in range(0, n, _BLOCK))


def total(block: _Block, n: int) -> float:
    """The sum of the values of every block."""
    return float(sum(float(np.add.reduce(block(part))) for part in slices(n)))


def largest(block: _Block, n: int) -> float:
    """The largest absolute value of any block; 0 for none."""
    found = 0.0
    for part in slices(n):
        values = block(part)
        found = max(found, float(np.maximum.reduce(values)), -float(np.minimum.reduce(values)))
    return found


def power_sums(block: _Block, n: int, scale: float, powers: Sequence[int]) -> list[float]:
    """Σ (value / scale)^power for each of some rising powers."""
    sums = [0.0] * len(powers)
    for part in slices(n):
        values = block(part) / scale
        power, done = np.ones(len(values)), 0
        for place, wanted in enumerate(powers):
            for _ in range(wanted - done):
                power *= values
            done = wanted
            sums[place] += float(np.add.reduce(power))
    return sums
