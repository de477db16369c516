"""A small survey that ships with Assay: real respondents, and predictors really fitted on other respondents.

``python -m assay.examples.survey FOLDER`` copies it into a folder; ``README.md`` beside this file says how it was made.
"""

import shutil
from pathlib import Path

from assay.errors import InputError

FOLDER = Path(__file__).parent
NAMES = ("survey.json", "prior.json", "predictions.csv")


def copy(folder: Path | str) -> tuple[Path, ...]:
    """Copy the survey into a folder, made if it does not exist. A file that differs is never overwritten."""
    target = Path(folder)
    for name in NAMES:
        there = target / name
        if there.exists() and there.read_bytes() != (FOLDER / name).read_bytes():
            raise InputError(f"{there} exists and is not the example file; move it away, or choose another folder.")
    try:
        target.mkdir(parents=True, exist_ok=True)
        return tuple(Path(shutil.copyfile(FOLDER / name, target / name)) for name in NAMES)
    except OSError as error:
        raise InputError(f"cannot write the survey to {target}: {error.strerror}; choose another folder.") from error
