"""Histograms: the part between the limits in colour, and lines for what was found and what it is judged by."""

from itertools import accumulate
from typing import Any, cast

import altair as alt

from assay.report.charts import COLOURS, GRID, INK, LINE, TEXT, WIDTH, inline
from assay.results.figures import Bars, Distribution, Histogram

_HEIGHT = 190
_BAR_HEIGHT = 64
_BAR_MIDDLE = alt.value(_BAR_HEIGHT / 2 + 10)
_SMALL_WIDTH, _SMALL_HEIGHT, _BESIDE = 180, 80, 3  # of several histograms, and how many stand in a row

_Drawn = alt.LayerChart | alt.FacetChart


def draw_distribution(figure: Distribution) -> _Drawn | alt.ConcatChart:
    """One histogram with axes, or several small ones, each with its label and an axis of its own."""
    if len(figure.histograms) == 1 and not figure.histograms[0].label:
        return _one(figure, figure.histograms[0])
    return alt.concat(*map(_small, figure.histograms), columns=_BESIDE)


def draw_bars(figure: Bars) -> _Drawn:
    """One bar across, its parts with their counts; the parts that decide are in colour."""
    colours = {"same": LINE, "first": COLOURS[1], "second": COLOURS[0], "none": GRID}
    starts = accumulate((part.count for part in figure.parts), initial=0)
    rows: list[dict[str, Any]] = [
        {"label": part.label, "count": part.count, "start": start, "end": start + part.count}
        for part, start in zip(figure.parts, starts, strict=False)
    ]
    names = [part.label for part in figure.parts]
    scale = alt.Scale(domain=names, range=[colours[part.style] for part in figure.parts])
    legend = alt.Legend(title=None, orient="top", labelLimit=300, columns=4, symbolType="square")
    colour = alt.Color("label:N", scale=scale, legend=legend, sort=names)
    x = alt.X("start:Q", title=figure.axis, axis=alt.Axis(grid=False), scale=alt.Scale(nice=False))
    base = inline(rows, _BAR_HEIGHT)
    shown = inline([row | {"middle": (row["start"] + row["end"]) / 2} for row in rows if row["count"]], _BAR_HEIGHT)
    counts = shown.mark_text(fontSize=12, color=INK, baseline="bottom", dy=-2)
    bar = base.mark_bar(height=_BAR_HEIGHT - 22, stroke="white").encode(x=x, x2="end:Q", y=_BAR_MIDDLE, color=colour)
    return alt.layer(bar, counts.encode(x="middle:Q", y=alt.value(20), text=alt.Text("count:Q", format=",")))


def _one(figure: Distribution, only: Histogram) -> _Drawn:
    x = alt.X("low:Q", title=figure.axis, scale=alt.Scale(zero=False), axis=alt.Axis(grid=False))
    y = alt.Y("height:Q", title=figure.heights, axis=alt.Axis(format=".1%"))
    return _layers(only, x, y, (WIDTH, _HEIGHT))


def _small(one: Histogram) -> _Drawn:
    x = alt.X("low:Q", title=None, scale=alt.Scale(zero=False, nice=False, padding=8), axis=alt.Axis(tickCount=4))
    title = alt.TitleParams(one.label, fontSize=10, fontWeight="normal", anchor="start", limit=_SMALL_WIDTH)
    chart = _layers(one, x, alt.Y("height:Q", title=None, axis=None), (_SMALL_WIDTH, _SMALL_HEIGHT))
    return chart.properties(title=title)


def _layers(one: Histogram, x: alt.X, y: alt.Y, size: tuple[int, int]) -> _Drawn:
    """Without limits all bars are grey, and the line of what was found has the colour that limits would have."""
    found = TEXT if one.inside else COLOURS[1]
    layers: list[Any] = [
        _bars(one, x, y, size),
        *(_rule(limit, size, COLOURS[1]) for limit in one.inside or ()),
        *(_rule(mark.place, size, TEXT if mark.dashed else found, dashed=mark.dashed) for mark in one.marks),
    ]
    return alt.layer(*layers)


def _bars(one: Histogram, x: alt.X, y: alt.Y, size: tuple[int, int]) -> alt.Chart:
    if one.edges[0] == one.edges[-1]:  # all values are the same
        only = inline([{"low": one.edges[0]}], size[1], size[0]).mark_rule(color=LINE, strokeWidth=8)
        return cast("alt.Chart", only.encode(x=x))
    scale = alt.Scale(domain=["inside", "outside"], range=[COLOURS[0], LINE])
    bars = inline(_rows(one), size[1], size[0]).mark_bar(binSpacing=0, opacity=0.85)
    colour = alt.Color("part:N", scale=scale, legend=None)
    return cast("alt.Chart", bars.encode(x=x, x2="high:Q", y=y, y2="zero:Q", color=colour))


def _rows(one: Histogram) -> list[dict[str, Any]]:
    return [
        {"low": low, "high": high, "height": height, "zero": 0, "part": _part(one, (low + high) / 2)}
        for low, high, height in zip(one.edges, one.edges[1:], one.heights, strict=False)
    ]


def _part(one: Histogram, middle: float) -> str:
    return "inside" if one.inside is not None and one.inside[0] <= middle <= one.inside[1] else "outside"


def _rule(place: float, size: tuple[int, int], colour: str, *, dashed: bool = False) -> alt.Chart:
    mark = inline([{"place": place}], size[1], size[0]).mark_rule(
        color=colour, strokeWidth=1 if dashed else 2, strokeDash=[4, 3] if dashed else [1, 0]
    )
    return cast("alt.Chart", mark.encode(x="place:Q"))
