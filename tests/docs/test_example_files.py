"""The shipped example files, and the command that copies them."""

import csv
import subprocess
import sys
from pathlib import Path

import pytest

from assay import examples
from assay.errors import InputError, UsageError

LOSSES = [name for name in examples.names() if name.startswith("losses-")]
SCORES = [name for name in examples.names() if name.startswith("scores-")]


def rows(name: str) -> list[dict[str, str]]:
    with examples.path(name).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_there_are_losses_and_scores_and_they_are_small() -> None:
    assert {"losses-base.csv", "losses-int8.csv", "scores-base.csv"} <= set(examples.names())
    assert sum(examples.path(name).stat().st_size for name in examples.names()) < 250_000


@pytest.mark.parametrize("name", LOSSES)
def test_losses_are_of_the_same_windows_and_tokens(name: str) -> None:
    shared = ("window", "document", "split", "tokens", "bytes", "chars")
    found, base = rows(name), rows("losses-base.csv")
    assert [[row[key] for key in shared] for row in found] == [[row[key] for key in shared] for row in base]
    assert len({row["window"] for row in found}) == len(found)
    assert [row["split"] for row in found] == ["preview"] * 180 + ["final"] * 180
    assert all(float(row["loss"]) > 0 and int(row["tokens"]) > 0 for row in found)
    assert all(int(row["tokens"]) <= int(row["bytes"]) for row in found)


def test_no_document_is_in_both_splits() -> None:
    splits = {(row["document"], row["split"]) for row in rows("losses-base.csv")}
    assert len(splits) == len({document for document, _ in splits})


@pytest.mark.parametrize("name", SCORES)
def test_scores_are_right_or_wrong_on_the_same_items(name: str) -> None:
    found, base = rows(name), rows("scores-base.csv")
    assert [(row["item"], row["cluster"]) for row in found] == [(row["item"], row["cluster"]) for row in base]
    assert len({row["item"] for row in found}) == len(found) == 500
    assert {row["score"] for row in found} == {"0", "1"}


def test_models_rank_as_they_were_made() -> None:
    """Rounding to 3 bits and a shorter context must cost something; no more is assumed."""
    totals = {name: sum(float(row["loss"]) * int(row["tokens"]) for row in rows(name)) for name in LOSSES}
    assert totals["losses-base.csv"] < totals["losses-int3.csv"]
    assert totals["losses-base.csv"] < totals["losses-trigram.csv"]


def test_an_unknown_name_is_refused_with_the_known_ones() -> None:
    with pytest.raises(UsageError, match=r"no example file 'nothing\.csv'; there are .*losses-base\.csv"):
        examples.path("nothing.csv")


def test_copy_makes_the_folder_and_may_be_repeated(tmp_path: Path) -> None:
    for _ in range(2):
        copied = examples.copy(tmp_path / "new" / "folder")
        assert [file.name for file in copied] == list(examples.names())
        assert all(file.read_bytes() == examples.path(file.name).read_bytes() for file in copied)


def test_copy_never_overwrites_what_is_not_an_example(tmp_path: Path) -> None:
    mine = tmp_path / "scores-base.csv"
    mine.write_text("mine")
    with pytest.raises(InputError, match=r"scores-base\.csv exists and is not the example file"):
        examples.copy(tmp_path)
    assert [file.name for file in tmp_path.iterdir()] == ["scores-base.csv"]
    assert mine.read_text() == "mine"


def test_copy_says_why_it_cannot_write(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="file: cannot be made"):
        examples.copy(tmp_path / "file")


def run(*arguments: str, folder: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "assay.examples", *arguments]
    return subprocess.run(command, cwd=folder, capture_output=True, encoding="utf-8", check=False)


def test_the_command_prints_what_it_copied(tmp_path: Path) -> None:
    done = run(".", folder=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.split() == sorted(file.name for file in tmp_path.iterdir()) == list(examples.names())


@pytest.mark.parametrize(("arguments", "code"), [((), 2), (("a", "b"), 2), (("--what",), 2), (("--help",), 0)])
def test_the_command_says_how_it_is_used(arguments: tuple[str, ...], code: int, tmp_path: Path) -> None:
    done = run(*arguments, folder=tmp_path)
    assert done.returncode == code
    assert (done.stderr if code else done.stdout).startswith("usage: python -m assay.examples FOLDER")
    assert not list(tmp_path.iterdir())


def test_the_command_refuses_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "scores-base.csv").write_text("mine")
    done = run(".", folder=tmp_path)
    assert (done.returncode, done.stdout) == (3, "")
    assert done.stderr.startswith("assay: ")
    assert done.stderr.count("\n") == 1
