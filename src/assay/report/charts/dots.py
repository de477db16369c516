"""Dots: many of one kind, or a few by group."""

from assay.report.charts import COLOURS, TEXT, WIDTH, by_group
from assay.report.charts.vega import Rows, Spec, end, layer, layers, name, number
from assay.results.figures import Points

_HEIGHT, _LOW_HEIGHT = 200, 140
_SHAPES = {True: "circle", False: "cross"}
_FEW = 120  # dots that can each be seen


def draw_points(figure: Points) -> Spec:
    return _by_group(figure) if figure.groups else _alike(figure)


def _alike(figure: Points) -> Spec:
    """Many dots of one kind."""
    rows = [{"x": p.x, "y": p.y, "id": p.label, "weight": p.size} for p in figure.points]
    x = number("x", title=figure.axes[0], axis={"grid": False}, scale={"nice": False, "padding": 8})
    size = 44 if len(rows) <= _FEW else 18
    place = {"x": x, "y": number("y", title=figure.axes[1])}
    dots = layer(rows, "point", place, filled=True, size=size, opacity=0.65, color=COLOURS[0])
    across = [layer([{"at": mark.place}], "rule", {"y": number("at")}, color=TEXT) for mark in figure.marks]
    return layers([*_band(figure), *across, dots], WIDTH, _HEIGHT)


def _band(figure: Points) -> list[Spec]:
    if figure.band is None:
        return []
    low, value, high = figure.band
    row: Rows = [{"what": "overall", "value": value, "low": low, "high": high}]
    orange = COLOURS[1]
    return [
        layer(row, "rect", {"y": number("low"), "y2": end("high")}, color=orange, opacity=0.22),
        layer(row, "rule", {"y": number("value")}, color=orange, strokeWidth=2),
    ]


def _by_group(figure: Points) -> Spec:
    """A few dots, each with its interval, coloured by group."""
    rows = [
        {"x": p.x, "y": p.y, "low": p.low, "high": p.high, "group": p.group, "shape": _SHAPES[p.strong]}
        for p in figure.points
    ]
    x = number("x", title=figure.axes[0], scale={"zero": False, "padding": 20}, axis={"grid": False})
    y = number("y", title=figure.axes[1], scale={"zero": False, "padding": 10})
    legend = {"title": None, "orient": "top", "labelLimit": 400, "symbolOpacity": 1}
    colour, _ = by_group(figure.groups, legend)
    shapes = list(_SHAPES.values())
    shape = name("shape", legend=None, scale={"domain": shapes, "range": shapes})
    bounded = [row for row in rows if row["low"] is not None]
    limits = {"x": x, "y": number("low"), "y2": end("high"), "color": colour}
    dots = {"x": x, "y": y, "color": colour, "shape": shape}
    bars = layer(bounded, "rule", limits, strokeWidth=2)
    return layers([bars, layer(rows, "point", dots, size=70, filled=True, opacity=1)], WIDTH, _LOW_HEIGHT)
