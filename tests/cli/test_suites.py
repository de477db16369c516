"""`assay compare` of several tasks: when it looks at each, and what it refuses; the library says the same."""

import json
from pathlib import Path

import pytest

from assay import Comparison, Selection, SuiteComparison, compare, compare_suite
from tests.cli.command import Shell
from tests.data.readers.harness.logs import LARGE, LM_EVAL, SMALL

SIZES = {"easy": 30, "hard": 40}


def table(*, gain: int = 0, sizes: dict[str, int] = SIZES, column: str = "task") -> str:
    """Every second item is right; of the hard ones ``gain`` more."""
    rows = [
        f"{task}-{i:02d},{task},{int(i % 2 == 0 or (task == 'hard' and i < 2 * gain))}"
        for task, n in sizes.items()
        for i in range(n)
    ]
    return "\n".join([f"item,{column},score", *rows]) + "\n"


@pytest.fixture
def files(shell: Shell) -> tuple[str, str]:
    return shell.write("a.csv", table()), shell.write("b.csv", table(gain=12))


def test_a_column_of_tasks_makes_a_suite(shell: Shell, files: tuple[str, str]) -> None:
    ran = shell("compare", *files)
    assert ran.exit_code == 0
    assert ran.out == f"{compare_suite(*files)}\n"
    assert "better in 1 of 2 (hard)" in ran.out


def test_the_json_is_a_suite_by_hand(shell: Shell, files: tuple[str, str]) -> None:
    found = json.loads(shell("compare", *files, "--json").out)
    assert found["schema"] == "assay/suite/1"
    easy, hard = found["tasks"]
    assert (easy["n"], easy["difference"]["value"], hard["difference"]["value"]) == (30, 0, 0.3)
    assert hard["p_alone"] == pytest.approx(2**-12)  # 12 of 12 items that differ: mid-p
    assert hard["p_value"] == pytest.approx(2**-12)  # nothing differs in the other task, which costs nothing
    assert found["total"]["difference"]["value"] == pytest.approx(0.15)
    assert SuiteComparison.from_dict(found) == compare_suite(*files)


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (["--total", "items"], 12 / 70),
        (["--total", "weights.csv"], 0.225),
        (["--total", "macro", "--adjust", "holm"], 0.15),
        (["--by", "task", "--adjust", "bh"], 0.15),
    ],
)
def test_weights_of_the_total_by_hand(
    shell: Shell, files: tuple[str, str], options: list[str], expected: float
) -> None:
    shell.write("weights.csv", "task,weight\neasy,1\nhard,3\n")
    found = json.loads(shell("compare", *files, *options, "--json").out)
    assert found["total"]["difference"]["value"] == pytest.approx(expected)


def test_any_column_tells_items_apart(shell: Shell) -> None:
    both = [shell.write(f"{name}.csv", table(gain=gain, column="language")) for name, gain in (("a", 0), ("b", 12))]
    assert json.loads(shell("compare", *both, "--json").out)["schema"] == "assay/comparison/1"
    found = json.loads(shell("compare", *both, "--by", "language", "--json").out)
    assert (found["by"], [row["task"] for row in found["tasks"]]) == ("language", ["easy", "hard"])
    assert found["sentence"].startswith("b is better than a over 2 languages")


@pytest.mark.parametrize("options", [["--columns", "task="], ["--method", "bca"], ["--test", "t"], ["--at", "1"]])
def test_items_are_taken_together_where_that_is_asked_for(
    shell: Shell, files: tuple[str, str], options: list[str]
) -> None:
    assert json.loads(shell("compare", *files, *options, "--json").out)["schema"] == "assay/comparison/1"


def test_small_groups_that_nobody_asked_for_are_no_tasks(shell: Shell) -> None:
    sizes = {f"t{i}": 3 for i in range(8)}
    both = [shell.write(f"{name}.csv", table(sizes=sizes)) for name in "ab"]
    ran = shell("compare", *both)
    assert "items of 8 tasks are taken together" in ran.out
    assert ran.out == f"{compare(*both)}\n"
    assert "over 8 tasks" in shell("compare", *both, "--by", "task").out


@pytest.mark.parametrize(
    ("options", "code", "parts"),
    [
        (["--by", "colour"], 3, ["no column", "colour"]),
        (["--total", "items", "--method", "bca"], 2, ["level and the margin"]),
        (["--total", "items", "--at", "2"], 2, ["--at is not for several tasks"]),
        (["--total", "none.csv"], 3, ["none.csv", "no such file"]),
        (["--total", "a.csv"], 3, ["a.csv", "no column 'weight'", "task and weight"]),
        (["--total", "twice.csv"], 3, ["twice.csv, line 3", "'easy' is there twice"]),
        (["--total", "negative.csv"], 3, ["negative.csv, line 2", "0 or more"]),
        (["--total", "few.csv"], 2, ["no weight for the task 'hard'"]),
        (["--cluster", "task", "--by", "task"], 2, ["cannot be the cluster too"]),
    ],
)
def test_what_is_refused(shell: Shell, files: tuple[str, str], options: list[str], code: int, parts: list[str]) -> None:
    shell.write("twice.csv", "task,weight\neasy,1\neasy,2\n")
    shell.write("negative.csv", "task,weight\neasy,-1\nhard,2\n")
    shell.write("few.csv", "task,weight\neasy,1\n")
    ran = shell("compare", *files, *options)
    assert (ran.exit_code, ran.out) == (code, "")
    assert all(part in ran.err for part in parts), ran.err


