"""Results in MLflow: metrics, tags and artifacts of a run."""

from contextlib import nullcontext
from typing import Any

from assay.results.record import Result
from assay.trackers import files_of, metrics_of, tags_of, tracker


def log(result: Result, prefix: str) -> str:
    """Log to the active run, or to a new one that ends with it; the id of the run."""
    mlflow = tracker("mlflow", "log_to_mlflow")
    active: Any = mlflow.active_run()
    started = mlflow.start_run(run_name=f"{result.kind_name}: {result.subject}") if active is None else None
    with started or nullcontext(active) as run, files_of(result) as folder:
        mlflow.log_metrics(metrics_of(result, prefix))
        mlflow.set_tags({f"{prefix}.{name}": value for name, value in tags_of(result).items()})
        mlflow.log_artifacts(str(folder), artifact_path=prefix)
        return str(run.info.run_id)
