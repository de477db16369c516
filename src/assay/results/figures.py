"""What a chart shows: numbers and words, not drawings. `assay.report.charts` draws each kind."""

from collections.abc import Mapping, Sequence
from typing import Literal

from msgspec import Struct, field
from msgspec.structs import replace

from assay.stats.records import Estimate

Better = Literal["lower", "higher"]


class Mark(Struct, frozen=True):
    """What an interval is judged by, or a line through a chart: zero, one, a limit, a baseline."""

    place: float
    label: str
    dashed: bool = True


class Gauge(Struct, frozen=True):
    """One interval against what it is judged by."""

    label: str
    value: float
    low: float
    high: float
    marks: tuple[Mark, ...]
    better: Better | None
    text: str  # the same in words: value and interval as they are printed elsewhere
    name: str = "interval"

    @property
    def title(self) -> str:
        return self.label[:1].upper() + self.label[1:]

    @property
    def about(self) -> tuple[str, ...]:
        return (self.text if self.better is None else f"{self.text}. {self.better.capitalize()} is better.",)


class SecondMark(Struct, frozen=True):
    """Another value of a line: corrected, as published, expected. Drawn without colour, in a shape of its own."""

    value: float | None
    low: float | None = None
    high: float | None = None
    shape: Literal["diamond", "tick", "triangle"] = "diamond"

    @classmethod
    def of(cls, found: Estimate) -> "SecondMark":
        limits = found.interval
        return cls(found.value) if limits is None else cls(found.value, limits.low, limits.high)


#: Before the label of a line, once for each group that it is in; charts drop spaces at the start of a label.
INSIDE = "· "


class Line(Struct, frozen=True):
    """A row of a forest: a value with its interval, and further marks beside it. Rows of one label stand together."""

    label: str
    value: float | None
    low: float | None = None
    high: float | None = None
    group: str = ""  # lines of one group have one colour and shape
    others: tuple[SecondMark, ...] = ()
    note: str = ""  # written at the end of the row


class Forest(Struct, frozen=True):
    """Estimates with intervals below each other, by label and group."""

    name: str
    title: str
    about: tuple[str, ...]
    axis: str  # what the values are
    lines: tuple[Line, ...]
    marks: tuple[Mark, ...] = ()  # through all lines
    domain: tuple[float, float] | None = None
    groups: tuple[str, ...] = ()  # in the order of their colours; none: one colour
    legend: bool = True  # of the groups, where there is more than one
    zero: bool = False  # whether the axis must show 0
    written: str | None = None  # a format for the value beside its dot: ".1f"


class Series(Struct, frozen=True):
    """A line of a curve: points, a band, and from where on it is dashed."""

    label: str  # "": in no legend
    x: tuple[float, ...]
    y: tuple[float | None, ...]
    low: tuple[float | None, ...] = ()
    high: tuple[float | None, ...] = ()
    dashed_from: float | None = None
    style: Literal["line", "points", "both"] = "both"  # the intervals of points alone are bars, those of lines bands


class Place(Struct, frozen=True):
    """A single place on a curve, with a label and dashed lines to both axes."""

    x: float
    y: float
    label: str


class Axes(Struct, frozen=True):
    """The curves over one y axis."""

    axis: str
    series: tuple[Series, ...]
    title: str = ""
    marks: tuple[Mark, ...] = ()  # across, at these heights
    places: tuple[Place, ...] = ()
    domain: tuple[float, float] | None = None
    zero: bool = False
    written: str | None = None  # a format for the labels of the y axis: ".0%"
    tall: bool = True


class Curve(Struct, frozen=True):
    """Lines over one x axis, on one or more axes below each other. One label has one colour on all of them."""

    name: str
    title: str
    about: tuple[str, ...]
    x_axis: str
    axes: tuple[Axes, ...]
    log: int | None = None  # the base of an axis of logarithms
    ticks: Mapping[float, str] = field(default_factory=dict)  # labels of the x axis; none: as it comes


class Histogram(Struct, frozen=True):
    """Shares or counts between edges, and what stands among them."""

    label: str
    edges: tuple[float, ...]
    heights: tuple[float, ...]
    inside: tuple[float, float] | None = None  # the part between these is coloured; None: nothing is
    marks: tuple[Mark, ...] = ()


class Distribution(Struct, frozen=True):
    """One histogram, or several beside each other."""

    name: str
    title: str
    about: tuple[str, ...]
    axis: str
    histograms: tuple[Histogram, ...]
    heights: str = "share"


class Point(Struct, frozen=True):
    x: float
    y: float
    label: str
    low: float | None = None
    high: float | None = None
    group: str = ""
    strong: bool = True  # False: another shape
    size: float | None = None


class Points(Struct, frozen=True):
    """Dots: a difference by unit, quality against cost."""

    name: str
    title: str
    about: tuple[str, ...]
    axes: tuple[str, str]
    points: tuple[Point, ...]
    band: tuple[float, float, float] | None = None  # low, value, high of y, across
    marks: tuple[Mark, ...] = ()  # across, at these heights
    groups: tuple[str, ...] = ()
    named: bool = False  # whether the label stands beside its dot, where there is room


def unbeaten(points: Sequence[Point], *, lower_is_better: bool) -> tuple[Point, ...]:
    """Points of cost and quality; those are strong that no other is as good as in both, and better than in one."""
    sign = 1 if lower_is_better else -1

    def beaten(one: Point) -> bool:
        return any(
            other.x <= one.x and sign * other.y <= sign * one.y and (other.x, other.y) != (one.x, one.y)
            for other in points
        )

    return tuple(replace(one, strong=not beaten(one)) for one in points)


class BarPart(Struct, frozen=True):
    """A part of a bar, with its count."""

    label: str
    count: int
    style: Literal["same", "first", "second", "none"]


class Bars(Struct, frozen=True):
    """One bar of parts that add up."""

    name: str
    title: str
    about: tuple[str, ...]
    axis: str
    parts: tuple[BarPart, ...]


class Matrix(Struct, frozen=True):
    """Numbers in rows and columns, each coloured by how far it is from the middle: a heat map."""

    name: str
    title: str
    about: tuple[str, ...]
    rows: tuple[str, ...]
    columns: tuple[str, ...]
    values: tuple[tuple[float | None, ...], ...]  # by row, then by column; written in their cells
    shades: tuple[tuple[float | None, ...], ...]  # what colours them, 0 in the middle; None: no cell
    scale: str  # what the shades are; "": no legend
    written: str = ".2f"  # a format for the values


Figure = Bars | Gauge | Forest | Curve | Distribution | Points | Matrix
