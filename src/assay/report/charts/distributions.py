"""Histograms: the part between the limits in colour, and lines for what was found and what it is judged by."""

from itertools import accumulate

from assay.report.charts import COLOURS, GRID, INK, LINE, TEXT, WIDTH
from assay.report.charts.vega import Spec, end, layer, layers, name, number, pixel, small_title
from assay.results.figures import Bars, Distribution, Histogram

_HEIGHT = 190
_BAR_HEIGHT = 64
_SMALL_WIDTH, _SMALL_HEIGHT, _BESIDE = 180, 80, 3  # of several histograms, and how many stand in a row


def draw_distribution(figure: Distribution) -> Spec:
    """One histogram with axes, or several small ones, each with its label and an axis of its own."""
    if len(figure.histograms) == 1 and not figure.histograms[0].label:
        return _one(figure, figure.histograms[0])
    return {"concat": [_small(one) for one in figure.histograms], "columns": _BESIDE}


def draw_bars(figure: Bars) -> Spec:
    """One bar across, its parts with their counts; the parts that decide are in colour."""
    colours = {"same": LINE, "first": COLOURS[1], "second": COLOURS[0], "none": GRID}
    starts = accumulate((part.count for part in figure.parts), initial=0)
    rows: list[Spec] = [
        {"label": part.label, "count": part.count, "start": start, "end": start + part.count}
        for part, start in zip(figure.parts, starts, strict=False)
    ]
    names = [part.label for part in figure.parts]
    scale = {"domain": names, "range": [colours[part.style] for part in figure.parts]}
    legend = {"title": None, "orient": "top", "labelLimit": 300, "columns": 4, "symbolType": "square"}
    x = number("start", title=figure.axis, axis={"grid": False}, scale={"nice": False})
    colour = name("label", scale=scale, legend=legend, sort=names)
    shown = [row | {"middle": (row["start"] + row["end"]) / 2} for row in rows if row["count"]]
    across = {"x": x, "x2": end("end"), "y": pixel(_BAR_HEIGHT / 2 + 10), "color": colour}
    written = {"x": number("middle"), "y": pixel(20), "text": number("count", format=",")}
    bar = layer(rows, "bar", across, height=_BAR_HEIGHT - 22, stroke="white")
    counts = layer(shown, "text", written, fontSize=12, color=INK, baseline="bottom", dy=-2)
    return layers([bar, counts], WIDTH, _BAR_HEIGHT)


def _one(figure: Distribution, only: Histogram) -> Spec:
    x = number("low", title=figure.axis, scale={"zero": False}, axis={"grid": False})
    y = number("height", title=figure.heights, axis={"format": ".1%"})
    return layers(_parts(only, x, y), WIDTH, _HEIGHT)


def _small(one: Histogram) -> Spec:
    x = number("low", title=None, scale={"zero": False, "nice": False, "padding": 8}, axis={"tickCount": 4})
    title = small_title(one.label, limit=_SMALL_WIDTH) | {"fontSize": 10}
    parts = _parts(one, x, number("height", title=None, axis=None))
    return layers(parts, _SMALL_WIDTH, _SMALL_HEIGHT, title=title)


def _parts(one: Histogram, x: Spec, y: Spec) -> list[Spec]:
    """Without limits all bars are grey, and the line of what was found has the colour that limits would have."""
    found = TEXT if one.inside else COLOURS[1]
    return [
        _bars(one, x, y),
        *(_rule(limit, COLOURS[1]) for limit in one.inside or ()),
        *(_rule(mark.place, TEXT if mark.dashed else found, dashed=mark.dashed) for mark in one.marks),
    ]


def _bars(one: Histogram, x: Spec, y: Spec) -> Spec:
    if one.edges[0] == one.edges[-1]:  # all values are the same
        return layer([{"low": one.edges[0]}], "rule", {"x": x}, color=LINE, strokeWidth=8)
    scale = {"domain": ["inside", "outside"], "range": [COLOURS[0], LINE]}
    colour = name("part", scale=scale, legend=None)
    limits = {"x": x, "x2": end("high"), "y": y, "y2": end("zero"), "color": colour}
    return layer(_rows(one), "bar", limits, binSpacing=0, opacity=0.85)


def _rows(one: Histogram) -> list[Spec]:
    return [
        {"low": low, "high": high, "height": height, "zero": 0, "part": _part(one, (low + high) / 2)}
        for low, high, height in zip(one.edges, one.edges[1:], one.heights, strict=False)
    ]


def _part(one: Histogram, middle: float) -> str:
    return "inside" if one.inside is not None and one.inside[0] <= middle <= one.inside[1] else "outside"


def _rule(place: float, colour: str, *, dashed: bool = False) -> Spec:
    look = {"strokeWidth": 1, "strokeDash": [4, 3]} if dashed else {"strokeWidth": 2, "strokeDash": [1, 0]}
    return layer([{"place": place}], "rule", {"x": number("place")}, color=colour, **look)
