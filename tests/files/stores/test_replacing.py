"""A run in a store that takes the place of another: the old one until the new one is whole, and never a mixture."""

from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

import assay
from assay import models
from assay.errors import InputError, StoreError
from tests.files.stores.bucket import Bucket, s3_filesystem
from tests.files.stores.test_runs import PLAN, TEXTS, StoppedError, _small_shards, on_disk, score, written_by_another

__all__ = ["_small_shards", "on_disk"]  # fixtures


@pytest.fixture
def old(bucket: Bucket) -> dict[str, bytes]:
    """Another run, of more shards, at the same place."""
    texts = [*TEXTS, *(assay.Document(f"more {i}", "And so on, and so on. " * 20) for i in range(4))]
    assay.score(models.path("base"), texts, f"{bucket}/runs/a", plan=PLAN)
    return bucket.files("runs/a")


def test_the_bytes_are_those_of_a_run_on_a_disk_and_nothing_else_is_left(
    bucket: Bucket, old: dict[str, bytes], on_disk: dict[str, bytes]
) -> None:
    assert len(old) > len(on_disk)
    run = score(f"{bucket}/runs/a", overwrite=True)["base"]
    assert bucket.files("runs") == {f"a/{name}": data for name, data in on_disk.items()}
    assert assay.compare(f"{bucket}/runs/a", run).difference.value == 0


def test_what_is_stopped_leaves_the_old_run_and_goes_on_from_another_machine(
    bucket: Bucket, old: dict[str, bytes], on_disk: dict[str, bytes]
) -> None:
    with pytest.raises(StoppedError):
        score(f"{bucket}/runs/a", stop_after=200, overwrite=True)
    assert bucket.files("runs/a") == old
    begun = bucket.files("runs/.a.new")
    assert ".run.json.unfinished" in begun
    assert 0 < sum(name.startswith("windows-") for name in begun) < len(on_disk) // 2
    assert assay.summarize(f"{bucket}/runs/a").sentence  # still there
    first = bucket.s3.head_object(Bucket=bucket.name, Key="runs/.a.new/windows-00000.parquet")["LastModified"]
    seen: list[Any] = []

    def told(_done: int, _total: int) -> None:
        seen.append(bucket.s3.head_object(Bucket=bucket.name, Key="runs/.a.new/windows-00000.parquet")["LastModified"])

    assay.score(models.path("base"), TEXTS, f"{bucket}/runs/a", plan=PLAN, overwrite=True, progress=lambda _name: told)
    assert set(seen) == {first}  # what was there was not scored again
    assert bucket.files("runs") == {f"a/{name}": data for name, data in on_disk.items()}


def test_another_replacement_that_was_begun_is_dropped(
    bucket: Bucket, old: dict[str, bytes], on_disk: dict[str, bytes]
) -> None:
    with pytest.raises(StoppedError):
        score(f"{bucket}/runs/a", stop_after=200, overwrite=True)
    assay.score(models.path("base"), TEXTS[:3], f"{bucket}/runs/a", plan=PLAN, overwrite=True)
    assert not bucket.names("runs/.a.new/")
    score(f"{bucket}/runs/a", overwrite=True)
    assert bucket.files("runs") == {f"a/{name}": data for name, data in on_disk.items()}


def cut_off(bucket: Bucket, monkeypatch: pytest.MonkeyPatch, after: int) -> int:
    """Overwrite, and lose the store after so many changes since the new run was complete; the changes there were."""
    store, calls = s3_filesystem(), [0]

    def failing(plain: Any) -> Any:
        def called(*args: Any, **named: Any) -> Any:
            if calls[0] or bucket.names("runs/.a.new/run.json"):
                calls[0] += 1
                if calls[0] > after:
                    raise ConnectionResetError("Connection reset by peer")
            return plain(*args, **named)

        return called

    with monkeypatch.context() as patched:
        for name in ("cp_file", "rm_file", "pipe_file"):
            patched.setattr(store, name, failing(getattr(store, name)))
        with suppress(StoreError):  # a lease that cannot be given back ends by itself
            score(f"{bucket}/runs/a", overwrite=True)
    for key in bucket.names("runs/"):
        if ".writer-" in key:  # of the writer that is gone
            bucket.delete(key)
    return calls[0]


@pytest.mark.parametrize("after", [0, 1, 2, 7, 20, 33])
def test_a_swap_that_is_cut_off_at_any_step_is_never_read_as_a_mixture_and_is_finished(
    bucket: Bucket, old: dict[str, bytes], on_disk: dict[str, bytes], monkeypatch: pytest.MonkeyPatch, after: int
) -> None:
    place = f"{bucket}/runs/a"
    assert cut_off(bucket, monkeypatch, after) > after  # there was more to do
    there = bucket.files("runs/a")
    if "run.json" in there:
        assert {name: data for name, data in there.items() if name[0] != "."} in (old, on_disk)
    else:
        with pytest.raises(InputError, match=f"{place}: the run is not complete"):
            assay.summarize(place)
    score(place, overwrite=after % 2 == 1)
    assert bucket.files("runs/a") == on_disk


def test_what_is_not_of_a_run_and_a_second_writer_are_refused(bucket: Bucket, old: dict[str, bytes]) -> None:
    place = f"{bucket}/runs/a"
    bucket.put("runs/a/notes.txt", b"mine")
    with pytest.raises(InputError, match=rf"{place}: holds files that are not of the run \(notes.txt\)"):
        score(place, overwrite=True)
    bucket.delete("runs/a/notes.txt")
    written_by_another(bucket, 60)
    with pytest.raises(InputError, match=f"{place}: is being written by 'elsewhere'"):
        score(place, overwrite=True)
    bucket.delete("runs/a/.writer-00003.json")
    assert bucket.files("runs/a") == old
    bucket.put("runs/b/table.csv", b"a,b\n")
    with pytest.raises(InputError, match=f"{bucket}/runs/b: exists and is not a run"):
        score(f"{bucket}/runs/b", overwrite=True)


def test_in_memory(on_disk: dict[str, bytes], tmp_path: Path) -> None:
    import fsspec

    store = fsspec.filesystem("memory")
    assay.score(models.path("base"), TEXTS[:2], "memory://evals/run", plan=PLAN)
    score("memory://evals/run", overwrite=True)
    found = {name.rpartition("/")[2]: store.cat_file(name) for name in store.find("/evals")}
    store.rm("/evals", recursive=True)
    assert found == on_disk
