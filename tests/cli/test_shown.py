"""What becomes of a result, the same for every verb: sentence, tables, charts, everything, JSON."""

import csv
import json
from io import StringIO
from pathlib import Path

import pytest

from assay.cli.main import VERBS, command_line
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
}


@pytest.fixture
def files(shell: Shell) -> Shell:
    copy(shell.folder)
    return shell


@pytest.mark.parametrize("verb", COMMANDS)
def test_the_sentence_alone(files: Shell, verb: str) -> None:
    ran = files(*COMMANDS[verb], "--sentence")
    found = json.loads(files(*COMMANDS[verb], "--json").out)
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
        assert {"chart", "table", "sentence", "verbose", "full", "save", "as_json"} <= set(taken)
        assert "out" not in taken
