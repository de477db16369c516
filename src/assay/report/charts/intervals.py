"""Intervals: estimates below each other, coloured by group, or one against what it is judged by."""

from assay.report.charts import COLOURS, INK, MUTED, TEXT, WIDTH, by_group
from assay.report.charts.vega import ChartRows, Spec, end, layer, layers, name, number, pixel
from assay.results.figures import INSIDE, Forest, Gauge, Line, Mark, SecondMark

_WIDTH = 460
_ROW, _LOW_ROW, _BESIDE = 24, 13, 15  # pixels for a label, of few and of many; for each group that shares one
_MANY = 60  # labels
_LABELS = 320  # pixels that a label may take
_LETTER = 0.6  # the width of a letter, of its height
_STEP = 12  # pixels for the name of a line through all
_SHAPES = {"diamond": "diamond", "triangle": "triangle-up"}


def draw_forest(figure: Forest) -> Spec:
    return _ForestDrawing(figure).chart()


class _ForestDrawing:
    """The layers of one forest, on the same axes."""

    def __init__(self, figure: Forest) -> None:
        self.figure = figure
        self.lines = [line for line in figure.lines if line.value is not None]
        self.labels = list(dict.fromkeys(line.label for line in self.lines))
        self.beside = len({(line.label, line.group) for line in self.lines}) > len(self.labels)
        few = len(self.labels) <= _MANY
        row = _ROW if few else _LOW_ROW
        self.row = max(row, _BESIDE * len(figure.groups) + 6) if self.beside else row
        self.height = self.row * (len(self.labels) + 1)
        size = 11 if few else 9
        placed = _from_the_left(self.labels, size)
        bare = {"grid": False, "ticks": False, "domain": False}
        axis = {"labelLimit": _LABELS, "labelFontSize": size, **bare, **placed}
        self.y = name("label", sort=self.labels, title=None, axis=axis, scale={"paddingOuter": 0.6})
        legend = {"title": None, "orient": "top", "labelLimit": 400, "symbolOpacity": 1}
        shown = figure.legend and len(figure.groups) > 1
        self.colour, self.shape = by_group(figure.groups or ("",), legend if shown else None)
        self.rows = [_row(line, line) for line in self.lines]

    def chart(self) -> Spec:
        through = [part for i, mark in enumerate(self.figure.marks) for part in self._mark(i, mark)]
        return layers([*through, *self._values(), *self._seconds(), *self._written()], _WIDTH, self.height)

    def _placed(self, **channels: Spec) -> Spec:
        """The channels of a layer, with the place of its rows."""
        offset = {"yOffset": name("group", sort=list(self.figure.groups))} if self.beside else {}
        return {"y": self.y, **offset, **channels}

    def _values(self) -> list[Spec]:
        scale: Spec = {"zero": True} if self.figure.zero else {"zero": False, "padding": 16}
        if self.figure.domain is not None:
            scale = {"domain": list(self.figure.domain), "zero": False, "nice": False}
        x = number("value", title=self.figure.axis, scale=scale)
        dots = self._placed(x=x, color=self.colour, shape=self.shape)
        found = [layer(self.rows, "point", dots, filled=True, size=64, opacity=1)]
        bounded = list(filter(_bounded, self.rows))
        if bounded:  # a layer without rows has no extent, which a browser warns of
            limits = self._placed(x=number("low"), x2=end("high"), color=self.colour)
            found.insert(0, layer(bounded, "rule", limits, strokeWidth=2))
        return found

    def _seconds(self) -> list[Spec]:
        found = [(line, mark) for line in self.lines for mark in line.others if mark.value is not None]
        kinds = dict.fromkeys((mark.shape, _below(line, mark)) for line, mark in found)
        return [
            part
            for shape, below in kinds
            for part in self._second(
                shape, [_row(line, mark) for line, mark in found if (mark.shape, _below(line, mark)) == (shape, below)],
                self.row / 3 if below else 0,
            )
        ]  # fmt: skip

    def _second(self, shape: str, rows: ChartRows, offset: float) -> list[Spec]:
        dots = self._placed(x=number("value"))
        if shape == "tick":
            found = [layer(rows, "tick", dots, color=INK, thickness=2, size=10, yOffset=offset)]
        else:
            look = {"filled": False, "shape": _SHAPES[shape], "size": 44, "color": MUTED, "opacity": 1}
            found = [layer(rows, "point", dots, **look, yOffset=offset)]
        limits = list(filter(_bounded, rows))
        if limits:
            dash = [3, 2] if offset else [1, 0]
            across = self._placed(x=number("low"), x2=end("high"))
            found.insert(0, layer(limits, "rule", across, strokeWidth=1, strokeDash=dash, color=MUTED, yOffset=offset))
        return found

    def _written(self) -> list[Spec]:
        """Values at the end of their lines, notes at the end of their rows."""
        found = []
        if self.figure.written is not None:
            rows = [row | {"end": row["value"] if row["high"] is None else row["high"]} for row in self.rows]
            values = self._placed(x=number("end"), text=number("value", format=self.figure.written))
            found.append(layer(rows, "text", values, align="left", dx=8, fontSize=10, color=TEXT))
        notes = [_row(line, line) | {"note": line.note} for line in self.lines if line.note]
        if notes:
            last = self._placed(x=pixel(_WIDTH + 10), text=name("note"))
            found.append(layer(notes, "text", last, align="left", fontSize=10, color=TEXT))
        return found

    def _mark(self, place: int, mark: Mark) -> list[Spec]:
        """A line through all rows, its name above them, one step higher for each so that none covers another."""
        top = -_STEP * (len(self.figure.marks) - place) if mark.label else 0
        row = [{"place": mark.place, "name": mark.label}]
        x, dash = number("place"), [5, 3] if mark.dashed else [1, 0]
        down = {"x": x, "y": pixel(top), "y2": pixel(self.height)}
        rule = layer(row, "rule", down, color=MUTED, strokeWidth=1.2, strokeDash=dash)
        words = {"x": x, "y": pixel(top), "text": name("name")}
        label = layer(row, "text", words, align="left", dx=3, dy=4, fontSize=10, color=TEXT)
        return [rule, label] if mark.label else [rule]


