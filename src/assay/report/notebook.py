"""A result in a notebook: its verdict, interval, chart and tables as HTML that needs no script."""

from functools import partial
from html import escape

from assay.names import visible
from assay.report.charts import picture_of
from assay.report.document import Chart, Part, ShownTable
from assay.report.saved import part_of
from assay.results.parts import Fact
from assay.results.record import SCHEMAS, Result
from assay.results.text import plain_html

_MOST_ROWS = 30  # of a table


def section_html(result: Result) -> str:
    """The compact section of a result; plain rows for what has no page."""
    if result.to_dict().get("schema") not in SCHEMAS:
        return plain_html(result)
    try:
        return _section(part_of(result))
    except ImportError:  # what draws pictures is missing
        return plain_html(result)


def _section(part: Part) -> str:
    verdict = "<br>".join(escape(line) for line in part.sentence.splitlines())
    blocks = [f"<p><strong>{verdict}</strong></p>"]
    blocks += [_chart(chart) for chart in part.charts[:1]]
    blocks += [_table(table) for group in part.groups for table in group.tables]
    blocks.append(_facts(part.facts))
    blocks += [f"<p>{escape(note)}</p>" for note in part.notes]
    return visible(f"<section>{''.join(blocks)}<p><code>{escape(part.signature)}</code></p></section>")


def _chart(chart: Chart) -> str:
    """The chart as a picture with its words."""
    drawn = picture_of(chart.specification, ".svg").decode()
    return f"<figure role='img' aria-label='{escape(chart.text)}'>{drawn}</figure>"


def _table(table: ShownTable) -> str:
    left = partial("<{0} style='text-align:left'>{1}</{0}>".format)
    head = "".join(left("th", escape(name)) for name in table.header)
    body = "".join(f"<tr>{''.join(left('td', escape(cell)) for cell in row)}</tr>" for row in table.rows[:_MOST_ROWS])
    more = len(table.rows) - _MOST_ROWS
    rest = f"<p>and {more:,} more rows</p>" if more > 0 else ""
    return f"<table><caption>{escape(table.title)}</caption><tr>{head}</tr>{body}</table>{rest}"


def _facts(facts: tuple[Fact, ...]) -> str:
    rows = "".join(
        f"<tr><th style='text-align:left'>{escape(fact.label)}</th>"
        f"<td style='text-align:left'>{escape(fact.text)}</td></tr>"
        for fact in facts
    )
    return f"<table>{rows}</table>" if rows else ""
