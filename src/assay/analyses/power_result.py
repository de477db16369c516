"""The record that `power` returns."""

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Literal

from assay.analyses import power_tables as tables
from assay.analyses.power_pilot import Pilot
from assay.analyses.result import Result, Row
from assay.errors import InputError
from assay.stats.power_plans import Goal
from assay.stats.records import Estimate

if TYPE_CHECKING:
    import pandas as pd

SCHEMA = "assay/power/1"

Question = Literal["items", "difference", "power"]


@dataclass(frozen=True, slots=True)
class CurvePoint:
    """What so many items would give: the power, or the detectable difference; and the pilot's limits of it."""

    items: int
    value: float | None
    low: float | None
    high: float | None


@dataclass(frozen=True, slots=True)
class Power(Result):
    """How many items, how small a difference, or how much power: two are given, the third is the answer."""

    question: Question
    sentence: str
    answer: Estimate  # the interval is that of the pilot's estimate; none where numbers were given
    items: int
    difference: float | None  # None: not even the largest possible one is detected
    power: float | None
    test: str  # "t", "mcnemar-midp", "mcnemar", "mcnemar-score", "equivalence"
    unit: str  # "item", "window"
    clusters: float | None  # that these items make, where they come in clusters
    goal: Goal
    assumptions: dict[str, float]  # the numbers that were given, or that the pilot gave
    pilot: Pilot | None
    curve: tuple[CurvePoint, ...]  # from a quarter to four times the items
    notes: tuple[str, ...]
    signature: str

    def evidence(self) -> list[Row]:
        rows = [*tables.answer_rows(self), *tables.assumption_rows(self)]
        if self.pilot is not None:
            rows += tables.pilot_rows(self.pilot)
        rows += [("note", note) for note in self.notes]
        return [*rows, ("", ""), *tables.curve_rows(self), ("", ""), ("signature", self.signature)]

    def to_frame(self) -> "pd.DataFrame":
        """The curve, a row per number of items (pandas must be installed)."""
        import pandas as pd  # late: half a second, and not a dependency

        return pd.DataFrame([asdict(point) for point in self.curve])

    def to_dict(self) -> dict[str, Any]:
        """Plain data, exact and versioned: `from_dict` gives the same record back."""
        return {
            "schema": SCHEMA,
            "question": self.question,
            "sentence": self.sentence,
            "answer": self.answer.to_dict(),
            "items": self.items,
            "difference": self.difference,
            "power": self.power,
            "test": self.test,
            "unit": self.unit,
            "clusters": self.clusters,
            "goal": asdict(self.goal),
            "assumptions": dict(self.assumptions),
            "pilot": None if self.pilot is None else self.pilot.to_dict(),
            "curve": [asdict(point) for point in self.curve],
            "notes": list(self.notes),
            "signature": self.signature,
        }

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> "Power":
        """The record that `to_dict` wrote."""
        if data.get("schema") != SCHEMA:
            raise InputError(f"this is no result of power: schema must be {SCHEMA!r}, but got {data.get('schema')!r}.")
        read = {
            "answer": Estimate.from_dict(data["answer"]),
            "goal": Goal(**data["goal"]),
            "pilot": None if data["pilot"] is None else Pilot.from_dict(data["pilot"]),
            "curve": tuple(CurvePoint(**point) for point in data["curve"]),
            "notes": tuple(data["notes"]),
        }
        return cls(**({name: value for name, value in data.items() if name != "schema"} | read))
