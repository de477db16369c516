"""Files as they come: every way in which one cannot be read, and every oddity that must not matter."""

import csv
import gzip
import io
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import duckdb
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.data import read_table
from assay.data.readers import database
from assay.data.readers.csv_and_jsonl import Delimited
from assay.data.readers.registry import open_file
from tests.data.files import FORMATS, assert_refused, write_rows

GOOD = {"item": ["007", "1e5"], "score": [0.5, 1.0]}


def written(path: Path, content: bytes) -> Path:
    path.write_bytes(content)
    return path


def read(path: Path) -> list[tuple[str, float]]:
    table = read_table(path)
    return list(zip(table.ids.tolist(), table.numbers["score"].tolist(), strict=True))


# ------------------------------------------------------------------------------------------------ what cannot be read


@pytest.mark.parametrize(
    ("name", "content", "parts"),
    [
        ("a.csv", b"", ("empty", "check")),
        ("a.csv", b"\n \n\n", ("empty", "check")),
        ("a.jsonl", b"", ("empty", "check")),
        ("a.parquet", b"", ("Parquet", "again")),
        ("a.csv", b"item,score\n", ("a header but no rows", "check")),
        ("a.csv", b"item,score", ("a header but no rows", "check")),
        ("a.csv", b"item,score\nq1,1\nq2\n", (", line 3: 1 cells", "header has 2 columns", "mend the row")),
        ("a.csv", b"item,score\nq1,1\n\nq2,1,5\n", (", line 4: 3 cells", "header has 2 columns", "comma")),
        ("a.tsv", b"item\tscore\nq1\n", (", line 2: 1 cells", "tab")),
        ("a.csv", b'item,score\nq1,1\n"q2,1\n', (", line 3: a quotation mark", "close it")),
        ("a.csv", b'item,score\n"q"1,1\n', (", line 2: a quotation mark", "close it")),
        ("a.csv", b"item,score\nq1,1\nq\xff,1\n", (", line 3, column 'item': 'q\\\\udcff' is not UTF-8", "save")),
        ("a.csv", b"it\xffem,score\nq1,1\n", ("the header is not UTF-8", "save")),
        ("a.csv", "item,score\nq1,1\n".encode("utf-16"), ("UTF-16", "save it as UTF-8")),
        ("a.csv", bytes(range(256)) * 20, ("binary", "CSV, TSV, JSON, JSONL or Parquet")),
        ("a.csv", gzip.compress(b"item,score\nq1,1\n", mtime=0)[:-4], ("cannot be unpacked", "again")),
        ("a.csv", b"PK\x03\x04" + bytes(50), ("a ZIP archive", "write it as CSV")),
        ("a.parquet", b"item,score\nq1,1\n", ("not a Parquet file", "again")),
        ("a.parquet", b"PAR1", ("Parquet file is", "write or copy it again")),
        (
            "a.jsonl",
            b'{"item": "q1", "score": 1}\n{"item": "q2", "sco\n',
            (", line 2: not JSON: it ends too early", "per line"),
        ),
        ("a.jsonl", b'{"item": "q1", "score": 1}\n\n[1, 2]\n', (", line 3: JSON, but not an object", "'[1, 2]'")),
        (
            "a.jsonl",
            b'{"item": "q1",\n "score": 1}\n',
            (", line 1: not JSON: it ends too early", "one whole object per line"),
        ),
        (
            "a.json",
            b'{\n "results": [{"item": 1}],\n "model": "m"\n}\n',
            (": one JSON object with 'results', 'model', not a table", "an array of objects"),
        ),
        ("a.jsonl", b'{"item": "q1", "item": "q2", "score": 1}\n', (", line 1: ", "'item' appears twice")),
        ("a.jsonl", b'{"item": "q\xff", "score": 1}\n', (", line 1: byte 0xff is not UTF-8", "save")),
        (
            "a.jsonl",
            b"item,score\nq1,1\n",
            (", line 1: not JSON (Expecting value at column 1)", "one whole object per line"),
        ),
        (
            "a.jsonl",
            b'{"item": "q\\ud83d", "score": 1}\n',
            ("cannot be read", "no low surrogate", "write the file again"),
        ),
        ("a.json", b'[{"item": "q1", "score": 1}, 7]', (", row 2: not an object but '7'", "array of objects")),
        ("a.json", b"[]", ("without objects",)),
        ("a.json", b'{"columns": ["item", "score"], "data": [["q1"]]}', (", row 1: 1 values for 2 columns",)),
        ("a.json", b'{"columns": ["item", "score"], "data": 7}', ("'data' a list of rows",)),
        ("a.json", b'{"columns": ["item", "item"], "data": [["q1", 1]]}', ("2 columns are called 'item'", "rename")),
        ("a.jsonl", b"{}\n", ("objects without any fields", "check what should have written them")),
        ("a.json", b"{}", ("objects without any fields", "check what should have written them")),
        ("a.json", b"[{}, {}]", ("objects without any fields", "check what should have written them")),
    ],
)
def test_a_file_that_cannot_be_read_says_why_and_what_to_do(
    tmp_path: Path, name: str, content: bytes, parts: tuple[str, ...]
) -> None:
    path = written(tmp_path / name, content)
    assert assert_refused(path, *parts).startswith(str(path))


