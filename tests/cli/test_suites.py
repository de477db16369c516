"""`assay compare` of several tasks: when it looks at each, and what it refuses; the library says the same."""

import json
import re
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
    assert "The gain is in 1 of 2 tasks (hard)." in ran.out


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
    assert "The gain is in 1 of 3 tasks (gsm8k)." in ran.out
    assert [row.task for row in compare_suite(*runs).tasks] == ["arc", "gsm8k", "mmlu"]


def test_a_group_of_tasks_is_a_suite_and_one_task_is_none(shell: Shell, runs: tuple[str, str]) -> None:
    assert "over 2 tasks" in shell("compare", *runs, "--task", "*m*").out
    one = json.loads(shell("compare", *runs, "--task", "gsm8k", "--json").out)
    assert (one["schema"], one["n_pairs"]) == ("assay/comparison/1", 24)


def test_other_verbs_and_the_library_still_ask_which_task(shell: Shell, runs: tuple[str, str]) -> None:
    for verb in (
        ["rank", "--test", "t"],
        ["certify", "-o", "cert.json", "--method", "bca", "--note", "x"],
        ["compare", "--method", "bca"],
    ):
        ran = shell(*verb[:1], *runs, *verb[1:])
        assert ran.exit_code == 3
        assert "3 tasks (arc, gsm8k, mmlu); choose one with --task" in ran.err


def test_models_are_ranked_over_all_tasks_of_a_harness(shell: Shell, runs: tuple[str, str]) -> None:
    ran = shell("rank", *runs)
    assert (ran.exit_code, ran.err) == (0, "")
    assert ran.out.startswith("Over 3 tasks: tuned is better than base")
    found = json.loads(shell("rank", *runs, "--total", "items", "--adjust", "holm", "--json").out)
    assert (found["by"], found["total"], found["adjust"]) == ("task", "items", "holm")
    assert [task["scores"] for task in found["tasks"]] == [[0.5, 0.5], [1.0, 0.5], [0.5, 0.5]]
    one = json.loads(shell("rank", *runs, "--task", "gsm8k", "--json").out)
    assert "by" not in one
    assert one["n_units"] == 24


def test_ranking_by_a_column_and_over_items_taken_together(shell: Shell, files: tuple[str, str]) -> None:
    assert "over" not in shell("rank", *files, "--columns", "task=").out.lower().split(":")[0]
    assert shell("rank", *files, "--by", "task").out == shell("rank", *files).out
    refused = shell("rank", *files, "--by", "task", "--weights", "sqrt")
    assert refused.exit_code == 2
    assert "--weights is not for several tasks" in refused.err


def test_one_task_against_several_is_refused(shell: Shell, runs: tuple[str, str]) -> None:
    single = logs(shell.folder, "single", {"arc": [1, 0] * 12})
    ran = shell("compare", single, runs[1])
    assert ran.exit_code == 3
    assert "holds the task arc and tuned 3 tasks; choose one with --task arc" in ran.err


def test_a_task_that_one_model_lacks_is_left_out(shell: Shell, runs: tuple[str, str]) -> None:
    logs(shell.folder, "base", {"squad": [1, 0] * 12}, metric="f1")
    ran = shell("compare", *runs)
    assert ran.exit_code == 0, ran.err
    assert "over 3 tasks" in ran.out
    assert "24 not paired (24 only in A, 0 only in B): squad/0" in ran.out


def test_tasks_with_other_metrics_are_compared_and_say_theirs(shell: Shell, runs: tuple[str, str]) -> None:
    for model in runs:
        logs(shell.folder, model, {"squad": [1, 0] * 12}, metric="f1")
    found = json.loads(shell("compare", *runs, "--json").out)
    assert {row["task"]: row["measure"] for row in found["tasks"]} == {
        "arc": "acc",
        "gsm8k": "acc",
        "mmlu": "acc",
        "squad": "f1",
    }
    text = shell("compare", *runs).out
    assert "metric acc, filter none of arc, gsm8k, mmlu; metric f1, filter none of squad" in text


def test_tasks_with_several_metrics_are_refused_with_an_option_that_works(shell: Shell, runs: tuple[str, str]) -> None:
    for model in runs:
        path = next((shell.folder / model).glob("samples_arc_*"))
        lines = [json.loads(line) for line in path.read_text().splitlines()]
        both = [json.dumps(line | {"metrics": ["acc", "acc_norm"], "acc_norm": 1}) for line in lines]
        path.write_text("\n".join(both) + "\n")
    ran = shell("compare", *runs)
    assert ran.exit_code == 3
    picked = re.search(r"such as --metric (\S+),", ran.err)
    assert picked is not None, ran.err
    assert shell("compare", *runs, "--metric", picked[1]).exit_code == 0
    assert shell("compare", *runs, "--metric", "acc,arc=acc_norm").exit_code == 0


