"""A document, a result or a certificate as Markdown; and a document as text for a terminal."""

import re
from collections.abc import Iterable, Mapping, Sequence
from textwrap import wrap
from typing import TYPE_CHECKING
from urllib.parse import quote

from rich.cells import cell_len

from assay.names import visible
from assay.report.document import SYMBOLS, CommandStep, Group, Part, ReportDocument, ShownTable, part_id
from assay.results.parts import Fact
from assay.results.record import Section, Status
from assay.results.text import filled, gauge_text, lined_up

if TYPE_CHECKING:
    from assay.certificate.gate.record import GateCertificate
    from assay.certificate.record import Certificate
    from assay.certificate.suite.record import SuiteCertificate

_MARKS: dict[Status, str] = {"good": "✅", "bad": "❌", "unsure": "⚠️", "plain": "➡️"}
_NO_CHARTS: Mapping[str, str] = {}
_JOINER = "\N{WORD JOINER}"  # not seen; what stands on its two sides is neither a mention nor a link
_LINKED = re.compile(r"(?<=@)(?=[\w-])|(?<=:)(?=//)|(?<=\bwww)(?=\.)|(?<=#)(?=\d)", re.IGNORECASE)
_LIST = re.compile(r"^(\d+(?=[.)](?:\s|$))|(?=[-+=]))")  # what would begin a list or underline a heading


def cell(text: str) -> str:
    """Text that cannot become markup, ping anyone or link anywhere: names come from files."""
    escaped = _LINKED.sub(_JOINER, visible(text))
    escaped = escaped.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    for sign in "\\`*_[]|#~$":
        escaped = escaped.replace(sign, "\\" + sign)
    escaped = " ".join(escaped.split())
    return _LIST.sub(r"\1\\", escaped)


def _code(text: str) -> str:
    return "`" + " ".join(visible(text).replace("`", "'").split()) + "`"


def document_markdown(document: ReportDocument, charts: Mapping[str, str] = _NO_CHARTS) -> str:
    """The document; ``charts`` are the files of charts by their names."""
    parts = [part_markdown(part, _of(i, part, charts), level=2) for i, part in enumerate(document.parts)]
    if len(parts) > 1:
        lines = (f"{_MARKS[part.status]} {cell(part.sentence.partition(chr(10))[0])}" for part in document.parts)
        parts.insert(0, _bullets(lines))
    steps = [_step(step) for step in document.steps]
    return (
        "\n\n".join([f"# {cell(document.title)}", *parts, *(["## How this was made", *steps] if steps else [])]) + "\n"
    )


def _step(step: CommandStep) -> str:
    files = ", ".join(f"[{cell(file)}]({quote(file)})" for file in step.files)
    blocks = [f"### {cell(step.question)}", f"    {step.command}", *(cell(line) for line in step.said.splitlines())]
    return "\n\n".join([*blocks, *([f"Written: {files}"] if files else [])])


def _of(place: int, part: Part, charts: Mapping[str, str]) -> Mapping[str, str]:
    """The charts of one part, by the names they have in it."""
    named = {chart.name: f"{part_id(place)}-{chart.name}" for chart in part.charts}
    return {name: charts[whole] for name, whole in named.items() if whole in charts}


def part_markdown(part: Part, charts: Mapping[str, str] = _NO_CHARTS, *, level: int) -> str:
    """One result, its heading at this level."""
    blocks = [f"{'#' * level} {_MARKS[part.status]} {cell(part.title)}"]
    blocks += [cell(line) for line in part.sentence.splitlines()]
    if part.gauge is not None:
        blocks.append(f"{cell(part.gauge.label)}: {cell(part.gauge.text)}")
    blocks.append(_facts(part.compared))
    blocks += [block for group in part.groups for block in _group(group, charts, level + 1)]
    if part.facts:
        blocks += [f"{'#' * (level + 1)} Numbers", _facts(part.facts)]
    if part.notes:
        blocks += [f"{'#' * (level + 1)} Notes", _bullets(cell(note) for note in part.notes)]
    return "\n\n".join(block for block in [*blocks, _code(part.signature) if part.signature else ""] if block)


def sections_markdown(title: str, sections: Sequence[Section], signature: str) -> str:
    """What is said in sections, without tables and charts: sentences for a paper."""
    blocks = [f"# {cell(title)}"]
    for section in sections:
        blocks += [f"## {cell(section.title)}"] if section.title else []
        blocks += [cell(text) for text in section.about.split("\n\n") if text]
        blocks += [_fenced(section.plain)] if section.plain else []
        blocks += [_bullets(map(cell, section.said))] if section.said else []
    return "\n\n".join([*blocks, _code(signature)]) + "\n"


def _fenced(sentences: Sequence[str]) -> str:
    """Sentences as they are, a line each, where nothing is markup: the fence is longer than any in them."""
    text = "\n\n".join(" ".join(visible(sentence).split()) for sentence in sentences)
    fence = "`" * max(3, 1 + max((len(run) for run in re.findall("`+", text)), default=0))
    return f"{fence}text\n{text}\n{fence}"


