"""Runs on disk: what is overwritten stays until its successor is complete, and nothing foreign is ever removed."""

import json
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from assay.data.runs import MANIFEST, Run, create_or_resume, finish, open_run, owned_files
from assay.errors import InputError, UsageError

COLUMNS = {"window": np.array(["w1"], dtype=object), "loss": np.array([1.0])}


def about(name: str) -> dict[str, Any]:
    return {"model": {"name": name}, "shards": 2}


def complete(run: Run) -> Run:
    for number in run.missing():
        run.write_shard(number, COLUMNS)
    return finish(run)


def names(folder: Path) -> list[str]:
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*"))


@pytest.fixture
def old(tmp_path: Path) -> Path:
    complete(create_or_resume(tmp_path / "run", about("old")))
    return tmp_path / "run"


def model(folder: Path) -> str:
    return str(open_run(folder).manifest["model"]["name"])


def test_the_old_run_stays_until_the_new_one_is_complete(old: Path) -> None:
    run = create_or_resume(old, about("new"), overwrite=True)
    run.write_shard(0, COLUMNS)
    assert (model(old), len(open_run(old).files())) == ("old", 2)
    found = complete(run)
    assert (found.folder, model(old), found.missing()) == (old, "new", [])
    assert names(old.parent) == ["run", "run/run.json", "run/windows-00000.parquet", "run/windows-00001.parquet"]


def test_a_new_run_that_was_broken_off_is_gone_on_with_or_replaced(old: Path) -> None:
    create_or_resume(old, about("new"), overwrite=True).write_shard(0, COLUMNS)
    assert create_or_resume(old, about("new"), overwrite=True).missing() == [1]
    assert create_or_resume(old, about("another"), overwrite=True).missing() == [0, 1]
    complete(create_or_resume(old, about("another"), overwrite=True))
    assert model(old) == "another"
    assert [name for name in names(old.parent) if name.startswith(".")] == []


@pytest.mark.parametrize("state", ["old aside", "old aside, new in place"])
def test_a_kill_in_the_middle_of_the_swap_is_mended(state: str, old: Path) -> None:
    new = create_or_resume(old, about("new"), overwrite=True)
    for number in new.missing():
        new.write_shard(number, COLUMNS)
    old.rename(old.with_name(".run.old"))
    if state.endswith("in place"):
        new.folder.rename(old)
    if state == "old aside":
        with pytest.raises(InputError, match="holds another run"):  # it came back
            create_or_resume(old, about("new"))
        assert model(old) == "old"
    complete(create_or_resume(old, about("new"), overwrite=True))
    assert model(old) == "new"
    assert sorted(path.name for path in old.parent.iterdir()) == ["run"]


@pytest.mark.parametrize("name", ["notes.md", "windows-00002.parquet", "windows-00000.parquet.bak", "sub/model.bin"])
def test_a_run_with_files_of_others_is_not_overwritten(name: str, old: Path) -> None:
    (old / name).parent.mkdir(exist_ok=True)
    (old / name).write_text("mine")
    before = names(old.parent)
    with pytest.raises(InputError, match="holds files that are not of the run"):
        create_or_resume(old, about("new"), overwrite=True)
    assert names(old.parent) == before


@pytest.mark.parametrize("manifest", ['{"schema": "somebody/else/1"}', "[]", "not JSON", None])
def test_a_folder_that_is_no_run_of_ours_is_not_overwritten(manifest: str | None, tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "thesis.tex").write_text("mine")
    if manifest is not None:
        (folder / MANIFEST).write_text(manifest)
    before = names(tmp_path)
    for overwrite in (True, False):
        with pytest.raises(InputError):
            create_or_resume(folder, about("new"), overwrite=overwrite)
    assert names(tmp_path) == before


def test_a_link_to_a_run_leads_to_the_run_that_is_replaced(old: Path) -> None:
    link = old.with_name("link")
    link.symlink_to(old)
    complete(create_or_resume(link, about("new"), overwrite=True))
    assert link.is_symlink()
    assert model(old) == "new"


def test_the_folder_one_is_in_is_not_replaced(old: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(old)
    with pytest.raises(UsageError, match="the folder you are in"):
        create_or_resume(Path(), about("new"), overwrite=True)


def test_a_manifest_that_was_being_written_is_no_obstacle(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    folder.mkdir()
    (folder / ".run.json.0123abcd.part").write_text('{"schema"')
    complete(create_or_resume(folder, about("new")))
    assert names(folder) == ["run.json", "windows-00000.parquet", "windows-00001.parquet"]
    assert json.loads((folder / MANIFEST).read_text())["shards"] == 2
    assert os.listdir(tmp_path) == ["run"]  # noqa: PTH208 - hidden names, too


@pytest.mark.parametrize("shards", [100_000, 100_001, 1_000_000])
def test_a_run_of_very_many_shards_owns_all_of_them(shards: int, tmp_path: Path) -> None:
    """From 100,000 on none was known to be the run's own, and it could not be overwritten."""
    run = create_or_resume(tmp_path / "run", about("many") | {"shards": shards})
    for number in (0, 99_999, shards - 1):
        run.write_shard(number, COLUMNS)
    mine = {path.name for path in run.folder.iterdir()}
    assert owned_files(run.folder) == mine
    for foreign in (f"windows-{shards:05d}", "windows-000001", "windows-1", "other-00000"):
        (run.folder / f"{foreign}.parquet").touch()
    assert owned_files(run.folder) == mine
    with pytest.raises(InputError, match="holds files that are not of the run"):
        create_or_resume(run.folder, about("new"), overwrite=True)


@pytest.mark.parametrize("shards", [-1, 1_000_001, True, "2", None, 1e5])
def test_a_number_of_shards_that_none_has_owns_nothing_and_is_refused(shards: object, old: Path) -> None:
    path = old / MANIFEST
    path.write_text(json.dumps(json.loads(path.read_text()) | {"shards": shards}))
    assert owned_files(old) == {MANIFEST}
    with pytest.raises(InputError, match="'shards' must be a whole number up to 1,000,000"):
        open_run(old)
