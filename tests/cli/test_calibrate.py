"""`assay calibrate`: what it prints, writes and refuses."""

import json
import shlex

import numpy as np
import pytest

from tests.cli.command import Shell


def table(seed: int, n: int = 25) -> str:
    values = np.random.default_rng(seed).normal(size=n).round(6)
    return "item,score\n" + "".join(f"q{i},{value}\n" for i, value in enumerate(values))


@pytest.fixture
def two(shell: Shell) -> Shell:
    shell.write("a.csv", table(0))
    shell.write("b.csv", table(1))
    return shell


def test_json_table_chart_sentence_and_page_say_the_same(two: Shell) -> None:
    asked = ("calibrate", "a.csv", "b.csv", "--simulations", "20", "--method", "t", "--test", "t")
    ran = two(*asked, "--json", "--chart", "c.svg", "--table", "csv=t.csv", "--save", "r.json", "--markdown", "r.md")
    assert ran.exit_code == 0
    found = json.loads(ran.out)
    first = found["worlds"][0]["methods"][0]
    assert (found["schema"], first["method"], found["simulations"]) == ("assay/calibration/1", "t", 20)
    rows = (two.folder / "t.csv").read_text("utf-8").splitlines()
    covers = rows[0].split(",").index("covers")
    assert float(rows[1].split(",")[covers]) == first["covered"]["value"]
    assert "<svg" in (two.folder / "c.svg").read_text("utf-8")
    assert two(*asked, "--sentence").out.strip() == found["sentence"]
    assert found["sentence"] in (two.folder / "r.md").read_text("utf-8")
    assert two("report", "r.json", "-o", "page.html").exit_code == 0
    assert "25 items" in (two.folder / "page.html").read_text("utf-8")


def test_the_command_that_it_names_runs(two: Shell) -> None:
    found = json.loads(two("calibrate", "a.csv", "b.csv", "--simulations", "20", "--method", "t", "--json").out)
    assert found["command"] == "assay compare a.csv b.csv --method t"
    assert two(*found["command"].split()[1:]).exit_code == 0


@pytest.mark.parametrize(
    ("options", "exit_code", "part"),
    [
        (["a.csv", "b.csv", "--simulations", "0"], 2, "simulations must be from 20 to 1,000,000, but got 0"),
        (["a.csv", "b.csv", "--simulations", "40", "--quick"], 2, "leave out --simulations, or --quick"),
        (["a.csv", "b.csv", "--scenario", "normal-30"], 2, "leave out --scenario, or the files"),
        (["--scenario", "skewed"], 2, "no scenario is called 'skewed'"),
        (["--verb", "survey"], 2, "no built-in scenarios of survey"),
        (["a.csv", "b.csv", "--workers", "0"], 2, "--workers must be at least 1"),
        (["a.csv"], 2, "two files"),
        (["a.csv", "b.csv", "--adjust", "bh"], 2, "--adjust is of rank, and compare is simulated"),
        (["a.csv", "b.csv", "--max-drop", "0.1"], 2, "or say --verb certify"),
        (["a.csv", "b.csv", "--verb", "rank", "--tier", "aggressive"], 2, "limits are of certify, and rank"),
        (["a.csv", "one.csv"], 3, "no item is in every table"),
        (["one.csv", "one.csv"], 3, "at least two items to draw from"),
        (["a.csv", "nan.csv"], 3, "nan.csv"),
        (["a.csv", "same.csv"], 3, "have the same difference"),
        (["a.csv", "gone.csv"], 3, "gone.csv"),
    ],
)
def test_what_is_refused_and_nothing_is_written(two: Shell, options: list[str], exit_code: int, part: str) -> None:
    two.write("one.csv", "item,score\nx,1\n")
    two.write("nan.csv", "item,score\nq0,inf\nq1,2\n")
    two.write("same.csv", table(0))
    two.assert_refused("calibrate", *options, "--save", "r.json", exit_code=exit_code, parts=[part])
    assert not (two.folder / "r.json").exists()


def test_the_command_says_what_was_asked_for(shell: Shell) -> None:
    for name, seed in (("a b.csv", 0), ("c.csv", 1)):
        rows = [f"{line},{i % 6}" for i, line in enumerate(table(seed).splitlines()[1:])]
        shell.write(name, "\n".join(["id,score,group", *rows]))
    asked = ["a b.csv", "c.csv", "--columns", "item=id", "--cluster", "group", "--method", "t", "--test", "t"]
    found = json.loads(shell("calibrate", *asked, "--simulations", "20", "--json").out)
    assert shlex.split(found["command"]) == ["assay", "compare", *asked]
    assert shell("compare", *asked).exit_code == 0


def test_the_command_for_a_certificate_runs(two: Shell) -> None:
    asked = ("calibrate", "a.csv", "b.csv", "--verb", "certify", "--simulations", "20", "--max-drop", "0.9", "--json")
    command = json.loads(two(*asked).out)["command"]
    assert command == "assay certify a.csv b.csv --max-drop 0.9 --note calibrated --output certificate.json"
    assert two(*command.split()[1:]).exit_code in (0, 1)
    assert (two.folder / "certificate.json").exists()