def _group(group: Group, charts: Mapping[str, str], level: int) -> list[str]:
    shown = [f"![{cell(chart.text)}]({quote(charts[chart.name])})" for chart in group.charts if chart.name in charts]
    blocks = [cell(group.about)] if group.about else []
    blocks += shown
    for table in group.tables:
        blocks += [f"**{cell(table.title)}**", table_markdown(table)]
    blocks += [_bullets(cell(text) for text in group.said)] if group.said else []
    return [f"{'#' * level} {cell(group.title)}", *blocks] if blocks else []


def table_markdown(table: ShownTable) -> str:
    """A table, its cells escaped."""
    rule = ["---"] * len(table.header)
    rows = [[cell(text) for text in table.header], rule, *([cell(text) for text in row] for row in table.rows)]
    return "\n".join(_line(row) for row in rows)


def _facts(facts: Sequence[Fact]) -> str:
    rows = [["", ""], ["---", "---"], *([cell(fact.label), cell(fact.text)] for fact in facts)]
    return "\n".join(_line(row) for row in rows) if facts else ""


def _line(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cells) + " |"


def _bullets(lines: Iterable[str]) -> str:
    return "\n".join(f"- {line}" for line in lines)


def certificate_markdown(certificate: "Certificate | SuiteCertificate | GateCertificate") -> str:
    """The verdict, the sentence and a table: the comment under a pull request, the summary of a job."""
    head = f"### {_MARKS[certificate.status]} Assay: {certificate.verdict}"
    limits = next((table for table in certificate.tables if table.key == "limits"), None)
    terms = _terms(certificate)
    if limits is None:
        rows = "\n".join(f"| {cell(label)} | {cell(value)} |" for label, value in terms)
        shown = [f"| | |\n| --- | --- |\n{rows}"]
    else:  # of several tasks: a line for every limit, and what the rule shows
        said = [cell(text) for section in certificate.sections if section.key == "errors" for text in section.said]
        table = ShownTable(limits.heading, limits.header, tuple(limits.rows))
        shown = [table_markdown(table), _bullets([*said, *(f"{cell(label)}: {cell(value)}" for label, value in terms)])]
    check = "Check it with `assay verify`; it recomputes every number from the evidence."
    return "\n\n".join([head, cell(certificate.sentence), *shown, check]) + "\n"


def _terms(certificate: "Certificate | SuiteCertificate | GateCertificate") -> list[tuple[str, str]]:
    """What it was judged by, and what a reader must know beside the numbers."""
    found = [(fact.label, fact.text) for fact in certificate.facts_by(certificate.terms) if fact.label != "verdict"]
    made = [row for table in certificate.tables if table.key == "intervals" for row in table.rows]
    found += [("with all resamples", row[1]) for row in made if row[0] == "all resamples"]
    found += [("rule not met", f"{name}: {detail}") for name, detail in certificate.broken.items()]
    return found + [(caution.kind, caution.text) for caution in certificate.cautions]


# ------------------------------------------------------------------------------------------------------- for a terminal


def document_text(document: ReportDocument, width: int = 100) -> str:
    """Every part: verdict, interval, what was compared, tables, numbers and notes."""
    several = len(document.parts) > 1
    verdicts = [_dashed([f"{SYMBOLS[p.status]} {p.sentence.partition(chr(10))[0]}" for p in document.parts], width)]
    parts = [document.title, *(verdicts if several else []), *(_part(part, width) for part in document.parts)]
    parts += [f"$ {step.command}\n{step.said}" for step in document.steps]
    return visible("\n\n".join(parts)) + "\n"


def _part(part: Part, width: int) -> str:
    first = part.sentence.splitlines() or [""]
    blocks = ["\n".join([f"{SYMBOLS[part.status]} {first[0]}", *(f"  {line}" for line in first[1:])])]
    if part.gauge is not None:
        blocks.append(f"{gauge_text(part.gauge)}: {part.gauge.text}")
    blocks.append(lined_up([(fact.label, fact.text) for fact in part.compared]))
    blocks += [block for group in part.groups for block in _group_blocks(group, width)]
    blocks.append(lined_up([(fact.label, fact.text) for fact in part.facts]))
    blocks.append(_dashed(part.notes, width))
    return "\n\n".join(block for block in [*blocks, part.signature] if block)


def _group_blocks(group: Group, width: int) -> list[str]:
    blocks = [_underlined(group.title)] if group.tables or group.said else []
    blocks += [_table(table) for table in group.tables]
    return [*blocks, *([_dashed(group.said, width)] if group.said else [])]


def _underlined(title: str) -> str:
    return f"{title}\n{'─' * len(title)}"


def _table(table: ShownTable) -> str:
    lines = [table.header, *table.rows]
    widths = [max(cell_len(row[i]) for row in lines) for i in range(len(table.header))]
    shown = ["  ".join(map(filled, row, widths)).rstrip() for row in lines]
    return "\n".join([table.title, *(f"  {line}" for line in shown)])


def _dashed(lines: Sequence[str], width: int) -> str:
    return "\n".join("\n".join(wrap(line, width, initial_indent="- ", subsequent_indent="  ")) for line in lines)
