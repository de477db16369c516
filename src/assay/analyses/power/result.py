"""The record that `power` returns: the answer, its assumptions, and the curve around it."""

from typing import TYPE_CHECKING, Literal

import msgspec

from assay.analyses.power.looks import looks_fact, looks_section
from assay.data import Kind
from assay.results import words
from assay.results.figures import Axes, Curve, Gauge, Place, Series
from assay.results.parts import Caution, Column, Fact, ResultTable, Section, cautions_of
from assay.results.record import Result
from assay.stats.planning.plans import Goal
from assay.stats.records import Estimate, Interval
from assay.stats.sequential.study import Study

if TYPE_CHECKING:
    import pandas as pd

SolvedFor = Literal["items", "difference", "power"]

#: What a test is called in a sentence, and how its power is computed.
_TESTS = {
    "t": ("paired t test", "paired t, exact (noncentral t)"),
    "mcnemar-midp": ("McNemar's mid-p test", "McNemar's mid-p, over all numbers of items that differ"),
    "mcnemar": ("McNemar's exact test", "McNemar's exact p, over all numbers of items that differ"),
    "mcnemar-score": (
        "McNemar's score test with the design effect",
        "McNemar's score test with the design effect (noncentral t)",
    ),
    "equivalence": ("two one-sided t tests", "interval inside the margin (two one-sided t tests), exact"),
}
#: What the numbers of a plan are called, and the key of their explanation.
_ASSUMPTIONS = {
    "sd": ("sd of a difference", "sd of a difference"),
    "discordant": ("items that differ", "discordant"),
    "p_a": ("A is right on", None),
    "p_b": ("B is right on", None),
    "correlation": ("correlation", "correlation"),
    "cluster_size": ("items per cluster", None),
    "icc": ("icc within clusters", None),
    "repeats": ("runs of each item", None),
    "sd_within": ("sd between runs", None),
}
_EVERY = 8  # every eighth point of the curve is in its table: from a quarter to four times the items, by doublings
_NEARLY_ONE = 0.9995  # a correlation: losses often reach it, as the same text is hard for both


class Pilot(msgspec.Struct, frozen=True, kw_only=True):
    """Two systems on the same items: the spread of their differences, and how far it can be trusted."""

    systems: tuple[str, str]
    kind: Kind
    n: int
    n_clusters: int | None
    cluster_by: str | None
    sd: float  # of the differences of single items
    correlation: float | None  # of the two systems over items
    design_effect: float  # by how much clusters and weights multiply the variance of a mean
    discordant: float | None  # 0/1 scores: the share of items on which exactly one is right
    sd_within: tuple[float, float] | None  # between the runs of an item, of each system
    runs: float | None  # per item, of which the differences are means
    limits: Interval  # of n × the variance of the mean difference, or of the discordant share
    data: str  # the digest of the panel


class CurvePoint(msgspec.Struct, frozen=True):
    """The power, or the detectable difference, at so many items, with the limits that the pilot gives."""

    items: int
    value: float | None
    low: float | None
    high: float | None


