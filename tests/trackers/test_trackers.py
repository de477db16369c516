"""What is logged, against the records themselves; the trackers as they are installed, on a store in a local folder."""

import json
import sys
from math import isfinite
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import assay
from assay import examples
from assay.errors import UsageError
from assay.trackers import files_of, metric_name, metrics_of, tags_of
from tests.report.results import RECORDS, result


@pytest.fixture(scope="module")
def found() -> assay.Comparison:
    base, int3 = examples.path("losses-base.csv"), examples.path("losses-int3.csv")
    return assay.compare(base, int3, cluster="document")


def test_metrics_are_the_numbers_of_the_record(found: assay.Comparison) -> None:
    metrics = metrics_of(found, "assay")
    assert found.ratio is not None
    assert found.ratio.interval is not None
    assert metrics["assay/perplexity_b_over_a"] == found.ratio.value
    assert metrics["assay/perplexity_b_over_a_high"] == found.ratio.interval.high
    assert metrics["assay/difference_b_minus_a"] == found.difference.value
    assert metrics["assay/pairs"] == 360


@pytest.mark.parametrize("kind", RECORDS)
def test_every_kind_of_result_has_plain_names_and_finite_numbers(kind: str) -> None:
    one = result(kind)
    metrics = metrics_of(one, "assay")
    assert all(isfinite(value) for value in metrics.values())
    assert all(name.isascii() and name == name.lower() for name in metrics)
    assert {"verdict", "sentence"} <= tags_of(one).keys()


@given(st.text())
def test_a_name_is_one_that_trackers_take(label: str) -> None:
    name = metric_name(label)
    assert name
    assert set(name) <= set("abcdefghijklmnopqrstuvwxyz0123456789_")


def test_files_are_the_record_and_its_page(found: assay.Comparison) -> None:
    with files_of(found) as folder:
        names = sorted(path.name for path in folder.iterdir())
        assert json.loads((folder / "comparison.json").read_text("utf-8")) == found.to_dict()
        assert found.sentence in (folder / "comparison.html").read_text("utf-8")
    assert names == ["comparison.html", "comparison.json"]
    assert not folder.exists()


def test_files_of_a_certificate_can_be_verified(tmp_path: Path) -> None:
    base, int8 = examples.path("losses-base.csv"), examples.path("losses-int8.csv")
    issued = assay.certify(base, int8, tmp_path / "gate.json", cluster="document")
    with files_of(issued) as folder:
        assert sorted(path.name for path in folder.iterdir()) == [
            "certificate.html",
            "gate.evidence.parquet",
            "gate.json",
        ]
        assert assay.verify(folder / "gate.json").true


@pytest.mark.parametrize("package", ["mlflow", "wandb"])
def test_a_tracker_that_is_not_installed_is_named(
    found: assay.Comparison, monkeypatch: pytest.MonkeyPatch, package: str
) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(UsageError, match=rf"pip install 'assay-eval\[{package}\]'"):
        getattr(found, f"log_to_{package}")()


@pytest.mark.parametrize("prefix", ["", "a b", "1", "ü", "a/b"])
def test_a_prefix_that_no_tracker_takes_is_refused(found: assay.Comparison, prefix: str) -> None:
    with pytest.raises(UsageError, match="prefix must be"):
        found.log_to_mlflow(prefix=prefix)


# ------------------------------------------------------------------------------- the real packages, where installed


@pytest.fixture(params=["file", "sqlite"])
def mlflow(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    package = pytest.importorskip("mlflow")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MLFLOW_ALLOW_FILE_STORE", "true")
    if request.param == "sqlite":
        pytest.importorskip("sqlalchemy")
    store = tmp_path.as_uri() + "/store" if request.param == "file" else f"sqlite:///{tmp_path}/mlflow.db"
    package.set_tracking_uri(store)
    package.set_registry_uri(store)
    return package


@pytest.mark.filterwarnings("default")
def test_mlflow_keeps_the_numbers_tags_and_files(mlflow: Any, found: assay.Comparison) -> None:
    run = found.log_to_mlflow()
    kept = mlflow.get_run(run)
    assert kept.info.status == "FINISHED"
    assert kept.data.metrics == metrics_of(found, "assay")
    assert kept.data.tags["assay.verdict"] == "worse"
    assert kept.data.tags["assay.signature"] == found.signature
    paths = {item.path for item in mlflow.MlflowClient().list_artifacts(run, "assay")}
    assert paths == {"assay/comparison.json", "assay/comparison.html"}


@pytest.mark.filterwarnings("default")
def test_mlflow_logs_to_the_active_run_and_leaves_it_open(mlflow: Any, found: assay.Comparison) -> None:
    with mlflow.start_run() as active:
        assert found.log_to_mlflow(prefix="gate") == active.info.run_id
        assert mlflow.active_run() is not None
    assert "gate/pairs" in mlflow.get_run(active.info.run_id).data.metrics


@pytest.fixture
def wandb(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("WANDB_MODE", "offline")
    monkeypatch.setenv("WANDB_SILENT", "true")
    return pytest.importorskip("wandb")


def offline_records(folder: Path) -> list[Any]:
    """What an offline run wrote: protocol buffers in LevelDB's log format (blocks of 32 KiB, records in fragments)."""
    from wandb.proto import wandb_internal_pb2

    (file,) = folder.rglob("run-*.wandb")
    data, at, whole, records = file.read_bytes(), 7, b"", []  # behind the header of the file
    while at + 7 <= len(data):
        left = 32_768 - at % 32_768
        if left < 7:  # the end of a block is empty where no header fits
            at += left
            continue
        length, kind = int.from_bytes(data[at + 4 : at + 6], "little"), data[at + 6]
        whole += data[at + 7 : at + 7 + length]
        at += 7 + length
        if kind in (1, 4):  # full, or the last fragment
            record = wandb_internal_pb2.Record()
            record.ParseFromString(whole)
            records.append(record)
            whole = b""
    return records


@pytest.mark.filterwarnings("default")
def test_wandb_keeps_the_numbers_tag_and_files_offline(wandb: Any, found: assay.Comparison, tmp_path: Path) -> None:
    run = found.log_to_wandb()
    assert wandb.run is None
    wandb.teardown()  # its service writes behind its back
    records = offline_records(tmp_path)
    summary = {
        "/".join([item.key, *item.nested_key]).strip("/"): json.loads(item.value_json)
        for record in records
        if record.WhichOneof("record_type") == "summary"
        for item in record.summary.update
    }
    for name, value in metrics_of(found, "assay").items():
        assert summary[name] == value
    assert summary["assay/signature"] == found.signature
    tags = [tuple(record.run.tags) for record in records if record.WhichOneof("record_type") == "run"]
    assert tags[-1] == ("assay:worse",)
    (artifact,) = [
        record.request.log_artifact.artifact
        for record in records
        if record.WhichOneof("record_type") == "request" and record.request.HasField("log_artifact")
    ] or [record.artifact for record in records if record.WhichOneof("record_type") == "artifact"]
    assert {entry.path for entry in artifact.manifest.contents} == {"comparison.json", "comparison.html"}
    assert run


@pytest.mark.filterwarnings("default")
def test_wandb_logs_to_the_active_run_and_keeps_its_tags(wandb: Any, found: assay.Comparison) -> None:
    active = wandb.init(tags=["night", "assay:better"])
    try:
        assert found.log_to_wandb() == active.id
        assert wandb.run is active
        assert set(active.tags) == {"night", "assay:worse"}
    finally:
        active.finish()
