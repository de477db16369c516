"""How far a command has come, on stderr: bars with rate and time left on a terminal, a line a minute in the log of a CI
job, and nothing elsewhere. Nothing is shown of what takes less than two seconds; verbs that load models speak
at once.
"""

import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from threading import Event, Lock, Thread
from typing import TYPE_CHECKING, Any, TextIO

import typer

from assay.names import visible
from assay.progress import Advance, heard_by

if TYPE_CHECKING:
    from rich.progress import Progress

PATIENCE = 2.0  # seconds without a word
AT_ONCE = 0.4  # the same, of verbs that load a model
BETWEEN_LINES = 60.0  # seconds, in a log
_SPEEDS = 30.0  # seconds over which a bar takes its rate


@dataclass
class Work:
    """Something that is being done."""

    name: str
    unit: str
    total: int | None
    began: float = field(default_factory=time.monotonic)
    first: int | None = None  # done when it was first heard of: what was resumed took no time now
    done: int = 0

    def __call__(self, done: int, total: int) -> None:
        self.first = done if self.first is None else self.first
        self.done, self.total = done, total

    @property
    def rate(self) -> float:
        """Units per second; 0 where nothing is known yet."""
        return (self.done - (self.first or 0)) / max(time.monotonic() - self.began, 1e-9)

    def line(self) -> str:
        """``base: 1,200 of 5,000 tokens, 40 tokens/s, 95 s left``."""
        if not self.total:
            return f"{self.name}: {time.monotonic() - self.began:.0f} s"
        speed = f", {_number(self.rate)} {self.unit}/s" if self.rate > 0 else ""
        left = f", {(self.total - self.done) / self.rate:.0f} s left" if self.rate > 0 else ""
        return f"{self.name}: {self.done:,} of {self.total:,} {self.unit}{speed}{left}"


def _number(rate: float) -> str:
    return f"{rate:,.0f}" if rate >= 10 else f"{rate:.2g}"


class Lines:
    """A line a minute about the innermost work, for a log that people read later."""

    every = BETWEEN_LINES
    patience = BETWEEN_LINES

    def __init__(self, stream: TextIO) -> None:
        self.stream = stream

    def show(self, works: list[Work]) -> None:
        if works:
            self.stream.write(visible(works[-1].line()) + "\n")
            self.stream.flush()

    def close(self) -> None:
        """Nothing is left to be taken away."""


class ProgressBars:
    """Bars that are taken away when the work is over."""

    every = 0.2
    patience = PATIENCE

    def __init__(self, stream: TextIO) -> None:
        self.stream = stream
        self._bars: Progress | None = None
        self._tasks: dict[int, Any] = {}

    def show(self, works: list[Work]) -> None:
        bars = self._bars or self._started()
        for gone in self._tasks.keys() - {id(work) for work in works}:
            bars.remove_task(self._tasks.pop(gone))
        for work in works:
            if id(work) not in self._tasks:
                self._tasks[id(work)] = bars.add_task(visible(work.name), total=None, rate="")
            rate = f"{_number(work.rate)} {work.unit}/s" if work.rate > 0 else work.unit
            bars.update(self._tasks[id(work)], total=work.total, completed=work.done, rate=rate)
        bars.refresh()

    def close(self) -> None:
        if self._bars is not None:
            self._bars.stop()
        self._bars, self._tasks = None, {}

    def _started(self) -> "Progress":
        from rich.console import Console  # late: a tenth of a second that only long work needs
        from rich.progress import (
            BarColumn,
            MofNCompleteColumn,
            Progress,
            TextColumn,
            TimeElapsedColumn,
            TimeRemainingColumn,
        )

        self._bars = Progress(
            TextColumn("{task.description}", markup=False),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("{task.fields[rate]}", markup=False),
            TimeElapsedColumn(),
            TimeRemainingColumn(compact=True),
            console=Console(file=self.stream, no_color=bool(os.environ.get("NO_COLOR")) or None),
            auto_refresh=False,  # one thread is enough, and it is ours
            transient=True,
            redirect_stdout=False,  # what is printed goes where the user sent it
            redirect_stderr=False,
            speed_estimate_period=_SPEEDS,
        )
        self._bars.start()
        return self._bars


class ProgressWatcher:
    """Hears of all work of a command and shows it from time to time, in a thread of its own."""

    def __init__(self, screen: ProgressBars | Lines, clock: Callable[[float], bool] | None = None) -> None:
        self.screen = screen
        self._works: list[Work] = []
        self._over, self._lock = Event(), Lock()
        self._wait = clock or self._over.wait
        self._thread: Thread | None = None

    def began(self, name: str, unit: str, total: int | None) -> Advance:
        work = Work(name, unit, total)
        with self._lock:
            self._works.append(work)
            if self._thread is None:
                self._thread = Thread(target=self._look, name="progress", daemon=True)
                self._thread.start()
        return work

    def ended(self, work: Advance) -> None:
        with self._lock:
            self._works = [one for one in self._works if one is not work]
            if not self._works:
                self.screen.close()  # so that what is printed next stands alone

    def rest(self) -> None:
        """Take all work as done."""
        with self._lock:
            self._works.clear()
            self.screen.close()

    def close(self) -> None:
        self._over.set()
        if self._thread is not None:
            self._thread.join(timeout=1.0)
        self.rest()

    @contextmanager
    def aside(self) -> Iterator[None]:
        """Take the bars away while something else is printed; they come back with the next look."""
        with self._lock:
            self.screen.close()
            yield

    def _look(self) -> None:
        while not self._wait(self.screen.every):
            with self._lock:
                late = [one for one in self._works if time.monotonic() - one.began >= self.screen.patience]
                if late and not self._over.is_set():
                    self.screen.show(list(self._works))


_watches: list[ProgressWatcher] = []


def screen_for(stream: TextIO) -> ProgressBars | Lines | None:
    """Bars on a terminal, lines in a CI job, nothing elsewhere."""
    if stream.isatty() and os.environ.get("TERM") != "dumb":
        return ProgressBars(stream)
    return Lines(stream) if os.environ.get("CI") else None


@contextmanager
def shown(stream: TextIO | None = None, *, at_once: bool = False) -> Iterator[None]:
    """Show how far the work inside has come; within another such block, that one shows it."""
    screen = None if _watches else screen_for(sys.stderr if stream is None else stream)
    if screen is None:
        yield
        return
    if at_once and isinstance(screen, ProgressBars):
        screen.patience = AT_ONCE
    watch = ProgressWatcher(screen)
    _watches.append(watch)
    try:
        with heard_by(watch):
            yield
    finally:
        _watches.remove(watch)
        watch.close()


def printed(text: str, *, err: bool = False, nl: bool = True) -> None:
    """Print, above the bars if there are any; with the first result, on stdout, what was being done is over."""
    if _watches and not err:
        _watches[-1].rest()
    with _watches[-1].aside() if _watches else nullcontext():
        typer.echo(text, err=err, nl=nl)


def counting(name: str, unit: str) -> Advance:
    """What is called with how many of how many are done, and ends with the last; begins at once: models load slowly."""
    if not _watches:
        return _unseen
    watch = _watches[-1]
    work = watch.began(name, unit, None)

    def advance(done: int, total: int) -> None:
        work(done, total)
        if done >= total:
            watch.ended(work)

    return advance


def _unseen(done: int, total: int) -> None:
    """Where nothing is shown."""


def tokens_of(name: str) -> Advance:
    """How far a model has come, in tokens."""
    return counting(name, "tokens")


def prompts_of(name: str) -> Advance:
    """How many prompts a model has answered."""
    return counting(name, "prompts")
