"""One result as HTML: the verdict, a picture, the numbers that matter, what to do; everything else is folded.

Every text that may come from a file goes through `escape`.
"""

from collections.abc import Sequence
from html import escape

from assay.report.document import SYMBOLS, WORDS, Chart, Group, Part, part_id
from assay.report.html.gauges import gauge_html
from assay.report.html.how import how_html
from assay.report.html.tables import table_html
from assay.results.explanations import explanation_of
from assay.results.parts import Fact

_TILES = 6  # numbers that are not folded
_TO_DO = 3  # pieces of advice that are not folded
_FURTHER = 2  # lines of a sentence beside the first that are not folded


def title_id(part: int, group: int) -> str:
    return f"{part_id(part)}-g{group}"


def part_html(place: int, part: Part) -> str:
    """A result of its own: everything that a reader sees first, and the rest folded."""
    label = escape(f"{place + 1}: {part.kind}, {part.name}")
    inner = f"{_verdict(part)}{_body(place, part)}"
    return f"<section class='part {part.status}' id='{part_id(place)}' aria-label='{label}'>{inner}</section>"


def folded_part_html(place: int, part: Part, cells: str) -> str:
    """A result among others of its kind, behind a row with its name and further cells."""
    summary = f"<summary class='entry'>{badge_html(part)}<span class='name'>{escape(part.name)}</span>{cells}</summary>"
    inner = f"{_verdict(part)}{_body(place, part)}"
    return f"<details class='part {part.status}' id='{part_id(place)}'>{summary}{inner}</details>"


def _verdict(part: Part) -> str:
    """The first line of the sentence large, the next ones below; the rest is among the details."""
    first, *more = part.sentence.splitlines() or [""]
    return f"<p class='verdict'>{badge_html(part)}<span>{escape(first)}</span></p>{_also(more[:_FURTHER])}"


def _also(lines: Sequence[str]) -> str:
    return f"<p class='also'>{'<br>'.join(map(escape, lines))}</p>" if lines else ""


def badge_html(part: Part) -> str:
    return f"<span class='badge' title='{WORDS[part.status]}' aria-hidden='true'>{SYMBOLS[part.status]}</span>"


def lines_html(text: str) -> str:
    return "<br>".join(escape(line) for line in text.splitlines())


def _body(place: int, part: Part) -> str:
    name, charts = part_id(place), part.main_charts
    return "".join(
        [
            gauge_html(part.gauge, f"{name}-gauge") if part.gauge is not None and part.gauge_apart else "",
            _figures("".join(_chart(name, chart) for chart in charts), len(charts)),
            _list(part.main_facts[:_TILES], "tiles"),
            _advice("What to do", part.to_do[:_TO_DO]),
            _more(place, part),
        ]
    )


def _figures(drawn: str, count: int) -> str:
    """The first chart over the whole column, further ones beside each other."""
    return f"<div class='figures'>{drawn}</div>" if count > 1 else drawn


def _advice(title: str, advice: Sequence[str]) -> str:
    items = "".join(f"<li>{escape(text)}</li>" for text in advice)
    return f"<h3>{title}</h3><ul class='advice'>{items}</ul>" if items else ""


def _more(place: int, part: Part) -> str:
    """Whatever else is known: charts, tables, numbers, how they were computed, the signature, the result as JSON."""
    name = part_id(place)
    inner = [
        _also(part.sentence.splitlines()[1 + _FURTHER :]),
        _advice("What else to do", part.to_do[_TO_DO:]),
        _list(part.compared, "compared"),
        *(_group(place, g, group, part) for g, group in enumerate(part.groups)),
        _facts(name, part.facts),
        _notes(name, part.notes),
        _signature(part.signature),
        f"<p class='save'><button type='button' data-save='{name}'>Whole result as JSON</button></p>",
    ]
    return f"<details class='more'><summary>{_contents(part)}</summary>{''.join(inner)}</details>"


def _contents(part: Part) -> str:
    titles = [group.title.lower() for group in part.groups if not _said_already(group, part)]
    return escape(", ".join(["Details: all numbers and how they were computed", *titles]))


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


def _group(place: int, g: int, group: Group, part: Part) -> str:
    """A section without the charts that stand above it."""
    if _said_already(group, part):
        return ""
    name = title_id(place, g)
    charts = [chart for chart in group.charts if chart not in part.main_charts and not chart.repeats_gauge]
    inner = [
        f"<h3 id='{name}'>{escape(group.title)}</h3>",
        f"<p>{escape(group.about)}</p>" if group.about else "",
        *(_chart(part_id(place), chart) for chart in charts),
        *(table_html(f"{name}-t{t}", table) for t, table in enumerate(group.tables)),
        "<ul>" + "".join(f"<li>{escape(text)}</li>" for text in group.said) + "</ul>" if group.said else "",
    ]
    return "".join(inner)


def _said_already(group: Group, part: Part) -> bool:
    """Whether a section holds nothing but the advice, or charts that stand above."""
    own = [chart for chart in group.charts if chart not in part.main_charts and not chart.repeats_gauge]
    return not own and not group.tables and set(group.said) <= set(part.to_do)


def _chart(part: str, chart: Chart) -> str:
    """A place where the script draws, and puts buttons to save the drawing; without scripts the words stay."""
    name = escape(f"{part}-{chart.name}")
    return (
        f"<figure><div class='chart' id='{name}' role='img' aria-labelledby='{name}-words'></div>"
        f"<figcaption><details><summary>In words</summary><p id='{name}-words'>{escape(chart.text)}</p></details>"
        "</figcaption></figure>"
    )
