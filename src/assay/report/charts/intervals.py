"""Intervals: estimates below each other, coloured by group, or one against what it is judged by."""

from collections.abc import Iterable
from typing import Any

import altair as alt

from assay.report.charts import COLOURS, INK, MUTED, TEXT, by_group, inline
from assay.results.figures import INSIDE, Forest, Gauge, Line, Mark, SecondMark

_WIDTH = 460
_ROW, _LOW_ROW, _BESIDE = 24, 13, 15  # pixels for a label, of few and of many; for each group that shares one
_MANY = 60  # labels
_LABELS = 320  # pixels that a label may take
_LETTER = 0.6  # the width of a letter, of its height
_STEP = 12  # pixels for the name of a line through all
_SHAPES = {"diamond": "diamond", "triangle": "triangle-up"}


def draw_forest(figure: Forest) -> alt.LayerChart | alt.FacetChart:
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
        axis = alt.Axis(labelLimit=_LABELS, grid=False, ticks=False, domain=False, labelFontSize=size, **placed)
        self.y = alt.Y("label:N", sort=self.labels, title=None, axis=axis, scale=alt.Scale(paddingOuter=0.6))
        legend = alt.Legend(title=None, orient="top", labelLimit=400, symbolOpacity=1)
        shown = figure.legend and len(figure.groups) > 1
        self.colour, self.shape = by_group(figure.groups or ("",), legend if shown else None)

    def chart(self) -> alt.LayerChart | alt.FacetChart:
        through = [layer for i, mark in enumerate(self.figure.marks) for layer in self._mark(i, mark)]
        return alt.layer(*through, *self._values(), *self._seconds(), *self._written())

    def _inline(self, rows: Iterable[dict[str, Any]]) -> alt.Chart:
        return inline(list(rows), self.height, _WIDTH)

    def _placed(self, **channels: Any) -> dict[str, Any]:
        """The channels of a layer, with the place of its rows."""
        offset = {"yOffset": alt.YOffset("group:N", sort=list(self.figure.groups))} if self.beside else {}
        return {"y": self.y, **offset, **channels}

    def _values(self) -> list[Any]:
        rows = [_row(line, line) for line in self.lines]
        scale = alt.Scale(zero=True) if self.figure.zero else alt.Scale(zero=False, padding=16)
        if self.figure.domain is not None:
            scale = alt.Scale(domain=list(self.figure.domain))
        x = alt.X("value:Q", title=self.figure.axis, scale=scale)
        dots = self._inline(rows).mark_point(filled=True, size=64, opacity=1)
        found: list[Any] = [dots.encode(**self._placed(x=x, color=self.colour, shape=self.shape))]
        bounded = list(filter(_bounded, rows))
        if bounded:  # a layer without rows has no extent, which a browser warns of
            limits = self._placed(x=alt.X("low:Q"), x2="high:Q", color=self.colour)
            found.insert(0, self._inline(bounded).mark_rule(strokeWidth=2).encode(**limits))
        return found

    def _seconds(self) -> list[Any]:
        found = [(line, mark) for line in self.lines for mark in line.others if mark.value is not None]
        kinds = dict.fromkeys((mark.shape, _below(line, mark)) for line, mark in found)
        return [
            layer
            for shape, below in kinds
            for layer in self._second(
                shape, [_row(line, mark) for line, mark in found if (mark.shape, _below(line, mark)) == (shape, below)],
                self.row / 3 if below else 0,
            )
        ]  # fmt: skip

    def _second(self, shape: str, rows: list[dict[str, Any]], offset: float) -> list[Any]:
        limits = list(filter(_bounded, rows))
        base = self._inline(rows)
        if shape == "tick":
            dots = base.mark_tick(color=INK, thickness=2, size=10, yOffset=offset)
        else:
            dots = base.mark_point(filled=False, shape=_SHAPES[shape], size=44, color=MUTED, opacity=1, yOffset=offset)
        found = [dots.encode(**self._placed(x=alt.X("value:Q")))]
        if limits:
            dash = [3, 2] if offset else [1, 0]
            line = self._inline(limits).mark_rule(strokeWidth=1, strokeDash=dash, color=MUTED, yOffset=offset)
            found.insert(0, line.encode(**self._placed(x=alt.X("low:Q"), x2="high:Q")))
        return found

    def _written(self) -> list[Any]:
        """Values at the end of their lines, notes at the end of their rows."""
        found: list[Any] = []
        if self.figure.written is not None:
            rows = [_row(line, line) for line in self.lines]
            rows = [row | {"end": row["value"] if row["high"] is None else row["high"]} for row in rows]
            text = alt.Text("value:Q", format=self.figure.written)
            values = self._inline(rows).mark_text(align="left", dx=8, fontSize=10, color=TEXT)
            found.append(values.encode(**self._placed(x=alt.X("end:Q"), text=text)))
        notes = [_row(line, line) | {"note": line.note} for line in self.lines if line.note]
        if notes:
            end = self._inline(notes).mark_text(align="left", fontSize=10, color=TEXT)
            found.append(end.encode(**self._placed(x=alt.value(_WIDTH + 10), text="note:N")))
        return found

    def _mark(self, place: int, mark: Mark) -> list[Any]:
        """A line through all rows, its name above them, one step higher for each so that none covers another."""
        top = -_STEP * (len(self.figure.marks) - place) if mark.label else 0
        base = self._inline([{"place": mark.place, "name": mark.label}])
        rule = base.mark_rule(color=MUTED, strokeWidth=1.2, strokeDash=[5, 3] if mark.dashed else [1, 0])
        name = base.mark_text(align="left", dx=3, dy=4, fontSize=10, color=TEXT)
        found: list[Any] = [rule.encode(x="place:Q", y=alt.value(top), y2=alt.value(self.height))]
        return [*found, name.encode(x="place:Q", y=alt.value(top), text="name:N")] if mark.label else found


