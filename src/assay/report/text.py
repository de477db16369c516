"""A document as text for a terminal."""

from collections.abc import Sequence
from textwrap import wrap

from rich.cells import cell_len

from assay.names import visible
from assay.report.document import SYMBOLS, Group, Part, ReportDocument, ShownTable
from assay.results.figures import Gauge

_LINE = 60  # characters of an interval


def document_text(document: ReportDocument, width: int = 100) -> str:
    """Every part: verdict, interval, what was compared, tables, numbers and notes."""
    several = len(document.parts) > 1
    verdicts = [_bullets([f"{SYMBOLS[p.status]} {p.sentence.partition(chr(10))[0]}" for p in document.parts], width)]
    parts = [document.title, *(verdicts if several else []), *(_part(part, width) for part in document.parts)]
    parts += [f"$ {step.command}\n{step.said}" for step in document.steps]
    return visible("\n\n".join(parts)) + "\n"


def _part(part: Part, width: int) -> str:
    first = part.sentence.splitlines() or [""]
    blocks = ["\n".join([f"{SYMBOLS[part.status]} {first[0]}", *(f"  {line}" for line in first[1:])])]
    if part.gauge is not None:
        blocks.append(gauge_text(part.gauge))
    blocks.append(_pairs([(fact.label, fact.text) for fact in part.compared]))
    blocks += [block for group in part.groups for block in _group(group, width)]
    blocks.append(_pairs([(fact.label, fact.text) for fact in part.facts]))
    blocks.append(_bullets(part.notes, width))
    return "\n\n".join(block for block in [*blocks, part.signature] if block)


def gauge_text(gauge: Gauge) -> str:
    """An interval on a line: ┄ the range, ━ the interval, ● the value, │ what it is judged by."""
    points = [gauge.low, gauge.high, gauge.value, *(mark.place for mark in gauge.marks)]
    low, span = min(points), (max(points) - min(points)) or 1.0
    line = ["┄"] * (_LINE + 1)

    def at(value: float) -> int:
        return round((value - low) / span * _LINE)

    for place in range(at(gauge.low), at(gauge.high) + 1):
        line[place] = "━"
    for mark in gauge.marks:
        line[at(mark.place)] = "│"
    line[at(gauge.value)] = "●"
    marks = "".join(f"; │ {mark.label} ({mark.place:.6g})" for mark in gauge.marks)
    return f"{''.join(line)}\n{gauge.label}: {gauge.text}{marks}"


def _group(group: Group, width: int) -> list[str]:
    blocks = [_underlined(group.title)] if group.tables or group.said else []
    blocks += [_table(table) for table in group.tables]
    return [*blocks, *([_bullets(group.said, width)] if group.said else [])]


def _underlined(title: str) -> str:
    return f"{title}\n{'─' * len(title)}"


def _table(table: ShownTable) -> str:
    lines = [table.header, *table.rows]
    widths = [max(cell_len(row[i]) for row in lines) for i in range(len(table.header))]
    shown = ["  ".join(map(_filled, row, widths)).rstrip() for row in lines]
    return "\n".join([table.title, *(f"  {line}" for line in shown)])


def _pairs(rows: Sequence[tuple[str, str]]) -> str:
    width = max((cell_len(label) for label, _ in rows), default=0)
    return "\n".join(f"{_filled(label, width)}  {value}".rstrip() for label, value in rows)


def _filled(text: str, width: int) -> str:
    """Padded to a width in columns of a terminal, of which 日本 takes four."""
    return text + " " * (width - cell_len(text))


def _bullets(lines: Sequence[str], width: int) -> str:
    return "\n".join("\n".join(wrap(line, width, initial_indent="- ", subsequent_indent="  ")) for line in lines)
