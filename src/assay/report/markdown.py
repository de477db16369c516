"""A document, a result or a certificate as Markdown: for a pull request, a README or an appendix."""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING
from urllib.parse import quote

from assay.names import visible
from assay.report.document import CommandStep, Group, Part, ReportDocument, ShownTable, part_id
from assay.results.parts import Fact
from assay.results.record import Section, Status

if TYPE_CHECKING:
    from assay.certificate.record import Certificate

_MARKS: dict[Status, str] = {"good": "✅", "bad": "❌", "unsure": "⚠️", "plain": "➡️"}
_VERDICT_MARKS = {"pass": "✅", "regression": "❌", "insufficient evidence": "⚠️"}
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
        blocks += [_bullets(map(cell, section.said))] if section.said else []
    return "\n\n".join([*blocks, _code(signature)]) + "\n"


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


def certificate_markdown(certificate: "Certificate") -> str:
    """The verdict, the sentence and a table: the comment under a pull request, the summary of a job."""
    found = [(fact.label, fact.text) for fact in certificate.facts_by(certificate.terms) if fact.label != "verdict"]
    found += [("with all resamples", table.rows[1][1]) for table in certificate.tables if table.key == "intervals"]
    found += [("rule not met", f"{name}: {detail}") for name, detail in certificate.broken.items()]
    found += [(caution.kind, caution.text) for caution in certificate.cautions]
    rows = "\n".join(f"| {cell(label)} | {cell(value)} |" for label, value in found)
    head = f"### {_VERDICT_MARKS[certificate.verdict]} Assay: {certificate.verdict}"
    check = "Check it with `assay verify`; it recomputes every number from the evidence."
    return f"{head}\n\n{cell(certificate.sentence)}\n\n| | |\n| --- | --- |\n{rows}\n\n{check}\n"
