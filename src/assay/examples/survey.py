"""A small survey that ships with Assay: real respondents, and predictors really fitted on other respondents.

``python -m assay.examples.survey FOLDER`` copies it into a folder; ``survey/README.md`` says how it was made.
"""

import sys
from pathlib import Path

from assay.examples import command, copied_files

FOLDER = Path(__file__).parent / "survey"
NAMES = ("survey.json", "prior.json", "predictions.csv")


def copy(folder: Path | str) -> tuple[Path, ...]:
    """Copy the survey into a folder, made if it does not exist. A file that differs is never overwritten."""
    return copied_files({FOLDER / name: Path(folder) / name for name in NAMES})


if __name__ == "__main__":
    sys.exit(command("assay.examples.survey", copy, sys.argv[1:]))
