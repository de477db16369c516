"""A disk without room, as /dev/full is: the path, the reason and the space that is needed, in one line."""

import errno
from pathlib import Path

import numpy as np
import pytest

from assay.data import runs
from assay.data.readers.database import copy_columns
from assay.data.runs import Run
from assay.errors import WriteError

COLUMNS = {"window": np.array([f"w{i:05d}" for i in range(10_000)], dtype=object), "loss": np.arange(10_000.0)}


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full")
def test_a_full_disk_looks_like_one() -> None:
    with pytest.raises(OSError, match="No space left on device") as refused:
        copy_columns(COLUMNS, Path("/dev/full"))
    assert refused.value.errno == errno.ENOSPC


def test_the_first_shard_says_what_all_need(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """10,000 rows of 6 characters and 8 bytes are 0.14 MB; five shards of it 0.7."""

    def full(_columns: object, _part: Path) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(runs, "copy_columns", full)
    run = Run(tmp_path, {"shards": 5})
    with pytest.raises(WriteError, match=r"windows-00000\.parquet: cannot be written .* make room for 0\.7 MB"):
        run.write_shard(0, COLUMNS)
    assert not list(tmp_path.iterdir())
