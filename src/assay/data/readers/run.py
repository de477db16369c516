"""The folder of a run that `assay score` wrote."""

from collections.abc import Sequence
from pathlib import Path

from assay.data.readers.duck import literal_path
from assay.data.readers.parquet import Parquet
from assay.data.store import open_run


class RunFolder(Parquet):
    """The windows of a run: its shards, one after the other."""

    def __init__(self, path: Path, label: str) -> None:
        run = open_run(path)
        self.about = run.manifest
        self._files = run.files()
        super().__init__(path, label)

    def scan(self, _columns: Sequence[str], /) -> str:
        files = ", ".join(literal_path(file) for file in self._files)
        return f"read_parquet([{files}], hive_partitioning=false)"

    def fault(self) -> str | None:
        return ": a shard of the run is damaged; delete it and run the same `assay score` again."
