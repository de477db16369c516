"""The record that `reliability` returns: the runs of each model, the models across runs, and what is shown of them."""

from collections.abc import Mapping, Sequence
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, Literal

import msgspec

from assay.data import Dropped, Kind
from assay.data.panel_views import Substance
from assay.results import words
from assay.results.figures import Forest, Line, SecondMark
from assay.results.parts import Caution, Column, Fact, ResultTable, Section, cautions_of, looked_at
from assay.results.record import Result
from assay.stats.planning.plans import Goal
from assay.stats.records import Estimate, Interval, Test
from assay.stats.reliability import ICC_NAMES, Component
from assay.stats.repeated_runs import RankStability

if TYPE_CHECKING:
    import pandas as pd

NoiseFrom = Literal["items and runs", "runs"]  # "runs": they differ by more than the noise of items explains

NONE_ON_SCALE = "none from 0 to 1"  # where the noise hides every difference that there can be

_compact = partial(words.compact, digits=3)
_ICC_MEANINGS = ("own runs", "agreement", "consistency")  # of ICC(1), ICC(2) and ICC(3)


class ModelRuns(msgspec.Struct, frozen=True, kw_only=True):
    """One model: its items are the targets, its runs the raters."""

    name: str
    runs: tuple[str, ...]
    scores: tuple[float, ...]  # overall, run by run
    score: float  # their mean
    run_sd: Estimate  # standard deviation of the overall score between runs
    expected_run_sd: float | None  # what independent noise of the items (or clusters) alone would give
    run_effect: Test  # do runs differ by more than that?
    item_sd: Estimate  # standard deviation between the runs of a single item, pooled over items
    icc: dict[str, Estimate]
    components: tuple[Component, ...]


class ModelPair(msgspec.Struct, frozen=True, kw_only=True):
    """Two models, the one with the better mean score first."""

    ahead: str
    behind: str
    difference: float  # of the mean scores, ahead − behind
    repeats: Estimate  # the probability that two runs put them in the same order
    error: float | None  # standard error of the difference over new items and new runs
    detectable: float | None  # the difference that these items and runs would detect; None: none that there can be


class AcrossModels(msgspec.Struct, frozen=True, kw_only=True):
    """Several models: they are the targets, the runs that all of them have the raters."""

    n_runs: int
    order: tuple[str, ...]  # of the models by their mean score, best first
    icc: dict[str, Estimate]
    components: tuple[Component, ...]
    stability: RankStability
    pairs: tuple[ModelPair, ...]  # all of them; of many models, neighbours in the order of scores only

    @property
    def neighbours(self) -> list[ModelPair]:
        """The pairs of models that stand next to each other, best first."""
        found = {(pair.ahead, pair.behind): pair for pair in self.pairs}
        return [found[pair] for pair in pairwise(self.order)]

    @property
    def whole_order(self) -> str:
        """How often all models come in the same order; of a single pair of runs, whether they do."""
        repeats = self.stability.whole_order_repeats
        if self.stability.pairs_of_runs > 1:
            return f"repeats in {words.share(repeats)} of the pairs of runs"
        if repeats in (0, 1):
            return "it is the same in both" if repeats else "it is not the same in both"
        return "models tie in one of them"


class Detectable(msgspec.Struct, frozen=True):
    """The smallest difference between two models that a test finds above run-to-run noise, on the same items."""

    one_run: float | None  # of a single run of each; None: none, or more than scores from 0 to 1 can differ by
    all_runs: float | None  # of the means of as many runs as there are; likewise
    n_runs: int
    reason: str | None = None
    one_run_limits: Interval | None = None  # what the noise may be, and so the difference
    all_runs_limits: Interval | None = None


