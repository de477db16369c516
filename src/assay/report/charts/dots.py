"""Dots: many of one kind, a few by group, or each with its name."""

from collections.abc import Sequence
from math import log10

from assay.report.charts import COLOURS, MUTED, TEXT, WIDTH, by_group
from assay.report.charts.labels import Dot, Side, sides
from assay.report.charts.vega import ChartRows, Spec, end, layer, layers, name, number
from assay.results.figures import Point, Points

_HEIGHT, _LOW_HEIGHT, _TALL = 200, 140, 280
_PHONE = 240  # pixels that a plot has on a phone
_WIDE_RANGE = 30  # times the least: costs that differ by more are on an axis of logarithms
_EDGE = 0.06  # of the range, free on either side
_SHAPES = {True: "circle", False: "cross"}
_FEW = 120  # dots that can each be seen


def draw_points(figure: Points) -> Spec:
    if figure.named:
        return _named(figure)
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
    row: ChartRows = [{"what": "overall", "value": value, "low": low, "high": high}]
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


# ------------------------------------------------------------------------------------------------------ dots with names

_PLACED: dict[Side, Spec] = {
    "right": {"align": "left", "dx": 8, "baseline": "middle"},
    "left": {"align": "right", "dx": -8, "baseline": "middle"},
    "above": {"align": "center", "dy": -8, "baseline": "bottom"},
    "below": {"align": "center", "dy": 8, "baseline": "top"},
}


class _Scale:
    """An axis whose places are known here, so that names can be kept from covering each other."""

    def __init__(self, values: Sequence[float]) -> None:
        self.log = min(values) > 0 and max(values) > _WIDE_RANGE * min(values)
        ends = [self._at(min(values)), self._at(max(values))]
        edge = _EDGE * (ends[1] - ends[0]) or abs(ends[0]) * _EDGE or 1.0
        self.low, self.high = ends[0] - edge, ends[1] + edge

    def _at(self, value: float) -> float:
        return log10(value) if self.log else value

    def share(self, value: float) -> float:
        return (self._at(value) - self.low) / (self.high - self.low)

    @property
    def specification(self) -> Spec:
        if self.log:
            return {"type": "log", "domain": [10**self.low, 10**self.high], "nice": False}
        return {"domain": [self.low, self.high], "nice": False, "zero": False}


def _named(figure: Points) -> Spec:
    """Dots with their names, the best first; a name that finds no room is in the table, and under the pointer."""
    points = sorted(figure.points, key=lambda point: not point.strong)
    across = _Scale([point.x for point in points])
    limits = [limit for point in points for limit in (point.low, point.high) if limit is not None]
    up = _Scale([*(point.y for point in points), *limits])
    rows: list[Spec] = [
        {
            "x": p.x,
            "y": p.y,
            "low": p.low,
            "high": p.high,
            "label": p.label,
            "group": p.group,
            "kind": _SHAPES[p.strong],
        }
        for p in points
    ]
    marked = {"format": "~g"} if across.log else {}
    x = number("x", title=figure.axes[0], scale=across.specification, axis={"grid": False, **marked})
    y = number("y", title=figure.axes[1], scale=up.specification)
    shapes = list(_SHAPES.values())
    shape = name("kind", legend=None, scale={"domain": shapes, "range": shapes})
    colour = by_group(figure.groups, None)[0] if figure.groups else name(
        "kind", legend=None, scale={"domain": shapes, "range": [COLOURS[0], MUTED]}
    )  # fmt: skip
    bounded = [row for row in rows if row["low"] is not None]
    bars = {"x": x, "y": number("low"), "y2": end("high"), "color": colour}
    parts = [layer(bounded, "rule", bars, strokeWidth=1.5, opacity=0.7)] if bounded else []
    dots = {"x": x, "y": y, "color": colour, "shape": shape}
    parts.append(layer(rows, "point", dots, size=70, filled=True, opacity=1))
    return layers([*parts, *_names(points, rows, (across, up), (x, y))], WIDTH, _TALL)


def _names(
    points: Sequence[Point], rows: Sequence[Spec], scales: tuple[_Scale, _Scale], place: tuple[Spec, Spec]
) -> list[Spec]:
    """A layer for each side; names that only a wide screen has room for are in layers that a phone leaves out."""
    narrow, wide = ([_dot(point, scales, width) for point in points] for width in (_PHONE, WIDTH))
    always = sides(narrow, (_PHONE, _TALL))
    found = sides(wide, (WIDTH, _TALL), always)
    return [
        layer(some, "text", {"x": place[0], "y": place[1], "text": name("label")}, fontSize=10, color=TEXT, **look)
        | ({"name": f"wide-{side}"} if only else {})
        for side, look in _PLACED.items()
        for only in (False, True)
        if (some := [r for r, s, a in zip(rows, found, always, strict=True) if s == side and (a is None) is only])
    ]


def _dot(point: Point, scales: tuple[_Scale, _Scale], width: float) -> Dot:
    def down(value: float | None) -> float | None:
        return None if value is None else (1 - scales[1].share(value)) * _TALL

    y = (1 - scales[1].share(point.y)) * _TALL
    return Dot(scales[0].share(point.x) * width, y, point.label, down(point.high), down(point.low))
