"""Gauges: an interval as a small drawing, a dot with its limits, against zero, one or the limit.

Large under a verdict, or in a row beside others that share its scale.
"""

from collections.abc import Sequence
from html import escape
from unicodedata import east_asian_width

from assay.results.figures import Gauge

_WIDE, _NARROW = 640, 330  # pixels: of a screen, and of a phone
_EDGE = {_WIDE: 56, _NARROW: 24}  # pixels free on each side
_LETTER = 7.5  # pixels of a letter, rather more than less
_ROW = 16  # pixels of a line of words
_LONGEST = 60  # letters of a label
_SMALL, _SMALL_HEIGHT = 260, 24  # pixels of a gauge in a row

Scale = tuple[float, float]  # the ends of an axis


def scale_of(gauges: Sequence[Gauge]) -> Scale:
    """The axis that shows all of these, with what they are judged by."""
    points = [
        one for gauge in gauges for one in (gauge.low, gauge.high, gauge.value, *(mark.place for mark in gauge.marks))
    ]
    low, high = min(points), max(points)
    return (low, high) if high > low else (low - max(abs(low), 1.0) / 2, high + max(abs(high), 1.0) / 2)


def row_html(gauge: Gauge, scale: Scale) -> str:
    """A gauge in a row of many, on an axis that they share; words stand beside it."""
    (low, high), edge, middle = scale, 8, _SMALL_HEIGHT / 2

    def x(value: float) -> float:
        return round(edge + (value - low) / (high - low) * (_SMALL - 2 * edge), 1)

    marks = "".join(
        f"<line class='mark' x1='{x(mark.place)}' x2='{x(mark.place)}' y1='1' y2='{_SMALL_HEIGHT - 1}'>"
        f"<title>{escape(mark.label)}</title></line>"
        for mark in gauge.marks
    )
    return (
        f"<svg class='gauge row' viewBox='0 0 {_SMALL} {_SMALL_HEIGHT}' role='img' aria-label='{escape(_said(gauge))}'>"
        f"<line class='axis' x1='0' x2='{_SMALL}' y1='{middle}' y2='{middle}'/>{marks}"
        f"<line class='interval' x1='{x(gauge.low)}' x2='{x(gauge.high)}' y1='{middle}' y2='{middle}'/>"
        f"<circle cx='{x(gauge.value)}' cy='{middle}' r='5'/></svg>"
    )


def _said(gauge: Gauge) -> str:
    marks = "; ".join(mark.label for mark in gauge.marks)
    return f"{gauge.label}: {gauge.text}" + (f", against {marks}" if marks else "")


def gauge_html(gauge: Gauge, name: str) -> str:
    """The drawing for screens and the one for phones, of which the style shows one; colours are the style's too."""
    better = "" if gauge.better is None else f" ({gauge.better} is better)"
    label = f"<p class='gauge-label'>{escape(gauge.label + better)}</p>"
    return label + _svg(gauge, name, _WIDE, "gauge wide") + _svg(gauge, f"{name}-narrow", _NARROW, "gauge narrow")


def _svg(gauge: Gauge, name: str, width: int, style: str) -> str:
    points = [gauge.low, gauge.high, gauge.value, *(mark.place for mark in gauge.marks)]
    low, high = min(points), max(points)
    span = (high - low) or max(abs(low), 1.0)

    def x(value: float) -> float:
        return round(_EDGE[width] + (value - low) / span * (width - 2 * _EDGE[width]), 1)

    places = [(x(mark.place), _short(mark.label)) for mark in gauge.marks]
    rows = _rows(places, width)
    top = _ROW * max(rows, default=-1) + _ROW
    line = top + 26
    height = line + 32
    marks = "".join(
        f"<line class='mark' x1='{at}' x2='{at}' y1='{_ROW * row + _ROW + 4}' y2='{line + 12}'/>"
        + _words("label", at, _ROW * row + 12, label, width)
        for (at, label), row in zip(places, rows, strict=True)
    )
    text = "; ".join([f"{gauge.label}: {gauge.text}", *(f"{m.label} at {m.place:.6g}" for m in gauge.marks)])
    return (
        f"<svg class='{style}' role='img' aria-labelledby='{name}' viewBox='0 0 {width} {height}'>"
        f"<title id='{name}'>{escape(text)}</title><line class='axis' x1='0' x2='{width}' y1='{line}' y2='{line}'/>"
        f"{marks}<line class='interval' x1='{x(gauge.low)}' x2='{x(gauge.high)}' y1='{line}' y2='{line}'/>"
        f"<circle cx='{x(gauge.value)}' cy='{line}' r='7'/>"
        f"{_words('value', x(gauge.value), line + 24, gauge.text, width)}</svg>"
    )


def _words(style: str, x: float, y: float, text: str, width: int) -> str:
    anchor = _anchor(x, width)
    return f"<text class='{style}' x='{x}' y='{y}' text-anchor='{anchor}'>{escape(text)}</text>"


def _anchor(x: float, width: int) -> str:
    """Words near an edge grow inwards."""
    return "start" if x < width / 3 else "end" if x > 2 * width / 3 else "middle"


def _short(label: str) -> str:
    return label if len(label) <= _LONGEST else label[: _LONGEST - 1] + "…"


def _rows(places: Sequence[tuple[float, str]], width: int) -> list[int]:
    """A line for each label: the lowest in which it covers no other."""
    taken: list[tuple[int, float, float]] = []
    for at, label in places:
        left, right = _extent(at, label, width)
        full = {row for row, low, high in taken if left < high and low < right}
        taken.append((next(row for row in range(len(places)) if row not in full), left, right))
    deepest = max((row for row, _, _ in taken), default=0)
    return [deepest - row for row, _, _ in taken]


def _extent(at: float, label: str, width: int) -> tuple[float, float]:
    size = _LETTER * (sum(2 if east_asian_width(letter) in "FW" else 1 for letter in label) + 1)
    before = {"start": 0.0, "middle": size / 2, "end": size}[_anchor(at, width)]
    return at - before, at - before + size
