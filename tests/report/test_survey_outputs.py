import json
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from assay.analyses.survey.advice import advice
from assay.analyses.survey.loaded import Survey
from assay.analyses.survey.noise import Noise
from assay.analyses.survey.report import SurveyReport, report_of
from assay.analyses.survey.scores import Scores
from assay.design import Design
from assay.errors import InputError
from assay.report.folder import result_markdown
from assay.report.survey_chart import CHARTS
from assay.report.survey_outputs import write_outputs
from assay.report.survey_statements import survey_statements
from tests.analyses.survey.surveys import made

FILES = {"survey.md", "statements.md", "scores.svg", "shuffled.svg", "gaps.svg", "context.svg"}


def _survey() -> Survey:
    return made(
        models={"good": 0.2, "good too": 0.21, "bad": 0.6}, questions=10, contexts=(0, 5), runs=2, worse={2: 0.2}
    )


@pytest.fixture(scope="module")
def report() -> SurveyReport:
    return report_of(_survey(), Design(resamples=1000))


@pytest.fixture(scope="module")
def folder(report: SurveyReport, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("survey")
    written = write_outputs(report, folder)
    assert {path.name for path in written} == FILES == {path.name for path in folder.iterdir()}
    return folder


def test_what_survey_json_holds_gives_the_same_files(report: SurveyReport, folder: Path, tmp_path: Path) -> None:
    write_outputs(json.loads(json.dumps(report.to_dict(), allow_nan=False)), tmp_path)
    for name in FILES:
        assert (tmp_path / name).read_bytes() == (folder / name).read_bytes(), name


def test_every_statement_is_in_its_list_and_only_there(report: SurveyReport, folder: Path) -> None:
    text = (folder / "statements.md").read_text("utf-8")
    supported, _, withheld = text.partition("## What is withheld, and why")
    bullets = [[line for line in part.splitlines() if line.startswith("- ")] for part in (supported, withheld)]
    said = report.statements()
    assert [len(lines) for lines in bullets] == [sum(s.holds for s in said), sum(not s.holds for s in said)]
    first = next(s.text for s in said if not s.holds)
    assert first.split(" ", 1)[0] in bullets[1][0]


def test_every_table_and_chart_is_in_the_report(report: SurveyReport, folder: Path) -> None:
    text = (folder / "survey.md").read_text("utf-8")
    assert report.sentence.split(",")[0] in text
    headings = [line for line in text.splitlines() if line.startswith("## ")]
    assert len(headings) >= 1 + len(report.sections)
    tables = text.count("| --- |")
    assert tables >= sum(len(section.sheets()) for section in report.sections.values()) - 2  # all-number tables differ
    for file, _ in CHARTS.values():
        assert f"({file})" in text
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


def test_charts_show_the_numbers_of_the_record(report: SurveyReport) -> None:
    """The oracle is the record: what is drawn is what was computed."""
    chart = CHARTS["fairness"][1](report.sections)
    assert chart is not None
    (drawn,) = chart.to_dict()["datasets"].values()
    fair = report.sections["fairness"].to_dict()
    expected = [(g["gap"], g["excess"]["value"]) for c in fair["categories"] for g in c["gaps"]]
    assert [(row["published"], row["value"]) for row in drawn] == expected


def test_a_baseline_over_fewer_cells_is_no_line_beside_the_scores() -> None:
    survey = made(questions=10)
    others = [replace(q, text="another") if i % 2 else q for i, q in enumerate(survey.truth.questions)]
    prior = replace(survey.truth, questions=tuple(others))
    report = report_of(replace(survey, prior=prior), Design(resamples=1000), ["scores", "baselines"])
    assert any(sheet.title[1].startswith("on the 25 of 50") for sheet in report.sections["baselines"].sheets())
    chart = CHARTS["scores"][1](report.sections)
    assert chart is not None
    text = json.dumps(chart.to_dict())
    assert "marginal, pooled" in text
    assert "prior round" not in text


def test_a_part_of_the_analyses(tmp_path: Path) -> None:
    report = report_of(made(questions=8), Design(), ["scores", "context"])
    names = {path.name for path in write_outputs(report, tmp_path)}
    assert names == {"survey.md", "statements.md", "scores.svg"}  # one context level: no slopes to draw
    assert "no weakness" in (tmp_path / "survey.md").read_text("utf-8")


def test_names_cannot_become_markup() -> None:
    survey = made(questions=8, models={"<b>|x|</b> `rm`": 0.2, "[a](http://evil)": 0.4})
    report = report_of(survey, Design(), ["scores", "weighting"])
    for text in (result_markdown(report), survey_statements(report)):
        assert "<b>" not in text
        assert "[a](http" not in text
        assert "`rm`" not in text.replace("\\`", "")


def test_what_is_not_a_survey_report_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="this is not a survey report"):
        write_outputs({"schema": "assay/comparison/1"}, tmp_path)
    assert not list(tmp_path.iterdir())


def test_a_folder_that_is_not_there(report: SurveyReport, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be written"):
        write_outputs(report, tmp_path / "missing")


# ------------------------------------------------------------------------------------------ what to do


def test_advice_follows_from_the_numbers(report: SurveyReport) -> None:
    found = {one.do: one.because for one in advice(report.sections)}
    open_pairs = sum(
        pair["verdict"] == "not told apart" for pair in report.to_dict()["sections"]["pairs"]["leaderboard"]["pairs"]
    )
    tiers = [because for do, because in found.items() if "tiers instead of ranks" in do]
    assert bool(tiers) == bool(open_pairs)
    assert all(because.startswith(f"{open_pairs} of 3 pairs") for because in tiers)


def test_advice_on_answers_that_could_not_be_read(report: SurveyReport) -> None:
    scores = report.sections["scores"]
    assert isinstance(scores, Scores)
    model = replace(scores.models[0], unparseable=20, answers=100, no_answer=0, wrong_length=0)
    found = advice({"scores": replace(scores, models=(model, *scores.models[1:]))})
    assert [one.because for one in found] == [f"1 model failed in 1 % of the answers or more, {model.model} in 20.0 %."]


def test_advice_on_single_runs() -> None:
    found = advice(report_of(made(questions=8), Design(), ["repeats"]).sections)
    assert [one.do.split(",")[0] for one in found] == ["Ask at temperature 0"]
    assert [one.because for one in found] == ["Here every answer was given once."]


def test_advice_on_small_segments(report: SurveyReport) -> None:
    noise = report.sections["noise"]
    assert isinstance(noise, Noise)
    small = tuple(replace(part, respondents=12.0, ceiling=0.6) for part in noise.segments[:3])
    found = advice({"noise": replace(noise, segments=(*small, *noise.segments[3:]))})
    assert "Raise the minimum number of respondents" in found[0].do
    assert "3 of 5 segments have fewer than 30 respondents, and in 3 even a perfect prediction" in found[0].because
