"""The record that `tune` returns."""

from dataclasses import asdict, dataclass
from typing import Any

from assay.analyses import tuning_tables as tables
from assay.analyses.records import plain, restored
from assay.analyses.result import Result, Row
from assay.analyses.sheet import Sheet
from assay.analyses.tuning_criteria import Targets
from assay.analyses.tuning_records import Arm, Contrast, Criterion, Recommendation, Sensitivity
from assay.design import Design
from assay.errors import InputError

SCHEMA = "assay/tuning/1"


@dataclass(frozen=True, slots=True)
class TuningReport(Result):
    """Training runs side by side: what they cost, how they converge, and whether one is really better."""

    sentence: str
    arms: tuple[Arm, ...]
    baseline: str | None
    contrasts: tuple[Contrast, ...]
    sensitivity: tuple[Sensitivity, ...]
    criteria: tuple[Criterion, ...]
    recommendations: tuple[Recommendation, ...]
    notes: tuple[str, ...]
    targets: Targets
    design: Design
    signature: str
    kind: str = "tuning"

    def arm(self, name: str) -> Arm:
        return next(arm for arm in self.arms if arm.name == name)

    def sheets(self) -> list[Sheet]:
        return tables.sheets_of(self)

    def evidence(self) -> list[Row]:
        rows = [("do", f"{one.text} Because {one.because}.") for one in self.recommendations]
        return [*rows, *[("note", note) for note in self.notes], ("signature", self.signature)]

    def __str__(self) -> str:
        return tables.text_of(self)

    def to_dict(self) -> dict[str, Any]:
        """Plain data, exact and versioned: `from_dict` gives the same record back."""
        return {
            "schema": SCHEMA,
            "kind": self.kind,
            "sentence": self.sentence,
            "arms": plain(self.arms),
            "baseline": self.baseline,
            "contrasts": plain(self.contrasts),
            "sensitivity": plain(self.sensitivity),
            "criteria": plain(self.criteria),
            "recommendations": plain(self.recommendations),
            "notes": list(self.notes),
            "targets": asdict(self.targets),
            "design": asdict(self.design),
            "signature": self.signature,
        }

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> "TuningReport":
        """The record that `to_dict` wrote."""
        if data.get("schema") != SCHEMA:
            raise InputError(f"this is not a tuning report: schema must be {SCHEMA!r}, but got {data.get('schema')!r}.")
        return cls(
            sentence=data["sentence"],
            arms=restored(tuple[Arm, ...], data["arms"]),
            baseline=data["baseline"],
            contrasts=restored(tuple[Contrast, ...], data["contrasts"]),
            sensitivity=restored(tuple[Sensitivity, ...], data["sensitivity"]),
            criteria=restored(tuple[Criterion, ...], data["criteria"]),
            recommendations=restored(tuple[Recommendation, ...], data["recommendations"]),
            notes=tuple(data["notes"]),
            targets=Targets(**data["targets"]),
            design=Design(**data["design"]),
            signature=data["signature"],
        )
