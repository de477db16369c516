"""A result on a terminal: the sentence, the tables, the facts, all lined up by the width of what is shown."""

from collections.abc import Iterable, Sequence
from html import escape
from itertools import takewhile
from textwrap import fill
from typing import Protocol

from rich.cells import cell_len

from assay.results.parts import Caution, Fact, ResultTable, Section

WIDE = 110  # columns at which sentences are folded where no terminal says its own
SHORTEST = 12  # columns that are left of a name, however narrow the terminal


class Readable(Protocol):
    """What of a result people read."""

    @property
    def sentence(self) -> str: ...
    @property
    def facts(self) -> tuple[Fact, ...]: ...
    @property
    def sections(self) -> tuple[Section, ...]: ...
    @property
    def cautions(self) -> tuple[Caution, ...]: ...
    @property
    def signature(self) -> str: ...


def result_text(result: Readable, width: int | None = None, sections: Sequence[Section] | None = None) -> str:
    """Sentence, tables, what is said of them, facts, cautions and signature; ``sections``: other ones than its own."""
    blocks = [result.sentence]
    for section in result.sections if sections is None else sections:
        blocks += [table_text(table, width) for table in section.tables if len(table)]
        blocks += [_said(section.title, section.said, width or WIDE)] if section.said else []
    rows = [(fact.label, fact.text) for fact in result.facts]
    rows += [(caution.kind, caution.text) for caution in result.cautions]
    blocks.append(lined_up([*rows, *([("signature", result.signature)] if result.signature else [])]))
    return "\n\n".join(blocks)


def _said(title: str, texts: Sequence[str], width: int) -> str:
    """Sentences below each other, under their title, folded at the width."""
    folded = (fill(f"- {text}", width, subsequent_indent="  ", break_long_words=False) for text in texts)
    return "\n".join([title, *folded])


def lined_up(rows: Iterable[tuple[str, str]]) -> str:
    """Labels in a column, values beside them."""
    shown = list(rows)
    width = max((cell_len(label) for label, _ in shown), default=0)
    return "\n".join(f"{filled(label, width)}  {value}".rstrip() for label, value in shown)


def table_text(table: ResultTable, width: int | None = None) -> str:
    """A table with its columns lined up; names are shortened where lines would be longer than ``width``."""
    columns = [[column.name, *column.texts] for column in table.shown]
    widths = [max(map(cell_len, column)) for column in columns]
    named = [i for i, column in enumerate(table.shown) if column.may_shorten]
    if width is not None and named:
        widths = _narrowed(widths, named, width)
        for i in named:
            columns[i][1:] = shortened(columns[i][1:], widths[i])
    right = [column.to_the_right for column in table.shown]
    lines = ["  ".join(map(_placed, row, widths, right)).rstrip() for row in zip(*columns, strict=True)]
    return "\n".join([*([table.heading] if table.title else []), *lines])


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
    rows = [(fact.label, fact.text) for fact in result.facts]
    cells = "".join(f"<tr><th style='text-align:left'>{escape(a)}</th><td>{escape(b)}</td></tr>" for a, b in rows)
    return f"<p><strong>{escape(result.sentence)}</strong></p><table>{cells}</table>"
