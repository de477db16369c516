"""The parts of a context curve: models and differences, bin by bin."""

from dataclasses import asdict, dataclass
from typing import Any

from assay.data.runs.positions import Bin
from assay.stats.records import Estimate, Test


@dataclass(frozen=True, slots=True)
class Point:
    """One model at the positions of one bin."""

    bin: Bin
    tokens: int
    loss: Estimate  # nats per token; the interval holds for this bin alone
    perplexity: Estimate
    gain: Estimate | None  # loss here − loss at all later positions, within documents; None in the last bin
    test: Test | None  # of no gain, adjusted for the number of bins

    def to_dict(self) -> dict[str, Any]:
        return {
            **asdict(self.bin),
            "tokens": self.tokens,
            "loss": self.loss.to_dict(),
            "perplexity": self.perplexity.to_dict(),
            "gain": None if self.gain is None else self.gain.to_dict(),
            "test": None if self.test is None else self.test.to_dict(),
        }

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> "Point":
        return cls(
            Bin(data["low"], data["high"]),
            data["tokens"],
            Estimate.from_dict(data["loss"]),
            Estimate.from_dict(data["perplexity"]),
            None if data["gain"] is None else Estimate.from_dict(data["gain"]),
            None if data["test"] is None else Test.from_dict(data["test"]),
        )


@dataclass(frozen=True, slots=True)
class ModelCurve:
    """One model along its context, and how far context helps it."""

    name: str
    points: tuple[Point, ...]
    helps_until: int | None  # end of the first bin after which no improvement is shown; None: none is shown at all
    slope: Estimate  # nats per doubling of the position, from slope_from on
    slope_from: int
    sentence: str

    @property
    def still_helps(self) -> bool:
        """Whether improvement is shown up to the longest context that was measured."""
        return self.helps_until == self.points[-1].bin.high

    def to_dict(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "sentence": self.sentence,
            "helps_until": self.helps_until,
            "still_helps": self.still_helps,
            "slope": self.slope.to_dict(),
            "slope_from": self.slope_from,
            "bins": [point.to_dict() for point in self.points],
        }

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> "ModelCurve":
        return cls(
            data["name"],
            tuple(Point.from_dict(point) for point in data["bins"]),
            data["helps_until"],
            Estimate.from_dict(data["slope"]),
            data["slope_from"],
            data["sentence"],
        )


@dataclass(frozen=True, slots=True)
class Gap:
    """B − A at the positions of one bin, in nats per token."""

    bin: Bin
    difference: Estimate  # the interval holds for this bin alone
    adjusted: Estimate  # the interval holds for all bins at once
    test: Test  # adjusted for the number of bins

    def to_dict(self) -> dict[str, Any]:
        estimates = {"difference": self.difference.to_dict(), "adjusted": self.adjusted.to_dict()}
        return {**asdict(self.bin), **estimates, "test": self.test.to_dict()}

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> "Gap":
        difference, adjusted = (Estimate.from_dict(data[name]) for name in ("difference", "adjusted"))
        return cls(Bin(data["low"], data["high"]), difference, adjusted, Test.from_dict(data["test"]))


@dataclass(frozen=True, slots=True)
class PairCurve:
    """The difference of two models along their context."""

    a: str
    b: str
    gaps: tuple[Gap, ...]
    sentence: str

    def to_dict(self) -> dict[str, Any]:
        return {"a": self.a, "b": self.b, "sentence": self.sentence, "bins": [gap.to_dict() for gap in self.gaps]}

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> "PairCurve":
        return cls(data["a"], data["b"], tuple(Gap.from_dict(gap) for gap in data["bins"]), data["sentence"])
