"""One interval against what it is judged by: a dot, its limits, and a line for each mark."""

from typing import Any

import altair as alt

from assay.report.charts import COLOURS, TEXT, inline
from assay.results.figures import Gauge


def draw(gauge: Gauge) -> alt.LayerChart | alt.FacetChart:
    row = {"what": gauge.label, "value": gauge.value, "low": gauge.low, "high": gauge.high}
    marks = [{"place": mark.place, "mark": mark.label} for mark in gauge.marks]
    x = alt.X("value:Q", title=gauge.label, scale=alt.Scale(zero=False, padding=40))
    base, lines, blue = inline([row], 90), inline(marks, 90), COLOURS[0]
    labels = lines.mark_text(baseline="top", dy=2, color=TEXT, fontSize=11)
    layers: list[Any] = [
        lines.mark_rule(color=TEXT, strokeDash=[4, 3], y=20).encode(x=alt.X("place:Q")),
        labels.encode(x=alt.X("place:Q"), y=alt.value(2), text="mark:N"),
        base.mark_rule(strokeWidth=3, color=blue).encode(x=alt.X("low:Q"), x2="high:Q", y=alt.value(55)),
        base.mark_point(filled=True, size=90, opacity=1, color=blue).encode(x=x, y=alt.value(55)),
    ]
    return alt.layer(*layers)
