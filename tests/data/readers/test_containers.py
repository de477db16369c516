"""Containers of tables: what comes out is what a plain file holds. Oracles: plain files, the standard library."""

import gc
import gzip
import hashlib
import io
import json
import sys
import tempfile
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import zstandard

from assay import Policy, Selection, certify, compare, rank, read_table, read_tables, summarize
from assay.data import Table
from assay.data.readers import containers
from assay.errors import InputError, UsageError
from assay.files.reading import Limit
from tests.data.files import assert_refused, write_rows

ROWS: dict[str, list[Any]] = {"item": ["q1", "q2", "007"], "score": [1.0, 0.0, 0.5], "cluster": ["a", "b", "a"]}
RECORDS = [dict(zip(ROWS, row, strict=True)) for row in zip(*ROWS.values(), strict=True)]
SPLIT = {"columns": list(ROWS), "data": [list(row.values()) for row in RECORDS]}


def cells(table: Table) -> tuple[Any, ...]:
    return table.ids.tolist(), table.numbers["score"].tolist(), table.labels["cluster"].texts.tolist()


EXPECTED = (ROWS["item"], ROWS["score"], ROWS["cluster"])
DOCUMENTS = {
    "array.json": json.dumps(RECORDS),
    "pretty.json": json.dumps(RECORDS, indent=2),
    "mlflow.json": json.dumps(SPLIT),
    "wandb.table.json": json.dumps({"_type": "table", **SPLIT, "ncols": 3, "nrows": 3}, indent=1),
    "pandas.json": json.dumps({**SPLIT, "index": [0, 1, 2]}),
    "turned.json": json.dumps({"data": SPLIT["data"], "columns": SPLIT["columns"]}),
}
PACKERS: dict[str, Callable[[bytes], bytes]] = {
    "": bytes,
    ".gz": gzip.compress,
    ".zst": zstandard.ZstdCompressor().compress,
    ".zstd": lambda data: b"".join(zstandard.ZstdCompressor().compress(part) for part in (data[:40], data[40:])),
}


@pytest.mark.parametrize("name", DOCUMENTS)
@pytest.mark.parametrize("packer", PACKERS)
def test_documents_of_rows(tmp_path: Path, name: str, packer: str) -> None:
    path = tmp_path / f"{name}{packer}"
    path.write_bytes(PACKERS[packer](DOCUMENTS[name].encode()))
    assert cells(read_table(path)) == EXPECTED


@pytest.mark.parametrize("extension", ["csv", "tsv", "jsonl", "parquet"])
@pytest.mark.parametrize("packer", [one for one in PACKERS if one])
def test_compressed_tables_are_those_inside(tmp_path: Path, extension: str, packer: str) -> None:
    plain = write_rows(tmp_path / f"base.{extension}", ROWS)
    packed = tmp_path / f"base.{extension}{packer}"
    packed.write_bytes(PACKERS[packer](plain.read_bytes()))
    found = read_table(packed)
    assert (cells(found), found.name) == (cells(read_table(plain)), "base")


def test_a_message_names_the_packed_file_and_the_line_inside(tmp_path: Path) -> None:
    path = tmp_path / "a.csv.gz"
    path.write_bytes(gzip.compress(b"item,score\nq1,1\nq2,good\n"))
    assert_refused(path, f"{path}, line 3, column 'score': 'good' is not a number")


@pytest.mark.parametrize("packer", [one for one in PACKERS if one])
def test_what_is_cut_off_is_refused(tmp_path: Path, packer: str) -> None:
    whole = PACKERS[packer](b"item,score\n" + b"".join(b"q%d,1\n" % i for i in range(999)))
    path = tmp_path / f"a.csv{packer}"
    path.write_bytes(whole[:-3])
    assert_refused(path, "cannot be unpacked", "write or copy it again")


def test_a_bomb_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(containers, "_LARGEST_RATIO", 2)
    monkeypatch.setattr(containers, "DOCUMENT", Limit(1000, "", ""))
    path = tmp_path / "a.csv.gz"
    path.write_bytes(gzip.compress(bytes(100_000)))
    assert_refused(path, "when unpacked", "too much for a table of this size")


def test_copies_are_deleted_with_what_was_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    path = tmp_path / "a.csv.gz"
    path.write_bytes(gzip.compress(b"item,score\nq1,1\n"))
    table = read_table(path)
    del table
    path.write_bytes(gzip.compress(b"item,score\n"))
    assert_refused(path, "no rows")
    gc.collect()  # the error held on to it
    assert [one.name for one in tmp_path.iterdir()] == ["a.csv.gz"]


