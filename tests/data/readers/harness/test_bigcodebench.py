"""BigCodeBench: the oracle is the table of grades that the files were made of, and a plain script."""

from pathlib import Path
from typing import Any

import pytest

import assay
from assay.data import Selection
from tests.data.readers.harness.logs import FOLDER, assert_refused, by_name, copy, edit_json, one, read_json, scores
from tools.make_harness_fixtures.code_benchmark_files import BIG

BIGCODEBENCH = FOLDER / "bigcodebench"


def path_of(model: str, prompt: str) -> Path:
    [path] = BIGCODEBENCH.glob(f"{model}--main--bigcodebench-hard-{prompt}--*.json")
    return path


@pytest.mark.parametrize(("model", "prompt"), BIG)
def test_every_status_is_read_against_a_plain_script(model: str, prompt: str) -> None:
    path = path_of(model, prompt)
    table = one(path)
    want = {task: float(sample["status"] == "pass") for task, [sample] in read_json(path)["eval"].items()}
    assert scores(table) == want
    assert sum(want.values()) == BIG[model, prompt].count("p")
    assert (table.name, table.about["measure"]["task"]) == (model, f"bigcodebench-hard-{prompt}")


def test_a_folder_holds_two_tasks_of_each_model() -> None:
    found = assay.summarize(BIGCODEBENCH)
    assert found.tasks.keys() == {"bigcodebench-hard-instruct", "bigcodebench-hard-complete"}
    by_task = {
        (row.name, task.rpartition("-")[2]): row.value.value for task, rows in found.tasks.items() for row in rows
    }
    assert by_task == pytest.approx({key: grades.count("p") / len(grades) for key, grades in BIG.items()})


def test_prompts_are_two_conditions_and_never_attempts() -> None:
    instruct, complete = path_of("base", "instruct"), path_of("base", "complete")
    found = assay.compare(f"instruct={instruct}", f"complete={complete}")
    right = [BIG["base", prompt].count("p") / 12 for prompt in ("instruct", "complete")]
    assert (found.a, found.b) == pytest.approx(right)
    [both] = assay.summarize(f"base={instruct}", f"base={complete}").models
    assert (both.n, both.runs) == (24, None)


def test_several_samples_are_attempts(tmp_path: Path) -> None:
    def change(found: Any) -> None:
        found["eval"]["BigCodeBench/17"].append({**found["eval"]["BigCodeBench/13"][0]})

    path = edit_json(copy(path_of("base", "instruct"), tmp_path), change)
    table = one(path)
    assert table.labels["run"].texts.tolist().count("2") == 1


def test_a_renamed_file_goes_with_the_task_of_the_other(tmp_path: Path) -> None:
    path = copy(path_of("tuned", "instruct"), tmp_path).rename(tmp_path / "mine_eval_results.json")
    assert one(path).name == "mine"
    found = assay.compare(path_of("base", "instruct"), path, selection=Selection(task="bigcodebench-hard-instruct"))
    assert (found.systems.a, found.systems.b, found.n_pairs) == ("base", "mine", 12)


def test_a_revision_is_part_of_the_name(tmp_path: Path) -> None:
    path = copy(path_of("base", "instruct"), tmp_path)
    other = path.rename(tmp_path / path.name.replace("base--main--", "org--base--r2--"))
    assert one(other).name == "org--base--r2"


def test_a_run_that_only_timed_out_is_broken(tmp_path: Path) -> None:
    def change(found: Any) -> None:
        for [sample] in found["eval"].values():
            sample["status"] = "timeout"

    path = edit_json(copy(path_of("base", "instruct"), tmp_path), change)
    table = by_name(path)["base"]
    assert table.lost is not None
    assert table.lost.all()


@pytest.mark.parametrize(
    ("change", "parts"),
    [
        (lambda found: found["eval"]["BigCodeBench/17"][0].pop("status"), ["BigCodeBench/17, sample 1", "'status'"]),
        (lambda found: found["eval"]["BigCodeBench/17"][0].update(status="ok"), ["BigCodeBench/17, sample 1", "'ok'"]),
        (lambda found: found["eval"].update({"BigCodeBench/17": "pass"}), ["BigCodeBench/17", "a list of samples"]),
        (lambda found: found.pop("eval"), ["no field 'eval'"]),
    ],
)
def test_a_bad_record_is_named(tmp_path: Path, change: Any, parts: list[str]) -> None:
    path = edit_json(copy(path_of("base", "instruct"), tmp_path), change)
    assert_refused(path, str(path), *parts, format="bigcodebench")


def test_a_file_that_is_cut_is_refused(tmp_path: Path) -> None:
    path = copy(path_of("base", "instruct"), tmp_path)
    path.write_bytes(path.read_bytes()[:-30])
    assert_refused(path, "ends too early")
