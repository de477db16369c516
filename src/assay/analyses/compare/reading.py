"""The two systems to compare, from whatever holds them: files, logs, frames, arrays, tables, a panel."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from assay.analyses.contrast import check_clusters
from assay.analyses.runs_like_these import runs_of_panel, runs_of_tables
from assay.data import Panel, Selection, Table, pair
from assay.data.readers import UNNAMED
from assay.data.runs.rates import Size, rates_of_panel, rates_of_tables
from assay.data.sources import Models, Source, panel_as_asked, renamed, two_names, two_systems, two_tables
from assay.design import Missing


@dataclass(frozen=True, slots=True)
class Asked:
    """How two sources are read and paired."""

    models: Models = (None, None)
    names: Sequence[str] | None = None
    columns: Mapping[str, str] | None = None
    cluster: str | None = None
    split: str | None = None
    missing: Missing = "drop"
    lower_is_better: bool | None = None
    selection: Selection | None = None
    per: Size | None = None

    def as_asked(self, panel: Panel, b: Source | None = None) -> Panel:
        """A panel with what was asked about clusters, splits and direction."""
        how = {"b": b, "columns": self.columns, "selection": self.selection}
        return panel_as_asked(
            panel, cluster=self.cluster, split=self.split, lower_is_better=self.lower_is_better, **how
        )

    def two_of(self, panel: Panel, b: Source | None) -> Panel:
        """The two systems of a panel that were asked for."""
        chosen = self.as_asked(panel, b)
        rates = chosen if self.per is None else rates_of_panel(self.per, chosen.averaged())
        return self._checked(renamed(two_systems(rates, self.models, missing=self.missing), self.names))

    def tables(self, a: Source, b: Source | None) -> tuple[Table, Table]:
        return two_tables(a, b, self.models, self.columns, self.cluster, self.selection)

    def names_of(self, tables: tuple[Table, Table]) -> Sequence[str] | None:
        """What the systems of these tables are to be called; ``None``: as the tables are."""
        unnamed = self.names is None and tables[0].name == tables[1].name == UNNAMED
        return ("A", "B") if unnamed else self.names

    def paired(self, tables: tuple[Table, Table]) -> Panel:
        """The units that both tables have."""
        names = self.names_of(tables)
        if self.per is not None:
            rates = rates_of_tables(self.per, tables, names=names, split=self.split)
            return two_systems(rates, (None, None), missing=self.missing)
        found = pair(
            *tables,
            names=names,
            cluster=self.cluster,
            missing=self.missing,
            lower_is_better=self.lower_is_better,
            split=self.split,
        )
        return self._checked(found)

    def _checked(self, panel: Panel) -> Panel:
        check_clusters(panel, self.cluster)
        return panel

    def two(self, a: Source | Panel, b: Source | None) -> tuple[Panel, Panel | None]:
        """The two systems on the units that both have, and a column for each of their runs, where both have several."""
        if isinstance(a, Panel):
            panel = self.two_of(a, b)
            return panel, runs_of_panel(self.as_asked(a, b), panel, two_names(a, self.models, "compare"))
        tables = self.tables(a, b)
        panel = self.paired(tables)
        return panel, self.runs(tables, panel)

    def runs(self, tables: tuple[Table, Table], panel: Panel) -> Panel | None:
        return None if self.per is not None else runs_of_tables(tables, panel)


def pooled(panel: Panel) -> Panel:
    """With a note where units of several tasks are taken together."""
    tasks = len(panel.labels["task"].names) if "task" in panel.labels and panel.cluster != "task" else 0
    if tasks < 2:
        return panel
    part = panel.settings.get("part_of")
    why = f", as {part} does (`by='task'` has a row for each)" if part else ": large tasks count most"
    return replace(panel, notes=(*panel.notes, f"{panel.unit}s of {tasks} tasks are taken together{why}"))
