"""What becomes of a result, the same for every verb: sentence, tables, charts, everything, JSON."""

import csv
import json
import os
import subprocess
import sys
from io import StringIO
from pathlib import Path

import pytest

from assay.cli.command_line import command_line
from assay.cli.verbs import VERBS
from assay.examples import copy
from tests.cli.command import Shell

PAIR = ("scores-base.csv", "scores-int3.csv")
#: A short command of every verb that has a result without a model.
COMMANDS = {
    "compare": ("compare", *PAIR),
    "rank": ("rank", *PAIR, "scores-trigram.csv", "--resamples", "200"),
    "summarize": ("summarize", *PAIR),
    "reliability": ("reliability", "runs-sampled.csv"),
    "power": ("power", "--sd", "0.4", "--difference", "0.05"),
    "japanese": ("japanese", "generations.csv", "--scripts", "basic"),
    "certify": ("certify", "losses-base.csv", "losses-int8.csv", "-o", "gate.json"),
    "verify": ("verify", "issued.json"),
}


@pytest.fixture
def files(shell: Shell) -> Shell:
    copy(shell.folder)
    shell("certify", "losses-base.csv", "losses-int8.csv", "-o", "issued.json")
    return shell


@pytest.mark.parametrize("verb", COMMANDS)
def test_the_sentence_alone(files: Shell, verb: str) -> None:
    ran = files(*COMMANDS[verb], "--sentence")
    found = json.loads(files(*COMMANDS[verb], "--json").out)
    found["sentence"] = found.get("sentence", ran.out.removesuffix("\n"))  # a certificate holds facts, no words
    found["signature"] = found.get("signature") or found["judged"]["signature"]
    assert ran.out == found["sentence"] + "\n"
    text = files(*COMMANDS[verb]).out
    assert text.startswith(found["sentence"])
    assert found["signature"] not in text
    assert found["signature"] in files(*COMMANDS[verb], "-v").out


@pytest.mark.parametrize("verb", COMMANDS)
@pytest.mark.parametrize("form", ["latex", "markdown", "csv", "html"])
def test_the_main_table_instead_of_the_text(files: Shell, verb: str, form: str) -> None:
    ran = files(*COMMANDS[verb], "--table", form)
    assert (ran.exit_code, ran.err) == (0, "")
    start = {"latex": "% needs", "markdown": "| ", "html": "<table>", "csv": ""}[form]
    assert ran.out.startswith(start)
    written = files(*COMMANDS[verb], "--table", f"{form}=t.txt", "--sentence")
    assert written.err == "Table: t.txt\n"
    assert Path("t.txt").read_text(encoding="utf-8") == ran.out


def test_another_table_by_name_has_the_numbers_of_the_record(files: Shell) -> None:
    rows = list(csv.DictReader(StringIO(files(*COMMANDS["rank"], "--table", "csv:pairs").out)))
    found = json.loads(files(*COMMANDS["rank"], "--json").out)
    assert [float(row["p_value"]) for row in rows] == found["pairs"]["test"]["p_value"]
    files.assert_refused(*COMMANDS["rank"], "--table", "csv:pear", exit_code=2, parts=["no table 'pear'", "'pairs'"])
    files.assert_refused(*COMMANDS["rank"], "--table", "xls", exit_code=2, parts=["--table must look like", "'xls'"])


def test_several_charts_at_once_and_another_figure_by_name(files: Shell) -> None:
    ran = files(*COMMANDS["compare"], "--chart", "a.svg", "--chart", "b.pdf", "--chart", "interval=c.png", "--sentence")
    assert ran.err == "Chart: a.svg\nChart: b.pdf\nChart: c.png\n"
    assert "Who is right" in Path("a.svg").read_text(encoding="utf-8")
    assert Path("b.pdf").read_bytes().startswith(b"%PDF-")
    assert Path("c.png").read_bytes().startswith(b"\x89PNG")
    files.assert_refused(*COMMANDS["compare"], "--chart", "x=a.svg", exit_code=2, parts=["no figure 'x'", "interval"])


