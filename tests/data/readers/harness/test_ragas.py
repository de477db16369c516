"""ragas: the oracle is what the script says of the answers, and the tables read by the standard library."""

import csv
import json
from math import isnan
from pathlib import Path

import pytest

from assay.data import Selection, read_tables
from assay.data.readers.harness.ragas import is_result
from tests.data.readers.harness.logs import FOLDER, assert_refused, by_name, copy, one, scores

RAGAS = FOLDER / "ragas"
#: As in `tools/make_harness_fixtures/ragas_files.py`: x is an answer that the judge fails on.
RIGHT = {"small": "11001010", "large": "1110111x"}
METRICS = ("judged", "string_present", "non_llm_string_similarity")


def rows_of(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def written(path: Path, rows: list[dict[str, str]]) -> Path:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, rows[0].keys())
        writer.writeheader()
        writer.writerows(rows)
    return path


@pytest.mark.parametrize("model", RIGHT)
def test_scores_are_what_the_script_says_and_an_empty_cell_is_lost(model: str) -> None:
    found = scores(by_name(RAGAS, metric="judged")[model])
    assert "".join("x" if isnan(score) else str(int(score)) for score in found.values()) == RIGHT[model]
    script = Path(__file__).parents[4] / "tools" / "make_harness_fixtures" / "ragas_files.py"
    assert f"RIGHT = {json.dumps(RIGHT)}" in script.read_text("utf-8")


@pytest.mark.parametrize("metric", METRICS)
def test_every_metric_against_the_column_of_the_file(metric: str) -> None:
    for model in RIGHT:
        want = {row["user_input"]: float(row[metric]) for row in rows_of(RAGAS / f"{model}.csv") if row[metric]}
        found = scores(by_name(RAGAS, metric=metric)[model])
        assert {item: score for item, score in found.items() if not isnan(score)} == want


def test_metrics_are_no_models() -> None:
    """A table with ids and several columns of scores has a model in each, unless ragas wrote it."""
    assert_refused(RAGAS / "small.csv", f"3 metrics ({', '.join(sorted(METRICS))})", "`Selection(metric=...)`")
    tables = read_tables([RAGAS / "small.csv"], columns={"item": "user_input"}, selection=Selection(format="table"))
    assert [table.name for table in tables] == list(METRICS)


def test_a_question_that_comes_again_is_a_run_and_with_another_reference_another_item(tmp_path: Path) -> None:
    rows = rows_of(RAGAS / "small.csv")
    again = [*rows, rows[0], rows[1] | {"reference": "another"}]
    table = one(written(tmp_path / "small.csv", again), metric="judged")
    assert table.labels["run"].names == ("1", "2")
    assert len(set(table.ids)) == 9
    assert sum(item.startswith(rows[1]["user_input"] + " #") for item in table.ids) == 2


def test_another_reference_in_the_other_file_is_refused(tmp_path: Path) -> None:
    rows = rows_of(RAGAS / "small.csv")
    rows[2]["reference"] = "another"
    tables = by_name(RAGAS / "large.csv", written(tmp_path / "small.csv", rows), metric="string_present")
    first, second = (table.labels["doc_hash"].texts for table in tables.values())
    assert [a == b for a, b in zip(first, second, strict=True)] == [i != 2 for i in range(8)]


def test_the_columns_of_before_and_json_lines(tmp_path: Path) -> None:
    before = {
        "user_input": "question",
        "retrieved_contexts": "contexts",
        "response": "answer",
        "reference": "ground_truth",
    }
    old = [
        {before.get(name, "faithfulness" if name == "judged" else name): value for name, value in row.items()}
        for row in rows_of(RAGAS / "large.csv")
    ]
    want = str(scores(one(RAGAS / "large.csv", metric="judged")))
    assert str(scores(one(written(tmp_path / "old.csv", old), metric="faithfulness"))) == want
    lines = [row | {"judged": float(row["judged"]) if row["judged"] else None} for row in rows_of(RAGAS / "large.csv")]
    path = tmp_path / "large.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    assert str(scores(one(path, metric="judged"))) == want


def test_only_the_columns_of_ragas_are_recognised() -> None:
    assert is_result({"user_input", "response", "faithfulness"})
    assert not is_result({"user_input", "response"})
    assert not is_result({"user_input", "response", "score", "item"})
    assert not is_result({"question", "answer", "contexts", "mine"})
    assert not is_result({"id", "faithfulness"})


def test_a_bad_table_is_refused(tmp_path: Path) -> None:
    rows = rows_of(RAGAS / "small.csv")
    rows[3]["user_input"] = " "
    assert_refused(written(tmp_path / "a.csv", rows), "line 5, column 'user_input'", "empty", metric="judged")
    rows = rows_of(RAGAS / "small.csv")
    rows[3]["judged"] = "high"
    assert_refused(written(tmp_path / "b.csv", rows), "no metric 'judged', only", metric="judged")
    path = copy(RAGAS / "small.csv", tmp_path)
    path.write_text(path.read_text("utf-8") + "one,two\n", encoding="utf-8")
    assert_refused(path, "line 10: 2 cells where the header has 7 columns", metric="judged")
    only = [{name: row[name] for name in ("user_input", "response")} | {"note": "x"} for row in rows]
    assert_refused(written(tmp_path / "c.csv", only), "no column of scores", format="ragas")
    assert_refused(written(tmp_path / "d.csv", [{"q": "1", "f1": "1"}]), "no column user_input", format="ragas")
    wide = [row | {f"c{i}": "1" for i in range(300)} for row in rows_of(RAGAS / "small.csv")]
    assert_refused(written(tmp_path / "e.csv", wide), "303 columns are too many to be metrics", metric="judged")
