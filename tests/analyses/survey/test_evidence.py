"""Predictions of a part of the survey: every number of a sentence or a table is over the same cells."""

import json
from dataclasses import replace

import numpy as np
import pytest

from assay.analyses.survey import load, on_shared_cells, report_of
from assay.analyses.survey.evidence import Survey, overall
from assay.analyses.survey.result import SurveyReport
from assay.analyses.survey.scores import Scores
from assay.data.survey.predictions import ERROR, OK, Answer, Predictions, predictions_of
from assay.design import Design
from assay.errors import InputError
from assay.stats.units import Floats
from tests.analyses.survey.surveys import K, made

QUICK = Design(resamples=1_000)


def _without(survey: Survey, model: str, keep: "np.ndarray[tuple[int], np.dtype[np.bool_]]") -> Survey:
    """Only some cells of a model."""
    rows = survey.predictions
    answers = [
        Answer(rows.models[m], c, int(rows.context[i]), rows.shares[i].tolist(), OK)
        for i, (m, c) in enumerate(zip(rows.model.tolist(), rows.cell.tolist(), strict=True))
        if rows.models[m] != model or keep[c]
    ]
    return Survey(survey.truth, predictions_of(answers, K))


def _mean(survey: Survey, values: Floats, cells: "np.ndarray[tuple[int], np.dtype[np.bool_]]") -> float:
    """By hand: the mean over segments of the mean over questions of some cells."""
    found = [
        values[cells & (survey.truth.segment == s)].mean()
        for s in range(len(survey.truth.segments))
        if (cells & (survey.truth.segment == s)).any()
    ]
    return float(np.mean(found))


def _partial() -> tuple[Survey, "np.ndarray[tuple[int], np.dtype[np.bool_]]"]:
    whole = made(3, models={"good": 0.2, "bad": 0.6}, questions=12)
    keep = np.asarray((whole.truth.question % 3 != 0) & (whole.truth.segment != 1))
    return _without(whole, "good", keep), keep


def test_headline_scores_baselines_and_range_are_over_the_same_cells_by_hand() -> None:
    survey, keep = _partial()
    report = report_of(survey, QUICK, ["scores", "baselines", "noise", "intervals", "pairs"])
    good, bad = (_mean(survey, survey.scores[:, survey.models.index(name)], keep) for name in ("good", "bad"))
    scores, sections = report.analyses["scores"], report.to_dict()["sections"]
    assert isinstance(scores, Scores)
    assert [(m.model, m.cells) for m in scores.models] == [("good", int(keep.sum())), ("bad", int(keep.sum()))]
    assert [m.score for m in scores.models] == pytest.approx([good, bad], abs=1e-12)
    left_out = _mean(survey, survey.baseline_scores["marginal, left out"], keep)
    assert report.sentence.startswith(
        f"The best of 2 models, good, scores {good:.3f}; the population marginal, {left_out:.3f}; a perfect"
    )
    assert report.sentence.endswith(f"These are over {keep.sum()} of 60 questions × segments.")
    assert sections["noise"]["overall"]["cells"] == keep.sum()
    for reach, score in zip(sections["noise"]["models"], (good, bad), strict=True):
        assert (reach["score"], reach["marginal"]) == (pytest.approx(score), pytest.approx(left_out))
    for one in sections["baselines"]["against"]:
        baseline = _mean(survey, survey.baseline_scores[one["baseline"]], keep)
        own = good if one["model"] == "good" else bad
        assert one["difference"]["value"] == pytest.approx(own - baseline, abs=1e-12)
        assert one["difference"]["n"] == keep.sum()
    assert [m["estimate"]["value"] for m in sections["pairs"]["leaderboard"]["models"]] == pytest.approx([good, bad])
    assert [m["score"] for m in sections["intervals"]["models"]] == pytest.approx([good, bad])
    assert SurveyReport.from_dict(json.loads(json.dumps(report.to_dict(), allow_nan=False))) == report


