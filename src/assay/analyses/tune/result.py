"""The record that `tune` returns: its facts, sections and figures."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Literal

import msgspec

from assay.analyses.tune import tables
from assay.analyses.tune.advice import Recommendation
from assay.analyses.tune.arms import ArmSummary, Sensitivity
from assay.analyses.tune.contrasts import Adaptation, Contrast, ContrastVerdict
from assay.analyses.tune.criteria import Criterion, ExecutiveLine
from assay.analyses.tune.curves import StepCurve
from assay.analyses.tune.language import Language
from assay.analyses.tune.targets import Targets
from assay.design import Design
from assay.results import words
from assay.results.figures import Axes, Curve, Figure, Gauge, Mark, Point, Points, Series, unbeaten
from assay.results.parts import Caution, Column, Fact, ResultTable, Section, Value, cautions_of
from assay.results.record import MAIN_FACTS, Result, Status
from assay.stats.records import Estimate

if TYPE_CHECKING:
    import pandas as pd

_STATUS: dict[ContrastVerdict, Status] = {
    "better": "good",
    "worse": "bad",
    "no difference shown": "unsure",
    "undecided": "unsure",
    "not measured": "plain",
}
COMPACT_FROM = 8  # arms


class DetailedMetrics(msgspec.Struct, frozen=True):
    """Everything that was measured of every arm, and over learning rates."""

    arms: tuple[ArmSummary, ...]
    sensitivity: tuple[Sensitivity, ...]
    divisors: dict[str, str]  # of variances and standard deviations: n − 1 or n


class StatisticalAnalysis(msgspec.Struct, frozen=True):
    """Every arm against the untrained base, and against the baseline."""

    baseline: str | None
    adapted: tuple[Adaptation, ...]
    contrasts: tuple[Contrast, ...]


class TuningReport(Result, frozen=True, kw_only=True, tag="assay/tuning/2"):
    """Training runs side by side: what they cost, how they converge, and whether one is really better."""

    question = "Which way to train is better, and what does it cost?"
    kind_name = "tuning"

    kind: Literal["tuning"]
    sentence: str
    executive_summary: tuple[ExecutiveLine, ...]
    detailed_metrics: DetailedMetrics
    statistical_analysis: StatisticalAnalysis
    japanese_specific: dict[str, dict[str, Estimate]]  # by arm; empty unless the text is Japanese
    recommendations: tuple[Recommendation, ...]
    criteria: tuple[Criterion, ...]
    notes: tuple[str, ...]
    targets: Targets | None
    design: Design
    signature: str
    full: bool = False  # every table, however many arms
    language: Language | None = None  # where runs have scored windows or generations

    @property
    def arms(self) -> tuple[ArmSummary, ...]:
        return self.detailed_metrics.arms

    @property
    def sensitivity(self) -> tuple[Sensitivity, ...]:
        return self.detailed_metrics.sensitivity

    @property
    def baseline(self) -> str | None:
        return self.statistical_analysis.baseline

    @property
    def adapted(self) -> tuple[Adaptation, ...]:
        return self.statistical_analysis.adapted

    @property
    def contrasts(self) -> tuple[Contrast, ...]:
        return self.statistical_analysis.contrasts

    def arm(self, name: str) -> ArmSummary:
        return next(arm for arm in self.arms if arm.name == name)

    @property
    def compact(self) -> bool:
        """Whether many arms are shown in a line each."""
        return len(self.arms) >= COMPACT_FROM and not self.full

    @property
    def subject(self) -> str:
        names = [arm.name for arm in self.arms]
        return words.listed(names, COMPACT_FROM) if self.compact else ", ".join(names)

    @property
    def status(self) -> Status:
        return _STATUS[self.contrasts[0].verdict] if self.contrasts else "plain"

    @property
    def compared(self) -> tuple[Fact, ...]:
        runs = sum(len(arm.runs) for arm in self.arms)
        return (Fact("arms", self.subject), Fact("runs", runs, None, words.count(runs, "run")))

    @property
    def gauge(self) -> Gauge | None:
        """The first arm against the baseline: the ratio of perplexities behind the verdict."""
        if not self.contrasts:
            return None
        contrast = self.contrasts[0]
        ratio = contrast.ratios.get("perplexity")
        if ratio is None or ratio.value is None or ratio.interval is None:
            return None if contrast.windows is None else contrast.windows.gauge
        return Gauge(
            f"perplexity, {contrast.arm} / {contrast.baseline}",
            ratio.value,
            ratio.interval.low,
            ratio.interval.high,
            (Mark(1.0, "no difference"),),
            "lower",
            words.estimate(ratio.value, ratio.interval, null=1.0),
        )

    @property
    def main_facts(self) -> tuple[Fact, ...]:
        """What the first arm gains or loses against the baseline."""
        if not self.contrasts:
            return ()
        one = self.contrasts[0]
        return tuple(
            Fact(f"{name.replace('_', ' ')}, {one.arm} / {one.baseline}", ratio)
            for name, ratio in list(one.ratios.items())[:MAIN_FACTS]
        )

    @property
    def to_do(self) -> tuple[str, ...]:
        if self.compact:
            return tables.grouped(self.recommendations, self.baseline or "")
        return tuple(map(str, self.recommendations))

    @property
    def sections(self) -> tuple[Section, ...]:
        """Under the headings of the report; a heading without anything under it is left out."""
        metrics, analysis, japanese, criteria = self._compact_tables() if self.compact else self._full_tables()
        said = self.to_do
        of_japanese, other = self._written(metrics, japanese)
        found = (
            Section("summary", "Executive summary", tables=(self._executive(),)),
            Section("metrics", "Detailed metrics", "", tuple(_figures(self)), _filled(metrics), other),
            Section("analysis", "Statistical analysis", tables=_filled(analysis)),
            Section("japanese", "Japanese-specific metrics", tables=_filled(japanese), said=of_japanese),
            Section("advice", "Recommendations", tables=_filled(criteria), said=said),
        )
        return tuple(section for section in found if section.said or section.figures or section.tables)

    @property
    def main_sections(self) -> tuple[Section, ...]:
        """What a reader needs first; everything where every table was asked for."""
        if self.full:
            return self.sections
        return tuple(section for section in self.sections if section.key in ("summary", "advice"))

    def _written(
        self, metrics: list[ResultTable], japanese: list[ResultTable]
    ) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Put what arms wrote with the scripts if it is Japanese, else with the metrics; give what is said of it."""
        if self.language is None:
            return (), ()
        of_japanese = bool(self.japanese_specific) or self.language.japanese
        (japanese if of_japanese else metrics).append(self.language.table())
        return (self.language.said, ()) if of_japanese else ((), self.language.said)

    def _executive(self) -> ResultTable:
        compared = tables.compared_columns(self.arms, self.contrasts) if self.compact else None
        return tables.executive_table(self.executive_summary, self.adapted, compared)

    def _full_tables(self) -> tuple[list[ResultTable], ...]:
        metrics = [*tables.cost_tables(self.arms), tables.quality_table(self.arms, self.japanese_specific)]
        metrics += [tables.convergence_table(self.arms), *map(tables.rate_table, self.sensitivity)]
        analysis = [tables.adaptation_table(self.adapted), *map(tables.gain_table, self.contrasts)]
        analysis += [tables.significance_table(contrast, self.design.level) for contrast in self.contrasts]
        return (
            metrics,
            analysis,
            [tables.japanese_table(self.japanese_specific)],
            [tables.criteria_table(self.criteria)],
        )

    def _compact_tables(self) -> tuple[list[ResultTable], ...]:
        """A line for each arm; the learning rates are few."""
        rates = [tables.rate_table(found) for found in self.sensitivity]
        by_arm = tables.japanese_table(self.japanese_specific, compact=True)
        return rates, [], [by_arm], [tables.criteria_by_arm(self.criteria)]

    @property
    def cautions(self) -> tuple[Caution, ...]:
        many = f"{len(self.arms)} arms, so each has a line; `full=True` shows every table, and the JSON has everything"
        return cautions_of((*self.notes, *([many] if self.compact else [])))

    def to_frame(self) -> "pd.DataFrame":
        """Everything measured, a row per arm and quantity (pandas must be installed)."""
        return _measured(self).to_frame()


