"""The record that `reliability` returns."""

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Literal

from assay.analyses import reliability_tables as tables
from assay.analyses.reliability_parts import Across, Detectable, ModelRuns
from assay.analyses.result import Result, Row
from assay.analyses.sheet import Sheet
from assay.data import Dropped, Kind
from assay.errors import InputError
from assay.results import words
from assay.stats.power_plans import Goal
from assay.stats.records import Estimate

if TYPE_CHECKING:
    import pandas as pd

SCHEMA = "assay/reliability/1"

NoiseFrom = Literal["items and runs", "runs"]  # "runs": they differ by more than the noise of items explains


@dataclass(frozen=True, slots=True)
class Reliability(Result):
    """How far repeated runs of one or several models agree."""

    kind: Kind
    unit: str  # "item", "window"
    sentence: str
    n: int  # items that every run has
    n_clusters: int | None
    cluster_by: str | None
    run_sd: Estimate  # standard deviation of an overall score between runs, over all models
    run_sd_df: float  # the degrees of freedom that it rests on
    run_sd_from: NoiseFrom
    detectable: Detectable
    models: tuple[ModelRuns, ...]
    across: Across | None  # with two models or more
    dropped: Dropped
    notes: tuple[str, ...]
    goal: Goal
    signature: str

    def sheets(self) -> list[Sheet]:
        return tables.sheets(self.kind, self.models, self.across, self.goal)

    def evidence(self) -> list[Row]:
        noise = tables.run_noise(self.run_sd, self.run_sd_from, self.unit)
        rows = [(f"noise of a {tables.quantity(self.kind)}", noise), *self._detectable_rows()]
        if self.across is not None:
            rows += tables.stability_rows(self.across)
        clusters = "" if self.n_clusters is None else f" in {words.count(self.n_clusters, 'cluster')}"
        rows.append((f"{self.unit}s", f"{words.count(self.n, self.unit)}{clusters} in every run"))
        rows += [("note", note) for note in self.notes]
        return [*rows, ("signature", self.signature)]

    def _detectable_rows(self) -> list[Row]:
        found, goal = self.detectable, self.goal
        if found.one_run is None or found.all_runs is None:
            return [("detectable", f"undefined: {found.reason}")]
        one = tables.with_limits(found.one_run, found.one_run_limits)
        several = tables.with_limits(found.all_runs, found.all_runs_limits)
        power = words.percent(goal.power)
        return [
            ("detectable", f"{one} by single runs, {power} power"),
            ("detectable", f"{several} by means of {found.n_runs} runs"),
        ]

    def to_frame(self) -> "pd.DataFrame":
        """A row per model, and per intraclass correlation of the models (pandas must be installed)."""
        import pandas as pd  # late: half a second, and not a dependency

        return pd.DataFrame(tables.frame_rows(self.models, self.across))

    def to_dict(self) -> dict[str, Any]:
        """Plain data, exact and versioned: `from_dict` gives the same record back."""
        return {
            "schema": SCHEMA,
            "kind": self.kind,
            "unit": self.unit,
            "sentence": self.sentence,
            "n": self.n,
            "n_clusters": self.n_clusters,
            "cluster_by": self.cluster_by,
            "run_sd": self.run_sd.to_dict(),
            "run_sd_df": self.run_sd_df,
            "run_sd_from": self.run_sd_from,
            "detectable": self.detectable.to_dict(),
            "models": [model.to_dict() for model in self.models],
            "across": None if self.across is None else self.across.to_dict(),
            "dropped": asdict(self.dropped) | {"examples": list(self.dropped.examples)},
            "notes": list(self.notes),
            "goal": asdict(self.goal),
            "signature": self.signature,
        }

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> "Reliability":
        """The record that `to_dict` wrote."""
        if data.get("schema") != SCHEMA:
            raise InputError(
                f"this is no reliability result: schema must be {SCHEMA!r}, but got {data.get('schema')!r}."
            )
        return cls(
            kind=data["kind"],
            unit=data["unit"],
            sentence=data["sentence"],
            n=data["n"],
            n_clusters=data["n_clusters"],
            cluster_by=data["cluster_by"],
            run_sd=Estimate.from_dict(data["run_sd"]),
            run_sd_df=data["run_sd_df"],
            run_sd_from=data["run_sd_from"],
            detectable=Detectable.from_dict(data["detectable"]),
            models=tuple(ModelRuns.from_dict(model) for model in data["models"]),
            across=None if data["across"] is None else Across.from_dict(data["across"]),
            dropped=Dropped(**(data["dropped"] | {"examples": tuple(data["dropped"]["examples"])})),
            notes=tuple(data["notes"]),
            goal=Goal(**data["goal"]),
            signature=data["signature"],
        )
