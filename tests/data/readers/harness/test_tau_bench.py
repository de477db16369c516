"""tau-bench: the oracle is the table of grades that the files were made of; pass^k by its definition."""

from math import comb
from pathlib import Path
from typing import Any

import pytest

import assay
from assay.data import Selection
from assay.errors import InputError
from tests.data.readers.harness.logs import FOLDER, assert_refused, by_name, copy, edit_json, one
from tools.make_harness_fixtures.code_benchmark_files import TAU

TAU_BENCH = FOLDER / "tau_bench" / "retail"


def path_of(model: str) -> Path:
    [path] = TAU_BENCH.glob(f"tool-calling-{model}-*.json")
    return path


def pass_all(model: str, k: int) -> float:
    """Mean over the tasks with k trials or more of C(c, k) / C(n, k); a lost trial is none."""
    told = [trials.replace("x", "") for trials in TAU[model]]
    rates = [comb(trials.count("p"), k) / comb(len(trials), k) for trials in told if len(trials) >= k]
    return sum(rates) / len(rates)


@pytest.mark.parametrize("model", TAU)
@pytest.mark.parametrize("k", [1, 2, 4])
def test_pass_to_the_power_of_k_by_its_definition(model: str, k: int) -> None:
    [rate] = assay.summarize(path_of(model), at=k).passes
    assert rate.every.value == pytest.approx(pass_all(model, k))
    assert rate.name == model


def test_records_with_an_error_are_lost_or_wrong() -> None:
    table = one(path_of("small"))
    assert table.lost is not None
    assert table.lost.sum() == sum(trials.count("x") for trials in TAU["small"])
    wrong = assay.summarize(path_of("small"), selection=Selection(errors="wrong")).models[0]
    rates = [trials.count("p") / len(trials) for trials in TAU["small"]]
    assert wrong.value.value == pytest.approx(sum(rates) / len(rates))


def test_trials_are_runs_and_unequal_numbers_of_them_compare() -> None:
    assert one(path_of("large")).labels["run"].names == ("0", "1", "2", "3")
    found = assay.compare(path_of("small"), path_of("large"), at=3, every=True)
    assert (found.n_pairs, found.systems.a, found.systems.b) == (7, "small", "large")  # one has two trials left


def test_agents_turns_are_a_cost() -> None:
    assert set(one(path_of("large")).numbers["steps"].tolist()) == {1.0}


def alone(found: Any) -> None:
    """One trial of each task, numbered as the tasks are: what one fork writes."""
    found[:] = [record for record in found if record["trial"] == 0]
    for record in found:
        record["trial"] = record["task_id"]


def test_a_trial_that_is_no_run_makes_no_repeats(tmp_path: Path) -> None:
    table = one(edit_json(copy(path_of("large"), tmp_path), alone))
    assert "run" not in table.labels
    assert len(table) == 8
    assert any(
        "every record has a trial number of its own, so that no task has repeats" in note for note in table.notes
    )


def test_repeats_that_are_numbered_on_are_counted_in_their_order(tmp_path: Path) -> None:
    def change(found: Any) -> None:
        for place, record in enumerate(found):
            record["trial"] = place

    table = one(edit_json(copy(path_of("large"), tmp_path), change))
    assert table.labels["run"].names == ("1", "2", "3", "4")


def test_tasks_of_two_domains_are_not_paired(tmp_path: Path) -> None:
    """Task ids start at 0 in each; the texts of the tasks tell."""

    def change(found: Any) -> None:
        for record in found:
            record["info"]["task"]["instruction"] = f"Book flight {record['task_id']}."

    path = edit_json(copy(path_of("large"), tmp_path), change)
    with pytest.raises(InputError, match=r"is not the same in both"):
        assay.compare(path_of("large"), f"other={path}")


def test_models_and_agents_are_named_by_the_file(tmp_path: Path) -> None:
    def put(name: str) -> Path:
        return Path(copy(path_of("large"), tmp_path).rename(tmp_path / name))

    end = "_range_0--1_user-gpt-4o-llm_"
    one_run = put(f"tool-calling-gpt-4.1-0.0{end}0601.json")
    assert one(one_run).name == "gpt-4.1"
    other = put(f"react-gpt-4.1-0.0{end}0601.json")
    assert by_name(one_run, other).keys() == {"tool-calling", "react"}
    put(f"tool-calling-gpt-4.1-0.0{end}0602.json")
    assert_refused(tmp_path, "2 runs of a task", "`Selection(newest=True)`")
    assert one(put("mine.json")).name == "mine"


@pytest.mark.parametrize(
    ("change", "parts"),
    [
        (lambda found: found[4].pop("task_id"), ["record 5", "'task_id'"]),
        (lambda found: found[4].update(reward="high"), ["record 5", "reward must be a finite number"]),
        (lambda found: found[4].update(reward=None), ["record 5", "reward must be a finite number"]),
        (lambda found: found[4].update(info=[]), ["record 5", "'info' must be an object"]),
        (lambda found: found[4]["info"].update(error=7), ["record 5", "'error' must be a text"]),
        (lambda found: found[9].update(task_id=0), ["record 10", "is there already"]),
    ],
)
def test_a_bad_record_is_named(tmp_path: Path, change: Any, parts: list[str]) -> None:
    path = edit_json(copy(path_of("large"), tmp_path), change)
    assert_refused(path, str(path), *parts)


def test_a_file_that_is_cut_is_refused(tmp_path: Path) -> None:
    path = copy(path_of("large"), tmp_path)
    path.write_bytes(path.read_bytes()[:-10])
    assert_refused(path, "ends too early")
    path.write_text('{"task_id": 0}')
    assert_refused(path, "must be a list of trials", format="tau-bench")
