"""OpenCompass: the oracle is the accuracy in the results, in percent, and a plain script over predictions."""

import json
import shutil
from math import isnan
from pathlib import Path
from typing import Any

import pytest

from tests.data.readers.harness.logs import FOLDER, assert_refused, by_name, copy, edit_json, one, read_json, scores

ROOT = FOLDER / "opencompass" / "20260101_120000"
MODELS = ("base", "tuned")


@pytest.mark.parametrize("model", MODELS)
def test_the_mean_of_the_verdicts_is_the_accuracy(model: str) -> None:
    found = scores(by_name(ROOT, task="animals_gen")[model])
    told = read_json(ROOT / "results" / model / "animals_gen.json")
    assert 100 * sum(found.values()) / len(found) == told["accuracy"]
    assert list(found) == [key for key in told["details"] if key != "type"]


@pytest.mark.parametrize("model", MODELS)
def test_equality_counts_when_asked_for_and_parts_are_put_together(model: str) -> None:
    """A perplexity run predicts letters, so that here equality is the rule."""
    found = scores(by_name(ROOT, task="sky_ppl", metric="equality")[model])
    parts = [read_json(ROOT / "predictions" / model / f"sky_ppl_{i}.json") for i in (0, 1)]
    want = [float(entry["prediction"] == entry["gold"]) for part in parts for entry in part.values()]
    assert found == {str(i): score for i, score in enumerate(want)}
    assert 100 * sum(want) / len(want) == read_json(ROOT / "results" / model / "sky_ppl.json")["accuracy"]


def test_predictions_are_refused_with_what_to_type() -> None:
    assert_refused(ROOT, "predictions without a verdict", "`Selection(metric='equality')`", task="sky_ppl")
    assert_refused(ROOT / "predictions", "dump_eval_details", task="animals_gen")


def test_predictions_that_equal_no_reference_are_warned_of() -> None:
    table = by_name(ROOT / "predictions", task="animals_gen", metric="equality")["base"]
    assert set(scores(table).values()) == {0.0}
    assert any(note.startswith("warning: ") and "has another rule" in note for note in table.notes)


def test_a_total_says_where_the_items_are() -> None:
    path = ROOT / "results" / "base" / "sky_ppl.json"
    assert_refused(path, "the total alone", str(ROOT / "predictions"))


def test_the_date_tells_which_run_is_the_newest(tmp_path: Path) -> None:
    root = copy(FOLDER / "opencompass", tmp_path)
    shutil.copytree(root / ROOT.name, root / "20270101_120000")
    assert_refused(root, "2 runs of the task 'animals_gen' by the model 'base'", task="animals_gen")
    table = by_name(root, task="animals_gen", newest=True)["base"]
    assert "20270101_120000" in str(table.about["files"][0])


def test_details_in_a_list_and_verdicts_of_several_attempts(tmp_path: Path) -> None:
    path = copy(ROOT / "results" / "base" / "animals_gen.json", tmp_path)

    def change(found: Any) -> None:
        entries = [entry for key, entry in found["details"].items() if key != "type"]
        for entry in entries:
            entry["correct"] = [entry["correct"], True]
        entries[0]["correct"] = [None, 1]
        entries[1].pop("correct")
        found["details"] = entries

    edit_json(path, change)
    table = one(path)
    rows = list(zip(table.ids, table.labels["run"].texts, table.numbers["score"].tolist(), strict=True))
    assert [(item, run) for item, run, _ in rows[:3]] == [("0", "1"), ("0", "2"), ("1", "1")]
    assert isnan(rows[2][2])
    assert rows[3:5] == [("2", "1", 0.0), ("2", "2", 1.0)]


def test_references_may_be_alternatives_and_lawbench_calls_them_refr(tmp_path: Path) -> None:
    path = tmp_path / "predictions" / "m" / "1-2.json"
    path.parent.mkdir(parents=True)
    entries = {
        "0": {"origin_prompt": "q", "prediction": "B ", "refr": "B"},
        "1": {"origin_prompt": "q", "prediction": "B", "gold": ["A", "B"]},
        "2": {"origin_prompt": "q", "prediction": None, "gold": "A"},
        "10": {"origin_prompt": "q", "prediction": "C", "gold": "A"},
    }
    path.write_text(json.dumps(entries), encoding="utf-8")
    found = scores(one(path, metric="equality"))
    assert isnan(found.pop("2"))
    assert found == {"0": 1.0, "1": 1.0, "10": 0.0}


@pytest.mark.parametrize(
    ("change", "parts"),
    [
        (
            lambda found: [found["details"][key].pop("correct") for key in "01234567"],
            ["without a verdict", "'correct'"],
        ),
        (lambda found: found.update(details="none"), ["details", "must be"]),
    ],
)
def test_bad_results_are_refused(tmp_path: Path, change: Any, parts: list[str]) -> None:
    path = copy(ROOT / "results" / "base" / "animals_gen.json", tmp_path)
    assert_refused(edit_json(path, change), *parts, format="opencompass")


@pytest.mark.parametrize(
    ("change", "parts"),
    [
        (lambda found: found["3"].pop("gold"), ["3: no reference"]),
        (lambda found: found["3"].pop("prediction"), ["3: no field 'prediction'"]),
        (lambda found: found.update({"3": []}), ["3: must be an object, but got a list"]),
    ],
)
def test_bad_predictions_are_refused(tmp_path: Path, change: Any, parts: list[str]) -> None:
    path = copy(ROOT / "predictions" / "base" / "animals_gen.json", tmp_path)
    assert_refused(edit_json(path, change), *parts, metric="equality")


def test_a_file_that_is_cut_is_refused(tmp_path: Path) -> None:
    path = copy(ROOT / "results" / "base" / "animals_gen.json", tmp_path)
    path.write_bytes(path.read_bytes()[:600])
    assert_refused(path, "ends too early")


@pytest.mark.parametrize("folder", ["results", "predictions"])
def test_a_key_that_is_there_twice_is_refused(tmp_path: Path, folder: str) -> None:
    path = copy(ROOT / folder / "base" / "animals_gen.json", tmp_path)
    path.write_text(path.read_text("utf-8").replace('"7": {', '"6": {'), encoding="utf-8")
    assert_refused(path, "the key '6' appears twice", metric=None if folder == "results" else "equality")
