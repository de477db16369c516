"""`assay reliability`: the record of the library on stdout, refusals as one line with their exit code."""

import json

import pytest

from assay import examples
from assay.analyses.reliability import reliability
from assay.analyses.reliability.result import Reliability
from assay.stats.planning.plans import Goal
from tests.cli.command import SCORES, Shell
from tests.data.readers.harness.logs import INSPECT

RUNS = "model,run,item,score\n" + "".join(
    f"{model},{run},q{item},{(item * run + len(model)) % 3 % 2}\n"
    for model in ("A", "BB")
    for run in (1, 2, 3)
    for item in range(8)
)


@pytest.fixture
def runs(shell: Shell) -> str:
    return shell.write("runs.csv", RUNS)


def test_text_is_the_record_of_the_library(shell: Shell, runs: str) -> None:
    ran = shell("reliability", runs, "--level", "0.9", "--power", "0.7")
    assert (ran.exit_code, ran.err) == (0, "")
    assert ran.out == str(reliability(runs, goal=Goal(level=0.9, power=0.7))) + "\n"
    assert ran.out.startswith("Run-to-run noise moves a score by ±")


def test_json_is_the_record_of_the_library(shell: Shell) -> None:
    path = str(examples.path("runs-sampled.csv"))
    ran = shell("reliability", path, "--json")
    assert Reliability.from_dict(json.loads(ran.out)) == reliability(path)


def test_columns_clusters_and_files(shell: Shell) -> None:
    shell.write("e.csv", "id,epoch,acc,passage\na,1,1,x\na,2,0,x\nb,1,1,x\nb,2,1,x\nc,1,0,y\nc,2,0,y\n")
    ran = shell("reliability", "e.csv", "--columns", "item=id,run=epoch,score=acc", "--cluster", "passage")
    assert ran.exit_code == 0
    assert "3 items in 2 clusters in every run" in ran.out
    for name in ("one.csv", "two.csv"):
        shell.write(name, SCORES if name == "one.csv" else SCORES.replace("q1,1", "q1,0"))
    ran = shell("reliability", "one.csv", "two.csv", "--files-are-runs")
    assert ran.exit_code == 0
    assert "2 runs of 3 items" in ran.out


def test_epochs_of_inspect_are_runs(shell: Shell) -> None:
    """What the mock models of the fixture answer, epoch by epoch: 1110 and 1101, 1100 and 1001."""
    logs = [str(INSPECT / f"{name}.eval") for name in ("large", "small")]
    ran = shell("reliability", *logs, "--scorer", "match", "--json")
    found = Reliability.from_dict(json.loads(ran.out))
    assert {model.name: model.scores for model in found.models} == {
        "mockllm/large": (0.75, 0.75),
        "mockllm/small": (0.5, 0.5),
    }
    assert [model.item_sd.value for model in found.models] == [0.5, 0.5]
    shell.assert_refused("reliability", *logs, "--scorer", "none", parts=["none"])
    twice = shell("reliability", logs[0], logs[0].replace("large", "small"), "--files-are-runs", "--json")
    assert Reliability.from_dict(json.loads(twice.out)).models[0].runs == ("large/1", "large/2")


def test_a_table_may_be_renamed(shell: Shell, runs: str) -> None:
    one = shell.write("one.csv", "".join(line + "\n" for line in RUNS.splitlines() if not line.startswith("BB")))
    ran = shell("reliability", f"first={one}", "--json")
    assert Reliability.from_dict(json.loads(ran.out)).models[0].name == "first"
    assert "moves the score of first by" in ran.out
    shell.assert_refused("reliability", runs, "--metric", "acc", exit_code=2, parts=["--metric acc", "is a table"])


def test_what_cannot_be_answered_is_refused(shell: Shell, runs: str) -> None:
    scores = shell.write("s.csv", SCORES)
    shell.assert_refused("reliability", scores, parts=["s.csv", "one run", "column 'run'", "--files-are-runs"])
    shell.assert_refused("reliability", runs, runs, parts=["runs.csv", "as well"])
    other = shell.write("o.csv", "model,run,item,score\nA,9,z1,1\nA,9,z2,1\n")
    shell.assert_refused("reliability", runs, other, parts=["o.csv", "no item that all runs before it have", "'z1'"])
    shell.assert_refused("reliability", "none.csv", parts=["none.csv", "no such file"])
    shell.assert_refused("reliability", runs, "--level", "1.5", exit_code=2, parts=["level"])
    shell.assert_refused("reliability", runs, "--power", "0.01", exit_code=2, parts=["power"])
    shell.assert_refused("reliability", exit_code=2, parts=["Missing argument"])
