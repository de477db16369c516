"""Lines over one x axis, with bands or bars, on one or more axes below each other."""

from collections.abc import Iterable
from itertools import chain
from json import dumps
from math import ceil
from textwrap import wrap

from assay.report.charts import COLOURS, INK, LINE, MUTED, TEXT, WIDTH, by_group
from assay.report.charts.vega import ChartRows, Spec, below, end, layer, layers, name, number, pixel, small_title
from assay.results.figures import Axes, Curve, Mark, Place, Series

_HEIGHT, _LOW_HEIGHT = 230, 140
_LETTERS = 6  # pixels of a letter of an axis title, roughly
_LONG_LEGEND = 80  # letters: more do not fit above a chart
_DASHES = ([1, 0], [5, 3], [2, 2])  # where there are more lines than colours
_BESIDE = 0.008  # of the width: bars at the same place stand so far apart
_MOST_LINES, _KEPT = 12, 6  # lines that can be told apart; of more, the first have colours and the others are grey
_FEW_BANDS = 4  # of more, bands are fainter


def draw_curve(figure: Curve) -> Spec:
    """Layers, or some below each other."""
    drawing = _CurveDrawing(figure)
    shown = [axes for axes in figure.axes if any(_rows(series) for series in axes.series)]
    parts = [drawing.layers(axes, last=axes is shown[-1]) for axes in shown]
    return parts[0] if len(parts) == 1 else below(parts, x="shared", color="shared")


