"""How far a command has come: on a terminal that is a fake, in the log of a CI job, and nowhere else."""

import os
import pty
import subprocess
import sys
import time
from io import StringIO
from pathlib import Path

import pytest

from assay import examples
from assay.cli import progress
from assay.progress import counted, working


class Terminal(StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture(autouse=True)
def _hasty(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CI", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "100")
    for screen in (progress.ProgressBars, progress.Lines):
        monkeypatch.setattr(screen, "every", 0.01)
        monkeypatch.setattr(screen, "patience", 0.0)


def seen(stream: StringIO, text: str) -> bool:
    """Whether a text appears within some seconds; machines are busy."""
    end = time.monotonic() + 8
    while text not in stream.getvalue() and time.monotonic() < end:
        time.sleep(0.01)
    return text in stream.getvalue()


def test_a_terminal_has_a_bar_with_count_rate_and_time_left_that_is_taken_away() -> None:
    stream = Terminal()
    with progress.shown(stream), working("base", "tokens", 1000) as done:
        done(0, 1000)
        time.sleep(0.05)
        done(400, 1000)
        assert seen(stream, "400/1000")
        assert seen(stream, "tokens/s")
    assert "base" in stream.getvalue()
    assert stream.getvalue().endswith(("\x1b[2K", "\x1b[?25h"))  # the line is wiped, the cursor is back


def test_what_is_printed_stands_above_the_bars_and_results_end_the_work(capsys: pytest.CaptureFixture[str]) -> None:
    stream = Terminal()
    with progress.shown(stream), working("base", "tokens", 10) as done:
        done(1, 10)
        assert seen(stream, "1/10")
        progress.printed("a note", err=True)
        progress.printed("the result")
        shown = stream.getvalue()
        time.sleep(0.1)
        assert stream.getvalue() == shown
    assert capsys.readouterr() == ("the result\n", "a note\n")


def test_short_work_is_not_mentioned(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress.ProgressBars, "patience", progress.PATIENCE)
    stream = Terminal()
    with progress.shown(stream):
        for _ in counted(range(5), "quick", "items"):
            time.sleep(0.02)
    assert stream.getvalue() == ""


def test_no_terminal_no_word() -> None:
    stream = StringIO()
    with progress.shown(stream), working("base", "tokens", 10) as done:
        done(5, 10)
        time.sleep(0.05)
        progress.tokens_of("other")(3, 4)
    assert stream.getvalue() == ""


def test_a_ci_job_has_a_line_now_and_then(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CI", "true")
    stream = StringIO()
    with progress.shown(stream), working("rank"), working("pairs", "pairs", 1000) as done:
        done(0, 1000)
        time.sleep(0.05)
        done(250, 1000)
        assert seen(stream, "pairs: 250 of 1,000 pairs, ")
        assert seen(stream, " s left\n")
    assert "\x1b" not in stream.getvalue()
    assert (progress.BETWEEN_LINES, progress.PATIENCE) == (60.0, 2.0)


def test_the_rate_is_of_what_was_done_now_not_of_what_was_resumed() -> None:
    work = progress.Work("base", "tokens", None, began=time.monotonic() - 10)
    work(900, 1000)
    assert work.rate == 0
    assert work.line() == "base: 900 of 1,000 tokens"
    work(950, 1000)
    assert work.rate == pytest.approx(5, rel=0.05)
    assert work.line().startswith("base: 950 of 1,000 tokens, 5 tokens/s, 10 s left")


def test_names_from_files_give_no_orders_to_the_terminal() -> None:
    stream = Terminal()
    with progress.shown(stream), working("[red]x\x1b]0;owned\x07", "tokens", 10) as done:
        done(1, 10)
        assert seen(stream, "[red]x")
    assert "\x1b]0" not in stream.getvalue()


def test_a_model_counts_from_when_it_is_loaded_to_its_last_token() -> None:
    stream = Terminal()
    with progress.shown(stream):
        advance = progress.prompts_of("base")
        assert seen(stream, "base")  # before the first is done
        advance(3, 4)
        assert seen(stream, "3/4")
        advance(4, 4)
        before = stream.getvalue()
        time.sleep(0.05)
        assert stream.getvalue() == before


def test_inside_another_block_the_outer_one_shows() -> None:
    stream, other = Terminal(), Terminal()
    with progress.shown(stream), progress.shown(other), working("base", "tokens", 2) as done:
        done(1, 2)
        assert seen(stream, "1/2")
    assert other.getvalue() == ""


def test_stdout_is_the_same_where_stderr_is_a_terminal(tmp_path: Path) -> None:
    ours, theirs = pty.openpty()
    command = [sys.executable, "-c", "from assay.cli.main import main; main()"]
    command += ["summarize", str(examples.path("scores-base.csv"))]
    environment = {**os.environ, "TERM": "xterm"}
    with_terminal = subprocess.run(command, stdout=subprocess.PIPE, stderr=theirs, env=environment, check=True)
    without = subprocess.run(command, capture_output=True, env=environment, check=True)
    os.close(theirs)
    os.close(ours)
    assert with_terminal.stdout == without.stdout
    assert without.stderr == b""


def test_a_verb_that_loads_a_model_speaks_sooner_than_others(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a status line within a second, the start of the command takes a part."""
    monkeypatch.setattr(progress.ProgressBars, "patience", progress.PATIENCE)
    patience: list[float] = []
    screen = progress.ProgressBars(StringIO())
    monkeypatch.setattr(progress, "screen_for", lambda _: screen)
    for at_once in (False, True):
        with progress.shown(at_once=at_once):
            patience.append(screen.patience)
    assert patience[1] == progress.AT_ONCE < 0.5 < patience[0]
