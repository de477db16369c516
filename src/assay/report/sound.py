"""Is what a file claims to be a result one, down to the texts and numbers that are shown?"""

from collections.abc import Iterator
from math import isfinite
from typing import Any

from assay.report.document import Group, Part


def check_part(part: Part, *, draw: bool = True) -> Part:
    """The part, if every text is a text and every number a number; a record takes whatever stands in a file."""
    for text in (*_own_texts(part), *(text for group in part.groups for text in _texts(group, draw=draw))):
        if not isinstance(text, str):
            raise TypeError(f"a text was expected, but got {str(text)[:60]}")
    if part.gauge is not None:
        gauge = part.gauge
        for number in (gauge.value, gauge.low, gauge.high, *(mark.place for mark in gauge.marks)):
            if not isfinite(number):  # what is no number at all raises by itself
                raise ValueError(f"a number was expected, but got {number}")
    return part


def _own_texts(part: Part) -> Iterator[Any]:
    yield from (part.kind, part.name, part.title, part.sentence, part.signature, *part.notes)
    for fact in (*part.compared, *part.facts):
        yield from (fact.label, fact.value)
    if part.gauge is not None:
        yield from (part.gauge.label, part.gauge.text, *(mark.label for mark in part.gauge.marks))


def _texts(group: Group, *, draw: bool) -> Iterator[Any]:
    yield from (group.title, group.about, *group.said)
    for chart in group.charts if draw else ():
        yield chart.text
    for table in group.tables:
        yield from (table.title, *table.header, *(cell for row in table.rows for cell in row))
        if any(len(row) != len(table.header) for row in table.rows):
            raise ValueError(f"a row of the table {table.title!r} is not as wide as its header")
