"""Leaderboards over suites: how often an order is shown that is none, and whether ranks and intervals hold."""

from dataclasses import dataclass, fields
from zlib import crc32

import numpy as np

from assay.analyses.rank.pairs import PairDecisions, decide
from assay.analyses.rank.records import Adjust
from assay.design import Design
from assay.stats.multiplicity import rank_limits
from assay.stats.ranking import fitted
from assay.stats.units import Floats, Grid

SEED = 20268
MODELS, RESAMPLES = 10, 1_999
SIZES = (30, 40, 60, 80, 100, 120, 150, 200, 250, 300, 350, 400)
_FLAT, _LADDER = np.zeros(MODELS), np.linspace(0.0, -0.9, MODELS)


@dataclass(frozen=True, eq=False)
class SuiteBoard:
    """Ten models on twelve tasks; the true means differ by what the ability of each model is worth."""

    label: str
    ability: Floats  # (k,)
    ease: float = 0.9  # of 0/1 items: the larger, the more are right
    kind: str = "0/1"  # or "real"


BOARDS = (
    SuiteBoard("all equal", _FLAT),
    SuiteBoard("all equal, nearly all right", _FLAT, ease=5.0),
    SuiteBoard("all equal, real scores", _FLAT, kind="real"),
    SuiteBoard("a ladder", _LADDER),
)


def answers(board: SuiteBoard, seed: int) -> tuple[Grid, Floats]:
    """The answers of one simulation in tasks that weigh the same, and the true means, up to a constant."""
    rng = np.random.default_rng([SEED, crc32(board.label.encode()), seed])
    strata = np.repeat(np.arange(len(SIZES)), SIZES)
    tasks = np.random.default_rng(SEED).normal(size=(len(SIZES), 1))  # as hard in every simulation
    hard = board.ease + 0.7 * tasks[strata] + 1.2 * rng.normal(size=(len(strata), 1))
    weights = (len(strata) / len(SIZES) / np.array(SIZES, dtype=np.float64))[strata]
    if board.kind == "real":
        return Grid(board.ability + hard + rng.exponential(size=(len(strata), MODELS)), weights, None, strata), (
            board.ability
        )
    right = rng.random((len(strata), MODELS)) < 1 / (1 + np.exp(-(hard + board.ability)))
    return Grid(right.astype(np.float64), weights, None, strata), _true_means(board, tasks)


def _true_means(board: SuiteBoard, tasks: Floats) -> Floats:
    """The mean chance of each model over the difficulties of items, then over tasks; by Hermite's nodes."""
    nodes, mass = np.polynomial.hermite_e.hermegauss(60)
    hard = board.ease + 0.7 * tasks + 1.2 * nodes  # (T, nodes)
    chance = 1 / (1 + np.exp(-(hard[:, :, None] + board.ability)))
    return np.asarray((chance * (mass / mass.sum())[None, :, None]).sum(axis=1).mean(axis=0))


@dataclass(frozen=True)
class BoardRates:
    """Shares of the simulations."""

    false_max_t: float  # an order is shown that is none
    false_holm: float
    false_alone: float  # without adjusting
    found_max_t: float  # of the pairs that differ, those that are told apart
    found_holm: float
    ranks: float  # all true ranks are among those left open
    intervals: float  # those beside max-T's p-values hold for all pairs
    leader: float  # the first model is another when some task is left out
    n: int


def rates(board: SuiteBoard, n: int) -> BoardRates:
    shares = np.mean([_one(board, seed) for seed in range(n)], axis=0).tolist()
    names = [one.name for one in fields(BoardRates) if one.name != "n"]
    return BoardRates(**dict(zip(names, shares, strict=True)), n=n)


def _one(board: SuiteBoard, seed: int) -> list[float]:
    grid, truth = answers(board, seed)
    found = fitted(grid)
    max_t, holm, alone = (_decided(grid, how, seed) for how in ("max-t", "holm", "none"))
    i, j = max_t.pairs.index
    gaps = truth[i] - truth[j]
    covered = bool(((max_t.low - 1e-12 <= gaps) & (gaps <= max_t.high + 1e-12)).all())
    ranks = [1 + int((truth > value + 1e-12).sum()) for value in truth]
    last = [len(truth) - int((truth < value - 1e-12).sum()) for value in truth]
    left = rank_limits(max_t.better)
    inside = all(low <= first and high >= end for (low, high), first, end in zip(left, ranks, last, strict=True))
    return [
        *(float(_false(one, truth)) for one in (max_t, holm, alone)),
        *(_found(one, truth) for one in (max_t, holm)),
        float(inside),
        float(covered),
        float(_leader_changes(grid, int(np.argmax(found.estimates)))),
    ]


def _decided(grid: Grid, adjust: Adjust, seed: int) -> PairDecisions:
    return decide(grid, fitted(grid), Design(resamples=RESAMPLES, seed=seed), adjust, lower_is_better=False)


def _false(found: PairDecisions, truth: Floats) -> bool:
    """Whether a model is shown to be better than one that is as good, or better."""
    return bool((found.better & (truth[:, None] <= truth[None, :] + 1e-12)).any())


def _found(found: PairDecisions, truth: Floats) -> float:
    ahead = truth[:, None] > truth[None, :] + 1e-12
    return float((found.better & ahead).sum() / ahead.sum()) if ahead.any() else 0.0


def _leader_changes(grid: Grid, first: int) -> bool:
    assert grid.strata is not None
    means = np.array([grid.values[grid.strata == t].mean(axis=0) for t in range(len(SIZES))])
    return any(int(np.argmax(means.sum(axis=0) - own)) != first for own in means)
