"""The summary of a job under GitHub Actions."""

import os
from pathlib import Path

from assay.errors import cannot_write


def job_summary(summary: str) -> None:
    """Under GitHub Actions the summary of the job shows the verdict."""
    target = os.environ.get("GITHUB_STEP_SUMMARY")
    if not target:
        return
    try:
        with Path(target).open("a", encoding="utf-8") as file:
            file.write(summary + "\n")
    except OSError as error:
        raise cannot_write(target, error, "check GITHUB_STEP_SUMMARY") from error
