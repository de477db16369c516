"""Workers that are actors of a Ray cluster: one that runs already, or one that is started on this machine.

Actors are never restarted by the cluster, and calls never retried: the driver gives lost blocks to other workers
(`assay.engines.blocks`).
"""

import logging
import os
import signal
import socket
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from platform import python_version
from threading import current_thread, main_thread
from time import monotonic
from typing import Any

from assay.engines.blocks import BlockWork, Event, Failed, Failure, Lost, Ready
from assay.engines.processes import answer, share_cores
from assay.errors import EngineError, InputError, UsageError
from assay.version import VERSION

_POLL = 1.0  # seconds between looks, so that signals are seen
_ANSWER = 10.0  # seconds until a cluster that nobody hears of is given up
_ROOM = 180.0  # seconds until a cluster without room for any worker is given up
#: Packages whose versions determine numbers: the same on driver and workers.
COMPARED = ("numpy", "scipy", "torch", "transformers")


@dataclass(frozen=True, slots=True)
class _Placed:
    """An actor that runs somewhere, and what it runs on."""

    node: str
    versions: dict[str, str | None]


@dataclass(slots=True)
class _Handle:
    actor: Any
    placed: _Placed | None = None


class RayPool:
    """Actors, each with one processor and its share of graphics cards."""

    def __init__(self, work: BlockWork[Any, Any], workers: int | None, *, address: str | None, gpus: float) -> None:
        self._ray = _imported()
        self._own = not self._ray.is_initialized()
        if self._own:
            _connect(self._ray, address, workers)
        self._gpus = gpus
        self._work = self._ray.put(work)
        self._handles: dict[int, _Handle] = {}
        self._pending: dict[Any, int] = {}  # by reference: what workers were asked
        self._asked = 0
        self._since = monotonic()  # when something last happened
        self.wanted = workers or self._room()

    def _room(self) -> int:
        """As many workers as the cluster has processors or graphics cards for."""
        has = self._ray.cluster_resources()
        slots = has.get("GPU", 0) / self._gpus if self._gpus else has.get("CPU", 0)
        return max(1, int(slots))

    def ask(self) -> int:
        """Ask the cluster for one more actor; it may have no room for it now, or ever."""
        worker, self._asked = self._asked, self._asked + 1
        made = self._ray.remote(_Actor).options(num_cpus=1, num_gpus=self._gpus, max_restarts=0, max_task_retries=0)
        actor = made.remote(worker)
        self._handles[worker] = _Handle(actor)
        self._pending[actor.placed.remote()] = worker
        return worker

    def give(self, worker: int, number: int, block: Any) -> None:
        """Send a block."""
        self._pending[self._handles[worker].actor.run.remote(number, block)] = worker

    def wait(self) -> list[Event]:
        """What actors have answered, and which of them are gone."""
        while True:
            ready, _ = self._ray.wait(list(self._pending), num_returns=1, timeout=_POLL)
            found = [event for reference in ready if (event := self._taken(reference)) is not None]
            if ready:
                self._since = monotonic()
            if found:
                return found
            self._check_room()

    def _taken(self, reference: Any) -> Event | None:
        worker = self._pending.pop(reference)
        try:
            answered = self._ray.get(reference)
        except self._ray.exceptions.RayError as error:
            self._handles.pop(worker, None)
            self._pending = {one: by for one, by in self._pending.items() if by != worker}
            return Lost(worker, _one_line(error))
        if isinstance(answered, _Placed):
            return self._prepare(worker, answered)
        assert not isinstance(answered, Exception)
        return answered  # type: ignore[no-any-return]  # ray has no types here

    def _prepare(self, worker: int, placed: _Placed) -> Event | None:
        """Let an actor that runs the same software load its work."""
        handle = self._handles[worker]
        handle.placed = placed
        differs = [
            f"{name} {there or 'missing'} instead of {ours}"
            for name, ours in _versions().items()
            if ours is not None and (there := placed.versions.get(name)) != ours
        ]
        if differs:
            text = (
                f"the cluster runs other software than this machine ({', '.join(differs)}); install the same versions."
            )
            return Failed(worker, None, Failure.of(InputError(text)))
        self._pending[handle.actor.prepare.remote([self._work])] = worker
        return None

    def _check_room(self) -> None:
        """Give up where nothing runs and nothing starts."""
        placed = any(handle.placed is not None for handle in self._handles.values())
        if not placed and monotonic() - self._since > _ROOM:
            needs = "1 CPU" + (f" and {self._gpus:g} GPU" if self._gpus else "")
            has = self._ray.available_resources()
            raise EngineError(
                f"the cluster had no room for a worker within {_ROOM:.0f} s: one needs {needs}, free are "
                f"{has.get('CPU', 0):g} CPU and {has.get('GPU', 0):g} GPU; free some, or add a node."
            )

    def where(self, worker: int) -> str:
        """A worker and its node in words."""
        handle = self._handles.get(worker)
        node = "" if handle is None or handle.placed is None else f" on node {handle.placed.node}"
        return f"worker {worker}{node}"

    def close(self) -> None:
        """End the actors, and the cluster where it was started here."""
        with suppress(self._ray.exceptions.RayError):
            for handle in self._handles.values():
                self._ray.kill(handle.actor, no_restart=True)
        self._handles.clear()
        self._pending.clear()
        if self._own:
            self._ray.shutdown()


