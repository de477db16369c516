"""A result on a terminal: the sentence, the tables, the facts, all lined up by the width of what is shown."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import takewhile
from textwrap import fill
from typing import Protocol

from rich.cells import cell_len

from assay.results.figures import Gauge
from assay.results.parts import Caution, Fact, ResultTable, Section

WIDE = 110  # columns at which sentences are folded where no terminal says its own
MOST_ROWS = 40  # of a table, unless all are asked for
_GAUGE = 36  # columns of an interval on a line
_NARROWEST = 30  # columns for a value, however narrow the terminal
_SECOND = "\ue000"  # the second column of a wide letter, of private use: in no text that is shown
SHORTEST = 12  # columns that are left of a name, however narrow the terminal


class Readable(Protocol):
    """What of a result people read."""

    @property
    def sentence(self) -> str: ...
    @property
    def gauge(self) -> Gauge | None: ...
    @property
    def facts(self) -> tuple[Fact, ...]: ...
    @property
    def main_facts(self) -> tuple[Fact, ...]: ...
    @property
    def sections(self) -> tuple[Section, ...]: ...
    @property
    def main_sections(self) -> tuple[Section, ...]: ...
    @property
    def cautions(self) -> tuple[Caution, ...]: ...
    @property
    def signature(self) -> str: ...


@dataclass(frozen=True, slots=True)
class TextStyle:
    """How much of a result is shown, and how wide."""

    width: int | None = None  # columns of the terminal; None: sentences are not folded
    verbose: bool = False  # every number, and how it came about
    full: bool = False  # every row of every table


def result_text(result: Readable, style: TextStyle | None = None, sections: Sequence[Section] | None = None) -> str:
    """The verdict, its interval on a line, tables, and the numbers that a reader uses; with ``verbose`` everything.

    ``sections`` are shown instead of the result's own.
    """
    style = style or TextStyle()
    blocks = [_folded(result.sentence, style.width)]
    blocks += [] if result.gauge is None else [gauge_text(result.gauge, style.width)]
    shown = (result.sections if style.verbose else result.main_sections) if sections is None else sections
    for section in shown:
        blocks += [table_text(table, style) for table in section.tables if len(table)]
        blocks += [_said(section.title, section.said, style.width or WIDE)] if section.said else []
    facts = result.facts if style.verbose else result.main_facts
    rows = [(fact.label, fact.text) for fact in facts]
    rows += [(caution.kind, caution.text) for caution in result.cautions]
    rows += [("signature", result.signature)] if style.verbose and result.signature else []
    return "\n\n".join([*blocks, *([lined_up(rows, style.width)] if rows else [])])


def _folded(text: str, width: int | None) -> str:
    """Each line of a text in lines of at most so many columns, by words."""
    if width is None:
        return text
    return "\n".join(_by_words(line, width) for line in text.splitlines())


def _by_words(line: str, width: int, indent: str = "") -> str:
    """A line folded by words, by columns of a terminal: a letter that takes two counts as two."""
    wide = "".join(letter + _SECOND * (cell_len(letter) - 1) for letter in line)
    found = fill(wide, width, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False)
    return found.replace(_SECOND, "")


def gauge_text(gauge: Gauge, width: int | None = None) -> str:
    """An interval on a line: ┄ the range, ━ the interval, ● the value, │ what it is judged by; words beside or below.

    >>> from assay.results.figures import Mark
    >>> gauge_text(Gauge("ratio", 1.5, 1.25, 1.75, (Mark(1.0, "no change"),), "lower", "1.5 [1.25 to 1.75]"))
    '│┄┄┄┄┄┄┄┄┄┄┄━━━━━━━━━━━━●━━━━━━━━━━━━  ratio, lower is better; │ no change'
    """
    points = [gauge.low, gauge.high, gauge.value, *(mark.place for mark in gauge.marks)]
    low, span = min(points), (max(points) - min(points)) or 1.0
    line = ["┄"] * (_GAUGE + 1)

    def at(value: float) -> int:
        return round((value - low) / span * _GAUGE)

    for place in range(at(gauge.low), at(gauge.high) + 1):
        line[place] = "━"
    for mark in gauge.marks:
        line[at(mark.place)] = "│"
    line[at(gauge.value)] = "●"
    better = "" if gauge.better is None else f", {gauge.better} is better"
    marks = "".join(f"; │ {mark.label}" for mark in gauge.marks)
    words = f"{gauge.label}{better}{marks}"
    beside = width is None or _GAUGE + 3 + cell_len(words) <= width
    return f"{''.join(line)}  {words}" if beside else f"{''.join(line)}\n{_folded(words, width)}"


def _said(title: str, texts: Sequence[str], width: int) -> str:
    """Sentences below each other, under their title, folded at the width."""
    folded = (_by_words(f"- {text}", width, "  ") for text in texts)
    return "\n".join([title, *folded])


def lined_up(rows: Iterable[tuple[str, str]], width: int | None = None) -> str:
    """Labels in a column, values beside them, folded where a width is given."""
    shown = list(rows)
    column = max((cell_len(label) for label, _ in shown), default=0)
    room = None if width is None else max(width - column - 2, _NARROWEST)
    return "\n".join(_row(label, value, column, room) for label, value in shown)


def _row(label: str, value: str, column: int, room: int | None) -> str:
    first, *more = _folded(value, room).splitlines() or [""]
    return "\n".join([f"{filled(label, column)}  {first}".rstrip(), *(" " * (column + 2) + line for line in more)])


def table_text(table: ResultTable, style: TextStyle | None = None) -> str:
    """A table with its columns lined up; names are shortened where lines would be too wide, and many rows left out."""
    style = style or TextStyle()
    width, left = style.width, 0 if style.full else max(len(table) - MOST_ROWS, 0)
    left = left if left > 1 else 0
    columns = [[column.name, *column.texts[: len(table) - left]] for column in table.shown]
    widths = [max(map(cell_len, column)) for column in columns]
    named = [i for i, column in enumerate(table.shown) if column.may_shorten]
    if width is not None and named:
        widths = _narrowed(widths, named, width)
        for i in named:
            columns[i][1:] = shortened(columns[i][1:], widths[i])
    right = [column.to_the_right for column in table.shown]
    lines = ["  ".join(map(_placed, row, widths, right)).rstrip() for row in zip(*columns, strict=True)]
    more = [f"… and {left:,} more (`full=True`)"] if left else []
    return "\n".join([*([table.heading] if table.title else []), *lines, *more])


def _narrowed(widths: Sequence[int], named: Sequence[int], width: int) -> list[int]:
    found = list(widths)
    while sum(found) + 2 * (len(found) - 1) > width:
        widest = max(named, key=found.__getitem__)
        if found[widest] <= SHORTEST:
            break
        found[widest] -= 1
    return found


def _placed(cell: str, width: int, right: bool) -> str:  # noqa: FBT001  # mapped over columns
    return " " * (width - cell_len(cell)) + cell if right else filled(cell, width)


def filled(text: str, width: int) -> str:
    """Padded to a width in columns of a terminal, of which 日本 takes four."""
    return text + " " * (width - cell_len(text))


def shortened(names: Sequence[str], width: int) -> list[str]:
    """Names that fit: without what is in the middle or, if they would then be the same, without what they share."""
    middle = (width - 1) // 2
    tried = [
        [_cut(name, width, head) for name in names] for head in sorted(range(width), key=lambda h: abs(h - middle))
    ]
    shared = sum(1 for _ in takewhile(lambda letters: len(set(letters)) == 1, zip(*names, strict=False)))
    start = max(shared - 3, 0)
    tried.append([name if cell_len(name) <= width else f"…{name[start : start + width - 2]}…" for name in names])
    return next((found for found in tried if len(set(found)) == len(set(names))), tried[0])


def _cut(name: str, width: int, head: int) -> str:
    return name if cell_len(name) <= width else f"{name[:head]}…{name[len(name) - (width - 1 - head) :]}"


def plain_html(result: Readable) -> str:
    """The sentence and the facts, where nothing draws charts."""
    from html import escape

    rows = [(fact.label, fact.text) for fact in result.facts]
    cells = "".join(f"<tr><th style='text-align:left'>{escape(a)}</th><td>{escape(b)}</td></tr>" for a, b in rows)
    return f"<p><strong>{escape(result.sentence)}</strong></p><table>{cells}</table>"
