"""The record that `rank` returns."""

from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Literal

import msgspec

from assay.analyses.assumptions import LongPairs
from assay.analyses.rank import tables_and_charts
from assay.analyses.rank.changes import BoardChanges, changes_section
from assay.analyses.rank.records import (
    Adjust,
    BoardTask,
    RankedPair,
    RankedPairs,
    RankMethods,
    RestsOn,
    Reweighting,
    Standing,
    TopScore,
)
from assay.analyses.rank.sentences import rests_text
from assay.analyses.suite.tasks import TASK, WEIGHING
from assay.data import Kind
from assay.data.panel_views import Substance
from assay.design import Design
from assay.errors import InputError
from assay.names import plural
from assay.results import words
from assay.results.figures import Gauge, Mark
from assay.results.parts import Caution, Fact, Section, cautions_of
from assay.results.record import Result, Status
from assay.stats.records import Fallback

if TYPE_CHECKING:
    import pandas as pd

WIDTH = 80  # columns of a terminal, where nothing else is said
FEW_PAIRS = 10  # up to so many are all printed without being asked for
FEW_MODELS = 12  # up to so many the neighbours in the ranking are, and the scores by task
MOST_PAIRS = 2_000  # that a page has
MATRIX_FROM = 8  # models: from here on their pairs are drawn
MOST_NOTES = 5  # shown; `notes` has all
_MOST_NAMED = 6

_ADJUSTED: dict[Adjust, str] = {
    "holm": "Holm-adjusted",
    "bh": "adjusted by Benjamini and Hochberg",
    "max-t": "adjusted by max-T",
    "none": "not adjusted",
}