class Reliability(Result, frozen=True, kw_only=True, tag="assay/reliability/1"):
    """How far repeated runs of one or several models agree."""

    question = "Do the results repeat?"
    kind_name = "reliability"

    kind: Kind
    unit: str  # "item", "window"
    sentence: str
    n: int  # items that every run has
    n_clusters: int | None
    cluster_by: str | None
    substance: Substance | None = None  # how much evidence there is
    run_sd: Estimate  # standard deviation of an overall score between runs, over all models
    run_sd_df: float  # the degrees of freedom that it rests on
    run_sd_from: NoiseFrom
    detectable: Detectable
    models: tuple[ModelRuns, ...]
    across: AcrossModels | None  # with two models or more
    dropped: Dropped
    lost: dict[str, int] = msgspec.field(default_factory=dict)  # by model: errors, nulls, empty cells; {}: none
    notes: tuple[str, ...]
    goal: Goal
    signature: str

    @property
    def quantity(self) -> str:
        """What is measured, in one word."""
        return "loss" if self.kind == "losses" else "score"

    @property
    def subject(self) -> str:
        return ", ".join(model.name for model in self.models)

    @property
    def compared(self) -> tuple[Fact, ...]:
        names = [model.name for model in self.models]
        return looked_at(names, self.n, f"{words.count(self.n, self.unit)} in every run")

    @property
    def facts(self) -> tuple[Fact, ...]:
        found = [Fact(f"noise of a {self.quantity}", self.run_sd, "run noise", self._noise_text())]
        found += self._detectable_facts()
        if self.across is not None:
            found += _order_facts(self.across)
        clusters = "" if self.n_clusters is None else f" in {words.count(self.n_clusters, 'cluster')}"
        units = f"{words.count(self.n, self.unit)}{clusters} in every run"
        return (*found, Fact(f"{self.unit}s", self.n, "items", units))

    def _noise_text(self) -> str:
        sd = self.run_sd
        if sd.value is None:
            return f"undefined: {sd.reason}"
        limits = "" if sd.interval is None else f"  [{words.interval(sd.interval)}]"
        pooled = self.run_sd_from == "items and runs"
        rests_on = f"{self.unit}s and runs pooled" if pooled else "from the runs' scores"
        return f"±{words.number(sd.value, 3)}{limits}, one sd" + (f", {rests_on}" if sd.value else "")

    def _detectable_facts(self) -> list[Fact]:
        found, power = self.detectable, words.percent(self.goal.power)
        runs = words.count(found.n_runs, "run")
        if found.all_runs is None:
            return [Fact("detectable", Estimate(None, None, None, self.n, found.reason), "detectable")]
        one = Estimate(found.one_run, found.one_run_limits, None, self.n, None if found.one_run else NONE_ON_SCALE)
        several = Estimate(found.all_runs, found.all_runs_limits, None, self.n)
        shown = NONE_ON_SCALE if found.one_run is None else _with_limits(one)
        return [
            Fact("detectable, 1 run", one, "detectable", f"{shown} by single runs, {power} power"),
            Fact(f"detectable, {runs}", several, "detectable", f"{_with_limits(several)} by means of {runs}"),
        ]

    @property
    def cautions(self) -> tuple[Caution, ...]:
        return cautions_of(self.notes)

    @property
    def sections(self) -> tuple[Section, ...]:
        return (Section("runs", "Runs", figures=(self._forest(),), tables=tuple(self._tables())),)

    def _forest(self) -> Forest:
        """Every run of each model, and the mean with its spread."""
        lines = tuple(
            Line(
                model.name,
                model.score,
                *_spread(model.score, model.run_sd.value),
                others=tuple(SecondMark(score, shape="tick") for score in model.scores),
            )
            for model in self.models
        )
        about = ("Ticks: single runs. Dots: their means. Lines: one standard deviation between runs to either side.",)
        return Forest("runs", f"The {self.quantity} of each run", about, self.quantity, lines)

    def _tables(self) -> list[ResultTable]:
        level = words.percent(self.goal.level)
        found = [_runs_table(self.models, self.quantity, level)]
        if self.across is None:
            icc, components = self.models[0].icc, self.models[0].components
            return [*found, _icc_table("items repeat?", "items", icc, level), _components_table(components)]
        icc, components = self.across.icc, self.across.components
        found += [_items_table(self.models, level), _icc_table("models repeat?", "models", icc, level)]
        return [*found, _components_table(components), _pairs_table(self.across.neighbours, level)]

    def to_frame(self) -> "pd.DataFrame":
        """A row for each model, and one for the agreement of all models over runs (pandas must be installed)."""
        together: Sequence[AcrossModels] = () if self.across is None else (self.across,)
        nothing = [None] * len(together)
        iccs = [*(model.icc for model in self.models), *(part.icc for part in together)]
        columns = [
            Column("model", [*(model.name for model in self.models), *("all models" for _ in together)]),
            Column("runs", [*(len(model.runs) for model in self.models), *(part.n_runs for part in together)]),
            Column("score", [*(model.score for model in self.models), *nothing]),
            Column("run_sd", [*(model.run_sd for model in self.models), *nothing]),
            Column("expected_run_sd", [*(model.expected_run_sd for model in self.models), *nothing]),
            Column("item_sd", [*(model.item_sd for model in self.models), *nothing]),
            *(Column(name, [icc[name] for icc in iccs]) for name in ICC_NAMES),
        ]
        return ResultTable("models", "models", tuple(columns)).to_frame()


