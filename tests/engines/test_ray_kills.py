"""Real jobs on a Ray cluster of two nodes, of which a worker or a node is killed in the middle: the same bytes."""

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

import assay
from assay.engines import Engine
from assay.engines.replicates import resampling_on
from assay.examples import SURVEY
from assay.models import path as model_path
from assay.scoring import score
from assay.scoring.models_and_texts import Document
from assay.training import Schedule, Settings
from assay.training.run import tune_run
from tests.engines.ray_nodes import Cluster, until
from tests.engines.test_bytes import PLAN, TEXTS, contents, one_thread, small_shards
from tests.engines.test_replicates import always_worth_it
from tests.files.stores.test_training import files_of, numbers
from tests.training.test_run import STORY

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(find_spec("ray") is None, reason="the extra ray is not installed"),
    pytest.mark.skipif(not Path("/proc").is_dir(), reason="processes are listed in /proc"),
]

__all__ = ["always_worth_it", "one_thread", "small_shards"]  # fixtures


@contextmanager
def meanwhile(cluster: Cluster, there: Path | None, what: Any) -> Iterator[list[Any]]:
    """Do something once a file is there; what was done."""
    done: list[Any] = []

    def act() -> None:
        until(lambda: there is None or there.exists(), f"{there} never appeared")
        done.append(what())

    thread = Thread(target=act)
    thread.start()
    yield done
    thread.join()


def kill_a_worker(cluster: Cluster) -> int:
    until(lambda: bool(cluster.working()), "no worker works")
    for process in cluster.working():
        os.kill(process, signal.SIGKILL)
        return process
    return kill_a_worker(cluster)  # it was between two blocks


def test_a_run_whose_worker_is_killed_has_the_same_bytes(cluster: Cluster, tmp_path: Path) -> None:
    many = [Document(f"{i} {text.name}", text.text) for i in range(8) for text in TEXTS]  # seconds are left to kill in
    score(model_path("base"), many, tmp_path / "here", plan=PLAN)
    first = tmp_path / "there" / "windows-00001.parquet"
    with meanwhile(cluster, first, lambda: kill_a_worker(cluster)) as killed:
        score(model_path("base"), many, tmp_path / "there", plan=PLAN, engine=Engine("ray", workers=2))
    assert killed
    assert contents(tmp_path / "there") == contents(tmp_path / "here")


def test_a_run_whose_node_leaves_has_the_same_bytes(cluster: Cluster, tmp_path: Path) -> None:
    score(model_path("base"), TEXTS, tmp_path / "here", plan=PLAN)
    first = tmp_path / "there" / "windows-00002.parquet"
    try:
        with meanwhile(cluster, first, lambda: cluster.kill("second")) as killed:
            score(model_path("base"), TEXTS, tmp_path / "there", plan=PLAN, engine=Engine("ray", workers=4))
    finally:
        cluster.rejoin(import_module("ray"))
    assert killed
    assert contents(tmp_path / "there") == contents(tmp_path / "here")


def test_a_sweep_whose_worker_is_killed_has_the_same_bytes(cluster: Cluster, tmp_path: Path) -> None:
    how: dict[str, Any] = {
        "train": STORY[:4],
        "valid": STORY[4:],
        "context": 32,
        "settings": Settings(steps=8, rows=2, rank=2, checkpoint=2),
        "schedule": Schedule(validation=0, memory=0, quality=0),
        "learning_rates": [1e-3, 1e-4],
    }
    tune_run(model_path("base"), tmp_path / "here", **how)
    first = tmp_path / "there" / "lr-0.001" / "checkpoints" / "checkpoint-2" / "trainer_state.json"
    with meanwhile(cluster, first, lambda: kill_a_worker(cluster)) as killed:
        tune_run(model_path("base"), tmp_path / "there", **how, engine=Engine("ray", workers=2))
    assert killed
    for name in ("lr-0.001", "lr-0.0001"):
        assert numbers(files_of(tmp_path / "there" / name)) == numbers(files_of(tmp_path / "here" / name))


@pytest.mark.usefixtures("always_worth_it")
def test_a_survey_whose_worker_is_killed_has_the_same_numbers(cluster: Cluster) -> None:
    def made() -> dict[str, Any]:
        files = (SURVEY / "survey.json", SURVEY / "predictions.csv")
        return assay.survey(*files, only=["baselines", "noise", "fairness"], resamples=1_000).to_dict()

    here = made()
    with (
        meanwhile(cluster, None, lambda: kill_a_worker(cluster)) as killed,
        resampling_on(Engine("ray", workers=2)),
    ):
        assert made() == here
    assert killed
