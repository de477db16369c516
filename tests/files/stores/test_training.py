"""Training runs in a store: the files of a run on a disk, resumed from a checkpoint anywhere, replaced, one writer."""

import json
import time
from pathlib import Path
from typing import Any

import pytest

import assay
from assay import models
from assay.errors import InputError, StoreError, UsageError
from assay.training import Schedule, Settings
from tests.files.stores.bucket import Bucket, s3_filesystem
from tests.training.test_run import STORY, quick

pytest.importorskip("peft", reason="the extra hf is not installed")

__all__ = ["quick"]  # a fixture
HOW = Settings(steps=6, rows=2, rank=2, checkpoint=2)


def train(place: str | Path, **how: Any) -> list[Any]:
    given: dict[str, Any] = {
        "train": STORY[:4],
        "valid": STORY[4:],
        "context": 32,
        "settings": HOW,
        "schedule": Schedule(validation=0, memory=0, quality=0),
    }
    return assay.tune_run(models.path("base"), place, **{**given, **how})


def numbers(files: dict[str, bytes]) -> dict[str, Any]:
    """What of a run depends on no clock: all but the events, and of these the losses of the steps that count."""
    events = [json.loads(line) for line in files["events.jsonl"].splitlines()]
    losses = {event["step"]: event["loss"] for event in events if event["kind"] == "step"}
    return {"losses": losses} | {name: data for name, data in files.items() if name != "events.jsonl"}


@pytest.fixture
def on_disk(tmp_path: Path) -> dict[str, Any]:
    train(tmp_path / "run")
    return numbers(files_of(tmp_path / "run"))


def files_of(folder: Path) -> dict[str, bytes]:
    found = (path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in found}


def test_a_run_in_a_store_is_that_on_a_disk_and_is_read_there(bucket: Bucket, on_disk: dict[str, Any]) -> None:
    place = f"{bucket}/runs/a"
    (run,) = train(place)
    assert str(run).endswith(f"→ {place}")
    assert numbers(bucket.files("runs/a")) == on_disk
    assert assay.tune(place).arms[0].runs[0].last_step == 6
    events = bucket.read("runs/a/events.jsonl")
    (again,) = train(place)
    assert again.validation_loss == run.validation_loss
    assert bucket.read("runs/a/events.jsonl") == events  # nothing was trained again
    with pytest.raises(InputError, match=rf"{place}: holds another training run \(.*steps differ\)"):
        train(place, settings=Settings(steps=7, rows=2, rank=2, checkpoint=2))
    assert not any("writer" in key for key in bucket.names())


@pytest.mark.slow
@pytest.mark.parametrize("overwrite", [False, True])
def test_a_run_whose_store_is_lost_goes_on_from_its_checkpoint(
    bucket: Bucket, on_disk: dict[str, Any], monkeypatch: pytest.MonkeyPatch, overwrite: bool
) -> None:
    """Lost at the second checkpoint; what goes on has nothing on its disk."""
    place, part = f"{bucket}/runs/a", "runs/.a.new" if overwrite else "runs/a"
    old: dict[str, bytes] = {}
    if overwrite:
        train(place, settings=Settings(steps=3, rows=2, rank=2))
        old = bucket.files("runs/a")
    store, plain = s3_filesystem(), s3_filesystem().put_file

    def failing(source: str, target: str, **how: Any) -> Any:
        if "checkpoint-4/" in target:
            raise ConnectionResetError("Connection reset by peer")
        return plain(source, target, **how)

    with monkeypatch.context() as patched:
        patched.setattr(store, "put_file", failing)
        with pytest.raises(StoreError, match=rf"{bucket}/{part}/checkpoints/checkpoint-4/.*: cannot be written"):
            train(place, overwrite=overwrite)
    left = bucket.files(part)
    assert ".training.json.unfinished" in left
    assert "checkpoints/checkpoint-2/trainer_state.json" in left
    if overwrite:
        assert bucket.files("runs/a") == old
    else:
        with pytest.raises(InputError, match=f"{place}: the run is not complete.*`assay tune run`"):
            assay.tune(place)
    train(place, overwrite=overwrite)
    found = bucket.files("runs")
    assert not [name for name in found if not name.startswith("a/")]
    assert b'"kind": "resume", "step": 2' in found["a/events.jsonl"]
    assert numbers({name.removeprefix("a/"): data for name, data in found.items()}) == on_disk


@pytest.mark.slow
def test_a_sweep_on_two_processes_is_that_of_one(bucket: Bucket, tmp_path: Path) -> None:
    rates = {"learning_rates": [1e-3, 1e-4], "settings": Settings(steps=2, rows=2, rank=2)}
    train(tmp_path / "sweep", **rates)
    runs = train(f"{bucket}/sweep", **rates, engine=assay.Engine(workers=2))
    assert [str(run).partition(" → ")[2] for run in runs] == [f"{bucket}/sweep/lr-{rate}" for rate in (0.001, 0.0001)]
    for run in runs:
        there = numbers(bucket.files(f"sweep/{run.folder.name}"))
        assert there == numbers(files_of(tmp_path / "sweep" / run.folder.name))
    assert assay.tune(*runs).sensitivity
    with pytest.raises(UsageError, match="a store in memory is of one process"):
        train("memory://evals/sweep", **rates, engine=assay.Engine(workers=2))


def test_a_second_writer_and_something_else_are_refused(bucket: Bucket) -> None:
    place = f"{bucket}/runs/a"
    lease = {"host": "elsewhere", "process": 7, "until": time.time() + 60}
    bucket.put("runs/a/.writer-00003.json", json.dumps(lease))
    with pytest.raises(InputError, match=f"{place}: is being written by 'elsewhere', process 7"):
        train(place)
    bucket.put("runs/b/table.csv", b"a,b\n")
    with pytest.raises(InputError, match=f"{bucket}/runs/b: exists and is not a training run"):
        train(f"{bucket}/runs/b")
    assert bucket.names() == ["runs/a/.writer-00003.json", "runs/b/table.csv"]


def test_in_memory(on_disk: dict[str, Any]) -> None:
    import fsspec

    store = fsspec.filesystem("memory")
    train("memory://evals/run")
    found = {name.removeprefix("/evals/run/"): store.cat_file(name) for name in store.find("/evals")}
    store.rm("/evals", recursive=True)
    assert numbers(found) == on_disk