@pytest.mark.parametrize("kept", [0.1, 0.5, 0.9, 0.999])
def test_a_truncated_parquet_is_refused(tmp_path: Path, kept: float) -> None:
    path = write_rows(tmp_path / "a.parquet", {"item": [f"q{i}" for i in range(500)], "score": [0.5] * 500})
    whole = path.read_bytes()
    path.write_bytes(whole[: int(len(whole) * kept)])
    assert_refused(path, str(path), "the Parquet file is truncated", "write or copy it again")


def test_a_damaged_parquet_is_refused(tmp_path: Path) -> None:
    path = write_rows(
        tmp_path / "a.parquet", {"item": [f"q{i}" for i in range(500)], "score": [i / 7 for i in range(500)]}
    )
    whole = path.read_bytes()
    path.write_bytes(whole[:4] + b"\xff" * 2000 + whole[2004:])
    assert_refused(path, str(path), "the Parquet file is damaged", "write or copy it again")


def test_a_directory_is_refused(tmp_path: Path) -> None:
    assert_refused(tmp_path, f"{tmp_path}: a directory", "name a file")


def test_a_missing_file_is_refused_with_a_guess(tmp_path: Path) -> None:
    write_rows(tmp_path / "scores.csv", GOOD)
    assert_refused(tmp_path / "score.csv", "no such file", "did you mean 'scores.csv'?")
    assert_refused(tmp_path / "zzzzz", "no such file", "check the path")
    assert_refused(tmp_path / "no" / "a.csv", "no such file", "directory", "check the path")
    assert_refused(tmp_path / ("a" * 5000), "cannot be opened", "check the path")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_a_pipe_is_refused_rather_than_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.csv")
    assert_refused(tmp_path / "pipe.csv", "a pipe, not a regular file", "save it to a file")


def test_messages_stay_on_one_line_whatever_the_name(tmp_path: Path) -> None:
    assert_refused(written(tmp_path / "a\nb.csv", b""), "a\\nb.csv", "empty")


# ---------------------------------------------------------------------------------------- what must make no difference

