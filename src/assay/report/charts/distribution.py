"""Histograms: the part between the limits in colour, and lines for what was found and what it is judged by."""

from typing import Any, cast

import altair as alt

from assay.report.charts import COLOURS, LINE, TEXT, inline
from assay.results.figures import Distribution, Histogram

_HEIGHT = 220


def draw(figure: Distribution) -> alt.LayerChart | alt.FacetChart:
    (only,) = figure.histograms
    scale = alt.Scale(domain=["inside", "outside"], range=[COLOURS[0], LINE])
    x = alt.X("low:Q", title=figure.axis, scale=alt.Scale(zero=False), axis=alt.Axis(grid=False))
    bars = inline(_bars(only), _HEIGHT).mark_bar(binSpacing=0, opacity=0.85)
    layers: list[Any] = [
        bars.encode(
            x=x,
            x2="high:Q",
            y=alt.Y("height:Q", title=figure.heights, axis=alt.Axis(format=".1%")),
            y2="zero:Q",
            color=alt.Color("part:N", scale=scale, legend=None),
        ),
        *(_rule(limit, COLOURS[1]) for limit in only.inside or ()),
        *(_rule(mark.place, TEXT, dashed=mark.dashed) for mark in only.marks),
    ]
    return alt.layer(*layers)


def _bars(only: Histogram) -> list[dict[str, Any]]:
    first, last = only.inside or (only.edges[0], only.edges[-1])
    return [
        {
            "low": low,
            "high": high,
            "height": height,
            "zero": 0,
            "part": "inside" if first <= (low + high) / 2 <= last else "outside",
        }
        for low, high, height in zip(only.edges, only.edges[1:], only.heights, strict=False)
    ]


def _rule(place: float, colour: str, *, dashed: bool = False) -> alt.Chart:
    mark = inline([{"place": place}], _HEIGHT).mark_rule(
        color=colour, strokeWidth=1 if dashed else 2, strokeDash=[4, 3] if dashed else [1, 0]
    )
    return cast("alt.Chart", mark.encode(x="place:Q"))
