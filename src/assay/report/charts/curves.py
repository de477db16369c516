"""Lines over one x axis, with bands or bars, on one or more axes below each other; and dots."""

from collections.abc import Iterable
from itertools import chain
from json import dumps
from math import ceil
from textwrap import wrap
from typing import Any

import altair as alt

from assay.report.charts import COLOURS, INK, MUTED, TEXT, WIDTH, by_group, inline
from assay.results.figures import Axes, Curve, Mark, Place, Points, Series

_HEIGHT, _LOW_HEIGHT = 230, 140
_LETTERS = 6  # pixels of a letter of an axis title, roughly
_LONG_LEGEND = 80  # letters: more do not fit above a chart
_DASHES = ([1, 0], [5, 3], [2, 2])  # where there are more lines than colours
_BESIDE = 0.008  # of the width: bars at the same place stand so far apart
_DOTS_HEIGHT = 200
_SHAPES = {True: "circle", False: "cross"}
_FEW = 120  # dots that can each be seen


def draw_curve(figure: Curve) -> Any:  # layers, or some below each other
    drawing = _CurveDrawing(figure)
    shown = [axes for axes in figure.axes if any(_rows(series) for series in axes.series)]
    parts = [drawing.layers(axes, last=axes is shown[-1]) for axes in shown]
    if len(parts) == 1:
        return parts[0]
    return alt.vconcat(*parts, spacing=16).resolve_scale(x="shared", color="shared")


