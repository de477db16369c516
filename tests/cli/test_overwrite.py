"""`--overwrite` removes nothing before there is something in its place, and nothing that is not ours."""

from pathlib import Path

import pytest

pytest.importorskip("peft")

from assay import models
from tests.cli.command import Shell

TEXT = "Some text, which is not long, and says little. " * 30


def contents(folder: Path) -> dict[str, bytes | None]:
    return {
        str(path.relative_to(folder)): path.read_bytes() if path.is_file() else None
        for path in sorted(folder.rglob("*"))
    }


@pytest.fixture
def training_run(shell: Shell) -> Path:
    run = shell.folder / "run"
    (run / "trained").mkdir(parents=True)
    shell.write("run/training.json", '{"schema": "assay/training/1", "arm": "old"}')
    shell.write("run/events.jsonl", '{"kind": "end", "step": 3}\n')
    shell.write("run/trained/adapter_model.safetensors", "weeks of work")
    shell.write("a.txt", TEXT)
    return run


def tune(**changed: str) -> list[str]:
    options = {"base": str(models.path("base")), "train": "a.txt", "valid": "a.txt", "context": "32", "steps": "1"}
    options |= {"rows": "2", "every-quality": "0"} | changed
    return ["tune", "run", "-o", "run", "--overwrite", *(part for n, v in options.items() for part in (f"--{n}", v))]


@pytest.mark.parametrize(
    ("changed", "code"),
    [({"base": "missing"}, 3), ({"train": "missing.txt"}, 3), ({"rank": "0"}, 2), ({"context": "100000"}, 2)],
)
def test_a_training_run_that_cannot_start_removes_nothing(
    changed: dict[str, str], code: int, shell: Shell, training_run: Path
) -> None:
    shell.monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    before = contents(shell.folder)
    ran = shell(*tune(**changed))
    assert ran.exit_code == code, ran
    assert contents(shell.folder) == before


@pytest.mark.parametrize("name", ["notes.md", "trained/thesis.tex", "windows/mine.csv"])
def test_files_of_others_in_a_training_run_stay(name: str, shell: Shell, training_run: Path) -> None:
    (training_run / name).parent.mkdir(exist_ok=True)
    shell.write(f"run/{name}", "mine")
    before = contents(shell.folder)
    shell.assert_refused(*tune(), parts=["holds files that are not of the training run", name])
    assert contents(shell.folder) == before


def test_a_training_run_is_not_begun_among_files_of_others(shell: Shell) -> None:
    (shell.folder / "run").mkdir()
    shell.write("run/thesis.tex", "mine")
    shell.write("a.txt", TEXT)
    before = contents(shell.folder)
    shell.assert_refused(*tune(), parts=["run: "])
    shell.assert_refused(
        *(part for part in tune() if part != "--overwrite"), parts=["exists and is not a training run"]
    )
    assert contents(shell.folder) == before


@pytest.mark.slow
def test_a_training_run_is_replaced_by_a_complete_one(shell: Shell, training_run: Path) -> None:
    ran = shell(*tune())
    assert ran.exit_code == 0, ran
    assert "old" not in (training_run / "training.json").read_text()
    assert (training_run / "windows" / "run.json").is_file()
    assert sorted(path.name for path in shell.folder.iterdir()) == ["a.txt", "run"]
    assert sorted(path.name for path in training_run.iterdir()) == [
        "events.jsonl",
        "trained",
        "training.json",
        "validation-rows-000000000.parquet",
        "validation-rows-000000001.parquet",
        "windows",
        "windows-base",
    ]


@pytest.mark.parametrize(
    "arguments", [["missing", "a.txt"], ["BASE", "missing.txt"], ["BASE", "a.txt", "--dtype", "odd"]]
)
def test_a_score_that_cannot_start_removes_nothing(arguments: list[str], shell: Shell) -> None:
    shell.monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    shell.write("a.txt", TEXT)
    (shell.folder / "run").mkdir()
    shell.write("run/run.json", '{"schema": "assay/run/1", "shards": 1}')
    shell.write("run/windows-00000.parquet", "a day of scoring")
    before = contents(shell.folder)
    command = [part.replace("BASE", str(models.path("base"))) for part in arguments]
    assert shell("score", *command, "-o", "run", "--overwrite").exit_code in (2, 3)
    assert contents(shell.folder) == before
