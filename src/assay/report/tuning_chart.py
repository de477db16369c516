"""Training runs as a chart: losses with bands, gradient norms, learning rates, quality against cost."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from assay.analyses.tune.records import Arm, Curve
from assay.analyses.tune.result import TuningReport
from assay.report.charts import COLOURS, finished, write_chart
from assay.results import words

if TYPE_CHECKING:
    import altair as alt

_WIDTH, _HEIGHT, _LOW_HEIGHT = 560, 240, 140

#: What a cost is, in the order in which one is looked for.
_COSTS = (("memory", "training", "memory of training (MiB)", 1 << 20), ("time", "seconds", "seconds of training", 1))


def write_tuning_chart(report: TuningReport, path: Path) -> None:
    """The chart as a file in the format of its name."""
    write_chart(tuning_chart(report), path)


def tuning_chart(report: TuningReport) -> "alt.TopLevelMixin":
    """The panels for which there is something to draw, one below the other."""
    import altair as alt  # late: half a second

    drawn = [panel.properties(title=_small(title)) for _, title, panel in _panels(report)]
    chart = alt.vconcat(*drawn, spacing=16).resolve_scale(color="shared")
    return finished(chart, "Training runs", [_about(report)])


def panel_charts(report: TuningReport) -> list[tuple[str, "alt.TopLevelMixin"]]:
    """Each panel as a chart of its own, by name."""
    return [(name, finished(panel, title, [_about(report)])) for name, title, panel in _panels(report)]


def _panels(report: TuningReport) -> list[tuple[str, str, "alt.LayerChart | alt.FacetChart"]]:
    """Name, title and panel of what there is to draw."""
    points = any(arm.valid_curve is not None for arm in report.arms)
    found = (
        ("losses", "Loss by step; points: validation" if points else "Loss by step", _losses(report)),
        ("gradients", "Gradient norms", _gradients(report)),
        ("rates", "Learning-rate sensitivity", _rates(report)),
        ("costs", "Quality against cost: circles are not beaten in both, crosses are", _pareto(report)),
    )
    return [(name, title, panel) for name, title, panel in found if panel is not None]


def _about(report: TuningReport) -> str:
    level = words.percent(report.design.level)
    return f"Bands and bars: {level} intervals over seeds; of a single run, of its smoothed loss."


def _names(report: TuningReport) -> list[str]:
    return list(dict.fromkeys([*(arm.name for arm in report.arms), *(one.arm for one in report.sensitivity)]))


def _colour(report: TuningReport) -> "alt.Color":
    import altair as alt

    names = _names(report)
    chosen = [COLOURS[i % len(COLOURS)] for i in range(len(names))]
    legend = alt.Legend(title=None, orient="top", labelLimit=400, symbolOpacity=1)
    return alt.Color("arm:N", scale=alt.Scale(domain=names, range=chosen), legend=legend)


def _chart(rows: Sequence[dict[str, Any]], height: int) -> "alt.Chart":
    import altair as alt

    return alt.Chart(alt.InlineData(values=list(rows)), width=_WIDTH, height=height)


def curve_rows(arm: str, curve: Curve | None) -> list[dict[str, Any]]:
    """A row for each point of a curve."""
    if curve is None:
        return []
    points = zip(curve.steps, curve.values, curve.low, curve.high, strict=True)
    return [{"arm": arm, "step": s, "value": v, "low": low, "high": high} for s, v, low, high in points]


def _lines(rows: Sequence[dict[str, Any]], report: TuningReport, title: str, height: int) -> list[Any]:
    import altair as alt

    x = alt.X("step:Q", title="step", axis=alt.Axis(grid=False))
    y = alt.Y("value:Q", title=title, scale=alt.Scale(zero=False))
    band = _chart(rows, height).mark_area(opacity=0.18)
    line = _chart(rows, height).mark_line()
    colour = _colour(report)
    return [band.encode(x=x, y=alt.Y("low:Q"), y2="high:Q", color=colour), line.encode(x=x, y=y, color=colour)]


def _losses(report: TuningReport) -> "alt.LayerChart | alt.FacetChart | None":
    import altair as alt

    rows = [row for arm in report.arms for row in curve_rows(arm.name, arm.loss_curve)]
    if not rows:
        return None
    layers = _lines(rows, report, "training loss, smoothed (nats)", _HEIGHT)
    dots = [row for arm in report.arms for row in curve_rows(arm.name, arm.valid_curve)]
    if dots:
        x, y = alt.X("step:Q"), alt.Y("value:Q")
        colour = _colour(report)
        layers.append(_chart(dots, _HEIGHT).mark_point(filled=True, size=30).encode(x=x, y=y, color=colour))
        layers.append(_chart(dots, _HEIGHT).mark_rule().encode(x=x, y=alt.Y("low:Q"), y2="high:Q", color=colour))
    return alt.layer(*layers)


def _small(text: str) -> "alt.TitleParams":
    import altair as alt

    return alt.TitleParams(text, anchor="start", fontWeight="normal", fontSize=11)


def _gradients(report: TuningReport) -> "alt.LayerChart | alt.FacetChart | None":
    import altair as alt

    rows = [row for arm in report.arms for row in curve_rows(arm.name, arm.gradient_curve)]
    if not rows:
        return None
    layers = _lines(rows, report, "gradient norm, smoothed", _LOW_HEIGHT)
    return alt.layer(*layers)


def _rates(report: TuningReport) -> "alt.LayerChart | alt.FacetChart | None":
    import altair as alt

    rows = [
        {"arm": one.arm, "rate": point.rate, "value": point.loss}
        for one in report.sensitivity
        for point in one.points
        if point.loss is not None and not point.diverged
    ]
    if not rows:
        return None
    x = alt.X("rate:Q", title="learning rate", scale=alt.Scale(type="log"), axis=alt.Axis(format="~g", grid=False))
    y = alt.Y("value:Q", title="held-out loss (nats)", scale=alt.Scale(zero=False))
    chart, colour = _chart(rows, _LOW_HEIGHT), _colour(report)
    parts = [
        chart.mark_line().encode(x=x, y=y, color=colour),
        chart.mark_point(filled=True).encode(x=x, y=y, color=colour),
    ]
    return alt.layer(*parts)


def _pareto(report: TuningReport) -> "alt.LayerChart | alt.FacetChart | None":
    import altair as alt

    found = next((cost for cost in _COSTS if _cost_rows(report.arms, *cost[:2], cost[3])), None)
    if found is None:
        return None
    rows = _cost_rows(report.arms, *found[:2], found[3])
    x = alt.X("cost:Q", title=found[2], scale=alt.Scale(zero=False, padding=20), axis=alt.Axis(grid=False))
    y = alt.Y("value:Q", title="perplexity", scale=alt.Scale(zero=False, padding=10))
    chart, colour = _chart(rows, _LOW_HEIGHT), _colour(report)
    bars = chart.mark_rule(strokeWidth=2).encode(x=x, y=alt.Y("low:Q"), y2="high:Q", color=colour)
    dots = chart.mark_point(size=70, filled=True).encode(
        x=x, y=y, color=colour, shape=alt.Shape("front:N", legend=None, scale=_shapes())
    )
    return alt.layer(bars, dots)


def _shapes() -> "alt.Scale":
    import altair as alt

    return alt.Scale(domain=["on", "off"], range=["circle", "cross"])


def _cost_rows(arms: Sequence[Arm], home: str, name: str, unit: int) -> list[dict[str, Any]]:
    """Arms that have both a perplexity and a cost, and whether another is at least as good in both."""
    rows = []
    for arm in arms:
        cost, quality = getattr(arm, home).get(name), arm.quality.get("perplexity")
        if cost is None or quality is None or cost.value is None or quality.value is None:
            continue
        limits = quality.interval
        low, high = (quality.value, quality.value) if limits is None else (limits.low, limits.high)
        rows.append({"arm": arm.name, "cost": cost.value / unit, "value": quality.value, "low": low, "high": high})
    for row in rows:
        row["front"] = "off" if any(_beats(other, row) for other in rows) else "on"
    return rows


def _beats(a: dict[str, Any], b: dict[str, Any]) -> bool:
    no_worse = bool(a["cost"] <= b["cost"] and a["value"] <= b["value"])
    return no_worse and bool(a["cost"] < b["cost"] or a["value"] < b["value"])
