"""Results in Weights & Biases: the summary, tags and an artifact of a run."""

import re
from typing import Any

from assay.results.record import Result
from assay.trackers import files_of, metrics_of, tags_of, tracker

_LONGEST = 64  # letters of a tag


def log(result: Result, prefix: str) -> str:
    """Log to the active run, or to a new one that ends with it; the id of the run.

    Numbers go to the summary: a comparison has no steps, and those of a training run shall not move.
    """
    wandb = tracker("wandb", "log_to_wandb")
    active: Any = wandb.run
    run = wandb.init(job_type="assay", name=f"{result.kind_name}: {result.subject}") if active is None else active
    try:
        tags = tags_of(result)
        run.summary.update({**metrics_of(result, prefix), **{f"{prefix}/{name}": tags[name] for name in tags}})
        others = tuple(tag for tag in run.tags or () if not tag.startswith(f"{prefix}:"))
        run.tags = (*others, f"{prefix}:{tags['verdict']}"[:_LONGEST])
        artifact = wandb.Artifact(_artifact_name(f"{prefix}-{result.kind_name}-{run.id}"), type="assay-result")
        with files_of(result) as folder:
            artifact.add_dir(str(folder))
        run.log_artifact(artifact)
        return str(run.id)
    finally:
        if active is None:
            run.finish()


def _artifact_name(text: str) -> str:
    return re.sub(r"[^0-9A-Za-z._-]+", "-", text)
