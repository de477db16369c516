"""Files appear whole or not at all, whatever fails; tables come back to the last bit."""

import errno
import os
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.certificate import write_tables
from assay.data import read_table
from assay.errors import InputError, WriteError
from assay.files.writing import write_bytes, write_whole
from tests.data.files import losses

LIMITED = """
import resource, sys
from pathlib import Path
from assay.data import read_table
from assay.certificate import write_tables
from assay.files.writing import write_bytes
from assay.errors import WriteError
n = 20_000
table = read_table({"window": [f"w{i}" for i in range(n)], "tokens": [3] * n, "loss": [i / 7 for i in range(n)]})
resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))
for write in (lambda p: write_bytes(p, b"x" * 10_000), lambda p: write_tables(p, {"a": table})):
    try:
        write(Path(sys.argv[1]))
    except WriteError as error:
        print(str(error).count(chr(10)), "cannot be written" in str(error), "File too large" in str(error))
"""


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_a_disk_that_takes_no_more_leaves_what_was_there(tmp_path: Path) -> None:
    (tmp_path / "f.parquet").write_bytes(b"before")
    command = [sys.executable, "-c", LIMITED, str(tmp_path / "f.parquet")]
    ran = subprocess.run(command, capture_output=True, text=True, check=True)
    assert ran.stdout.splitlines() == ["0 True True"] * 2
    assert names(tmp_path) == ["f.parquet"]
    assert (tmp_path / "f.parquet").read_bytes() == b"before"


@pytest.mark.parametrize(
    "failure", [OSError(errno.ENOSPC, "No space left on device"), KeyboardInterrupt(), ValueError("bug")]
)
def test_a_failure_while_writing_leaves_nothing_behind(failure: BaseException, tmp_path: Path) -> None:
    def fill(part: Path) -> None:
        part.write_bytes(b"half")
        raise failure

    expected = WriteError if isinstance(failure, OSError) else type(failure)
    with pytest.raises(expected) as refused:
        write_whole(tmp_path / "f", fill)
    assert not isinstance(failure, OSError) or "No space left on device" in str(refused.value)
    assert names(tmp_path) == []


def test_a_failure_while_renaming_leaves_nothing_behind(tmp_path: Path) -> None:
    (tmp_path / "f").mkdir()
    with pytest.raises(InputError, match="cannot be written"):
        write_bytes(tmp_path / "f", b"x")
    assert (names(tmp_path), names(tmp_path / "f")) == (["f"], [])


def test_a_folder_that_cannot_be_written_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(InputError, match=r"No such file.*name a file in an existing folder"):
        write_bytes(tmp_path / "none" / "f", b"x")

    def denied(*_: Any) -> int:
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr("os.open", denied)
    with pytest.raises(InputError, match="Permission denied"):
        write_bytes(tmp_path / "f", b"x")
    assert names(tmp_path) == []


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_read_only_folder_is_refused(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    with pytest.raises(InputError, match="Permission denied"):
        write_bytes(tmp_path / "f", b"x")
    tmp_path.chmod(0o700)
    assert names(tmp_path) == []


@pytest.mark.parametrize(("mask", "mode"), [(0o022, 0o644), (0o027, 0o640), (0o077, 0o600)])
def test_the_mode_of_a_file_is_what_the_umask_leaves(mask: int, mode: int, tmp_path: Path) -> None:
    before = os.umask(mask)
    try:
        write_bytes(tmp_path / "f", b"x")
        assert os.umask(mask) == mask  # it is as it was
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "f").stat().st_mode) == mode


def test_a_file_that_was_there_is_replaced_whole(tmp_path: Path) -> None:
    (tmp_path / "f").write_bytes(b"a long content")
    reader = (tmp_path / "f").open("rb")
    write_bytes(tmp_path / "f", b"new")
    with reader:
        assert reader.read() == b"a long content"  # who was reading goes on reading the old one
    assert (tmp_path / "f").read_bytes() == b"new"
    assert names(tmp_path) == ["f"]


ids = st.text(st.characters(exclude_categories=["C", "Z"]), min_size=1, max_size=5)


@settings(max_examples=20)  # each opens a database
@given(st.dictionaries(ids, st.floats(0, 1e300), min_size=1, max_size=12))
def test_tables_come_back_to_the_last_bit(tmp_path_factory: pytest.TempPathFactory, found: dict[str, float]) -> None:
    path = tmp_path_factory.mktemp("tables") / "t.parquet"
    table = losses(window=list(found), tokens=[7] * len(found), loss=list(found.values()))
    assert write_tables(path, {"a": table, "b": table}) == 2 * len(found)
    again = read_table(path).select("b")
    assert dict(zip(again.ids, again.numbers["loss"].tolist(), strict=True)) == found


def test_the_same_rows_are_the_same_bytes(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    n = 3_000
    rows = {
        "window": [f"w{i}" for i in range(n)] * 2,
        "split": ["preview"] * n + ["final"] * n,
        "tokens": [5.0] * (2 * n),
        "loss": rng.random(2 * n).tolist(),
    }
    order = rng.permutation(2 * n).tolist()
    mixed = {name: [values[i] for i in order] for name, values in rows.items()}
    for name, columns in (("a", rows), ("b", mixed)):
        write_tables(tmp_path / name, {"one": losses(**columns), "two": losses(**columns)})
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


def test_only_columns_of_all_tables_are_written_and_runs_are_completed(tmp_path: Path) -> None:
    single = read_table({"item": ["q2", "q1"], "score": [0.0, 1.0], "weight": [1.0, 2.0]})
    several = read_table({"item": ["q1", "q2"] * 2, "score": [1.0, 0.0, 0.5, 1.0], "run": ["b", "b", "a", "a"]})
    write_tables(tmp_path / "t.parquet", {"one": single, "two": several})
    again = read_table(tmp_path / "t.parquet")
    assert set(again.numbers) == {"score"}
    runs = [again.labels["run"].names[code] for code in again.labels["run"].codes]
    assert list(zip(again.ids, runs, again.numbers["score"].tolist(), strict=True)) == [
        ("q1", "1", 1.0),
        ("q2", "1", 0.0),
        ("q1", "a", 0.5),
        ("q1", "b", 1.0),
        ("q2", "a", 1.0),
        ("q2", "b", 0.0),
    ]
