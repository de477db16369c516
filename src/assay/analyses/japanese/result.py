"""The record that `japanese` returns."""

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Literal

from assay.analyses.japanese import tables
from assay.analyses.japanese.parts import Pair, System
from assay.analyses.result import Result, Row
from assay.analyses.sheet import Sheet
from assay.data.writing_systems import Normalization, Ranges
from assay.design import DEFAULT_RESAMPLES, Design
from assay.errors import InputError
from assay.results import words
from assay.stats.records import Fallback

if TYPE_CHECKING:
    import pandas as pd

SCHEMA = "assay/japanese/1"

Kind = Literal["characters", "generations"]  # what a model would have written of a text, or what it did write


@dataclass(frozen=True, slots=True)
class Japanese(Result):
    """Japanese text by script: a table per system, and for two or more the differences from the first."""

    kind: Kind
    sentence: str
    systems: tuple[System, ...]
    differences: tuple[Pair, ...]
    n_units: int
    unit: str  # "document", "window" or "sentence"
    scripts: Ranges
    normalize: Normalization
    tokenizers: dict[str, str]  # of BLEU, with their versions
    fallbacks: tuple[Fallback, ...]
    notes: tuple[str, ...]
    design: Design
    signature: str

    def sheets(self) -> list[Sheet]:
        level = words.percent(self.design.level)
        sheets: list[Sheet] = []
        for system in self.systems:
            scores = tables.score_sheet(system, level)
            sheets += [tables.script_sheet(system, level), *([] if scores is None else [scores])]
        return [*sheets, *(tables.pair_sheet(pair, level) for pair in self.differences)]

    def evidence(self) -> list[Row]:
        resamples = self.design.resamples
        drawn = f"{resamples or DEFAULT_RESAMPLES:,} resamples, seed {self.design.seed}"
        exact = "ratios of sums exactly, other scores from " if resamples is None else ""
        return [
            (f"{self.unit}s", f"{self.n_units:,}"),
            ("intervals", f"{words.percent(self.design.level)} {self.design.resampling}: {exact}{drawn}"),
            ("scripts", f"{self.scripts} ranges; normalization: {self.normalize}"),
            *[("fallback", f"{f.wanted} → {f.used}: {f.why}") for f in self.fallbacks],
            *[("note", note) for note in self.notes],
            ("signature", self.signature),
        ]

    def to_frame(self) -> "pd.DataFrame":
        """A row per system and quantity, and per difference and quantity (pandas must be installed)."""
        import pandas as pd  # late: half a second, and not a dependency

        rows = [tables.value_row(system, value) for system in self.systems for value in system.values]
        rows += [tables.gap_row(pair, gap) for pair in self.differences for gap in pair.gaps]
        return pd.DataFrame(rows)

    def to_dict(self) -> dict[str, Any]:
        """Plain data, exact and versioned: `from_dict` gives the same record back."""
        return {
            "schema": SCHEMA,
            "kind": self.kind,
            "sentence": self.sentence,
            "systems": [system.to_dict() for system in self.systems],
            "differences": [pair.to_dict() for pair in self.differences],
            "n_units": self.n_units,
            "unit": self.unit,
            "scripts": self.scripts,
            "normalize": self.normalize,
            "tokenizers": dict(self.tokenizers),
            "fallbacks": [fallback.to_dict() for fallback in self.fallbacks],
            "notes": list(self.notes),
            "design": asdict(self.design),
            "signature": self.signature,
        }

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> "Japanese":
        """The record that `to_dict` wrote."""
        if data.get("schema") != SCHEMA:
            raise InputError(
                f"this is not a Japanese result: schema must be {SCHEMA!r}, but got {data.get('schema')!r}."
            )
        return cls(
            kind=data["kind"],
            sentence=data["sentence"],
            systems=tuple(System.from_dict(system) for system in data["systems"]),
            differences=tuple(Pair.from_dict(pair) for pair in data["differences"]),
            n_units=data["n_units"],
            unit=data["unit"],
            scripts=data["scripts"],
            normalize=data["normalize"],
            tokenizers=dict(data["tokenizers"]),
            fallbacks=tuple(Fallback.from_dict(fallback) for fallback in data["fallbacks"]),
            notes=tuple(data["notes"]),
            design=Design(**data["design"]),
            signature=data["signature"],
        )
