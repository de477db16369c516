"""The record that `compare` returns."""

from functools import partial
from math import exp, floor, log10
from typing import Literal

import msgspec

from assay.analyses.assumptions import length_facts, notes_with
from assay.analyses.compare.chart_data import ChartData
from assay.analyses.compare.pair_facts import POWER, PairFacts, RightCounts
from assay.analyses.contrast import Reliance, Verdict
from assay.analyses.fixed_set import set_fact
from assay.analyses.runs_like_these import RunsLikeThese
from assay.data import Dropped, Kind
from assay.data.panel_views import Substance
from assay.design import Design
from assay.results import words
from assay.results.figures import BarPart, Bars, Distribution, Figure, Gauge, Histogram, Mark, Point, Points
from assay.results.parts import Caution, CheckedCase, Column, Fact, ResultTable, Section, cautions_of
from assay.results.record import Result, Status
from assay.stats.assumptions import AlikeUnits, LongUnits
from assay.stats.finite_set import CENSUS
from assay.stats.records import Estimate, Fallback, Interval, Test
from assay.stats.rounding import TOLERANCE

STATUS: dict[Verdict, Status] = {
    "better": "good",
    "worse": "bad",
    "no difference shown": "unsure",
    "equivalent": "good",
    "undecided": "unsure",
}
#: What a verdict is in a table of tests: that nothing was shown is no failure, that nothing can be said no success.
OUTCOMES: dict[Verdict, Literal["passed", "failed", "skipped"]] = {
    "better": "passed",
    "worse": "failed",
    "no difference shown": "passed",
    "equivalent": "passed",
    "undecided": "skipped",
}


class Systems(msgspec.Struct, frozen=True):
    """The names of the two."""

    a: str
    b: str


class PairedQuantity(msgspec.Struct, frozen=True):
    """A quantity of both systems and the difference B − A."""

    a: float | None  # None: nothing to measure
    b: float | None
    difference: Estimate


class HowComputed(msgspec.Struct, frozen=True, kw_only=True):
    """How the numbers came about: what ran, as opposed to what the design asked for."""

    scheme: str  # "windows" or "tokens"
    scheme_reason: str
    distribution: str  # "characteristic function", "lattice", "enumeration", "resampling", "closed form"
    resamples: int | None  # random replicates used; None: none, the distribution is exact
    test_p: float | None = None  # of the test alone; the result's p is the larger of the two
    interval_p: float | None = None  # the smallest α at which the interval alone leaves out 0
    design_effect: float | None = None  # of 0/1 scores with clusters or weights
    degrees_of_freedom: float | None = None  # likewise
    rounded: int = 0  # units whose difference is rounding and counts as 0
    rounding: float = TOLERANCE  # of the values that were subtracted


