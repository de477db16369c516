"""BFCL: the oracle is the first line of each score file, and a plain script that counts the others."""

import json
import shutil
from math import isnan
from pathlib import Path

import pytest

from tests.data.readers.harness.logs import FOLDER, assert_refused, by_name, copy, edit_lines, one, scores

BFCL = FOLDER / "bfcl"
CATEGORIES = ("simple", "irrelevance")


def lines_of(model: str, category: str, kind: str) -> list[dict[str, object]]:
    path = BFCL / kind / model / f"BFCL_v3_{category}_{kind}.json"
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def by_hand(model: str, category: str) -> dict[str, float]:
    """Item → 0 where the score file lists it, else 1; lost answers are left out."""
    _, *failed = lines_of(model, category, "score")
    wrong = {line["prompt"]["id"] for line in failed}  # type: ignore[index]
    ran = lines_of(model, category, "result")
    return {
        str(line["id"]): float(line["id"] not in wrong)
        for line in ran
        if not str(line["result"]).startswith("Error during inference")
    }


@pytest.mark.parametrize("category", CATEGORIES)
@pytest.mark.parametrize("model", ["base", "tuned"])
def test_scores_against_a_plain_script(model: str, category: str) -> None:
    found = scores(by_name(BFCL, task=category)[model])
    assert {item: score for item, score in found.items() if not isnan(score)} == by_hand(model, category)
    assert list(found) == [line["id"] for line in lines_of(model, category, "result")]


@pytest.mark.parametrize("category", CATEGORIES)
def test_the_mean_is_the_accuracy_of_the_first_line(category: str) -> None:
    found = scores(by_name(BFCL, task=category)["base"])
    assert sum(found.values()) / len(found) == lines_of("base", category, "score")[0]["accuracy"]


def test_an_error_of_inference_is_lost_even_where_it_counts_as_right() -> None:
    """No call is what irrelevance asks for, so that BFCL takes a lost connection for a right answer."""
    table = by_name(BFCL, task="irrelevance")["tuned"]
    assert isnan(scores(table)["irrelevance_3"])
    assert scores(by_name(BFCL, task="irrelevance", errors="wrong")["tuned"])["irrelevance_3"] == 0


@pytest.mark.parametrize("category", CATEGORIES)
@pytest.mark.parametrize("model", ["base", "tuned"])
def test_a_score_file_alone_has_the_same_items_and_scores(model: str, category: str, tmp_path: Path) -> None:
    """Those whose lost answers count as right are not known without the result file."""
    alone = one(copy(BFCL / "score" / model / f"BFCL_v3_{category}_score.json", tmp_path))
    assert alone.name == model
    want = scores(by_name(BFCL, task=category)[model]) | ({"irrelevance_3": 1.0} if model == "tuned" else {})
    found = scores(alone)
    assert {item: score for item, score in found.items() if not isnan(score)} == {
        item: score for item, score in want.items() if not isnan(score) and item in found
    }


def test_the_result_file_is_found_where_the_program_puts_it() -> None:
    path = BFCL / "score" / "base" / "BFCL_v3_simple_score.json"
    assert [file.name for file in one(path).about["files"]] == [
        "BFCL_v3_simple_score.json",
        "BFCL_v3_simple_result.json",
    ]


def test_live_items_without_a_result_file_go_by_their_number(tmp_path: Path) -> None:
    path = tmp_path / "BFCL_v3_live_simple_score.json"
    first = {"accuracy": 0.5, "correct_count": 1, "total_count": 2}
    failed = {"id": 2, "model_name": "m", "prompt": {"id": "live_simple_1-1-0"}}
    path.write_text(json.dumps(first) + "\n" + json.dumps(failed), encoding="utf-8")
    assert scores(one(path)) == {"1": 1.0, "2": 0.0}
    path.write_text(json.dumps(first) + "\n" + json.dumps(failed | {"id": "live_simple_1-1-0"}), encoding="utf-8")
    assert_refused(path, "line 2", "does not tell its number", "both result and score")


def test_costs_are_summed_over_turns_and_steps(tmp_path: Path) -> None:
    root = copy(BFCL, tmp_path)
    [path] = (root / "result" / "tuned").glob("*simple*")
    edit_lines(path, lambda i, line: line | {"latency": [[1, 2.5], [0.5]]} if i == 0 else line)
    from assay.data.readers.harness.bfcl import logs_of

    [log] = logs_of([root / "score" / "tuned" / "BFCL_v3_simple_score.json", path])
    costs = log.answers.costs  # type: ignore[attr-defined]
    assert costs["seconds"][:2] == [4.0, 0.6]
    assert costs["tokens_in"] == [200 + i for i in range(10)]


def test_results_alone_are_refused_with_the_folder_to_name() -> None:
    assert_refused(BFCL / "result", "results without a score", "name the folder that holds both")


@pytest.mark.parametrize(
    ("kind", "change", "parts"),
    [
        ("score", lambda i, line: line if i else line | {"correct_count": 7}, ["line 1", "leaves 3", "4 are listed"]),
        ("score", lambda i, line: line if i != 2 else None, ["leaves 4", "3 are listed"]),
        (
            "score",
            lambda i, line: line if i else line | {"total_count": "10"},
            ["line 1", "total_count", "whole number"],
        ),
        ("score", lambda i, line: line if i != 1 else {"model_name": "base"}, ["line 2", "no field 'id'"]),
        ("score", lambda i, line: line if i != 1 else line | {"prompt": {"id": "x"}}, ["line 2", "'x'", "is not in"]),
        ("result", lambda i, line: line if i else None, ["counts 10 items", "holds 9"]),
        ("result", lambda i, line: line if i != 3 else line | {"id": "simple_0"}, ["line 4", "already", "line 1"]),
        ("result", lambda i, line: line if i != 3 else {"id": "simple_3"}, ["line 4", "no field 'result'"]),
    ],
)
def test_files_that_do_not_fit_together_are_refused(tmp_path: Path, kind: str, change, parts: list[str]) -> None:  # type: ignore[no-untyped-def]
    root = copy(BFCL, tmp_path)
    shutil.rmtree(root / "score" / "tuned")
    edit_lines(root / kind / "base" / f"BFCL_v3_simple_{kind}.json", change)
    assert_refused(root, *parts, task="simple")


def test_a_file_that_is_cut_is_refused(tmp_path: Path) -> None:
    path = copy(BFCL / "score" / "base" / "BFCL_v3_simple_score.json", tmp_path)
    path.write_bytes(path.read_bytes()[:-40])
    assert_refused(path, "ends too early")


def test_a_count_that_cannot_be_one_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "BFCL_v3_simple_score.json"
    path.write_text('{"accuracy": 1, "correct_count": 999999999999, "total_count": 999999999999}', encoding="utf-8")
    assert_refused(path, "999,999,999,999 items are too many to count")
