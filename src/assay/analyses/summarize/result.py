"""The record that `summarize` returns: every model with its interval, and what is shown of it."""

from collections.abc import Sequence
from math import expm1
from typing import TYPE_CHECKING

import msgspec

from assay.analyses.attempts import AttemptNoise
from assay.analyses.fixed_set import set_fact
from assay.analyses.summarize import figures as figures_of
from assay.analyses.summarize.judges import JudgeSummary, judge_table
from assay.data import Kind
from assay.data.panel_views import Substance
from assay.data.task_groups import TaskGroup, TaskTree
from assay.design import Design
from assay.results import words
from assay.results.figures import Figure
from assay.results.parts import INDENT, Caution, Column, Fact, ResultTable, Section, cautions_of, looked_at
from assay.results.record import Result
from assay.stats.finite_set import CENSUS
from assay.stats.records import Estimate, Fallback

if TYPE_CHECKING:
    import pandas as pd

MOST_NAMED = 6  # models in the subject of a result
MOST_NOTES = 5  # shown; `notes` has all


class ModelSummary(msgspec.Struct, frozen=True, kw_only=True):
    """One model over the units that it answered."""

    name: str
    value: Estimate  # the mean score, or the loss in nats per token
    perplexity: Estimate | None  # of losses
    bits_per_byte: Estimate | None  # of losses, where the sizes of the text are known
    bits_per_character: Estimate | None
    n: int  # units answered
    n_clusters: int | None  # among them
    effective: float  # Kish's number of what is drawn: so many of equal weight would say as much
    missing: int  # units that it did not answer
    runs: tuple[int, int] | None = None  # the fewest and the most of an item, averaged; None: not known
    detectable: float | None = None  # the least difference to a model like it that so many units show; see `Summary`
    costs: dict[str, Estimate] = msgspec.field(default_factory=dict)  # the mean of each that is known, per unit
    metric: str | None = None  # of which this is, where a summary has several
    record: tuple[int, int, int] | None = None  # of win rates: units won, tied and lost

    @property
    def drawn(self) -> int:
        """How many units, or clusters, the interval rests on."""
        return self.n if self.n_clusters is None else self.n_clusters


class PassRate(msgspec.Struct, frozen=True, kw_only=True):
    """k attempts of one model at each item: the chance that one is right, and that all are."""

    name: str
    k: int
    one: Estimate  # pass@k
    every: Estimate  # pass^k
    n: int  # items with at least k attempts
    left_out: int  # items with fewer
    noise: AttemptNoise | None  # of pass@k; None where an item has fewer than 2k attempts
    metric: str | None = None  # as of a model


class GroupMeans(msgspec.Struct, frozen=True, kw_only=True):
    """The mean of the tasks of a group."""

    group: str
    inside: str | None = None  # the smallest group around it
    tasks: tuple[str, ...]
    absent: int = 0  # further tasks of the group, of which there are no results
    macro: dict[str, Estimate]  # of every model that has answered units of each of them, the best first


