"""A result as a part of a document: the same for every kind, because a result says itself what is shown of it."""

from functools import partial

from assay.report.charts import draw
from assay.report.document import Chart, Fact, Group, Part, Table
from assay.report.names import visible_data
from assay.results.explanations import EXPLANATIONS, Explanation
from assay.results.figures import Figure
from assay.results.record import Fact as ResultFact
from assay.results.record import Result, Section
from assay.results.table import ResultTable


def part_of_result(result: Result) -> Part:
    """Everything that a page shows of a result."""
    return Part(
        kind=result.kind_name,
        name=result.subject,
        title=result.question,
        sentence=result.sentence,
        status=result.status,
        compared=tuple(map(_fact, result.compared)),
        signature=result.signature,
        gauge=result.gauge,
        facts=tuple(map(_fact, result.facts)),
        groups=tuple(map(_group, result.sections)),
        notes=tuple(map(str, result.cautions)),
        data=result.to_dict(),
    )


def _fact(fact: ResultFact) -> Fact:
    return Fact(fact.label, fact.text, None if fact.key is None else EXPLANATIONS.get(fact.key))


def _group(section: Section) -> Group:
    tables = tuple(_table(table, section) for table in section.tables if len(table))
    return Group(section.title, section.about, tuple(map(chart_of_figure, section.figures)), tables, section.said)


def _table(table: ResultTable, section: Section) -> Table:
    """A table; one without a title is called as its section, and explained as it unless by a key of its own."""
    how = None if section.page is None else Explanation(section.about, section.page)
    how = how if table.explained is None else EXPLANATIONS[table.explained]
    numbers, title = tuple(column.numbers for column in table.shown), table.heading or section.title
    return Table(title, table.header, tuple(table.rows), tuple(table.records()), numbers, how)


def chart_of_figure(figure: Figure) -> Chart:
    """Drawn when it is shown."""
    return Chart(figure.name, partial(_specification, figure))


def _specification(figure: Figure) -> dict[str, object]:
    found: dict[str, object] = visible_data(draw(figure))
    return found
