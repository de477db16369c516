"""A real Ray cluster of two nodes on this machine: the same outputs, whatever happens to workers and nodes."""

import time
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import pytest

from assay.engines import LOCAL, Engine
from assay.engines.blocks import WorkerFaultError
from assay.engines.replicates import resampling_on
from assay.errors import EngineError, InputError
from tests.engines.ray_nodes import Cluster
from tests.engines.test_bytes import generated, one_thread
from tests.engines.test_engines import Squares
from tests.engines.test_replicates import RESULTS, always_worth_it

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(find_spec("ray") is None, reason="the extra ray is not installed"),
]


def run(engine: Engine, work: Squares, blocks: int = 20) -> list[int]:
    with engine.started(work) as workers:
        return list(workers.run(range(blocks)))


__all__ = ["always_worth_it", "one_thread"]  # fixtures


@pytest.mark.parametrize("workers", [2, 4])
def test_outputs_come_in_order(cluster: Cluster, workers: int) -> None:
    assert run(Engine("ray", workers=workers), Squares()) == [n * n for n in range(20)]


def test_a_killed_worker_loses_nothing(cluster: Cluster, tmp_path: Path) -> None:
    work = Squares("kill once", str(tmp_path / "killed"))
    assert run(Engine("ray", workers=2), work) == [n * n for n in range(20)]
    assert (tmp_path / "killed").exists()


def test_a_block_that_ends_every_worker_is_given_up(cluster: Cluster) -> None:
    with pytest.raises(EngineError, match="block 7 ended 3 workers"):
        run(Engine("ray", workers=2), Squares("kill always"))


def test_what_goes_wrong_names_the_block_and_the_node(cluster: Cluster) -> None:
    with pytest.raises(InputError, match=r"^a loss is infinite\. \(block 7, worker \d on node .+\)$"):
        run(Engine("ray", workers=2), Squares("refuse"))
    with pytest.raises(
        WorkerFaultError, match=r"ZeroDivisionError: oops \(block 7, worker \d on node .+\)\n(.|\n)*in square"
    ):
        run(Engine("ray", workers=2), Squares("fault"))


def test_other_software_on_the_cluster_is_refused(cluster: Cluster, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("assay.engines.ray_cluster.VERSION", "9.9")
    with pytest.raises(InputError, match=r"other software than this machine \(assay .* instead of 9\.9\)"):
        run(Engine("ray", workers=1), Squares())


def test_an_address_where_nobody_listens_is_refused_at_once() -> None:
    began = time.monotonic()
    with pytest.raises(EngineError, match=r"no Ray cluster answers at 127\.0\.0\.1:9 .*RAY_AUTH_TOKEN"):
        _look_at_nothing()
    assert time.monotonic() - began < 5


def _look_at_nothing() -> None:
    from assay.engines.ray_cluster import _connect

    _connect(import_module("ray"), "127.0.0.1:9", 1)


def test_generations_have_the_same_bytes(cluster: Cluster, tmp_path: Path) -> None:
    here = generated(tmp_path / "here.jsonl", LOCAL)
    assert generated(tmp_path / "there.jsonl", Engine("ray", workers=4)) == here


@pytest.mark.usefixtures("always_worth_it")
def test_resampling_has_the_same_numbers(cluster: Cluster) -> None:
    for made, workers in zip(RESULTS, (4, 2, 2), strict=True):
        here = made().to_dict()
        with resampling_on(Engine("ray", workers=workers)):
            assert made().to_dict() == here
