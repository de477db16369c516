"""lighteval: the oracle is what lighteval itself says in its results."""

from pathlib import Path
from typing import Any

import duckdb
import pytest

from tests.data.readers.harness.logs import (
    LARGE,
    LIGHTEVAL,
    SMALL,
    assert_refused,
    by_name,
    copy,
    edit_json,
    one,
    only,
    read_json,
    scores,
)

METRICS = ["acc", "acc:normalize_logprob=True"]


@pytest.mark.parametrize("model", [SMALL, LARGE])
@pytest.mark.parametrize("metric", METRICS)
def test_the_mean_of_the_items_is_lighteval_s_own(model: str, metric: str) -> None:
    results = read_json(only(LIGHTEVAL / "results" / model, "*.json"))["results"]["tiny:choices|0"]
    found = scores(by_name(LIGHTEVAL, metric=metric)[model])
    assert len(found) == 16
    assert sum(found.values()) / 16 == pytest.approx(results[metric], abs=1e-15)


def test_rows_pair_by_the_id_of_the_document_and_not_by_their_order() -> None:
    """lighteval sorts the documents by length, which another tokenizer may do differently."""
    for model in (SMALL, LARGE):
        path = only(LIGHTEVAL / "details" / model, "*.parquet")
        query = "SELECT doc.id, metric.acc FROM read_parquet(?)"
        want = {item: float(acc) for item, acc in duckdb.execute(query, [str(path)]).fetchall()}
        assert scores(one(path, metric="acc")) == want
        assert list(want) != sorted(want, key=int)


def test_the_folders_name_the_model_and_the_document_the_task(tmp_path: Path) -> None:
    table = by_name(LIGHTEVAL, metric="acc")[SMALL]
    assert table.about["measure"]["task"] == "tiny:choices|0"
    source = only(LIGHTEVAL / "details" / SMALL, "*.parquet")
    folder = tmp_path / "out" / "details" / "org" / "model" / source.parent.name
    folder.mkdir(parents=True)
    assert one(copy(source, folder), metric="acc").name == "org/model"
    assert one(copy(source, tmp_path), metric="acc").name == tmp_path.name


def test_the_direction_of_a_metric_is_lighteval_s(tmp_path: Path) -> None:
    root = copy(LIGHTEVAL, tmp_path)
    assert by_name(root, metric="acc")[SMALL].about["lower_is_better"] is False
    results = only(root / "results" / SMALL, "*.json")
    edit_json(
        results, lambda found: found["config_tasks"]["tiny:choices|0"]["metrics"][0].update(higher_is_better=False)
    )
    assert by_name(root, metric="acc")[SMALL].about["lower_is_better"] is True
    results.unlink()
    assert by_name(root, metric="acc")[SMALL].about["lower_is_better"] is None


def test_fields_of_the_document_give_clusters() -> None:
    table = one(LIGHTEVAL / "details" / SMALL, metric="acc", cluster="gold_index")
    assert table.labels["gold_index"].names == ("0", "1")
    assert one(LIGHTEVAL / "details" / SMALL, metric="acc", cluster="task").labels["task"].names == ("tiny:choices|0",)


def test_two_metrics_and_two_dates_are_refused_with_the_choices(tmp_path: Path) -> None:
    assert_refused(
        LIGHTEVAL / "details" / SMALL, "2 metrics (acc, acc:normalize_logprob=True)", "`Selection(metric=...)`"
    )
    folder = copy(LIGHTEVAL / "details", tmp_path)
    [date] = (folder / SMALL).iterdir()
    copy(date, tmp_path).rename(folder / SMALL / "2027-01-01T00-00-00.000000")
    assert_refused(folder / SMALL, "2 runs of the task 'tiny:choices|0'", "`Selection(newest=True)`", metric="acc")
    assert len(one(folder / SMALL, metric="acc", newest=True)) == 16


def written(path: Path, metric: str, doc: str = "{'id': '1', 'task_name': 't', 'query': 'q'}") -> Path:
    row = f"SELECT {doc} AS doc, {metric} AS metric, {{'text': 'x'}} AS model_response"
    duckdb.execute(f"COPY ({row}) TO '{path}' (FORMAT parquet)")
    return path


@pytest.mark.parametrize(
    ("metric", "parts"),
    [
        ("{'acc': 'high'}", ["made from all items", "'high'"]),
        ("{'acc': [1, 2]}", ["made from all items", "[1, 2]"]),
        ("{'acc': {'a': 1}}", ["made from all items"]),
        ("{'acc': 'nan'::DOUBLE}", ["row 1", "finite number"]),
        ("{'acc': NULL::DOUBLE}", ["no metric 'acc'"]),
    ],
)
def test_a_bad_metric_is_refused(tmp_path: Path, metric: str, parts: list[str]) -> None:
    assert_refused(written(tmp_path / "d.parquet", metric), str(tmp_path / "d.parquet"), *parts, metric="acc")


@pytest.mark.parametrize(
    ("doc", "part"),
    [
        ("{'id': '1', 'query': 'q'}", "no field 'task_name'"),
        ("{'task_name': 't', 'query': 'q'}", "no field 'id'"),
        ("{'id': NULL::VARCHAR, 'task_name': 't'}", "'id' must be"),
        ("'a text'", "task_name"),
    ],
)
def test_a_bad_document_is_refused(tmp_path: Path, doc: str, part: str) -> None:
    assert_refused(written(tmp_path / "d.parquet", "{'acc': 1}", doc), "row 1", part)


def test_true_and_false_are_scores(tmp_path: Path) -> None:
    assert scores(one(written(tmp_path / "d.parquet", "{'acc': true}"))) == {"1": 1.0}


def test_a_table_of_ours_is_one_whatever_else_it_holds(tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    row = "SELECT 'q1' AS item, 1 AS score, 2 AS doc, 3 AS metric, 4 AS model_response"
    duckdb.execute(f"COPY ({row}) TO '{path}' (FORMAT parquet)")
    assert scores(one(path)) == {"q1": 1.0}
    assert_refused(path, "row 1", "'task_name'", format="lighteval")


@pytest.mark.parametrize("kept", [0.1, 0.5, 0.999])
def test_truncated_details_are_refused_in_a_folder_too(tmp_path: Path, kept: float) -> None:
    path = copy(only(LIGHTEVAL / "details" / SMALL, "*.parquet"), tmp_path)
    data = path.read_bytes()
    path.write_bytes(data[: int(len(data) * kept)])
    for given in (path, tmp_path):
        assert_refused(given, str(path), "truncated", "again", metric="acc")


def test_another_parquet_file_is_refused_as_details(tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    duckdb.execute(f"COPY (SELECT 1 AS a) TO '{path}' (FORMAT parquet)")
    assert_refused(path, "no columns doc, metric, model_response", format="lighteval")
    nothing: Any = tmp_path / "n.parquet"
    duckdb.execute(
        f"COPY (SELECT 1 AS doc, 1 AS metric, 1 AS model_response WHERE false) TO '{nothing}' (FORMAT parquet)"
    )
    assert_refused(nothing, "no rows")
