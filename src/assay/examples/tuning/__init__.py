"""Training runs that ship with Assay: a small model of English learns Japanese, by LoRA and in full, three seeds each.

LoRA comes twice: as it is, and with the embeddings trained beside it.

``python -m assay.examples.tuning FOLDER`` copies their logs into a folder; ``README.md`` beside this file says how they
were made.
"""

import shutil
from pathlib import Path

from assay.errors import InputError

RUNS = Path(__file__).parent / "runs"


def names() -> tuple[str, ...]:
    """The folders of runs.

    >>> names()[:4]
    ('full-0', 'full-1', 'full-2', 'full-rates')
    >>> names()[4:]  # doctest: +NORMALIZE_WHITESPACE
    ('lora-0', 'lora-1', 'lora-2',
     'lora-embeddings-0', 'lora-embeddings-1', 'lora-embeddings-2', 'lora-embeddings-rates', 'lora-rates')
    """
    return tuple(sorted(folder.name for folder in RUNS.iterdir() if folder.is_dir()))


def copy(folder: Path | str) -> tuple[Path, ...]:
    """Copy the runs into a folder, made if it does not exist. A file that differs is never overwritten."""
    target = Path(folder)
    for source in (path for path in RUNS.rglob("*") if path.is_file()):
        there = target / source.relative_to(RUNS)
        if there.exists() and there.read_bytes() != source.read_bytes():
            raise InputError(f"{there} exists and is not the example file; move it away, or choose another folder.")
    try:
        return tuple(Path(shutil.copytree(RUNS / name, target / name, dirs_exist_ok=True)) for name in names())
    except OSError as error:
        raise InputError(f"cannot write the runs to {target}: {error.strerror}; choose another folder.") from error
