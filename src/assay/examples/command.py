"""The commands that copy example files into a folder."""

import sys
from collections.abc import Callable, Iterable
from pathlib import Path

from assay.exit_codes import ended


def copied(module: str, copy: Callable[[str], tuple[Path, ...]], arguments: list[str]) -> int:
    """``python -m MODULE FOLDER``; its exit code."""
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
