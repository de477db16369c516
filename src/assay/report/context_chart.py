"""The long-context curve as a chart."""

from collections.abc import Sequence
from itertools import accumulate
from math import sqrt
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from assay.analyses.context_curve import ContextCurve
from assay.analyses.context_points import ModelCurve, PairCurve
from assay.data.runs.positions import Bin
from assay.report.charts import COLOURS, finished, write_chart
from assay.results import words
from assay.stats.records import Estimate

if TYPE_CHECKING:
    import altair as alt

_WIDTH, _HEIGHT, _LOW_HEIGHT = 560, 280, 150
_BEFORE_ONE = 0.5  # where position 0 stands on an axis of logarithms
_TOO_FEW = 0.02  # of the tokens: the first positions, with less than this, would flatten all others
_FEWEST_SHOWN = 3  # bins


def write_context_chart(curve: ContextCurve, path: Path) -> None:
    """The curves with their bands and, below, the differences, as a file in the format of its name."""
    write_chart(context_chart(curve), path)


def context_chart(curve: ContextCurve) -> "alt.TopLevelMixin":
    """Loss by position, a line and a band per model; below, B − A with the intervals that hold for all bins."""
    import altair as alt  # late: half a second

    shown = _Shown(curve)
    parts: list[Any] = [_losses(shown, alone=not curve.differences)]
    if curve.differences:
        parts.append(_differences(shown))
    chart = alt.vconcat(*parts, spacing=16).resolve_scale(x="shared", color="shared")
    return finished(chart, "Loss by length of context", _legend(shown))


class _Shown:
    """What of a curve is drawn, and where."""

    def __init__(self, curve: ContextCurve) -> None:
        self.curve = curve
        self.log = curve.bins == "log"
        self.names = [model.name for model in curve.models]
        tokens = [point.tokens for point in curve.models[0].points]
        held = list(accumulate(tokens))
        self.first = sum(part <= _TOO_FEW * held[-1] for part in held[:-_FEWEST_SHOWN])
        self.bins = [point.bin for point in curve.models[0].points[self.first :]]
        self.left_out = held[self.first - 1] / held[-1] if self.first else 0.0

    def place(self, edge: Bin) -> float:
        """Where a bin stands on the axis: in its middle."""
        if self.log:
            return sqrt(edge.low * edge.high) if edge.low > 0 else _BEFORE_ONE
        return (edge.low + edge.high) / 2

    def row(self, name: str, edge: Bin, estimate: Estimate) -> dict[str, Any]:
        limits = estimate.interval
        return {
            "model": name,
            "x": self.place(edge),
            "value": estimate.value,
            "low": estimate.value if limits is None else limits.low,
            "high": estimate.value if limits is None else limits.high,
        }

    def losses(self, model: ModelCurve) -> list[dict[str, Any]]:
        points = [point for point in model.points[self.first :] if point.loss.value is not None]
        return [self.row(model.name, point.bin, point.loss) | {"end": point.bin.high} for point in points]

    def gaps(self, pair: PairCurve, step: int) -> list[dict[str, Any]]:
        """The differences of a pair, some steps to the right so that several can be told apart."""
        gaps = [gap for gap in pair.gaps[self.first :] if gap.adjusted.value is not None]
        rows = [self.row(pair.b, gap.bin, gap.adjusted) for gap in gaps]
        wide = self.bins[-1].high - self.bins[0].low
        return [row | {"x": row["x"] * 1.04**step if self.log else row["x"] + 0.008 * step * wide} for row in rows]


def _legend(shown: _Shown) -> list[str]:
    """What the marks mean, in words."""
    curve = shown.curve
    level, clusters = words.percent(curve.design.level), words.count(curve.n_clusters, curve.cluster_by)
    lines = [
        f"Bands: {level} intervals of single bins ({clusters}).",
        "Solid line: context still helps. Dashed: no further improvement is shown.",
    ]
    if shown.first:
        lines[0] += f" Not drawn: positions below {shown.bins[0].low:,}, {100 * shown.left_out:.1f} % of the tokens."
    return lines


