"""The parts of a Japanese result: quantities of systems, and their differences."""

from dataclasses import asdict, dataclass
from typing import Any, Literal

from assay.stats.records import Estimate, Test

Scale = Literal["share", "score", "bits"]  # shown as per cent, as points from 0 to 100, as bits


@dataclass(frozen=True, slots=True)
class Quantity:
    """What is measured: its key in the JSON, and how it is shown."""

    key: str  # "accuracy", "accuracy/kanji", "cer", "bleu/ja-mecab", …
    label: str
    scale: Scale
    lower_is_better: bool = False

    @property
    def part(self) -> str | None:
        """The script or tokenizer, where it is of one."""
        return self.key.partition("/")[2] or None


@dataclass(frozen=True, slots=True)
class Value:
    """A quantity of one system."""

    quantity: Quantity
    estimate: Estimate
    characters: int | None = None  # that it is of

    def to_dict(self) -> dict[str, Any]:
        return {
            "quantity": asdict(self.quantity),
            "estimate": self.estimate.to_dict(),
            "characters": self.characters,
        }

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> "Value":
        return cls(Quantity(**data["quantity"]), Estimate.from_dict(data["estimate"]), data["characters"])


@dataclass(frozen=True, slots=True)
class System:
    """Everything that was measured of one system."""

    name: str
    values: tuple[Value, ...]

    def value(self, key: str) -> Value:
        """The value of a quantity; KeyError where it was not measured."""
        for value in self.values:
            if value.quantity.key == key:
                return value
        raise KeyError(key)

    def to_dict(self) -> dict[str, Any]:
        return {"name": self.name, "values": [value.to_dict() for value in self.values]}

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> "System":
        return cls(data["name"], tuple(Value.from_dict(value) for value in data["values"]))


@dataclass(frozen=True, slots=True)
class Gap:
    """B − A in one quantity."""

    quantity: Quantity
    difference: Estimate
    randomization: Test
    bootstrap: Test

    def to_dict(self) -> dict[str, Any]:
        return {
            "quantity": asdict(self.quantity),
            "difference": self.difference.to_dict(),
            "randomization": self.randomization.to_dict(),
            "bootstrap": self.bootstrap.to_dict(),
        }

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> "Gap":
        return cls(
            Quantity(**data["quantity"]),
            Estimate.from_dict(data["difference"]),
            Test.from_dict(data["randomization"]),
            Test.from_dict(data["bootstrap"]),
        )


@dataclass(frozen=True, slots=True)
class Pair:
    """The difference of two systems on the same sentences or documents."""

    a: str
    b: str
    gaps: tuple[Gap, ...]
    sentence: str
    headline: str | None = None  # the key of the quantity that the sentence is about

    def gap(self, key: str) -> Gap:
        """The difference in a quantity; KeyError where it was not measured."""
        for gap in self.gaps:
            if gap.quantity.key == key:
                return gap
        raise KeyError(key)

    def to_dict(self) -> dict[str, Any]:
        return {
            "a": self.a,
            "b": self.b,
            "sentence": self.sentence,
            "headline": self.headline,
            "gaps": [gap.to_dict() for gap in self.gaps],
        }

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> "Pair":
        gaps = tuple(Gap.from_dict(gap) for gap in data["gaps"])
        return cls(data["a"], data["b"], gaps, data["sentence"], data["headline"])