def test_where_one_file_cannot_be_written_none_is(files: Shell) -> None:
    Path("folder").mkdir()
    ran = files(*COMMANDS["compare"], "--table", "csv=t.csv", "--save", "folder")
    assert ran.exit_code != 0
    assert not Path("t.csv").exists()


def test_every_verb_with_a_result_has_the_options() -> None:
    names = {command.name: command for command in command_line(VERBS).registered_commands}
    for verb in COMMANDS:
        taken = names[verb].callback.__annotations__
        assert {"chart", "table", "sentence", "verbose", "full", "markdown", "as_json"} <= set(taken)
        assert "out" not in taken


@pytest.mark.parametrize("verb", ["certify", "verify"])
def test_a_certificate_is_short_and_everything_is_behind_v(files: Shell, verb: str) -> None:
    short, full = files(*COMMANDS[verb]).out, files(*COMMANDS[verb], "-v").out
    facts = short.split("\n\n")[-1].splitlines()
    assert len([line for line in facts if not line.startswith(("note", "fallback"))]) <= 8
    assert "Rules" not in short
    for said in ("Rules", "published recipe", "scheme", "bits per byte"):
        assert said in full


def test_a_rule_that_is_not_met_always_shows(files: Shell) -> None:
    few = ("certify", "scores-base.csv", "scores-int3.csv", "-o", "few.json", "--min-windows", "600", "--note", "more")
    for command in (few, ("verify", "few.json")):
        rules = next(block for block in files(*command).out.split("\n\n") if block.startswith("Rules"))
        assert rules.splitlines()[2:] == [
            "final minimum  not met  500 items of at least 600 in the tier balanced, 100 too few"
        ]


def test_a_recipe_runs_again_and_finds_what_changed(files: Shell) -> None:
    """The oracle is sh, sha256sum and diff."""
    for verb in ("compare", "certify", "compare"):  # the same command is in it once
        files(*COMMANDS[verb], "--recipe", "paper.sh", "--table", "csv=t.csv", "-v")
    text = Path("paper.sh").read_text(encoding="utf-8")
    assert text.count("\n# ---- assay compare scores-base.csv scores-int3.csv\n") == 1
    assert "--recipe" not in text
    environment = {**os.environ, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    ran = subprocess.run(["/bin/sh", "paper.sh"], env=environment, capture_output=True, text=True, check=False)
    assert (ran.returncode, ran.stdout, ran.stderr) == (0, "", "")
    with Path("scores-int3.csv").open("a", encoding="utf-8") as file:
        file.write("another,1,\n")
    assert subprocess.run(["/bin/sh", "paper.sh"], env=environment, capture_output=True, check=False).returncode != 0


def test_a_file_that_is_no_recipe_is_left_alone(files: Shell) -> None:
    files.write("mine.sh", "echo mine\n")
    files.assert_refused(*COMMANDS["compare"], "--recipe", "mine.sh", exit_code=2, parts=["no recipe", "mine.sh"])
    assert Path("mine.sh").read_text(encoding="utf-8") == "echo mine\n"


def test_a_suite_has_its_total_in_the_table_for_a_paper(shell: Shell) -> None:
    rows = [
        (m, t, i, int((i * 7 + len(m) * 3 + t * 5) % 10 < 5 + len(m) % 2))
        for m in ("old", "newer")
        for t in (1, 2)
        for i in range(30)
    ]
    shell.write("s.csv", "model,task,item,score\n" + "".join(f"{m},t{t},{t}-{i},{s}\n" for m, t, i, s in rows))
    command = ("compare", "s.csv", "--a", "old", "--b", "newer")
    found = json.loads(shell(*command, "--json").out)
    *tasks, total = csv.DictReader(StringIO(shell(*command, "--table", "csv").out))
    assert ([row["task"] for row in tasks], total["kind"]) == (["t1", "t2"], "total")
    assert float(total["difference"]) == found["total"]["difference"]["value"]
    lines = shell(*command, "--table", "latex").out.splitlines()
    assert lines[-4] == r"\midrule"
    assert lines[-3].startswith("mean of the tasks & 60 & ")
    assert [line for line in shell(*command).out.splitlines() if line.startswith("mean of the tasks")] == []