def _filled(found: Sequence[ResultTable]) -> tuple[ResultTable, ...]:
    return tuple(table for table in found if len(table))


def _measured(report: TuningReport) -> ResultTable:
    """Everything measured, one number per row."""
    rows: list[tuple[str, str, str, Value]] = []
    for arm in report.arms:
        counted = {"total": arm.total, "trainable": arm.trainable, "share": arm.share}
        rows += [(arm.name, "parameters", name, value) for name, value in counted.items() if value is not None]
        for group in ("memory", "time", "quality"):
            rows += [(arm.name, group, name, value) for name, value in getattr(arm, group).items()]
    for name, found in ({} if report.language is None else report.language.scores()).items():
        rows += [(name, "language", quantity.key, value) for quantity, value in found.items()]
    for one in report.contrasts:
        rows += [(one.arm, f"ratio to {one.baseline}", name, ratio) for name, ratio in one.ratios.items()]
    columns = zip(("arm", "group", "quantity", "value"), zip(*rows, strict=True), strict=True)
    return ResultTable("measured", "measured", tuple(Column(name, values) for name, values in columns))


# ------------------------------------------------------------------------------------------------------------- figures

_BARS, _MOST_BARS = 6, 12  # intervals of a line, and how many points may have one each
_FEW_ARMS = 4  # of more, only the last point of each has its interval


