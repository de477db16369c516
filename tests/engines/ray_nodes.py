"""A real Ray cluster of two nodes on this machine, for all tests of a session."""

import logging
import os
import secrets
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

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

    def join(self, ray: Any) -> None:
        """A second node, of two processors as the first."""
        self.start("second", f"--address={self.address}", "--node-ip-address=127.0.0.1")
        until(lambda: ray.cluster_resources().get("CPU", 0) == 4, "the second node did not join")

    def rejoin(self, ray: Any) -> None:
        """A second node in the place of one that was killed, when the first has noticed."""
        if "second" not in self.nodes:
            until(lambda: ray.cluster_resources().get("CPU", 0) == 2, "the node is still there")
            self.join(ray)

    def working(self) -> list[int]:
        """Processes of workers on this cluster that are at a block now, as Ray titles them."""
        wanted = f"RAY_AUTH_TOKEN={self.environment['RAY_AUTH_TOKEN']}".encode()
        found = []
        for place in Path("/proc").glob("[0-9]*"):
            with suppress(OSError):
                title = (place / "cmdline").read_bytes()
                if title.startswith(b"ray::_Actor.run") and wanted in (place / "environ").read_bytes():
                    found.append(int(place.name))
        return found

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


@pytest.fixture(scope="session")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    found = Cluster(tmp_path_factory.mktemp("ray"))
    found.start("head", "--head", f"--port={found.port}", "--node-ip-address=127.0.0.1", "--include-dashboard=false")
    with pytest.MonkeyPatch.context() as patch:
        for name in ("RAY_AUTH_MODE", "RAY_AUTH_TOKEN"):
            patch.setenv(name, found.environment[name])
        ray: Any = import_module("ray")
        _read_token_again()

        try:
            until(lambda: _answers(found.port), "the head does not answer")
            ray.init(address=found.address, log_to_driver=False, logging_level=logging.ERROR)
            found.join(ray)
            yield found
        finally:
            ray.shutdown()
            found.stop()


def _read_token_again() -> None:
    """Ray reads its settings when it is imported, and another test may have done that before."""
    inside: Any = import_module("ray._raylet")
    inside.Config.initialize("")
    inside.AuthenticationTokenLoader.instance().reset_cache()


def _answers(port: int) -> bool:
    with socket.socket() as found:
        return found.connect_ex(("127.0.0.1", port)) == 0


def until(holds: Callable[[], bool], otherwise: str) -> None:
    end = time.monotonic() + WAIT
    while not holds():
        assert time.monotonic() < end, otherwise
        time.sleep(0.05)