class _CurveDrawing:
    """What the axes of one figure share: places along x, and a colour for each label."""

    def __init__(self, figure: Curve) -> None:
        self.figure = figure
        series = [one for axes in figure.axes for one in axes.series]
        self.names = list(dict.fromkeys(one.label for one in series))
        self.others = self.names[_KEPT:] if len(self.names) > _MOST_LINES else []
        self.names = [name for name in self.names if name not in self.others]
        known = list(chain(figure.ticks, *(one.x for one in series), *((p.x for p in a.places) for a in figure.axes)))
        self.low, self.high = min(known), max(known)
        self.whole = all(float(x).is_integer() for x in known)
        self.dashes = len(self.names) > len(COLOURS)
        self.legend = self._legend()
        self.colour, _ = by_group(self.names, self.legend)
        if self.others:
            self.colour["scale"]["domain"].append(self._rest)
            self.colour["scale"]["range"].append(LINE)

    @property
    def _rest(self) -> str:
        return f"{len(self.others)} others"

    def _legend(self) -> Spec | None:
        if self.names == [""]:
            return None
        long = self.dashes or sum(len(label) + 4 for label in self.names) > _LONG_LEGEND
        symbol: Spec = {"symbolType": "stroke"} if self.dashes else {"symbolOpacity": 1}
        return {"title": None, "orient": "right" if long else "top", "labelLimit": 420, **symbol}

    def layers(self, axes: Axes, *, last: bool) -> Spec:
        height = _HEIGHT if axes.tall else _LOW_HEIGHT
        x, y = self._x(title=last), _y(axes, height)
        parts = [part for mark in axes.marks for part in _mark(mark)]
        parts += self._lines(axes, x, y) + self._intervals(axes, x)
        parts += [part for place in axes.places for part in _place(place, axes, x, y)]
        title = {"title": small_title(axes.title, frame="group")} if axes.title else {}
        return layers(parts, WIDTH, height, **title)

    def _intervals(self, axes: Axes, x: Spec) -> list[Spec]:
        """Bands of lines, bars of points."""
        limits = {"x": x, "y": number("low"), "y2": end("high"), "color": self.colour}
        kept = [one for one in axes.series if one.label not in self.others]
        rows = [(one.style, row) for one in kept for row in self._placed(axes, one) if _bounded(row)]
        bands, bars = ([row for style, row in rows if (style == "points") is alone] for alone in (False, True))
        faint = 0.18 if len({row["group"] for row in bands}) <= _FEW_BANDS else 0.08
        drawn = [layer(bands, "area", limits, opacity=faint)] if bands else []
        return [*drawn, layer(bars, "rule", limits, strokeWidth=2)] if bars else drawn

    def _lines(self, axes: Axes, x: Spec, y: Spec) -> list[Spec]:
        place = {"x": x, "y": y, "color": self.colour}
        solid, dashed, dots = [], [], []
        for one in axes.series:
            if one.label in self.others:
                continue
            rows = self._placed(axes, one)
            dots += [] if one.style == "line" else rows
            if one.style != "points":
                solid += [row for row in rows if one.dashed_from is None or row["x"] <= one.dashed_from]
                dashed += [row for row in rows if one.dashed_from is not None and row["x"] >= one.dashed_from]
        drawn = self._grey_lines(axes, place)
        if solid:
            drawn.append(layer(solid, "line", {**place, **self._dash()}))
        if dashed:
            drawn.append(layer(dashed, "line", place, strokeDash=[5, 4]))
        if dots:
            dots = solid if dots == solid else dots  # one list of rows for both
            drawn.append(layer(dots, "point", place, filled=True, size=36, opacity=1))
        return drawn

    def _grey_lines(self, axes: Axes, place: Spec) -> list[Spec]:
        """Lines that are too many for colours of their own; which one it is, is said under the pointer."""
        rows = [
            {"group": self._rest, "label": one.label, "x": row["x"], "value": row["value"]}
            for one in axes.series
            if one.label in self.others and one.style != "points"
            for row in _rows(one)
        ]
        return [layer(rows, "line", {**place, "detail": name("label")}, strokeWidth=1, opacity=0.5)] if rows else []

    def _dash(self) -> Spec:
        if not self.dashes:
            return {}
        chosen = [_DASHES[i // len(COLOURS) % len(_DASHES)] for i in range(len(self.names))]
        return {"strokeDash": name("group", scale={"domain": self.names, "range": chosen}, legend=self.legend)}

    def _placed(self, axes: Axes, series: Series) -> list[Spec]:
        """The rows of a series; bars stand side by side, so that several can be told apart."""
        if series.style != "points":
            return _rows(series)
        beside = [one for one in axes.series if one.style == "points" and one.label not in self.others]
        step = _BESIDE * (beside.index(series) - (len(beside) - 1) / 2)
        if self.figure.log is None:
            return [row | {"x": row["x"] + step * (self.high - self.low)} for row in _rows(series)]
        return [row | {"x": row["x"] * (self.high / self.low) ** step} for row in _rows(series)]

    def _x(self, *, title: bool) -> Spec:
        ticks = self.figure.ticks
        marked: Spec = {}
        if ticks:
            texts = " : ".join(f"datum.value == {place!r} ? {dumps(text)}" for place, text in ticks.items())
            marked = {"values": list(ticks), "labelExpr": f"{texts} : ''"}
        elif self.whole and self.figure.log is None:
            marked = {"tickMinStep": 1}
        elif self.figure.log is not None:
            marked = {"format": "~g"}
        words = self.figure.x_axis if title else None
        return number("x", title=words, scale=self._scale(), axis={"grid": False, **marked})

    def _scale(self) -> Spec:
        if self.figure.log is None:
            return {"zero": False, "nice": False, "padding": 12}
        wider = (self.high / self.low) ** 0.02 if self.high > self.low else 1.1
        domain = [self.low / wider, self.high * wider]
        return {"type": "log", "base": self.figure.log, "domain": domain, "nice": False}


def _y(axes: Axes, height: int) -> Spec:
    letters = height // _LETTERS
    title: str | list[str] = axes.axis
    if len(axes.axis) > letters:
        title = wrap(axes.axis, ceil(len(axes.axis) / ceil(len(axes.axis) / letters)) + 4)
    scale = {"zero": axes.zero} if axes.domain is None else {"domain": list(axes.domain)}
    return number("value", title=title, scale=scale, axis={} if axes.written is None else {"format": axes.written})


def _rows(series: Series) -> list[Spec]:
    none = (None,) * len(series.x)
    points = zip(series.x, series.y, series.low or none, series.high or none, strict=True)
    return [
        {"group": series.label, "x": x, "value": y, "low": low, "high": high}
        for x, y, low, high in points
        if y is not None
    ]


def _bounded(row: Spec) -> bool:
    return row["low"] is not None and row["high"] is not None


def _mark(mark: Mark) -> Iterable[Spec]:
    """A line across, its name above it."""
    row, at = [{"at": mark.place, "name": mark.label}], number("at")
    yield layer(row, "rule", {"y": at}, color=TEXT, strokeDash=[4, 3] if mark.dashed else [1, 0])
    if mark.label:
        words = {"x": pixel(WIDTH), "y": at, "text": name("name")}
        yield layer(row, "text", words, align="right", dy=-6, dx=-4, fontSize=10, color=TEXT)


def _place(place: Place, axes: Axes, x: Spec, y: Spec) -> Iterable[Spec]:
    """Its label on the side of the curve that is free."""
    row: ChartRows = [{"x": place.x, "value": place.y, "label": place.label}]
    values = [value for value in axes.series[0].y if value is not None]
    falls = values[-1] < values[0]
    yield layer(row, "rule", {"x": x}, strokeDash=[4, 4], color=MUTED)
    yield layer(row, "rule", {"y": y}, strokeDash=[4, 4], color=MUTED)
    yield layer(row, "point", {"x": x, "y": y}, filled=True, size=70, opacity=1, color=COLOURS[1])
    words = {"x": x, "y": y, "text": name("label")}
    yield layer(row, "text", words, align="left", dx=8, dy=-12 if falls else 12, fontSize=12, color=INK)
