"""Parts, their intervals, tables and charts as HTML. Every text that may come from a file goes through `escape`.

A *gauge* is the interval of a verdict as a small drawing: a dot with its limits, against zero, one or the limit. Tables
have numbers to the right, columns that a click on their heads sorts, and their data to save.
"""

from collections.abc import Sequence
from html import escape
from unicodedata import east_asian_width
from urllib.parse import quote

from assay.names import file_name
from assay.report.document import SYMBOLS, WORDS, Chart, CommandStep, Group, Part, ReportDocument, ShownTable, part_id
from assay.results.explanations import Explanation, explanation_of
from assay.results.figures import Gauge
from assay.results.parts import Fact

_WIDE, _NARROW = 640, 330  # pixels: of a screen, and of a phone
_EDGE = {_WIDE: 56, _NARROW: 24}  # pixels free on each side
_LETTER = 7.5  # pixels of a letter, rather more than less
_ROW = 16  # pixels of a line of words
_LONGEST = 60  # letters of a label


def title_id(part: int, group: int) -> str:
    return f"{part_id(part)}-g{group}"


def front_html(document: ReportDocument) -> str:
    """The first screen of a page with several results: each verdict in a line."""
    items = "".join(
        f"<li class='{part.status}'>{_badge(part)}<a href='#{part_id(i)}'>{_lines(part.sentence)}</a>"
        f"<span class='kind'>{escape(part.kind)} · {escape(part.name)}</span></li>"
        for i, part in enumerate(document.parts)
    )
    head = "<h2 id='verdicts'>Verdicts</h2>"
    return f"<section aria-labelledby='verdicts'>{head}<ul class='verdicts'>{items}</ul></section>"


def steps_html(steps: Sequence[CommandStep]) -> str:
    """The commands behind the page, each with what it said and links to what it wrote."""
    if not steps:
        return ""
    shown = "".join(
        f"<h3>{escape(step.question)}</h3><p class='signature'><code>{escape(step.command)}</code> "
        f"<button type='button' data-copy>Copy</button></p><p>{_lines(step.said)}</p>{_links(step.files)}"
        for step in steps
    )
    head = "<h2 id='steps-title'>How this was made</h2>"
    about = (
        "<p>These commands ran, in this order, in the folder of this page. With other names they run on your data.</p>"
    )
    return f"<section class='part plain' id='steps' aria-labelledby='steps-title'>{head}{about}{shown}</section>"


def _links(files: Sequence[str]) -> str:
    items = ", ".join(f"<a href='{escape(quote(file))}'>{escape(file)}</a>" for file in files)
    return f"<p class='files'>Written: {items}</p>" if items else ""


def part_html(place: int, part: Part) -> str:
    """One result: verdict, interval, what was compared, signature; then its sections."""
    name = part_id(place)
    inner = [
        f"<p class='kind'>{escape(part.kind)} · {escape(part.name)}</p><h2>{escape(part.title)}</h2>",
        f"<p class='verdict'>{_badge(part)}<span>{_lines(part.sentence)}</span></p>",
        "" if part.gauge is None else gauge_html(part.gauge, f"{name}-gauge"),
        _list(part.compared, "compared"),
        _signature(part.signature),
        *(_group(place, g, group) for g, group in enumerate(part.groups)),
        _facts(name, part.facts),
        _notes(name, part.notes),
        f"<p class='save'><button type='button' data-save='{name}'>Whole result as JSON</button></p>",
    ]
    label = escape(f"{place + 1}: {part.kind}, {part.name}")
    return f"<section class='part {part.status}' id='{name}' aria-label='{label}'>{''.join(inner)}</section>"


def _badge(part: Part) -> str:
    return f"<span class='badge' title='{WORDS[part.status]}' aria-hidden='true'>{SYMBOLS[part.status]}</span>"


def _lines(text: str) -> str:
    return "<br>".join(escape(line) for line in text.splitlines())


def _list(facts: Sequence[Fact], style: str) -> str:
    rows = "".join(f"<div><dt>{escape(fact.label)}</dt><dd>{escape(fact.text)}</dd></div>" for fact in facts)
    return f"<dl class='{style}'>{rows}</dl>" if rows else ""


def _signature(text: str) -> str:
    button = "<button type='button' data-copy>Copy</button>"
    return f"<p class='signature'><code>{escape(text)}</code> {button}</p>" if text else ""


def _facts(name: str, facts: Sequence[Fact]) -> str:
    if not facts:
        return ""
    rows = "".join(
        f"<div><dt>{escape(fact.label)}</dt><dd>{escape(fact.text)}{how_html(explanation_of(fact.key))}</dd></div>"
        for fact in facts
    )
    return f"<h3 id='{name}-numbers'>Numbers</h3><dl class='facts'>{rows}</dl>"


