"""The record of a survey report: what is shown is what was computed, and it comes back from JSON."""

import json
from dataclasses import replace as with_parts

import msgspec
import pytest

from assay.analyses.survey import chosen, report_of
from assay.analyses.survey.baselines import Baselines
from assay.analyses.survey.category_gaps import Fairness
from assay.analyses.survey.evidence import Survey
from assay.analyses.survey.intervals import ScoreIntervals
from assay.analyses.survey.result import ANALYSES, SurveyAnalysis, SurveyReport, analysis_type
from assay.analyses.survey.sentences import READING, TITLES
from assay.design import Design
from assay.errors import InputError, UsageError
from assay.results.figures import Curve, Distribution, Forest, Matrix
from tests.analyses.survey.surveys import made


def _survey() -> Survey:
    return made(
        models={"good": 0.2, "good too": 0.21, "bad": 0.6}, questions=10, contexts=(0, 5), runs=2, worse={2: 0.2}
    )


@pytest.fixture(scope="module")
def report() -> SurveyReport:
    return report_of(_survey(), Design(resamples=1000))


def test_it_comes_back_from_json_with_each_analysis_of_its_own_type(report: SurveyReport) -> None:
    again = SurveyReport.from_dict(json.loads(json.dumps(report.to_dict(), allow_nan=False)))
    assert again == report
    assert {name: type(one) for name, one in again.analyses.items()} == {n: analysis_type(n) for n in ANALYSES}
    assert str(again) == str(report)


def test_what_is_not_a_survey_report_is_refused(report: SurveyReport) -> None:
    with pytest.raises(InputError, match="not a survey result"):
        SurveyReport.from_dict({"schema": "assay/comparison/1"})
    data = report.to_dict()
    with pytest.raises(KeyError, match="opinions"):
        SurveyReport.from_dict(data | {"sections": {"opinions": data["sections"]["scores"]}})
    with pytest.raises(msgspec.ValidationError, match="kind"):
        SurveyReport.from_dict(data | {"sections": {"scores": data["sections"]["noise"]}})


def test_every_analysis_has_a_title_and_says_how_it_is_read() -> None:
    assert set(TITLES) == set(READING) == set(ANALYSES)
    assert all(analysis_type(name).__struct_config__.tag == name for name in ANALYSES)


def test_analyses_run_in_their_order_whatever_the_order_they_were_asked_for_in() -> None:
    assert chosen(None) == chosen([]) == tuple(ANALYSES)
    assert chosen(["noise", "scores"]) == ("scores", "noise")
    with pytest.raises(UsageError, match="'opinions'"):
        chosen(["opinions"])


def test_sections_are_what_to_do_and_the_analyses(report: SurveyReport) -> None:
    assert [section.key for section in report.sections] == ["what to do", *ANALYSES]
    assert [figure.name for figure in report.figures] == ["scores", "shuffled", "fairness", "gaps", "context"]
    keys = [table.key for table in report.tables]
    assert len(keys) == len(set(keys))
    for table in report.tables:
        assert len({key for record in table.records() for key in record}) >= len(table.columns), table.key
        assert all(len(row) == len(table.header) for row in table.rows)
    pages = {section.key: section.page for section in report.sections}
    assert (pages["fairness"], pages["scores"], pages["what to do"]) == ("survey-fairness.md", "survey.md", None)


def test_tables_hold_the_numbers_of_the_record(report: SurveyReport) -> None:
    found, baselines = report.analyses["fairness"], report.analyses["baselines"]
    assert isinstance(found, Fairness)
    assert isinstance(baselines, Baselines)
    gaps = [gap for category in found.categories for gap in category.gaps]
    *own, recipe = found.tables
    rows = [row for table in own for row in table.records() if row["model"] != "a perfect model"]
    assert [row["gap"] for row in rows] == [gap.gap for gap in gaps] == [row["gap"] for row in recipe.records()]
    assert [row["true_gap"] for row in rows] == [gap.excess.value for gap in gaps]
    limits = [gap.simultaneous.interval for gap in gaps]
    assert [row["true_gap_high"] for row in rows] == [None if one is None else one.high for one in limits]
    against = next(table for table in baselines.tables if table.key == "against").records()
    assert [row["difference"] for row in against] == [one.difference.value for one in baselines.against]
    assert [row["position"] for row in against] == [one.position for one in baselines.against]


def test_the_gauge_is_the_best_model_against_the_marginal(report: SurveyReport) -> None:
    baselines = report.analyses["baselines"]
    assert isinstance(baselines, Baselines)
    own = [one for one in baselines.against if one.baseline == "marginal, left out"]
    best = max(own, key=lambda one: one.difference.value or -1.0)
    assert report.gauge is not None
    assert best.together is not None
    assert (report.gauge.value, report.gauge.low) == (best.difference.value, best.together.low)
    assert report.status == {"above": "good", "below": "bad"}.get(best.position, "unsure")
    assert report.facts[-1].value == best.simultaneous
    assert [fact.value for fact in report.facts[:3]] == [10, 5, 50]
    frame = report.to_frame()
    assert frame["value"].tolist()[-1] == best.difference.value


