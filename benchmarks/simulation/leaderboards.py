"""Models whose true scores are known, and what a leaderboard of their simulated answers says about them."""

from collections.abc import Callable
from dataclasses import dataclass
from math import sqrt

import numpy as np
from numpy.typing import NDArray

from assay.analyses.rank.pair_tests import evidence_of
from assay.analyses.rank.pairs import PairDecisions, decided_of
from assay.analyses.rank.records import Adjust
from assay.design import Design
from assay.stats.bootstrap import interval
from assay.stats.bounded_mean import fitted_interval
from assay.stats.multiplicity import rank_limits
from assay.stats.numerics import normal_quantile, t_quantile
from assay.stats.ranking import Fitted, deviations, fitted, rank_quantiles
from assay.stats.ranking.pairs import pairs_of
from assay.stats.ranking.winner import winner
from assay.stats.units import Floats, Grid

SEED = 20265
RESAMPLES = 1_999

Noise = Callable[[np.random.Generator, tuple[int, int]], Floats]


@dataclass(frozen=True, eq=False)
class Board:
    """How many models and items, how the answers vary, and the true scores, the best first."""

    name: str
    items: int
    truth: Floats  # (k,) in standard deviations of an answer
    kind: str = "normal"  # "normal", "skewed", "0/1", "clusters", "mostly equal", "0/1 clusters"
    ease: float = 0.0  # of 0/1 items: the larger, the more are right

    @property
    def k(self) -> int:
        return len(self.truth)


_EQUAL, _SPREAD = np.zeros(10), -0.05 * np.arange(10.0)
_TWO = np.array([0.0, 0.0, *([-0.25] * 8)])

BOARDS = (
    Board("all equal", 200, _EQUAL),
    Board("all equal, skewed", 200, _EQUAL, "skewed"),
    Board("all equal, 0/1", 200, _EQUAL, "0/1"),
    Board("all equal, 30 items", 30, _EQUAL),
    Board("all equal, 30 clusters of 8", 240, _EQUAL, "clusters"),
    Board("two best, eight equal", 200, _TWO),
    Board("two best, eight equal, 0/1", 200, _TWO, "0/1"),
    Board("evenly spread", 200, _SPREAD),
)
#: Drawn up after the rules for intervals and p-values had been chosen.
APART = (
    Board("all equal, 0/1, nearly all right, 100 items", 100, _EQUAL, "0/1", 3.5),
    Board("all equal, mostly equal answers, 100 items", 100, _EQUAL, "mostly equal"),
    Board("all equal, 0/1 in 25 clusters of 6", 150, _EQUAL, "0/1 clusters"),
    Board("all equal, skewed, 40 items", 40, _EQUAL, "skewed"),
    Board("evenly spread, 0/1, mostly right, 100 items", 100, 4 * _SPREAD, "0/1", 2.0),
    Board("one best, 0/1, 60 items", 60, np.array([0.6, *([0.0] * 9)]), "0/1", 1.0),
    Board("evenly spread, skewed, 60 items", 60, 2 * _SPREAD, "skewed"),
)