def _notes(name: str, notes: Sequence[str]) -> str:
    items = "".join(f"<li>{escape(note)}</li>" for note in notes)
    return f"<h3 id='{name}-notes'>Notes</h3><ul class='notes'>{items}</ul>" if items else ""


def _group(place: int, g: int, group: Group) -> str:
    name = title_id(place, g)
    inner = [
        f"<h3 id='{name}'>{escape(group.title)}</h3>",
        f"<p>{escape(group.about)}</p>" if group.about else "",
        *(_chart(part_id(place), chart) for chart in group.charts),
        *(table_html(f"{name}-t{t}", table) for t, table in enumerate(group.tables)),
        "<ul>" + "".join(f"<li>{escape(text)}</li>" for text in group.said) + "</ul>" if group.said else "",
    ]
    return "".join(inner)


def _chart(part: str, chart: Chart) -> str:
    """A place where the script draws; without scripts the words stay."""
    name = escape(f"{part}-{chart.name}")
    buttons = "".join(
        f"<button type='button' data-chart='{name}' data-format='{kind}'>{kind.upper()}</button>"
        for kind in ("svg", "png")
    )
    return (
        f"<figure><div class='chart' id='{name}' role='img' aria-label='{escape(chart.text)}'></div>"
        f"<figcaption><details><summary>In words</summary><p>{escape(chart.text)}</p></details>"
        f"<span class='save'>{buttons}</span></figcaption></figure>"
    )


# -------------------------------------------------------------------------------------------------------------- tables


def table_html(name: str, table: ShownTable) -> str:
    """A table that scrolls within itself where it is wider than the page."""
    numbers = table.sorted_by or (None,) * len(table.header)
    head = "".join(_head(text, right=found is not None) for text, found in zip(table.header, numbers, strict=True))
    body = "".join(_row(place, row, numbers) for place, row in enumerate(table.rows))
    buttons = "".join(
        f"<button type='button' data-table='{name}' data-file='{file_name(table.title)}' data-format='{kind}' "
        f"aria-describedby='{name}-caption'>"
        f"{kind.upper()}</button>"
        for kind in ("csv", "json")
    )
    return (
        f"<div class='table'><p class='caption' id='{name}-caption'>{escape(table.title)}</p>"
        f"<div class='scroll' tabindex='0' role='group' aria-labelledby='{name}-caption'>"
        f"<table id='{name}' aria-labelledby='{name}-caption'>"
        f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>"
        f"{how_html(table.method)}<p class='save'>{buttons}</p></div>"
    )


def how_html(method: Explanation | None) -> str:
    """How a number was computed, folded."""
    if method is None:
        return ""
    page = f"<cite>Documentation: {escape(method.page)}</cite>"
    return f"<details class='how'><summary>How this was computed</summary><p>{escape(method.text)} {page}</p></details>"


def _head(text: str, *, right: bool) -> str:
    """A column without a name has nothing to press."""
    if not text:
        return "<td></td>"
    return f"<th scope='col'{_side(right=right)}><button type='button' data-sort>{escape(text)}</button></th>"


def _row(place: int, row: Sequence[str], numbers: Sequence[tuple[float | None, ...] | None]) -> str:
    cells = []
    for column, (text, found) in enumerate(zip(row, numbers, strict=True)):
        value = None if found is None else found[place]
        key = "" if value is None else f" data-value='{value!r}'"
        tag = "th scope='row'" if column == 0 else "td"
        cells.append(f"<{tag}{_side(right=found is not None)}{key}>{escape(text)}</{tag.split(maxsplit=1)[0]}>")
    return f"<tr>{''.join(cells)}</tr>"


def _side(*, right: bool) -> str:
    return " class='number'" if right else ""


# -------------------------------------------------------------------------------------------------------------- gauges


def gauge_html(gauge: Gauge, name: str) -> str:
    """The drawing for screens and the one for phones, of which the style shows one; colours are the style's too."""
    label = f"<p class='gauge-label'>{escape(gauge.label)}</p>"
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
    height = line + 48
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
        f"{_words('value', x(gauge.value), line + 27, gauge.text, width)}{_arrow(gauge, width, height)}</svg>"
    )


def _arrow(gauge: Gauge, width: int, height: int) -> str:
    """Which way is better."""
    if gauge.better is None:
        return ""
    text, at = ("← better", 2.0) if gauge.better == "lower" else ("better →", width - 2.0)
    return _words("label", at, height - 5, text, width)


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
