"""What `assay survey -o DIR` writes beside survey.json: survey.md, statements.md and the charts."""

from pathlib import Path
from typing import Any

from assay.analyses.survey.report import SurveyReport
from assay.files.writing import write_bytes
from assay.report.charts import write_chart
from assay.report.markdown import part_markdown
from assay.report.parts.survey import survey_part
from assay.report.survey_statements import survey_statements

_BESIDE = (
    "The sentences for a paper are in [statements.md](statements.md), every number is in [survey.json](survey.json)."
)


def write_outputs(report: SurveyReport | dict[str, Any], folder: Path) -> list[Path]:
    """Write the files into an existing folder, from the record or from what survey.json holds; which were written."""
    if isinstance(report, dict):
        report = SurveyReport.from_dict(report)
    part = survey_part(report)
    charts = {chart.name: f"{chart.name}.svg" for chart in part.charts}
    for chart in part.charts:
        write_chart(chart.specification, folder / charts[chart.name])
    pages = {
        "survey.md": f"{part_markdown(part, charts, level=1)}\n\n{_BESIDE}\n",
        "statements.md": survey_statements(report),
    }
    for file, text in pages.items():
        write_bytes(folder / file, text.encode())
    return [folder / file for file in (*charts.values(), *pages)]
