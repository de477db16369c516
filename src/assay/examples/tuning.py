"""Training runs that ship with Assay: a small model of English learns Japanese, by LoRA and in full, three seeds each.

LoRA comes twice: as it is, and with the embeddings trained beside it.

``python -m assay.examples.tuning FOLDER`` copies their logs into a folder; ``tuning/README.md`` says how they were
made.
"""

import sys
from pathlib import Path

from assay.examples import command, copied_files

RUNS = Path(__file__).parent / "tuning" / "runs"


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
    copied_files({path: target / path.relative_to(RUNS) for path in sorted(RUNS.rglob("*")) if path.is_file()})
    return tuple(target / name for name in names())


if __name__ == "__main__":
    sys.exit(command("assay.examples.tuning", copy, sys.argv[1:]))
