"""The cache of `assay gate` in a store: against the certificate of a gate whose cache is on a disk."""

import json
import time
from pathlib import Path
from typing import Any

import pytest

import assay
from assay.errors import InputError
from assay.scoring.windows import Plan
from tests.certificate.gate.test_cache import Counting, gate, int8, text
from tests.files.stores.bucket import Bucket

__all__ = ["int8", "text"]  # fixtures


def on_disk(int8: Path, text: Path, folder: Path) -> dict[str, bytes]:
    gate(int8, text, folder / "disk.json", cache=folder / "cache")
    found = (path for path in (folder / "cache").rglob("*") if path.is_file())
    return {path.relative_to(folder / "cache").as_posix(): path.read_bytes() for path in found}


def test_the_second_gate_scores_only_the_model_wherever_it_runs(
    bucket: Bucket, int8: Path, text: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = on_disk(int8, text, tmp_path)
    counting, cache = Counting(monkeypatch), f"{bucket}/cache"
    first = gate(int8, text, tmp_path / "first.json", cache=cache)
    both, counting.tokens = counting.tokens, 0
    assert bucket.files("cache") == kept
    second = gate(int8, text, tmp_path / "second.json", cache=cache)
    assert counting.tokens == both // 2
    assert first.looks == second.looks
    assert bucket.files("cache") == kept


def test_a_stale_or_damaged_run_and_a_second_writer_are_refused(
    bucket: Bucket, int8: Path, text: Path, tmp_path: Path
) -> None:
    kept, cache = on_disk(int8, text, tmp_path), f"{bucket}/cache"
    gate(int8, text, tmp_path / "a.json", cache=cache)
    folder = next(name for name in kept if name.endswith("run.json")).rpartition("/")[0]

    def refused(match: str) -> None:
        with pytest.raises(InputError, match=match):
            gate(int8, text, tmp_path / "b.json", cache=cache)
        assert not (tmp_path / "b.json").exists()

    shard = f"{folder}/windows-00000.parquet"
    bucket.put(f"cache/{shard}", kept[shard][:-1] + b"x")
    refused(rf"{cache}/{shard}: not what was stored")
    bucket.put(f"cache/{shard}", kept[shard])
    lease = f"cache/{folder}/.writer-00007.json"
    bucket.put(lease, json.dumps({"host": "elsewhere", "process": 7, "until": time.time() + 60}))
    refused(f"{cache}/{folder}: is being written by 'elsewhere', process 7")
    bucket.delete(lease)
    made = json.loads(kept[f"{folder}/run.json"])
    made["versions"]["torch"] = "1.0"
    bucket.put(f"cache/{folder}/run.json", json.dumps(made))
    refused(r"is stale \(versions\.torch 1\.0 → ")
    gate(int8, text, tmp_path / "b.json", cache=cache, overwrite=True)
    assert bucket.files("cache") == kept


def test_in_memory(int8: Path, text: Path, tmp_path: Path) -> None:
    import fsspec

    how: dict[str, Any] = {"cache": "memory://evals/cache", "plan": Plan(context=32)}
    looks = [gate(int8, text, tmp_path / f"{name}.json", **how).looks for name in "ab"]
    assert looks[0] == looks[1]
    assert assay.verify(tmp_path / "b.json").true
    fsspec.filesystem("memory").rm("/evals", recursive=True)
