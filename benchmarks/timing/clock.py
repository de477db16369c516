"""CPU and wall time of several contenders, taken in turns, so that a busy machine is busy for all of them."""

import time
import tracemalloc
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from statistics import median

_TURN = 0.02  # seconds: a quicker contender runs several times in its turn
_MOST_RUNS = 50


@dataclass(frozen=True, slots=True)
class Contender:
    """Something to time."""

    name: str
    run: Callable[[], object]


@dataclass(slots=True)
class Times:
    """Seconds per run, one entry per turn."""

    cpu: list[float] = field(default_factory=list)  # of all threads together
    wall: list[float] = field(default_factory=list)

    @property
    def median_cpu(self) -> float:
        return median(self.cpu)

    @property
    def median_wall(self) -> float:
        return median(self.wall)


def interleaved(contenders: Sequence[Contender], turns: int) -> dict[str, Times]:
    """Each contender once to warm up, then all of them in turns."""
    runs = {contender.name: _runs_per_turn(contender) for contender in contenders}
    times = {contender.name: Times() for contender in contenders}
    for _ in range(turns):
        for contender in contenders:
            cpu, wall = _turn(contender, runs[contender.name])
            times[contender.name].cpu.append(cpu)
            times[contender.name].wall.append(wall)
    return times


def quickest(contenders: Sequence[Contender], turns: int) -> Contender:
    """The contender with the least CPU time in its best turn."""
    times = interleaved(contenders, turns)
    return min(contenders, key=lambda contender: min(times[contender.name].cpu))


def peak_memory(contender: Contender) -> int:
    """The most bytes that numpy and Python held at once during a run; compiled code's own are not counted."""
    tracemalloc.start()
    contender.run()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak


def _runs_per_turn(contender: Contender) -> int:
    _turn(contender, 1)
    cpu, wall = _turn(contender, 1)
    return max(1, min(_MOST_RUNS, int(_TURN / max(cpu, wall, 1e-6))))


def _turn(contender: Contender, runs: int) -> tuple[float, float]:
    wall, cpu = time.perf_counter(), time.process_time()
    for _ in range(runs):
        contender.run()
    return (time.process_time() - cpu) / runs, (time.perf_counter() - wall) / runs
