"""Simulations in numbered blocks, on whichever workers an engine has.

What simulation i draws depends on (seed, purpose, i) and on nothing else, so neither the workers nor the size of the
blocks change a bit.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from assay.engines import Engine
from assay.progress import working
from assay.stats.streams import stream_key
from assay.stats.units import Floats

_BLOCK = 20  # simulations that a worker does at a time


class Draws:
    """The random numbers of one simulation; every generator that it gives starts anew."""

    def __init__(self, *key: int) -> None:
        self._key = key

    def generator(self) -> np.random.Generator:
        return np.random.default_rng(self._key)


class Trial(Protocol):
    """One simulation: what it found, as a row of numbers."""

    def once(self, draws: Draws) -> Sequence[float]: ...


@dataclass(frozen=True, slots=True)
class _Simulations:
    """Blocks of simulations (first, stop) of a trial."""

    trial: Trial
    key: int

    def prepare(self) -> Callable[[tuple[int, int]], Floats]:
        return self._rows

    def _rows(self, block: tuple[int, int]) -> Floats:
        found: list[Any] = [self.trial.once(Draws(self.key, number)) for number in range(*block)]
        return np.array(found, dtype=np.float64)


def simulated(trial: Trial, simulations: int, *, seed: int, purpose: str, engine: Engine) -> Floats:
    """(S, m) The rows of all simulations, in their order."""
    blocks = [(first, min(first + _BLOCK, simulations)) for first in range(0, simulations, _BLOCK)]
    work = _Simulations(trial, stream_key(seed, f"calibrate/{purpose}"))
    found = []
    with working(purpose, "simulations", simulations) as advance, engine.started(work) as workers:
        for (_, stop), rows in zip(blocks, workers.run(blocks), strict=True):
            found.append(rows)
            advance(stop, simulations)
    return np.concatenate(found)
