"""terminal-bench: the oracle is what its own models computed when they wrote the files: accuracy and pass@k."""

import shutil
from pathlib import Path
from typing import Any

import pytest

import assay
from assay.data import Selection
from tests.data.readers.harness.logs import FOLDER, assert_refused, by_name, copy, edit_json, one, read_json
from tools.make_harness_fixtures.terminal_bench_files import GRADES, TASKS

TERMINAL_BENCH = FOLDER / "terminal_bench"
WRONG = Selection(errors="wrong")  # as terminal-bench counts a trial without a verdict


def test_pass_at_k_and_the_accuracy_are_terminal_bench_s() -> None:
    told = read_json(TERMINAL_BENCH / "large" / "results.json")
    found = assay.summarize(TERMINAL_BENCH / "large", at=2, selection=WRONG)
    assert found.models[0].value.value == pytest.approx(told["accuracy"])
    assert found.passes[0].one.value == pytest.approx(told["pass_at_k"]["2"])


@pytest.mark.parametrize("run", ["small-1", "small-2", "small-3"])
def test_the_accuracy_of_every_run_is_terminal_bench_s(run: str) -> None:
    found = assay.summarize(TERMINAL_BENCH / run, selection=WRONG)
    assert found.models[0].value.value == pytest.approx(read_json(TERMINAL_BENCH / run / "results.json")["accuracy"])
    assert (found.models[0].n, found.models[0].runs) == (6, None)


def test_a_trial_without_a_verdict_is_lost() -> None:
    table = by_name(TERMINAL_BENCH)["terminus small"]
    assert table.lost is not None
    assert table.lost.sum() == sum(grades.count("n") for grades in GRADES["small"])


def test_several_runs_of_an_agent_and_a_model_are_attempts_by_hand() -> None:
    tables = by_name(TERMINAL_BENCH, errors="wrong")
    assert tables.keys() == {"terminus small", "terminus large"}
    for model, grades in GRADES.items():
        table = tables[f"terminus {model}"]
        found: dict[str, list[float]] = {task: [] for task in TASKS}
        for task, score in zip(table.ids, table.numbers["score"].tolist(), strict=True):
            found[task].append(score)
        want = {task: [float(grade == "p") for grade in own] for task, own in zip(TASKS, grades, strict=True)}
        assert {task: sorted(own) for task, own in found.items()} == {task: sorted(own) for task, own in want.items()}


def test_results_and_trials_are_counted_once(tmp_path: Path) -> None:
    """The results of a run hold its trials, each of which has a file too."""
    assert len(list((TERMINAL_BENCH / "small-1").rglob("results.json"))) == 7
    assert len(one(TERMINAL_BENCH / "small-1")) == 6
    run = copy(TERMINAL_BENCH / "small-1", tmp_path)
    edit_json(run / "results.json", lambda found: found["results"].pop())  # a run that was stopped while it wrote
    assert len(one(run)) == 6
    (run / "results.json").unlink()
    assert len(one(run)) == 6
    [trial] = (run / "fix-git").rglob("results.json")
    assert one(trial).ids.tolist() == ["fix-git"]


def test_what_trials_cost_is_read() -> None:
    table = one(TERMINAL_BENCH / "large")
    assert set(table.numbers["seconds"].tolist()) == {90.0}
    assert set(table.numbers["tokens_in"].tolist()) == {1000.0}


def test_runs_without_metadata_are_named_after_their_folders(tmp_path: Path) -> None:
    for run in ("small-1", "small-2"):
        copy(TERMINAL_BENCH / run, tmp_path)
        (tmp_path / run / "run_metadata.json").unlink()
    assert by_name(tmp_path).keys() == {"small-1", "small-2"}


def test_another_instruction_is_another_task(tmp_path: Path) -> None:
    run = Path(shutil.copytree(TERMINAL_BENCH / "large", tmp_path / "other"))

    def change(found: Any) -> None:
        for result in found["results"]:
            result["instruction"] = "Do something else."

    edit_json(run / "results.json", change)
    with pytest.raises(assay.InputError, match="is not the same in both"):
        assay.compare(TERMINAL_BENCH / "small-1", run, selection=Selection(errors="wrong"))


@pytest.mark.parametrize(
    ("change", "parts"),
    [
        (lambda found: found["results"][2].pop("trial_name"), ["result 3", "'trial_name'"]),
        (lambda found: found["results"][2].update(is_resolved="yes"), ["result 3", "'is_resolved' must be a truth"]),
        (lambda found: found["results"][2].update(task_id=3), ["result 3", "'task_id' must be a text"]),
        (lambda found: found.update(results={}), ["'results' must be a list of trials"]),
        (lambda found: found.update(results=[]), ["no items"]),
    ],
)
def test_a_bad_trial_is_named(tmp_path: Path, change: Any, parts: list[str]) -> None:
    path = edit_json(copy(TERMINAL_BENCH / "large" / "results.json", tmp_path), change)
    assert_refused(path, str(tmp_path), *parts, format="terminal-bench")


def test_bad_metadata_are_named(tmp_path: Path) -> None:
    run = copy(TERMINAL_BENCH / "large", tmp_path)
    (run / "run_metadata.json").write_text("[]")
    assert_refused(run, "run_metadata.json", "must be an object")