def test_fields_within_objects_go_by_both_names(tmp_path: Path) -> None:
    """As one agent benchmark writes its runs: the API failed where `info` has an error."""
    rows = [
        {
            "task_id": 0,
            "reward": 1.0,
            "info": {"user_cost": 0.1, "reward_info": {"reward": 1.0}},
            "transcript": [],
            "trial": 0,
        },
        {"task_id": 1, "reward": 0.0, "info": {"error": "429", "traceback": "…"}, "transcript": [{"a": 1}], "trial": 0},
        {"task_id": 2, "reward": 0.0, "info": {"user_cost": 0.2}, "transcript": [1], "trial": 0},
    ]
    path = tmp_path / "run.json"
    path.write_text(json.dumps(rows))
    found = read_table(path)
    assert found.lost is not None
    assert (found.ids.tolist(), found.lost.tolist()) == (["0", "1", "2"], [False, True, False])
    assert any("'info.error' tells of 1 error" in note for note in found.notes)


def test_metrics_without_ids_are_paired_by_row(tmp_path: Path) -> None:
    """As MLflow writes its evaluations: null where the judge failed."""
    path = tmp_path / "eval_results_table.json"
    path.write_text(json.dumps({"columns": ["inputs", "faith/v1/score"], "data": [["a", 4], ["b", None], ["c", 5]]}))
    assert read_table(path).answered().ids.tolist() == ["1", "3"]
    assert_refused(path, "no column", "item", selection=Selection(format="table"))
    chosen = Selection(pair_by="row", format="table")
    found = read_table(path, columns={"score": "faith/v1/score"}, selection=chosen)
    assert found.answered().ids.tolist() == ["1", "3"]


# -------------------------------------------------------------------------------------------------------------- stdin


class Piped:
    def __init__(self, data: bytes) -> None:
        self.buffer, self.closed = io.BytesIO(data), False

    def isatty(self) -> bool:
        return False


@pytest.mark.parametrize("packer", PACKERS)
def test_what_is_piped_in_is_read(monkeypatch: pytest.MonkeyPatch, packer: str) -> None:
    monkeypatch.setattr(sys, "stdin", Piped(PACKERS[packer](DOCUMENTS["array.json"].encode())))
    found = read_table("-")
    assert (cells(found), found.name) == (EXPECTED, "stdin")


def test_a_pipe_is_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", Piped(DOCUMENTS["array.json"].encode()))
    with pytest.raises(InputError, match="stdin: it was read already, for the first -; write it to a file"):
        compare("-", "-")


def test_a_pipe_without_anything_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", Piped(b""))
    with pytest.raises(InputError, match="stdin: the file is empty"):
        read_table("-")
    monkeypatch.setattr(Piped, "isatty", lambda _: True)
    with pytest.raises(InputError, match="nothing is piped in"):
        read_table("-")


# ----------------------------------------------------------------------------------------------- patterns and folders


@pytest.fixture
def results(tmp_path: Path) -> Path:
    (tmp_path / "out").mkdir()
    for name, score in (("base", 1.0), ("large", 0.5), ("small", 0.0)):
        write_rows(tmp_path / "out" / f"{name}.csv", {**ROWS, "score": [score] * 3})
    (tmp_path / "out" / "notes.md").write_text("none")
    (tmp_path / "out" / ".hidden.csv").write_text("none")
    return tmp_path / "out"


def test_a_folder_holds_a_table_for_each_model(results: Path) -> None:
    assert [table.name for table in read_tables([results])] == ["base", "large", "small"]
    assert [model.name for model in summarize(results).models] == ["base", "large", "small"]
    assert compare(results, models=("base", "small")).n_pairs == 3


def test_files_of_one_name_are_called_after_what_differs_in_their_paths(tmp_path: Path) -> None:
    for folder, packer in (("base", ".gz"), ("int4", "")):
        (tmp_path / "runs" / folder).mkdir(parents=True)
        plain = write_rows(tmp_path / "rows.csv", ROWS)
        (tmp_path / "runs" / folder / f"scores.csv{packer}").write_bytes(PACKERS[packer](plain.read_bytes()))
    assert [table.name for table in read_tables([tmp_path / "runs"])] == ["base", "int4"]
    found = compare(*(tmp_path / "runs" / folder for folder in ("base", "int4")))
    assert (found.systems.a, found.systems.b) == ("base", "int4")


