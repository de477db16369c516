"""The parts of a reliability result: the runs of each model, and the models across runs."""

from dataclasses import asdict, dataclass
from typing import Any

from assay.stats.rank_stability import RankStability
from assay.stats.records import Estimate, Interval, Test
from assay.stats.reliability import Component


@dataclass(frozen=True, slots=True)
class ModelRuns:
    """One model: its items are the targets, its runs the raters."""

    name: str
    runs: tuple[str, ...]
    scores: tuple[float, ...]  # overall, run by run
    score: float  # their mean
    run_sd: Estimate  # standard deviation of the overall score between runs
    expected_run_sd: float | None  # what independent noise of the items (or clusters) alone would give
    run_effect: Test  # do runs differ by more than that?
    item_sd: Estimate  # standard deviation between the runs of a single item, pooled over items
    icc: dict[str, Estimate]
    components: tuple[Component, ...]

    def to_dict(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "runs": list(self.runs),
            "scores": list(self.scores),
            "score": self.score,
            "run_sd": self.run_sd.to_dict(),
            "expected_run_sd": self.expected_run_sd,
            "run_effect": self.run_effect.to_dict(),
            "item_sd": self.item_sd.to_dict(),
            "icc": {name: estimate.to_dict() for name, estimate in self.icc.items()},
            "components": [component.to_dict() for component in self.components],
        }

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> "ModelRuns":
        return cls(
            data["name"],
            tuple(data["runs"]),
            tuple(data["scores"]),
            data["score"],
            Estimate.from_dict(data["run_sd"]),
            data["expected_run_sd"],
            Test.from_dict(data["run_effect"]),
            Estimate.from_dict(data["item_sd"]),
            {name: Estimate.from_dict(value) for name, value in data["icc"].items()},
            tuple(Component.from_dict(component) for component in data["components"]),
        )


@dataclass(frozen=True, slots=True)
class Pair:
    """Two models, the one with the better mean score first."""

    ahead: str
    behind: str
    difference: float  # of the mean scores, ahead − behind
    repeats: Estimate  # the probability that two runs put them in the same order
    error: float | None  # standard error of the difference over new items and new runs
    detectable: float | None  # the difference that these items and runs would detect

    def to_dict(self) -> dict[str, Any]:
        return asdict(self) | {"repeats": self.repeats.to_dict()}

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> "Pair":
        return cls(**(data | {"repeats": Estimate.from_dict(data["repeats"])}))


@dataclass(frozen=True, slots=True)
class Across:
    """Several models: they are the targets, the runs that all of them have the raters."""

    n_runs: int
    order: tuple[str, ...]  # of the models by their mean score, best first
    icc: dict[str, Estimate]
    components: tuple[Component, ...]
    stability: RankStability
    pairs: tuple[Pair, ...]  # all of them; of many models, neighbours in the order of scores only

    def to_dict(self) -> dict[str, Any]:
        return {
            "n_runs": self.n_runs,
            "order": list(self.order),
            "icc": {name: estimate.to_dict() for name, estimate in self.icc.items()},
            "components": [component.to_dict() for component in self.components],
            "stability": self.stability.to_dict(),
            "pairs": [pair.to_dict() for pair in self.pairs],
        }

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> "Across":
        return cls(
            data["n_runs"],
            tuple(data["order"]),
            {name: Estimate.from_dict(value) for name, value in data["icc"].items()},
            tuple(Component.from_dict(component) for component in data["components"]),
            RankStability.from_dict(data["stability"]),
            tuple(Pair.from_dict(pair) for pair in data["pairs"]),
        )


@dataclass(frozen=True, slots=True)
class Detectable:
    """The smallest difference of two models that run-to-run noise lets a test find, on the same items."""

    one_run: float | None  # of a single run of each
    all_runs: float | None  # of the means of as many runs as there are
    n_runs: int
    reason: str | None = None
    one_run_limits: Interval | None = None  # what the noise may be, and so the difference
    all_runs_limits: Interval | None = None

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> "Detectable":
        limits = {name: data[name] for name in ("one_run_limits", "all_runs_limits")}
        found = {name: None if limit is None else Interval.from_dict(limit) for name, limit in limits.items()}
        return cls(**(data | found))
