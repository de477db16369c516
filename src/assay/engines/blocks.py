"""Numbered blocks of work, given to whichever worker is free; their outputs come back in order.

The driver owns the blocks. A worker that is lost takes nothing with it: its block goes to another one, a replacement is
asked for and never waited for. (Letting a cluster restart lost actors hung, where the restart waited for a processor
that an idle actor held.)
"""

import traceback
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar, overload

from assay.errors import AssayError, EngineError

Block = TypeVar("Block")
Output = TypeVar("Output")
Block_contra = TypeVar("Block_contra", contravariant=True)
Output_co = TypeVar("Output_co", covariant=True)

MOST_TRIES = 3  # workers that a block may lose before it is taken to be the cause
_AHEAD = 4  # blocks per worker that may be finished before an earlier one is


class BlockWork(Protocol[Block_contra, Output_co]):
    """What a worker does. It travels to the workers, so it holds little; what is large is made by ``prepare``."""

    def prepare(self) -> Callable[[Block_contra], Output_co]:
        """Load what all blocks need, once per worker; gives the function of a block."""
        ...


@dataclass(frozen=True)
class OnDemand(Sequence[Block]):
    """Blocks that are made when they are asked for: all at once would be all of the data.

    >>> OnDemand(range(1, 4), lambda number: "x" * number)[2]
    'xxx'
    """

    of: Sequence[Any]
    made: Callable[[Any], Block]

    def __len__(self) -> int:
        return len(self.of)

    @overload
    def __getitem__(self, place: int) -> Block: ...
    @overload
    def __getitem__(self, place: slice) -> Sequence[Block]: ...
    def __getitem__(self, place: int | slice) -> Block | Sequence[Block]:
        return OnDemand(self.of[place], self.made) if isinstance(place, slice) else self.made(self.of[place])


@dataclass(frozen=True, slots=True)
class Ready:
    """A worker has prepared its work."""

    worker: int


@dataclass(frozen=True, slots=True)
class Done:
    """A block is finished."""

    worker: int
    number: int
    output: Any


@dataclass(frozen=True, slots=True)
class Failed:
    """The work raised an exception: another worker would too."""

    worker: int
    number: int | None  # None: while it prepared
    error: "Failure"


@dataclass(frozen=True, slots=True)
class Lost:
    """A worker ended: killed, out of memory, or on a node that left."""

    worker: int
    why: str


Event = Ready | Done | Failed | Lost


class Pool(Protocol):
    """Workers of one kind, by number."""

    wanted: int  # workers at once

    def ask(self) -> int:
        """Ask for one more worker, without waiting; it reports `Ready`, `Failed` or `Lost`."""
        ...

    def give(self, worker: int, number: int, block: Any) -> None:
        """Hand a block to a worker that is free."""
        ...

    def wait(self) -> list[Event]:
        """Wait until something happened."""
        ...

    def where(self, worker: int) -> str:
        """A worker in words, for messages."""
        ...

    def close(self) -> None:
        """End all workers."""
        ...


@dataclass(frozen=True, slots=True)
class Failure:
    """An exception that happened elsewhere: it travels as text where it cannot travel as itself."""

    refused: AssayError | None  # input or options that were refused: says the same wherever it was found
    summary: str
    trace: str

    @classmethod
    def of(cls, error: BaseException) -> "Failure":
        refused = error if isinstance(error, AssayError) else None
        summary = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
        return cls(refused, summary.splitlines()[0], "".join(traceback.format_exception(error)))


class WorkerFaultError(RuntimeError):
    """A fault of ours in a worker, with the traceback from there."""


class InOrder(Generic[Block, Output]):
    """Blocks in, outputs in the same order, on the workers of a pool."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool
        self._alive: set[int] = set()  # asked for, and not lost
        self._free: deque[int] = deque()
        self._never_ready = 0  # lost before they were of any use, in a row

    def run(self, blocks: Sequence[Block]) -> Iterator[Output]:
        """The outputs of the blocks, in their order; what waits for an earlier one is bounded."""
        waiting, busy, tries = deque(range(len(blocks))), dict[int, int](), [0] * len(blocks)
        finished: dict[int, Output] = {}
        self._fill(len(blocks))
        for number in range(len(blocks)):
            while number not in finished:
                self._give_out(blocks, waiting, busy, number + _AHEAD * self._pool.wanted)
                for event in self._pool.wait():
                    self._take(event, waiting, busy, tries, finished)
            yield finished.pop(number)

    def _fill(self, blocks: int) -> None:
        while len(self._alive) < min(self._pool.wanted, blocks):
            self._alive.add(self._pool.ask())

    def _give_out(self, blocks: Sequence[Block], waiting: deque[int], busy: dict[int, int], below: int) -> None:
        while self._free and waiting and waiting[0] < below:
            worker, number = self._free.popleft(), waiting.popleft()
            busy[worker] = number
            self._pool.give(worker, number, blocks[number])

    def _take(
        self, event: Event, waiting: deque[int], busy: dict[int, int], tries: list[int], finished: dict[int, Output]
    ) -> None:
        if isinstance(event, Ready):
            self._never_ready = 0
            self._free.append(event.worker)
        elif isinstance(event, Done):
            finished[busy.pop(event.worker)] = event.output
            self._free.append(event.worker)
        elif isinstance(event, Failed):
            raise _as_raised(event, self._pool.where(event.worker))
        elif event.worker in self._alive:
            self._replace(event, busy.pop(event.worker, None), waiting, tries)

    def _replace(self, event: Lost, number: int | None, waiting: deque[int], tries: list[int]) -> None:
        self._alive.discard(event.worker)
        where = self._pool.where(event.worker)
        if number is not None:
            tries[number] += 1
            if tries[number] >= MOST_TRIES:
                raise EngineError(
                    f"block {number:,} ended {MOST_TRIES} workers, the last one on {where} ({event.why}): it may need "
                    "more memory than a worker has; run the same command again with fewer workers."
                )
            waiting.appendleft(number)
        elif event.worker in self._free:
            self._free.remove(event.worker)
        else:
            self._never_ready += 1
            if self._never_ready >= MOST_TRIES * self._pool.wanted:
                raise EngineError(f"no worker could be started: the last one ended on {where} ({event.why}).")
        self._alive.add(self._pool.ask())


def _as_raised(event: Failed, where: str) -> Exception:
    """The exception for the driver: what was refused stays what it is, and says where it was found."""
    doing = "preparing" if event.number is None else f"block {event.number:,}"
    refused = event.error.refused
    if refused is not None:
        return type(refused)(f"{refused} ({doing}, {where})")
    return WorkerFaultError(f"{event.error.summary} ({doing}, {where})\n{event.error.trace}")
