"""Boards of models whose true scores are known: does the interval of the top score hold its own, and how far off is it?

The formulas were chosen on the cells of `CHOSEN`; those of `APART` were drawn up afterwards and chose nothing.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import sqrt
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from assay.stats.bounded_mean import clopper_pearson
from assay.stats.numerics import normal_quantile, t_quantile
from assay.stats.ranking import Fitted, deviations, fitted
from assay.stats.ranking.winner import winner
from assay.stats.units import Floats, Grid

SEED = 20268
LEVEL = 0.95
RESAMPLES = 999  # of the former interval

Generator = np.random.Generator
Draw = Callable[[Generator, int, Floats], Grid]


# ------------------------------------------------------------------------------------------ answers


def _plain(values: Floats | NDArray[np.bool_]) -> Grid:
    return Grid(np.asarray(values, dtype=np.float64), np.ones(len(values)))


def _apart(rng: Generator, n: int, truth: Floats) -> Grid:
    return _plain(rng.random((n, len(truth))) < truth)


def _together(rng: Generator, n: int, truth: Floats) -> Grid:
    """Items are hard for all models alike: the answers of two models have a tetrachoric correlation of ½."""
    place = np.array([normal_quantile(p) for p in truth.tolist()]) * sqrt(2)
    return _plain(place + rng.normal(size=(n, 1)) + rng.normal(size=(n, len(truth))) > 0)


def _credit(concentration: float) -> Draw:
    def draw(rng: Generator, n: int, truth: Floats) -> Grid:
        return _plain(rng.beta(concentration * truth, concentration * (1 - truth), (n, len(truth))))

    return draw


def _clusters(size: float, *, unequal: bool = False) -> Draw:
    """Right or wrong, with a chance that each cluster has of its own: an intraclass correlation of 0.2."""

    def draw(rng: Generator, n: int, truth: Floats) -> Grid:
        groups = max(int(n / size), 5)
        mass = rng.exponential(size=groups) + 0.2 if unequal else np.ones(groups)
        codes = np.append(np.arange(groups), rng.choice(groups, n - groups, p=mass / mass.sum()))
        chance = rng.beta(4 * truth, 4 * (1 - truth), (groups, len(truth)))
        return Grid((rng.random((n, len(truth))) < chance[codes]).astype(np.float64), np.ones(n), codes)

    return draw


def _weights(rng: Generator, n: int, truth: Floats) -> Grid:
    return Grid(_together(rng, n, truth).values, np.exp(0.5 * rng.normal(size=n)))


def _values(noise: Callable[[Generator, tuple[int, int]], Floats]) -> Draw:
    """Values on a scale of their own, 0.6 of their spread shared by all models."""

    def draw(rng: Generator, n: int, truth: Floats) -> Grid:
        return _plain(truth + 0.6 * noise(rng, (n, 1)) + 0.8 * noise(rng, (n, len(truth))))

    return draw


def _unequal_spread(rng: Generator, n: int, truth: Floats) -> Grid:
    return _plain(truth + rng.normal(size=(n, len(truth))) * np.linspace(0.5, 2, len(truth)))


_NORMAL = _values(lambda rng, shape: rng.normal(size=shape))
_LOSSES = _values(lambda rng, shape: 1 - rng.exponential(size=shape))  # the larger the better: minus a skewed loss
_HEAVY = _values(lambda rng, shape: rng.standard_t(4, size=shape))
_GAMMA = _values(lambda rng, shape: 2 - rng.gamma(2.0, size=shape))
_LOG_NORMAL = _values(lambda rng, shape: np.exp(0.5) - np.exp(rng.normal(size=shape)))


# ------------------------------------------------------------------------------------------ cells


@dataclass(frozen=True, slots=True)
class Cell:
    """One kind of board: how answers vary, how many models and items, how good the best is, how far the others are."""

    name: str
    draw: Draw
    k: int
    n: int
    best: float
    bounded: bool = True
    behind: str = "equal"

    def truth(self) -> Floats:
        steps = {"equal": np.zeros(self.k), "ladder": 0.01 * np.arange(self.k), "one": np.full(self.k, 0.02)}
        gaps = steps[self.behind]
        gaps[0] = 0.0
        return np.asarray(np.maximum(self.best - gaps, 0.02) if self.bounded else self.best - gaps)

    def board(self, simulation: int) -> tuple[Grid, Floats]:
        key = crc32(f"{self.name} {self.behind} {self.best}".encode())
        rng = np.random.default_rng([SEED, key, self.k, self.n, simulation])
        return self.draw(rng, self.n, self.truth()), self.truth()


def _cells(name: str, draw: Draw, ks: Sequence[int], ns: Sequence[int], bests: Sequence[float]) -> list[Cell]:
    return [Cell(name, draw, k, n, best) for k in ks for n in ns for best in bests]


_KS, _NS, _BESTS = (5, 20, 50), (50, 200, 1_000), (0.5, 0.7, 0.9, 0.95, 0.98)
CHOSEN = (
    *_cells("0/1, independent", _apart, _KS, _NS, _BESTS),
    *_cells("0/1, shared difficulty", _together, _KS, _NS, _BESTS),
    *_cells("partial credit (beta)", _credit(3.0), _KS, _NS, _BESTS),
    *_cells("0/1 in clusters of 8", _clusters(8), _KS, _NS, _BESTS),
    *(
        Cell(name, draw, k, n, 0.0, bounded=False)
        for name, draw in (("normal values", _NORMAL), ("skewed losses", _LOSSES), ("heavy tails (t4)", _HEAVY))
        for k in _KS
        for n in _NS
    ),
)
APART = (
    *(
        Cell(name, draw, k, n, best, behind=behind)
        for name, draw in (
            ("0/1, independent", _apart),
            ("0/1, shared difficulty", _together),
            ("partial credit, mostly 0 or 1", _credit(0.8)),
            ("0/1 in unequal clusters of 12", _clusters(12, unequal=True)),
            ("0/1, log-normal weights", _weights),
        )
        for k, n in ((3, 120), (10, 75), (35, 333), (100, 400))
        for best, behind in ((0.6, "equal"), (0.85, "ladder"), (0.97, "equal"), (0.93, "one"))
    ),
    *(
        Cell(name, draw, k, n, 0.0, bounded=False, behind=behind)
        for name, draw in (
            ("gamma losses", _GAMMA),
            ("unequal spread", _unequal_spread),
            ("log-normal losses", _LOG_NORMAL),
        )
        for k, n in ((2, 60), (10, 75), (35, 333))
        for behind in ("equal", "one")
    ),
)
NAMED = (
    Cell("0/1, independent", _apart, 20, 100, 0.9),
    Cell("0/1, independent", _apart, 20, 500, 0.95),
    Cell("0/1, independent", _apart, 50, 100, 0.98),
)


# ------------------------------------------------------------------------------------------ what held


@dataclass(frozen=True, slots=True)
class Top:
    """What one board's top score was worth."""

    held: bool  # the interval holds its true score
    inside: bool  # the interval is within [0, 1], where scores are
    measured: float  # − true score, in standard errors of a single model
    corrected: float
    width: float  # against that of the same model had it been the only one


