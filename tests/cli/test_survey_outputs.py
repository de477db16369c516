"""What `assay survey -o DIR` writes: the record, a page with charts, and sentences for a paper."""

import json
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from assay.analyses.survey import report_of
from assay.analyses.survey.result import SurveyReport
from assay.design import Design
from assay.errors import InputError
from assay.report.files import result_markdown, write_folder
from assay.report.markdown import sections_markdown
from tests.analyses.survey.surveys import made

CHARTS = {"scores.svg", "shuffled.svg", "fairness.svg", "gaps.svg", "context.svg"}
FILES = {"survey.json", "survey.md", "statements.md", *CHARTS}


def _written(report: SurveyReport, folder: Path) -> list[Path]:
    return write_folder(report, folder, "survey", report.for_a_paper)


@pytest.fixture(scope="module")
def report() -> SurveyReport:
    models = {"good": 0.2, "good too": 0.21, "bad": 0.6}
    survey = made(models=models, questions=10, contexts=(0, 5), runs=2, worse={2: 0.2})
    return report_of(survey, Design(resamples=1000))


@pytest.fixture(scope="module")
def folder(report: SurveyReport, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("survey")
    _written(report, folder)
    assert {path.name for path in folder.iterdir()} == FILES
    return folder


def test_what_survey_json_holds_gives_the_same_files(folder: Path, tmp_path: Path) -> None:
    _written(SurveyReport.from_dict(json.loads((folder / "survey.json").read_text("utf-8"))), tmp_path)
    for name in FILES:
        assert (tmp_path / name).read_bytes() == (folder / name).read_bytes(), name


def test_every_table_and_chart_is_in_the_page(report: SurveyReport, folder: Path) -> None:
    text = (folder / "survey.md").read_text("utf-8")
    assert report.sentence.split(",")[0] in text
    headings = [line for line in text.splitlines() if line.startswith("## ")]
    assert len(headings) >= 1 + len(report.sections)
    assert text.count("\n| --- |") >= len(report.tables)
    assert all(f"({file})" in text for file in CHARTS)
    rows = [line.replace("\\|", "") for line in text.splitlines() if line.startswith("|")]
    assert all(line.endswith("|") for line in rows)


def test_charts_are_images_with_words(folder: Path) -> None:
    for name, words in {
        "scores.svg": "ceiling",
        "shuffled.svg": "permutations",
        "gaps.svg": "Fairness gaps",
        "context.svg": "Does context help?",
    }.items():
        root = ET.fromstring((folder / name).read_text("utf-8"))  # noqa: S314  # our own file
        assert root.tag.endswith("svg")
        texts = " ".join("".join(element.itertext()) for element in root.iter() if element.tag.endswith("text"))
        assert words in texts
        assert "good" in texts


def test_a_part_of_the_analyses(tmp_path: Path) -> None:
    _written(report_of(made(questions=8), Design(), ["scores", "context"]), tmp_path)
    names = {path.name for path in tmp_path.iterdir()}
    assert names == {"survey.json", "survey.md", "statements.md", "scores.svg"}  # one context level: nothing to draw
    assert "no weakness" in (tmp_path / "survey.md").read_text("utf-8")


def test_names_cannot_become_markup() -> None:
    survey = made(questions=8, models={"<b>|x|</b> `rm`": 0.2, "[a](http://evil)": 0.4})
    report = report_of(survey, Design(), ["scores", "weighting"])
    statements = sections_markdown(f"Statements: {report.survey}", report.for_a_paper, report.signature)
    for text in (result_markdown(report), statements):
        assert "<b>" not in text
        assert "[a](http" not in text
        assert "`rm`" not in text.replace("\\`", "")


def test_a_place_that_is_no_folder(report: SurveyReport, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="file"):
        _written(report, tmp_path / "file")