def test_what_a_model_has_beside_the_shared_cells_is_kept_apart() -> None:
    survey, keep = _partial()
    report = report_of(survey, QUICK, ["scores"])
    scores = report.analyses["scores"]
    assert isinstance(scores, Scores)
    own = {one.model: (one.score, one.cells) for one in scores.own}
    assert own["bad"][0] == pytest.approx(float(overall(survey.of_models)[survey.models.index("bad")]))
    assert own["bad"][1] == 60
    assert own["good"][1] == keep.sum()
    assert [table.title for table in scores.tables] == ["scores", "own cells"]
    note = f"every number is over the {keep.sum()} of 60 questions × segments that every model answered"
    assert f"{note}; good answered the fewest, {keep.sum()}" in report.notes


def test_whole_predictions_stay_as_they_are() -> None:
    survey = made()
    assert on_shared_cells(survey) is survey


def test_the_population_is_the_same_whatever_was_predicted() -> None:
    survey, keep = _partial()
    shared = on_shared_cells(survey)
    assert len(shared.truth) == keep.sum()
    assert len(shared.truth.segments) == 4
    np.testing.assert_allclose(shared.ceiling, survey.ceiling[keep], atol=1e-12)
    assert set(shared.baselines) == {"uniform", "marginal", "marginal, left out", "marginal, pooled"}
    for name in shared.baselines:
        np.testing.assert_allclose(shared.baselines[name], survey.baselines[name][keep], atol=1e-12)


def test_predictions_of_answers_of_too_few_are_left_out_one_by_one() -> None:
    """Of segment b only question 2 was answered by too few; b:young itself is large."""
    answers = {"question": ["q1", "q1", "q2", "q2"], "segment": ["b:old", "b:young"] * 2, "n": [80, 60, 80, 6]}
    answers |= {"yes": [60, 30, 45, 80], "no": [40, 70, 55, 20]}
    guess = {name: answers[name] for name in ("question", "segment", "yes", "no")}
    found = load(answers, [{"model": ["m"] * 4, **guess}])
    assert (len(found.truth), len(found.predictions), len(found.people)) == (3, 3, 4)
    assert found.predictions.cell.tolist() == [0, 1, 2]
    np.testing.assert_allclose(found.scores, 1.0)
    assert "1 row is about answers of too few respondents, which are left out" in found.notes
    assert "1 of 4 answers (question × segment) left out, of fewer than 10 respondents" in found.notes
    old = found.truth.place["q2", "b:old"]
    np.testing.assert_allclose(found.baselines["marginal, left out"][old], [0.8, 0.2])  # the six are people, too


def test_models_that_share_nothing_are_refused() -> None:
    whole = made(3, models={"a": 0.2, "b": 0.6}, questions=8)
    half = whole.truth.question < 4
    apart = _without(_without(whole, "a", half), "b", ~half)
    with pytest.raises(InputError, match="no question × segment has an answer of every model"):
        report_of(apart, QUICK, ["scores"])


def test_a_model_without_any_answer_does_not_count() -> None:
    survey = made(2, models={"good": 0.2}, questions=6)
    rows: Predictions = survey.predictions
    answers = [Answer("good", c, 0, s.tolist(), OK) for c, s in zip(rows.cell.tolist(), rows.shares, strict=True)]
    other = Survey(survey.truth, predictions_of([*answers, Answer("gone", 0, 0, None, ERROR)], K))
    report = report_of(other, QUICK, ["scores"])
    assert report.n_cells == 30
    assert report.sentence.startswith("good scores ")


def test_the_panel_has_a_system_for_each_model_and_then_for_each_baseline() -> None:
    survey = made(models={"good": 0.2, "bad": 0.6}, questions=8)
    panel = survey.panel
    assert panel.systems == (*survey.models, *survey.baseline_scores)
    assert (panel.n, panel.cluster, panel.ids[0]) == (40, "question", "q0 × age:s0")
    assert survey.of_models.systems == survey.models
    for name, scores in survey.baseline_scores.items():
        assert sorted(survey.of_baseline(name).values[:, 0].tolist()) == sorted(scores.tolist())
    lone = Survey(survey.truth, replace(survey.predictions, models=(*survey.models, "silent")))
    assert lone.of_models.answered.all(axis=0).tolist() == [True, True, False]
    assert panel.label("segment").names == tuple(segment.id for segment in survey.truth.segments)
