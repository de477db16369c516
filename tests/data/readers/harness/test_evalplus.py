"""EvalPlus: the oracle is what EvalPlus itself printed for these files, and a plain script."""

import json
from pathlib import Path
from typing import Any

import pytest

import assay
from assay.data import Selection
from assay.errors import InputError
from tests.data.readers.harness.logs import FOLDER, assert_refused, by_name, copy, edit_json, one, read_json, scores

EVALPLUS = FOLDER / "evalplus"
SMALL, LARGE = EVALPLUS / "small_eval_results.json", EVALPLUS / "large_eval_results.json"
#: What `evalplus.evaluate` 0.3.1 printed when it wrote the files: pass@1 of the base, and of base and plus tests.
PRINTED = {"small": (0.583, 0.375), "large": (0.833, 0.778)}


def summarized(path: Path, metric: str, **more: Any) -> Any:
    return assay.summarize(path, selection=Selection(metric=metric), **more)


@pytest.mark.parametrize("model", PRINTED)
@pytest.mark.parametrize(("metric", "place"), [("base", 0), ("plus", 1)])
def test_the_score_is_the_pass_rate_that_evalplus_printed(model: str, metric: str, place: int) -> None:
    found = summarized(EVALPLUS / f"{model}_eval_results.json", metric).models[0]
    assert found.name == model
    assert round(found.value.value, 3) == PRINTED[model][place]


def test_plus_means_base_and_plus_against_a_plain_script(tmp_path: Path) -> None:
    """A sample that fails on the base tests and passes on the others is wrong."""
    path = copy(SMALL, tmp_path)
    edit_json(path, lambda found: found["eval"]["HumanEval/2"][0].update(base_status="fail", plus_status="pass"))
    found = read_json(path)["eval"]
    want = [
        float(sample["base_status"] == "pass" and sample["plus_status"] == "pass")
        for samples in found.values()
        for sample in samples
    ]
    table = one(path, metric="plus")
    assert table.numbers["score"].tolist() == want
    assert table.labels["run"].names == ("1", "2")
    assert table.about["measure"]["task"] == "HumanEval"


def test_unequal_numbers_of_attempts_compare_at_k() -> None:
    """pass@2 by hand: of an item with c right among n, 1 − C(n − c, 2) / C(n, 2)."""
    by_hand = []
    for path in (SMALL, LARGE):
        rates = []
        for samples in read_json(path)["eval"].values():
            n, c = len(samples), sum(sample["base_status"] == "pass" for sample in samples)
            rates.append(1 - (n - c) * (n - c - 1) / (n * (n - 1)))
        by_hand.append(sum(rates) / len(rates))
    found = assay.compare(SMALL, LARGE, selection=Selection(metric="base"), at=2)
    assert (found.a, found.b) == pytest.approx(tuple(by_hand), abs=1e-12)


def of_2023(path: Path, words: dict[str, str]) -> Path:
    """The same results in the shape that EvalPlus wrote in 2023."""

    def change(found: Any) -> None:
        for task, samples in found["eval"].items():
            statuses = {name: [[words[s[f"{name}_status"]], [1, 0]] for s in samples] for name in ("base", "plus")}
            found["eval"][task] = {"nfiles": len(samples), **statuses}

    return edit_json(path, change)


@pytest.mark.parametrize("metric", ["base", "plus"])
def test_the_shape_of_2023_holds_the_same(tmp_path: Path, metric: str) -> None:
    want = one(SMALL, metric=metric)
    words = {"pass": "success", "fail": "failed", "timeout": "timed out"}
    found = one(of_2023(copy(SMALL, tmp_path), words), metric=metric)
    assert found.ids.tolist() == want.ids.tolist()
    assert found.numbers["score"].tolist() == want.numbers["score"].tolist()


def test_a_run_in_which_everything_timed_out_is_broken_and_not_0(tmp_path: Path) -> None:
    path = of_2023(copy(SMALL, tmp_path), dict.fromkeys(("pass", "fail", "timeout"), "timed out"))
    with pytest.raises(InputError, match=r"every answer was lost .*all 24 samples timed out: the run broke"):
        summarized(path, "base")
    wrong = assay.summarize(path, selection=Selection(metric="base", errors="wrong"))
    assert wrong.models[0].value.value == 0
    assert any("all 24 samples timed out" in note for note in wrong.notes)


def test_results_without_plus_tests_have_one_metric(tmp_path: Path) -> None:
    """As `evalplus.evaluate --base_only` writes them."""

    def change(found: Any) -> None:
        for samples in found["eval"].values():
            for sample in samples:
                sample["plus_status"] = None

    path = edit_json(copy(SMALL, tmp_path), change)
    assert one(path).about["measure"]["metric"] == "base"
    assert_refused(path, "no metric 'plus', only base", metric="plus")


