"""Several attempts at items: how often intervals of pass@k, and of the difference of two models, hold the truth."""

from dataclasses import dataclass
from zlib import crc32

import numpy as np

from assay import Design, Panel
from assay.analyses.attempts import passed
from assay.analyses.compare import compare_panel
from assay.stats.numerics import normal_quantile
from assay.stats.repeated_runs import pass_all, pass_any
from benchmarks.simulation.one_run import SEED, Generator, OneRun, Run


def _passes(n: int, attempts: tuple[int, int], k: int, a: float, b: float, *, every: bool = False) -> OneRun:
    """pass@k or pass^k of n items whose chances are beta(a, b); items with fewer than k attempts are left out.

    The truth is 1 − E[(1 − p)^k] = 1 − Π (b + i)/(a + b + i), and E[p^k] = Π (a + i)/(a + b + i).
    """

    def draw(rng: Generator) -> Run:
        numbers = rng.integers(attempts[0], attempts[1] + 1, n).astype(np.float64)
        right = rng.binomial(numbers.astype(np.int64), rng.beta(a, b, n)).astype(np.float64)
        found = (pass_all if every else pass_any)(right, numbers, k)
        found = found[~np.isnan(found)]
        return Run(found, np.ones(len(found)), passes=True)

    i = np.arange(k)
    truth = np.prod((a + i) / (a + b + i)) if every else 1 - np.prod((b + i) / (a + b + i))
    many = str(attempts[0]) if attempts[0] == attempts[1] else f"{attempts[0]}–{attempts[1]}"
    name = f"pass{'^' if every else '@'}{k} of {many} attempts, beta({a:g}, {b:g}), n = {n}"
    return OneRun(name, draw, float(truth))


PASSES = {
    f"{n}": [
        _passes(n, attempts, k, a, b, every=every)
        for every in (False, True)
        for attempts, k in (((5, 5), 1), ((5, 5), 5), ((10, 10), 5), ((2, 10), 4))
        for a, b in ((0.3, 0.7), (2, 6), (0.9, 0.1))
    ]
    for n in (20, 100)
}
#: Set apart: first looked at after the rule for items that are nearly all settled was fixed.
PASSES_HELD_OUT = {
    f"{n}": [
        _passes(n, attempts, 3, a, b, every=every)
        for every in (False, True)
        for attempts in ((12, 12), (3, 20))
        for a, b in ((0.5, 0.1), (1, 9), (4, 1))
    ]
    for n in (15, 60)
}

_CHANCES = np.array([0.02, 0.1, 0.3, 0.6, 0.9, 0.97])  # of an item, each for a sixth of the items, from hard to easy
_EDGES = np.array([normal_quantile(share) for share in np.arange(1, 6) / 6])
CORRELATION = 0.5


@dataclass(frozen=True, slots=True)
class TwoModels:
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
        found = [compare_panel(self._draw(i), Design()) for i in range(simulations)]
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
        panel = Panel.from_arrays(right.reshape(self.n, -1).astype(float), models=models)
        return passed(panel, self.k, every=self.every)


PAIRS = [
    TwoModels(n, attempts, k, exponent, every)
    for n in (30, 100)
    for attempts, k, every in ((5, 1, False), (5, 5, False), (10, 4, False), (10, 4, True))
    for exponent in (1.0, 0.6)
]
