"""Run the command in this process, as a shell would."""

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from assay.cli.main import main

LOSSES = "window,tokens,loss\nw1,512,3.5\nw2,256,2.25\nw3,300,4.125\n"
SCORES = "item,score\nq1,1\nq2,0\nq3,1\n"


@dataclass(frozen=True, slots=True)
class Ran:
    exit_code: int
    out: str
    err: str


@dataclass(frozen=True, slots=True)
class Shell:
    """`shell("compare", "a.csv", "b.csv")` in a folder of its own."""

    folder: Path
    capsys: pytest.CaptureFixture[str]
    monkeypatch: pytest.MonkeyPatch

    def __call__(self, *arguments: str) -> Ran:
        self.monkeypatch.setattr(sys, "argv", ["assay", *arguments])
        with pytest.raises(SystemExit) as ended:
            main()
        captured = self.capsys.readouterr()
        return Ran(int(ended.value.code or 0), captured.out, captured.err)

    def write(self, name: str, text: str) -> str:
        (self.folder / name).write_text(text, encoding="utf-8")
        return name

    def assert_refused(self, *arguments: str, exit_code: int = 3, parts: Sequence[str] = ()) -> str:
        """One line on stderr that has all the parts, nothing on stdout."""
        ran = self(*arguments)
        assert (ran.exit_code, ran.out) == (exit_code, "")
        said = ran.err
        assert said.count("\n") == 1
        assert said.startswith("assay: ")
        assert said.endswith("\n")
        assert "Traceback" not in said
        assert [part for part in parts if part not in said] == [], said
        return said