EXPECTED = [("007", 0.5), ("1e5", 1.0)]


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.csv", b"item,score\n007,0.5\n1e5,1\n"),
        ("a.csv", b"item,score\n007,0.5\n1e5,1"),
        ("a.csv", b"\xef\xbb\xbfitem,score\n007,0.5\n1e5,1\n"),
        ("a.csv", b"item,score\r\n007,0.5\r\n1e5,1\r\n"),
        ("a.csv", b"item,score\r007,0.5\r1e5,1\r"),
        ("a.csv", b"item,score\n007,0.5\r\n1e5,1\n"),
        ("a.csv", b"\n\nitem,score\n\n007,0.5\n\n1e5,1\n\n"),
        ("a.csv", b"item;score\n007; 0.5 \n1e5;1\n"),
        ("a.csv", b"item\tscore\n007\t0.5\n1e5\t1\n"),
        ("a.txt", b"item|score\n007|0.5\n1e5|1\n"),
        ("a.tsv", b"item\tscore\n007\t0.5\n1e5\t1\n"),
        ("a.tsv", b"item,score\n007,0.5\n1e5,1\n"),
        ("a.csv", b'"item", "score" \n"007","0.5"\n"1e5", 1 \n'),
        ("a.csv", b'item,score,"a,\nb"\n007,0.5,"x, ""y"""\n1e5,1,"1\r\n2"\n'),
        ("a.csv", b"score,extra,item\n.5,,007\n1e0,7,1e5\n"),
        ("a", b"item,score\n007,5e-1\n1e5,+1\n"),
        ("a.jsonl", b'{"item": "007", "score": 0.5}\n{"score": 1, "item": "1e5"}\n'),
        (
            "a.ndjson",
            b'\xef\xbb\xbf{"item": "007", "score": "0.5"}\r\n\r\n{"item": "1e5", "score": 1.0, "Item": 9}\r\n',
        ),
        ("a.csv", b'{"item": "007", "score": 0.5}\n{"item": "1e5", "score": true}'),
    ],
)
def test_the_same_rows_in_another_dress(tmp_path: Path, name: str, content: bytes) -> None:
    assert read(written(tmp_path / name, content)) == EXPECTED


@pytest.mark.parametrize(
    "name", ["a*b", "a?", "[ab]", "a[!b]", "it's", 'a"b', "a;b", "a b", "日本", "**", "{a,b}", "a\\b", "-", "s3:"]
)
@pytest.mark.parametrize("extension", FORMATS)
def test_a_name_is_taken_literally(tmp_path: Path, name: str, extension: str) -> None:
    # Decoys that the name would match, or that would be read beside it, if it were a pattern.
    for decoy in ("ab", "axb", "a", "b", "aa", "ac", "xy"):
        write_rows(tmp_path / f"{decoy}.{extension}", {"item": ["decoy"], "score": [9.0]})
    good = write_rows(tmp_path / f"good.{extension}", GOOD)
    assert read(good.rename(tmp_path / f"{name}.{extension}")) == EXPECTED


@pytest.mark.parametrize("extension", FORMATS)
def test_a_directory_is_no_column(tmp_path: Path, extension: str) -> None:
    folder = tmp_path / "model=x" / "cluster=[y]"
    folder.mkdir(parents=True)
    table = read_table(write_rows(folder / f"a.{extension}", GOOD))
    assert (table.models, table.labels) == ((), {})


