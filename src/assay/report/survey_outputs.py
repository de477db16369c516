"""What `assay survey -o DIR` writes beside survey.json: survey.md, statements.md and the charts."""

from pathlib import Path
from typing import Any

from assay.analyses.survey.report import SurveyReport
from assay.data.writing import write_bytes
from assay.report.charts import write_chart
from assay.report.survey_chart import CHARTS
from assay.report.survey_markdown import survey_markdown
from assay.report.survey_statements import survey_statements


def write_outputs(report: SurveyReport | dict[str, Any], folder: Path) -> list[Path]:
    """Write the files into an existing folder, from the record or from what survey.json holds; which were written."""
    if isinstance(report, dict):
        report = SurveyReport.from_dict(report)
    written: list[Path] = []
    charts: dict[str, str] = {}
    for name, (file, draw) in CHARTS.items():
        chart = draw(report.sections)
        if chart is not None:
            write_chart(chart, folder / file)
            written.append(folder / file)
            charts[name] = file
    pages = {"survey.md": survey_markdown(report, charts), "statements.md": survey_statements(report)}
    for file, text in pages.items():
        write_bytes(folder / file, text.encode())
        written.append(folder / file)
    return written
