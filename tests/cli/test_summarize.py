"""`assay summarize`: the record of the library on stdout, refusals as one line with their exit code."""

import json

import pytest

from assay import Design, Summary, examples, summarize
from tests.cli.command import LOSSES, SCORES, Shell
from tests.data.readers.harness.logs import INSPECT


@pytest.fixture
def scores(shell: Shell) -> str:
    return shell.write("s.csv", SCORES)


def test_text_is_the_record_of_the_library(shell: Shell, scores: str) -> None:
    ran = shell("summarize", scores, "--level", "0.9")
    assert (ran.exit_code, ran.err) == (0, "")
    assert ran.out == str(summarize(scores, design=Design(level=0.9))) + "\n"
    assert ran.out.startswith("The score of s is 0.67 (90% CI 0.")


def test_json_is_the_record_of_the_library(shell: Shell) -> None:
    paths = [str(examples.path(f"losses-{name}.csv")) for name in ("base", "int8")]
    ran = shell("summarize", *paths, "--cluster", "document", "--split", "final", "--json")
    assert Summary.from_dict(json.loads(ran.out)) == summarize(*paths, cluster="document", split="final")


def test_the_method_is_the_named_one(shell: Shell, scores: str) -> None:
    for method in ("bca", "t", "percentile"):
        found = Summary.from_dict(json.loads(shell("summarize", scores, "--method", method, "--json").out))
        assert found.models[0].value.interval is not None
        assert found.models[0].value.interval.method == method
    shell.assert_refused(
        "summarize", scores, "--method", "tango", exit_code=2, parts=["tango is an interval of a difference"]
    )


def test_columns_direction_and_several_models(shell: Shell) -> None:
    shell.write("e.csv", "id,system,errors\na,x,3\nb,x,2\na,y,1\nb,y,0\n")
    ran = shell("summarize", "e.csv", "--columns", "item=id,model=system,score=errors", "--lower-is-better", "--json")
    found = Summary.from_dict(json.loads(ran.out))
    assert [(model.name, model.value.value) for model in found.models] == [("y", 0.5), ("x", 2.5)]


def test_logs_of_a_harness_and_names(shell: Shell) -> None:
    ran = shell("summarize", f"large={INSPECT / 'large.eval'}", "--scorer", "match", "--json")
    found = Summary.from_dict(json.loads(ran.out))
    assert [(model.name, model.value.value, model.n) for model in found.models] == [("large", 0.75, 4)]


def test_charts_and_results_are_written(shell: Shell, scores: str) -> None:
    ran = shell("summarize", scores, "--chart", "c.svg", "--save", "r.json")
    assert ran.exit_code == 0
    assert "<svg" in (shell.folder / "c.svg").read_text(encoding="utf-8")
    assert Summary.from_dict(json.loads((shell.folder / "r.json").read_text(encoding="utf-8"))) == summarize(scores)
    assert summarize(scores).sentence in shell("report", "r.json").out


def test_what_cannot_be_answered_is_refused(shell: Shell, scores: str) -> None:
    losses = shell.write("l.csv", LOSSES)
    shell.assert_refused("summarize", exit_code=2, parts=["Missing argument"])
    shell.assert_refused("summarize", "none.csv", parts=["none.csv", "no such file"])
    shell.assert_refused("summarize", scores, losses, parts=["s.csv", "l.csv"])
    shell.assert_refused("summarize", scores, "--level", "1.5", exit_code=2, parts=["level"])
    shell.assert_refused("summarize", scores, "--metric", "acc", exit_code=2, parts=["--metric acc", "is a table"])
    shell.assert_refused("summarize", scores, "--save", scores, exit_code=2, parts=["is read"])
    shell.assert_refused("summarize", scores, "--chart", "c.gif", exit_code=2, parts=["c.gif"])


RUNS = "item,run,score\n" + "".join(f"q{i},{run},{int((i * i + run) % 5 > 1)}\n" for i in range(12) for run in range(4))


def test_attempts_are_those_of_the_library(shell: Shell) -> None:
    path = shell.write("runs.csv", RUNS)
    ran = shell("summarize", path, "--at", "2, 1", "--json")
    found = Summary.from_dict(json.loads(ran.out))
    assert found == summarize(path, at=[1, 2])
    assert [rate.k for rate in found.passes] == [1, 2]
    text = shell("summarize", path).out
    assert "pass@k [95%]" in text
    assert "of the variance of pass@1 is between attempts" in text


@pytest.mark.parametrize(
    ("at", "exit_code", "part"),
    [
        ("9", 3, "runs has at most 4 attempts at an item, too few for --at 9"),
        ("x", 2, "--at must be whole numbers with commas between them, but got 'x'"),
        ("1,,2", 2, "--at must be whole numbers"),
        ("0", 2, "at must be a whole number from 1 to 100,000, but got 0"),
        ("-1", 2, "at must be a whole number from 1 to 100,000, but got -1"),
    ],
)
def test_attempts_that_are_refused(shell: Shell, at: str, exit_code: int, part: str) -> None:
    path = shell.write("runs.csv", RUNS)
    shell.assert_refused("summarize", path, f"--at={at}", exit_code=exit_code, parts=[part])


def test_a_comparison_of_attempts(shell: Shell) -> None:
    a, b = shell.write("a.csv", RUNS), shell.write("b.csv", RUNS.replace(",0\n", ",1\n", 9))
    ran = shell("compare", a, b, "--at", "2", "--every", "--json")
    assert json.loads(ran.out)["measure"] == "pass^2"
    assert "pass@3" in shell("compare", a, b, "--at", "3").out
    shell.assert_refused("compare", a, b, "--every", exit_code=2, parts=["say how many with --at k"])
    shell.assert_refused("compare", a, b, "--at", "5", exit_code=3, parts=["a has at most 4 attempts at an item"])