def _from_the_left(labels: list[str], size: int) -> dict[str, Any]:
    """Names of an outline begin below each other, where their indentation is seen; others end beside the axis."""
    if not any(label.startswith(INSIDE) for label in labels):
        return {}
    return {"labelAlign": "left", "labelPadding": min(max(map(len, labels)) * size * _LETTER, _LABELS)}


def _row(line: Line, mark: Line | SecondMark) -> dict[str, Any]:
    return {"label": line.label, "group": line.group, "value": mark.value, "low": mark.low, "high": mark.high}


def _bounded(row: dict[str, Any]) -> bool:
    return row["low"] is not None and row["high"] is not None


def _below(line: Line, mark: SecondMark) -> bool:
    """Whether a second interval would lie on the first."""
    return mark.low is not None and line.low is not None


def draw_gauge(gauge: Gauge) -> alt.LayerChart | alt.FacetChart:
    row = {"what": gauge.label, "value": gauge.value, "low": gauge.low, "high": gauge.high}
    marks = [{"place": mark.place, "mark": mark.label} for mark in gauge.marks]
    x = alt.X("value:Q", title=gauge.label, scale=alt.Scale(zero=False, padding=40))
    base, lines, blue = inline([row], 90), inline(marks, 90), COLOURS[0]
    labels = lines.mark_text(baseline="top", dy=2, color=TEXT, fontSize=11)
    layers: list[Any] = [
        lines.mark_rule(color=TEXT, strokeDash=[4, 3], y=20).encode(x=alt.X("place:Q")),
        labels.encode(x=alt.X("place:Q"), y=alt.value(2), text="mark:N"),
        base.mark_rule(strokeWidth=3, color=blue).encode(x=alt.X("low:Q"), x2="high:Q", y=alt.value(55)),
        base.mark_point(filled=True, size=90, opacity=1, color=blue).encode(x=x, y=alt.value(55)),
    ]
    return alt.layer(*layers)
