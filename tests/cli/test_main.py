"""The command itself: help, version, exit codes, and a real process."""

import itertools
import json
import re
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import pytest

from assay.cli.verbs import VERBS
from assay.version import VERSION
from tests.cli.command import LOSSES, SCORES, Shell


def assay(*arguments: str, folder: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-W", "error", "-c", "from assay.cli.main import main; main()", *arguments]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, encoding="utf-8", check=False)


def test_help_lists_the_verbs_and_the_exit_codes(shell: Shell) -> None:
    ran = shell("--help")
    assert (ran.exit_code, ran.err) == (0, "")
    assert "compare" in ran.out
    assert "2 usage" in ran.out
    assert "3 input refused" in ran.out


def test_help_of_compare_explains_every_option(shell: Shell) -> None:
    ran = shell("compare", "--help")
    assert (ran.exit_code, ran.err) == (0, "")
    data = "--a --b --columns --cluster --split --missing --errors --pair-by --lower-is-better"
    statistics = "--method --level --scheme --resamples --seed --test --margin --json"
    assert [option for option in f"{data} {statistics}".split() if option not in ran.out] == []


def test_the_version_is_that_of_the_distribution(shell: Shell) -> None:
    assert shell("--version").out == f"assay {version('assay-eval')}\n"


def test_no_verb_shows_the_help(shell: Shell) -> None:
    ran = shell()
    assert "compare" in ran.out + ran.err
    assert "Traceback" not in ran.err
    assert ran.exit_code in (0, 2)


@pytest.mark.parametrize("arguments", [["guess"], ["compare"], ["--bogus"]])
def test_what_cannot_be_understood_is_one_line_and_exit_2(shell: Shell, arguments: list[str]) -> None:
    shell.assert_refused(*arguments, exit_code=2, parts=["--help"])


def test_a_real_process_prints_the_result_on_stdout(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text(LOSSES)
    (tmp_path / "b.csv").write_text(LOSSES.replace("3.5", "3.625"))
    text = assay("compare", "a.csv", "b.csv", folder=tmp_path)
    assert (text.returncode, text.stderr) == (0, "")
    assert text.stdout.startswith("Undecided between a and b: perplexity × ")
    data = json.loads(assay("compare", "a.csv", "b.csv", "--json", folder=tmp_path).stdout)
    assert data["sentence"] == text.stdout.splitlines()[0]


def test_a_real_process_refuses_on_stderr(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text(SCORES)
    (tmp_path / "b.csv").write_text(SCORES.replace("q2,0", "q2,?"))
    bad = assay("compare", "a.csv", "b.csv", folder=tmp_path)
    assert (bad.returncode, bad.stdout) == (3, "")
    assert (
        bad.stderr == "assay: b.csv, line 3, column 'score': '?' is not a number; write a number, or true or false.\n"
    )
    usage = assay("compare", "a.csv", "a.csv", "--level", "2", folder=tmp_path)
    assert (usage.returncode, usage.stdout, usage.stderr.count("\n")) == (2, "", 1)


@pytest.mark.parametrize("test", ["t", "wilcoxon"])
def test_the_other_tests_print_no_warnings(tmp_path: Path, test: str) -> None:
    (tmp_path / "a.csv").write_text(SCORES)
    (tmp_path / "b.csv").write_text(SCORES.replace("q2,0", "q2,1"))
    ran = assay("compare", "a.csv", "b.csv", "--test", test, folder=tmp_path)
    assert (ran.returncode, ran.stderr) == (0, "")


def test_a_reader_that_stops_early_makes_no_traceback(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text(SCORES)
    command = [sys.executable, "-c", "from assay.cli.main import main; main()", "compare", "a.csv", "a.csv"]
    with subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        assert b"Traceback" not in process.stderr.read()


def test_the_package_runs_as_the_command() -> None:
    said = subprocess.run([sys.executable, "-m", "assay", "--version"], capture_output=True, check=True, text=True)
    assert said.stdout == f"assay {VERSION}\n"


@pytest.mark.parametrize("verb", ["", *sorted(VERBS), "tune report", "tune run"])
def test_help_has_no_type_beside_flags_and_fits_80_columns(shell: Shell, verb: str) -> None:
    shell.monkeypatch.setenv("COLUMNS", "80")
    text = shell(*verb.split(), "--help").out
    assert "<bool>" not in text
    assert max(map(len, text.splitlines())) <= 80


@pytest.mark.parametrize("verb", [*sorted(VERBS), "tune report", "tune run"])
def test_paragraphs_of_the_help_are_broken_where_the_terminal_ends(shell: Shell, verb: str) -> None:
    shell.monkeypatch.setenv("COLUMNS", "80")
    text = shell(*verb.split(), "--help").out
    for paragraph in re.split(r"\n\s*\n", text.partition("╭")[0].strip())[1:]:  # after the usage
        lines = [line.strip() for line in paragraph.splitlines()]
        for line, after in itertools.pairwise(lines):
            assert len(line) + 1 + len(after.split(" ")[0]) > 78, line  # the next word had no room
    assert "<list[" not in text
    assert "<path>" not in text.partition("╭─ Options")[0]
