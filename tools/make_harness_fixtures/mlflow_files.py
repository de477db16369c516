"""Evaluate made-up answers with MLflow, log the same table to W&B (offline), and keep what both write.

python -m venv ENV; ENV/bin/pip install mlflow==3.17.2 wandb==0.31.0
ENV/bin/python tools/make_harness_fixtures/mlflow_files.py tests/data/harness
"""

# It runs in an environment of its own, where the harness is installed.
# mypy: ignore-errors

import os
import shutil
import sys
import tempfile
from contextlib import chdir
from pathlib import Path

os.environ.update(MLFLOW_DISABLE_TELEMETRY="true", WANDB_MODE="offline", WANDB_SILENT="true")

import mlflow
import pandas as pd
import wandb
from items import documents
from mlflow.metrics import MetricValue, make_metric

#: Which of the answers of each model are right; x is one that the judge fails on.
RIGHT = {"small": "11001010", "large": "1110111x"}


def contains(predictions: pd.Series, targets: pd.Series) -> MetricValue:
    pairs = list(zip(predictions, targets, strict=True))
    return MetricValue(
        scores=[None if said == "?" else float(right in said) for said, right in pairs],
        justifications=["the judge did not answer" if said == "?" else "as it is" for said, _ in pairs],
        aggregate_results={},
    )


def brevity(predictions: pd.Series, targets: pd.Series) -> MetricValue:
    pairs = zip(predictions, targets, strict=True)
    return MetricValue(scores=[round(len(right) / len(said), 4) for said, right in pairs], aggregate_results={})


def answers(model: str) -> pd.DataFrame:
    rows = []
    for doc, right in zip(documents(), RIGHT[model], strict=False):
        answer = doc["choices"][doc["answer"]].strip()
        said = {"1": answer if model == "large" else f"It is {answer}.", "0": "I do not know.", "x": "?"}[right]
        rows.append({"inputs": doc["question"], "ground_truth": answer, "outputs": said, "topic": doc["topic"]})
    return pd.DataFrame(rows)


def run(model: str, target: Path) -> None:
    metrics = [
        make_metric(eval_fn=function, greater_is_better=True, name=function.__name__, version="v1")
        for function in (contains, brevity)
    ]
    with mlflow.start_run() as started:
        found = mlflow.models.evaluate(
            data=answers(model),
            predictions="outputs",
            targets="ground_truth",
            extra_metrics=metrics,
            evaluators="default",
        )
    keep(
        Path(started.info.artifact_uri),
        "eval_results_table.json",
        target / "mlflow" / model / "eval_results_table.json",
    )
    logged = wandb.init(project="tiny", dir=".")
    logged.log({"eval_results": wandb.Table(dataframe=found.tables["eval_results_table"])})
    folder = Path(logged.dir)
    logged.finish()
    keep(folder, "*.table.json", target / "wandb" / f"{model}.table.json")


def keep(folder: Path, pattern: str, kept: Path) -> None:
    [written] = folder.rglob(pattern)
    kept.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(written, kept)


if __name__ == "__main__":
    place = Path(sys.argv[1]).absolute()
    with tempfile.TemporaryDirectory() as work, chdir(work):
        mlflow.set_tracking_uri("sqlite:///runs.db")
        for name in RIGHT:
            run(name, place)
