"""Heat maps: a cell for each row and column, its number written where there is room."""

from assay.report.charts import COLOURS, GRID, TEXT
from assay.report.charts.vega import Spec, layer, layers, name, number
from assay.results.figures import Matrix

_CELL = 44, 22  # pixels, where numbers are written
_SMALL = 16, 16  # where they are not
_MOST_WRITTEN = 18  # columns
_STEEP = -40  # degrees, of the names of columns
_SHORT = 5  # letters of names that need not be steep
_FAINT = 0.55  # so that the numbers can be read on paper and in the dark


def draw_matrix(figure: Matrix) -> Spec:
    """The darker a cell, the farther from the middle: blue above it, orange below."""
    written = len(figure.columns) <= _MOST_WRITTEN
    across, down = _CELL if written else _SMALL
    cells, places = _cells(figure), _places(figure)
    parts = [layer(cells, "rect", {**places, "color": _colour(figure)}, opacity=_FAINT)]
    if written:
        text = number("value", format=figure.written)
        parts.append(layer(cells, "text", {**places, "text": text}, fontSize=10, color=TEXT))
    return layers(parts, across * len(figure.columns), down * len(figure.rows))


def _cells(figure: Matrix) -> list[Spec]:
    return [
        {"row": row, "column": column, "value": value, "shade": shade}
        for row, values, shades in zip(figure.rows, figure.values, figure.shades, strict=True)
        for column, value, shade in zip(figure.columns, values, shades, strict=True)
        if value is not None and shade is not None
    ]


def _places(figure: Matrix) -> Spec:
    plain = {"grid": False, "ticks": False, "domain": False, "labelOverlap": False}
    flat = all(len(label) <= _SHORT for label in figure.columns)
    across = {"orient": "top", "labelAngle": 0 if flat else _STEEP, "labelLimit": 140, **plain}
    gaps = {"paddingInner": 0.04, "paddingOuter": 0}
    return {
        "x": name("column", sort=list(figure.columns), title=None, axis=across, scale=gaps),
        "y": name("row", sort=list(figure.rows), title=None, axis={"labelLimit": 240, **plain}, scale=gaps),
    }


def _colour(figure: Matrix) -> Spec:
    most = max((abs(shade) for shades in figure.shades for shade in shades if shade is not None), default=0.0) or 1.0
    ends = [COLOURS[1], GRID, COLOURS[0]]  # straight between them: by hue, orange would turn purple in the dark
    scale = {"domain": [-most, 0, most], "range": ends, "interpolate": "rgb", "clamp": True}
    words = {"title": figure.scale, "titleLimit": 320, "orient": "bottom"}
    legend = {**words, "gradientLength": 200, "gradientOpacity": _FAINT} if figure.scale else None
    return number("shade", scale=scale, legend=legend)
