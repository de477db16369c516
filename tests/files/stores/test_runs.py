"""Runs and generations in a store: the bytes of a disk, committed by their manifest, resumed, and written by one."""

import json
import os
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

import assay
from assay import models
from assay.errors import InputError, StoreError, UsageError
from assay.files.stores import leases
from assay.files.stores.addresses import Address
from assay.files.stores.objects import put_new
from assay.scoring import windows
from tests.files.stores.bucket import Bucket, s3_filesystem
from tools.s3_server import S3Server

pytest.importorskip("torch", reason="the extra hf is not installed")

TEXTS = [
    assay.Document(f"story {i}", f"Once there were {i} models, and all of them were small. " * 4) for i in range(9)
]
PLAN = assay.Plan(context=32, batch_tokens=64, keep_tokens=True)


@pytest.fixture(autouse=True)
def _small_shards(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(windows, "SHARD_TOKENS", 200)


@pytest.fixture
def on_disk(tmp_path: Path) -> dict[str, bytes]:
    """The files of the run on a disk."""
    assay.score(models.path("base"), TEXTS, tmp_path / "run", plan=PLAN)
    found = {path.name: path.read_bytes() for path in sorted((tmp_path / "run").iterdir())}
    assert len(found) > 5  # several shards
    return found


class StoppedError(Exception):
    """What ends a run in the middle."""


def score(place: str, stop_after: int | None = None, sleep: float = 0.0, **how: Any) -> dict[str, Any]:
    def watched(_name: str) -> Any:
        def told(done: int, _total: int) -> None:
            time.sleep(sleep)
            if stop_after is not None and done > stop_after:
                raise StoppedError

        return told

    return assay.score(models.path("base"), TEXTS, place, plan=PLAN, progress=watched, **how)


def test_a_run_in_a_store_has_the_bytes_of_one_on_a_disk(bucket: Bucket, on_disk: dict[str, bytes]) -> None:
    run = score(f"{bucket}/runs/a")["base"]
    assert bucket.files("runs/a") == on_disk
    assert assay.compare(f"{bucket}/runs/a", run).difference.value == 0  # the run itself stands for its address
    assert assay.context(f"{bucket}/runs/a").sentence
    assert assay.read_table(f"{bucket}/runs/a").label == f"{bucket}/runs/a"


@pytest.mark.slow
def test_two_processes_give_the_same_bytes_and_need_not_see_the_store(
    bucket: Bucket, on_disk: dict[str, bytes]
) -> None:
    score(f"{bucket}/runs/a", engine=assay.Engine("local", workers=2))
    assert bucket.files("runs/a") == on_disk


def test_a_run_that_was_stopped_is_none_until_it_is_resumed(bucket: Bucket, on_disk: dict[str, bytes]) -> None:
    place = f"{bucket}/runs/a"
    with pytest.raises(StoppedError):
        score(place, stop_after=200)
    left = bucket.files("runs/a")
    assert ".run.json.unfinished" in left
    assert "run.json" not in left
    assert 0 < sum(name.startswith("windows-") for name in left) < len(on_disk) // 2
    assert not any("writer" in name for name in left)  # it gave the right to write back
    for read in (assay.compare, assay.summarize):
        with pytest.raises(InputError, match=rf"{place}: the run is not complete, as its manifest is not there"):
            read(place)
    first = bucket.s3.head_object(Bucket=bucket.name, Key="runs/a/windows-00000.parquet")["LastModified"]
    score(place)
    assert bucket.files("runs/a") == on_disk
    again = bucket.s3.head_object(Bucket=bucket.name, Key="runs/a/windows-00000.parquet")["LastModified"]
    assert again == first  # what was there was not written again


def test_a_store_that_fails_in_the_middle_leaves_what_was_committed(
    bucket: Bucket, on_disk: dict[str, bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    store = s3_filesystem()
    plain = store.put_file

    def failing(source: str, target: str, **how: Any) -> Any:
        if target.endswith("windows-00001.parquet"):
            raise ConnectionResetError("Connection reset by peer")
        return plain(source, target, **how)

    with monkeypatch.context() as patched:
        patched.setattr(store, "put_file", failing)
        with pytest.raises(StoreError, match=rf"{bucket}/runs/a/windows-00001.parquet: cannot be written .*reset"):
            score(f"{bucket}/runs/a")
    assert "runs/a/windows-00000.parquet" in bucket.names("runs")
    assert "runs/a/run.json" not in bucket.names("runs")
    score(f"{bucket}/runs/a")
    assert bucket.files("runs/a") == on_disk


def test_a_run_that_is_complete_is_left_as_it_is(bucket: Bucket, on_disk: dict[str, bytes]) -> None:
    score(f"{bucket}/runs/a")
    score(f"{bucket}/runs/a")
    assert bucket.files("runs/a") == on_disk


def test_another_run_or_folder_is_refused(bucket: Bucket) -> None:
    place = f"{bucket}/runs/a"
    bucket.put("runs/a/windows-00000.parquet", b"of nobody")
    with pytest.raises(InputError, match=f"{place}: exists and is not a run"):
        score(place)
    bucket.delete("runs/a/windows-00000.parquet")
    score(place)
    with pytest.raises(InputError, match=f"{place}: holds another run"):
        assay.score(models.path("base"), TEXTS[:3], place, plan=PLAN)
    with pytest.raises(UsageError, match="is a run, and nothing is added to a run"):
        assay.convert(place, output=f"{place}/t.csv")
    assert not any("writer" in key for key in bucket.names())


@pytest.mark.slow
def test_a_run_whose_machine_is_gone_is_finished_by_another(
    bucket: Bucket, server: S3Server, on_disk: dict[str, bytes], tmp_path: Path
) -> None:
    """The first one is killed outright; the second may write when the first one's lease has ended."""
    place = f"{bucket}/runs/a"
    code = "from tests.files.stores import test_runs as t; t.windows.SHARD_TOKENS = 200; t.score({!r}, sleep=0.3)"
    command = [sys.executable, "-W", "ignore", "-c", code.format(place)]
    environment = {**os.environ, **server.environment, "TMPDIR": str(tmp_path)}  # where its copies are left
    process = subprocess.Popen(command, env=environment, cwd=Path(__file__).parents[3])
    end = time.monotonic() + 120
    while "runs/a/windows-00001.parquet" not in bucket.names("runs") and time.monotonic() < end:
        time.sleep(0.1)
    process.kill()
    process.wait()
    with pytest.raises(InputError, match=rf"is being written by .*, process {process.pid}; wait"):
        score(place)
    (left,) = bucket.names("runs/a/.writer-")
    bucket.put(left, json.dumps({**json.loads(bucket.read(left)), "until": time.time() - 1}))
    score(place)
    assert bucket.files("runs/a") == on_disk


# ------------------------------------------------------------------------------------------------------ one writer only


def written_by_another(bucket: Bucket, seconds: float) -> str:
    lease = {
        "schema": "assay/writer/1",
        "owner": "x",
        "host": "elsewhere",
        "process": 7,
        "until": time.time() + seconds,
    }
    bucket.put("runs/a/.writer-00003.json", json.dumps(lease))
    return f"{bucket}/runs/a"


def test_a_second_writer_is_refused_and_told_who_writes(bucket: Bucket) -> None:
    place = written_by_another(bucket, 60)
    with pytest.raises(InputError, match=rf"{place}: is being written by 'elsewhere', process 7; wait .* seconds"):
        score(place)
    assert bucket.names("runs") == ["runs/a/.writer-00003.json"]


def test_the_right_of_a_writer_that_was_killed_ends(bucket: Bucket, on_disk: dict[str, bytes]) -> None:
    score(written_by_another(bucket, -1))
    assert bucket.files("runs/a") == on_disk


def test_who_lost_the_right_to_write_commits_nothing_more(bucket: Bucket, monkeypatch: pytest.MonkeyPatch) -> None:
    place = f"{bucket}/runs/a"
    monkeypatch.setattr(leases, "_RENEWED", 0.05)
    taken: list[str] = []

    def told(done: int, _total: int) -> None:
        if not taken:
            (own,) = bucket.names("runs/a/.writer-")
            taken.append(own)
            bucket.put(
                own.replace("00001", "00002"), json.dumps({"host": "b", "process": 1, "until": time.time() + 60})
            )
            time.sleep(1)

    with pytest.raises(StoreError, match="somebody else may write it by now"):
        assay.score(models.path("base"), TEXTS, place, plan=PLAN, progress=lambda _name: told)
    assert not any(key.endswith((".parquet", "run.json")) for key in bucket.names("runs"))


def test_of_many_who_take_the_same_number_the_store_lets_one(bucket: Bucket) -> None:
    address = Address("s3", f"{bucket.name}/runs/a/.writer-00001.json")
    with ThreadPoolExecutor(8) as pool:
        assert sum(pool.map(lambda who: put_new(f"{who}".encode(), address), range(8))) == 1


def test_a_lease_says_nothing_of_keys(bucket: Bucket) -> None:
    seen: list[bytes] = []

    def told(_done: int, _total: int) -> None:
        seen.extend(bucket.read(key) for key in bucket.names("runs/a/."))

    assay.score(models.path("base"), TEXTS[:2], f"{bucket}/runs/a", plan=PLAN, progress=lambda _name: told)
    leased = next(json.loads(data) for data in seen if b"writer" in data)
    assert set(leased) == {"schema", "owner", "host", "process", "until"}


# --------------------------------------------------------------------------------------------------------- generations


def test_generations_in_a_store_are_those_on_a_disk(bucket: Bucket, tmp_path: Path) -> None:
    prompts = {"prompt": ["Once upon", "There was", "One day"], "reference": ["a", "b", "c"]}
    how = assay.Decoding(max_tokens=4)
    found = assay.generate(models.path("base"), prompts, f"{bucket}/out/said.jsonl", decoding=how)
    assert str(found).endswith(f"{bucket}/out/said.jsonl")
    assay.generate(models.path("base"), prompts, tmp_path / "said.jsonl", decoding=how)
    assert bucket.files("out") == {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    again = assay.generate(models.path("base"), prompts, f"{bucket}/out/said.jsonl", decoding=how)
    assert again.record == found.record
    bucket.put("out/said.jsonl", b"changed")
    with pytest.raises(InputError, match=rf"{bucket}/out/said.jsonl: was changed after it had been generated"):
        assay.generate(models.path("base"), prompts, f"{bucket}/out/said.jsonl", decoding=how)
