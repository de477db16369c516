"""The sentences of a survey report for a paper: what may be said, and what may not, with the reason (S10)."""

from assay.analyses.survey.report import SurveyReport
from assay.report.markdown import cell


def survey_statements(report: SurveyReport) -> str:
    """Lists as Markdown: warnings where there are any, what holds, and what does not."""
    said = [(name, one) for name, section in report.sections.items() for one in section.sentences()]
    warned = [(name, one.text) for name, one in said if one.warning]
    parts = [
        f"# Statements: {cell(report.survey)}",
        cell(report.sentence),
        *(["## Warnings", _listed(warned, "")] if warned else []),
        "## What the data support",
        _listed([(name, one.text) for name, one in said if one.holds and not one.warning], "Nothing."),
        "## What is withheld, and why",
        "Do not print these as findings: each says what is missing.",
        _listed([(name, one.text) for name, one in said if not one.holds], "Nothing."),
        f"`{report.signature}`",
    ]
    return "\n\n".join(parts) + "\n"


def _listed(said: list[tuple[str, str]], nothing: str) -> str:
    return "\n".join(f"- {cell(text)} ({name})" for name, text in said) if said else nothing
