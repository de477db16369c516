"""`assay certify` and `assay verify` of several tasks: exit codes, files, one table for the pull request."""

import json

import pytest

from assay.certificate.record import Certificate
from tests.cli.command import Shell
from tests.cli.test_suites import logs

HEADER = "item,task,score,price\n"


def table(lost: int = 0, n: int = 400) -> str:
    """Two tasks; of `hard` so many are lost."""
    rows = [f"{task}{i},{task},{int(i % 2 == 0 and not (task == 'hard' and i < 2 * lost))},{1 + i % 3}" for task in
            ("easy", "hard") for i in range(n)]  # fmt: skip
    return HEADER + "\n".join(rows) + "\n"


@pytest.fixture
def files(shell: Shell) -> Shell:
    for name, text in {"base": table(), "same": table(), "worse": table(40), "small": table(1, 20)}.items():
        shell.write(f"{name}.csv", text)
    return shell


@pytest.mark.parametrize(
    ("subject", "options", "code", "verdict"),
    [
        ("same.csv", [], 0, "pass"),
        ("worse.csv", [], 1, "fail"),
        ("worse.csv", ["--columns", "task="], 1, None),  # all items together: one comparison
        ("same.csv", ["--every"], 0, "pass"),
        ("same.csv", ["--max-drop", "0.001", "--note", "strict"], 1, "undecided"),
        ("same.csv", ["--every", "--max-task-drop", "0.001"], 1, "undecided"),
    ],
)
def test_the_exit_code_and_the_json_tell_verdicts_apart(
    files: Shell, subject: str, options: list[str], code: int, verdict: str | None
) -> None:
    ran = files("certify", "base.csv", subject, "-o", "c.json", "--json", *options)
    assert (ran.exit_code, ran.err) == (code, "")
    found = json.loads(ran.out)
    if verdict is None:
        assert found["schema"] == Certificate.__struct_config__.tag
    else:
        assert (found["schema"], found["decision"]["verdict"]) == ("assay/suite-certificate/1", verdict)
    assert files("verify", "c.json").exit_code == code
    assert json.loads((files.folder / "c.json").read_text()) == found


def test_a_policy_in_three_languages(files: Shell) -> None:
    content = {
        "max_drop": 0.03,
        "note": "agreed",
        "each": {"max_drop": 0.04},
        "tasks": {"hard": {"max_drop": 0.02, "min_score": 0.1}},
        "groups": {"both": {"tasks": ["easy", "h*"], "max_drop": 0.025}},
        "total": {"weights": "items", "max_price_ratio": 1.1},
    }
    files.write("p.json", json.dumps(content))
    files.write(
        "p.yaml",
        "max_drop: 3e-2\nnote: agreed\neach: {max_drop: 0.04}\ntasks:\n  hard: {max_drop: 0.02, min_score: 0.1}\n"
        "groups:\n  both:\n    tasks: [easy, 'h*']\n    max_drop: 0.025\n"
        "total:\n  weights: items  # large tasks count most\n  max_price_ratio: 1.1\n",
    )
    files.write(
        "p.toml",
        'max_drop = 0.03\nnote = "agreed"\neach.max_drop = 0.04\ntotal = {weights = "items", max_price_ratio = 1.1}\n'
        '[tasks]\nhard = {max_drop = 0.02, min_score = 0.1}\n[groups.both]\ntasks = ["easy", "h*"]\nmax_drop = 0.025\n',
    )
    found = []
    for ending in ("json", "yaml", "toml"):
        ran = files("certify", "base.csv", "same.csv", "-o", f"{ending}.json", "--policy", f"p.{ending}", "--json")
        assert (ran.exit_code, ran.err) == (0, "")
        document = json.loads(ran.out)
        del document["evidence"], document["digest"]
        found.append(document)
        assert files("verify", f"{ending}.json", "--policy", f"p.{ending}").exit_code == 0
    assert found[0] == found[1] == found[2]
    assert [one["limit"] for one in found[0]["limits"]] == [
        *("max_drop", "max_price_ratio", "max_drop", "max_drop", "max_drop", "min_score"),
    ]


