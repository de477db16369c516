"""The parts of a leaderboard: a model's standing, a pair of models, the winner, and what other weights would change."""

from collections.abc import Iterator, Sequence
from typing import Literal, Self

import msgspec

from assay.analyses.contrast import Reliance
from assay.results import words
from assay.stats.records import Estimate, Interval, Test

Adjust = Literal["holm", "bh", "max-t", "none"]
PairVerdict = Literal["better", "worse", "not told apart"]
Ranks = tuple[int, int]
Numbers = tuple[float | None, ...]
Reasons = tuple[str | None, ...]

_WEIGHTS = {"equal": "equal", "n": "n", "sqrt": "√n", "log": "log n", "macro": "mean of the tasks", "items": "by items"}


def ranks_text(ranks: Ranks) -> str:
    """``3``, or ``1–3``."""
    low, high = ranks
    return str(low) if low == high else f"{low}–{high}"


class Standing(msgspec.Struct, frozen=True):
    """One model: its estimate, and everything that is known of its place."""

    name: str
    rank: int  # 1 + how many models have a better estimate
    estimate: Estimate  # mean score, or mean loss in nats; as if the model had answered every unit
    perplexity: Estimate | None  # losses: the exponential
    mean: float  # over the units that the model answered
    answered: int  # units
    tier: int
    letters: tuple[str, ...]  # shared exactly with the models that it is not shown to differ from
    ranks: Ranks  # that the decisions on all pairs leave open
    bootstrap_ranks: Ranks  # the central share of the ranks in the replicates
    probability_best: float  # share of the replicates in which it is the best
    set_p_value: float  # the smallest adjusted p of the pairs in which another is ahead; 1: none is
    in_confidence_set: bool  # whether it may be the best: no other is shown to be better, ``ranks`` begin at 1
    data: str = ""  # a digest of its answers and of what it was asked: the same on another board if nothing changed

    @property
    def ranks_text(self) -> str:
        return ranks_text(self.ranks)

    @property
    def tier_text(self) -> str:
        """The tier and its letters, of which a row is shown by the first and the last: ``1 a–f``."""
        found = self.letters
        single = all(len(letter) == 1 for letter in found)
        if len(found) > 3 and single and ord(found[-1]) - ord(found[0]) == len(found) - 1:
            shown = f"{found[0]}–{found[-1]}"
        else:
            shown = f"{found[0]}…{found[-1]}" if len(found) > 4 else ("" if single else ",").join(found)
        return f"{self.tier} {shown}"


class RankedPair(msgspec.Struct, frozen=True):
    """Two models, the one with the better rank first, on the units that both have answered."""

    a: str
    b: str
    verdict: PairVerdict  # what A is shown to be
    difference: Estimate  # A − B
    test: Test
    p_adjusted: float | None  # for the number of pairs
    effect_sizes: dict[str, Estimate]
    reliance: Reliance = "firm"  # whether a verdict may rest on what the two share
    alone: Interval | None = None  # of the difference, for this pair by itself: not adjusted


class EstimateColumns(msgspec.Struct, frozen=True, kw_only=True):
    """An estimate for each pair, as columns."""

    value: Numbers
    low: Numbers  # limits of the interval
    high: Numbers
    method: tuple[str | None, ...]  # of the interval
    standard_error: Numbers
    n: tuple[int, ...]
    reason: Reasons  # why something is None

    @classmethod
    def of(cls, found: Sequence[Estimate]) -> Self:
        limits = [estimate.interval for estimate in found]
        return cls(
            value=tuple(estimate.value for estimate in found),
            low=tuple(None if one is None else one.low for one in limits),
            high=tuple(None if one is None else one.high for one in limits),
            method=tuple(None if one is None else one.method for one in limits),
            standard_error=tuple(estimate.standard_error for estimate in found),
            n=tuple(estimate.n for estimate in found),
            reason=tuple(estimate.reason for estimate in found),
        )

    def interval(self, place: int, level: float) -> Interval | None:
        low, high, method = self.low[place], self.high[place], self.method[place]
        return None if low is None or high is None or method is None else Interval(low, high, level, method)

    def at(self, place: int, level: float) -> Estimate:
        limits, error = self.interval(place, level), self.standard_error[place]
        return Estimate(self.value[place], limits, error, self.n[place], self.reason[place])


class PairTestColumns(msgspec.Struct, frozen=True, kw_only=True):
    """A test for each pair, as columns."""

    name: str | tuple[str, ...]  # of all pairs, or of each where they differ
    statistic: Numbers
    p_value: Numbers
    n: tuple[int, ...]
    reason: Reasons
    sampled: bool | tuple[bool, ...] = False  # whether p is a share of random sign flips, of all pairs or of each

    def is_sampled(self, place: int) -> bool:
        return self.sampled if isinstance(self.sampled, bool) else self.sampled[place]

    @property
    def names(self) -> str:
        """The test, or the tests that pairs have."""
        return self.name if isinstance(self.name, str) else " and ".join(sorted(set(self.name)))

    def at(self, place: int) -> Test:
        name = self.name if isinstance(self.name, str) else self.name[place]
        return Test(name, self.statistic[place], self.p_value[place], self.n[place], self.reason[place])


class LimitColumns(msgspec.Struct, frozen=True, kw_only=True):
    """An interval for each pair, as columns."""

    low: Numbers
    high: Numbers
    method: tuple[str | None, ...]

    def at(self, place: int, level: float) -> Interval | None:
        low, high, method = self.low[place], self.high[place], self.method[place]
        return None if low is None or high is None or method is None else Interval(low, high, level, method)


