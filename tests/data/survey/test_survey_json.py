"""SURVEY.json: what is read, and how each fault is named."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.data.survey import read_truth
from assay.data.survey.survey_json import check_counts, survey_of
from assay.errors import InputError
from tests.data.survey.surveys import survey, write

Change = Callable[[Any], None]


def test_cells_are_those_of_the_file(tmp_path: Path) -> None:
    truth = read_truth(write(tmp_path, "survey.json", survey()))
    assert (len(truth), len(truth.questions), len(truth.segments)) == (9, 3, 3)
    assert truth.n.tolist() == [40] * 3 + [55] * 3 + [35] * 3
    cell = truth.place["q2", "age:old"]
    np.testing.assert_allclose(truth.shares[cell], np.array([20, 50, 30]) / 100)
    assert truth.options.tolist() == [2, 3, 3] * 3
    assert truth.mask.sum() == 24
    assert truth.categories == {"age": [0, 1], "segment": [2]}


def test_an_answers_own_n_comes_before_the_segments() -> None:
    data = survey()
    data["segments"][0]["responses"][1]["n"] = 17
    assert survey_of(data, "x").n.tolist()[:3] == [40, 17, 40]
    del data["segments"][0]["sampleSize"]
    for answer in data["segments"][0]["responses"]:
        answer["n"] = 12
    assert survey_of(data, "x").segments[0].n == 12


def _response(data: Any) -> Any:
    return data["segments"][1]["responses"][0]


FAULTS: dict[str, tuple[Change, list[str]]] = {
    "sum": (lambda d: _response(d).update(distribution=[70, 40]), ["'age:old'", "'q1'", "sum to 99 to 101", "110"]),
    "length": (
        lambda d: _response(d).update(distribution=[70, 20, 10]),
        ["'age:old'", "'q1'", "3 percentages", "2 options"],
    ),
    "negative": (lambda d: _response(d).update(distribution=[110, -10]), ["'q1'", "negative", "-10"]),
    "text": (lambda d: _response(d).update(distribution="70"), ["'q1'", "list of percentages"]),
    "nan": (lambda d: _response(d).update(distribution=[float("nan"), 1]), ["'q1'", "list of percentages"]),
    "unknown question": (lambda d: _response(d).update(questionId="q9"), ["'age:old'", "'q9'", "no such question"]),
    "question twice": (lambda d: d["segments"][1]["responses"].append(_response(d)), ["'age:old'", "'q1'", "twice"]),
    "segment twice": (lambda d: d["segments"][1].update(id="age:young"), ["'age:young'", "twice"]),
    "n = 0": (lambda d: _response(d).update(n=0), ["'age:old'", "0 respondents"]),
    "n = 2.5": (lambda d: _response(d).update(n=2.5), ["whole number", "2.5"]),
    "no n": (lambda d: d["segments"][1].pop("sampleSize"), ["'age:old'", "no number of respondents", "sampleSize"]),
    "no options": (lambda d: d["questions"]["q1"].pop("options"), ["'q1'", "'options'"]),
    "one option": (lambda d: d["questions"]["q1"].update(options=["yes"]), ["'q1'", "two texts or more"]),
    "no id": (lambda d: d["segments"][2].pop("id"), ["segments[2]", "'id'"]),
    "responses": (lambda d: d["segments"][2].update(responses={}), ["'town'", "must be a list"]),
    "no segments": (lambda d: d.update(segments=[]), ["no segment has an answer"]),
    "not a survey": (lambda d: d.pop("questions"), ["not a survey"]),
}


@pytest.mark.parametrize("name", FAULTS)
def test_each_fault_is_named_in_one_line(name: str, tmp_path: Path) -> None:
    change, parts = FAULTS[name]
    path = write(tmp_path, "survey.json", survey(), change)
    with pytest.raises(InputError) as refused:
        read_truth(path)
    message = str(refused.value)
    assert "\n" not in message
    assert message.startswith(str(path))
    assert [part for part in parts if part not in message] == [], message


@pytest.mark.parametrize(
    ("content", "part"), [(b"{", "not JSON: it ends too early"), (b'{"a": "\xff"}', "UTF-8"), (b"[1]", "not a survey")]
)
def test_files_that_are_no_json_are_named(content: bytes, part: str, tmp_path: Path) -> None:
    path = tmp_path / "survey.json"
    path.write_bytes(content)
    with pytest.raises(InputError, match=part):
        read_truth(path)


def test_small_segments_are_left_out_and_named() -> None:
    truth = survey_of(survey(), "x").at_least(40)
    assert [s.id for s in truth.segments] == ["age:young", "age:old"]
    assert set(truth.segment.tolist()) == {0, 1}
    few = "3 of 9 answers (question × segment) left out, of fewer than 40 respondents"
    assert truth.notes == (f"{few}; nothing is left of 1 of 3 segments: town",)
    with pytest.raises(InputError, match="every segment"):
        truth.at_least(100)


def test_the_least_number_is_that_of_the_answers_themselves() -> None:
    """A segment of 40 people of whom 12 answered q2: those 12 are what q2 is about."""
    data = survey()
    data["segments"][0]["responses"][1]["n"] = 12
    truth = survey_of(data, "x").at_least(30)
    assert len(truth) == 8
    assert ("q2", "age:young") not in truth.place
    assert len(truth.segments) == 3
    assert truth.notes == ("1 of 9 answers (question × segment) left out, of fewer than 30 respondents",)


def test_a_question_that_too_few_answered_anywhere_is_gone() -> None:
    data = survey()
    for segment in data["segments"]:
        segment["responses"][1]["n"] = 5
    truth = survey_of(data, "x").at_least(10)
    assert [question.id for question in truth.questions] == ["q1", "q3"]
    assert set(truth.question.tolist()) == {0, 1}


@pytest.mark.parametrize(
    ("answer", "part"),
    [
        ({"n": 40, "counts": [28, 2]}, "sum to 30, but n is 40"),
        ({"n": 40, "counts": [12, 28]}, "counts[0] is 12, but 70% of 40 respondents are 28.0"),
        ({"n": 40, "counts": [28, 6, 6]}, "list of 2 numbers"),
        ({"n": 40, "counts": [28.5, 11.5]}, "whole numbers of people"),
        ({"n": 40, "counts": [-1, 41]}, "whole numbers of people"),
        ({"n": 40, "counts": "28, 12"}, "list of 2 numbers"),
        ({"counts": [0, 0]}, "0 respondents"),
    ],
)
def test_counts_that_contradict_are_refused(answer: dict[str, Any], part: str) -> None:
    data = survey()
    data["segments"][0]["responses"][0].update(answer)
    with pytest.raises(InputError) as refused:
        survey_of(data, "x")
    assert part in str(refused.value)
    assert "segment 'age:young', question 'q1'" in str(refused.value)


@given(
    counts=st.lists(st.integers(0, 400), min_size=2, max_size=11).filter(sum),
    decimals=st.integers(0, 3),
    rounded=st.booleans(),
)
def test_counts_agree_with_percentages_that_were_rounded(counts: list[int], decimals: int, rounded: bool) -> None:
    """True counts beside rounded percentages, and counts that were made from those and need not sum to n."""
    n = sum(counts)
    shares = [round(100 * count / n, decimals) for count in counts]
    if not sum(shares) > 0:
        return
    made = [round(n * share / sum(shares)) for share in shares] if rounded else counts
    check_counts(made, shares, n, "x")


def test_counts_say_how_many_answered_where_n_is_missing() -> None:
    data = survey()
    data["segments"][0]["responses"][0]["counts"] = [21, 9]
    assert survey_of(data, "x").n[0] == 30


def test_the_question_that_makes_segments_is_found() -> None:
    data = survey()
    data["segments"][0]["responses"][0]["distribution"] = [100, 0]
    data["segments"][1]["responses"][0]["distribution"] = [0, 100]
    truth = survey_of(data, "x")
    assert np.flatnonzero(truth.defining).tolist() == [0, 3]
    data["segments"][1]["responses"][0]["distribution"] = [100, 0]
    assert not survey_of(data, "x").defining.any()