def test_losses_of_several_tasks_are_compared_task_by_task(shell: Shell) -> None:
    """Windows may have the same ids in different tasks; B loses 0.1 nats less on code."""
    for name, gain in (("a", 0.0), ("b", 0.1)):
        rows = [
            f"{i},{task},{100 + i},{2 + (i % 7) / 10 - (gain + (i % 3) / 50 if task == 'code' else (i % 3) / 50)}"
            for task in ("code", "wiki")
            for i in range(30)
        ]
        shell.write(f"{name}.csv", "\n".join(["window,task,tokens,loss", *rows]) + "\n")
    found = json.loads(shell("compare", "a.csv", "b.csv", "--json").out)
    assert (found["schema"], found["kind"], found["lower_is_better"]) == ("assay/suite/1", "losses", True)
    assert [row["difference"]["value"] for row in found["tasks"]] == pytest.approx([-0.1, 0])
    assert found["total"]["difference"]["value"] == pytest.approx(-0.05)
    assert any("so a window is called task/window" in note for note in found["notes"])
    whole = json.loads(shell("compare", "a.csv", "b.csv", "--columns", "task=", "--pair-by", "row", "--json").out)
    assert whole["schema"] == "assay/comparison/1"


# -------------------------------------------------------------------------------------------------------------- groups

FOUR = {"arc": 30, "boolq": 30, "gsm8k": 30, "hard": 40}
GROUPS = "task,group\narc,qa\nboolq,qa\nqa,all\ngsm8k,all\nhard,all\n"


@pytest.fixture
def four(shell: Shell) -> tuple[str, str]:
    shell.write("groups.csv", GROUPS)
    return shell.write("a.csv", table(sizes=FOUR)), shell.write("b.csv", table(gain=12, sizes=FOUR))


def test_groups_of_a_file_have_rows_and_weights_by_hand(shell: Shell, four: tuple[str, str]) -> None:
    ran = shell("compare", *four, "--groups", "groups.csv", "--total", "groups", "--json")
    found = json.loads(ran.out)
    assert [(row["group"], row["inside"], row["n"]) for row in found["groups"]] == [
        ("all", None, 130),
        ("qa", "all", 60),
    ]
    assert found["total"]["difference"]["value"] == pytest.approx(0.3 / 3)  # hard is one of qa, gsm8k and hard
    assert SuiteComparison.from_dict(found) == compare_suite(*four, groups="groups.csv", total="groups")
    text = shell("compare", *four, "--groups", "groups.csv").out
    assert "\n\N{NO-BREAK SPACE}\N{NO-BREAK SPACE}qa " in text


def test_groups_of_a_column_are_those_of_a_file(shell: Shell, four: tuple[str, str]) -> None:
    own = {"arc": "qa", "boolq": "qa", "gsm8k": "", "hard": ""}
    for name, gain in (("c", 0), ("d", 12)):
        head, *rows = table(gain=gain, sizes=FOUR).splitlines()
        shell.write(
            f"{name}.csv", "\n".join([f"{head},kind", *(f"{row},{own[row.split('-')[0]]}" for row in rows)]) + "\n"
        )
    found = json.loads(shell("compare", "c.csv", "d.csv", "--columns", "group=kind", "--json").out)
    assert [(row["group"], row["tasks"]) for row in found["groups"]] == [("qa", ["arc", "boolq"])]


def test_summarize_has_groups_by_hand(shell: Shell, four: tuple[str, str]) -> None:
    found = json.loads(shell("summarize", four[1], "--groups", "groups.csv", "--json").out)
    whole, qa = found["groups"]
    assert whole["macro"]["b"]["value"] == pytest.approx((0.5 + 0.5 + 0.5 + 0.8) / 4)
    assert (qa["group"], qa["macro"]["b"]["value"]) == ("qa", 0.5)


@pytest.mark.parametrize(
    ("options", "code", "parts"),
    [
        (["--total", "groups"], 2, ["no groups are known", "--groups", "--columns group=NAME"]),
        (["--groups", "none.csv"], 3, ["none.csv", "no such file"]),
        (["--groups", "a.csv"], 3, ["a.csv", "no column 'group'"]),
        (["--groups", "other.csv"], 3, ["no group holds two of the tasks"]),
        (["--groups", "groups.csv", "--at", "2"], 2, ["--at is not for several tasks"]),
    ],
)
def test_groups_that_are_refused(
    shell: Shell, four: tuple[str, str], options: list[str], code: int, parts: list[str]
) -> None:
    shell.write("other.csv", "task,group\nx,y\nz,y\n")
    ran = shell("compare", *four, *options)
    assert (ran.exit_code, ran.out) == (code, "")
    assert all(part in ran.err for part in parts), ran.err


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