class RankedPairs(msgspec.Struct, frozen=True, kw_only=True):
    """Every pair of models in the order of the ranks, as columns: 500 models have 124,750 pairs."""

    level: float  # of the intervals
    a: tuple[str, ...]
    b: tuple[str, ...]
    verdict: tuple[PairVerdict, ...]
    difference: EstimateColumns
    test: PairTestColumns
    p_adjusted: Numbers
    effect_sizes: dict[str, EstimateColumns]
    reliance: Reliance | tuple[Reliance, ...] = "firm"  # of all pairs, or of each where they differ
    alone: LimitColumns | None = None  # of the differences, each pair by itself; None: `difference` has them

    def __post_init__(self) -> None:
        parts = (self.difference, self.test, *self.effect_sizes.values(), *([self.alone] if self.alone else []))
        inner = [column for part in parts for column in msgspec.structs.astuple(part) if isinstance(column, tuple)]
        inner += [self.reliance] if isinstance(self.reliance, tuple) else []
        if {len(column) for column in (self.b, self.verdict, self.p_adjusted, *inner)} != {len(self.a)}:
            raise ValueError("columns of pairs must have the same length")

    def __len__(self) -> int:
        return len(self.a)

    def __getitem__(self, place: int) -> RankedPair:
        return RankedPair(
            self.a[place],
            self.b[place],
            self.verdict[place],
            self.difference.at(place, self.level),
            self.test.at(place),
            self.p_adjusted[place],
            {name: column.at(place, self.level) for name, column in self.effect_sizes.items()},
            self.reliance if isinstance(self.reliance, str) else self.reliance[place],
            self.unadjusted(place),
        )

    def unadjusted(self, place: int) -> Interval | None:
        """The interval of a pair by itself."""
        found = self.difference.interval if self.alone is None else self.alone.at
        return found(place, self.level)

    def __iter__(self) -> Iterator[RankedPair]:
        return map(self.__getitem__, range(len(self)))

    @property
    def told_apart(self) -> int:
        """How many pairs are shown to differ."""
        return sum(verdict != "not told apart" for verdict in self.verdict)


class TopScore(msgspec.Struct, frozen=True):
    """The best estimate, and what is left of it when one allows for its having been the best of k."""

    name: str
    estimate: float
    bias: float  # the luck in the estimate: estimate − corrected; negative where lower is better
    corrected: Estimate  # what the estimate is worth without the luck; the interval holds in spite of the choice
    rivals: float  # how many others could have come first, each counted by how close it is: 0 … k − 1


class Move(msgspec.Struct, frozen=True):
    """A model that changes rank under other weights."""

    name: str
    rank: int  # on equal weights and all units
    to: int

    def __str__(self) -> str:
        return f"{self.name} {self.rank} → {self.to}"


class Reweighting(msgspec.Struct, frozen=True):
    """The ranking under other weights, against equal weights and all units."""

    weights: str  # "equal", "n", "sqrt", "log"; of tasks "macro", "items"
    min_n: int | None
    units: int  # how many are left
    tau: float | None  # Kendall's τ-b of the estimates; None where all tie
    moves: tuple[Move, ...]
    reversed: int  # pairs that this leaderboard tells apart and that change their order

    def text(self, unit: str, against: str = "equal weights") -> str:
        """``√n, n ≥ 30 (312 items): τ = 0.97 with equal weights, 2 models moved (x 3 → 4, y 4 → 3); no pair …``."""
        least = "" if self.min_n is None else f", n ≥ {self.min_n:,} ({words.count(self.units, unit)})"
        tau = "τ undefined" if self.tau is None else f"τ = {self.tau:.3g}"
        start = f"{_WEIGHTS[self.weights]}{least}: {tau} with {against}"
        if not self.moves:
            return f"{start}, no model moves"
        moves = ", ".join(map(str, self.moves[:4]))
        more = f" and {len(self.moves) - 4} more" if len(self.moves) > 4 else ""
        pairs = "no pair" if not self.reversed else words.count(self.reversed, "pair")
        changed = f"{pairs} told apart {'change' if self.reversed > 1 else 'changes'} order"
        return f"{start}, {words.count(len(self.moves), 'model')} moved ({moves}{more}); {changed}"


class BoardTask(msgspec.Struct, frozen=True, kw_only=True):
    """One task of a leaderboard over several: the score of every model, in the order of the ranks."""

    task: str
    n: int  # units
    weight: float  # in the total
    scores: Numbers  # as if a model had answered every unit of the task
    standard_errors: Numbers


class RestsOn(msgspec.Struct, frozen=True):
    """A pair that is told apart: the task that adds most to the lead of A, and what is left without it."""

    a: str
    b: str
    lead: float  # of A, in the direction that is better
    task: str
    part: float  # of the lead, in the task: its weight times the difference there
    without: float  # the lead in the mean of the other tasks; 0 or less: without the task B would be ahead

    @property
    def turns(self) -> bool:
        """Whether the order would turn around, or be lost, without the task."""
        return self.without <= 0


class RankMethods(msgspec.Struct, frozen=True):
    """How the numbers came about: what ran, as opposed to what the design asked for."""

    tests: str  # "exact", "shared signs", "closed form"
    flips: int | None  # random sign flips; None: none
    intervals: str  # of single models: the method
    pair_intervals: str  # of differences: the method, and whether they hold for all pairs at once
    resamples: int  # bootstrap replicates of all models together
    simultaneous: bool = False  # whether the intervals of differences hold for all pairs at once
