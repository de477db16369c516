"""Where numbered blocks of work run: in this process, in several processes, or on a Ray cluster.

Work is cut into blocks before anything starts, and what a block gives depends on the block alone. Results arrive in the
order of the blocks whichever engine ran them, so the bytes that are written are the same.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Generic, Literal, Protocol, get_args

from assay.engines.blocks import Block, Block_contra, BlockWork, InOrder, Output, Output_co, Pool
from assay.errors import UsageError

EngineKind = Literal["local", "ray"]


class Workers(Protocol[Block_contra, Output_co]):
    """Workers that have prepared one kind of work."""

    def run(self, blocks: Sequence[Block_contra]) -> Iterator[Output_co]:
        """The outputs of the blocks, in their order."""
        ...


@dataclass(frozen=True, slots=True)
class Engine:
    """Where work runs; the numbers do not depend on it.

    >>> Engine(workers=2).workers
    2
    """

    kind: EngineKind = "local"
    workers: int | None = None  # processes or actors; None: one here, or as many as a cluster has room for
    address: str | None = None  # of a Ray cluster; None: the one that the environment names, or one that is started
    gpus_per_worker: float = 0.0

    def __post_init__(self) -> None:
        if self.kind not in get_args(EngineKind):
            raise UsageError(f"`engine` must be one of {', '.join(get_args(EngineKind))}, but got {self.kind!r}.")
        if self.workers is not None and self.workers < 1:
            raise UsageError(f"`workers` must be at least 1, but got {self.workers}.")
        if not self.gpus_per_worker >= 0:
            raise UsageError(f"`gpus_per_worker` must not be negative, but got {self.gpus_per_worker}.")
        if self.kind == "local" and (self.address is not None or self.gpus_per_worker):
            raise UsageError("`address` and `gpus_per_worker` need `engine='ray'`.")

    @property
    def here(self) -> bool:
        """Whether all work runs in the process that asks."""
        return self.kind == "local" and (self.workers or 1) == 1

    @contextmanager
    def started(self, work: BlockWork[Block, Output]) -> Iterator[Workers[Block, Output]]:
        """Workers for this work; they end with the `with` block, however it ends."""
        if self.here:
            yield _Here(work)
            return
        pool = self._pool(work)
        try:
            yield InOrder(pool)
        finally:
            pool.close()

    def _pool(self, work: BlockWork[Block, Output]) -> Pool:
        if self.kind == "ray":
            from assay.engines.ray_cluster import RayPool  # late: seconds, and an extra

            return RayPool(work, self.workers, address=self.address, gpus=self.gpus_per_worker)
        from assay.engines.processes import ProcessPool

        return ProcessPool(work, self.workers or 1)


LOCAL = Engine()


class _Here(Generic[Block, Output]):
    """The process that asks, one block after the other."""

    def __init__(self, work: BlockWork[Block, Output]) -> None:
        self._work = work
        self._function: Callable[[Block], Output] | None = None

    def run(self, blocks: Sequence[Block]) -> Iterator[Output]:
        for block in blocks:
            self._function = self._function or self._work.prepare()
            yield self._function(block)
