"""Rows of tokens added up by document: against numpy and `math.fsum`, in any order, on any number of threads."""

import math
from pathlib import Path
from threading import Event, Thread
from typing import Any

import duckdb
import numpy as np
import pytest

import assay
from assay.data import Selection
from assay.data.memory import bytes_of
from assay.data.readers.arrow_streams import columns_of
from assay.data.reading import read_table
from assay.errors import InputError, UsageError

BY_DOCUMENT = Selection(sum_by="document")


def _rows(n: int = 5_000, seed: int = 1) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    return rng.integers(0, 40, n), rng.gamma(2, 1.5, n)


def _parquet(path: Path, documents: np.ndarray, losses: np.ndarray) -> Path:
    names = np.array([f"doc-{i:02d}" for i in range(40)])[documents]
    with duckdb.connect() as connection:
        connection.register("rows", {"document": names, "loss": losses})
        connection.execute(f"COPY (SELECT * FROM rows) TO '{path}' (FORMAT parquet)")  # noqa: S608  # our own
    return path


def _twin(documents: np.ndarray, losses: np.ndarray) -> dict[str, tuple[int, float]]:
    """Tokens and mean loss of each document: whole steps, added as Python integers."""
    steps = np.rint(losses * 2.0**40)
    found = {}
    for one in np.unique(documents):
        total = sum(int(step) for step in steps[documents == one])
        count = int((documents == one).sum())
        found[f"doc-{one:02d}"] = (count, total * 2.0**-40 / count)
    return found


def _read(path: Path, **more: object) -> dict[str, tuple[int, float]]:
    table = read_table(path, selection=BY_DOCUMENT, **more)  # type: ignore[arg-type]
    numbers = zip(table.numbers["tokens"].tolist(), table.numbers["loss"].tolist(), strict=True)
    return {name: (int(count), loss) for name, (count, loss) in zip(table.ids, numbers, strict=True)}


def test_sums_against_a_literal_twin(tmp_path: Path) -> None:
    documents, losses = _rows()
    assert _read(_parquet(tmp_path / "a.parquet", documents, losses)) == _twin(documents, losses)


def test_sums_against_fsum(tmp_path: Path) -> None:
    documents, losses = _rows()
    for name, (count, loss) in _read(_parquet(tmp_path / "a.parquet", documents, losses)).items():
        own = losses[documents == int(name[4:])]
        assert abs(loss - math.fsum(own) / count) <= 2.0**-41 + 1e-15 * loss


def test_neither_order_nor_threads_change_a_bit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    documents, losses = _rows(300_000)
    order = np.random.default_rng(2).permutation(len(losses))
    first = _read(_parquet(tmp_path / "a.parquet", documents, losses))
    second = _parquet(tmp_path / "b.parquet", documents[order], losses[order])
    for threads in (1, 3):
        monkeypatch.setattr("os.cpu_count", lambda threads=threads: threads)
        assert _read(second) == first


def test_float32_is_added_exactly(tmp_path: Path) -> None:
    documents, losses = _rows()
    single = losses.astype(np.float32)
    found = _read(_parquet(tmp_path / "a.parquet", documents, single))
    for one in range(40):
        own = single[documents == one].astype(float)
        assert found[f"doc-{one:02d}"] == (len(own), math.fsum(own) / len(own))


@pytest.mark.parametrize("suffix", ["csv", "tsv", "jsonl"])
def test_text_files_are_added_up_likewise(suffix: str, tmp_path: Path) -> None:
    documents, losses = _rows(200)
    pairs = [(f"doc-{one:02d}", repr(loss)) for one, loss in zip(documents.tolist(), losses.tolist(), strict=True)]
    if suffix == "jsonl":
        lines = [f'{{"document": "{name}", "loss": {loss}}}' for name, loss in pairs]
    else:
        mark = "," if suffix == "csv" else "\t"
        lines = [mark.join(row) for row in [("document", "loss"), *pairs]]
    path = tmp_path / f"a.{suffix}"
    path.write_text("\n".join(lines) + "\n")
    assert _read(path) == _twin(documents, losses)


