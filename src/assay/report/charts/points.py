"""Dots, with a band across for what they add up to."""

from typing import Any

import altair as alt

from assay.report.charts import COLOURS, TEXT, inline
from assay.results.figures import Points

_HEIGHT = 240
_FEW = 120  # dots that can each be seen


def draw(figure: Points) -> alt.LayerChart | alt.FacetChart:
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
