"""Boards of 20 models: whether the best of them stay among those that may be best, and how many these are."""

from dataclasses import dataclass
from zlib import crc32

import numpy as np

from assay.design import Design
from assay.stats.ranking import fitted
from assay.stats.units import Floats, Grid
from benchmarks.simulation.leaderboards import decisions, kept

SEED = 20269


@dataclass(frozen=True, slots=True)
class SetBoard:
    """20 models; the first ``best`` are the best, the others worse by ``gap`` standard deviations or points."""

    name: str
    kind: str  # "0/1", "normal", "skewed"
    n: int
    accuracy: float = 0.0
    best: int = 20
    gap: float = 0.0
    clusters: int = 0

    @property
    def truth(self) -> Floats:
        return np.where(np.arange(20) < self.best, 0.0, -self.gap)

    def grid(self, simulation: int) -> Grid:
        rng = np.random.default_rng([SEED, crc32(self.name.encode()), simulation])
        shape = (self.n, 20)
        if self.kind == "0/1":
            return Grid((rng.random(shape) < self.accuracy + self.truth).astype(np.float64), np.ones(self.n))
        noise = rng.exponential(size=shape) - 1 if self.kind == "skewed" else rng.normal(size=shape)
        if not self.clusters:
            return Grid(self.truth + noise, np.ones(self.n))
        codes = np.arange(self.n) % self.clusters
        return Grid(self.truth + noise + rng.normal(size=(self.clusters, 20))[codes], np.ones(self.n), codes)


EQUAL = (
    *(SetBoard(f"0/1 at {p}", "0/1", 100, p) for p in (0.7, 0.9, 0.97)),
    SetBoard("normal", "normal", 100),
    SetBoard("skewed", "skewed", 100),
    SetBoard("normal, 40 items", "normal", 40),
    SetBoard("normal, 30 clusters of 6", "normal", 180, clusters=30),
    SetBoard("normal, 12 clusters of 6 (all flips)", "normal", 72, clusters=12),
)
SOME = (
    SetBoard("5 best of 20, normal, 0.3 sd, 100 items", "normal", 100, best=5, gap=0.3),
    SetBoard("5 best of 20, normal, 0.3 sd, 500 items", "normal", 500, best=5, gap=0.3),
    SetBoard("5 best of 20, skewed, 0.3 sd, 100 items", "skewed", 100, best=5, gap=0.3),
    SetBoard("5 best of 20, 0.95 against 0.85, 100 items", "0/1", 100, 0.95, best=5, gap=0.1),
)


def kept_best(board: SetBoard, simulation: int) -> tuple[tuple[bool, int], tuple[bool, int]]:
    """By Holm and by max-T: whether every best model may be best, and how many models may."""
    grid = board.grid(simulation)
    holm, max_t, _ = decisions(grid, fitted(grid), Design(seed=simulation))
    return kept(holm, board.truth), kept(max_t, board.truth)
