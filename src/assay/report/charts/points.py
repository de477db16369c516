"""Dots, with a band across for what they add up to."""

from typing import Any

import altair as alt

from assay.report.charts import COLOURS, TEXT, by_group, inline
from assay.results.figures import Points

_HEIGHT = 240
_LOW_HEIGHT = 150
_SHAPES = {True: "circle", False: "cross"}
_FEW = 120  # dots that can each be seen


def draw(figure: Points) -> alt.LayerChart | alt.FacetChart:
    return _by_group(figure) if figure.groups else _alike(figure)


def _alike(figure: Points) -> alt.LayerChart | alt.FacetChart:
    """Many dots of one kind."""
    rows = [{"x": p.x, "y": p.y, "id": p.label, "weight": p.size} for p in figure.points]
    x = alt.X("x:Q", title=figure.axes[0], axis=alt.Axis(grid=False), scale=alt.Scale(nice=False, padding=8))
    y = alt.Y("y:Q", title=figure.axes[1])
    dots = inline(rows, _HEIGHT).mark_point(
        filled=True, size=44 if len(rows) <= _FEW else 18, opacity=0.65, color=COLOURS[0]
    )
    across = [inline([{"at": mark.place}], _HEIGHT).mark_rule(color=TEXT).encode(y="at:Q") for mark in figure.marks]
    return alt.layer(*_band(figure), *across, dots.encode(x=x, y=y))


def _band(figure: Points) -> list[Any]:
    if figure.band is None:
        return []
    low, value, high = figure.band
    base, orange = inline([{"what": "overall", "value": value, "low": low, "high": high}], _HEIGHT), COLOURS[1]
    return [
        base.mark_rect(color=orange, opacity=0.22).encode(y="low:Q", y2="high:Q"),
        base.mark_rule(color=orange, strokeWidth=2).encode(y="value:Q"),
    ]


def _by_group(figure: Points) -> alt.LayerChart | alt.FacetChart:
    """A few dots, each with its interval, coloured by group."""
    rows = [
        {"x": p.x, "y": p.y, "low": p.low, "high": p.high, "group": p.group, "shape": _SHAPES[p.strong]}
        for p in figure.points
    ]
    x = alt.X("x:Q", title=figure.axes[0], scale=alt.Scale(zero=False, padding=20), axis=alt.Axis(grid=False))
    y = alt.Y("y:Q", title=figure.axes[1], scale=alt.Scale(zero=False, padding=10))
    legend = alt.Legend(title=None, orient="top", labelLimit=400, symbolOpacity=1)
    colour, _ = by_group(figure.groups, legend)
    shape = alt.Shape("shape:N", legend=None, scale=alt.Scale(domain=list(_SHAPES.values()), range=[*_SHAPES.values()]))
    bars = inline([row for row in rows if row["low"] is not None], _LOW_HEIGHT).mark_rule(strokeWidth=2)
    dots = inline(rows, _LOW_HEIGHT).mark_point(size=70, filled=True, opacity=1)
    return alt.layer(
        bars.encode(x=x, y=alt.Y("low:Q"), y2="high:Q", color=colour), dots.encode(x=x, y=y, color=colour, shape=shape)
    )
