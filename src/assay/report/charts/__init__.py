"""Charts of figures, one drawing for each kind, and how a chart becomes a file, without a browser or the network."""

from collections.abc import Mapping, Sequence
from html import escape
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from assay.errors import UsageError
from assay.files.writing import write_bytes
from assay.names import visible_data
from assay.report.charts.vega import Spec, below, name, small_title, with_datasets
from assay.results.figures import Bars, Curve, Distribution, Figure, Forest, Gauge, Matrix, Points

FORMATS = (".svg", ".png", ".pdf")

#: Okabe and Ito's colours, which those who do not see red or green can tell apart; the lightest are left out.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#000000")
SHAPES = ("circle", "square", "triangle-up", "diamond")  # with the colours, so that print in black tells them apart

#: Ink and paper. A page in dark mode exchanges exactly these (see `DARK`), so charts take no other neutral colour.
PAPER, INK, TEXT, MUTED, LINE, GRID = "white", "#000", "#333", "#555", "#888", "#e6e6e6"
DARK = {
    "white": "transparent",
    "#000": "#f2f2f2",
    "#000000": "#f2f2f2",
    "#333": "#dddddd",
    "#444": "#cccccc",
    "#555": "#bbbbbb",
    "#777": "#aaaaaa",
    "#888": "#9a9a9a",
    "#e6e6e6": "#3a3f46",
    "#0072B2": "#4fa8dc",
}

#: The module and the function that draw a kind of figure.
_DRAWN_BY: dict[type, tuple[str, str]] = {
    Gauge: ("assay.report.charts.intervals", "draw_gauge"),
    Forest: ("assay.report.charts.intervals", "draw_forest"),
    Curve: ("assay.report.charts.curves", "draw_curve"),
    Points: ("assay.report.charts.dots", "draw_points"),
    Distribution: ("assay.report.charts.distributions", "draw_distribution"),
    Bars: ("assay.report.charts.distributions", "draw_bars"),
    Matrix: ("assay.report.charts.matrices", "draw_matrix"),
}
WIDTH = 520  # pixels of a chart that need not be wider

SCHEMA = "https://vega.github.io/schema/vega-lite/v6.json"
_CONFIG: Spec = {
    "view": {"stroke": None},
    "axis": {
        "gridColor": GRID, "domainColor": LINE, "tickColor": LINE, "titleFontWeight": "normal", "labelSeparation": 6
    },
}  # fmt: skip


def draw(figure: Figure) -> Mapping[str, Any]:
    """The Vega-Lite specification of a figure."""
    return finished(_drawn(figure), figure.title, figure.about)


def _drawn(figure: Figure) -> Spec:
    module, function = _DRAWN_BY[type(figure)]
    found: Spec = getattr(import_module(module), function)(figure)
    return found


def by_group(names: Sequence[str], legend: Spec | None) -> tuple[Spec, Spec]:
    """The colour and the shape of each of these, for rows that have one as ``group``."""

    def scale(kinds: Sequence[str]) -> Spec:
        return {"domain": list(names), "range": [kinds[i % len(kinds)] for i in range(len(names))]}

    return name("group", scale=scale(COLOURS), legend=legend), name("group", scale=scale(SHAPES), legend=legend)


def finished(chart: Spec, title: str, about: Sequence[str]) -> Spec:
    """A chart with a title and a legend in words, which is also what a screen reader is given."""
    words = {"text": title, "subtitle": list(about), "anchor": "start", "frame": "group", "offset": 10}
    words |= {"subtitleColor": MUTED, "subtitlePadding": 6}
    text = " ".join([title if title.endswith(("?", ".")) else f"{title}.", *about])
    around = {"title": words, "background": PAPER, "padding": 12, "description": text, "config": _CONFIG}
    return with_datasets({"$schema": SCHEMA, **chart, **around})


def check_chart(path: Path) -> None:
    """Refuse a chart that cannot be written, before anything is computed for it."""
    if path.suffix.lower() not in FORMATS:
        raise UsageError(f"a chart is written as {', '.join(FORMATS[:-1])} or {FORMATS[-1]}, but got {path.name!r}.")
    if not can_draw():
        raise UsageError(
            f"{path.name}: charts in files need the extra charts: pip install 'assay-eval[charts]'. Pages of assay "
            "report need no extra: the browser draws theirs."
        )


def can_draw() -> bool:
    """Whether charts can be drawn into files; pages have theirs drawn by the browser."""
    return find_spec("vl_convert") is not None


def write_chart(specification: Mapping[str, Any], path: Path) -> None:
    """Write a chart in the format of the file's name."""
    check_chart(path)
    write_bytes(path, picture_of(specification, path.suffix.lower()))


def write_figure(figure: Figure, path: Path) -> None:
    """Write a figure in the format of the file's name."""
    write_chart(visible_data(draw(figure)), path)


def write_figures(figures: Sequence[Figure], path: Path, title: str) -> None:
    """Write figures below each other, each under its own title, in the format of the file's name."""
    parts = [_drawn(figure) | {"title": small_title(figure.title)} for figure in figures]
    said = dict.fromkeys(text for figure in figures for text in figure.about)
    write_chart(visible_data(finished(below(parts, color="shared"), title, list(said))), path)


def picture_of(specification: Mapping[str, Any], suffix: str) -> bytes:
    """Draw a chart as SVG, PNG or PDF."""
    import vl_convert  # late: it carries a drawing engine

    if suffix == ".svg":
        return _described(vl_convert.vegalite_to_svg(dict(specification)), specification).encode()
    if suffix == ".pdf":
        return vl_convert.vegalite_to_pdf(dict(specification))
    return vl_convert.vegalite_to_png(dict(specification), scale=2)


def _described(svg: str, specification: Mapping[str, Any]) -> str:
    """Add the words of the chart for screen readers: the drawing engine leaves them out."""
    words = escape(str(specification.get("description", "")))
    return svg.replace("<svg ", f'<svg role="img" aria-label="{words}" ', 1) if words else svg
