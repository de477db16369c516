"""The example files that ship with Assay, all measured, none invented; a ``README.md`` beside each says how.

``python -m assay.examples FOLDER`` copies losses and scores of small language models into a folder,
``python -m assay.examples.survey FOLDER`` a small survey: real respondents, and predictors fitted on other respondents,
``python -m assay.examples.tuning FOLDER`` training runs: a small model of English learns Japanese in full, by LoRA, and
by LoRA with the embeddings trained beside it, three seeds each.
"""

import sys
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

from assay.errors import InputError, UsageError
from assay.exit_codes import ended
from assay.files.writing import make_folder, write_bytes

_FOLDER = Path(__file__).parent
SURVEY = _FOLDER / "survey"
RUNS = _FOLDER / "tuning" / "runs"
_SURVEY_FILES = ("survey.json", "prior.json", "predictions.csv")


def names() -> tuple[str, ...]:
    """The names of the example files.

    >>> "losses-base.csv" in names()
    True
    """
    return tuple(sorted(file.name for kind in ("*.csv", "*.jsonl") for file in _FOLDER.glob(kind)))


def path(name: str) -> Path:
    """Where an example file is on disk.

    >>> path("losses-base.csv").name
    'losses-base.csv'
    """
    if name not in names():
        raise UsageError(f"there is no example file {name!r}; there are {', '.join(names())}.")
    return _FOLDER / name


def copy(folder: Path | str) -> tuple[Path, ...]:
    """Copy the example files into a folder, made if it does not exist. A file that differs is never overwritten."""
    target = Path(folder)
    wanted = {path(name): target / name for name in names()}
    return copied_files(wanted)


def copy_survey(folder: Path | str) -> tuple[Path, ...]:
    """Copy the survey into a folder, as `copy` does."""
    return copied_files({SURVEY / name: Path(folder) / name for name in _SURVEY_FILES})


def copy_runs(folder: Path | str) -> tuple[Path, ...]:
    """Copy the training runs into a folder, as `copy` does; the folders of the runs."""
    target = Path(folder)
    copied_files({path: target / path.relative_to(RUNS) for path in sorted(RUNS.rglob("*")) if path.is_file()})
    return tuple(target / run.name for run in sorted(RUNS.iterdir()) if run.is_dir())


def copied_files(wanted: Mapping[Path, Path]) -> tuple[Path, ...]:
    """Copy files, each whole or not at all; where one is there that differs, none is copied."""
    for source, copied in wanted.items():
        if copied.exists() and copied.read_bytes() != source.read_bytes():
            raise InputError(f"{copied} exists and is not the example file; move it away, or choose another folder.")
    for source, copied in wanted.items():
        if not copied.exists():
            make_folder(copied.parent)
            write_bytes(copied, source.read_bytes())
    return tuple(wanted.values())


def command(module: str, copy: Callable[[str], tuple[Path, ...]], arguments: list[str]) -> int:
    """Copy example files for ``python -m MODULE FOLDER``; its exit code."""
    usage = f"usage: python -m {module} FOLDER\n\nCopies the example files into FOLDER.\n"
    if arguments in (["-h"], ["--help"]):
        sys.stdout.write(usage)
        return 0
    if len(arguments) != 1 or arguments[0].startswith("-"):
        sys.stderr.write(usage)
        return 2
    return ended(lambda: _listed(copy(arguments[0])))


def _listed(files: Iterable[Path]) -> int:
    sys.stdout.write("".join(f"{file}\n" for file in files))
    return 0
