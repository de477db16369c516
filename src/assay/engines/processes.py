"""Workers that are processes of this machine."""

import multiprocessing
import os
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from typing import Any

from assay.engines.blocks import BlockWork, Done, Event, Failed, Failure, Lost, Ready
from assay.signals import Stopped, raised

_ENDING = (signal.SIGINT, signal.SIGTERM)
_PATIENCE = 5.0  # seconds that a worker has to end by itself


class ProcessPool:
    """Processes that are started anew, not forked: libraries that run threads do not survive a fork."""

    def __init__(self, work: BlockWork[Any, Any], workers: int) -> None:
        self.wanted = workers
        self._work = work
        self._context = multiprocessing.get_context("spawn")
        self._workers: dict[int, tuple[BaseProcess, Connection]] = {}
        self._asked = 0

    def ask(self) -> int:
        """Start one more process."""
        worker, self._asked = self._asked, self._asked + 1
        here, there = self._context.Pipe()
        process = self._context.Process(
            target=_serve, args=(there, self._work, worker, _threads(self.wanted)), name=f"assay-{worker}", daemon=True
        )
        with _undisturbed():
            process.start()
        there.close()  # so that the end of the process is the end of the pipe
        self._workers[worker] = process, here
        return worker

    def give(self, worker: int, number: int, block: Any) -> None:
        """Send a block; a worker that is gone is found by `wait`."""
        with suppress(OSError):
            self._workers[worker][1].send((number, block))

    def wait(self) -> list[Event]:
        """What workers have sent, and which of them have ended."""
        by_pipe = {pipe: worker for worker, (_, pipe) in self._workers.items()}
        found: list[Event] = []
        for ready in wait(list(by_pipe)):
            assert isinstance(ready, Connection)
            worker = by_pipe[ready]
            try:
                found.append(ready.recv())
            except (EOFError, OSError):
                found.append(self._ended(worker))
        return found

    def _ended(self, worker: int) -> Lost:
        process, pipe = self._workers.pop(worker)
        pipe.close()
        process.join(_PATIENCE)
        return Lost(worker, _why(process.exitcode))

    def where(self, worker: int) -> str:
        """A worker in words."""
        return f"worker {worker}"

    def close(self) -> None:
        """End all processes: those that wait see their pipe close, the others are killed."""
        for process, pipe in self._workers.values():
            pipe.close()
            if process.is_alive():
                process.terminate()
        for process, _ in self._workers.values():
            process.join(_PATIENCE)
            if process.is_alive():
                process.kill()
                process.join()
        self._workers.clear()


@contextmanager
def _undisturbed() -> Iterator[None]:
    """Signals wait: a process that starts has them blocked until it can answer them (`_serve`)."""
    if not hasattr(signal, "pthread_sigmask"):  # Windows
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, _ENDING)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _why(code: int | None) -> str:
    if code is not None and code < 0:
        return f"ended by {signal.Signals(-code).name}"
    return f"exit code {code}"


def _threads(workers: int) -> int:
    """Threads for each worker: the cores are shared out."""
    return max(1, (os.cpu_count() or 1) // workers)


def _serve(pipe: Connection, work: BlockWork[Any, Any], worker: int, threads: int) -> None:
    """The life of a worker: prepare, then a block at a time until the pipe closes."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches the whole group; the driver ends us
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    share_cores(threads)
    with suppress(EOFError, OSError, Stopped), raised():  # the driver is gone, or ends us: what is open is cleaned up
        if hasattr(signal, "pthread_sigmask"):
            signal.pthread_sigmask(signal.SIG_UNBLOCK, _ENDING)
        function = _prepared(pipe, work, worker)
        while function is not None:
            number, block = pipe.recv()
            pipe.send(answer(function, worker, number, block))


def _prepared(pipe: Connection, work: BlockWork[Any, Any], worker: int) -> Callable[[Any], Any] | None:
    try:
        function = work.prepare()
    except Exception as error:  # noqa: BLE001 - whatever it is, the driver says it
        pipe.send(Failed(worker, None, Failure.of(error)))
        return None
    pipe.send(Ready(worker))
    return function


def answer(function: Callable[[Any], Any], worker: int, number: int, block: Any) -> Done | Failed:
    """What a block gives, or why it gives nothing."""
    try:
        return Done(worker, number, function(block))
    except Exception as error:  # noqa: BLE001 - likewise
        return Failed(worker, number, Failure.of(error))


def share_cores(threads: int) -> None:
    """Let libraries that are loaded later use so many threads."""
    for name in ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS"):
        os.environ[name] = str(threads)
