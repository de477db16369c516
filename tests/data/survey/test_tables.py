"""Plain tables of a survey and of predictions, the published summary, and another round."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from assay.data.survey import read_predictions, read_truth
from assay.data.survey.predictions import OK, UNPARSEABLE, WRONG_LENGTH
from assay.data.survey.survey_json import read_summary, survey_of
from assay.data.survey.truth import matched, prior_shares
from assay.errors import InputError
from tests.data.survey.surveys import survey, write

TRUTH = "question,segment,n,o1,o2,o3\nq1,a:x,40,60,40,\nq2,a:x,40,20,30,50\nq1,a:y,50,10,90,\nq2,a:y,50,0.2,0.3,0.5\n"
PREDICTED = "model,question,segment,context,run,o1,o2,o3\nm,q1,a:x,0,2,55,45,\nm,q1,a:x,0,1,50,50,\nm,q2,a:y,3,1,1,2,\n"


def tables(tmp_path: Path, truth: str = TRUTH, predicted: str = PREDICTED) -> tuple[Path, Path]:
    paths = tmp_path / "truth.csv", tmp_path / "predicted.csv"
    for path, text in zip(paths, (truth, predicted), strict=True):
        path.write_text(text, encoding="utf-8")
    return paths


def test_tables_are_read_like_files_of_the_benchmark(tmp_path: Path) -> None:
    path, predicted = tables(tmp_path)
    truth = read_truth(path)
    assert [q.options for q in truth.questions] == [("o1", "o2"), ("o1", "o2", "o3")]
    assert [(s.id, s.category, s.n) for s in truth.segments] == [("a:x", "a", 40), ("a:y", "a", 50)]
    np.testing.assert_allclose(truth.shares[truth.place["q2", "a:y"]], [0.2, 0.3, 0.5])
    found = read_predictions([predicted], truth)
    assert found.run.tolist() == [0, 1, 0]
    np.testing.assert_allclose(found.shares[:2, 0], [0.5, 0.55])  # by the number of the run
    assert found.status.tolist() == [OK, OK, WRONG_LENGTH]
    length = "1 row has not as many percentages as the question has options"
    assert found.notes == (
        f"{length} (first: {predicted}, line 4); scored 0.1, as the benchmark does",
        "m has predictions for 2 of 4 questions × segments",
    )


def test_a_row_without_shares_is_unparseable(tmp_path: Path) -> None:
    path, predicted = tables(tmp_path, predicted="model,question,segment,o1,o2,o3\nm,q1,a:x,,,\n")
    assert read_predictions([predicted], read_truth(path)).status.tolist() == [UNPARSEABLE]


def test_predictions_that_do_not_sum_are_scaled_and_counted(tmp_path: Path) -> None:
    rows = "m,q1,a:x,30,30\nm,q1,a:y,0.5,0.5\nn,q1,a:x,60,80\nn,q1,a:y,33.3,66.6\n"
    path, predicted = tables(tmp_path, predicted="model,question,segment,o1,o2\n" + rows)
    found = read_predictions([predicted], read_truth(path))
    np.testing.assert_allclose(np.sort(found.shares[:, 0]), [1 / 3, 3 / 7, 0.5, 0.5], atol=1e-12)
    assert found.notes[0] == (
        f"2 rows have percentages that do not sum to 100 (first: {predicted}, line 2, 60); scaled to 100, as the "
        "benchmark does"
    )


FAULTS = {
    "no n": ("question,segment,o1,o2\nq,s,1,1\n", "no column 'n'"),
    "empty n": ("question,segment,n,o1,o2\nq,s,,1,1\n", "line 2, column 'n'"),
    "n = 0": ("question,segment,n,o1,o2\nq,s,0,50,50\n", "0 respondents"),
    "sum": ("question,segment,n,o1,o2\nq,s,9,50,60\n", "line 2: .*sum to 110"),
    "twice": ("question,segment,n,o1,o2\nq,s,9,50,50\nq,s,9,50,50\n", "line 3: .*already"),
    "length": ("question,segment,n,o1,o2,o3\nq,s,9,50,50,\nq,t,9,50,25,25\n", "line 3: 3 percentages for 2"),
    "hole": ("question,segment,n,o1,o2,o3\nq,s,9,50,,50\n", "column 'o2': empty"),
    "text": ("question,segment,n,o1,o2\nq,s,9,half,50\n", "'half' is not a number"),
    "options": ("question,segment,n,o1\nq,s,9,50\n", "two columns or more"),
    "columns": ("segment,n,o1,o2\ns,9,50,50\n", "no column question"),
    "rows": ("question,segment,n,o1,o2\n", "no rows"),
    "empty": ("question,segment,n,o1,o2\n,s,9,50,50\n", "line 2, column 'question'"),
}


@pytest.mark.parametrize("name", FAULTS)
def test_each_fault_of_a_table_is_named(name: str, tmp_path: Path) -> None:
    text, part = FAULTS[name]
    path, _ = tables(tmp_path, truth=text)
    with pytest.raises(InputError, match=part) as refused:
        read_truth(path)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    ("row", "part"),
    [
        ("m,q9,a:x,0,1,1,1,1", "no question 'q9' of segment 'a:x'"),
        ("m,q1,a:x,0,2,55,45,", "already"),
        ("m,q1,a:x,most,1,55,45,", "column 'context'"),
    ],
)
def test_each_fault_of_predictions_is_named(row: str, part: str, tmp_path: Path) -> None:
    path, predicted = tables(tmp_path, predicted=PREDICTED + row + "\n")
    with pytest.raises(InputError, match=part):
        read_predictions([predicted], read_truth(path))


def test_results_and_tables_are_not_mixed(tmp_path: Path) -> None:
    path, predicted = tables(tmp_path)
    with pytest.raises(InputError, match="not both"):
        read_predictions([predicted, tmp_path], read_truth(path))


def test_another_round_is_matched_by_text_and_options() -> None:
    now, before = survey(), survey()
    before["questions"] = {f"old-{q}": v for q, v in before["questions"].items()}
    before["questions"]["old-q3"]["options"] = ["a", "b", "d"]
    before["questions"]["old-q1"]["text"] = "  text OF q1? "
    before["segments"] = before["segments"][:2]
    for segment in before["segments"]:
        for answer in segment["responses"]:
            answer["questionId"] = "old-" + answer["questionId"]
    truth, prior = survey_of(now, "now"), survey_of(before, "before")
    assert matched(truth.questions, prior.questions) == {0: 0, 1: 1}
    found = prior_shares(truth, prior)
    there = ~np.isnan(found[:, 0])
    assert there.tolist() == [True, True, False, True, True, False, False, False, False]
    np.testing.assert_allclose(found[there], truth.shares[there])


def test_a_question_asked_twice_pairs_in_order() -> None:
    questions = survey_of(survey(), "x").questions
    twice = (questions[0], questions[0], questions[1])
    assert matched(twice, questions) == {0: 0, 1: 0, 2: 1}
    assert matched(questions[:1], twice) == {0: 0}
    assert matched(twice, twice) == {0: 0, 1: 1, 2: 2}


def test_the_summary_has_scores_by_model_and_segment(tmp_path: Path) -> None:
    results = [
        {
            "modelId": "x:a[temp:0.3]",
            "overallScore": 0.75,
            "segmentScores": [{"segmentId": "s", "avgCoverageExtent": 0.7}],
        }
    ]
    analysis = {"models": [{"modelId": "x:a", "overallSlope": 0.01}]}
    data: dict[str, Any] = {"surveyId": "u", "baselines": {"uniform": 0.6}, "aggregation": {"modelResults": results}}
    data["aggregation"]["contextAnalysis"] = analysis
    found = read_summary(write(tmp_path, "s.json", data))
    assert (found.overall, found.segments) == ({"x:a": 0.75}, {"x:a": {"s": 0.7}})
    assert (found.slopes, found.baselines, found.survey_id) == ({"x:a": 0.01}, {"uniform": 0.6}, "u")
    with pytest.raises(InputError, match="no 'aggregation'"):
        read_summary(write(tmp_path, "t.json", {}))
