"""MLflow and W&B: the oracle is what the script says of the answers, and the tables read by the standard library."""

import csv
import json
from math import isnan
from pathlib import Path
from typing import Any

import pytest

from assay.data.readers.harness.mlflow import logs_of
from tests.data.readers.harness.logs import FOLDER, assert_refused, by_name, copy, edit_json, one, read_json, scores

MLFLOW, WANDB = FOLDER / "mlflow", FOLDER / "wandb"
TABLE = "eval_results_table.json"
#: As in `tools/make_harness_fixtures/mlflow_files.py`: x is an answer that the judge fails on.
RIGHT = {"small": "11001010", "large": "1110111x"}


def column(path: Path, name: str) -> dict[str, float | None]:
    table = read_json(path)
    place = table["columns"].index(name)
    return {str(row): line[place] for row, line in enumerate(table["data"], start=1)}


def present(found: Any) -> dict[str, float]:
    return {item: score for item, score in found.items() if score is not None and not isnan(score)}


@pytest.mark.parametrize("model", RIGHT)
@pytest.mark.parametrize("folder", [MLFLOW, WANDB])
def test_scores_are_what_the_script_says(folder: Path, model: str) -> None:
    found = scores(by_name(folder, metric="contains")[model])
    assert "".join("x" if isnan(score) else str(int(score)) for score in found.values()) == RIGHT[model]
    script = Path(__file__).parents[4] / "tools" / "make_harness_fixtures" / "mlflow_files.py"
    assert f"RIGHT = {json.dumps(RIGHT)}" in script.read_text("utf-8")


@pytest.mark.parametrize("metric", ["contains", "brevity"])
@pytest.mark.parametrize("model", RIGHT)
def test_every_metric_against_the_column_of_the_file(model: str, metric: str) -> None:
    path = MLFLOW / model / TABLE
    assert present(scores(one(path, metric=metric))) == present(column(path, f"{metric}/v1/score"))


def test_tables_of_metrics_are_no_tables_of_models() -> None:
    """Two columns of scores were read as two models before."""
    assert_refused(MLFLOW / "small" / TABLE, "2 metrics (brevity, contains)", "`Selection(metric=...)`")


def test_other_columns_are_labels_and_the_inputs_must_be_the_same(tmp_path: Path) -> None:
    assert one(MLFLOW / "small" / TABLE, cluster="topic", metric="brevity").labels["topic"].names == ("animals",)
    path = edit_json(copy(MLFLOW / "small" / TABLE, tmp_path), lambda found: found["data"].reverse())
    tables = by_name(MLFLOW / "small" / TABLE, path, metric="brevity")
    first, second = (table.labels["doc_hash"].texts.tolist() for table in tables.values())
    assert first == second[::-1]
    assert len(set(first)) == 8


def test_two_versions_of_a_metric_keep_their_names_and_latency_is_a_cost(tmp_path: Path) -> None:
    def change(found: Any) -> None:
        found["columns"] += ["contains/v2/score", "latency"]
        for row in found["data"]:
            row += [0.5, 2]

    path = edit_json(copy(MLFLOW / "small" / TABLE, tmp_path), change)
    assert set(scores(one(path, metric="contains/v2/score")).values()) == {0.5}
    [log] = logs_of([path])
    assert set(log.answers.metrics) == {"contains/v1/score", "brevity/v1/score", "contains/v2/score"}  # type: ignore[attr-defined]
    assert log.answers.costs == {"seconds": [2.0] * 8}  # type: ignore[attr-defined]


def test_of_toxicity_less_is_better(tmp_path: Path) -> None:
    path = copy(MLFLOW / "small" / TABLE, tmp_path)
    path.write_text(path.read_text("utf-8").replace("brevity", "toxicity"), encoding="utf-8")
    assert one(path, metric="toxicity").about["lower_is_better"] is True
    assert one(path, metric="contains").about["lower_is_better"] is False


def test_the_same_as_csv(tmp_path: Path) -> None:
    table = read_json(MLFLOW / "large" / TABLE)
    path = tmp_path / "large.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([table["columns"], *table["data"]])
    assert str(scores(one(path, metric="contains"))) == str(scores(one(MLFLOW / "large", metric="contains")))


def test_what_wandb_adds_to_the_name_of_a_table_is_no_name_of_a_model(tmp_path: Path) -> None:
    path = copy(WANDB / "small.table.json", tmp_path).rename(tmp_path / "tuned_0_5d55631c24eabb9dfad2.table.json")
    assert one(path, metric="brevity").name == "tuned"


def test_asked_for_by_name_every_column_of_scores_is_a_metric(tmp_path: Path) -> None:
    path = tmp_path / "mine.table.json"
    path.write_text(json.dumps({"columns": ["q", "f1", "empty"], "data": [["a", 1, None], ["b", 0.5, None]]}))
    table = one(path, format="mlflow")
    assert scores(table) == {"1": 1.0, "2": 0.5}
    assert any("columns without any score: empty" in note for note in table.notes)


@pytest.mark.parametrize(
    ("change", "parts"),
    [
        (lambda found: found["data"][2].pop(), ["row 3", "6 values for 7 columns"]),
        (lambda found: found["columns"].__setitem__(0, "contains/v1/score"), ["contains/v1/score"]),
        (lambda found: found.update(data={}), ["'data' a list of rows"]),
        (lambda found: [row.__setitem__(4, "high") for row in found["data"]], ["no metric 'contains', only brevity"]),
    ],
)
def test_a_bad_table_is_refused(tmp_path: Path, change: Any, parts: list[str]) -> None:
    path = edit_json(copy(MLFLOW / "small" / TABLE, tmp_path), change)
    assert_refused(path, *parts, metric="contains")