class Summary(Result, frozen=True, kw_only=True, tag="assay/summary/1"):
    """One model or several, each with the interval of its mean.

    The ``detectable`` difference of a model is the true one to a second model, of the same spread and with answers that
    are unrelated to its own, that a t test at 1 − level on as many units would show in 80% of studies. Answers of
    correlation ρ bring it down by √(1 − ρ).
    """

    question = "How good is it, and how sure are we?"
    kind_name = "summary"

    kind: Kind
    measure: str  # the name of the metric
    unit: str  # "item", "window"
    lower_is_better: bool
    sentence: str
    models: tuple[ModelSummary, ...]  # the best first; of several metrics, metric by metric
    #: Several metrics, where none was chosen, and whether lower is better; each has rows of its own.
    metrics: dict[str, bool] = msgspec.field(default_factory=dict)
    tasks: dict[str, tuple[ModelSummary, ...]]  # the same of every task, where units have one
    #: The mean of the tasks, of every model that has answered units of each.
    macro: dict[str, Estimate] = msgspec.field(default_factory=dict)
    groups: tuple[GroupMeans, ...] = ()  # of tasks, those around others first
    measures: dict[str, str] = msgspec.field(default_factory=dict)  # the metric of each task, where they differ
    passes: tuple[PassRate, ...] = ()  # by k, then by model, where items have several attempts
    attempts_said: tuple[str, ...] = ()  # how much of the noise is of attempts
    judges: tuple[JudgeSummary, ...] = ()  # of win rates: does the place of an answer decide, or its length?
    judges_said: tuple[str, ...] = ()
    n: int  # units that any model answered
    population: int | None = None  # units in all, of which these are a random part; None: the answer is not about a set
    n_clusters: int | None
    cluster_by: str | None
    substance: Substance | None = None  # of all units that any model answered; `effective` of each model is its own
    lost: dict[str, int] = msgspec.field(default_factory=dict)  # by model: errors, nulls, empty cells; {}: none
    fallbacks: tuple[Fallback, ...]
    notes: tuple[str, ...]
    design: Design
    signature: str

    @property
    def quantity(self) -> str:
        """What people quote, in one word: of losses the perplexity, unless one is too large for a number."""
        if self.kind != "losses" or self.metrics:
            return self.measure
        known = all(model.perplexity is not None and model.perplexity.value is not None for model in self.models)
        return "perplexity" if known else "loss"

    def quoted(self, model: ModelSummary) -> Estimate:
        """The number that people quote."""
        perplexity = self.quantity == "perplexity" or bool(self.metrics)
        return model.perplexity if perplexity and model.perplexity is not None else model.value

    @property
    def names(self) -> list[str]:
        """The models, each once."""
        return list(dict.fromkeys(model.name for model in self.models))

    @property
    def units(self) -> str:
        """``360 windows in 12 clusters``."""
        clusters = "" if self.n_clusters is None else f" in {words.count(self.n_clusters, 'cluster')}"
        if self.population is not None:
            return f"{words.part_of(self.n, self.population, self.unit)}{clusters}"
        return f"{words.count(self.n, self.unit)}{clusters}"

    @property
    def subject(self) -> str:
        return words.listed(self.names, MOST_NAMED)

    @property
    def compared(self) -> tuple[Fact, ...]:
        return looked_at(self.names, self.n, self.units)

    @property
    def facts(self) -> tuple[Fact, ...]:
        by = "" if self.cluster_by is None else f" ({self.cluster_by})"
        return (
            Fact(f"{self.unit}s", self.n, "data", self.units + by),
            *([] if self.population is None else [set_fact(self.population, self.unit)]),
            Fact("interval", self._interval(), "summarized models"),
            *([Fact("detectable", self._detectable(), "detectable by one run")] if self._detectable() else []),
        )

    def _detectable(self) -> str:
        """The least difference that so many units show, in words; "" where no model has one."""
        found = [model.detectable for model in self.models if model.detectable is not None]
        if not found or self.metrics:
            return ""
        most, losses = max(found), self.kind == "losses"
        first, second = (expm1(most * x) if losses else most * x for x in (1, 0.5**0.5))
        if losses:
            by = f"perplexity by {words.share(first)} if unrelated, {words.share(second)} if correlated by 0.5"
        else:
            by = f"{_two_digits(first)} if answers are unrelated, {_two_digits(second)} if correlated by 0.5"
        return f"{by}; 80% power"

    def _interval(self) -> str:
        made = words.methods(model.value.interval for model in self.models)
        if made == CENSUS:
            return f"none: all {words.count(self.n, self.unit)} are there"
        return f"{words.percent(self.design.level)} {made}, of each model alone"

    @property
    def cautions(self) -> tuple[Caution, ...]:
        more = len(self.notes) - MOST_NOTES
        notes = [*self.notes[:MOST_NOTES], *([f"and {more} more, in the JSON"] if more > 0 else [])]
        return cautions_of(notes, self.fallbacks)

    @property
    def sections(self) -> tuple[Section, ...]:
        figures: tuple[Figure, ...] = (figures_of.models(self), *figures_of.costs(self))
        found = [Section("models", "Models", figures=figures, tables=(self._model_table(),))]
        if self.tasks:
            means = [self._macro_table()] if self.macro or any(one.macro for one in self.groups) else []
            tables = (self._task_table(), *means)
            found.append(Section("tasks", "Tasks", figures=(figures_of.tasks(self),), tables=tables))
        if self.passes:
            tables, passes = (self._pass_table(),), (figures_of.attempts(self),)
            found.append(Section("attempts", "Attempts", figures=passes, tables=tables, said=self.attempts_said))
        if self.judges:
            table = judge_table(self.judges, self.design.level)
            tables = () if table is None else (table,)
            found.append(Section("judges", "Judges", tables=tables, said=self.judges_said))
        return tuple(found)

    @property
    def main_figures(self) -> tuple[Figure, ...]:
        """The models, and what they cost where that is known."""
        return (figures_of.models(self), *figures_of.costs(self)[:1])

    def to_frame(self) -> "pd.DataFrame":
        """A row for each model (pandas must be installed)."""
        return self._model_table().to_frame()

    def _model_table(self) -> ResultTable:
        return ResultTable("models", "", tuple(self._columns(self.models)), explained="summarized models")

    def _task_table(self) -> ResultTable:
        rows = [(task, model) for task, models in self.tasks.items() for model in models]
        columns = self._columns([model for _, model in rows])
        tasks = Column("task", [task for task, _ in rows], may_shorten=True)
        metric = Column("metric", [self.measures.get(task) for task, _ in rows], hidden=not self.measures)
        return ResultTable("tasks", "tasks", (tasks, metric, *columns), explained="summarized models")

    def _macro_table(self) -> ResultTable:
        level, whole = words.percent(self.design.level), f"mean of {len(self.tasks)} tasks"
        rows = [(name, "", "all", found) for name, found in self.macro.items()]
        for depth, group in self._outline():
            shown = f"{INDENT * (depth + 1)}{group.group} ({len(group.tasks)} tasks)"
            rows += [(name, group.group, shown, found) for name, found in group.macro.items()]
        heading, written = "mean" if self.groups else whole, [one[2] for one in rows]
        columns = (
            *([Column("tasks", [one[1] for one in rows], key="group", written=written)] if self.groups else []),
            Column("model", [one[0] for one in rows], may_shorten=True),
            Column(f"{heading} [{level}]", [one[-1] for one in rows], words.compact, key="macro"),
            Column("standard_error", [one[-1].standard_error for one in rows], hidden=True),
        )
        about = "every task counts the same" + (", loss in nats per token" if self.kind == "losses" else "")
        title = whole if self.groups else "mean of the tasks"
        return ResultTable("macro", title, columns, about, explained="mean of the tasks")

    def _outline(self) -> list[tuple[int, GroupMeans]]:
        """Groups with those in them below them, and how many are around each."""
        tree = TaskTree(
            tuple(self.tasks), tuple(TaskGroup(one.group, one.tasks, one.absent, one.inside) for one in self.groups)
        )
        known = {one.group: one for one in self.groups}
        return [(one.depth, known[one.name]) for one in tree.outline() if one.group is not None]

    def _columns(self, models: Sequence[ModelSummary]) -> list[Column]:
        plain = all(model.effective == model.drawn for model in models)
        seen = any(model.detectable is not None for model in models)
        return [
            *([Column("metric", [m.metric for m in models], may_shorten=True)] if self.metrics else []),
            Column("model", [m.name for m in models], may_shorten=True),
            *self._values(models),
            Column("n", [m.n for m in models]),
            Column("clusters", [m.n_clusters for m in models], hidden=self.n_clusters is None),
            Column("effective", [m.effective for m in models], words.fixed(1), hidden=plain),
            *self._records(models),
            Column("missing", [m.missing for m in models], hidden=not any(m.missing for m in models)),
            Column("runs", [_from_to(m.runs) for m in models], hidden=all(m.runs is None for m in models), right=True),
            Column("detectable", [m.detectable for m in models], _two_digits, hidden=self.kind == "losses" or not seen),
            *self._costs(models),
            Column("standard_error", [m.value.standard_error for m in models], hidden=True),
        ]

    def _costs(self, models: Sequence[ModelSummary]) -> list[Column]:
        """What an answer costs, where that is known; the intervals are in frames and downloads."""
        names = dict.fromkeys(name for model in models for name in model.costs)
        return [Column(name, [model.costs.get(name) for model in models], _mean, right=True) for name in names]

    def _records(self, models: Sequence[ModelSummary]) -> list[Column]:
        """Of win rates: units won, tied and lost."""
        if not any(model.record for model in models):
            return []
        names = ("won", "tied", "lost")
        return [
            Column(name, [None if m.record is None else m.record[i] for m in models]) for i, name in enumerate(names)
        ]

    def _pass_table(self) -> ResultTable:
        level, rates = words.percent(self.design.level), self.passes
        columns = (
            *([Column("metric", [one.metric for one in rates], may_shorten=True)] if self.metrics else []),
            Column("model", [one.name for one in rates], may_shorten=True),
            Column("k", [one.k for one in rates]),
            Column(f"pass@k [{level}]", [one.one for one in rates], words.compact, key="pass_at_k"),
            Column(f"pass^k [{level}]", [one.every for one in rates], words.compact, key="pass_hat_k"),
            Column("n", [one.n for one in rates]),
            Column("left_out", [one.left_out for one in rates], hidden=True),
            Column(
                "noise of attempts",
                [None if one.noise is None else one.noise.share for one in rates],
                lambda share: "–" if share is None else words.share(share),
                key="attempts_share",
            ),
        )
        return ResultTable("attempts", "attempts", columns, explained="attempts")

    def _values(self, models: Sequence[ModelSummary]) -> list[Column]:
        """The columns of estimates; of losses, people read perplexity and bits per byte, frames have all."""
        level, losses = words.percent(self.design.level), self.kind == "losses"
        if self.metrics:
            return [Column(f"mean [{level}]", [self.quoted(m) for m in models], words.compact, key="mean")]
        columns: dict[str, tuple[list[Estimate | None], bool]] = {
            "loss" if losses else self.measure: ([m.value for m in models], self.quantity == "perplexity"),
            "perplexity": ([m.perplexity for m in models], False),
            "bits per byte": ([m.bits_per_byte for m in models], False),
            "bits per character": ([m.bits_per_character for m in models], True),
        }
        return [
            Column(f"{name} [{level}]", values, words.compact, key=name.replace(" ", "_"), hidden=hidden)
            for name, (values, hidden) in columns.items()
            if any(values)
        ]


def _two_digits(value: float | None) -> str:
    return "–" if value is None else words.number(value, 2)


def _mean(found: Estimate | None) -> str:
    return "–" if found is None or found.value is None else words.number(found.value, 3)


def _from_to(numbers: tuple[int, int] | None) -> int | str | None:
    if numbers is None or numbers[0] == numbers[1]:
        return None if numbers is None else numbers[0]
    return f"{numbers[0]}–{numbers[1]}"
