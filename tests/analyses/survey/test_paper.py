"""Sentences for a paper: the numbers of the records, each once, ready to paste; what is not supported says so."""

import json
import re

import pytest

from assay import Design
from assay.analyses.survey import report_of
from assay.analyses.survey.baselines import Baselines
from assay.analyses.survey.category_gaps import Fairness
from assay.analyses.survey.intervals import ScoreIntervals
from assay.analyses.survey.order import RepeatedRuns
from assay.analyses.survey.result import SurveyReport
from assay.report.markdown import sections_markdown
from tests.analyses.survey.surveys import made
from tests.analyses.survey.test_agreement import _with_a_cheat

ONLY = ["baselines", "noise", "intervals", "pairs", "fairness", "repeats"]


@pytest.fixture(scope="module")
def report() -> SurveyReport:
    models = {"good_one": 0.1, "good_two": 0.12, "bad*": 0.7}
    return report_of(made(3, models=models, questions=14, runs=3), Design(resamples=1000), ONLY)


def _said(report: SurveyReport, part: str) -> str:
    found = [one.text for one in report.paper if part in one.text]
    assert len(found) == 1, found
    return found[0]


def test_effects_against_baselines_are_those_of_the_record(report: SurveyReport) -> None:
    found = report.analyses["baselines"]
    assert isinstance(found, Baselines)
    for name, words in (("uniform", "a uniform prediction"), ("marginal, left out", "the population marginal")):
        own = [one for one in found.against if one.baseline == name]
        best = max(own, key=lambda one: one.difference.value or 0.0)
        text = _said(report, words)
        assert best.together is not None
        numbers = [float(n) for n in re.findall(r"-?\d+\.\d+", text.partition(f"{best.model}, by")[2])]
        expected = [best.difference.value, best.together.low, best.together.high, best.effect_sizes["d_z"].value]
        assert numbers[:4] == pytest.approx(expected, abs=0.005)
        above = sum(one.position == "above" for one in own)
        assert text.startswith(f"{above} of 3 models score significantly above {words}")


def test_a_gap_above_what_is_printed_is_significant(report: SurveyReport) -> None:
    found = report.analyses["fairness"]
    assert isinstance(found, Fairness)
    text = _said(report, "fairness gaps above")
    for category in found.categories:
        reach = max(gap.reach or 0.0 for gap in category.gaps)
        assert f"{reach:.3f} in {category.name} ({category.equal_n[0]} respondents)" in text


def test_every_score_has_its_interval(report: SurveyReport) -> None:
    found = report.analyses["intervals"]
    assert isinstance(found, ScoreIntervals)
    text = _said(report, "95% CIs")
    assert text.startswith("All scores carry 95% CIs")
    for one in found.models:
        limits = one.corrected.interval
        assert limits is not None
        assert f"{one.model} {one.corrected.value:.3f} (95% CI {limits.low:.3f} to {limits.high:.3f})" in text


def test_runs_pairs_and_noise(report: SurveyReport) -> None:
    runs = report.analyses["repeats"]
    assert isinstance(runs, RepeatedRuns)
    assert runs.found is not None
    least = min(m.icc["ICC(2,1)"].value or 0.0 for m in runs.found.models)
    assert f"from {least:.3f} (95% CI" in _said(report, "intraclass correlation")
    assert f"{runs.found.detectable.one_run:.4f} for single runs" in _said(report, "minimum detectable")
    assert "good_one above bad* (p = " in _said(report, "differences between models")
    assert "questions × segments have enough respondents" in _said(report, "enough respondents")


def test_what_is_not_supported_is_said_and_nothing_else_is_marked(report: SurveyReport) -> None:
    assert all(one.holds for one in report.paper)
    once = report_of(made(3, questions=8), Design(resamples=1000), ["repeats"])
    assert [one.holds for one in once.paper] == [False]
    assert "every answer was given once" in once.paper[0].text
    alike = report_of(made(4, models={"a": 0.9, "b": 0.9}, questions=8), Design(resamples=1000), ["baselines", "pairs"])
    lacking = [one.text for one in alike.paper if not one.holds]
    assert any(text.startswith("No model is shown to score above") for text in lacking)
    assert any("between models is significant at p < 0.05" in text for text in lacking)


def test_a_model_that_knows_the_sample_has_no_interval_and_that_is_said() -> None:
    report = report_of(_with_a_cheat(), Design(resamples=1000), ["intervals", "fairness"])
    assert "for every model tested, adjusted" in _said(report, "fairness gaps above")
    lacking = [one.text for one in report.paper if not one.holds]
    assert len(lacking) == 1
    assert lacking[0].startswith("No 95% CI is given for the score of cheat: the model scores above")


def test_ready_to_paste_without_tags_and_escapes(report: SurveyReport) -> None:
    text = sections_markdown("Statements: x", report.for_a_paper, report.signature)
    block = text.partition("```text\n")[2].partition("\n```")[0]
    assert block.split("\n\n") == [one.text for one in report.paper if one.holds]
    assert "\\" not in block
    assert "good_one" in block
    assert not re.search(r"\((scores|baselines|noise|intervals|pairs|fairness|repeats)\)", text)


def test_a_fence_is_longer_than_any_in_a_name() -> None:
    report = report_of(
        made(3, models={"a```b": 0.1, "c": 0.7}, questions=8), Design(resamples=1000), ["pairs", "intervals"]
    )
    text = sections_markdown("Statements: x", report.for_a_paper, report.signature)
    assert "\n````text\n" in text
    assert text.count("````") == 2


def test_json_has_them_and_gives_them_back(report: SurveyReport) -> None:
    data = json.loads(json.dumps(report.to_dict()))
    assert [one["text"] for one in data["paper"]] == [one.text for one in report.paper]
    assert SurveyReport.from_dict(data) == report
    del data["paper"]  # saved before there were any
    assert SurveyReport.from_dict(data).paper == ()
