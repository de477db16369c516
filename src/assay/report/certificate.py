"""A certificate as Markdown: the comment under a pull request, the summary of a job."""

from typing import Any

from assay.certificate.record import certificate_rows
from assay.report.markdown import cell

_MARKS = {"pass": "✅", "regression": "❌", "insufficient evidence": "⚠️"}


def certificate_markdown(document: dict[str, Any]) -> str:
    """The verdict, the sentence and a table."""
    decision = document["decision"]
    rows = "\n".join(f"| {cell(label)} | {cell(value)} |" for label, value in certificate_rows(document))
    head = f"### {_MARKS[decision['verdict']]} Assay: {decision['verdict']}"
    check = "Check it with `assay verify`; it recomputes every number from the evidence."
    return f"{head}\n\n{cell(decision['sentence'])}\n\n| | |\n| --- | --- |\n{rows}\n\n{check}\n"
