"""How far long work has come. Whoever works says so here; whoever listens, such as the command line, shows it.

A library says nothing by itself: without a listener, `working` and `counted` cost next to nothing.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Protocol, TypeVar

T = TypeVar("T")

#: Called with how many are done, and how many there are.
Advance = Callable[[int, int], None]


class Listener(Protocol):
    """What shows how far work has come."""

    def began(self, name: str, unit: str, total: int | None) -> Advance:
        """Work begins; the function that is returned is called as it goes on."""
        ...

    def ended(self, work: Advance) -> None:
        """That work is over, done or not."""
        ...


_listener: ContextVar[Listener | None] = ContextVar("listener", default=None)


@contextmanager
def heard_by(listener: Listener) -> Iterator[None]:
    """Let a listener hear of all work inside."""
    before = _listener.set(listener)
    try:
        yield
    finally:
        _listener.reset(before)


@contextmanager
def working(name: str, unit: str = "", total: int | None = None) -> Iterator[Advance]:
    """Work that takes its time; call what is given with how many of ``total`` units are done, or never.

    >>> with working("rank", "pairs", 3) as done:
    ...     for place in range(3):
    ...         done(place + 1, 3)
    """
    listener = _listener.get()
    if listener is None:
        yield _nobody
        return
    advance = listener.began(name, unit, total)
    try:
        yield advance
    finally:
        listener.ended(advance)


def counted(items: Iterable[T], name: str, unit: str, total: int | None = None) -> Iterator[T]:
    """The same items, one after another, while it is said how many of them are done."""
    if total is None and isinstance(items, Sequence):
        total = len(items)
    with working(name, unit, total) as advance:
        for place, item in enumerate(items):
            if total is not None:
                advance(place, total)
            yield item


def _nobody(done: int, total: int) -> None:
    """What is called where nobody listens."""
