"""The example files that ship with Assay: measured losses and scores of small language models, not invented ones.

``python -m assay.examples FOLDER`` copies them into a folder; ``README.md`` beside this file says how they were made.
"""

from collections.abc import Mapping
from pathlib import Path

from assay.errors import InputError, UsageError
from assay.files.writing import make_folder, write_bytes

_FOLDER = Path(__file__).parent


def names() -> tuple[str, ...]:
    """The names of the example files.

    >>> "losses-base.csv" in names()
    True
    """
    return tuple(sorted(file.name for file in _FOLDER.glob("*.csv")))


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
