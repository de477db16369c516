"""Models whose true scores are known, and what a leaderboard of their simulated answers says about them."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from assay.analyses.rank_pairs import Decided, decide
from assay.design import Design
from assay.stats.bootstrap import interval
from assay.stats.grid import Grid
from assay.stats.model_set import confidence_set
from assay.stats.multiplicity import rank_limits
from assay.stats.ranking import Fitted, deviations, fitted, rank_quantiles
from assay.stats.shared_signs import Flips
from assay.stats.units import Floats
from assay.stats.winners import winner

SEED = 20265
RESAMPLES = 1_999

Noise = Callable[[np.random.Generator, tuple[int, int]], Floats]


@dataclass(frozen=True, eq=False)
class Board:
    """How many models and items, how the answers vary, and the true scores, the best first."""

    name: str
    items: int
    truth: Floats  # (k,) in standard deviations of an answer
    kind: str = "normal"  # "normal", "skewed", "0/1", "clusters"

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


def answers(board: Board, seed: int) -> tuple[Grid, Floats]:
    """The answers of one simulation, and the true scores on their scale."""
    rng = np.random.default_rng([SEED, [b.name for b in BOARDS].index(board.name), seed])
    n, k = board.items, board.k
    shared = rng.normal(size=(n, 1))  # what makes an item hard for all
    if board.kind == "0/1":
        # A logistic answer: the true score is the mean of the probabilities over difficulties.
        chance = 1 / (1 + np.exp(-(2 * board.truth + 1.5 * shared)))
        many = np.random.default_rng(SEED).normal(size=(20_000, 1))
        return Grid((rng.random((n, k)) < chance).astype(np.float64), np.ones(n)), _mean_chance(board.truth, many)
    noise = rng.exponential(size=(n, k)) - 1 if board.kind == "skewed" else rng.normal(size=(n, k))
    clusters = None
    if board.kind == "clusters":
        clusters = np.arange(n) // 8
        noise = np.sqrt(0.5) * noise + np.sqrt(0.5) * rng.normal(size=(n // 8, k))[clusters]
    return Grid(board.truth + 0.8 * shared + 0.6 * noise, np.ones(n), clusters), board.truth


def _mean_chance(truth: Floats, shared: Floats) -> Floats:
    return np.asarray((1 / (1 + np.exp(-(2 * truth + 1.5 * shared)))).mean(axis=0))


@dataclass(frozen=True, slots=True)
class Outcome:
    """What one simulation got right."""

    false_holm: bool  # a pair told apart that is equal, or the wrong way round
    false_max_t: bool
    false_alone: bool  # the same without adjusting
    found_holm: float  # the share of pairs that differ which were told apart; 0 where none do
    found_max_t: float
    pair_intervals: bool  # the max-T intervals of all pairs hold
    ranks: bool  # the ranks left open by the decisions hold all true ranks
    bootstrap_ranks: bool  # the bootstrap intervals of all ranks hold them
    in_set: bool  # the model confidence set holds every best model
    set_size: int
    bias: float  # top score − its true score, in standard errors
    corrected_bias: float
    top_interval: bool  # the interval of the top score holds its true score
    corrected_interval: bool


def outcome(board: Board, seed: int, level: float = 0.95) -> Outcome:
    """Everything about one simulated leaderboard."""
    grid, truth = answers(board, seed)
    design = Design(level=level, resamples=RESAMPLES, seed=seed)
    found = fitted(grid)
    draws = deviations(found, RESAMPLES, seed)
    holm, max_t, alone = (
        decide(grid, found, design, adjust, lower_is_better=False) for adjust in ("holm", "max-t", "none")
    )
    p_set = confidence_set(holm.pairs, Flips.of(grid, seed=seed), RESAMPLES)
    kept, best = p_set > 1 - level, truth >= truth.max() - 1e-12
    return Outcome(
        _false(holm, truth),
        _false(max_t, truth),
        _false(alone, truth),
        _found(holm, truth),
        _found(max_t, truth),
        _all_pairs(max_t, truth),
        _ranks_hold(rank_limits(holm.better), truth),
        _ranks_hold(rank_quantiles(found.estimates, draws, level), truth),
        bool(kept[best].all()),
        int(kept.sum()),
        *_top(grid, found, truth, level, bounded=board.kind == "0/1"),
    )


def _better(truth: Floats) -> NDArray[np.bool_]:
    return np.asarray(truth[:, None] > truth[None, :] + 1e-12)


def _false(decided: Decided, truth: Floats) -> bool:
    return bool((decided.better & ~_better(truth)).any())


def _found(decided: Decided, truth: Floats) -> float:
    differ = _better(truth)
    return float((decided.better & differ).sum() / max(differ.sum(), 1))


def _all_pairs(decided: Decided, truth: Floats) -> bool:
    i, j = decided.pairs.index
    assert decided.reach is not None
    off = np.abs(decided.pairs.difference - (truth[i] - truth[j]))
    return bool((off <= decided.reach * decided.pairs.standard_error).all())


def _ranks_hold(limits: list[tuple[int, int]], truth: Floats) -> bool:
    """Whether each interval has a rank that the model may truly have: with ties there are several."""
    better = _better(truth)
    own = [(1 + int(a), len(truth) - int(b)) for a, b in zip(better.sum(axis=0), better.sum(axis=1), strict=True)]
    return all(low <= least and most <= high for (low, high), (least, most) in zip(limits, own, strict=True))


def _top(grid: Grid, found: Fitted, truth: Floats, level: float, *, bounded: bool) -> tuple[float, float, bool, bool]:
    first = int(np.argmax(found.estimates))
    value, error, true = float(found.estimates[first]), float(found.errors[first]), float(truth[first])
    top = winner(grid, found, first, level, bounded=bounded)
    plain = interval(grid.system(first), method="t", confidence_level=level).interval
    return (
        (value - true) / error,
        (top.value - true) / error,
        plain.low <= true <= plain.high,
        top.low <= true <= top.high,
    )