def _spread(middle: float, sd: float | None) -> tuple[float | None, float | None]:
    return (None, None) if sd is None else (middle - sd, middle + sd)


def _order_facts(across: AcrossModels) -> list[Fact]:
    found = across.stability
    tau = "undefined"
    if found.tau_mean is not None and found.tau_min is not None:
        tau = f"mean {found.tau_mean:.3f}, least {found.tau_min:.3f}"
    reason = "" if found.reason is None else f" ({found.reason})"
    pairs = words.count(found.pairs_of_runs, "pair")
    return [
        Fact("Kendall's τ", found.tau_mean, "Kendall's τ", f"{tau}, over {pairs} of runs{reason}"),
        Fact("whole order", found.whole_order_repeats, "whole order", across.whole_order),
    ]


def _runs_table(models: Sequence[ModelRuns], quantity: str, level: str) -> ResultTable:
    columns = (
        Column("model", [model.name for model in models], may_shorten=True),
        Column("runs", [len(model.runs) for model in models]),
        Column(quantity, [model.score for model in models]),
        Column(f"sd between runs [{level}]", [model.run_sd for model in models], _compact, key="run_sd"),
        Column("expected", [model.expected_run_sd for model in models], _three, key="expected_run_sd"),
        Column("item sd", [model.item_sd.value for model in models], _three, key="item_sd"),
    )
    return ResultTable("runs", "runs", columns, f"the overall {quantity} of each model", "run noise")


def _items_table(models: Sequence[ModelRuns], level: str) -> ResultTable:
    columns = (
        Column("model", [model.name for model in models], may_shorten=True),
        Column(f"ICC(2,1), one run [{level}]", [m.icc["ICC(2,1)"] for m in models], _compact, key="ICC(2,1)"),
        Column(f"ICC(2,k), mean of runs [{level}]", [m.icc["ICC(2,k)"] for m in models], _compact, key="ICC(2,k)"),
    )
    about = "targets: items of one model, raters: runs"
    return ResultTable("items", "items repeat?", columns, about, "intraclass correlation")


def _icc_table(title: str, targets: str, icc: Mapping[str, Estimate], level: str) -> ResultTable:
    single, mean = ICC_NAMES[:3], ICC_NAMES[3:]
    columns = (
        Column("", [f"ICC({i}), {meaning}" for i, meaning in enumerate(_ICC_MEANINGS, start=1)], key="icc"),
        Column(f"one run, ICC(·,1) [{level}]", [icc[name] for name in single], _compact, key="one_run"),
        Column(f"mean of runs, ICC(·,k) [{level}]", [icc[name] for name in mean], _compact, key="mean_of_runs"),
    )
    return ResultTable(f"{targets} icc", title, columns, f"targets: {targets}, raters: runs", "intraclass correlation")


def _components_table(components: Sequence[Component]) -> ResultTable:
    columns = (
        Column("source", [component.source for component in components]),
        Column("share", [component.share for component in components], words.fixed(1, percent=True)),
        Column("sd", [component.variance**0.5 for component in components], _three),
        Column("variance, as estimated", [component.estimated for component in components], _three, key="estimated"),
    )
    about = "of a single score, split by its source"
    return ResultTable("variance", "variance", columns, about, "variance components")


def _pairs_table(pairs: Sequence[ModelPair], level: str) -> ResultTable:
    columns = (
        Column("ahead", [pair.ahead for pair in pairs], may_shorten=True),
        Column("behind", [pair.behind for pair in pairs], may_shorten=True),
        Column("difference", [pair.difference for pair in pairs], _three),
        Column(f"order repeats [{level}]", [pair.repeats for pair in pairs], _probability, key="order_repeats"),
        Column(
            "detectable, new items",
            [pair.detectable for pair in pairs],
            key="detectable",
            written=[
                NONE_ON_SCALE if pair.detectable is None and pair.error else _three(pair.detectable) for pair in pairs
            ],
        ),
    )
    return ResultTable("pairs", "order repeats?", columns, "neighbours, the better one first")


def _three(value: float | None) -> str:
    return "undefined" if value is None else words.number(value, 3)


def _probability(found: Estimate) -> str:
    if found.value is None:
        return "undefined"
    limits = found.interval
    return words.share(found.value) + (
        "" if limits is None else f" [{words.share(limits.low)} to {words.share(limits.high)}]"
    )


def _with_limits(found: Estimate) -> str:
    """0.0788 [0.056 to 0.13]."""
    limits = found.interval
    return _three(found.value) + (
        "" if limits is None else f" [{words.number(limits.low, 2)} to {words.number(limits.high, 2)}]"
    )
