"""What a report is made of: records that the renderers turn into HTML, Markdown or text.

A document has a part for each result. Everything in it is words, numbers that an analysis has computed, and chart
specifications; nothing is computed from data here.

`part_of_result` makes a part of any result, the same way for every kind: a result itself says what is shown of it.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Any

from assay.names import visible_data
from assay.report.charts import draw
from assay.results.explanations import EXPLANATIONS, Explanation
from assay.results.figures import Figure, Gauge
from assay.results.parts import Fact, ResultTable, Section
from assay.results.record import Result, Status

SYMBOLS: dict[Status, str] = {"good": "✓", "bad": "✗", "unsure": "?", "plain": "→"}
WORDS: dict[Status, str] = {"good": "yes", "bad": "no", "unsure": "not shown", "plain": "result"}


@dataclass(frozen=True, slots=True)
class ShownTable:
    """A table as a person reads it; ``data`` are its numbers without rounding, for a download."""

    title: str
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    data: tuple[Mapping[str, Any], ...] = ()
    sorted_by: tuple[tuple[float | None, ...] | None, ...] = ()  # a column's numbers, or None: texts
    method: Explanation | None = None


@dataclass(frozen=True)
class Chart:
    """A chart: its Vega-Lite specification, made when it is first asked for, and what it shows in words."""

    name: str  # of its file, without the ending
    draw: Callable[[], Mapping[str, Any]]
    repeats_gauge: bool = False  # whether it shows no more than the interval under the verdict

    @cached_property
    def specification(self) -> Mapping[str, Any]:
        return self.draw()

    @property
    def text(self) -> str:
        """What a screen reader is given."""
        return str(self.specification["description"])


@dataclass(frozen=True, slots=True)
class Group:
    """A section of a part: how to read it, charts, tables, and what follows from them."""

    title: str
    about: str = ""
    charts: tuple[Chart, ...] = ()
    tables: tuple[ShownTable, ...] = ()
    said: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Part:
    """One result."""

    kind: str  # "comparison", "certificate", ...
    name: str  # what it is about: the systems, the survey, the runs
    title: str  # the question it answers
    sentence: str  # the verdict
    status: Status
    compared: tuple[Fact, ...]
    signature: str
    gauge: Gauge | None = None
    gauge_apart: bool = True  # whether it is drawn beside the charts
    facts: tuple[Fact, ...] = ()
    main_facts: tuple[Fact, ...] = ()  # the few that a reader looks for
    main_figures: tuple[str, ...] = ()  # names of the charts that stand first
    to_do: tuple[str, ...] = ()  # what the answer advises
    groups: tuple[Group, ...] = ()
    notes: tuple[str, ...] = ()
    data: Mapping[str, Any] = field(default_factory=dict)  # the result as JSON has it

    @property
    def charts(self) -> tuple[Chart, ...]:
        return tuple(chart for group in self.groups for chart in group.charts)

    @property
    def main_charts(self) -> tuple[Chart, ...]:
        return tuple(chart for name in self.main_figures for chart in self.charts if chart.name == name)


@dataclass(frozen=True, slots=True)
class CommandStep:
    """A command that led to the results: the question it answers, what it said first, the files it wrote."""

    question: str
    command: str
    said: str
    files: tuple[str, ...] = ()  # beside the page


@dataclass(frozen=True, slots=True)
class ReportDocument:
    """A page: a title and its parts; and the commands behind it, where they are known."""

    title: str
    parts: tuple[Part, ...]
    steps: tuple[CommandStep, ...] = ()

    def charts(self) -> Iterator[tuple[str, Part, Chart]]:
        """Every chart with an identifier of its own in the document."""
        for place, part in enumerate(self.parts):
            for chart in part.charts:
                yield f"{part_id(place)}-{chart.name}", part, chart


def part_id(place: int) -> str:
    """What a part is called inside a page."""
    return f"p{place + 1}"


def part_of_result(result: Result) -> Part:
    """Everything that a page shows of a result."""
    return Part(
        kind=result.kind_name,
        name=result.subject,
        title=result.question,
        sentence=result.sentence,
        status=result.status,
        compared=result.compared,
        signature=result.signature,
        gauge=result.gauge,
        gauge_apart=result.gauge_apart,
        facts=result.facts,
        main_facts=result.main_facts,
        main_figures=tuple(figure.name for figure in result.main_figures),
        to_do=result.to_do,
        groups=tuple(_group(section, gauge=result.gauge is not None) for section in result.sections),
        notes=tuple(map(str, result.cautions)),
        data=result.to_dict(),
    )


def _group(section: Section, *, gauge: bool) -> Group:
    tables = tuple(_table(table, section) for table in section.tables if len(table))
    charts = tuple(chart_of_figure(figure, gauge=gauge) for figure in section.figures)
    return Group(section.title, section.about, charts, tables, section.said)


def _table(table: ResultTable, section: Section) -> ShownTable:
    """A table; one without a title is called as its section, and explained as it unless by a key of its own."""
    how = None if section.page is None else Explanation(section.about, section.page)
    how = how if table.explained is None else EXPLANATIONS[table.explained]
    numbers, title = tuple(column.numbers for column in table.shown), table.heading or section.title
    return ShownTable(title, table.header, tuple(table.rows), tuple(table.records()), numbers, how)


def chart_of_figure(figure: Figure, *, gauge: bool = False) -> Chart:
    """Drawn when it is shown; ``gauge`` says that the interval under the verdict is shown anyway."""
    return Chart(figure.name, partial(_specification, figure), gauge and isinstance(figure, Gauge))


def _specification(figure: Figure) -> dict[str, object]:
    found: dict[str, object] = visible_data(draw(figure))
    return found
