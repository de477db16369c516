"""OpenAI evals: the oracle is the accuracy of the report, and a plain script over the events."""

import json
from math import isnan
from pathlib import Path
from typing import Any

import pytest

from tests.data.readers.harness.logs import FOLDER, assert_refused, by_name, copy, edit_lines, one, scores

EVALS = FOLDER / "openai_evals"


def lines_of(model: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (EVALS / f"{model}.jsonl").read_text("utf-8").splitlines()]


@pytest.mark.parametrize("model", ["small", "large"])
def test_matches_are_the_scores_and_their_mean_is_the_report_s(model: str) -> None:
    table = by_name(EVALS)[model]
    lines = lines_of(model)
    want = {line["sample_id"]: float(line["data"]["correct"]) for line in lines if line.get("type") == "match"}
    found = {item: score for item, score in scores(table).items() if not isnan(score)}
    assert found == want
    assert sum(found.values()) / len(found) == lines[-1]["final_report"]["accuracy"]
    assert table.about["measure"]["task"] == lines[0]["spec"]["eval_name"]
    assert not any("warning" in note for note in table.notes)


def test_an_error_without_a_score_is_a_lost_answer() -> None:
    table = by_name(EVALS)["small"]
    assert [item for item, score in scores(table).items() if isnan(score)] == ["tiny-match.dev.5"]
    assert table.lost is not None
    assert table.lost.sum() == 1


def test_several_matches_of_a_sample_are_runs_in_the_order_of_their_numbers(tmp_path: Path) -> None:
    path = copy(EVALS / "small.jsonl", tmp_path)
    again = {
        "run_id": "r",
        "event_id": -1,
        "sample_id": "tiny-match.dev.0",
        "type": "match",
        "data": {"correct": False},
    }
    path.write_text(path.read_text("utf-8") + json.dumps(again) + "\n", encoding="utf-8")
    table = one(path)
    first = [
        (run, score)
        for item, run, score in zip(table.ids, table.labels["run"].texts, table.numbers["score"], strict=True)
        if item.endswith(".0")
    ]
    assert first == [("1", 0.0), ("2", 1.0)]
    assert any(note.startswith("warning: ") and "in its report" in note for note in table.notes)


def test_numbers_of_metrics_events_are_metrics(tmp_path: Path) -> None:
    path = copy(EVALS / "large.jsonl", tmp_path)

    def change(_: int, line: Any) -> Any:
        if line.get("type") != "match":
            return line
        return line | {"type": "metrics", "data": {"f1": 0.5, "choice": "A", "right": line["data"]["correct"]}}

    edit_lines(path, change)
    assert_refused(path, "2 metrics (f1, right)")
    assert set(scores(one(path, metric="f1")).values()) == {0.5}


def test_without_its_specification_the_file_names_the_model(tmp_path: Path) -> None:
    path = copy(EVALS / "large.jsonl", tmp_path)
    edit_lines(path, lambda i, line: line if i else None)
    assert one(path).name == "large"
    assert scores(one(path)) == scores(by_name(EVALS)["large"])


def test_events_without_scores_are_refused_with_what_there_is(tmp_path: Path) -> None:
    path = copy(EVALS / "large.jsonl", tmp_path)
    edit_lines(path, lambda _, line: line if line.get("type") != "match" else None)
    assert_refused(path, "no events of the type match or metrics, only of sampling")
    edit_lines(path, lambda _, line: line if "type" not in line else None)
    assert_refused(path, "none at all")


def test_a_bad_line_is_refused(tmp_path: Path) -> None:
    path = copy(EVALS / "large.jsonl", tmp_path)
    edit_lines(path, lambda i, line: line if i != 3 else line | {"sample_id": 7})
    assert_refused(path, "line 4, sample_id", "must be a text or null, but got a whole number")
    path.write_bytes(path.read_bytes()[:-20])
    assert_refused(path, "line 4")