def answers(board: Board, seed: int) -> tuple[Grid, Floats]:
    """The answers of one simulation, and the true scores on their scale."""
    rng = np.random.default_rng([SEED, [b.name for b in (*BOARDS, *APART)].index(board.name), seed])
    n, k = board.items, board.k
    shared = rng.normal(size=(n, 1))  # what makes an item hard for all
    if board.kind.startswith("0/1"):
        # A logistic answer: the true score is the mean of the probabilities over difficulties.
        codes = np.arange(n) // 6 if board.kind == "0/1 clusters" else None
        hard = shared if codes is None else rng.normal(size=(n, k))[codes]
        chance = 1 / (1 + np.exp(-(board.ease + 2 * board.truth + 1.5 * hard)))
        many = np.random.default_rng(SEED).normal(size=(20_000, 1))
        right = (rng.random((n, k)) < chance).astype(np.float64)
        return Grid(right, np.ones(n), codes), _mean_chance(board, many)
    if board.kind == "mostly equal":
        return Grid(shared + (rng.random((n, k)) < 0.1) * rng.normal(size=(n, k)), np.ones(n)), board.truth
    noise = rng.exponential(size=(n, k)) - 1 if board.kind == "skewed" else rng.normal(size=(n, k))
    clusters = None
    if board.kind == "clusters":
        clusters = np.arange(n) // 8
        noise = np.sqrt(0.5) * noise + np.sqrt(0.5) * rng.normal(size=(n // 8, k))[clusters]
    return Grid(board.truth + 0.8 * shared + 0.6 * noise, np.ones(n), clusters), board.truth


def _mean_chance(board: Board, shared: Floats) -> Floats:
    return np.asarray((1 / (1 + np.exp(-(board.ease + 2 * board.truth + 1.5 * shared)))).mean(axis=0))


@dataclass(frozen=True, slots=True)
class Outcome:
    """What one simulation got right."""

    false_holm: bool  # a pair told apart that is equal, or the wrong way round
    false_max_t: bool
    false_alone: bool  # the same without adjusting
    found_holm: float  # the share of pairs that differ which were told apart; 0 where none do
    found_max_t: float
    holm_intervals: bool  # the intervals beside Holm's p-values hold for all pairs
    max_t_intervals: bool  # those beside max-T's
    ranks: bool  # the ranks left open by the decisions hold all true ranks
    bootstrap_ranks: bool  # the bootstrap intervals of all ranks hold them
    best_kept: bool  # every best model is among those that may be best by Holm's decisions
    may_be_best: int  # how many these are
    best_kept_max_t: bool  # the same by max-T's
    may_be_best_max_t: int
    bias: float  # top score − its true score, in standard errors
    corrected_bias: float
    top_interval: bool  # the interval of the top score holds its true score
    corrected_interval: bool


def outcome(board: Board, seed: int, level: float = 0.95) -> Outcome:
    """Everything about one simulated leaderboard."""
    grid, truth = answers(board, seed)
    design = Design(level=level, seed=seed)
    found = fitted(grid)
    draws = deviations(found, RESAMPLES, seed)
    holm, max_t, alone = decisions(grid, found, design)
    return Outcome(
        _false(holm, truth),
        _false(max_t, truth),
        _false(alone, truth),
        _found(holm, truth),
        _found(max_t, truth),
        _all_pairs(holm, truth),
        _all_pairs(max_t, truth),
        _ranks_hold(rank_limits(holm.better), truth),
        _ranks_hold(rank_quantiles(found.estimates, draws, level), truth),
        *(*kept(holm, truth), *kept(max_t, truth)),
        *_top(grid, found, truth, level, bounded=board.kind.startswith("0/1")),
    )


def kept(decided: PairDecisions, truth: Floats) -> tuple[bool, int]:
    """Whether every best model may be best by the decisions, and how many models may."""
    inside = np.array([low == 1 for low, _ in rank_limits(decided.better)])
    return bool(inside[truth >= truth.max() - 1e-12].all()), int(inside.sum())


def _better(truth: Floats) -> NDArray[np.bool_]:
    return np.asarray(truth[:, None] > truth[None, :] + 1e-12)


def _false(decided: PairDecisions, truth: Floats) -> bool:
    return bool((decided.better & ~_better(truth)).any())


def _found(decided: PairDecisions, truth: Floats) -> float:
    differ = _better(truth)
    return float((decided.better & differ).sum() / max(differ.sum(), 1))


def decisions(grid: Grid, found: Fitted, design: Design) -> tuple[PairDecisions, PairDecisions, PairDecisions]:
    """By Holm, by max-T, and without adjusting; the evidence, which takes the time, is gathered once."""
    pairs = pairs_of(grid)
    evidence = evidence_of(pairs, design, 1 - (1 - design.level) / len(pairs.units), scores=True)
    adjustments: tuple[Adjust, Adjust, Adjust] = ("holm", "max-t", "none")
    first, second, third = (
        decided_of(evidence, found, design, adjust, lower_is_better=False) for adjust in adjustments
    )
    return first, second, third


def _all_pairs(decided: PairDecisions, truth: Floats) -> bool:
    i, j = decided.pairs.index
    gaps = truth[i] - truth[j]
    return bool(((decided.low <= gaps + 1e-12) & (gaps <= decided.high + 1e-12)).all())


def _ranks_hold(limits: list[tuple[int, int]], truth: Floats) -> bool:
    """Whether each interval has a rank that the model may truly have: with ties there are several."""
    better = _better(truth)
    own = [(1 + int(a), len(truth) - int(b)) for a, b in zip(better.sum(axis=0), better.sum(axis=1), strict=True)]
    return all(low <= least and most <= high for (low, high), (least, most) in zip(limits, own, strict=True))


def _top(grid: Grid, found: Fitted, truth: Floats, level: float, *, bounded: bool) -> tuple[float, float, bool, bool]:
    first = int(np.argmax(found.estimates))
    value, error, true = float(found.estimates[first]), float(found.errors[first]) or 1.0, float(truth[first])
    top = winner(grid, found, first, level, bounded=bounded)
    plain = interval(grid.system(first), method="t", confidence_level=level).interval
    return (
        (value - true) / error,
        (top.value - true) / error,
        plain.low <= true <= plain.high,
        top.low <= true <= top.high,
    )


def holes_held(accuracy: float, n: int, missing: float, simulations: int) -> tuple[float, float]:
    """How often the accuracy of four models is held where answers are missing: as `rank` does it, and by t."""
    ours, other = 0, 0
    for simulation in range(simulations):
        rng = np.random.default_rng([SEED, n, round(100 * accuracy), round(100 * missing), simulation])
        skill = sqrt(2) * normal_quantile(accuracy)
        values = (skill + rng.normal(size=(n, 1)) + rng.normal(size=(n, 4)) > 0).astype(np.float64)
        values[rng.random((n, 4)) < missing] = np.nan
        values = values[~np.isnan(values).all(axis=1)]
        grid = Grid(values, np.ones(len(values)))
        found, reach = fitted(grid), t_quantile(0.975, grid.groups - 1)
        for i, (value, error) in enumerate(zip(found.estimates.tolist(), found.errors.tolist(), strict=True)):
            answers = float(grid.present[:, i].sum())
            limits = fitted_interval(value, error, answers, grid.groups, 0.95, right_or_wrong=True)
            ours += limits.low <= accuracy <= limits.high
            other += abs(value - accuracy) <= reach * error
    return ours / (4 * simulations), other / (4 * simulations)
