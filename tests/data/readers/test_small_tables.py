"""Small files read without DuckDB: DuckDB, reading the same files, is the oracle."""

import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.data.readers import csv_and_jsonl
from assay.data.readers.registry import open_file
from assay.data.readers.small_tables import small_table
from assay.errors import InputError

_CELLS = st.one_of(
    st.text(alphabet='ab1, "\t\r\n;|é日\0-', max_size=5),
    st.floats().map(repr),
    st.decimals(allow_nan=False, allow_infinity=False, places=4).map(str),
    st.sampled_from(
        ["", " 1", "1 ", "+1", ".5", "5.", "1e5", "1E-400", "1_0", "0x1", "inf", "nan", "true", "-0.0", "١"]
    ),
)


@given(st.lists(st.tuples(_CELLS, _CELLS), max_size=4), st.sampled_from(["\n", "\r\n"]), st.booleans())
def test_cells_against_duckdb(rows: list[tuple[str, str]], end: str, last: bool) -> None:
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        path = Path(folder) / "t.csv"
        text = end.join(["item,score", *(f"{a},{b}" for a, b in rows)]) + (end if last else "")
        path.write_bytes(text.encode("utf-8", "surrogatepass"))
        ours = _read(path)
        patch.setattr(csv_and_jsonl, "small_table", lambda *_: None)
        assert ours == _read(path)


def _read(path: Path) -> Any:
    try:
        columns = open_file(path).read([("item", "text"), ("score", "score"), ("score", "number")])
        return [repr(list(column)) for column in columns]
    except InputError as error:  # what is refused must be refused in both ways
        return str(error)


def test_a_plain_file_is_read_without_duckdb(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("item,score\nq1,0.5\nq2,1e-3\n")
    rows = small_table(path, ",", 2)
    assert rows == [["q1", "0.5"], ["q2", "1e-3"]]


@pytest.mark.parametrize("rest", ['\n"q1",1\n', "\nq1\n", "\n\nq1,1\n", "\rq1,1\n"])
def test_what_is_not_plain_is_left_to_duckdb(tmp_path: Path, rest: str) -> None:
    path = tmp_path / "t.csv"
    path.write_bytes(f"item,score{rest}".encode())
    assert small_table(path, ",", 2) is None
