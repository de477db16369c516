"""Links that loop and paths of 5,000 characters, as every input and every output: one line, never a traceback."""

import shutil

import pytest

from assay.examples import SURVEY
from tests.cli.command import LOSSES, SCORES, Shell

ODD = {"loop": "loop", "inside a loop": "loop/f.json", "long": "x" * 5000, "long and deep": "x/" * 2500 + "f.json"}

READING = {
    "compare": ["compare", "ODD", "a.csv"],
    "compare named": ["compare", "name=ODD", "a.csv"],
    "certify": ["certify", "ODD", "a.csv"],
    "certify --sign": ["certify", "a.csv", "a.csv", "--sign", "ODD"],
    "certify --policy": ["certify", "a.csv", "a.csv", "--policy", "ODD"],
    "verify": ["verify", "ODD"],
    "verify --key": ["verify", "c.json", "--key", "ODD"],
    "verify --evidence": ["verify", "c.json", "--evidence", "ODD"],
    "verify --policy": ["verify", "c.json", "--policy", "ODD"],
    "context": ["context", "ODD"],
    "japanese": ["japanese", "ODD"],
    "tune": ["tune", "ODD"],
    "tune --targets": ["tune", "a.csv", "--targets", "ODD"],
    "rank": ["rank", "ODD", "a.csv"],
    "survey": ["survey", "ODD", "a.csv"],
    "survey results": ["survey", "survey.json", "ODD"],
    "survey --prior": ["survey", "survey.json", "predictions.csv", "--prior", "ODD"],
    "survey --summary": ["survey", "survey.json", "predictions.csv", "--summary", "ODD"],
    "summarize": ["summarize", "ODD"],
    "reliability": ["reliability", "ODD"],
    "power": ["power", "ODD", "a.csv", "--difference", "0.1"],
    "report": ["report", "ODD"],
    "report --serve": ["report", "--serve", "ODD"],
}

WRITING = {
    "compare": ["compare", "a.csv", "a.csv", "--save", "ODD"],
    "certify": ["certify", "a.csv", "a.csv", "-o", "ODD.json"],
    "certify --markdown": ["certify", "a.csv", "a.csv", "-o", "new.json", "--markdown", "ODD"],
    "summarize --chart": ["summarize", "a.csv", "--chart", "ODD.svg"],
    "rank --chart": ["rank", "a.csv", "b.csv", "--chart", "ODD.svg"],
    "rank --markdown": ["rank", "a.csv", "b.csv", "--markdown", "ODD"],
    "power": ["power", "--sd", "0.4", "--difference", "0.1", "--save", "ODD"],
    "survey": ["survey", "survey.json", "predictions.csv", "--only", "scores", "-o", "ODD"],
    "keygen": ["keygen", "ODD"],
    "report": ["report", "board.json", "-o", "ODD.html"],
    "demo": ["demo", "ODD"],
}

MODELS = {
    "score": ["score", "ODD", "a.txt", "-o", "run"],
    "score text": ["score", "BASE", "ODD", "-o", "run"],
    "score -o": ["score", "BASE", "a.txt", "-o", "ODD"],
    "score -o --overwrite": ["score", "BASE", "a.txt", "-o", "ODD", "--overwrite"],
    "score --adapter": ["score", "BASE", "a.txt", "--adapter", "ODD", "-o", "run"],
    "generate": ["generate", "ODD", "p.jsonl", "-o", "said.jsonl"],
    "generate prompts": ["generate", "BASE", "ODD", "-o", "said.jsonl"],
    "generate -o": ["generate", "BASE", "p.jsonl", "--max-tokens", "1", "-o", "ODD/said.jsonl"],
    "japanese prompts": ["japanese", "BASE", "ODD.jsonl"],
    "tune run --generate": [
        *("tune", "run", "--base", "BASE", "--train", "a.txt", "--valid", "a.txt", "--generate", "ODD", "-o", "run"),
    ],
    "tune run": ["tune", "run", "--base", "ODD", "--train", "a.txt", "--valid", "a.txt", "-o", "run"],
    "tune run --train": ["tune", "run", "--base", "BASE", "--train", "ODD", "--valid", "a.txt", "-o", "run"],
    "tune run -o": [
        "tune",
        "run",
        "--base",
        "BASE",
        "--train",
        "a.txt",
        "--valid",
        "a.txt",
        "--steps",
        "1",
        "-o",
        "ODD",
    ],
}


@pytest.fixture
def files(shell: Shell) -> Shell:
    (shell.folder / "loop").symlink_to("loop")
    shell.write("a.csv", SCORES)
    shell.write("b.csv", SCORES.replace("q2,0", "q2,1"))
    shell.write("losses.csv", LOSSES)
    shell.write("p.jsonl", '{"prompt": "Some"}\n')
    shell.write("a.txt", "Some text, which is not long. " * 20)
    for name in ("survey.json", "predictions.csv"):
        shutil.copy(SURVEY / name, shell.folder)
    return shell


def assert_one_line(shell: Shell, command: list[str], odd: str) -> None:
    from assay import models

    before = sorted(path.name for path in shell.folder.iterdir())
    arguments = [part.replace("ODD", odd).replace("BASE", str(models.path("base"))) for part in command]
    ran = shell(*arguments)
    assert (ran.exit_code in (2, 3), ran.out) == (True, ""), ran
    said = ran.err
    assert (said.count("\n"), said.startswith("assay: ")) == (1, True), ran.err
    assert sorted(path.name for path in shell.folder.iterdir()) == before


@pytest.mark.parametrize("odd", ODD)
@pytest.mark.parametrize("verb", READING)
def test_as_an_input(verb: str, odd: str, files: Shell) -> None:
    if verb.startswith("verify --"):
        assert files("certify", "a.csv", "a.csv", "-o", "c.json").exit_code in (0, 1)
    assert_one_line(files, READING[verb], ODD[odd])


@pytest.mark.parametrize("odd", ODD)
@pytest.mark.parametrize("verb", WRITING)
def test_as_an_output(verb: str, odd: str, files: Shell) -> None:
    if verb == "report":
        assert files("rank", "a.csv", "b.csv", "--save", "board.json").exit_code == 0
    if odd == "loop" and verb not in ("survey", "demo", "keygen"):
        odd = "inside a loop"  # a link that is itself the target is replaced, not followed
    assert_one_line(files, WRITING[verb], ODD[odd])


@pytest.mark.slow
@pytest.mark.parametrize("odd", ODD)
@pytest.mark.parametrize("verb", MODELS)
def test_of_models(verb: str, odd: str, files: Shell) -> None:
    pytest.importorskip("peft")
    files.monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    assert_one_line(files, MODELS[verb], ODD[odd])
