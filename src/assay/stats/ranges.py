"""Numbered random draws in ranges: all of them here, or shared out among workers, with the same bits.

What draw b gives depends on b and on what is drawn from, so that a range can be drawn anywhere. Whoever draws asks
`in_ranges` and does not know where; whoever has workers says so (`drawn_by`). Without workers it costs nothing.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Protocol, TypeVar

WORTH_SHARING = 2.0  # seconds of one core: starting workers takes longer than less

Shared = TypeVar("Shared")
Drawn = TypeVar("Drawn")

#: What is drawn from, the first draw of the range, and how many; it travels, so it is a function of a module.
Draw = Callable[[Shared, int, int], Drawn]
Range = tuple[int, int]  # the first draw, and how many


class Drawers(Protocol):
    """Workers that draw."""

    @property
    def ranges(self) -> int:
        """How many ranges keep them busy."""

    def drawn(self, draw: Draw[Any, Any], shared: Any, ranges: Sequence[Range]) -> Iterable[Any]:
        """What each range gives, in order."""


_drawers: ContextVar[Drawers | None] = ContextVar("drawers", default=None)


@contextmanager
def drawn_by(drawers: Drawers) -> Iterator[None]:
    """Let workers draw what is worth it inside."""
    before = _drawers.set(drawers)
    try:
        yield
    finally:
        _drawers.reset(before)


def in_ranges(
    draw: Draw[Shared, Drawn], shared: Shared, count: int, *, seconds: float, step: int = 1
) -> Iterator[Drawn]:
    """What ``draw`` gives for the draws 0 … count − 1: in one range here, or in several, in order, from workers.

    ``seconds`` is about what it takes on one core; ranges begin at multiples of ``step``.

    >>> list(in_ranges(lambda shared, first, count: shared[first : first + count], "abcdef", 6, seconds=60))
    ['abcdef']
    """
    drawers = _drawers.get()
    if drawers is None or seconds < WORTH_SHARING or count <= step:
        yield draw(shared, 0, count)
        return
    size = step * -(-count // (step * drawers.ranges))
    yield from drawers.drawn(draw, shared, [(low, min(size, count - low)) for low in range(0, count, size)])