def _imported() -> Any:
    try:
        import ray
    except ImportError as error:
        raise UsageError("`engine='ray'` needs the extra ray: pip install 'assay-eval[ray]'.") from error
    return ray


def _connect(ray: Any, address: str | None, workers: int | None) -> None:
    """Connect to a cluster, or start one: quiet, without a dashboard, reached from this machine only."""
    address = address or os.environ.get("RAY_ADDRESS") or "local"
    quiet = {"log_to_driver": False, "logging_level": logging.ERROR, "configure_logging": False}
    if address == "local":
        sys.stderr.write("assay: starting Ray on this machine; this takes a few seconds\n")
        with _signals_as_they_are(ray):
            ray.init(address="local", num_cpus=workers or os.cpu_count(), include_dashboard=False, **quiet)
        return
    try:
        _look_for(address)
        with _signals_as_they_are(ray):
            ray.init(address=address, **quiet)
    except (ConnectionError, RuntimeError, ValueError, OSError) as error:
        raise EngineError(
            f"no Ray cluster answers at {address} ({_one_line(error)}); check `address`. For one that wants a token "
            "set RAY_AUTH_MODE=token, and have the token in RAY_AUTH_TOKEN or ~/.ray/auth_token."
        ) from error


def _look_for(address: str) -> None:
    """Raise where nobody listens: Ray itself would try for a quarter of an hour."""
    host, colon, port = address.rpartition("://")[2].rpartition(":")
    if colon and port.isdecimal():
        socket.create_connection((host.strip("[]"), int(port)), _ANSWER).close()


@contextmanager
def _signals_as_they_are(ray: Any) -> Iterator[None]:
    """Ray ends a driver on SIGTERM by a handler of its own: put ours back, and end what was begun where one came."""
    before = signal.getsignal(signal.SIGTERM)
    try:
        yield
    except BaseException as error:
        ray.shutdown()
        if isinstance(error, SystemExit) and error.code == signal.SIGTERM and callable(before):
            before(signal.SIGTERM, None)
        raise
    finally:
        if current_thread() is main_thread():
            signal.signal(signal.SIGTERM, before or signal.SIG_DFL)


def _one_line(error: BaseException) -> str:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return lines[0] if lines else type(error).__name__


def _versions() -> dict[str, str | None]:
    """What determines numbers."""
    return {"assay": VERSION, "python": python_version(), **{name: _version(name) for name in COMPARED}}


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


class _Actor:
    """One worker."""

    def __init__(self, worker: int) -> None:
        share_cores(1)
        self._worker = worker
        self._function: Callable[[Any], Any] | None = None

    def placed(self) -> _Placed:
        return _Placed(socket.gethostname(), _versions())

    def prepare(self, held: list[Any]) -> Ready | Failed:
        import ray

        try:
            self._function = ray.get(held[0]).prepare()
        except Exception as error:  # noqa: BLE001 - whatever it is, the driver says it
            return Failed(self._worker, None, Failure.of(error))
        return Ready(self._worker)

    def run(self, number: int, block: Any) -> Any:
        assert self._function is not None
        return answer(self._function, self._worker, number, block)