def test_models_are_named_after_files_and_folders(tmp_path: Path) -> None:
    def put(name: str) -> Path:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(SMALL.read_bytes())
        return path

    assert one(put("one/samples_gpt-4.1_eval_results.json"), metric="base").name == "gpt-4.1"
    assert one(put("two/gpt-4.1_temp_0.0.eval_results.json"), metric="base").name == "gpt-4.1_temp_0.0"
    assert one(put("gpt-4.1/eval_results.json"), metric="base").name == "gpt-4.1"
    put("gpt-5/eval_results.json")
    folders = [tmp_path / name for name in ("gpt-4.1", "gpt-5")]
    assert by_name(*folders, metric="base").keys() == {"gpt-4.1", "gpt-5"}


def test_two_tasks_of_one_name_are_of_one_model(tmp_path: Path) -> None:
    for folder, prefix in (("humaneval", "HumanEval"), ("mbpp", "Mbpp")):
        (tmp_path / folder).mkdir()
        text = SMALL.read_text("utf-8").replace("HumanEval/", f"{prefix}/")
        (tmp_path / folder / "gpt_eval_results.json").write_text(text, encoding="utf-8")
    assert by_name(tmp_path, metric="base", task="*").keys() == {"gpt"}
    assert_refused(tmp_path, "2 tasks (HumanEval, Mbpp)", metric="base")


def test_several_metrics_are_refused_with_the_choices() -> None:
    assert_refused(SMALL, "2 metrics (base, plus)", "`Selection(metric=...)`")
    assert_refused(SMALL, "no metric 'plsu'", "did you mean `Selection(metric='plus')`?", metric="plsu")


@pytest.mark.parametrize(
    ("change", "parts"),
    [
        (lambda found: found["eval"]["HumanEval/3"][1].pop("base_status"), ["HumanEval/3, sample 2", "base_status"]),
        (lambda found: found["eval"]["HumanEval/3"][1].update(base_status=1), ["HumanEval/3, sample 2", "base_status"]),
        (lambda found: found["eval"]["HumanEval/3"][1].update(base_status="?"), ["HumanEval/3, sample 2", "'?'"]),
        (lambda found: found["eval"]["HumanEval/3"][0].update(plus_status="?"), ["plus_status must be pass", "'?'"]),
        (lambda found: found["eval"].update({"HumanEval/3": 7}), ["HumanEval/3", "must be a list of samples"]),
        (lambda found: found["eval"].update({"HumanEval/3": {"nfiles": 1}}), ["HumanEval/3", "no field 'base'"]),
        (
            lambda found: found["eval"].update({"HumanEval/3": {"nfiles": 1, "base": [["failed"]], "plus": []}}),
            ["HumanEval/3, base, sample 1", "[status, tests]"],
        ),
        (
            lambda found: found["eval"].update(
                {"HumanEval/3": {"nfiles": 1, "base": [["failed", []]], "plus": [["failed", []]] * 2}}
            ),
            ["1 base and 2 plus results"],
        ),
    ],
)
def test_a_bad_record_is_named(tmp_path: Path, change: Any, parts: list[str]) -> None:
    path = edit_json(copy(SMALL, tmp_path), change)
    assert_refused(path, str(path), *parts, metric="plus")


def test_bad_files_are_refused(tmp_path: Path) -> None:
    path = copy(SMALL, tmp_path)
    data = path.read_bytes()
    path.write_bytes(data[: len(data) // 2])
    assert_refused(path, "ends too early", metric="base")
    path.write_bytes(b"")
    assert_refused(path, "empty", metric="base", format="evalplus")
    path.write_text('{"date": "2024", "hash": "h", "pass_at_k": {"base": {"pass@1": 0.5}}}', encoding="utf-8")
    assert_refused(path, "no field 'eval'", metric="base", format="evalplus")
    path.write_text('{"date": "2024", "hash": "h", "eval": {}}', encoding="utf-8")
    assert_refused(path, "no items", metric="base", format="evalplus")


def test_a_task_that_is_there_twice_is_refused(tmp_path: Path) -> None:
    path = copy(SMALL, tmp_path)
    found = read_json(path)["eval"]
    twice = json.dumps({"HumanEval/0": found["HumanEval/0"]})[1:-1]
    path.write_text('{"eval": {' + twice + ", " + json.dumps(found)[1:] + "}", encoding="utf-8")
    assert_refused(path, "the key 'HumanEval/0' appears twice", metric="base")


def test_a_byte_order_mark_changes_nothing(tmp_path: Path) -> None:
    path = copy(LARGE, tmp_path)
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes())
    assert scores(one(path, metric="base")) == scores(one(LARGE, metric="base"))


def test_damaged_results_in_a_folder_are_not_passed_over(tmp_path: Path) -> None:
    copy(LARGE, tmp_path)
    (tmp_path / SMALL.name).write_text('{"date": "2024-0', encoding="utf-8")
    assert_refused(tmp_path, SMALL.name, "named like results of EvalPlus", metric="base")