def test_a_relative_path_is_read_and_named_as_given(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write_rows(Path("a.csv"), GOOD)
    assert read_table("a.csv").label == "a.csv"
    assert read_table(Path("./a.csv")).ids.tolist() == ["007", "1e5"]


def test_numbers_of_every_parquet_type_are_read(tmp_path: Path) -> None:
    types = ["TINYINT", "UBIGINT", "FLOAT", "DOUBLE", "HUGEINT", "DECIMAL(38,10)", "VARCHAR", "BOOLEAN"]
    for kind in types:
        path = tmp_path / f"{kind}.parquet"
        with duckdb.connect() as connection:
            connection.execute(f"COPY (SELECT 7 AS item, CAST(1 AS {kind}) AS score) TO '{path}'")
        assert read(path) == [("7", 1.0)]


def test_decimals_are_rounded_once(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    with duckdb.connect() as connection:
        connection.execute(f"COPY (SELECT 'q' AS item, 12345678.123456789012::DECIMAL(30,12) AS score) TO '{path}'")
    assert read(path) == [("q", 12345678.123456789012)]  # Python's own reading is the oracle


def test_structures_are_not_numbers(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    with duckdb.connect() as connection:
        connection.execute(f"COPY (SELECT 'q' AS item, {{'acc': 1}} AS score) TO '{path}'")
    assert_refused(path, "row 1, column 'score'", "is not a number")
    assert_refused(
        written(tmp_path / "a.jsonl", b'{"item": "q", "score": [1]}\n'), "line 1, column 'score': '[1]' is not a number"
    )


def test_a_key_that_comes_late_in_a_jsonl_file_is_still_a_column(tmp_path: Path) -> None:
    lines = [json.dumps({"item": f"q{i}", "score": 1}) for i in range(3000)]
    lines[2900] = '{"item": "q2900", "score": 1, "cluser": 1}'
    path = written(tmp_path / "a.jsonl", "\n".join(lines).encode())
    assert_refused(path, "unknown column 'cluser'", "`columns={'cluster': 'cluser'}`")
    lines[2900] = '{"item": "q2900", "score": 1, "cluster": 1}'
    path.write_text("\n".join(lines))
    assert_refused(path, "line 1, column 'cluster'", "empty")


def test_large_files_are_read_in_a_database_of_their_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(database, "LARGE", 1)
    assert read(write_rows(tmp_path / "a.csv", GOOD)) == EXPECTED
    assert_refused(written(tmp_path / "b.csv", b"item,score\nq,x\n"), "line 2, column 'score': 'x'")


def test_no_copy_of_a_marked_file_is_left_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    path = written(tmp_path / "a.jsonl", b'\xef\xbb\xbf{"item": "007", "score": 0.5}\n')
    assert read(path) == [("007", 0.5)]
    assert list(tmp_path.iterdir()) == [path]


# ------------------------------------------------------------------------------------------------------ what is loaded


def loaded(code: str) -> set[str]:
    heavy = "['duckdb', 'scipy', 'numba', 'pandas', 'pyarrow', 'pydantic', 'torch', 'numpy.ma']"
    code += f"; import sys; print(*(name for name in {heavy} if name in sys.modules))"
    return set(subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split())


@pytest.mark.parametrize(("suffix", "needed"), [(".csv", set()), (".jsonl", {"duckdb"})])
def test_reading_files_loads_nothing_but_duckdb_and_not_that_for_plain_text(
    tmp_path: Path, suffix: str, needed: set[str]
) -> None:
    path = write_rows(tmp_path / f"a{suffix}", GOOD)
    assert loaded("import assay.data") == set()
    assert loaded(f"import assay.data as d; t = d.read_table({str(path)!r}); d.pair(t, t).digest") == needed


def test_extensions_are_never_fetched(tmp_path: Path) -> None:
    path = write_rows(tmp_path / "a.csv", GOOD)
    connection = Delimited(path, "a.csv", path.read_bytes()).connection()
    settings = "current_setting('autoinstall_known_extensions'), current_setting('autoload_known_extensions')"
    assert connection.execute(f"SELECT {settings}").fetchone() == (False, False)


CELLS = st.sampled_from(["a", "1", "", 'q""x', "x\ny", "x\r\ny", "x\ry", '""', "é", "0.5", "NULL", "\\", "'", "#c"])
ENDS = st.sampled_from(["\n", "\r\n", "\r", "\n\n"])


@given(rows=st.lists(st.tuples(CELLS, CELLS, ENDS), min_size=1, max_size=6), first=ENDS, quoted=st.booleans())
def test_any_mixture_of_line_ends_is_read_against_the_csv_module(
    rows: list[tuple[str, str, str]], first: str, quoted: bool
) -> None:
    """DuckDB alone loses the first character of a line after another kind of line end."""
    written_rows = [[f'"{cell}"' if quoted or set(cell) & set('\n\r"') else cell for cell in row[:2]] for row in rows]
    text = f"item,score{first}" + "".join(",".join(c) + row[2] for c, row in zip(written_rows, rows, strict=True))
    expected = [row for row in csv.reader(io.StringIO(text, newline="")) if row][1:]
    with tempfile.TemporaryDirectory() as folder:
        path = written(Path(folder) / "a.csv", text.encode())
        found = zip(*open_file(path).read([("item", "text"), ("score", "text")]), strict=True)
        assert [list(row) for row in found] == expected