def _from_the_left(labels: list[str], size: int) -> Spec:
    """Names of an outline begin below each other, where their indentation is seen; others end beside the axis."""
    if not any(label.startswith(INSIDE) for label in labels):
        return {}
    return {"labelAlign": "left", "labelPadding": min(max(map(len, labels)) * size * _LETTER, _LABELS)}


def _row(line: Line, mark: Line | SecondMark) -> Spec:
    return {"label": line.label, "group": line.group, "value": mark.value, "low": mark.low, "high": mark.high}


def _bounded(row: Spec) -> bool:
    return row["low"] is not None and row["high"] is not None


def _below(line: Line, mark: SecondMark) -> bool:
    """Whether a second interval would lie on the first."""
    return mark.low is not None and line.low is not None


def draw_gauge(gauge: Gauge) -> Spec:
    rows: ChartRows = [{"what": gauge.label, "value": gauge.value, "low": gauge.low, "high": gauge.high}]
    marks: ChartRows = [{"place": mark.place, "mark": mark.label} for mark in gauge.marks]
    x = number("value", title=gauge.label, scale={"zero": False, "padding": 40})
    place, middle, blue = number("place"), pixel(55), COLOURS[0]
    words = {"x": place, "y": pixel(2), "text": name("mark")}
    across = {"x": number("low"), "x2": end("high"), "y": middle}
    parts = [
        layer(marks, "rule", {"x": place}, color=TEXT, strokeDash=[4, 3], y=20),
        layer(marks, "text", words, baseline="top", dy=2, color=TEXT, fontSize=11),
        layer(rows, "rule", across, strokeWidth=3, color=blue),
        layer(rows, "point", {"x": x, "y": middle}, filled=True, size=90, opacity=1, color=blue),
    ]
    return layers(parts, WIDTH, 90)
