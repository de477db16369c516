"""What a survey report recommends, and the numbers that say so."""

import pytest
from msgspec.structs import replace

from assay.analyses.survey import report_of
from assay.analyses.survey.noise import NoiseCeiling
from assay.analyses.survey.result import SurveyReport
from assay.analyses.survey.scores import Scores
from assay.design import Design
from tests.analyses.survey.surveys import made


@pytest.fixture(scope="module")
def report() -> SurveyReport:
    models = {"good": 0.2, "good too": 0.21, "bad": 0.6}
    return report_of(made(models=models, questions=10, runs=2, worse={2: 0.2}), Design(resamples=1000))


def test_advice_is_part_of_the_result(report: SurveyReport) -> None:
    """The same on the terminal, in the JSON and in the first section of a page."""
    found = [one for analysis in report.analyses.values() for one in analysis.advice()]
    assert found
    assert report.advice == tuple(found)
    assert report.to_dict()["advice"] == [{"do": one.do, "because": one.because} for one in found]
    assert report.sections[0].said == tuple(f"{one.do} {one.because}" for one in found)
    text = " ".join(str(report).split())
    assert all(f"- {said}" in text for said in report.sections[0].said)


def test_a_report_that_was_saved_without_advice_does_not_say_that_there_is_none(report: SurveyReport) -> None:
    data = report.to_dict()
    del data["advice"]
    found = SurveyReport.from_dict(data)
    assert found.advice is None
    assert [section.key for section in found.sections] == list(report.analyses)
    assert "What to do" not in found.brief


def test_no_weakness_is_said() -> None:
    report = report_of(made(questions=8), Design(), ["scores"])
    assert report.advice == ()
    assert "no weakness" in report.sections[0].about


def test_advice_follows_from_the_numbers(report: SurveyReport) -> None:
    found = {one.do: one.because for one in report.advice or ()}
    pairs = report.to_dict()["sections"]["pairs"]["leaderboard"]["pairs"]
    open_pairs = pairs["verdict"].count("not told apart")
    tiers = [because for do, because in found.items() if "tiers instead of ranks" in do]
    assert bool(tiers) == bool(open_pairs)
    assert all(because.startswith(f"{open_pairs} of 3 pairs") for because in tiers)


def test_advice_on_answers_that_could_not_be_read(report: SurveyReport) -> None:
    scores = report.analyses["scores"]
    assert isinstance(scores, Scores)
    model = replace(scores.models[0], unparseable=20, answers=100, no_answer=0, wrong_length=0)
    found = replace(scores, models=(model, *scores.models[1:])).advice()
    assert [one.because for one in found] == [f"1 model failed in 1% of the answers or more, {model.model} in 20.0%."]


def test_advice_on_single_runs() -> None:
    found = report_of(made(questions=8), Design(), ["repeats"]).advice or ()
    assert [one.do.split(",")[0] for one in found] == ["Ask at temperature 0"]
    assert [one.because for one in found] == ["Here every answer was given once."]


def test_advice_on_small_segments(report: SurveyReport) -> None:
    noise = report.analyses["noise"]
    assert isinstance(noise, NoiseCeiling)
    small = tuple(replace(part, respondents=12.0, ceiling=0.6) for part in noise.segments[:3])
    found = list(replace(noise, segments=(*small, *noise.segments[3:])).advice())
    assert "Raise the minimum number of respondents" in found[0].do
    assert "3 of 5 segments have fewer than 30 respondents, and in 3 even a perfect prediction" in found[0].because
