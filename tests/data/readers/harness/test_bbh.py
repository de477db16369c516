"""BIG-Bench Hard: the oracle is the accuracy that stands beside the outputs."""

import json
from math import isnan
from pathlib import Path
from typing import Any

import pytest

from assay.analyses.compare import compare
from assay.data import Selection
from assay.errors import InputError
from tests.data.readers.harness.logs import FOLDER, assert_refused, by_name, copy, edit_json, one, read_json, scores

BBH = FOLDER / "bbh"
TASKS = ("animals", "sky")


def path_of(method: str, task: str, end: str = ".json") -> Path:
    return BBH / method / f"{task}_few_shot_template_0-255000{end}"


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("method", ["direct", "cot"])
def test_the_mean_is_the_accuracy_beside_the_outputs(method: str, task: str) -> None:
    table = by_name(BBH, task=task)[method]
    found = scores(table)
    assert 100 * sum(found.values()) / len(found) == read_json(path_of(method, task, "_eval_metrics.jsonl"))["accuracy"]
    assert list(found) == [str(i) for i in range(1, 9)]
    assert not any("warning" in note for note in table.notes)


def test_methods_are_paired_by_position_against_a_plain_script() -> None:
    wins = {"direct": 0, "cot": 0}
    for task in TASKS:
        direct, cot = (read_json(path_of(method, task))["outputs"] for method in ("direct", "cot"))
        for a, b in zip(direct, cot, strict=True):
            right = (a["prediction"] == a["target"], b["prediction"].endswith(f"So the answer is {b['target']}."))
            wins["direct"] += right == (True, False)
            wins["cot"] += right == (False, True)
    found = compare(BBH / "direct", BBH / "cot", selection=Selection(task="*"))
    assert found.difference.value == pytest.approx((wins["cot"] - wins["direct"]) / 16)


@pytest.mark.parametrize(
    ("said", "target", "right"),
    [
        ("So the answer is (B).", "(B)", 1),
        ("The answer is (A). No: the answer is (B).", "(B)", 1),
        ("(B)", "(B)", 1),
        ("So the answer is (B)", "(B)", 1),
        ("the answer is 3.5.", "3.5", 1),
        ("So the answer is (B). I am sure.", "(B)", 0),
        ("(b)", "(B)", 0),
        ("", "(B)", 0),
    ],
)
def test_what_follows_the_last_answer_is_counts(tmp_path: Path, said: str, target: str, right: int) -> None:
    path = tmp_path / "t_few_shot_template_0-1.json"
    path.write_text(json.dumps({"outputs": [{"input": "Q", "prediction": said, "target": target}]}), encoding="utf-8")
    assert scores(one(path)) == {"1": float(right)}


def test_no_prediction_is_a_lost_answer_and_another_accuracy_a_warning(tmp_path: Path) -> None:
    root = copy(BBH / "direct", tmp_path)
    path = root / path_of("direct", "sky").name
    edit_json(path, lambda found: found["outputs"][0].update(prediction=None))
    table = one(path)
    assert isnan(scores(table)["1"])
    assert any(note.startswith("warning: ") and "accuracy 50%, but 37.5%" in note for note in table.notes)


def test_another_target_at_the_same_position_is_refused(tmp_path: Path) -> None:
    root = copy(BBH, tmp_path)
    edit_json(root / "cot" / path_of("cot", "sky").name, lambda found: found["outputs"].pop(0))
    with pytest.raises(InputError, match="not the same in both, its contents differ"):
        compare(root / "direct", root / "cot", selection=Selection(task="*"))


@pytest.mark.parametrize(
    ("change", "parts"),
    [
        (lambda found: found["outputs"][3].pop("target"), ["outputs[3]", "no field 'target'"]),
        (lambda found: found["outputs"][3].update(prediction=7), ["outputs[3].prediction", "a text or null"]),
        (lambda found: found.update(outputs=[]), ["no outputs"]),
    ],
)
def test_a_bad_file_is_refused(tmp_path: Path, change: Any, parts: list[str]) -> None:
    assert_refused(edit_json(copy(path_of("cot", "sky"), tmp_path), change), *parts, format="bbh")
