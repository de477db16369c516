"""The parts of a leaderboard: a model's standing, a pair of models, the winner, and what other weights would change."""

from dataclasses import asdict, dataclass
from typing import Any, Literal

from assay.analyses.result import Result
from assay.data import Kind
from assay.design import Design
from assay.errors import InputError
from assay.stats.records import Estimate, Fallback, Test

Adjust = Literal["holm", "bh", "max-t", "none"]
PairVerdict = Literal["better", "worse", "not told apart"]
Ranks = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Standing:
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
    set_p_value: float  # of the model confidence set
    in_confidence_set: bool

    def to_dict(self) -> dict[str, Any]:
        found = {name: getattr(self, name) for name in self.__slots__}
        shown = None if self.perplexity is None else self.perplexity.to_dict()
        found |= {"estimate": self.estimate.to_dict(), "perplexity": shown}
        return found | {name: list(found[name]) for name in ("letters", "ranks", "bootstrap_ranks")}

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> "Standing":
        shown = None if data["perplexity"] is None else Estimate.from_dict(data["perplexity"])
        found = data | {"estimate": Estimate.from_dict(data["estimate"]), "perplexity": shown}
        return cls(**(found | {name: tuple(data[name]) for name in ("letters", "ranks", "bootstrap_ranks")}))


@dataclass(frozen=True, slots=True)
class Pair:
    """Two models, the one with the better rank first, on the units that both have answered."""

    a: str
    b: str
    difference: Estimate  # A − B
    test: Test
    p_adjusted: float | None  # for the number of pairs
    effect_sizes: dict[str, Estimate]
    verdict: PairVerdict  # what A is shown to be

    def to_dict(self) -> dict[str, Any]:
        return {
            "a": self.a,
            "b": self.b,
            "verdict": self.verdict,
            "difference": self.difference.to_dict(),
            "test": self.test.to_dict(),
            "p_adjusted": self.p_adjusted,
            "effect_sizes": {name: estimate.to_dict() for name, estimate in self.effect_sizes.items()},
        }

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> "Pair":
        sizes = {name: Estimate.from_dict(value) for name, value in data["effect_sizes"].items()}
        found = data | {"difference": Estimate.from_dict(data["difference"]), "test": Test.from_dict(data["test"])}
        return cls(**(found | {"effect_sizes": sizes}))


@dataclass(frozen=True, slots=True)
class TopScore:
    """The best estimate, and what is left of it when one allows for its having been the best of k."""

    name: str
    estimate: float
    bias: float  # the luck in the estimate: estimate − corrected; negative where lower is better
    corrected: Estimate  # what the estimate is worth without the luck; the interval holds in spite of the choice
    rivals: float  # how many others could have come first, each counted by how close it is: 0 … k − 1

    def to_dict(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in self.__slots__} | {"corrected": self.corrected.to_dict()}

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> "TopScore":
        return cls(**(data | {"corrected": Estimate.from_dict(data["corrected"])}))


@dataclass(frozen=True, slots=True)
class Move:
    """A model whose rank is another under other weights."""

    name: str
    rank: int  # on equal weights and all units
    to: int


@dataclass(frozen=True, slots=True)
class Reweighting:
    """The ranking under other weights, against equal weights and all units."""

    weights: str  # "equal", "n", "sqrt", "log"
    min_n: int | None
    units: int  # how many are left
    tau: float | None  # Kendall's τ-b of the estimates; None where all tie
    moves: tuple[Move, ...]
    reversed: int  # pairs that this leaderboard tells apart and that change their order

    def to_dict(self) -> dict[str, Any]:
        return asdict(self) | {"moves": [asdict(move) for move in self.moves]}

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> "Reweighting":
        return cls(**(data | {"moves": tuple(Move(**move) for move in data["moves"])}))


@dataclass(frozen=True, slots=True)
class Computed:
    """How the numbers came about: what ran, as opposed to what the design asked for."""

    tests: str  # "exact", "shared signs", "closed form"
    flips: int | None  # random sign flips; None: none
    intervals: str  # of single models: the method
    pair_intervals: str  # of differences: the method, and whether they hold for all pairs at once
    resamples: int  # bootstrap replicates of all models together
    simultaneous: bool = False  # whether the intervals of differences hold for all pairs at once


@dataclass(frozen=True, slots=True)
class Board(Result):
    """What `rank` found: the facts of a leaderboard, without how they are shown."""

    metric: Kind
    unit: str  # "window", "item"
    lower_is_better: bool
    sentence: str
    models: tuple[Standing, ...]  # the best first
    pairs: tuple[Pair, ...]  # every pair, in the order of the ranks
    top: TopScore
    adjust: Adjust
    reweightings: tuple[Reweighting, ...]
    n_units: int
    n_complete: int  # units that every model has answered
    n_clusters: int | None
    cluster_by: str | None
    fallbacks: tuple[Fallback, ...]
    notes: tuple[str, ...]
    design: Design
    computed: Computed
    signature: str

    @property
    def tiers(self) -> tuple[tuple[str, ...], ...]:
        """The names of the models in each tier."""
        count = self.models[-1].tier
        return tuple(tuple(m.name for m in self.models if m.tier == tier) for tier in range(1, count + 1))

    @property
    def confidence_set(self) -> tuple[str, ...]:
        """The models that hold the best one at the level of the design."""
        return tuple(model.name for model in self.models if model.in_confidence_set)

    def pair(self, a: str, b: str) -> Pair:
        """The record of two models, whichever is ranked first."""
        for found in self.pairs:
            if {found.a, found.b} == {a, b}:
                return found
        raise InputError(f"no pair {a!r} and {b!r} among the models {', '.join(m.name for m in self.models)}.")