def test_one_table_for_the_pull_request_and_the_summary_of_the_job(
    files: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(files.folder / "summary.md"))
    assert files("certify", "base.csv", "worse.csv", "-o", "c.json", "--markdown", "c.md").exit_code == 1
    text = (files.folder / "c.md").read_text()
    assert text.startswith("### ❌ Assay: fail")
    assert "| hard | 400 | 0.500 | 0.400 | −0.100 " in text
    assert (files.folder / "summary.md").read_text() == text + "\n"


@pytest.mark.parametrize(
    ("policy", "said"),
    [
        ("max_drop: 0.02\nmax_drop: 0.5\n", "p.yaml, line 2: not YAML (the key 'max_drop' appears twice)"),
        ("each: {max_dorp: 0.1}\n", "p.yaml: each.max_dorp: no such field; `assay schema policy` lists them"),
        ("tasks: {hard: 0.1}\n", "p.yaml: tasks.hard: must be an object of fields such as max_drop, but got 0.1"),
        ("tasks:\n  hard:\n    max_drop: -1\n", "tasks.hard.max_drop: must be a number from 0 up, but got -1"),
        ("every: yes\n", 'p.yaml: every: must be true or false, but got "yes"'),
        ("total: {weights: median}\n", "total.weights: must be 'macro', 'items' or 'groups', or an object, but got"),
        ("total: {weights: {hard: .nan}}\n", "total.weights.hard: must be a finite number, but got .nan"),
        ("groups: {g: {tasks: []}}\n", "groups.g.tasks: must be a list of names or patterns, but got []"),
        ("groups: {g: {groups: {h: {tasks: [1]}}}}\n", "groups.g.groups.h.tasks: must be a list of names"),
        ("groups: {a/b: {tasks: [hard]}}\n", "the name of a group must not have a '/'"),
        ("each: null\n", "each: must not be null; leave the field out to leave it open"),
        ("- each\n", "a policy must be an object of fields"),
        ("max_drop: 0.1\ntotal: {max_drop: 0.2}\n", "max_drop must be said once"),
        (
            "tasks: {hrad: {max_drop: 0.1}}\nnote: x\n",
            "the task 'hrad', which is not there; did you mean 'hard'?",
        ),
        ("each: {max_steps_ratio: 2}\n", "the policy limits steps, and the results have no such column, only price"),
    ],
)
def test_a_broken_policy_is_refused_by_its_field(files: Shell, policy: str, said: str) -> None:
    files.write("p.yaml", policy)
    files.assert_refused("certify", "base.csv", "same.csv", "-o", "c.json", "--policy", "p.yaml", parts=[said])
    assert not (files.folder / "c.json").exists()


def test_options_beside_a_policy_may_only_be_stricter(files: Shell) -> None:
    files.write("p.yaml", "each: {max_drop: 0.03}\nevery: true\n")
    command = ("certify", "base.csv", "same.csv", "-o", "c.json", "--policy", "p.yaml")
    said = "max_drop 0.04 of each task contradicts the policy, which says 0.03"
    files.assert_refused(*command, "--max-task-drop", "0.04", exit_code=2, parts=[said])
    assert files(*command, "--max-task-drop", "0.02").exit_code == 0


def test_all_tasks_of_a_harness_are_certified(shell: Shell) -> None:
    right, worse = [1, 0] * 60, [0, 0] * 20 + [1, 0] * 40
    base = logs(shell.folder, "base", {"arc": right, "gsm8k": right, "mmlu": right})
    tuned = logs(shell.folder, "tuned", {"arc": right, "gsm8k": worse, "mmlu": right})
    ran = shell("certify", base, tuned, "-o", "c.json", "--json")
    found = json.loads(ran.out)
    assert (ran.exit_code, found["decision"]["verdict"]) == (1, "fail")
    assert [row["name"] for row in found["tasks"]] == ["arc", "gsm8k", "mmlu"]
    assert [one["name"] for one in found["limits"] if one["outcome"] == "not met"] == ["total", "gsm8k"]
    assert found["measure"]["tasks"] == ["arc", "gsm8k", "mmlu"]
    assert shell("verify", "c.json").exit_code == 1
    one = shell("certify", base, tuned, "-o", "d.json", "--task", "arc", "--json")
    assert json.loads(one.out)["schema"] == "assay/certificate/3"
    few = logs(shell.folder, "few", {"arc": right, "gsm8k": right})
    shell.assert_refused("certify", base, few, "-o", "e.json", parts=["'mmlu': no item of the task is in both"])
