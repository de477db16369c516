"""The record that `rank` returns."""

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from assay.analyses.rank import tables
from assay.analyses.rank.parts import Board, Computed, Pair, Reweighting, Standing, TopScore
from assay.analyses.result import Row
from assay.analyses.sheet import Sheet
from assay.design import Design
from assay.errors import InputError
from assay.stats.records import Fallback

if TYPE_CHECKING:
    import pandas as pd

SCHEMA = "assay/leaderboard/1"
MOST_NOTES = 5  # shown; `notes` has all


@dataclass(frozen=True, slots=True)
class Leaderboard(Board):
    """k models in their order, what tells them apart, and how far the order can be relied on."""

    def __str__(self) -> str:
        return self.to_text()

    def to_text(self, *, all_pairs: bool = False, width: int = tables.WIDTH) -> str:
        """As a terminal of this width shows it; of many pairs the neighbours only, unless all are asked for."""
        parts = [self.sentence, "", *tables.lines(tables.model_sheet(self), width)]
        pairs = tables.lines(tables.pair_sheet(self, tables.shown_pairs(self, all_pairs=all_pairs)), width)
        parts += ["", *pairs, ""] if pairs else [""]
        rows = self.evidence()
        width = max(len(label) for label, _ in rows)
        return "\n".join([*parts, *(f"{label:<{width}}  {value}" for label, value in rows)])

    def sheets(self) -> list[Sheet]:
        pairs = tables.shown_pairs(self, all_pairs=False)
        return [tables.model_sheet(self), *([tables.pair_sheet(self, pairs)] if pairs else [])]

    def rows(self) -> list[Row]:
        models = [(f"{m.rank}. {m.name}", tables.standing_text(m)) for m in self.models]
        return [*models, *self.evidence()]

    def evidence(self) -> list[Row]:
        return [
            ("top score", tables.top_text(self)),
            ("may be best", tables.set_text(self)),
            ("tiers", tables.tier_text(self)),
            *(("weights", tables.reweighting_text(self, other)) for other in self.reweightings),
            ("tests", tables.test_text(self)),
            ("data", tables.data_text(self)),
            ("interval", tables.interval_text(self)),
            *[("fallback", f"{f.wanted} → {f.used}: {f.why}") for f in self.fallbacks],
            *[("note", note) for note in self._shown_notes()],
            ("signature", self.signature),
        ]

    def _shown_notes(self) -> list[str]:
        more = len(self.notes) - MOST_NOTES
        return [*self.notes[:MOST_NOTES], *([f"and {more} more, in the JSON"] if more > 0 else [])]

    def to_frame(self) -> "pd.DataFrame":
        """A row for each model (pandas must be installed)."""
        import pandas as pd  # late: half a second, and not a dependency

        return pd.DataFrame([tables.flat_standing(model) for model in self.models])

    def pair_frame(self) -> "pd.DataFrame":
        """A row for each pair of models (pandas must be installed)."""
        import pandas as pd

        return pd.DataFrame([tables.flat_pair(pair) for pair in self.pairs])

    def to_dict(self) -> dict[str, Any]:
        """Plain data, exact and versioned: `from_dict` gives the same record back."""
        return {
            "schema": SCHEMA,
            "kind": "leaderboard",
            "metric": self.metric,
            "unit": self.unit,
            "lower_is_better": self.lower_is_better,
            "sentence": self.sentence,
            "models": [model.to_dict() for model in self.models],
            "tiers": [list(tier) for tier in self.tiers],
            "confidence_set": list(self.confidence_set),
            "top": self.top.to_dict(),
            "adjust": self.adjust,
            "pairs": [pair.to_dict() for pair in self.pairs],
            "reweightings": [other.to_dict() for other in self.reweightings],
            "n_units": self.n_units,
            "n_complete": self.n_complete,
            "n_clusters": self.n_clusters,
            "cluster_by": self.cluster_by,
            "fallbacks": [fallback.to_dict() for fallback in self.fallbacks],
            "notes": list(self.notes),
            "design": asdict(self.design),
            "computed": asdict(self.computed),
            "signature": self.signature,
        }

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> "Leaderboard":
        """The record that `to_dict` wrote."""
        if data.get("schema") != SCHEMA:
            raise InputError(f"this is not a leaderboard: schema must be {SCHEMA!r}, but got {data.get('schema')!r}.")
        plain = ("metric", "unit", "lower_is_better", "sentence", "adjust", "n_units", "n_complete", "n_clusters")
        return cls(
            **{name: data[name] for name in (*plain, "cluster_by", "signature")},
            models=tuple(Standing.from_dict(model) for model in data["models"]),
            pairs=tuple(Pair.from_dict(pair) for pair in data["pairs"]),
            top=TopScore.from_dict(data["top"]),
            reweightings=tuple(Reweighting.from_dict(other) for other in data["reweightings"]),
            fallbacks=tuple(Fallback.from_dict(f) for f in data["fallbacks"]),
            notes=tuple(data["notes"]),
            design=Design(**data["design"]),
            computed=Computed(**data["computed"]),
        )
