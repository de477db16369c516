"""Engines: the same outputs in the same order, whatever happens to the workers."""

import os
import signal
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from assay.engines import LOCAL, Engine
from assay.engines.blocks import WorkerFaultError
from assay.errors import EngineError, InputError, UsageError


@dataclass(frozen=True)
class Squares:
    """The square of a block; optional trouble on the way."""

    trouble: str = ""
    marks: str = ""

    def prepare(self) -> Callable[[int], int]:
        if self.trouble == "prepare":
            raise InputError("no such model.")
        if self.trouble == "die at start":
            os.kill(os.getpid(), signal.SIGKILL)
        return self.square

    def square(self, block: int) -> int:
        if block == 7 and self.trouble == "refuse":
            raise InputError("a loss is infinite.")
        if block == 7 and self.trouble == "fault":
            raise ZeroDivisionError("oops")
        if block == 7 and self.trouble == "kill once" and _first(self.marks):
            os.kill(os.getpid(), signal.SIGKILL)
        if block == 7 and self.trouble == "kill always":
            os.kill(os.getpid(), signal.SIGKILL)
        time.sleep(0.02 if block % 5 == 0 else 0.0)
        return block * block


def _first(marks: str) -> bool:
    try:
        Path(marks).touch(exist_ok=False)
    except FileExistsError:
        return False
    return True


def run(engine: Engine, work: Squares, blocks: int = 20) -> list[int]:
    with engine.started(work) as workers:
        return list(workers.run(range(blocks)))


ENGINES = [LOCAL, Engine(workers=2), Engine(workers=3)]


@pytest.mark.parametrize("engine", ENGINES, ids=["here", "2", "3"])
def test_outputs_come_in_order(engine: Engine) -> None:
    assert run(engine, Squares()) == [n * n for n in range(20)]


@pytest.mark.parametrize("engine", ENGINES[:2], ids=["here", "2"])
def test_workers_stay_for_more_blocks(engine: Engine) -> None:
    with engine.started(Squares()) as workers:
        assert list(workers.run([3])) == [9]
        assert list(workers.run([4, 5, 6])) == [16, 25, 36]
        assert list(workers.run([])) == []


def test_a_killed_worker_loses_nothing(tmp_path: Path) -> None:
    work = Squares("kill once", str(tmp_path / "killed"))
    assert run(Engine(workers=2), work) == [n * n for n in range(20)]
    assert (tmp_path / "killed").exists()


def test_a_block_that_ends_every_worker_is_given_up() -> None:
    with pytest.raises(EngineError, match=r"block 7 ended 3 workers.*SIGKILL"):
        run(Engine(workers=2), Squares("kill always"))


def test_workers_that_never_start_are_given_up() -> None:
    with pytest.raises(EngineError, match=r"no worker could be started.*SIGKILL"):
        run(Engine(workers=2), Squares("die at start"))


def test_what_is_refused_says_the_same_and_where() -> None:
    with pytest.raises(InputError, match=r"^a loss is infinite\. \(block 7, worker \d\)$"):
        run(Engine(workers=2), Squares("refuse"))
    with pytest.raises(InputError, match=r"^no such model\. \(preparing, worker \d\)$"):
        run(Engine(workers=2), Squares("prepare"))


def test_a_fault_brings_its_traceback() -> None:
    with pytest.raises(WorkerFaultError, match=r"ZeroDivisionError: oops \(block 7, worker \d\)\n(.|\n)*in square"):
        run(Engine(workers=2), Squares("fault"))


def test_no_process_is_left_where_the_driver_stops_early() -> None:
    import multiprocessing

    with Engine(workers=2).started(Squares()) as workers:
        outputs = workers.run(range(20))
        assert next(outputs) == 0
        assert len(multiprocessing.active_children()) == 2
    assert multiprocessing.active_children() == []


@pytest.mark.parametrize(
    ("kwargs", "said"),
    [
        ({"kind": "dask"}, "`engine` must be one of local, ray"),
        ({"workers": 0}, "`workers` must be at least 1"),
        ({"gpus_per_worker": -1.0}, "`gpus_per_worker` must not be negative"),
        ({"address": "auto"}, "need `engine='ray'`"),
    ],
)
def test_what_makes_no_sense_is_refused(kwargs: dict[str, object], said: str) -> None:
    with pytest.raises(UsageError, match=said):
        Engine(**kwargs)  # type: ignore[arg-type]  # wrong on purpose
