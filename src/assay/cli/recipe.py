"""`--recipe FILE`: a shell script that checks the files, runs the command again and compares what it says."""

import platform
import shlex
import sys
from collections.abc import Iterable, Sequence
from hashlib import file_digest
from pathlib import Path

from assay.errors import UsageError
from assay.files.writing import write_bytes
from assay.names import one_line, visible
from assay.results.record import Result
from assay.version import VERSION

_HEAD = "#!/bin/sh\n# Made by assay: runs its commands again, on the same files, and compares what they say.\nset -eu\n"
_BLOCK = "\n# ---- "
_END = "END_OF_WHAT_ASSAY_SAID"


def add_to_recipe(path: Path, result: Result) -> None:
    """Write the script, or add this command to the one that is there; a command that is in it is replaced."""
    arguments = _without_outputs(sys.argv[1:])
    block = _block(f"assay {shlex.join(arguments)}", result, _files(arguments))
    kept = [old for old in _blocks(path) if old.splitlines()[0] != block.splitlines()[0]]
    write_bytes(path, (_HEAD + "".join(_BLOCK + one for one in (*kept, block))).encode())


def check_recipe(path: Path) -> None:
    """Refuse to write over a file that is no recipe."""
    _blocks(path)


def _blocks(path: Path) -> list[str]:
    if not path.exists():
        return []
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeError) as error:
        raise UsageError(f"{path}: cannot be read as a recipe ({error}); name another file.") from error
    if not text.startswith(_HEAD):
        raise UsageError(f"{path}: is there, and is no recipe that assay wrote; name another file.")
    return text.removeprefix(_HEAD).split(_BLOCK)[1:]


def _block(command: str, result: Result, inputs: Iterable[Path]) -> str:
    """The command, what it ran on and with, and what it said."""
    from importlib.metadata import version  # late: it takes longer to import than many a command

    versions = ", ".join(f"{name} {version(name)}" for name in ("numpy", "scipy"))
    said = visible(result.sentence).splitlines()
    sums = [f"{_digest(path)}  {path}" for path in inputs]
    lines = [
        one_line(command),
        f"# assay {VERSION}, Python {platform.python_version()}, {versions}, {platform.system()} {platform.machine()}",
        *(f"# {line}" for line in said),
        *([f"sha256sum --check --quiet <<'{_END}'", *sums, _END] if sums else []),
        f"{command} --sentence | diff - /dev/fd/3 3<<'{_END}'",
        *said,
        _END,
    ]
    if result.signature:
        lines.insert(2, f"# {visible(result.signature)}")
    return "\n".join(lines) + "\n"


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return file_digest(file, "sha256").hexdigest()


def _without_outputs(arguments: Sequence[str]) -> list[str]:
    """The arguments without what only says where the result goes."""
    kept: list[str] = []
    skip = False
    for one in arguments:
        name, equals, _ = one.partition("=")
        if skip:
            skip = False
        elif name in {"--recipe", "--chart", "--table", "--markdown", "--save", "--junit"}:
            skip = not equals
        elif one not in {"--sentence", "--json", "--verbose", "-v", "--full"}:
            kept.append(one)
    return kept


def _files(arguments: Sequence[str]) -> list[Path]:
    """The files that are named in the arguments, but for what is written."""
    pairs = zip(["", *arguments], arguments, strict=False)
    found = [Path(one) for before, one in pairs if before not in {"-o", "--output"} and "\n" not in one]
    return [path for path in found if path.is_file()]