def _losses(shown: _Shown, *, alone: bool) -> "alt.LayerChart":
    import altair as alt

    rows = [row for model in shown.curve.models for row in shown.losses(model)]
    solid, dashed = [], []
    for model in shown.curve.models:
        until = model.points[0].bin.high if model.helps_until is None else model.helps_until
        solid += [row for row in shown.losses(model) if row["end"] <= until]
        dashed += [row for row in shown.losses(model) if row["end"] >= until]
    x, colour = _axis(shown, title=alone), _colour(shown.names)
    y = alt.Y("value:Q", title="loss (nats per token)", scale=alt.Scale(zero=False))
    band = _chart(rows, _HEIGHT).mark_area(opacity=0.18).encode(x=x, y=alt.Y("low:Q"), y2="high:Q", color=colour)
    lines = [
        _chart(part, _HEIGHT).mark_line(strokeDash=dash).encode(x=x, y=y, color=colour)
        for part, dash in ((solid, [1, 0]), (dashed, [5, 4]))
    ]
    dots = _chart(rows, _HEIGHT).mark_point(filled=True, size=36, opacity=1).encode(x=x, y=y, color=colour)
    return cast("alt.LayerChart", alt.layer(band, *lines, dots))


def _differences(shown: _Shown) -> "alt.LayerChart":
    import altair as alt

    rows = [row for step, pair in enumerate(shown.curve.differences) for row in shown.gaps(pair, step)]
    x, colour = _axis(shown, title=True), _colour(shown.names)
    y = alt.Y("value:Q", title=["difference (nats),", "intervals for all bins"], scale=alt.Scale(zero=True))
    zero = _chart([{"zero": 0}], _LOW_HEIGHT).mark_rule(color="#444").encode(y=alt.Y("zero:Q"))
    bars = _chart(rows, _LOW_HEIGHT).mark_rule(strokeWidth=2).encode(x=x, y=alt.Y("low:Q"), y2="high:Q", color=colour)
    dots = _chart(rows, _LOW_HEIGHT).mark_point(filled=True, size=36, opacity=1).encode(x=x, y=y, color=colour)
    title = alt.TitleParams(
        f"Difference from {shown.names[0]}; below 0 is better", anchor="start", fontWeight="normal", fontSize=11
    )
    return cast("alt.LayerChart", alt.layer(zero, bars, dots, title=title))


def _chart(rows: Sequence[dict[str, Any]], height: int) -> "alt.Chart":
    import altair as alt

    return alt.Chart(alt.InlineData(values=list(rows)), width=_WIDTH, height=height)


def _colour(names: Sequence[str]) -> "alt.Color":
    import altair as alt

    chosen = [COLOURS[i % len(COLOURS)] for i in range(len(names))]
    legend = alt.Legend(title=None, orient="top", labelLimit=400, symbolOpacity=1)
    return alt.Color("model:N", scale=alt.Scale(domain=list(names), range=chosen), legend=legend)


def _axis(shown: _Shown, *, title: bool) -> "alt.X":
    """Tokens of context: in doublings for bins that double, evenly otherwise."""
    import altair as alt

    text = "tokens of context before the predicted one" if title else None
    if not shown.log:
        return alt.X("x:Q", title=text, axis=alt.Axis(grid=False), scale=alt.Scale(zero=False, nice=False, padding=12))
    low, high = shown.bins[0].low, shown.bins[-1].high
    ticks = [2**k for k in range(high.bit_length()) if 2**k >= low]
    labels = f"datum.value == {_BEFORE_ONE} ? '0' : format(datum.value, ',')"
    domain = [max(low, _BEFORE_ONE) * 0.94, high * 1.06]
    return alt.X(
        "x:Q",
        title=text,
        scale=alt.Scale(type="log", base=2, domain=domain, nice=False),
        axis=alt.Axis(values=[_BEFORE_ONE, *ticks] if low == 0 else ticks, labelExpr=labels, grid=False),
    )
