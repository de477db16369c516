"""A real Ray cluster of two nodes on this machine: the same outputs, whatever happens to workers and nodes."""

import logging
import os
import secrets
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from assay.engines import LOCAL, Engine
from assay.engines.blocks import WorkerFaultError
from assay.engines.replicates import resampling_on
from assay.errors import EngineError, InputError
from assay.models import path as model_path
from assay.scoring import score
from tests.engines.test_bytes import PLAN, TEXTS, contents, generated, one_thread
from tests.engines.test_engines import Squares
from tests.engines.test_replicates import RESULTS, always_worth_it

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(find_spec("ray") is None, reason="the extra ray is not installed"),
]

WAIT = 90.0  # seconds for a node to start on a busy machine


class Cluster:
    """Nodes that are processes of `ray start --block`, ended by their own number: `ray stop` ends all of a machine."""

    def __init__(self, folder: Path) -> None:
        self.port = _free_port()
        self.address = f"127.0.0.1:{self.port}"
        self.environment = os.environ | {
            "RAY_AUTH_MODE": "token",
            "RAY_AUTH_TOKEN": secrets.token_hex(32),
            "RAY_health_check_period_ms": "500",
            "RAY_health_check_failure_threshold": "3",
            "PYTHONPATH": os.pathsep.join(part for part in sys.path if part),
        }
        self.folder = folder
        self.nodes: dict[str, subprocess.Popen[bytes]] = {}

    def start(self, name: str, *where: str) -> None:
        ray = Path(sys.executable).parent / "ray"
        command = [str(ray), "start", *where, "--num-cpus=2", "--block", "--disable-usage-stats"]
        with (self.folder / f"{name}.log").open("wb") as log:
            self.nodes[name] = subprocess.Popen(
                command, env=self.environment, stdout=log, stderr=log, start_new_session=True
            )

    def kill(self, name: str) -> None:
        """The node is gone from one moment to the next, with all that runs on it."""
        process = self.nodes.pop(name)
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()

    def stop(self) -> None:
        for process in self.nodes.values():
            process.terminate()
        for process in self.nodes.values():
            try:
                process.wait(30)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
        self.nodes.clear()


def _free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        port: int = found.getsockname()[1]
        return port


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    found = Cluster(tmp_path_factory.mktemp("ray"))
    found.start("head", "--head", f"--port={found.port}", "--node-ip-address=127.0.0.1", "--include-dashboard=false")
    with pytest.MonkeyPatch.context() as patch:
        for name in ("RAY_AUTH_MODE", "RAY_AUTH_TOKEN"):
            patch.setenv(name, found.environment[name])
        ray: Any = import_module("ray")  # now: it reads its token when it is imported

        try:
            _until(lambda: _answers(found.port), "the head does not answer")
            found.start("second", f"--address={found.address}", "--node-ip-address=127.0.0.1")
            ray.init(address=found.address, log_to_driver=False, logging_level=logging.ERROR)
            _until(lambda: ray.cluster_resources().get("CPU", 0) == 4, "the second node did not join")
            yield found
        finally:
            ray.shutdown()
            found.stop()


def _answers(port: int) -> bool:
    with socket.socket() as found:
        return found.connect_ex(("127.0.0.1", port)) == 0


def _until(holds: Callable[[], bool], otherwise: str) -> None:
    end = time.monotonic() + WAIT
    while not holds():
        assert time.monotonic() < end, otherwise
        time.sleep(0.2)


@dataclass(frozen=True)
class Slow(Squares):
    """Blocks that take long enough for something to happen."""

    def square(self, block: int) -> int:
        time.sleep(0.15)
        return super().square(block)


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


def test_a_run_has_the_same_bytes(cluster: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("assay.scoring.windows.SHARD_TOKENS", 150)
    score(model_path("base"), TEXTS, tmp_path / "here", plan=PLAN)
    score(model_path("base"), TEXTS, tmp_path / "there", plan=PLAN, engine=Engine("ray", workers=2))
    assert contents(tmp_path / "there") == contents(tmp_path / "here")


def test_generations_have_the_same_bytes(cluster: Cluster, tmp_path: Path) -> None:
    here = generated(tmp_path / "here.jsonl", LOCAL)
    for workers in (2, 4):
        assert generated(tmp_path / f"{workers}.jsonl", Engine("ray", workers=workers)) == here


@pytest.mark.usefixtures("always_worth_it")
def test_resampling_has_the_same_numbers(cluster: Cluster) -> None:
    here = [made().to_dict() for made in RESULTS]
    for workers in (2, 4):
        with resampling_on(Engine("ray", workers=workers)):
            assert [made().to_dict() for made in RESULTS] == here


def test_a_node_that_leaves_takes_nothing_with_it(cluster: Cluster) -> None:
    """Last: the cluster has one node after it."""
    with Engine("ray", workers=4).started(Slow()) as workers:
        outputs = workers.run(range(40))
        found = [next(outputs) for _ in range(8)]
        cluster.kill("second")
        assert found + list(outputs) == [n * n for n in range(40)]
