"""A certificate as Markdown: the comment under a pull request, the summary of a job."""

from assay.certificate.record import Certificate
from assay.report.markdown import cell

_MARKS = {"pass": "✅", "regression": "❌", "insufficient evidence": "⚠️"}


def certificate_markdown(certificate: Certificate) -> str:
    """The verdict, the sentence and a table."""
    found = [(fact.label, fact.text) for fact in certificate.facts_by(certificate.terms) if fact.label != "verdict"]
    found += [("with all resamples", table.rows[1][1]) for table in certificate.tables if table.key == "intervals"]
    found += [("rule not met", f"{name}: {detail}") for name, detail in certificate.broken.items()]
    found += [(caution.kind, caution.text) for caution in certificate.cautions]
    rows = "\n".join(f"| {cell(label)} | {cell(value)} |" for label, value in found)
    head = f"### {_MARKS[certificate.verdict]} Assay: {certificate.verdict}"
    check = "Check it with `assay verify`; it recomputes every number from the evidence."
    return f"{head}\n\n{cell(certificate.sentence)}\n\n| | |\n| --- | --- |\n{rows}\n\n{check}\n"
