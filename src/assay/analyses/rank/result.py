"""The record that `rank` returns."""

from collections.abc import Sequence
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, Literal

import msgspec

from assay.analyses.assumptions import LongPairs
from assay.analyses.rank.records import (
    Adjust,
    PairVerdict,
    RankedPair,
    RankedPairs,
    RankMethods,
    Reweighting,
    Standing,
    TopScore,
)
from assay.data import Kind
from assay.data.panel_views import Substance
from assay.design import Design
from assay.errors import InputError
from assay.results import words
from assay.results.figures import Forest, Gauge, Line, Mark, SecondMark
from assay.results.parts import Caution, Column, Fact, ResultTable, Section, Value, cautions_of
from assay.results.record import Result, Status
from assay.stats.records import Estimate, Fallback, Interval

if TYPE_CHECKING:
    import pandas as pd

WIDTH = 80  # columns of a terminal, where nothing else is said
FEW_PAIRS = 10  # up to so many are all printed without being asked for
FEW_MODELS = 12  # up to so many the neighbours in the ranking are
MOST_PAIRS = 2_000  # that a page has
MOST_NOTES = 5  # shown; `notes` has all
_MOST_NAMED = 6

_SIGNS: dict[PairVerdict, str] = {"better": ">", "worse": "<", "not told apart": "≈"}
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
    confidence_set: tuple[str, ...]  # the models that hold the best one at the level of the design
    top: TopScore
    adjust: Adjust
    pairs: RankedPairs  # every pair, in the order of the ranks
    reweightings: tuple[Reweighting, ...]
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
        best = f"{words.listed(self.confidence_set, _MOST_NAMED)} ({level} model confidence set)"
        how = f"{level} {self.computed.intervals} of models; differences {self.computed.pair_intervals}"
        return (
            Fact("top score", self.top.corrected, "top score", self._top()),
            Fact("may be best", best, "may be best"),
            Fact("tiers", len(self.tiers), "tiers", self._told_apart()),
            *(Fact("weights", other.tau, "other weights", other.text(self.unit)) for other in others),
            Fact("tests", self._tests(), "tests"),
            Fact("data", self.n_units, "data", self._units()),
            Fact("interval", how, "interval"),
        )

    def _top(self) -> str:
        top, limits = self.top, self.top.corrected.interval
        if top.corrected.value is None or limits is None:
            return f"{top.name} {words.number(top.estimate)}"
        measured = words.placed(top.estimate, words.decimals(limits))
        corrected = words.estimate(top.corrected.value, limits)
        return f"{top.name} {measured}; corrected for being the best of {len(self.models)}: {corrected}"

    def _told_apart(self) -> str:
        pairs = words.count(len(self.pairs), "pair")
        return f"{len(self.tiers)}; {self.pairs.told_apart:,} of {pairs} told apart; those that share a letter are not"

    def _tests(self) -> str:
        drawn = f"{self.computed.flips or 0:,} random flips, seed {self.design.seed}"
        how = drawn if self.computed.tests == "shared signs" else self.computed.tests
        return f"{self.pairs.test.names} ({how}), {_ADJUSTED[self.adjust]}, at {words.number(1 - self.design.level)}"

    def _units(self) -> str:
        units = words.count(self.n_units, self.unit)
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

    def _sections(self, pairs: Sequence[int]) -> tuple[Section, ...]:
        models = Section("models", "Models", figures=(self._forest(),), tables=(self._model_table(),))
        return (models, *([Section("pairs", "Pairs", tables=(self._pair_table(pairs),))] if pairs else []))

    def to_text(self, width: int | None = WIDTH, *, all_pairs: bool = False) -> str:
        """As a terminal of this width shows it; of many pairs the neighbours only, unless all are asked for."""
        from assay.results.text import result_text  # late: it loads what measures the width of letters

        return result_text(self, width, self._sections(range(len(self.pairs)) if all_pairs else self._main_pairs()))

    def _main_pairs(self) -> Sequence[int]:
        """Where all pairs are if they are few, else the neighbours in the ranking if these are."""
        if len(self.pairs) <= FEW_PAIRS:
            return range(len(self.pairs))
        count = len(self.models)
        return [self._place(*both) for both in pairwise(range(count))] if count <= FEW_MODELS else ()

    def to_frame(self) -> "pd.DataFrame":
        """A row for each model (pandas must be installed)."""
        return self._model_table().to_frame()

    def pair_frame(self) -> "pd.DataFrame":
        """A row for each pair of models (pandas must be installed)."""
        return self._pair_table(range(len(self.pairs))).to_frame()

    def _model_table(self) -> ResultTable:
        """Rank, tier, name, estimate, probability of being the best; frames have all else that is known of a model."""
        found, losses = self.models, self.metric == "losses"
        places = words.shared_decimals((model.estimate.interval for model in found), digits=3)
        value, limits = partial(_value, places=places, sign=False), partial(_limits, places=places, sign=False)
        interval = f"{words.percent(self.design.level)} interval"
        ppl = [None if model.perplexity is None else model.perplexity.value for model in found]
        ranks, whole = [model.ranks_text for model in found], self.n_complete == self.n_units
        columns = (
            Column("rank", [m.rank for m in found]),
            Column("ranks", [m.ranks[0] for m in found], key="ranks_low", right=False, written=ranks),
            Column("tier", [m.tier for m in found], right=False, written=[m.tier_text for m in found]),
            Column("model", [m.name for m in found], key="name", may_shorten=True),
            Column("loss" if losses else "score", [m.estimate.value for m in found], value, "estimate"),
            Column(interval, [m.estimate.interval for m in found], limits, "estimate"),
            Column("ppl", ppl, key="perplexity", hidden=not losses),
            Column("n", [m.answered for m in found], key="answered", hidden=whole),
            Column("best", [m.probability_best for m in found], words.chance, "probability_best"),
            Column("set", [m.in_confidence_set for m in found], key="in_confidence_set", right=False),
            Column("ranks_high", [m.ranks[1] for m in found], hidden=True),
            Column("letters", [" ".join(m.letters) for m in found], hidden=True),
            Column("standard_error", [m.estimate.standard_error for m in found], hidden=True),
            Column("mean", [m.mean for m in found], hidden=True),
            Column("bootstrap_ranks_low", [m.bootstrap_ranks[0] for m in found], hidden=True),
            Column("bootstrap_ranks_high", [m.bootstrap_ranks[1] for m in found], hidden=True),
            Column("set_p_value", [m.set_p_value for m in found], hidden=True),
        )
        return ResultTable("models", "", columns, explained="ranked models")

    def _pair_table(self, places: Sequence[int]) -> ResultTable:
        """Difference, p-value and adjusted p-value of some pairs; frames have the effect sizes as well."""
        pairs, found = self.pairs, self.pairs.difference
        intervals = [found.interval(place, pairs.level) for place in places]
        decimals = words.shared_decimals(intervals, digits=2)
        value, limits = partial(_value, places=decimals, sign=True), partial(_limits, places=decimals, sign=True)
        which = " interval" if len(pairs) == 1 else ", all pairs" if self.computed.simultaneous else ", unadjusted"

        def some(column: Sequence[Value]) -> list[Value]:
            return [column[place] for place in places]

        columns = (
            Column("A", some(pairs.a), key="a", may_shorten=True),
            Column("", some(pairs.verdict), _SIGNS.__getitem__, "verdict"),
            Column("B", some(pairs.b), key="b", may_shorten=True),
            Column("A − B", some(found.value), value, "difference"),
            Column(f"{words.percent(self.design.level)}{which}", intervals, limits, "difference"),
            Column("p", some(pairs.test.p_value), words.p_alone, "p_value"),
            Column("adjusted", some(pairs.p_adjusted), words.p_alone, "p_adjusted"),
            Column("standard_error", some(found.standard_error), hidden=True),
            *(Column(name, some(sizes.value), hidden=True) for name, sizes in pairs.effect_sizes.items()),
            Column("n", some(found.n), hidden=True),
        )
        return ResultTable("pairs", "", columns, explained="ranked pairs")

    def _forest(self) -> Forest:
        """Every model with its interval, coloured by tier; the corrected top score below the first."""
        what = "loss (nats per token)" if self.metric == "losses" else "score"
        level = words.percent(self.design.level)
        clusters = "" if self.n_clusters is None else f" in {words.count(self.n_clusters, 'cluster')}"
        return Forest(
            "models",
            self.question,
            (
                f"Lines: {level} intervals of single models ({words.count(self.n_units, self.unit)}{clusters}).",
                "Colour and shape: tiers. Models that share a letter are not told apart.",
                f"Open diamond: the top score corrected for being the best of {len(self.models)}.",
            ),
            f"{what}, lower is better" if self.lower_is_better else what,
            tuple(map(self._line, self.models)),
            groups=tuple(f"tier {tier}" for tier in range(1, len(self.tiers) + 1)),
            legend=False,
        )

    def _line(self, model: Standing) -> Line:
        low, high = _ends(model.estimate)
        note = f"tier {model.tier_text} · rank {model.ranks_text} · best {words.chance(model.probability_best)}"
        corrected = self.top.corrected
        marked = model.name == self.top.name and corrected.interval is not None
        others = (SecondMark(corrected.value, *_ends(corrected)),) if marked else ()
        return Line(model.name, model.estimate.value, low, high, f"tier {model.tier}", others, note)


def _value(value: float | None, places: int | None, *, sign: bool) -> str:
    return "–" if value is None else words.placed(value, places, sign=sign)


def _limits(limits: Interval | None, places: int | None, *, sign: bool) -> str:
    return "–" if limits is None else words.limits_at(limits, places, sign=sign)


def _ends(found: Estimate) -> tuple[float | None, float | None]:
    return (None, None) if found.interval is None else (found.interval.low, found.interval.high)
