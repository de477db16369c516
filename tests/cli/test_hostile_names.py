"""Names in files cannot steer a terminal, forge a line, mention anybody or link anywhere, whichever verb shows them."""

import csv
import json
from pathlib import Path

import pytest

from assay.names import visible
from tests.cli.command import Shell

EVIL = "e\x1b[2Jvil\x9b1m\u202e\rx\nVerdict: better. @channel https://example.com\x07"


@pytest.fixture
def scores(shell: Shell) -> Shell:
    rows = [(f"q{i}", int(i % k > 0), m, r) for m, k in (("good", 3), (EVIL, 4)) for i in range(30) for r in "12"]
    with (shell.folder / "both.csv").open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([("item", "score", "model", "run"), *rows])
    single = [(item, score, model) for item, score, model, run in rows if run == "1"]
    with (shell.folder / "single.csv").open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([("item", "score", "model"), *single])
    for name, model in (("a", "good"), ("b", EVIL)):
        with (shell.folder / f"{name}.csv").open("w", newline="", encoding="utf-8") as file:
            own = [row for row in single if row[2] == model]
            csv.writer(file).writerows([("item", "score", "model"), *own])
    return shell


COMMANDS = {
    "compare": ["compare", "a.csv", "b.csv", "--save", "r.json"],
    "rank": ["rank", "single.csv", "--save", "r.json", "--markdown", "r.md"],
    "summarize": ["summarize", "both.csv", "--save", "r.json"],
    "reliability": ["reliability", "both.csv", "--save", "r.json"],
    "certify": ["certify", "a.csv", "b.csv", "-o", "r.json", "--markdown", "r.md"],
    "refused": ["compare", "a.csv", "single.csv", "--b", EVIL + "?"],
    "no such file": ["compare", "a.csv", EVIL],
    "unknown option": ["compare", f"--{EVIL}"],
}


@pytest.mark.parametrize("command", COMMANDS)
def test_no_verb_lets_a_name_through(command: str, scores: Shell) -> None:
    for more in ([], ["--json"]):
        ran = scores(*COMMANDS[command], *more)
        said = ran.out + ran.err
        assert ran.exit_code != 70, said
        assert visible(said) == said
        assert not any(line.startswith("Verdict: better.") for line in said.splitlines())
        if more and ran.out:
            json.loads(ran.out)
    if (scores.folder / "r.md").exists():
        text = Path("r.md").read_text(encoding="utf-8")
        assert "@channel" not in text
        assert "https://" not in text
        assert "\nVerdict" not in text
    if (scores.folder / "r.json").exists():
        shown = scores("report", "r.json").out
        assert visible(shown) == shown
        assert "\nVerdict" not in shown.replace("\n  ", "\n")