def test_without_baselines_there_is_no_verdict() -> None:
    report = report_of(made(questions=8), Design(), ["scores"])
    assert report.gauge is None
    assert report.status == "plain"
    assert len(report.facts) == 3


def test_scores_are_drawn_with_what_the_others_found(report: SurveyReport) -> None:
    (forest,) = report.analyses["scores"].figures(report.analyses)
    assert isinstance(forest, Forest)
    intervals = report.analyses["intervals"]
    assert isinstance(intervals, ScoreIntervals)
    second = {line.label: line.others[0].value for line in forest.lines}
    assert second == {one.model: one.corrected.value for one in intervals.models}
    assert [mark.place for mark in forest.marks] == sorted(mark.place for mark in forest.marks)
    assert [mark.label for mark in forest.marks if not mark.dashed] == ["ceiling"]
    (alone,) = report.analyses["scores"].figures({})
    assert isinstance(alone, Forest)
    assert alone.marks == ()
    assert not any(line.others for line in alone.lines)
    assert alone.about == ("Dots: scores as published.",)


def test_gaps_are_drawn_as_they_were_found(report: SurveyReport) -> None:
    found = report.analyses["fairness"]
    assert isinstance(found, Fairness)
    matrix, forest = found.figures({})
    assert isinstance(forest, Forest)
    gaps = [gap for category in found.categories for gap in category.gaps]
    assert [(line.value, line.others[0].value) for line in forest.lines] == [(g.excess.value, g.gap) for g in gaps]
    assert [line.group == "shown" for line in forest.lines] == [gap.shown_at(found.level) for gap in gaps]
    assert isinstance(matrix, Matrix)
    assert matrix.columns == tuple(category.name for category in found.categories)
    for column, category in enumerate(found.categories):
        for gap in category.gaps:
            row = matrix.rows.index(gap.model)
            assert matrix.values[row][column] == gap.excess.value
            assert (matrix.shades[row][column] == -1) == gap.shown_at(found.level)


def test_shuffled_scores_are_histograms_and_the_best_twelve_at_most(report: SurveyReport) -> None:
    found = report.analyses["baselines"]
    assert isinstance(found, Baselines)
    (figure,) = found.figures({})
    assert isinstance(figure, Distribution)
    assert [sum(one.heights) for one in figure.histograms] == [found.permutations] * 3
    assert [one.marks[0].place for one in figure.histograms] == sorted(
        (one.observed for one in found.shuffled[1:] if one.observed is not None), reverse=True
    )
    many = msgspec.structs.replace(found, shuffled=(found.shuffled[0], *found.shuffled[1:] * 5))
    (figure,) = many.figures({})
    assert len(figure.histograms) == 12
    assert figure.about[-1] == "The 12 best of 15 models."


def test_the_same_prediction_for_all_segments_is_a_bin_without_width(report: SurveyReport) -> None:
    found = report.analyses["baselines"]
    assert isinstance(found, Baselines)
    flat = msgspec.structs.replace(found.shuffled[1], standard_deviation=0.0, mean=0.8)
    (figure,) = msgspec.structs.replace(found, shuffled=(found.shuffled[0], flat)).figures({})
    assert figure.histograms[0].edges == (0.8, 0.8)
    assert figure.histograms[0].heights == (found.permutations,)


def test_context_is_drawn_with_the_slope_in_the_legend(report: SurveyReport) -> None:
    (figure,) = report.analyses["context"].figures({})
    assert isinstance(figure, Curve)
    (axes,) = figure.axes
    assert {one.label.partition(":")[0] for one in axes.series} == {"good", "good too", "bad"}
    last = [one.y[-1] for one in axes.series]
    assert last == sorted(last, key=lambda y: -(y or 0.0))
    assert all(one.x == (0.0, 5.0) for one in axes.series)


def test_a_baseline_over_fewer_cells_is_no_line_beside_the_scores() -> None:
    survey = made(questions=10)
    others = [with_parts(q, text="another") if i % 2 else q for i, q in enumerate(survey.truth.questions)]
    prior = with_parts(survey.truth, questions=tuple(others))
    report = report_of(with_parts(survey, prior=prior), Design(resamples=1000), ["scores", "baselines"])
    assert any(table.about.startswith("on the 25 of 50") for table in report.tables)
    (forest,) = report.analyses["scores"].figures(report.analyses)
    assert isinstance(forest, Forest)
    labels = [mark.label for mark in forest.marks]
    assert "marginal, pooled" in labels
    assert "prior round" not in labels


def test_an_analysis_has_to_say_something() -> None:
    class Silent(SurveyAnalysis, frozen=True, tag="silent"):
        statements: tuple[str, ...] = ()  # type: ignore[assignment]

    with pytest.raises(NotImplementedError):
        Silent()


def test_statements_follow_the_fields(report: SurveyReport) -> None:
    """A record that was changed does not say what it said before."""
    found = report.analyses["baselines"]
    assert isinstance(found, Baselines)
    fewer = msgspec.structs.replace(found, against=())
    assert not any("baseline" in said.text for said in fewer.statements)
    assert fewer.best_against_marginal is None
