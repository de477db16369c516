"""The record that `context` returns."""

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from assay.analyses import context_tables as tables
from assay.analyses.context_points import ModelCurve, PairCurve
from assay.analyses.result import Result, Row
from assay.analyses.sheet import Sheet
from assay.design import DEFAULT_RESAMPLES, Design
from assay.errors import InputError
from assay.results import words
from assay.stats.records import Fallback

if TYPE_CHECKING:
    import pandas as pd

SCHEMA = "assay/context/1"


@dataclass(frozen=True, slots=True)
class ContextCurve(Result):
    """Loss along the context: a curve per model, and for two or more the differences from the first."""

    sentence: str
    models: tuple[ModelCurve, ...]
    differences: tuple[PairCurve, ...]
    bins: str  # "log", or how many
    n_clusters: int
    cluster_by: str  # "document", or "window" where there is one document
    fallbacks: tuple[Fallback, ...]
    notes: tuple[str, ...]
    design: Design
    signature: str

    def sheets(self) -> list[Sheet]:
        level = words.percent(self.design.level)
        sheets = []
        for model in self.models:
            sheets.append(tables.loss_sheet(model, level))
            sheets.append(tables.gain_sheet(model, level))
        return [*sheets, *(tables.gap_sheet(pair, level) for pair in self.differences)]

    def evidence(self) -> list[Row]:
        resamples = self.design.resamples or DEFAULT_RESAMPLES
        one = f"{words.percent(self.design.level)} {self.design.resampling}"
        return [
            ("clusters", words.count(self.n_clusters, self.cluster_by)),
            ("one bin", f"{one} interval, right for each bin alone"),
            ("all bins", f"max-T, right for all bins at once; {resamples:,} resamples, seed {self.design.seed}"),
            *[("fallback", f"{f.wanted} → {f.used}: {f.why}") for f in self.fallbacks],
            *[("note", note) for note in self.notes],
            ("signature", self.signature),
        ]

    def to_frame(self) -> "pd.DataFrame":
        """A row per model and bin, and per difference and bin (pandas must be installed)."""
        import pandas as pd  # late: half a second, and not a dependency

        rows = [tables.point_row(model.name, point) for model in self.models for point in model.points]
        rows += [tables.gap_row(pair, gap) for pair in self.differences for gap in pair.gaps]
        return pd.DataFrame(rows)

    def to_dict(self) -> dict[str, Any]:
        """Plain data, exact and versioned: `from_dict` gives the same record back."""
        return {
            "schema": SCHEMA,
            "sentence": self.sentence,
            "models": [model.to_dict() for model in self.models],
            "differences": [pair.to_dict() for pair in self.differences],
            "bins": self.bins,
            "n_clusters": self.n_clusters,
            "cluster_by": self.cluster_by,
            "fallbacks": [fallback.to_dict() for fallback in self.fallbacks],
            "notes": list(self.notes),
            "design": asdict(self.design),
            "signature": self.signature,
        }

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> "ContextCurve":
        """The record that `to_dict` wrote."""
        if data.get("schema") != SCHEMA:
            raise InputError(f"this is not a context curve: schema must be {SCHEMA!r}, but got {data.get('schema')!r}.")
        return cls(
            sentence=data["sentence"],
            models=tuple(ModelCurve.from_dict(model) for model in data["models"]),
            differences=tuple(PairCurve.from_dict(pair) for pair in data["differences"]),
            bins=data["bins"],
            n_clusters=data["n_clusters"],
            cluster_by=data["cluster_by"],
            fallbacks=tuple(Fallback.from_dict(f) for f in data["fallbacks"]),
            notes=tuple(data["notes"]),
            design=Design(**data["design"]),
            signature=data["signature"],
        )
