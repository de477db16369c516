"""MultiPL-E: the oracle is the table of grades that the files were made of."""

import gzip
from pathlib import Path
from typing import Any

import pytest

import assay
from tests.data.readers.harness.logs import FOLDER, assert_refused, by_name, copy, edit_json, one
from tools.make_harness_fixtures.code_benchmark_files import MULTIPL

MULTIPL_E = FOLDER / "multipl_e"


def folder_of(model: str) -> Path:
    return MULTIPL_E / f"humaneval-cs-{model}-0.2-reworded"


@pytest.mark.parametrize("model", MULTIPL)
def test_right_is_ok_and_exit_code_0_by_hand(model: str) -> None:
    """A failed assertion may leave the exit code 0, and is wrong."""
    found = assay.summarize(folder_of(model), at=[1, 4])
    by_hand = {
        1: sum(grades.count("p") / 4 for grades in MULTIPL[model]) / 8,
        4: sum("p" in grades for grades in MULTIPL[model]) / 8,
    }
    assert {rate.k: rate.one.value for rate in found.passes} == pytest.approx(by_hand)
    assert found.models[0].name == model


def test_the_folder_tells_the_task_and_the_model() -> None:
    tables = by_name(MULTIPL_E)
    assert tables.keys() == {"base", "tuned"}
    assert tables["base"].about["measure"]["task"] == "humaneval-cs"


def test_another_folder_is_the_model_and_the_file_tells_the_language(tmp_path: Path) -> None:
    table = one(copy(folder_of("base"), tmp_path).rename(tmp_path / "mine"))
    assert (table.name, table.about["measure"]["task"]) == ("mine", "cs")


def plain(folder: Path) -> Path:
    return copy(folder_of("base") / "HumanEval_1_problem.results.json", folder)


@pytest.mark.parametrize(
    ("change", "parts"),
    [
        (lambda found: found.pop("name"), ["no field 'name'"]),
        (lambda found: found["results"][1].pop("status"), ["results[1]", "no field 'status'"]),
        (lambda found: found["results"][1].update(exit_code="0"), ["results[1].exit_code", "a whole number"]),
    ],
)
def test_a_bad_problem_is_named(tmp_path: Path, change: Any, parts: list[str]) -> None:
    path = edit_json(plain(tmp_path), change)
    assert_refused(path, str(path), *parts, format="multipl-e")


def test_packed_files_that_are_damaged_are_refused(tmp_path: Path) -> None:
    folder = copy(folder_of("base"), tmp_path)
    path = folder / "HumanEval_0_problem.results.json.gz"
    data = path.read_bytes()
    path.write_bytes(data[:-12])
    assert_refused(folder, str(path), "ends too early")
    path.write_bytes(data[:40] + b"\xff" * 20 + data[60:])
    assert_refused(path, str(path), "cannot be unpacked", format="multipl-e")
    path.write_bytes(gzip.compress(b'{"name": "x", "lang'))
    assert_refused(path, str(path), "ends too early", format="multipl-e")


def test_a_problem_that_is_there_twice_is_refused(tmp_path: Path) -> None:
    folder = copy(folder_of("base"), tmp_path)
    packed = folder / "HumanEval_0_problem.results.json.gz"
    (folder / "HumanEval_0_problem.results.json").write_bytes(gzip.decompress(packed.read_bytes()))
    assert_refused(folder, "'HumanEval_0_problem'", "is there already")