class Comparison(Result, frozen=True, kw_only=True, tag="assay/comparison/1"):
    """Everything that was found out about B against A."""

    question = "Is B different from A?"
    kind_name = "comparison"

    kind: Kind
    unit: str  # "window", "item"
    systems: Systems
    lower_is_better: bool
    verdict: Verdict
    sentence: str
    a: float | None  # mean loss or mean score; None: nothing to measure
    b: float | None
    difference: Estimate  # B − A: nats per token, or points of score
    runs_like_these: RunsLikeThese | None = None  # the same difference; None: not several complete runs of both
    ratio: Estimate | None = None  # losses: perplexity of B over A
    bits_per_byte: PairedQuantity | None = None  # where the columns exist
    bits_per_character: PairedQuantity | None = None
    p_value: float | None
    test: Test
    effect_sizes: dict[str, Estimate]
    n_pairs: int
    population: int | None = None  # units in all, of which these are a random part; None: the answer is not about a set
    pairing: PairFacts | None = None  # what comparing in pairs gains; None: nothing was compared
    n_clusters: int | None
    cluster_by: str | None
    substance: Substance | None = None  # how much evidence there is; None: nothing was compared
    reliance: Reliance | None = None  # whether a verdict may rest on it
    long_units: LongUnits | None = None  # whether the mean rests on the longest units; None: all are as long
    same_document: AlikeUnits | None = None  # whether units of a document are alike; None: drawn whole, or not known
    degenerate: bool
    dropped: Dropped
    lost: dict[str, int] = msgspec.field(default_factory=dict)  # by model: errors, nulls, empty cells; {}: none
    fallbacks: tuple[Fallback, ...]
    notes: tuple[str, ...]
    design: Design
    computed: HowComputed
    measure: str | None = None  # what a score is, for people: "bits per byte"
    chart_data: ChartData | None = msgspec.field(default=None, name="picture")  # None: nothing was compared
    signature: str

    @property
    def sizes(self) -> dict[str, PairedQuantity]:
        """Bits per byte and per character, as far as they were measured."""
        found = {"bits_per_byte": self.bits_per_byte, "bits_per_character": self.bits_per_character}
        return {name: shown for name, shown in found.items() if shown is not None}

    @property
    def subject(self) -> str:
        return f"{self.systems.a} → {self.systems.b}"

    @property
    def status(self) -> Status:
        return STATUS[self.verdict]

    @property
    def cases(self) -> tuple[CheckedCase, ...]:
        return (CheckedCase(self.subject, OUTCOMES[self.verdict], self.verdict, self.sentence),)

    @property
    def compared(self) -> tuple[Fact, ...]:
        pairs = words.count(self.n_pairs, self.unit)
        clusters = "" if self.n_clusters is None else f" in {words.count(self.n_clusters, 'cluster')}"
        return (Fact("A", self.systems.a), Fact("B", self.systems.b), Fact("on", self.n_pairs, None, pairs + clusters))

    @property
    def gauge(self) -> Gauge | None:
        """The ratio against 1 where there is one, else the difference against 0; with the margin, if one was given."""
        found = self.difference if self.ratio is None else self.ratio
        if found.value is None or found.interval is None:
            return None
        marks = [Mark(0.0 if self.ratio is None else 1.0, "no difference")]
        margin = self.design.margin
        if margin is not None and self.ratio is None:
            marks += [Mark(-margin, f"−{words.number(margin)}"), Mark(margin, f"+{words.number(margin)}")]
        return Gauge(
            f"difference in {self.measure}, B − A" if self.ratio is None else "perplexity, B / A",
            found.value,
            found.interval.low,
            found.interval.high,
            tuple(marks),
            "lower" if self.lower_is_better else "higher",
            words.estimate(found.value, found.interval, sign=self.ratio is None, null=marks[0].place),
        )

    @property
    def facts(self) -> tuple[Fact, ...]:
        return (*self._main_facts(), *self._evidence_facts())

    @property
    def main_table(self) -> ResultTable:
        """The comparison in a row, as papers print it."""
        shown = self.difference if self.ratio is None else self.ratio
        name = "B − A" if self.ratio is None else "B / A"
        sign, null = self.ratio is None, None if self.ratio is None else 1.0
        columns = (
            Column("A", [self.systems.a]),
            Column("B", [self.systems.b]),
            Column("n", [self.n_pairs]),
            Column(f"{self._quantity}, A", [self.a], key="a"),
            Column(f"{self._quantity}, B", [self.b], key="b"),
            Column(
                name, [shown], partial(words.with_interval, sign=sign, null=null), key="difference" if sign else "ratio"
            ),
            Column("p", [self.p_value], words.p_alone, key="p_value"),
        )
        return ResultTable("comparison", "", columns)

    @property
    def _quantity(self) -> str:
        return "loss" if self.kind == "losses" else str(self.measure)

    @property
    def main_facts(self) -> tuple[Fact, ...]:
        """Both values, the difference or the ratio, p, and how many pairs there are."""
        one = "perplexity ratio" if self.ratio is not None else "difference"
        keys = ("loss", "score", one, "runs like these", "test", "pairs", "right", "pairing", "could have shown")
        return tuple(fact for fact in self.facts if fact.key in keys)

    def _main_facts(self) -> list[Fact]:
        losses = self.kind == "losses"
        name, key = ("loss (nats per token)", "loss") if losses else (str(self.measure), "score")
        a, b = _both(self.a, self.b)
        found = [
            Fact(f"{name}, A", self.a, key, a),
            Fact(f"{name}, B", self.b, key, b),
            self._compared("difference B − A", self.difference, "difference", sign=True),
        ]
        if self.runs_like_these is not None:
            found.append(self.runs_like_these.fact)
        if self.ratio is not None:
            found.append(self._compared("perplexity B / A", self.ratio, "perplexity ratio", null=1.0))
        for label, shown in self.sizes.items():
            both = " → ".join(_both(shown.a, shown.b))
            values = f"{both}, {words.with_interval(shown.difference, sign=True)}"
            found.append(Fact(label.replace("_", " "), shown.difference, "bits", values))
        return found

    def _compared(
        self, label: str, found: Estimate, key: str, *, sign: bool = False, null: float | None = None
    ) -> Fact:
        """The difference or the ratio; of a single unit there is no interval."""
        collapsed = found.interval is not None and found.interval.method == "degenerate"
        if collapsed and self.difference.n == 1:
            return Fact(label, found, key, words.of_one(found, self._drawn_unit, sign=sign))
        return _estimated(label, found, key, sign=sign, null=null)

    def _evidence_facts(self) -> list[Fact]:
        found = [Fact(f"test ({self.test.name})", self.p_value, "test", self._p_text())]
        found += [
            _estimated(f"effect size {name}", estimate, "effect size", sign=True)
            for name, estimate in self.effect_sizes.items()
        ]
        pairs = words.count(self.n_pairs, self.unit)
        if self.n_clusters is not None:
            pairs += f" in {words.count(self.n_clusters, 'cluster')} ({self.cluster_by})"
        found += [
            Fact("pairs", self.n_pairs, "pairs", pairs + self._worth()),
            *([] if self.population is None else [set_fact(self.population, self.unit)]),
            *self._pairing_facts(),
            *length_facts(self.long_units, self._drawn_unit, self.kind),
            Fact("interval", self._how(), "interval"),
        ]
        if self.kind == "losses":
            found.append(Fact("scheme", f"{self.computed.scheme}: {self.computed.scheme_reason}", "scheme"))
        return found

    def _pairing_facts(self) -> list[Fact]:
        """Who alone is right, what pairing saved, and what so many pairs could have shown."""
        if self.pairing is None:
            return []
        found, pairing = list[Fact](), self.pairing
        if pairing.right is not None:
            found.append(Fact("right", None, "right", str(pairing.right)))
        if pairing.correlation is not None and pairing.saved is not None:
            gained = (
                f"; {words.share(pairing.saved)} fewer {self.unit}s than unpaired" if pairing.saved >= 0.005 else ""
            )
            shown = f"correlation {pairing.correlation:.3f}{gained}"
            found.append(Fact("pairing", pairing.correlation, "pairing", shown))
        if pairing.detectable is not None:
            found.append(Fact("could have shown", pairing.detectable, "could have shown", self._could_show()))
        return found

    def _could_show(self) -> str:
        assert self.pairing is not None
        assert self.pairing.detectable is not None
        size = self.pairing.detectable
        ratio = words.number(exp(min(size, 700.0)), _digits_of_ratio(size))
        shown = words.number(size, 2) if self.ratio is None else f"a ratio of {ratio}"
        return f"{shown}, with {words.percent(POWER)} power"

    def _worth(self) -> str:
        """As how many units of equal weight they count, and how many differ, where that is less."""
        found = self.substance
        if found is None:
            return ""
        parts = []
        if found.effective < 0.95 * found.units:
            parts.append(f"worth {found.effective:.3g} of equal weight, the largest {100 * found.largest:.2g}% of all")
        if found.differing is not None and found.differing < self.n_pairs:
            parts.append(f"{found.differing:,} {'differs' if found.differing == 1 else 'differ'}")
        return "".join(f"; {part}" for part in parts)

    def _p_text(self) -> str:
        """The p-value of the verdict; where the interval raised it, the test's own beside it."""
        if self.test.p_value is None:
            return f"undefined: {self.test.reason}"
        alone, shown = self.computed.test_p, words.p_value(self.test.p_value)
        raised = alone is not None and words.p_value(alone) != shown
        return f"{shown}, the interval's; {words.p_value(alone)} by the test alone" if raised and alone else shown

    def _how(self) -> str:
        level, limits, computed = words.percent(self.design.level), self.difference.interval, self.computed
        sources = {
            "closed form": "closed form",
            "resampling": f"{computed.resamples or 0:,} random resamples, seed {self.design.seed}",
        }
        how = sources.get(computed.distribution, f"exact, all resamples ({computed.distribution})")
        if limits is not None and limits.method == CENSUS:
            return f"none: all {words.count(self.n_pairs, self.unit)} are there"
        return "undefined: no pairs" if limits is None else f"{level} {limits.method}, {how}"

    @property
    def cautions(self) -> tuple[Caution, ...]:
        found = []
        lost = self.dropped.only_a + self.dropped.only_b
        if lost:
            examples = ", ".join(self.dropped.examples)
            text = f"{lost} not paired ({self.dropped.only_a} only in A, {self.dropped.only_b} only in B): {examples}"
            found.append(Caution("dropped", text))
        notes = notes_with(self.notes, self.long_units, self.same_document, self._drawn_unit, self.kind)
        return (*found, *cautions_of((*notes, *self._not_drawn()), self.fallbacks))

    @property
    def _drawn_unit(self) -> str:
        return self.unit if self.n_clusters is None else "cluster"

    def _not_drawn(self) -> list[str]:
        """Replicates that were asked for and had no part in the interval."""
        limits, closed = self.difference.interval, self.computed.distribution == "closed form"
        unused = self.design.resamples is not None and closed and not self.degenerate
        return [words.not_drawn([limits.method])] if unused and limits is not None else []

    @property
    def sections(self) -> tuple[Section, ...]:
        figures: list[Figure] = [] if self.gauge is None else [self.gauge]
        limits, value = self.difference.interval, self.difference.value
        if self.pairing is not None and self.pairing.right is not None:
            figures.append(self._right_and_wrong(self.pairing.right))
        elif self.chart_data is not None:
            figures.append(self._by_unit(self.chart_data))
        if self.chart_data is not None and self.chart_data.edges and limits is not None and value is not None:
            figures.append(self._distribution(self.chart_data, limits, value))
        return (Section("charts", "Charts", figures=tuple(figures)),) if figures else ()

    def _right_and_wrong(self, right: RightCounts) -> Bars:
        """Of 0/1 scores: one bar of all items, by who is right."""
        parts = (
            BarPart("both right", right.both, "same"),
            BarPart(f"only {self.systems.a}", right.only_a, "first"),
            BarPart(f"only {self.systems.b}", right.only_b, "second"),
            BarPart("neither", right.neither, "none"),
        )
        alone = words.count(right.only_a + right.only_b, self.unit)
        about = (f"The verdict rests on the {alone} that one alone has right.",)
        return Bars("right", f"Who is right, on {words.count(self.n_pairs, self.unit)}", about, f"{self.unit}s", parts)

    def _by_unit(self, data: ChartData) -> Points:
        """B − A of each unit, or of neighbours together, with the overall difference and its interval as a band."""
        points = tuple(
            Point(place + 1, one.difference, str(one), size=one.weight) for place, one in enumerate(data.neighbours)
        )
        several = any(one.count > 1 for one in data.neighbours)
        together = "Some dots are neighbours taken together. " if several else ""
        limits, value = self.difference.interval, self.difference.value
        return Points(
            "differences",
            f"The difference by {self.unit}",
            (f"{together}Band: the overall difference with its interval.",),
            (f"{self.unit}s in the order of their ids" + (", some together" if several else ""), self._axis()),
            points,
            None if limits is None or value is None else (limits.low, value, limits.high),
            (Mark(0.0, "no difference", dashed=False),),
        )

    def _distribution(self, data: ChartData, limits: Interval, value: float) -> Distribution:
        """The bootstrap distribution of the difference, with the limits that were read from it."""
        level, drawn = words.percent(limits.level), self.computed.resamples
        how = "all resamples" if drawn is None else f"{drawn:,} random resamples"
        marks = (Mark(value, "difference", dashed=False), Mark(0.0, "no difference"))
        histogram = Histogram("", data.edges, data.shares, (limits.low, limits.high), marks)
        about = (
            f"The bootstrap distribution ({how}). Orange: {level} {limits.method} limits.",
            "Solid line: the difference that was found. Dashed: no difference.",
        )
        title = "Where the difference would fall again"
        return Distribution("distribution", title, about, self._axis(), (histogram,), "share of resamples")

    def _axis(self) -> str:
        return f"B − A, {'nats per token' if self.kind == 'losses' else self.measure}"


def _digits_of_ratio(log: float) -> int:
    """Significant digits at which a ratio above 1 shows what it is above it: 1.005, 1.0001; at least four.

    >>> _digits_of_ratio(0.005), _digits_of_ratio(0.00014)
    (4, 5)
    """
    return 4 if log <= 0 else min(max(1 - floor(log10(log)), 4), 15)


def _both(a: float | None, b: float | None) -> tuple[str, str]:
    return ("undefined", "undefined") if a is None or b is None else words.apart(a, b, 6)


def _estimated(label: str, estimate: Estimate, key: str, *, sign: bool = False, null: float | None = None) -> Fact:
    return Fact(label, estimate, key, words.with_interval(estimate, sign=sign, null=null))
