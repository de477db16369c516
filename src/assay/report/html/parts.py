"""Parts, tables and charts as HTML. Every text that may come from a file goes through `escape`."""

from collections.abc import Sequence
from html import escape
from urllib.parse import quote

from assay.report.document import SYMBOLS, WORDS, Chart, Document, Fact, Group, Part, Step, part_id
from assay.report.html.gauge import gauge_html
from assay.report.html.tables import how_html, table_html


def title_id(part: int, group: int) -> str:
    return f"{part_id(part)}-g{group}"


def front_html(document: Document) -> str:
    """The first screen of a page with several results: each verdict in a line."""
    items = "".join(
        f"<li class='{part.status}'>{_badge(part)}<a href='#{part_id(i)}'>{_lines(part.sentence)}</a>"
        f"<span class='kind'>{escape(part.kind)} · {escape(part.name)}</span></li>"
        for i, part in enumerate(document.parts)
    )
    head = "<h2 id='verdicts'>Verdicts</h2>"
    return f"<section aria-labelledby='verdicts'>{head}<ul class='verdicts'>{items}</ul></section>"


def steps_html(steps: Sequence[Step]) -> str:
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
    rows = "".join(f"<div><dt>{escape(fact.label)}</dt><dd>{escape(fact.value)}</dd></div>" for fact in facts)
    return f"<dl class='{style}'>{rows}</dl>" if rows else ""


def _signature(text: str) -> str:
    button = "<button type='button' data-copy>Copy</button>"
    return f"<p class='signature'><code>{escape(text)}</code> {button}</p>" if text else ""


def _facts(name: str, facts: Sequence[Fact]) -> str:
    if not facts:
        return ""
    rows = "".join(
        f"<div><dt>{escape(fact.label)}</dt><dd>{escape(fact.value)}{how_html(fact.method)}</dd></div>"
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
