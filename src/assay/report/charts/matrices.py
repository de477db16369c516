"""Heat maps: a cell for each row and column, its number written where there is room."""

from typing import Any

import altair as alt

from assay.report.charts import COLOURS, GRID, TEXT, inline
from assay.results.figures import Matrix

_CELL = 44, 22  # pixels, where numbers are written
_SMALL = 16, 16  # where they are not
_MOST_WRITTEN = 18  # columns
_STEEP = -40  # degrees, of the names of columns
_SHORT = 5  # letters of names that need not be steep
_FAINT = 0.55  # so that the numbers can be read on paper and in the dark


def draw_matrix(figure: Matrix) -> alt.LayerChart | alt.FacetChart:
    """The darker a cell, the farther from the middle: blue above it, orange below."""
    written = len(figure.columns) <= _MOST_WRITTEN
    across, down = _CELL if written else _SMALL
    cells, width, height = _cells(figure), across * len(figure.columns), down * len(figure.rows)
    base = inline(cells, height, width).encode(**_places(figure))
    layers: list[Any] = [base.mark_rect(opacity=_FAINT).encode(color=_colour(figure))]
    if written:
        text = alt.Text("value:Q", format=figure.written)
        layers.append(base.mark_text(fontSize=10, color=TEXT).encode(text=text))
    return alt.layer(*layers)


def _cells(figure: Matrix) -> list[dict[str, Any]]:
    return [
        {"row": row, "column": column, "value": value, "shade": shade}
        for row, values, shades in zip(figure.rows, figure.values, figure.shades, strict=True)
        for column, value, shade in zip(figure.columns, values, shades, strict=True)
        if value is not None and shade is not None
    ]


def _places(figure: Matrix) -> dict[str, Any]:
    plain: dict[str, Any] = {"grid": False, "ticks": False, "domain": False}
    flat = all(len(name) <= _SHORT for name in figure.columns)
    across = alt.Axis(orient="top", labelAngle=0 if flat else _STEEP, labelLimit=140, labelOverlap=False, **plain)
    down = alt.Axis(labelLimit=240, labelOverlap=False, **plain)
    gaps = alt.Scale(paddingInner=0.04, paddingOuter=0)
    return {
        "x": alt.X("column:N", sort=list(figure.columns), title=None, axis=across, scale=gaps),
        "y": alt.Y("row:N", sort=list(figure.rows), title=None, axis=down, scale=gaps),
    }


def _colour(figure: Matrix) -> alt.Color:
    most = max((abs(shade) for shades in figure.shades for shade in shades if shade is not None), default=0.0) or 1.0
    ends = [COLOURS[1], GRID, COLOURS[0]]  # straight between them: by hue, orange would turn purple in the dark
    scale = alt.Scale(domain=[-most, 0, most], range=ends, interpolate="rgb", clamp=True)
    legend = alt.Legend(title=figure.scale, titleLimit=320, orient="bottom", gradientLength=200, gradientOpacity=_FAINT)
    return alt.Color("shade:Q", scale=scale, legend=legend)
