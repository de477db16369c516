"""The folder of a run that `assay score` wrote."""

from collections.abc import Sequence
from pathlib import Path

from assay.data.database import literal_path
from assay.data.opening import TABLE, check_file
from assay.data.readers.parquet import Parquet
from assay.data.store import open_run

#: What only the files of a harness tell.
_OF_HARNESSES = frozenset({"measure", "files", "lower_is_better"})


class RunFolder(Parquet):
    """The windows of a run: its shards, one after the other."""

    def __init__(self, path: Path, label: str) -> None:
        run = open_run(path)
        self.about = {name: value for name, value in run.manifest.items() if name not in _OF_HARNESSES}
        self._files = run.files()
        for file in self._files:
            check_file(file, TABLE)
        super().__init__(path, label)

    def scan(self, _columns: Sequence[str], /) -> str:
        files = ", ".join(literal_path(file) for file in self._files)
        return f"read_parquet([{files}], hive_partitioning=false)"

    def fault(self) -> str | None:
        return ": a shard of the run is damaged; delete it and run the same `assay score` again."
