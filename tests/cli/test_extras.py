"""A core installation: without numba and without what draws charts into files. In a process that cannot import them."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from assay.examples import copy, copy_survey
from tests.cli.command import Shell

#: Blocks the import of what extras bring, then runs commands one after another and prints their exit codes.
BLOCKED = """
import json, sys
for name in ("numba", "llvmlite", "vl_convert", "altair", "torch", "openpyxl", "cryptography", "sacrebleu"):
    sys.modules[name] = None
from assay.cli.command_line import command_line
from assay.stats import bootstrap, ranking
from assay.stats.bootstrap import resampling, simultaneous
from assay.stats.ranking import pairs, shared_signs
from assay.stats.survey import respondents
for module in (resampling, simultaneous, ranking, shared_signs, respondents):
    module._COMPILE_ABOVE = 0  # where there would be something to compile
pairs._COMPILE_SQUARES_ABOVE = 0
codes = []
for command in json.loads(sys.argv[1]):
    codes.append(command_line(command[:1])(command, standalone_mode=False) or 0)
print("codes", codes)
"""
COMMANDS = [
    "summarize scores-base.csv scores-int3.csv",
    "compare losses-base.csv losses-int3.csv --resamples 500",
    "certify losses-base.csv losses-int8.csv -o gate.json --replicates 300 --note quick",
    "verify gate.json",
    "rank scores-base.csv scores-int3.csv scores-bigram.csv --adjust max-t --resamples 300",
    "reliability runs-sampled.csv",
    "power --difference 0.05 --sd 0.4",
    "survey survey.json predictions.csv --only scores,noise,intervals --resamples 200 -o report",
    "compare scores-base.csv scores-int3.csv --save saved.json",
    "report saved.json gate.json -o page.html",
]


def test_every_verb_without_a_model_works_without_extras(tmp_path: Path) -> None:
    copy(tmp_path)
    copy_survey(tmp_path)
    commands = json.dumps([command.split() for command in COMMANDS])
    ran = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", BLOCKED, commands],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.stdout.splitlines()[-1:] == [f"codes {[0] * len(COMMANDS)}"], ran.stderr
    assert not list((tmp_path / "report").glob("*.svg"))
    assert "svg" not in (tmp_path / "report" / "survey.md").read_text(encoding="utf-8")
    assert "<script" in (tmp_path / "page.html").read_text(encoding="utf-8")  # which draws its charts


def test_a_chart_in_a_file_names_the_extra_before_anything_is_read(
    shell: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "vl_convert", None)
    command = ("compare", "nowhere.csv", "nowhere.csv", "--chart", "a.svg")
    shell.assert_refused(*command, exit_code=2, parts=["assay-eval[charts]", "a.svg"])