def test_rows_with_tokens_and_bytes_are_weighted(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("doc,nll,n,bytes\nx,2.0,3,10\nx,4.0,1,5\ny,1.5,2,7\n")
    columns = {"loss": "nll", "tokens": "n"}
    table = read_table(path, columns=columns, selection=Selection(sum_by="doc"))
    numbers = zip(*(table.numbers[name] for name in ("tokens", "loss", "bytes")), strict=True)
    found = dict(zip(table.ids, numbers, strict=True))
    assert found == {"x": (4.0, 2.5, 15.0), "y": (2.0, 1.5, 7.0)}


def test_compare_takes_documents_as_units(tmp_path: Path) -> None:
    documents, losses = _rows()
    a = _parquet(tmp_path / "a.parquet", documents, losses)
    b = _parquet(tmp_path / "b.parquet", documents, losses * 1.01)
    found = assay.compare(a, b, selection=BY_DOCUMENT)
    assert (found.n_pairs, found.unit) == (40, "document")
    assert found.difference.value == pytest.approx(0.01 * losses.mean(), rel=1e-9)
    assert any("added up by 'document'" in note for note in found.notes)


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ("x,1.0\nx,-1\n", r"line 3: a loss must be a number from 0 to 4,194,304, but got 'loss' '-1'; give -log p"),
        ("x,1.0\nx,nan\n", "line 3: a loss must be a number"),
        ("x,1.0\nx,\n", "line 3: a loss must be a number"),
        ("x,oops\n", "line 2: a loss must be a number"),
        ("x,1e300\n", "line 2: a loss must be a number"),
        ("x,1.0\n,2.0\n", "column 'document': 1 tokens have an empty cell there"),
    ],
)
def test_rows_that_cannot_be_added_are_named(rows: str, said: str, tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("document,loss\n" + rows)
    with pytest.raises(InputError, match=said):
        read_table(path, selection=BY_DOCUMENT)


def test_a_column_that_is_not_there(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("document,loss\nx,1\n")
    with pytest.raises(InputError, match=r"no column 'documents' \(to add up by\).*did you mean 'document'\?"):
        read_table(path, selection=Selection(sum_by="documents"))
    with pytest.raises(InputError, match=r"no column 'nll' \(loss\)"):
        read_table(path, columns={"loss": "nll"}, selection=BY_DOCUMENT)


def test_rows_of_several_models_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("model,document,loss\nm,x,1\n")
    with pytest.raises(InputError, match="a column 'model'; write a file for each"):
        read_table(path, selection=BY_DOCUMENT)


def test_arrays_cannot_be_added_up() -> None:
    with pytest.raises(UsageError, match="adds up the rows of a CSV, TSV, JSONL or Parquet file"):
        read_table({"document": ["x"], "loss": [1.0]}, selection=BY_DOCUMENT)


# -------------------------------------------------------------------------------------------------------------- memory


@pytest.mark.parametrize("size", ["", "GB", "1 XB", "-1GB", "1e3MB", "1iB", "nan", True, "99MB", 5])
def test_sizes_that_are_none(size: str) -> None:
    with pytest.raises(UsageError, match="memory must be"):
        Selection(memory=size)


def test_a_table_that_does_not_fit_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("assay.data.memory.in_use", lambda: bytes_of("100MB") - 1_000)
    documents, losses = _rows()
    path = _parquet(tmp_path / "a.parquet", documents, losses)
    windows = tmp_path / "windows.csv"
    rows = [f"w{i},{one},512,{loss}" for i, (one, loss) in enumerate(zip(documents, losses, strict=True))]
    windows.write_text("\n".join(["window,document,tokens,loss", *rows, ""]))
    with pytest.raises(InputError, match=r"rows take about 0 MB of memory .*`Selection\(sum_by='document'\)`"):
        read_table(windows, selection=Selection(memory="100MB"))
    with pytest.raises(InputError, match=r"to compare 40 values of 'document' takes about 0 MB more"):
        read_table(path, selection=Selection(sum_by="document", memory="100MB"))


@pytest.mark.slow
def test_what_does_not_fit_goes_into_a_folder_that_is_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "spilled"))
    (tmp_path / "spilled").mkdir()
    path = tmp_path / "a.parquet"
    many = "printf('a document with a long name %09d', hash(i) % 1500000) AS document, 1.5::FLOAT AS loss"
    duckdb.sql(f"COPY (SELECT {many} FROM range(3000000) r(i)) TO '{path}' (FORMAT parquet)")  # noqa: S608  # our own
    folder, real = tmp_path / "spilled", columns_of
    used: list[int] = []

    done = Event()

    def watch() -> None:
        while not done.wait(0.01):
            used.append(len([*folder.rglob("*.tmp")]))

    def watched(*arguments: Any) -> Any:
        watcher = Thread(target=watch)
        watcher.start()
        try:
            return real(*arguments)
        finally:
            done.set()
            watcher.join()

    monkeypatch.setattr("assay.data.readers.added_rows.columns_of", watched)
    monkeypatch.setattr("assay.data.memory.in_use", lambda: 0)
    table = read_table(path, selection=Selection(sum_by="document", memory="140MB"))
    assert int(table.numbers["tokens"].sum()) == 3_000_000
    assert max(used) > 0
    assert list(folder.iterdir()) == []
