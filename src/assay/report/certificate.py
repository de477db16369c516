"""A certificate as Markdown: the comment under a pull request, the summary of a job."""

from typing import Any

from assay.certificate.record import certificate_rows

_MARKS = {"pass": "✅", "regression": "❌", "insufficient evidence": "⚠️"}


def certificate_markdown(document: dict[str, Any]) -> str:
    """The verdict, the sentence and a table."""
    decision = document["decision"]
    rows = "\n".join(f"| {_cell(label)} | {_cell(value)} |" for label, value in certificate_rows(document))
    head = f"### {_MARKS[decision['verdict']]} Assay: {decision['verdict']}"
    check = "Check it with `assay verify`; it recomputes every number from the evidence."
    return f"{head}\n\n{_cell(decision['sentence'])}\n\n| | |\n| --- | --- |\n{rows}\n\n{check}\n"


def _cell(text: str) -> str:
    """Text that cannot become markup: names come from files."""
    escaped = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    for sign in "\\`*_[]|#~$":
        escaped = escaped.replace(sign, "\\" + sign)
    escaped = " ".join(escaped.split())
    return "\\" + escaped if escaped.startswith(("-", "+", "=")) else escaped  # no list or heading at its start
