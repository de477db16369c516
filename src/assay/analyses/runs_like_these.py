"""How far a difference holds for runs like these, where both models have several runs of the same items."""

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import msgspec
import numpy as np

from assay.data import Panel, Table
from assay.data.units_and_runs import runs_of
from assay.results import words
from assay.results.parts import Fact
from assay.stats.records import Estimate, Interval
from assay.stats.units import Floats, Integers, grouped

if TYPE_CHECKING:
    from assay.stats.runs_like_these import RunSpread, TaskRuns

INCOMPLETE = "nothing is said of runs like these, because not every item has all runs of both models"


class RunsLikeThese(msgspec.Struct, frozen=True, kw_only=True):
    """The same difference for runs like these: with other seeds, or trained again."""

    difference: Estimate
    p_value: float  # at most 1 − level exactly where the interval leaves out 0
    runs: tuple[int, int]  # of A and of B
    share: float  # of the variance: that of runs; the rest is that of items
    degrees_of_freedom: float

    @property
    def fact(self) -> Fact:
        shown = f"{words.with_interval(self.difference, sign=True)}, {words.p_value(self.p_value)}"
        return Fact("runs like these", self.difference, "runs like these", shown)

    @property
    def open(self) -> bool:
        """Whether 0 is among what it may be."""
        limits = self.difference.interval
        return limits is not None and limits.low <= 0 <= limits.high


def runs_of_tables(tables: Sequence[Table], panel: Panel) -> Panel | None:
    """A column for each run of the two systems of a panel, on its units; ``None`` where one has a single run."""
    if any("run" not in table.labels or len(table.labels["run"].names) < 2 for table in tables):
        return None
    named = [replace(table, name=name, lost=None) for table, name in zip(tables, panel.systems, strict=True)]
    runs = Panel.from_runs(runs_of([_alone(table) for table in named]))
    return runs.rows(runs.among(panel.ids))


def _alone(table: Table) -> Table:
    """Without a column of models, which would name its runs."""
    return replace(table, labels={name: one for name, one in table.labels.items() if name != "model"})


def runs_of_panel(given: Panel, panel: Panel, names: Sequence[str]) -> Panel | None:
    """The same where the two are models of a panel with a column for each run."""
    runs = given.of_models(names) if given.models else None
    if runs is None or any(len(one.columns) < 2 for one in runs.by_model):
        return None
    return runs.rows(runs.among(panel.ids))


def like_these(
    runs: Panel | None, panel: Panel, found: Estimate, p: float | None, tasks: Sequence[Integers], shares: Floats
) -> RunsLikeThese | None:
    """For runs like these; ``tasks`` are the places of their units in the panel, ``shares`` what they weigh."""
    limits, error, value = found.interval, found.standard_error, found.value
    if runs is None or not runs.whole or limits is None or error is None or value is None or p is None:
        return None
    from assay.stats.runs_like_these import run_spread, runs_like_these  # late: most results are of one run

    parts = [[_sums(runs, panel, list(one.columns), own) for own in tasks] for one in runs.by_model]
    spreads = [run_spread(part, shares) for part in parts]
    df = max(sum(len(sizes) for _, sizes in parts[0]) - len(tasks), 1.0)
    made = runs_like_these(value, (error**2, df), spreads, limits, p)
    return RunsLikeThese(
        difference=Estimate(value, Interval(made.low, made.high, limits.level, "t"), made.error, found.n),
        p_value=made.p,
        runs=(spreads[0].runs, spreads[1].runs),
        share=_share(spreads, error**2),
        degrees_of_freedom=made.df,
    )


def _sums(runs: Panel, panel: Panel, columns: list[int], rows: Integers) -> "TaskRuns":
    """Of a task: sums in every run, and what they are divided by, of each item or cluster."""
    sums = np.ascontiguousarray(runs.numerators[rows][:, columns])
    sizes = panel.denominators[rows]
    if panel.clusters is None:
        return sums, sizes
    codes = np.unique(panel.clusters[rows], return_inverse=True)[1].astype(np.int64, copy=False)
    return grouped(sums, codes), grouped(sizes, codes)


def _share(models: "Sequence[RunSpread]", items: float) -> float:
    between = max(0.0, sum(one.variance - one.noise for one in models))
    return between / (between + items) if between > 0 else 0.0


def runs_note(runs: Panel | None) -> tuple[str, ...]:
    """Why nothing is said of runs like these, although there are several."""
    return () if runs is None or runs.whole else (INCOMPLETE,)