class Power(Result, frozen=True, kw_only=True, tag="assay/power/1"):
    """How many items, how small a difference, or how much power: two are given, the third is the answer."""

    question = "How many items does it take?"
    kind_name = "power"

    solved_for: SolvedFor = msgspec.field(name="question")
    sentence: str
    answer: Estimate  # the interval is that of the pilot's estimate; none where numbers were given
    items: int
    difference: float | None  # None: not even the largest possible one is detected
    power: float | None
    test: str  # "t", "mcnemar-midp", "mcnemar", "mcnemar-score", "equivalence"
    unit: str  # "item", "window"
    clusters: float | None  # how many these items make, if they come in clusters
    goal: Goal
    assumptions: dict[str, float]  # the numbers that were given, or that the pilot gave
    pilot: Pilot | None
    curve: tuple[CurvePoint, ...]  # from a quarter to four times the items
    notes: tuple[str, ...]
    signature: str
    study: Study | None = None  # with several looks, where that was asked for

    @property
    def scale(self) -> str:
        """The unit of a difference, unless it is plain points of score."""
        return " nats per token" if self.pilot is not None and self.pilot.kind == "losses" else ""

    @property
    def error_of_each(self) -> str:
        """The false-alarm rate allowed for each comparison."""
        return f"{100 * (1 - self.goal.adjusted_level):.3g}%"

    @property
    def subject(self) -> str:
        return f"{self.items:,} {self.unit}s"

    @property
    def compared(self) -> tuple[Fact, ...]:
        if self.pilot is None:
            return ()
        return (Fact("pilot", self.pilot.n, None, words.count(self.pilot.n, self.unit)),)

    @property
    def gauge(self) -> Gauge | None:
        """The answer, with the range that the pilot leaves open."""
        value, limits = self.answer.value, self.answer.interval
        if value is None or limits is None:
            return None
        label, text = "answer, with what the pilot leaves open", words.estimate(value, limits)
        if all(float(number).is_integer() for number in (value, limits.low, limits.high)):
            text = f"{value:,.0f}  [{limits.low:,.0f} to {limits.high:,.0f}]"
        return Gauge(label, value, limits.low, limits.high, (), None, text)

    @property
    def facts(self) -> tuple[Fact, ...]:
        pilot = [] if self.pilot is None else _pilot_facts(self.pilot, self.unit)
        named = [(*_ASSUMPTIONS[name], value) for name, value in self.assumptions.items()]
        given = [Fact(label, value, key, words.number(value, 6)) for label, key, value in named]
        return (*self._answer_facts(), *given, *pilot)

    def _answer_facts(self) -> list[Fact]:
        difference = "none" if self.difference is None else words.number(self.difference, 6) + self.scale
        power = "undefined" if self.power is None else f"{self.power:.4f}"
        found = [
            Fact(f"{self.unit}s", self.items, "items"),
            *(() if self.study is None else (looks_fact(self),)),
            Fact("difference", self.difference, "difference", difference),
        ]
        margin = self.goal.margin
        if margin is not None:
            found.append(Fact("margin", margin, None, f"±{words.number(margin, 6)}{self.scale}"))
        return [
            *found,
            Fact("power", self.power, "power", power),
            Fact("test", self.test, "test", _TESTS[self.test][1]),
            Fact("level", self.goal.level, "level", self._level_text()),
        ]

    def _level_text(self) -> str:
        text = f"{words.percent(self.goal.level)}, two-sided"
        if self.goal.comparisons == 1:
            return text
        return f"{text}; {self.error_of_each} error for each of {self.goal.comparisons:,} comparisons (Bonferroni)"

    @property
    def cautions(self) -> tuple[Caution, ...]:
        return cautions_of(self.notes)

    @property
    def sections(self) -> tuple[Section, ...]:
        title = f"{self._y_name()[:1].upper()}{self._y_name()[1:]} by number of {self.unit}s"
        curve = Section("curve", title, figures=(self._figure(),), tables=(self._curve_table(),))
        return (curve,) if self.study is None else (looks_section(self), curve)

    def _y_name(self) -> str:
        return "detectable difference" if self.solved_for == "difference" else "power"

    def _curve_table(self) -> ResultTable:
        """The curve by doublings."""
        points = [point for point in self.curve if point.value is not None]
        middle = next((i for i, point in enumerate(points) if point.items == self.items), 0)
        chosen = points[middle % _EVERY :: _EVERY]
        level = "" if self.pilot is None else f" [{words.percent(self.goal.level)} by the pilot]"
        columns = (
            Column(f"{self.unit}s", [point.items for point in chosen], key="items"),
            Column(
                self._y_name() + level,
                [self._estimate(point) for point in chosen],
                self._curve_text,
                key=self._y_name().replace(" ", "_"),
                right=False,
            ),
        )
        return ResultTable("curve", "curve", columns, explained="power")

    def _estimate(self, point: CurvePoint) -> Estimate:
        if self.pilot is None or point.low is None or point.high is None:
            return Estimate(point.value, None, None, point.items)
        limits = Interval(point.low, point.high, self.pilot.limits.level, self.pilot.limits.method)
        return Estimate(point.value, limits, None, point.items)

    def _curve_text(self, found: Estimate) -> str:
        limits = found.interval
        numbers = [found.value, *([] if limits is None else [limits.low, limits.high])]
        value, *ends = (words.number(x or 0.0, 3) if self.solved_for == "difference" else f"{x:.3f}" for x in numbers)
        return f"{value}  [{' to '.join(ends)}]" if ends else value

    def _figure(self) -> Curve:
        """A line, the pilot's band, and the answer as a point with dashed lines to both axes."""
        x, y, low, high = zip(*((p.items, p.value, p.low, p.high) for p in self.curve), strict=True)
        falls = self.solved_for == "difference"
        value = self.difference if falls else self.power
        label = words.number(value or 0.0, 3) if falls else self.subject
        axes = Axes(
            f"detectable difference{self.scale}" if falls else "power",
            (Series("", x, y, low, high, style="line"),),
            places=() if value is None else (Place(self.items, value, label),),
            domain=None if falls else (0.0, 1.0),
            zero=falls,
            written=None if falls else ".0%",
        )
        ticks = sorted({round(self.items * 2**step) for step in range(-2, 3)})
        shown = {float(tick): f"{tick:,}" for tick in ticks if x[0] <= tick <= x[-1]}
        return Curve("power", self._figure_title(), self._figure_about(), f"{self.unit}s", (axes,), 2, shown)

    def _figure_title(self) -> str:
        if self.solved_for == "difference":
            return f"Difference that is detected with {words.percent(self.goal.power)} power"
        if self.goal.margin is not None:
            return f"Power to show equivalence within ±{words.number(self.goal.margin)}{self.scale}"
        return f"Power to detect a difference of {words.number(self.difference or 0.0)}{self.scale}"

    def _figure_about(self) -> tuple[str, ...]:
        """What the marks mean, in words."""
        test = _TESTS[self.test][0]
        line = f"{test[0].upper()}{test[1:]}, two-sided at {self.error_of_each}."
        if all(point.value is None for point in self.curve):
            return (line, f"None of these numbers of {self.unit}s detects a difference.")
        if self.pilot is None:
            return (line,)
        pilot, level = words.count(self.pilot.n, self.unit), words.percent(self.pilot.limits.level)
        return (line, f"Band: what the pilot of {pilot} leaves possible ({level} CI of the spread).")

    def to_frame(self) -> "pd.DataFrame":
        """The curve, a row for each number of items (pandas must be installed)."""
        import pandas as pd  # late: half a second, and not a dependency

        return pd.DataFrame(msgspec.to_builtins(self.curve))