def test_a_certificate_names_the_digest_of_the_file_in_a_folder(tmp_path: Path) -> None:
    paths = [tmp_path / folder / "scores.csv" for folder in ("base", "int4")]
    for path in paths:
        path.parent.mkdir()
        write_rows(path, {"item": list(range(40)), "score": [i % 2 for i in range(40)]})
    policy = Policy(min_windows=10, max_drop=0.9, note="few")
    issued = certify(paths[0].parent, f"{tmp_path}/int*/*.csv", tmp_path / "cert.json", policy=policy)
    assert issued.systems.subject.sha256 == f"sha256:{hashlib.sha256(paths[1].read_bytes()).hexdigest()}"
    assert (issued.systems.baseline.name, issued.systems.subject.name) == ("base", "int4")


def test_a_pattern_means_the_files_that_are_like_it(results: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert [table.name for table in read_tables([f"{results}/*.csv"])] == ["base", "large", "small"]
    monkeypatch.chdir(results)
    assert [table.name for table in read_tables(["[bs]*.csv"])] == ["base", "small"]
    assert_refused("x*.csv", "x*.csv: no such file")
    with pytest.raises(UsageError, match=r"one=… renames one model, but .*means 3 files"):
        read_tables(["one=*.csv"])


def test_a_file_of_that_very_name_is_no_pattern(results: Path) -> None:
    (results / "base.csv").rename(results / "[b]*.csv")
    assert [table.name for table in read_tables([results / "[b]*.csv"])] == ["[b]*"]


# ---------------------------------------------------------------------------------------------------------- workbooks


def workbook(path: Path, sheets: dict[str, list[list[Any]]]) -> Path:
    openpyxl = pytest.importorskip("openpyxl", reason="the extra xlsx is not installed")
    book = openpyxl.Workbook()
    book.remove(book.active)
    for name, rows in sheets.items():
        sheet = book.create_sheet(name)
        for row in rows:
            sheet.append(row)
    book.save(path)
    return path


SHEET = [list(ROWS), *([item, score, group] for item, score, group in zip(*ROWS.values(), strict=True))]


def test_the_sheet_of_a_workbook(tmp_path: Path) -> None:
    path = workbook(tmp_path / "base.xlsx", {"Results": SHEET, "Empty": []})
    assert cells(read_table(path)) == EXPECTED


def test_a_wide_sheet_is_ranked(tmp_path: Path) -> None:
    rows: list[list[Any]] = [
        ["id", "note", "base", "large"],
        *([i, "x", i % 2, 1] for i in range(40)),
        [40, "y", None, 1],
    ]
    path = workbook(tmp_path / "wide.xlsx", {"S": rows})
    board = rank(path)
    assert [model.name for model in board.models] == ["large", "base"]
    assert [model.answered for model in board.models] == [41, 40]


def test_what_is_wrong_in_a_workbook_has_its_place(tmp_path: Path) -> None:
    path = workbook(tmp_path / "a.xlsx", {"S": [["item", "score"], [None, None], ["q1", 1], ["q2", "good"]]})
    assert_refused(path, f"{path}, sheet 'S', row 4, column 'score': 'good' is not a number")
    assert_refused(
        workbook(tmp_path / "b.xlsx", {"S": SHEET, "T": SHEET}), "2 sheets with rows (S, T)", "save the one you mean"
    )
    assert_refused(workbook(tmp_path / "c.xlsx", {"S": []}), "a workbook without rows")


def test_without_openpyxl_the_extra_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.xlsx"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("xl/workbook.xml", "<x/>")
    monkeypatch.setitem(sys.modules, "openpyxl", None)
    assert_refused(path, "needs openpyxl", "pip install 'assay-eval[xlsx]'", "save the sheet as CSV")


def test_a_damaged_workbook_is_refused(tmp_path: Path) -> None:
    path = workbook(tmp_path / "a.xlsx", {"S": SHEET})
    whole = path.read_bytes()
    for at in range(60, len(whole) - 100, 97):
        path.write_bytes(whole[:at] + bytes(40) + whole[at + 40 :])
        try:
            assert len(read_table(path)) == 3  # what was hit held nothing that is read
        except InputError as error:
            assert str(path) in str(error)  # noqa: PT017 - either will do