class Leaderboard(Result, frozen=True, kw_only=True, tag="assay/leaderboard/2"):
    """k models in their order, what tells them apart, and how far the order can be relied on."""

    question = "Which models can be told apart?"
    kind_name = "leaderboard"

    kind: Literal["leaderboard"]
    metric: Kind
    unit: str  # "window", "item"
    lower_is_better: bool
    sentence: str
    models: tuple[Standing, ...]  # the best first
    tiers: tuple[tuple[str, ...], ...]  # the names of the models in each tier
    confidence_set: tuple[str, ...]  # the models that may be the best: those that no other is shown to be better than
    top: TopScore
    adjust: Adjust
    pairs: RankedPairs  # every pair, in the order of the ranks
    reweightings: tuple[Reweighting, ...]
    by: str | None = None  # the label that tells tasks apart; None: items are taken together
    total: str | None = None  # what tasks weigh: "macro", "items", "groups" or "given"
    tasks: tuple[BoardTask, ...] = ()
    rests: tuple[RestsOn, ...] = ()  # on which task an order that is shown rests
    changes: BoardChanges | None = None  # against the board before, where one was continued
    n_units: int
    n_complete: int  # units that every model has answered
    n_clusters: int | None
    cluster_by: str | None
    substance: Substance | None = None  # how much evidence there is; `differing` is of the first two by name
    long_units: LongPairs | None = None  # where means rest on the longest units; None: all are as long
    lost: dict[str, int] = msgspec.field(default_factory=dict)  # by model: errors, nulls, empty cells; {}: none
    fallbacks: tuple[Fallback, ...]
    notes: tuple[str, ...]
    design: Design
    computed: RankMethods
    signature: str

    def __post_init__(self) -> None:
        count = len(self.models)
        if len(self.pairs) != count * (count - 1) // 2:
            raise ValueError(f"{count} models must have {count * (count - 1) // 2} pairs, but got {len(self.pairs)}")

    def pair(self, a: str, b: str) -> RankedPair:
        """The record of two models, whichever is ranked first."""
        names = [model.name for model in self.models]
        if a == b or a not in names or b not in names:
            raise InputError(f"no pair {a!r} and {b!r} among the models {', '.join(names)}.")
        return self.pairs[self._place(*sorted((names.index(a), names.index(b))))]

    def _place(self, first: int, second: int) -> int:
        """Where the pair of two places of the ranking is."""
        before = first * (2 * len(self.models) - first - 1) // 2  # pairs of the models that are ranked above the first
        return before + second - first - 1

    @property
    def subject(self) -> str:
        return words.count(len(self.models), "model")

    @property
    def status(self) -> Status:
        return "good" if len(self.confidence_set) == 1 else "unsure"

    @property
    def compared(self) -> tuple[Fact, ...]:
        return (Fact("models", len(self.models)), Fact("on", self.n_units, None, self._units()))

    @property
    def gauge(self) -> Gauge | None:
        """The first model less the second."""
        pair = self.pairs[0]
        value, limits = pair.difference.value, pair.difference.interval
        if value is None or limits is None:
            return None
        alone = "this pair alone: not adjusted for the number of pairs"
        which = f", {'interval for all pairs at once' if self.computed.simultaneous else alone}"
        return Gauge(
            f"{pair.a} − {pair.b}{which if len(self.pairs) > 1 else ''}",
            value,
            limits.low,
            limits.high,
            (Mark(0.0, "no difference"),),
            "lower" if self.lower_is_better else "higher",
            words.estimate(value, limits, sign=True),
        )

    @property
    def facts(self) -> tuple[Fact, ...]:
        level, others = words.percent(self.design.level), self.reweightings
        how = f"{level} {self.computed.intervals} of models; differences {self.computed.pair_intervals}"
        return (
            Fact("top score", self.top.corrected, "top score", self._top()),
            Fact("may be best", self._best(), "may be best"),
            Fact("tiers", len(self.tiers), "tiers", self._told_apart()),
            *([] if self.by is None else [Fact("total", self.total, "ranked tasks", self.weighing)]),
            *(Fact("weights", one.tau, "other weights", one.text(self.unit, self._against())) for one in others),
            *self._order(),
            Fact("tests", self._tests(), "tests"),
            Fact("data", self.n_units, "data", self._units()),
            Fact("interval", how, "interval"),
        )

    def _against(self) -> str:
        return "equal weights" if self.by is None else f"the {self.weighing}"

    def _top(self) -> str:
        top, limits = self.top, self.top.corrected.interval
        if top.corrected.value is None or limits is None:
            return f"{top.name} {words.number(top.estimate)}"
        measured = words.placed(top.estimate, words.decimals(limits))
        corrected = words.estimate(top.corrected.value, limits)
        return f"{top.name} {measured}; corrected for being the best of {len(self.models)}: {corrected}"

    def _best(self) -> str:
        """With Holm's and max-T's p-values no claim at all is false at the level of the design, nor is this."""
        if not self.confidence_set:
            return "none: each is shown to be worse than another"
        sure = f" ({words.percent(self.design.level)} confidence)" if self.adjust in ("holm", "max-t") else ""
        return f"{words.listed(self.confidence_set, _MOST_NAMED)}: no other is shown to be better{sure}"

    def _told_apart(self) -> str:
        pairs = words.count(len(self.pairs), "pair")
        return f"{len(self.tiers)}; {self.pairs.told_apart:,} of {pairs} told apart; those that share a letter are not"

    def _tests(self) -> str:
        drawn = f"{self.computed.flips or 0:,} random flips, seed {self.design.seed}"
        how = drawn if self.computed.tests == "shared signs" else self.computed.tests
        return f"{self.pairs.test.names} ({how}), {_ADJUSTED[self.adjust]}, at {words.number(1 - self.design.level)}"

    @property
    def measured(self) -> str:
        """What models are ranked by."""
        return "loss (nats per token)" if self.metric == "losses" else "score"

    @property
    def weighing(self) -> str:
        """What the mean of several tasks is."""
        return WEIGHING[self.total or "macro"].format(bys=plural(self.by or TASK), unit=self.unit)

    def _order(self) -> tuple[Fact, ...]:
        """On which tasks an order that is shown rests; nothing where none is."""
        if not self.rests:
            return ()
        turned = [one for one in self.rests if one.turns]
        least = min(self.rests, key=lambda one: one.without)
        return (Fact("rests on", least.without, "rests on", rests_text(turned, least, self.by or TASK)),)

    def _units(self) -> str:
        of = "" if self.by is None else f" of {words.count(len(self.tasks), self.by)}"
        units = words.count(self.n_units, self.unit) + of
        holes = "" if self.n_complete == self.n_units else f", {self.n_complete:,} of them answered by all"
        if self.n_clusters is None:
            return units + holes
        return f"{units} in {words.count(self.n_clusters, 'cluster')} ({self.cluster_by}){holes}"

    @property
    def cautions(self) -> tuple[Caution, ...]:
        more = len(self.notes) - MOST_NOTES
        notes = [*self.notes[:MOST_NOTES], *([f"and {more} more, in the JSON"] if more > 0 else [])]
        return cautions_of(notes, self.fallbacks)

    @property
    def sections(self) -> tuple[Section, ...]:
        return self._sections(range(len(self.pairs)) if len(self.pairs) <= MOST_PAIRS else ())

    def _sections(self, pairs: Sequence[int], *, all_tasks: bool = True) -> tuple[Section, ...]:
        found = [] if self.changes is None else [changes_section(self.changes)]
        found += [
            Section(
                "models",
                "Models",
                figures=(tables_and_charts.forest(self),),
                tables=(tables_and_charts.model_table(self),),
            )
        ]
        if self.tasks and all_tasks:
            title = plural(self.by or TASK).capitalize()
            found.append(
                Section(
                    "tasks",
                    title,
                    figures=(tables_and_charts.matrix(self),),
                    tables=(tables_and_charts.task_table(self),),
                )
            )
        if pairs:
            figures = (tables_and_charts.pair_matrix(self),) if len(self.models) >= MATRIX_FROM else ()
            found.append(
                Section("pairs", "Pairs", figures=figures, tables=(tables_and_charts.pair_table(self, pairs),))
            )
        return tuple(found)

    def to_text(
        self, width: int | None = WIDTH, *, verbose: bool = False, full: bool = False, all_pairs: bool = False
    ) -> str:
        """As a terminal of this width shows it; of many pairs the neighbours only, unless all are asked for."""
        from assay.results.text import TextStyle, result_text  # late: it loads what measures the width of letters

        style = TextStyle(width, verbose, full or all_pairs)
        pairs = range(len(self.pairs)) if all_pairs else self._main_pairs()
        return result_text(self, style, self._sections(pairs, all_tasks=len(self.models) <= FEW_MODELS))

    def _main_pairs(self) -> Sequence[int]:
        """Where all pairs are if they are few, else the neighbours in the ranking if these are."""
        if len(self.pairs) <= FEW_PAIRS:
            return range(len(self.pairs))
        count = len(self.models)
        return [self._place(*both) for both in pairwise(range(count))] if count <= FEW_MODELS else ()

    def to_frame(self) -> "pd.DataFrame":
        """A row for each model (pandas must be installed)."""
        return tables_and_charts.model_table(self).to_frame()

    def pair_frame(self) -> "pd.DataFrame":
        """A row for each pair of models (pandas must be installed)."""
        return tables_and_charts.pair_table(self, range(len(self.pairs))).to_frame()

    def task_frame(self) -> "pd.DataFrame":
        """A row for each task, a column for each model (pandas must be installed)."""
        return tables_and_charts.task_table(self).to_frame()