def _pilot_facts(pilot: Pilot, unit: str) -> list[Fact]:
    clusters = "" if pilot.n_clusters is None else f" in {words.count(pilot.n_clusters, 'cluster')}"
    on = f"{' and '.join(pilot.systems)} on {words.count(pilot.n, unit)}{clusters}"
    found = [Fact("pilot", pilot.n, "pilot", on), Fact("sd of a difference", pilot.sd, "sd of a difference")]
    if pilot.discordant is not None:
        share = Estimate(pilot.discordant, pilot.limits, None, pilot.n)
        limits = f"{100 * pilot.limits.low:.1f} to {100 * pilot.limits.high:.1f}"
        text = f"{100 * pilot.discordant:.1f}  [{limits}] %"
        found.append(Fact("items that differ", share, "discordant", text))
    else:
        text = f"{pilot.design_effect:.3f}, of clusters and weights"
        found.append(Fact("design effect", pilot.design_effect, "design effect", text))
    if pilot.correlation is not None:
        shown = "over 0.999" if pilot.correlation >= _NEARLY_ONE else f"{pilot.correlation:.3f}"
        found.append(Fact("correlation", pilot.correlation, "correlation", f"{shown} of A and B over {unit}s"))
    if pilot.sd_within is not None and pilot.runs is not None:
        for system, sd in zip("AB", pilot.sd_within, strict=True):
            text = f"{words.number(sd, 3)}, of single items; {pilot.runs:.3g} runs each"
            found.append(Fact(f"sd between runs, {system}", sd, None, text))
    return found
