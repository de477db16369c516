"""What holds a page together: the first screen, a chapter for each kind of result, and the commands behind it."""

from collections.abc import Mapping, Sequence
from html import escape
from urllib.parse import quote

from assay.report.document import CommandStep, Part, ReportDocument, part_id
from assay.report.html.gauges import Scale, row_html, scale_of
from assay.report.html.parts import badge_html, folded_part_html, lines_html, part_html
from assay.results.figures import Gauge

Placed = tuple[int, Part]  # a part and its place in the document
_PLURALS = {"summary": "summaries", "power": "power", "reliability": "reliability", "tuning": "tuning"}


def chapters(document: ReportDocument) -> dict[str, list[Placed]]:
    """The parts of each kind, in the order in which kinds are met."""
    found: dict[str, list[Placed]] = {}
    for place, part in enumerate(document.parts):
        found.setdefault(part.kind, []).append((place, part))
    return found


def chapter_id(kind: str) -> str:
    return "kind-" + "".join(letter if letter.isalnum() else "-" for letter in kind)


def chapter_title(kind: str, parts: Sequence[Placed]) -> str:
    """A kind with a capital, in the plural where there are several.

    >>> from assay.report.document import Part
    >>> one = Part("certificate", "x", "t", "s", "good", (), "")
    >>> chapter_title("certificate", [(0, one), (1, one)])
    'Certificates'
    """
    plural = _PLURALS.get(kind, f"{kind}s")
    name = kind if len(parts) == 1 else plural
    return name[:1].upper() + name[1:]


# --------------------------------------------------------------------------------------------------------- first screen


def front_html(document: ReportDocument) -> str:
    """Each verdict in a line beside its interval; intervals of one kind of number share an axis."""
    inner = "".join(
        (f"<h3 class='kind'>{escape(chapter_title(kind, parts))}</h3>" if len(parts) > 1 else "")
        + f"<ul class='verdicts'>{_verdicts(parts)}</ul>"
        for kind, parts in chapters(document).items()
    )
    return (
        f"<section aria-labelledby='verdicts'><h2 id='verdicts'>Verdicts</h2><div class='front'>{inner}</div></section>"
    )


def _verdicts(parts: Sequence[Placed]) -> str:
    scales, captioned = _scales([part for _, part in parts]), set[str]()
    rows = []
    for place, part in parts:
        named = part.name if len(parts) > 1 else f"{chapter_title(part.kind, parts)} · {part.name}"
        rows.append(_verdict(place, part, named, scales, captioned))
        captioned |= {part.gauge.label} if part.gauge is not None else set()
    return "".join(rows)


def _verdict(place: int, part: Part, named: str, scales: Mapping[str, Scale], captioned: set[str]) -> str:
    """A verdict with its interval; what an axis shows is said under the first of those that share it."""
    first = part.sentence.splitlines()[0] if part.sentence else ""
    more = " …" if "\n" in part.sentence.strip() else ""
    drawn = "" if part.gauge is None else _drawn(part.gauge, scales, caption=part.gauge.label not in captioned)
    return (
        f"<li class='{part.status}'>{badge_html(part)}<a href='#{part_id(place)}'>{escape(first)}{more}"
        f"<span class='kind'>{escape(named)}</span></a>{drawn}</li>"
    )


def _drawn(gauge: Gauge, scales: Mapping[str, Scale], *, caption: bool) -> str:
    marks = ", ".join(mark.label for mark in gauge.marks)
    words = f"<span class='kind'>{escape(gauge.label)}{escape(f'; dashed: {marks}' if marks else '')}</span>"
    words = words if caption else ""
    return f"<span class='picture'>{row_html(gauge, scales[gauge.label])}{words}</span>"


def _scales(parts: Sequence[Part]) -> dict[str, Scale]:
    """An axis for each kind of number."""
    gauges: dict[str, list[Gauge]] = {}
    for part in parts:
        if part.gauge is not None:
            gauges.setdefault(part.gauge.label, []).append(part.gauge)
    return {label: scale_of(found) for label, found in gauges.items()}


# ------------------------------------------------------------------------------------------------------------- chapters


def chapter_html(kind: str, parts: Sequence[Placed]) -> str:
    """The results of one kind: one as it is; several as a table with a row each, and their details behind it."""
    name = chapter_id(kind)
    head = (
        f"<p class='kind'>{escape(chapter_title(kind, parts))}{_subject(parts)}</p>"
        f"<h2 id='{name}-title'>{escape(parts[0][1].title)}</h2>"
    )
    inner = part_html(*parts[0]) if len(parts) == 1 else _several(parts)
    return f"<section class='chapter' id='{name}' aria-labelledby='{name}-title'>{head}{inner}</section>"


def _subject(parts: Sequence[Placed]) -> str:
    return f" · {escape(parts[0][1].name)}" if len(parts) == 1 else ""


def _several(parts: Sequence[Placed]) -> str:
    """A row for each, under which its details unfold."""
    scales = _scales([part for _, part in parts])
    names = ("", "result", "interval", "value", "against") if scales else ("", "result")
    head = "".join(f"<span>{name}</span>" for name in names)
    rows = "".join(folded_part_html(place, part, _cells(part, scales)) for place, part in parts)
    return f"<div class='overview'><p class='entry' aria-hidden='true'>{head}</p>{rows}</div>"


def _cells(part: Part, scales: Mapping[str, Scale]) -> str:
    """What a row says beside the name."""
    gauge = part.gauge
    if gauge is None:
        return ""
    marks = ", ".join(mark.label for mark in gauge.marks)
    drawn = row_html(gauge, scales[gauge.label])
    return f"<span>{drawn}</span><span>{escape(gauge.text)}</span><span>{escape(marks)}</span>"


# ---------------------------------------------------------------------------------------------------------------- steps


def steps_html(steps: Sequence[CommandStep]) -> str:
    """The commands behind the page, each with what it said and links to what it wrote; folded."""
    if not steps:
        return ""
    shown = "".join(
        f"<h3>{escape(step.question)}</h3><p class='signature'><code>{escape(step.command)}</code> "
        f"<button type='button' data-copy>Copy</button></p><p>{lines_html(step.said)}</p>{_links(step.files)}"
        for step in steps
    )
    head = "<h2 id='steps-title'>How this was made</h2>"
    about = (
        "<p>These commands ran, in this order, in the folder of this page. With other names they run on your data.</p>"
    )
    count = f"<summary>{len(steps)} commands</summary>"
    return (
        f"<section class='chapter' id='steps' aria-labelledby='steps-title'>{head}{about}"
        f"<details class='more'>{count}{shown}</details></section>"
    )


def _links(files: Sequence[str]) -> str:
    items = ", ".join(f"<a href='{escape(quote(file))}'>{escape(file)}</a>" for file in files)
    return f"<p class='files'>Written: {items}</p>" if items else ""
