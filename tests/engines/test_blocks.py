"""The driver of blocks against workers that finish and vanish in any order."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.engines.blocks import MOST_TRIES, Done, Event, InOrder, Lost, Ready
from assay.errors import EngineError


class Erratic:
    """Workers whose next event is chosen by the test; a lost block is lost at most twice."""

    def __init__(self, workers: int, data: st.DataObject) -> None:
        self.wanted = workers
        self.data = data
        self.starting: list[int] = []
        self.free: set[int] = set()
        self.busy: dict[int, tuple[int, Any]] = {}
        self.losses: dict[int, int] = {}
        self.asked = 0
        self.most_given = 0
        self.idle_losses = 0

    def ask(self) -> int:
        self.asked += 1
        self.starting.append(self.asked)
        return self.asked

    def give(self, worker: int, number: int, block: Any) -> None:
        assert worker in self.free
        self.free.discard(worker)
        self.busy[worker] = number, block
        self.most_given = max(self.most_given, number)

    def wait(self) -> list[Event]:
        choices = [("start", worker) for worker in self.starting] + [("end", worker) for worker in self.busy]
        choices += [("lose", w) for w, (n, _) in self.busy.items() if self.losses.get(n, 0) < MOST_TRIES - 1]
        if self.idle_losses < MOST_TRIES - 1:
            choices += [("vanish", worker) for worker in (*self.starting, *self.free)]
        what, worker = self.data.draw(st.sampled_from(choices))
        if what == "start":
            self.starting.remove(worker)
            self.free.add(worker)
            return [Ready(worker)]
        if what == "vanish":
            self.idle_losses += 1
            self.free.discard(worker)
            self.starting = [one for one in self.starting if one != worker]
            return [Lost(worker, "gone")]
        number, block = self.busy.pop(worker)
        if what == "lose":
            self.losses[number] = self.losses.get(number, 0) + 1
            return [Lost(worker, "gone")]
        self.free.add(worker)
        return [Done(worker, number, block * block)]

    def where(self, worker: int) -> str:
        return f"worker {worker}"

    def close(self) -> None:
        pass


@given(workers=st.integers(1, 4), blocks=st.integers(0, 12), data=st.data())
def test_outputs_are_complete_and_in_order_whatever_workers_do(workers: int, blocks: int, data: st.DataObject) -> None:
    pool = Erratic(workers, data)
    found: list[int] = []
    for output in InOrder[int, int](pool).run(range(blocks)):
        found.append(output)
        assert pool.most_given < len(found) + 4 * workers  # what waits is bounded
    assert found == [n * n for n in range(blocks)]


class Deadly(Erratic):
    """Every worker ends with its block."""

    def wait(self) -> list[Event]:
        if self.starting:
            worker = self.starting.pop()
            self.free.add(worker)
            return [Ready(worker)]
        worker = next(iter(self.busy))
        self.busy.pop(worker)
        return [Lost(worker, "out of memory")]


def test_a_block_that_ends_its_workers_is_named() -> None:
    pool = Deadly(1, None)  # type: ignore[arg-type]  # nothing is drawn
    with pytest.raises(EngineError, match=r"block 0 ended 3 workers, the last one on worker 3 \(out of memory\)"):
        list(InOrder[int, int](pool).run(range(3)))
    assert pool.asked == MOST_TRIES