def _figures(report: TuningReport) -> Iterator[Figure]:
    """The charts that have data. Every figure names all arms, so that each keeps its colour."""
    level = words.percent(report.design.level)
    about = (f"Bars: {level} CIs over seeds; of a single run, of its smoothed loss.",)
    named = [Series(name, (), ()) for name in _arm_names(report)]
    losses = [(arm.name, arm.loss_curve) for arm in report.arms]
    points = [(arm.name, arm.valid_curve) for arm in report.arms]
    if any(curve.steps for _, curve in losses):
        series = (*named, *_lines(losses), *(_bars(points) or _bars(losses)))
        title = "Loss by step; points: validation" if any(curve for _, curve in points) else "Loss by step"
        yield Curve("losses", title, about, "step", (Axes("training loss, smoothed (nats)", series),))
    norms = [(arm.name, arm.gradient_curve) for arm in report.arms]
    if _lines(norms):
        axes = Axes("gradient norm, smoothed", (*named, *_lines(norms), *_bars(norms)), tall=False)
        yield Curve("gradients", "Gradient norms", about, "step", (axes,))
    rates = [series for series in map(_rate_line, report.sensitivity) if series.x]
    if rates:
        axes = Axes("held-out loss (nats)", (*named, *rates), tall=False)
        yield Curve("rates", "Learning-rate sensitivity", about, "learning rate", (axes,), log=10)
    yield from _costs(report, about)


def _arm_names(report: TuningReport) -> tuple[str, ...]:
    return tuple(dict.fromkeys([*(arm.name for arm in report.arms), *(one.arm for one in report.sensitivity)]))


def _lines(curves: Sequence[tuple[str, StepCurve | None]]) -> list[Series]:
    """Without bands: those of a few seeds are so wide that they would cover the other lines."""
    return [Series(name, curve.steps, curve.values, style="line") for name, curve in curves if curve is not None]


def _bars(curves: Sequence[tuple[str, StepCurve | None]]) -> list[Series]:
    """Values with their intervals at a few steps."""
    found = []
    for name, curve in curves:
        if curve is not None and curve.steps:
            last, many = len(curve.steps) - 1, len(curve.steps) > _MOST_BARS
            few = [round(i * last / _BARS) for i in range(1, _BARS + 1)] if many else [*range(last + 1)]
            few = few if len(curves) <= _FEW_ARMS else [last]
            x, y, low, high = (
                tuple(column[i] for i in few) for column in (curve.steps, curve.values, curve.low, curve.high)
            )
            found.append(Series(name, x, y, low, high, style="points"))
    return found


def _rate_line(found: Sensitivity) -> Series:
    good = [point for point in found.points if point.loss is not None and not point.diverged]
    return Series(found.arm, tuple(point.rate for point in good), tuple(point.loss for point in good))


def _costs(report: TuningReport, about: tuple[str, ...]) -> Iterator[Points]:
    """Quality against memory, or else against time."""
    for axis, group, name, unit in (
        ("memory of training (MiB)", "memory", "training", 1 << 20),
        ("seconds of training", "time", "seconds", 1),
    ):
        found = [(arm.name, getattr(arm, group).get(name), arm.quality.get("perplexity")) for arm in report.arms]
        points = [
            _cost_point(name, cost.value / unit, quality)
            for name, cost, quality in found
            if cost is not None and cost.value is not None and quality is not None
        ]
        if points:
            front = unbeaten(points, lower_is_better=True)
            title = "Quality against cost: circles are not beaten in both, crosses are"
            yield Points("costs", title, about, (axis, "perplexity"), front, groups=_arm_names(report), named=True)
            return


def _cost_point(name: str, cost: float, quality: Estimate) -> Point:
    low, high = (None, None) if quality.interval is None else (quality.interval.low, quality.interval.high)
    return Point(cost, quality.value or 0.0, name, low, high, name)
