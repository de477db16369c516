"""Where work runs: options that verbs take as one group."""

from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Annotated, Literal

from assay.cli.options import option

if TYPE_CHECKING:
    from assay.engines import Engine

_PANEL = "Workers"

RunsOn = Annotated[
    Literal["local", "ray"],
    option("Where the work runs: this machine, or a Ray cluster (extra ray); same bytes.", "--engine", panel=_PANEL),
]
WorkersAtOnce = Annotated[
    int | None,
    option("How many workers. (default: 1 here, a cluster's room)", "--workers", panel=_PANEL, value="N"),
]
ClusterAddress = Annotated[
    str | None,
    option("The Ray cluster. (default: RAY_ADDRESS, or a new one)", "--address", panel=_PANEL, value="HOST:PORT"),
]
GpusPerWorker = Annotated[
    float, option("Graphics cards for each worker on Ray.", "--gpus-per-worker", panel=_PANEL, value="G")
]


@dataclass(frozen=True, slots=True)
class OnWorkers:
    """Where the work runs, and on how many workers."""

    engine: RunsOn = "local"
    workers: WorkersAtOnce = None
    address: ClusterAddress = None
    gpus_per_worker: GpusPerWorker = 0.0

    def given(self) -> dict[str, object]:
        """What is not as it is by default."""
        return {one.name: value for one in fields(self) if (value := getattr(self, one.name)) != one.default}

    def chosen(self) -> "Engine":
        """The engine; what makes no sense together is refused here."""
        from assay.engines import Engine  # late: --help needs none of it

        return Engine(self.engine, workers=self.workers, address=self.address, gpus_per_worker=self.gpus_per_worker)

    def resampling(self) -> AbstractContextManager[None]:
        """Where random resampling inside takes seconds, it runs there."""
        if not self.given():
            return nullcontext()
        from assay.engines.replicates import resampling_on  # late: likewise

        return resampling_on(self.chosen())


#: In the process that asks.
HERE = OnWorkers()