def test_no_task_to_tell_apart_is_refused(shell: Shell) -> None:
    both = [shell.write(f"{name}.csv", table(sizes={"easy": 30})) for name in "ab"]
    ran = shell("compare", *both, "--total", "macro")
    assert ran.exit_code == 3
    assert "same task" in ran.err


# ---------------------------------------------------------------------------------------------------------------- logs


def logs(folder: Path, model: str, scores: dict[str, list[int]], metric: str = "acc") -> str:
    """What lm-eval writes, a file for each task."""
    (folder / model).mkdir(exist_ok=True)
    for task, values in scores.items():
        fixed = {
            "target": "1",
            "arguments": {},
            "resps": [],
            "filtered_resps": [],
            "filter": "none",
            "metrics": [metric],
        }
        lines = [
            json.dumps({"doc_id": i, "doc": {"q": i}, **fixed, "doc_hash": f"{task}{i}", metric: value})
            for i, value in enumerate(values)
        ]
        (folder / model / f"samples_{task}_2026-01-01T00-00-00.000000.jsonl").write_text("\n".join(lines) + "\n")
    return model


@pytest.fixture
def runs(shell: Shell) -> tuple[str, str]:
    right, better = [1, 0] * 12, [1, 1] * 12
    return (
        logs(shell.folder, "base", {"arc": right, "gsm8k": right, "mmlu": right}),
        logs(shell.folder, "tuned", {"arc": right, "gsm8k": better, "mmlu": right}),
    )


def test_all_tasks_of_a_harness_are_compared(shell: Shell, runs: tuple[str, str]) -> None:
    ran = shell("compare", *runs)
    assert ran.exit_code == 0, ran.err
    assert "over 3 tasks" in ran.out
    assert "better in 1 of 3 (gsm8k)" in ran.out
    assert [row.task for row in compare_suite(*runs).tasks] == ["arc", "gsm8k", "mmlu"]


def test_a_group_of_tasks_is_a_suite_and_one_task_is_none(shell: Shell, runs: tuple[str, str]) -> None:
    assert "over 2 tasks" in shell("compare", *runs, "--task", "*m*").out
    one = json.loads(shell("compare", *runs, "--task", "gsm8k", "--json").out)
    assert (one["schema"], one["n_pairs"]) == ("assay/comparison/1", 24)


def test_other_verbs_and_the_library_still_ask_which_task(shell: Shell, runs: tuple[str, str]) -> None:
    for verb in (["rank"], ["certify", "-o", "cert.json"], ["compare", "--method", "bca"]):
        ran = shell(*verb[:1], *runs, *verb[1:])
        assert ran.exit_code == 3
        assert "3 tasks (arc, gsm8k, mmlu); choose one with --task" in ran.err


def test_one_task_against_several_is_refused(shell: Shell, runs: tuple[str, str]) -> None:
    single = logs(shell.folder, "single", {"arc": [1, 0] * 12})
    ran = shell("compare", single, runs[1])
    assert ran.exit_code == 3
    assert "holds the task arc and tuned 3 tasks; choose one with --task arc" in ran.err


def test_tasks_that_do_not_measure_the_same_are_refused(shell: Shell, runs: tuple[str, str]) -> None:
    logs(shell.folder, "base", {"squad": [1, 0] * 12}, metric="f1")
    ran = shell("compare", *runs)
    assert ran.exit_code == 3
    assert "4 tasks (arc, gsm8k, mmlu, squad), which do not measure the same; choose one with --task" in ran.err


def test_tiny_tasks_of_a_group_are_taken_together_as_the_library_does(shell: Shell) -> None:
    both = [str(LM_EVAL / SMALL), str(LM_EVAL / LARGE)]
    picked = Selection(task="tiny_choices", metric="acc")
    found = compare(*both, selection=picked)
    assert isinstance(found, Comparison)
    assert shell("compare", *both, "--task", "tiny_choices", "--metric", "acc").out == f"{found}\n"


def test_summarize_has_the_mean_of_the_tasks_by_hand(shell: Shell, files: tuple[str, str]) -> None:
    found = json.loads(shell("summarize", *files, "--json").out)
    assert found["macro"]["b"]["value"] == pytest.approx((0.5 + 32 / 40) / 2)
    assert list(found["macro"]) == ["b", "a"]
    assert "mean of 2 tasks" in shell("summarize", *files).out
