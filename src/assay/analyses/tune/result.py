"""The record that `tune` returns: its facts, tables and figures."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Literal

from assay.analyses.tune.arms import ArmSummary, Sensitivity
from assay.analyses.tune.contrasts import Contrast, ContrastVerdict
from assay.analyses.tune.criteria import Criterion, Targets
from assay.analyses.tune.curves import StepCurve
from assay.analyses.tune.language import Language
from assay.analyses.tune.sentences import Recommendation, in_line
from assay.design import Design
from assay.results import words
from assay.results.figures import Axes, Curve, Figure, Gauge, Mark, Point, Points, Series
from assay.results.parts import Caution, Column, Fact, ResultTable, Section, Value, cautions_of
from assay.results.record import Result, Status
from assay.stats.records import Estimate, Interval

if TYPE_CHECKING:
    import pandas as pd

_STATUS: dict[ContrastVerdict, Status] = {
    "better": "good",
    "worse": "bad",
    "no difference shown": "unsure",
    "undecided": "unsure",
    "not measured": "plain",
}
_MEMORY = ("parameters", "gradients", "optimizer", "activations", "training", "peak", "reserved", "resident")
_TIME = ("seconds", "seconds_per_step", "steps_per_hour", "tokens_per_second")
_UNITS = ((1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB"))
_EXPLAINED = "training runs"  # the key of how the numbers are computed


class TuningReport(Result, frozen=True, kw_only=True, tag="assay/tuning/1"):
    """Training runs side by side: what they cost, how they converge, and whether one is really better."""

    question = "Which way to train is better, and what does it cost?"
    kind_name = "tuning"

    kind: Literal["tuning"]
    sentence: str
    arms: tuple[ArmSummary, ...]
    baseline: str | None
    contrasts: tuple[Contrast, ...]
    sensitivity: tuple[Sensitivity, ...]
    criteria: tuple[Criterion, ...]
    recommendations: tuple[Recommendation, ...]
    notes: tuple[str, ...]
    targets: Targets
    design: Design
    signature: str
    language: Language | None = None  # where runs have scored windows or generations

    def arm(self, name: str) -> ArmSummary:
        return next(arm for arm in self.arms if arm.name == name)

    @property
    def subject(self) -> str:
        return ", ".join(arm.name for arm in self.arms)

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
    def sections(self) -> tuple[Section, ...]:
        found = (
            Section("advice", "What to do", said=tuple(map(str, self.recommendations))),
            Section("charts", "Curves and costs", figures=tuple(_figures(self))),
            Section("tables", "Tables", tables=tuple(self._tables())),
            *(() if self.language is None else self.language.sections),
        )
        return tuple(section for section in found if section.said or section.figures or section.tables)

    def _tables(self) -> Iterator[ResultTable]:
        """The tables that have something to show."""
        qualities = list(dict.fromkeys(name for arm in self.arms for name in arm.quality))
        found = [*_cost_tables(self.arms), _by_arm("quality", "quantity", qualities, self.arms)]
        found.append(_convergence_table(self.arms))
        found += map(_gain_table, self.contrasts)
        found += [_significance_table(contrast, self.design.level) for contrast in self.contrasts]
        found += map(_rate_table, self.sensitivity)
        yield from (table for table in (*found, _criteria_table(self.criteria)) if len(table))

    @property
    def cautions(self) -> tuple[Caution, ...]:
        return cautions_of(self.notes)

    def to_frame(self) -> "pd.DataFrame":
        """Everything measured, a row per arm and quantity (pandas must be installed)."""
        return _measured(self).to_frame()


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


# -------------------------------------------------------------------------------------------------------------- tables


def _cell(value: Value) -> str:
    """A number on one line; ``–`` where there is none."""
    if isinstance(value, Estimate):
        return "–" if value.value is None else in_line(value)
    return words.shown(value)


def _readable(name: str) -> str:
    """A key of the JSON as people read it."""
    return name.replace("_", " ")


def _by_arm(
    key: str, first: str, names: Sequence[str], arms: Sequence[ArmSummary], show: Callable[[Value], str] = _cell
) -> ResultTable:
    """A row for each quantity that an arm has, a column for each arm."""
    found: list[dict[str, Estimate]] = [getattr(arm, key) for arm in arms]
    kept = [name for name in names if any(name in one and one[name].value is not None for one in found)]
    columns = [Column(arm.name, [one.get(name) for name in kept], show) for arm, one in zip(arms, found, strict=True)]
    return ResultTable(key, key, (Column(first, list(map(_readable, kept))), *columns), "means over seeds", _EXPLAINED)


def _cost_tables(arms: Sequence[ArmSummary]) -> list[ResultTable]:
    counted = [arm for arm in arms if arm.total is not None or arm.trainable is not None]
    shares = [arm.share for arm in counted]
    written = ["–" if share is None else f"{100 * share:.3g} %" for share in shares]
    columns = (
        Column("arm", [arm.name for arm in counted]),
        Column("parameters", [arm.total for arm in counted]),
        Column("trainable", [arm.trainable for arm in counted]),
        Column("share", shares, right=True, written=written),
    )
    parameters = ResultTable("parameters", "parameters", columns, explained=_EXPLAINED)
    return [parameters, _by_arm("memory", "part", _MEMORY, arms, _bytes), _by_arm("time", "quantity", _TIME, arms)]


def _bytes(value: Value) -> str:
    if not isinstance(value, Estimate) or value.value is None:
        return "–"
    size, unit = next(((size, unit) for size, unit in _UNITS if value.value >= size), (1, "bytes"))
    return f"{value.value / size:.2f} {unit}"


def _convergence_table(arms: Sequence[ArmSummary]) -> ResultTable:
    names = [
        f"{arm.name}, {f'run {place}' if run.seed is None else f'seed {run.seed}'}"
        for arm in arms
        for place, run in enumerate(arm.runs, start=1)
    ]
    runs = [run for arm in arms for run in arm.runs]
    columns = (
        Column("run", names),
        Column("final loss", [run.final_loss for run in runs], _final),
        Column("95 % at", [run.steps_to_95 for run in runs]),
        Column("settled at", [run.convergence_step for run in runs]),
        Column("end", [run.plateau.verdict for run in runs]),
        Column("overfitting", [run.overfitting.verdict for run in runs]),
        Column("gradients", [run.gradients.verdict for run in runs]),
    )
    return ResultTable("convergence", "convergence", columns, explained=_EXPLAINED)


def _final(loss: Estimate) -> str:
    """The loss at the end, or where it diverged."""
    return loss.reason or "–" if loss.value is None else in_line(loss)


def _gain_table(contrast: Contrast) -> ResultTable:
    ratios = {name: ratio for name, ratio in contrast.ratios.items() if ratio.value is not None}
    columns = Column("quantity", list(map(_readable, ratios))), Column("ratio", list(ratios.values()), _cell)
    title = f"{contrast.arm} / {contrast.baseline}"
    return ResultTable(f"gains of {contrast.arm}", "gains", columns, title, _EXPLAINED)


def _significance_table(contrast: Contrast, level: float) -> ResultTable:
    rows: list[tuple[str, Value, float | None, Value]] = []
    if contrast.windows is not None:
        found = contrast.windows
        what = f"{words.count(found.n_pairs, 'window')}: other text?"
        rows.append((what, found.difference, found.p_value, found.effect_sizes.get("d_z")))
    if contrast.seeds.value is not None:
        what = f"{words.count(contrast.seeds.n, 'seed')}: other seeds?"
        rows.append((what, contrast.seeds, contrast.seeds_test.p_value, None))
    if contrast.recipe is not None and contrast.recipe.low is not None and contrast.recipe.high is not None:
        recipe = contrast.recipe
        limits = Interval(contrast.recipe.low, contrast.recipe.high, level, "recipe")
        rows.append(("the published recipe, of single windows", limits, recipe.p_value, recipe.cohens_d))
    over, differences, p_values, sizes = ([row[i] for row in rows] for i in range(4))
    columns = (
        Column("over", over),
        Column("difference", differences, _cell),
        Column("p", p_values, words.p_alone),
        Column("effect size", sizes, _cell),
    )
    unit = "validation loss" if "validation_loss" in contrast.ratios else "nats per token"
    about = f"{contrast.arm} − {contrast.baseline}, {unit}"
    return ResultTable(f"significance of {contrast.arm}", "significance", columns, about, _EXPLAINED)


def _rate_table(found: Sensitivity) -> ResultTable:
    columns = [
        Column("rate", [point.rate for point in found.points], "{:g}".format),
        Column("held-out loss", [None if point.diverged else point.loss for point in found.points]),
        Column("runs", [point.n for point in found.points]),
    ]
    if any(point.diverged for point in found.points):
        columns.append(Column("diverged", [point.diverged for point in found.points]))
    return ResultTable(f"rates of {found.arm}", "learning rates", tuple(columns), found.sentence, _EXPLAINED)


def _criteria_table(criteria: Sequence[Criterion]) -> ResultTable:
    """A row per criterion that was measured, and one per arm for those that were not."""
    rows: list[tuple[str, str, str, Value, str]] = [
        (_readable(c.name), c.arm, c.wanted, c.estimate, f"{c.status} ({c.why})" if c.why else c.status)
        for c in criteria
        if c.status != "not measured"
    ]
    for arm in dict.fromkeys(c.arm for c in criteria):
        missing = [_readable(c.name) for c in criteria if c.arm == arm and c.status == "not measured"]
        if missing:
            rows.append((f"not measured: {len(missing)}", arm, "", None, ", ".join(missing)))
    names, arms, wanted, values, status = ([row[i] for row in rows] for i in range(5))
    columns = (
        Column("criterion", names),
        Column("arm", arms),
        Column("wanted", wanted),
        Column("found", values, lambda value: "" if value is None else _cell(value)),
        Column("status", status),
    )
    return ResultTable("criteria", "criteria", columns, explained=_EXPLAINED)


# ------------------------------------------------------------------------------------------------------------- figures


def _figures(report: TuningReport) -> Iterator[Figure]:
    """The charts that have data. Every figure names all arms, so that each keeps its colour."""
    level = words.percent(report.design.level)
    about = (f"Bands and bars: {level} intervals over seeds; of a single run, of its smoothed loss.",)
    named = [Series(name, (), ()) for name in _arm_names(report)]
    losses = [(arm.name, arm.loss_curve) for arm in report.arms]
    points = [(arm.name, arm.valid_curve) for arm in report.arms]
    if any(curve.steps for _, curve in losses):
        series = (*named, *_lines(losses, "line"), *_lines(points, "points"))
        title = "Loss by step; points: validation" if any(curve for _, curve in points) else "Loss by step"
        yield Curve("losses", title, about, "step", (Axes("training loss, smoothed (nats)", series),))
    norms = _lines([(arm.name, arm.gradient_curve) for arm in report.arms], "line")
    if norms:
        axes = Axes("gradient norm, smoothed", (*named, *norms), tall=False)
        yield Curve("gradients", "Gradient norms", about, "step", (axes,))
    rates = [series for series in map(_rate_line, report.sensitivity) if series.x]
    if rates:
        axes = Axes("held-out loss (nats)", (*named, *rates), tall=False)
        yield Curve("rates", "Learning-rate sensitivity", about, "learning rate", (axes,), log=10)
    yield from _costs(report, about)


def _arm_names(report: TuningReport) -> tuple[str, ...]:
    return tuple(dict.fromkeys([*(arm.name for arm in report.arms), *(one.arm for one in report.sensitivity)]))


def _lines(curves: Sequence[tuple[str, StepCurve | None]], style: Literal["line", "points"]) -> list[Series]:
    return [
        Series(name, curve.steps, curve.values, curve.low, curve.high, style=style)
        for name, curve in curves
        if curve is not None
    ]


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
            front = tuple(replace(one, strong=not any(_beats(other, one) for other in points)) for one in points)
            title = "Quality against cost: circles are not beaten in both, crosses are"
            yield Points("costs", title, about, (axis, "perplexity"), front, groups=_arm_names(report))
            return


def _cost_point(name: str, cost: float, quality: Estimate) -> Point:
    low, high = (None, None) if quality.interval is None else (quality.interval.low, quality.interval.high)
    return Point(cost, quality.value or 0.0, name, low, high, name)


def _beats(a: Point, b: Point) -> bool:
    """Whether a is at least as good in both, and better in one."""
    return a.x <= b.x and a.y <= b.y and (a.x, a.y) != (b.x, b.y)