def top_of(cell: Cell, simulation: int) -> Top:
    grid, truth = cell.board(simulation)
    found = fitted(grid)
    first = int(np.argmax(found.estimates))
    top = winner(grid, found, first, LEVEL, bounded=cell.bounded)
    true, error = float(truth[first]), float(np.sqrt((found.errors**2).mean())) or 1.0
    alone = winner(*_alone(grid, found, first), 0, LEVEL, bounded=cell.bounded)
    return Top(
        top.low <= true <= top.high,
        not cell.bounded or (top.low >= 0 and top.high <= 1),
        (float(found.estimates[first]) - true) / error,
        (top.value - true) / error,
        (top.high - top.low) / (alone.high - alone.low),
    )


def _alone(grid: Grid, found: Fitted, first: int) -> tuple[Grid, Fitted]:
    kept = [first]
    return Grid(grid.values[:, kept], grid.weights, grid.clusters), Fitted(
        found.estimates[kept], found.influence[:, kept]
    )


def former_holds(cell: Cell, simulation: int) -> bool:
    """The interval this replaced: max-T of the bootstrap over plausible rivals, scaled by the winner's own error."""
    grid, truth = cell.board(simulation)
    found = fitted(grid)
    draws = deviations(found, RESAMPLES, simulation)
    goodness, errors, df = found.estimates, found.errors, float(found.groups - 1)
    first, alpha, k = int(np.argmax(goodness)), 1 - LEVEL, len(goodness)
    band = t_quantile(1 - 0.1 * alpha / (k * (k - 1)), df) * found.error_of(first)
    usable, tail = (goodness[first] - goodness <= 2 * band) & (errors > 0), 0.9 * alpha / 2
    if not usable[first]:
        return bool(truth[first] == goodness[first])
    largest = (draws[:, usable] / errors[usable]).max(axis=1)
    reach = float(np.quantile(largest, 1 - tail)) * t_quantile(1 - tail, df) / normal_quantile(1 - tail)
    low = goodness[first] - reach * errors[first]
    return bool(low <= truth[first] <= goodness[first] + t_quantile(1 - tail, df) * errors[usable].max())


def plain_holds(cell: Cell, simulation: int) -> bool:
    """Clopper and Pearson's interval of the winner as if it had been the only model."""
    grid, truth = cell.board(simulation)
    right = grid.values.sum(axis=0)
    first = int(np.argmax(right))
    low, high = clopper_pearson(int(right[first]), grid.n, LEVEL)
    return bool(low <= truth[first] <= high)
