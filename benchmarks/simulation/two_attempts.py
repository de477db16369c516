"""Two models with several attempts at the same items: how often `compare --at` holds their true difference."""

from dataclasses import dataclass
from zlib import crc32

import numpy as np

from assay import Panel, compare
from assay.stats.numerics import normal_quantile
from benchmarks.simulation.one_run import SEED

_CHANCES = np.array([0.02, 0.1, 0.3, 0.6, 0.9, 0.97])  # of an item, each for a sixth of the items, from hard to easy
_EDGES = np.array([normal_quantile(share) for share in np.arange(1, 6) / 6])
CORRELATION = 0.5


@dataclass(frozen=True, slots=True)
class TwoRuns:
    """n items with so many attempts; the second model's chances are raised by the power of an exponent below 1."""

    n: int
    attempts: int
    k: int
    exponent: float
    every: bool = False

    @property
    def name(self) -> str:
        what = f"pass{'^' if self.every else '@'}{self.k} of {self.attempts}"
        return f"{what}, n = {self.n}, " + ("equal" if self.exponent == 1 else f"better by {self.truth:.3f}")

    @property
    def truth(self) -> float:
        a, b = _CHANCES, _CHANCES**self.exponent
        rates = [x**self.k if self.every else 1 - (1 - x) ** self.k for x in (a, b)]
        return float(rates[1].mean() - rates[0].mean())

    def simulated(self, simulations: int) -> tuple[float, float]:
        """How often the interval holds the truth, and how often a difference is shown."""
        found = [compare(self._draw(i), at=self.k, every=self.every) for i in range(simulations)]
        limits = [one.difference.interval for one in found]
        held = [one is not None and one.low - 1e-12 <= self.truth <= one.high + 1e-12 for one in limits]
        return float(np.mean(held)), float(np.mean([one.verdict in ("better", "worse") for one in found]))

    def _draw(self, simulation: int) -> Panel:
        rng = np.random.default_rng([SEED, crc32(self.name.encode()), simulation])
        own = rng.standard_normal((self.n, 2))
        own[:, 1] = CORRELATION * own[:, 0] + (1 - CORRELATION**2) ** 0.5 * own[:, 1]
        chances = _CHANCES[np.searchsorted(_EDGES, own)]
        chances[:, 1] **= self.exponent
        right = rng.random((self.n, 2, self.attempts)) < chances[:, :, None]
        models = ["A"] * self.attempts + ["B"] * self.attempts
        return Panel.from_arrays(right.reshape(self.n, -1).astype(float), models=models)


PAIRS = [
    TwoRuns(n, attempts, k, exponent, every)
    for n in (30, 164)
    for attempts, k, every in ((5, 1, False), (5, 5, False), (10, 4, False), (10, 4, True))
    for exponent in (1.0, 0.6)
]
