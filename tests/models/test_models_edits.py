"""Edits of weights, against plain loops over the numbers."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

pytest.importorskip("torch")
numpy_tensors = pytest.importorskip("safetensors.numpy")

from assay import models  # noqa: E402 - after the skip
from assay.errors import InputError, UsageError  # noqa: E402
from assay.models import prune, round_weights, variants  # noqa: E402

MATRIX = np.random.default_rng(5).normal(size=(7, 12)).astype(np.float32)
NORM = np.linspace(0.5, 1.5, 12, dtype=np.float32)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with one matrix, one row of which is zero, one vector, and settings."""
    made = tmp_path / "model"
    made.mkdir()
    matrix = MATRIX.copy()
    matrix[3] = 0
    numpy_tensors.save_file({"matrix": matrix, "norm": NORM}, made / "model.safetensors", {"format": "pt"})
    (made / "config.json").write_text(json.dumps({"model_type": "none"}))
    (made / "notes.bin").write_bytes(b"not ours")
    return made


def weights(folder: Path) -> dict[str, NDArray[np.float32]]:
    found: dict[str, NDArray[np.float32]] = numpy_tensors.load_file(folder / "model.safetensors")
    return found


def rounded_by_hand(matrix: NDArray[np.float32], bits: int) -> list[list[float]]:
    steps = 2 ** (bits - 1) - 1
    rows = []
    for row in matrix.astype(float):
        scale = max(abs(row)) / steps
        rows.append([scale * round(w / scale) if scale else 0.0 for w in row])
    return rows


@pytest.mark.parametrize("bits", [2, 3, 4, 8, 16])
def test_rounding_against_a_plain_loop(folder: Path, tmp_path: Path, bits: int) -> None:
    original = weights(folder)["matrix"]
    found = weights(round_weights(folder, tmp_path / "out", bits=bits))["matrix"]
    assert found == pytest.approx(np.array(rounded_by_hand(original, bits)), abs=1e-6)
    assert all(len(np.unique(np.abs(row).round(6))) <= 2 ** (bits - 1) for row in found)


@pytest.mark.parametrize("share", [0.2, 0.3, 0.5, 0.99])
def test_pruning_against_a_sorted_list(folder: Path, tmp_path: Path, share: float) -> None:
    original = weights(folder)["matrix"]
    found = weights(prune(folder, tmp_path / "out", share=share))["matrix"]
    gone = sorted(abs(w) for w in original.ravel().tolist())[: int(share * original.size)]
    kept = np.abs(original) > gone[-1]
    assert int(kept.sum()) == original.size - len(gone)
    np.testing.assert_array_equal(found[kept], original[kept])
    assert not found[~kept].any()


def test_only_matrices_change_and_settings_are_copied(folder: Path, tmp_path: Path) -> None:
    out = round_weights(folder, tmp_path / "out", bits=2)
    np.testing.assert_array_equal(weights(out)["norm"], NORM)
    assert sorted(file.name for file in out.iterdir()) == ["config.json", "model.safetensors"]
    assert (out / "config.json").read_bytes() == (folder / "config.json").read_bytes()


def test_half_precision_stays_half_precision(folder: Path, tmp_path: Path) -> None:
    half = {"matrix": MATRIX.astype(np.float16), "ids": np.arange(6).reshape(2, 3)}
    numpy_tensors.save_file(half, folder / "model.safetensors", {"format": "pt"})
    found: dict[str, NDArray[Any]] = weights(round_weights(folder, tmp_path / "out", bits=8))
    assert found["matrix"].dtype == np.float16
    np.testing.assert_array_equal(found["ids"], half["ids"])


def test_an_edit_may_be_repeated_but_overwrites_nothing_else(folder: Path, tmp_path: Path) -> None:
    out = round_weights(folder, tmp_path / "out", bits=8)
    before = (out / "model.safetensors").read_bytes()
    round_weights(folder, out, bits=8)
    with pytest.raises(InputError, match=r"model\.safetensors exists and differs"):
        round_weights(folder, out, bits=4)
    assert (out / "model.safetensors").read_bytes() == before


@pytest.mark.parametrize("bits", [-1, 1, 17])
def test_senseless_bits_are_refused(folder: Path, tmp_path: Path, bits: int) -> None:
    with pytest.raises(UsageError, match="bits must be from 2 to 16, but got"):
        round_weights(folder, tmp_path / "out", bits=bits)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("share", [-0.1, 0.0, 1.0, float("nan")])
def test_senseless_shares_are_refused(folder: Path, tmp_path: Path, share: float) -> None:
    with pytest.raises(UsageError, match="share must be between 0 and 1, but got"):
        prune(folder, tmp_path / "out", share=share)
    assert not (tmp_path / "out").exists()


def test_the_original_is_never_the_target(folder: Path) -> None:
    with pytest.raises(UsageError, match="another folder than the original"):
        prune(folder, folder / ".." / folder.name, share=0.5)


def test_a_folder_without_weights_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no weights in safetensors"):
        prune(tmp_path, tmp_path / "out", share=0.5)


def test_broken_weights_are_refused(folder: Path, tmp_path: Path) -> None:
    (folder / "model.safetensors").write_bytes(b"broken")
    with pytest.raises(InputError, match="the weights cannot be read"):
        prune(folder, tmp_path / "out", share=0.5)


def test_a_target_that_cannot_be_written_is_refused(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="cannot be made"):
        prune(folder, tmp_path / "file" / "out", share=0.5)


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "assay.models", *arguments]
    return subprocess.run(command, capture_output=True, encoding="utf-8", check=False)


def test_the_command_writes_the_variants_of_the_demo(tmp_path: Path) -> None:
    done = run(str(tmp_path / "new"))
    assert (done.returncode, done.stderr) == (0, "")
    written = [Path(line).name for line in done.stdout.split()]
    assert written == ["base", "en.txt", "ja.txt", "int8", "int4", "int3", "pruned"]
    assert (tmp_path / "new" / "en.txt").read_bytes() == models.path("en.txt").read_bytes()
    shipped = models.path("base") / "model.safetensors"
    assert (tmp_path / "new" / "base" / "model.safetensors").read_bytes() == shipped.read_bytes()
    made = variants(tmp_path / "again")
    for name, made_here in made.items():
        file = made_here / "model.safetensors"
        assert file.read_bytes() == (tmp_path / "new" / name / "model.safetensors").read_bytes()


def test_the_command_says_where_things_are_and_how_it_is_used() -> None:
    assert [Path(line).name for line in run().stdout.split()] == ["base", "en.txt", "ja.txt"]
    assert run("--help").stdout.startswith("usage: python -m assay.models [FOLDER]")
    assert run("a", "b").returncode == run("--what").returncode == 2


def test_the_command_refuses_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "int8").write_text("mine")
    done = run(str(tmp_path))
    assert (done.returncode, done.stdout) == (3, "")
    assert done.stderr.startswith("assay: ")
    assert done.stderr.count("\n") == 1