class _CurveDrawing:
    """What the axes of one figure share: places along x, and a colour for each label."""

    def __init__(self, figure: Curve) -> None:
        self.figure = figure
        series = [one for axes in figure.axes for one in axes.series]
        self.names = list(dict.fromkeys(one.label for one in series))
        known = list(chain(figure.ticks, *(one.x for one in series), *((p.x for p in a.places) for a in figure.axes)))
        self.low, self.high = min(known), max(known)
        self.whole = all(float(x).is_integer() for x in known)
        self.dashes = len(self.names) > len(COLOURS)
        self.legend = self._legend()
        self.colour, _ = by_group(self.names, self.legend)

    def _legend(self) -> alt.Legend | None:
        if self.names == [""]:
            return None
        long = self.dashes or sum(len(name) + 4 for name in self.names) > _LONG_LEGEND
        symbol: dict[str, Any] = {"symbolType": "stroke"} if self.dashes else {"symbolOpacity": 1}
        return alt.Legend(title=None, orient="right" if long else "top", labelLimit=420, **symbol)

    def layers(self, axes: Axes, *, last: bool) -> alt.LayerChart | alt.FacetChart:
        height = _HEIGHT if axes.tall else _LOW_HEIGHT
        x, y = self._x(title=last), _y(axes, height)
        layers: list[Any] = [layer for mark in axes.marks for layer in _mark(mark, height)]
        layers += self._intervals(axes, x, height) + self._lines(axes, x, y, height)
        layers += [layer for place in axes.places for layer in _place(place, axes, x, y, height)]
        title = alt.TitleParams(axes.title, anchor="start", frame="group", fontWeight="normal", fontSize=11)
        return alt.layer(*layers, title=title) if axes.title else alt.layer(*layers)

    def _intervals(self, axes: Axes, x: alt.X, height: int) -> list[Any]:
        """Bands of lines, bars of points."""
        limits = {"x": x, "y": alt.Y("low:Q"), "y2": "high:Q", "color": self.colour}
        rows = [(one.style, row) for one in axes.series for row in self._placed(axes, one) if _bounded(row)]
        bands, bars = ([row for style, row in rows if (style == "points") is alone] for alone in (False, True))
        drawn: list[Any] = []
        if bands:
            drawn.append(inline(bands, height).mark_area(opacity=0.18).encode(**limits))
        if bars:
            drawn.append(inline(bars, height).mark_rule(strokeWidth=2).encode(**limits))
        return drawn

    def _lines(self, axes: Axes, x: alt.X, y: alt.Y, height: int) -> list[Any]:
        place: dict[str, Any] = {"x": x, "y": y, "color": self.colour}
        solid, dashed, dots = [], [], []
        for one in axes.series:
            rows = self._placed(axes, one)
            dots += [] if one.style == "line" else rows
            if one.style != "points":
                solid += [row for row in rows if one.dashed_from is None or row["x"] <= one.dashed_from]
                dashed += [row for row in rows if one.dashed_from is not None and row["x"] >= one.dashed_from]
        drawn: list[Any] = []
        if solid:
            drawn.append(inline(solid, height).mark_line().encode(**place, **self._dash()))
        if dashed:
            drawn.append(inline(dashed, height).mark_line(strokeDash=[5, 4]).encode(**place))
        if dots:
            drawn.append(inline(dots, height).mark_point(filled=True, size=36, opacity=1).encode(**place))
        return drawn

    def _dash(self) -> dict[str, Any]:
        if not self.dashes:
            return {}
        chosen = [_DASHES[i // len(COLOURS) % len(_DASHES)] for i in range(len(self.names))]
        scale = alt.Scale(domain=self.names, range=chosen)
        return {"strokeDash": alt.StrokeDash("group:N", scale=scale, legend=self.legend)}

    def _placed(self, axes: Axes, series: Series) -> list[dict[str, Any]]:
        """The rows of a series; bars alone stand side by side, so that several can be told apart."""
        if any(one.style != "points" for one in axes.series):
            return _rows(series)
        step = _BESIDE * axes.series.index(series)
        if self.figure.log is None:
            return [row | {"x": row["x"] + step * (self.high - self.low)} for row in _rows(series)]
        return [row | {"x": row["x"] * (self.high / self.low) ** step} for row in _rows(series)]

    def _x(self, *, title: bool) -> alt.X:
        ticks = self.figure.ticks
        marked: dict[str, Any] = {}
        if ticks:
            texts = " : ".join(f"datum.value == {place!r} ? {dumps(text)}" for place, text in ticks.items())
            marked = {"values": list(ticks), "labelExpr": f"{texts} : ''"}
        elif self.whole and self.figure.log is None:
            marked = {"tickMinStep": 1}
        elif self.figure.log is not None:
            marked = {"format": "~g"}
        return alt.X(
            "x:Q",
            title=self.figure.x_axis if title else None,
            scale=self._scale(),
            axis=alt.Axis(grid=False, **marked),
        )

    def _scale(self) -> alt.Scale:
        if self.figure.log is None:
            return alt.Scale(zero=False, nice=False, padding=12)
        wider = (self.high / self.low) ** 0.02 if self.high > self.low else 1.1
        domain = [self.low / wider, self.high * wider]
        return alt.Scale(type="log", base=self.figure.log, domain=domain, nice=False)


def _y(axes: Axes, height: int) -> alt.Y:
    letters = height // _LETTERS
    title: str | list[str] = axes.axis
    if len(axes.axis) > letters:
        title = wrap(axes.axis, ceil(len(axes.axis) / ceil(len(axes.axis) / letters)) + 4)
    scale = alt.Scale(zero=axes.zero) if axes.domain is None else alt.Scale(domain=list(axes.domain))
    marked: dict[str, Any] = {} if axes.written is None else {"format": axes.written}
    return alt.Y("value:Q", title=title, scale=scale, axis=alt.Axis(**marked))


def _rows(series: Series) -> list[dict[str, Any]]:
    none = (None,) * len(series.x)
    points = zip(series.x, series.y, series.low or none, series.high or none, strict=True)
    return [
        {"group": series.label, "x": x, "value": y, "low": low, "high": high}
        for x, y, low, high in points
        if y is not None
    ]


def _bounded(row: dict[str, Any]) -> bool:
    return row["low"] is not None and row["high"] is not None


def _mark(mark: Mark, height: int) -> Iterable[Any]:
    """A line across, its name above it."""
    base = inline([{"at": mark.place, "name": mark.label}], height)
    yield base.mark_rule(color=TEXT, strokeDash=[4, 3] if mark.dashed else [1, 0]).encode(y="at:Q")
    if mark.label:
        name = base.mark_text(align="right", dy=-6, dx=-4, fontSize=10, color=TEXT)
        yield name.encode(x=alt.value(WIDTH), y="at:Q", text="name:N")


def _place(place: Place, axes: Axes, x: alt.X, y: alt.Y, height: int) -> Iterable[Any]:
    """Its label on the side of the curve that is free."""
    base = inline([{"x": place.x, "value": place.y, "label": place.label}], height)
    dashed = base.mark_rule(strokeDash=[4, 4], color=MUTED)
    values = [value for value in axes.series[0].y if value is not None]
    falls = values[-1] < values[0]
    yield dashed.encode(x=x)
    yield dashed.encode(y=y)
    yield base.mark_point(filled=True, size=70, opacity=1, color=COLOURS[1]).encode(x=x, y=y)
    label = base.mark_text(align="left", dx=8, dy=-12 if falls else 12, fontSize=12, color=INK)
    yield label.encode(x=x, y=y, text="label:N")


# ---------------------------------------------------------------------------------------------------------------- dots


def draw_points(figure: Points) -> alt.LayerChart | alt.FacetChart:
    return _by_group(figure) if figure.groups else _alike(figure)


def _alike(figure: Points) -> alt.LayerChart | alt.FacetChart:
    """Many dots of one kind."""
    rows = [{"x": p.x, "y": p.y, "id": p.label, "weight": p.size} for p in figure.points]
    x = alt.X("x:Q", title=figure.axes[0], axis=alt.Axis(grid=False), scale=alt.Scale(nice=False, padding=8))
    y = alt.Y("y:Q", title=figure.axes[1])
    dots = inline(rows, _DOTS_HEIGHT).mark_point(
        filled=True, size=44 if len(rows) <= _FEW else 18, opacity=0.65, color=COLOURS[0]
    )
    across = [
        inline([{"at": mark.place}], _DOTS_HEIGHT).mark_rule(color=TEXT).encode(y="at:Q") for mark in figure.marks
    ]
    return alt.layer(*_band(figure), *across, dots.encode(x=x, y=y))


def _band(figure: Points) -> list[Any]:
    if figure.band is None:
        return []
    low, value, high = figure.band
    base, orange = inline([{"what": "overall", "value": value, "low": low, "high": high}], _DOTS_HEIGHT), COLOURS[1]
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
