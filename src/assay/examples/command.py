"""The commands that copy example files into a folder."""

import sys
from collections.abc import Callable
from pathlib import Path

from assay.errors import AssayError


def copied(module: str, copy: Callable[[str], tuple[Path, ...]], arguments: list[str]) -> int:
    """``python -m MODULE FOLDER``; its exit code."""
    usage = f"usage: python -m {module} FOLDER\n\nCopies the example files into FOLDER.\n"
    if arguments in (["-h"], ["--help"]):
        sys.stdout.write(usage)
        return 0
    if len(arguments) != 1 or arguments[0].startswith("-"):
        sys.stderr.write(usage)
        return 2
    try:
        sys.stdout.write("".join(f"{file}\n" for file in copy(arguments[0])))
    except AssayError as error:
        sys.stderr.write(f"error: {error}\n")
        return error.exit_code
    return 0
