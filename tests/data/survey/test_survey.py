"""Result files with every trap of the format."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from assay.data.survey import read_predictions
from assay.data.survey.predictions import ERROR, OK, SCORE_ONLY, UNPARSEABLE, WRONG_LENGTH
from assay.data.survey.survey_json import survey_of
from assay.data.survey.truth import Truth
from assay.errors import InputError
from tests.data.survey.surveys import batched, result, survey, write

A, B = "x:a[temp:0.3]", "x:b[sp_idx:0][temp:0.3]"


@pytest.fixture
def truth() -> Truth:
    return survey_of(survey(), "survey.json")


def test_answers_errors_and_failures_are_told_apart(tmp_path: Path, truth: Truth) -> None:
    answers: dict[str, dict[str, str | None]] = {
        "q1": {A: "[60, 40]", B: "no idea"},
        "q2": {A: "[1, 2]", B: "<error>timeout</error>"},
        "q3": {A: "0, 0, 0", B: "DISTRIBUTION: [20, 30, 50]"},
    }
    found = read_predictions([write(tmp_path, "r.json", result("town", answers, context=5))], truth)
    assert found.models == ("x:a", "x:b")
    cells = [truth.place[q, "town"] for q in ("q1", "q2", "q3")]
    assert found.cell.tolist() == [c for c in cells for _ in range(2)]
    assert found.status.tolist() == [OK, UNPARSEABLE, WRONG_LENGTH, ERROR, OK, OK]
    assert set(found.context.tolist()) == {5}
    np.testing.assert_allclose(found.shares[0], [0.6, 0.4, 0.0])
    np.testing.assert_allclose(found.shares[4], [1 / 3] * 3)
    assert found.reported.tolist() == [0.512345] * 6  # of the point, not the rounded average


def test_batched_prompts_take_their_questions_from_the_ground_truth(tmp_path: Path, truth: Truth) -> None:
    texts = {A: '{"Q1": [80, 20], "Q2": [1, 1, 2]}', B: "[10, 90]"}
    found = read_predictions([write(tmp_path, "r.json", batched("town", texts))], truth)
    cells = {q: truth.place[q, "town"] for q in ("q1", "q2", "q3")}
    shares = {(int(c), int(m)): row for c, m, row in zip(found.cell, found.model, found.shares, strict=True)}
    np.testing.assert_allclose(shares[cells["q1"], 0], [0.8, 0.2, 0])
    np.testing.assert_allclose(shares[cells["q2"], 0], [0.25, 0.25, 0.5])
    np.testing.assert_allclose(shares[cells["q3"], 1], [0.6, 0.2, 0.2])
    np.testing.assert_allclose(shares[cells["q1"], 1], [0.1, 0.9, 0])  # one array instead of keys
    assert found.status[(found.cell == cells["q2"]) & (found.model == 1)].tolist() == [WRONG_LENGTH]


def test_the_light_form_has_scores_and_the_full_form_of_the_same_run_comes_first(tmp_path: Path, truth: Truth) -> None:
    full = result("town", {"q1": {A: "[60, 40]"}})
    light = result("town", {"q1": {A: None}})
    write(tmp_path, "a/core.json", light)
    found = read_predictions([tmp_path], truth)
    assert (found.status.tolist(), found.reported.tolist()) == ([SCORE_ONLY], [0.512345])
    write(tmp_path, "b/full.json", full)
    found = read_predictions([tmp_path], truth)
    assert found.status.tolist() == [OK]
    assert any("another file has too" in note for note in found.notes)


def test_runs_contexts_and_other_files_in_a_folder(tmp_path: Path, truth: Truth) -> None:
    for i, (context, time) in enumerate([(0, "t2"), (0, "t1"), (5, "t3")]):
        answers: dict[str, dict[str, str | None]] = {"q1": {A: f"[{i}, 50]"}}
        if i == 0:
            answers["q1"][B] = "[1, 1]"
        write(tmp_path, f"{i}.json", result("town", answers, context, time))
    write(tmp_path, "summary.json", {"aggregation": {}})
    seen: list[tuple[int, int]] = []
    found = read_predictions([tmp_path], truth, progress=lambda done, total: seen.append((done, total)))
    own = found.model == 0
    assert found.run[own].tolist() == [0, 1, 0]
    assert found.context[own].tolist() == [0, 0, 5]
    np.testing.assert_allclose(found.shares[own][:2, 0], [1 / 51, 0.0])  # by time
    assert seen[-1] == (4, 4)
    assert "x:b is in 1 of 3 result files" in found.notes
    assert "1 JSON files that are no results were left out (summary.json)" in found.notes


def test_context_levels_from_where_they_are(tmp_path: Path, truth: Truth) -> None:
    def without(data: Any, name: str, **more: Any) -> Any:
        about = data["config"]["context"]["dtef"]
        del about["contextQuestionCount"]
        about.update(more)
        data["configId"] = name
        return data

    expected = {"x-c7": 7, "x": 0, "x-ctx": -1}
    for i, name in enumerate(expected):
        write(tmp_path, f"{i}.json", without(result("town", {"q1": {A: "[1, 1]"}}), name))
    write(tmp_path, "9.json", without(result("town", {"q1": {A: "[1, 1]"}}), "y-ctx", contextQuestionIds=["u", "v"]))
    assert sorted(read_predictions([tmp_path], truth).context.tolist()) == [-1, 0, 2, 7]


def test_variants_of_a_model_are_apart_or_runs(tmp_path: Path, truth: Truth) -> None:
    answers: dict[str, dict[str, str | None]] = {"q1": {"x:a[temp:0.3]": "[1, 1]", "x:a[temp:0.7]": "[1, 3]"}}
    path = write(tmp_path, "r.json", result("town", answers))
    assert read_predictions([path], truth).models == ("x:a[temp:0.3]", "x:a[temp:0.7]")
    merged = read_predictions([path], truth, variants="merged")
    assert (merged.models, merged.run.tolist()) == (("x:a",), [0, 1])


def test_experiments_and_left_out_segments_are_counted(tmp_path: Path, truth: Truth) -> None:
    for i, segment in enumerate(["town", "age:old", "age:young"]):
        data = result(segment, {"q1": {A: "[1, 1]"}})
        if i == 1:
            data["config"]["tags"].append("experiment:e")
        write(tmp_path, f"{i}.json", data)
    left_out = truth.segment == truth.segment_codes["age:young"]
    found = read_predictions([tmp_path], truth, left_out=left_out)
    assert len(found) == 1
    assert any("1 file is in whole or in part about answers of too few respondents" in note for note in found.notes)
    assert "1 files are experiments, which the benchmark leaves out" in found.notes


def _about(data: Any) -> Any:
    return data["config"]["context"]["dtef"]


def _another_truth(data: Any) -> None:
    data["config"]["prompts"][0]["points"][0]["fnArgs"]["expected"] = [10, 90]


FAULTS: dict[str, tuple[Callable[[Any], None], str]] = {
    "survey": (lambda d: _about(d).update(surveyId="other"), "the survey 'other'"),
    "segment": (lambda d: _about(d).update(segmentId="moon"), "no segment 'moon'"),
    "question": (lambda d: d["allFinalAssistantResponses"].update({"q9-town": {A: "[1]"}}), "'q9'.*no such question"),
    "truth": (_another_truth, "not the survey's"),
    "no segment": (lambda d: _about(d).pop("segmentId"), "'segmentId'"),
    "not a result": (lambda d: d.pop("evaluationResults"), "not a result"),
}


@pytest.mark.parametrize("name", FAULTS)
def test_each_fault_is_named_with_its_file(name: str, tmp_path: Path, truth: Truth) -> None:
    change, part = FAULTS[name]
    path = write(tmp_path, "r.json", result("town", {"q1": {A: "[1, 1]"}}), change)
    with pytest.raises(InputError, match=part) as refused:
        read_predictions([path], truth)
    assert str(refused.value).startswith(str(path))
    assert "\n" not in str(refused.value)


def test_batches_that_do_not_say_what_they_ask_are_refused(tmp_path: Path, truth: Truth) -> None:
    data = batched("town", {A: "[1, 1]"})
    data["config"]["prompts"] = []
    with pytest.raises(InputError, match="which questions it asks"):
        read_predictions([write(tmp_path, "r.json", data)], truth)


def test_what_is_not_there_is_refused(tmp_path: Path, truth: Truth) -> None:
    with pytest.raises(InputError, match="no such file"):
        read_predictions([tmp_path / "none.json"], truth)
    with pytest.raises(InputError, match="no result files"):
        read_predictions([tmp_path], truth)


def test_percentages_that_do_not_sum_are_scaled_counted_and_named(tmp_path: Path, truth: Truth) -> None:
    """99 to 101 is rounding, and so are shares of 1; the light form of a run is not counted beside the full one."""
    answers: dict[str, dict[str, str | None]] = {
        "q1": {A: "[60, 50]", B: "[0.6, 0.4]"},
        "q2": {A: "[33.3, 33.3, 33.3]", B: "[20, 20, 20]"},
        "q3": {A: "nothing", B: "[20, 30, 50]"},
    }
    write(tmp_path, "a.json", result("town", answers))
    write(tmp_path, "b.json", result("town", {q: dict.fromkeys(by) for q, by in answers.items()}))
    found = read_predictions([tmp_path], truth)
    place = f"{tmp_path / 'a.json'}, question 'q1', {A}, 110"
    said = (
        f"2 predictions have percentages that do not sum to 100 (first: {place}); scaled to 100, as the benchmark does"
    )
    assert said in found.notes
    place = f"{tmp_path / 'a.json'}, question 'q3', {A}"
    assert f"1 prediction has no percentages that can be read (first: {place}); scored 0, as the benchmark does" in (
        found.notes
    )
    row = np.flatnonzero((found.cell == truth.place["q2", "town"]) & (found.model == 1))
    np.testing.assert_allclose(found.shares[row[0]], [1 / 3] * 3)
    one = read_predictions([write(tmp_path, "c/c.json", result("town", {"q1": {A: "[60, 30]"}}))], truth)
    assert one.notes[0].startswith("1 prediction has percentages that do not sum to 100 (first: ")
    even = read_predictions([write(tmp_path, "d/d.json", result("town", {"q1": {A: "[60, 40]"}}))], truth)
    assert not any("sum to" in note for note in even.notes)
    short = read_predictions([write(tmp_path, "e/e.json", result("town", {"q3": {A: "[60, 40]"}}))], truth)
    assert "has not as many percentages as the question has options (first: " in short.notes[0]
    assert short.notes[0].endswith("e.json, question 'q3', x:a[temp:0.3]); scored 0.1, as the benchmark does")
