"""Random resampling on the workers of an engine."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any

from assay.engines import Engine, Workers
from assay.stats.ranges import Draw, Range, drawn_by

_UNKNOWN = 8  # workers, where a cluster says how many only later
_EACH = 2  # ranges for each: the last one to finish has little left


@contextmanager
def resampling_on(engine: Engine) -> Iterator[None]:
    """Draw replicates, permutations and sign flips inside on the workers of an engine, where that is worth it.

    What a replicate draws depends on the seed and its number, so no number changes. Workers start with the first
    resampling that takes seconds, and end with the block.

    >>> import assay
    >>> with assay.resampling_on(assay.Engine(workers=2)):
    ...     found = assay.compare([0.1, 0.4, 0.3, 0.2], [0.3, 0.5, 0.2, 0.5], resamples=1000, seed=1)
    >>> round(found.difference.value, 3)
    0.125
    """
    if engine.here:
        yield
        return
    with ExitStack() as ends, drawn_by(_OnEngine(engine, ends)):
        yield


class _OnEngine:
    """Workers that start when they are first needed."""

    def __init__(self, engine: Engine, ends: ExitStack) -> None:
        self._engine, self._ends = engine, ends
        self._workers: Workers[Any, Any] | None = None

    @property
    def ranges(self) -> int:
        return _EACH * (self._engine.workers or _UNKNOWN)

    def drawn(self, draw: Draw[Any, Any], shared: Any, ranges: Sequence[Range]) -> Iterator[Any]:
        if self._workers is None:
            self._workers = self._ends.enter_context(self._engine.started(_Drawing()))
        return self._workers.run([(draw, shared, *one) for one in ranges])


class _Drawing:
    """Work for an engine: a block is a range of draws, and what it is drawn from."""

    def prepare(self) -> "Callable[[tuple[Draw[Any, Any], Any, int, int]], Any]":
        return _drawn


def _drawn(block: tuple[Draw[Any, Any], Any, int, int]) -> Any:
    draw, shared, first, count = block
    return draw(shared, first, count)
