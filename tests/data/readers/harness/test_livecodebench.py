"""LiveCodeBench: the oracle is the table of grades that the files were made of, and their own pass@1."""

from pathlib import Path
from typing import Any

import pytest

import assay
from tests.data.readers.harness.logs import FOLDER, assert_refused, copy, edit_json, one, read_json
from tools.make_harness_fixtures.code_benchmark_files import LIVE

LIVECODEBENCH = FOLDER / "livecodebench"
EVAL = "Scenario.codegeneration_2_0.2_eval.json"
EVAL_ALL = "Scenario.codegeneration_2_0.2_eval_all.json"


@pytest.mark.parametrize("model", LIVE)
def test_pass_at_1_is_that_of_the_file(model: str) -> None:
    found = assay.summarize(LIVECODEBENCH / model, at=[1, 2])
    rates = [question["pass@1"] for question in read_json(LIVECODEBENCH / model / EVAL_ALL)]
    assert found.models[0].name == model
    assert found.models[0].value.value == pytest.approx(sum(rates) / len(rates))
    by_hand = {
        1: sum(grades.count("p") / 2 for grades in LIVE[model]) / 10,
        2: sum("p" in grades for grades in LIVE[model]) / 10,
    }
    assert {rate.k: rate.one.value for rate in found.passes} == pytest.approx(by_hand)


def test_questions_have_ids_and_labels() -> None:
    table = one(LIVECODEBENCH / "base", cluster="difficulty")
    assert table.about["measure"]["task"] == "codegeneration"
    assert set(table.ids) >= {"2800", "abc301_a"}
    assert table.labels["difficulty"].names == ("easy", "hard")


def by_place(folder: Path, model: str = "base") -> Path:
    return copy(LIVECODEBENCH / model / EVAL, folder)


@pytest.mark.parametrize("model", LIVE)
def test_by_place_negative_codes_are_failures(model: str, tmp_path: Path) -> None:
    """The same attempts as in the other file: what is truthy in Python, such as -2, has not passed."""
    table = one(by_place(tmp_path, model))
    want = [float(grade == "p") for grades in LIVE[model] for grade in grades]
    assert table.numbers["score"].tolist() == want
    assert table.ids.tolist()[:4] == ["0", "0", "1", "1"]
    assert any("paired by their place" in note for note in table.notes)


def test_the_file_with_ids_is_taken_where_both_are_there() -> None:
    for path in (LIVECODEBENCH / "base", LIVECODEBENCH / "base" / EVAL):
        assert "abc301_a" in one(path).ids


def cut(found: Any) -> None:
    """Lists of tests that end before the one that failed, of a run with one attempt."""
    found[0]["detail"]["pass@1"] = {"0": 1.0, "1": 0.0}
    found[1] = {"0": [[True]], "1": [[True]]}


def test_where_lists_of_tests_are_cut_the_verdict_of_the_harness_counts(tmp_path: Path) -> None:
    table = one(edit_json(by_place(tmp_path), cut))
    assert table.numbers["score"].tolist() == [1.0, 0.0]
    assert any("of 1 questions the tests that are listed do not give the pass@1" in note for note in table.notes)


def test_several_attempts_that_do_not_give_their_rate_are_refused(tmp_path: Path) -> None:
    path = edit_json(by_place(tmp_path), lambda found: found[1].update({"3": [[True], [True]]}))
    assert_refused(path, "question 3", "2 attempts do not give its pass@1 of 0", "_eval_all.json")


def test_later_releases_are_compared_on_what_is_common(tmp_path: Path) -> None:
    path = edit_json(copy(LIVECODEBENCH / "base" / EVAL_ALL, tmp_path), lambda found: found.__delitem__(slice(0, 3)))
    found = assay.compare(path, LIVECODEBENCH / "tuned")
    assert (found.n_pairs, found.dropped.only_b) == (7, 3)


def test_several_tests_of_a_question_are_items(tmp_path: Path) -> None:
    """As in the scenario testoutputprediction."""

    def change(found: Any) -> None:
        found[1]["question_id"] = found[0]["question_id"]
        for number, question in enumerate(found):
            question["test_id"] = number

    path = edit_json(copy(LIVECODEBENCH / "base" / EVAL_ALL, tmp_path), change)
    assert set(one(path).ids) >= {"2800/0", "2800/1"}


@pytest.mark.parametrize(
    ("change", "parts"),
    [
        (lambda found: found[4].pop("graded_list"), ["question 5", "'graded_list'"]),
        (lambda found: found[4].update(graded_list=[True, 2]), ["question 5, attempt 2", "true or false"]),
        (lambda found: found[4].update(question_id=None), ["question 5", "'question_id'"]),
        (lambda found: found[4].update(question_id=found[0]["question_id"]), ["'2800'", "is there already"]),
    ],
)
def test_a_bad_question_is_named(tmp_path: Path, change: Any, parts: list[str]) -> None:
    path = edit_json(copy(LIVECODEBENCH / "base" / EVAL_ALL, tmp_path), change)
    assert_refused(path, str(path), *parts)


@pytest.mark.parametrize(
    ("change", "parts"),
    [
        (lambda found: found.pop(), ["must be [metrics, results, metadata]"]),
        (lambda found: found[1].update({"3": [True]}), ["question 3", "a list of tests per attempt"]),
        (lambda found: found[1].update({"3": [["ok"]]}), ["question 3", "true, false or a code", "'ok'"]),
        (lambda found: found.__setitem__(1, []), ["results must be an object by place"]),
    ],
)
def test_a_bad_place_is_named(tmp_path: Path, change: Any, parts: list[str]) -> None:
    path = by_place(tmp_path)
    assert one(path).numbers["score"].size == 20
    assert_refused(edit_json(path, change), str(path), *parts, format="livecodebench")


@pytest.mark.parametrize("name", [EVAL, EVAL_ALL])
def test_a_file_that_is_cut_is_refused(tmp_path: Path, name: str) -> None:
    path = copy(LIVECODEBENCH / "base" / name, tmp_path)
    path.write_bytes(path.read_bytes()[:-10])
    assert_refused(path, "ends too early")
