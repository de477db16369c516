"""How numbers were computed: each explanation once on a page, shown when it is asked for, and printed at the end."""

import hashlib
from collections.abc import Iterator
from html import escape

from assay.report.document import Part, ReportDocument
from assay.results.explanations import Explanation, explanation_of


def how_html(method: Explanation | None) -> str:
    """What is pressed to read how a number was computed."""
    if method is None:
        return ""
    return f"<button popovertarget='{_id(method)}'>how?</button>"


def explanations_html(document: ReportDocument) -> str:
    """The explanations of everything on the page, with the names of what they explain."""
    names: dict[Explanation, dict[str, None]] = {}
    for part in document.parts:
        for label, method in _explained(part):
            names.setdefault(method, {})[label] = None
    shown = "".join(
        f"<div popover class='explanation' id='{_id(method)}'><strong>{escape(', '.join(labels))}</strong>"
        f"<p>{escape(method.text)} <cite>Documentation: {escape(method.page)}</cite></p></div>"
        for method, labels in names.items()
    )
    head = "<h2 id='how-title'>How these numbers were computed</h2>"
    return f"<section class='explanations' aria-labelledby='how-title'>{head}{shown}</section>" if shown else ""


def _explained(part: Part) -> Iterator[tuple[str, Explanation]]:
    for fact in part.facts:
        method = explanation_of(fact.key)
        if method is not None:
            yield fact.label, method
    for group in part.groups:
        titles = ((table.title.partition(": ")[0], table.method) for table in group.tables)
        yield from ((title, method) for title, method in titles if method is not None)


def _id(method: Explanation) -> str:
    """The same for the same words."""
    return f"how-{hashlib.sha256(f'{method.text} {method.page}'.encode()).hexdigest()[:6]}"
