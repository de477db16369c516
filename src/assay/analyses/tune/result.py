"""The record that `tune` returns."""

from dataclasses import asdict, dataclass
from textwrap import fill
from typing import Any

from assay.analyses.records import plain, restored
from assay.analyses.result import Result, Row
from assay.analyses.sheet import Sheet, lines_of
from assay.analyses.tune import tables
from assay.analyses.tune.criteria import Targets
from assay.analyses.tune.records import Arm, Contrast, Criterion, Recommendation, Sensitivity
from assay.design import Design
from assay.errors import InputError

SCHEMA = "assay/tuning/1"
_WIDE = 110  # columns


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
        """Everything but the recommendations, costs first."""
        sheets = [tables.cost_sheet(self.arms), tables.quality_sheet(self.arms), tables.run_sheet(self.arms)]
        sheets += [tables.gain_sheet(contrast) for contrast in self.contrasts]
        sheets += [tables.significance_sheet(contrast) for contrast in self.contrasts]
        sheets += [tables.rate_sheet(one) for one in self.sensitivity]
        sheets.append(tables.criteria_sheet(self.criteria))
        return [sheet for sheet in sheets if sheet.cells]

    def evidence(self) -> list[Row]:
        rows = [("do", f"{one.text} Because {one.because}.") for one in self.recommendations]
        return [*rows, *[("note", note) for note in self.notes], ("signature", self.signature)]

    def __str__(self) -> str:
        """For a terminal: every table with widths of its own, long lines folded."""
        blocks = [self.sentence]
        for sheet in self.sheets():
            rows = lines_of(sheet)
            width = max(len(label) for label, _ in rows)
            title = ": ".join(part for part in sheet.title if part)
            blocks.append("\n".join([title, *(f"  {label:<{width}}  {value}".rstrip() for label, value in rows)]))
        if self.recommendations:
            advice = [_folded(f"- {one.text} Because {one.because}.") for one in self.recommendations]
            blocks.append("\n".join(["what to do", *advice]))
        if self.notes:
            blocks.append("\n".join(["notes", *(_folded(f"- {note}") for note in self.notes)]))
        return "\n\n".join([*blocks, f"signature  {self.signature}"])

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


def _folded(text: str) -> str:
    return fill(text, _WIDE, initial_indent="  ", subsequent_indent="    ", break_long_words=False)
