"""`assay watch A B`."""

import json
import os
import shutil
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, BinaryIO

import typer

from assay.cli import options, which_results
from assay.cli.option_groups import with_groups
from assay.cli.output import say
from assay.cli.shown import Outputs
from assay.errors import AssayError

if TYPE_CHECKING:
    from assay.data import Panel

_LONGEST = 86_400  # seconds between two looks
_LINES = frozenset({".csv", ".tsv", ".jsonl", ".ndjson"})  # tables that are written line by line
_JSON = frozenset({".jsonl", ".ndjson"})
_WRITTEN = 3_600  # seconds since the last byte, after which nobody writes any more
_BLOCK = 1 << 16


@with_groups
def watch(
    a: Annotated[Path, typer.Argument(metavar="A", help="Results of A so far; of both models with --a and --b.")],
    b: Annotated[Path | None, typer.Argument(metavar="B", help="Results of B so far.")] = None,
    a_model: options.ModelA = None,
    b_model: options.ModelB = None,
    columns: options.Columns = None,
    cluster: options.Cluster = None,
    lower_is_better: options.LowerIsBetter = None,
    picked: which_results.PicksToCompare = which_results.TO_COMPARE,
    level: options.Level = options.DESIGN.level,
    population: options.Population = None,
    margin: Annotated[
        float | None,
        options.option("Also stop where no difference as large as M is left.", panel=options.STATISTICS, value="M"),
    ] = None,
    every: Annotated[
        float | None,
        options.option("Look again every so many seconds, until it may stop.", "--every", value="SECONDS"),
    ] = None,
    *,
    out: Outputs,
) -> None:
    """A harness still runs: may I stop? Valid however often one looks.

    A and B are tables that grow, or logs of a harness; the items that both have are compared. The interval is a
    confidence sequence: it holds at all times at once, so that looking often and stopping when the answer is clear
    costs no error. Items must come in random order.

    Example: assay watch base.jsonl new.jsonl --population 1319 --every 60
    """
    from assay.analyses.watch import watch_panel, watched  # late: --help and errors of usage need none of it
    from assay.analyses.watch.again import check_grown

    out.check([a, b])
    if every is not None and not 0 < every <= _LONGEST:
        raise options.OptionError(f"--every must be above 0 and at most {_LONGEST:,} (a day), but got {every}.")
    files = [a] if b is None else [a, b]

    def read(paths: Sequence[Path]) -> "Panel":
        first, second = (paths[0], None) if b is None else paths
        chosen = picked.selection()
        return watched(first, second, (a_model, b_model), columns, cluster, chosen, lower_is_better=lower_is_better)

    panel = _looked(read, files)
    found = watch_panel(panel, level=level, population=population, margin=margin)
    while every is not None and found.advice == "continue":
        say(found.sentence, err=True)
        time.sleep(every)
        before, panel = panel, _looked(read, files)
        check_grown(before, panel, ", ".join(map(str, files)))
        found = watch_panel(panel, level=level, population=population, margin=margin)
    out.show(found)


def _looked(read: Callable[[Sequence[Path]], "Panel"], files: Sequence[Path]) -> "Panel":
    """What ``read`` makes of the whole lines that are there; a file that ends within one is read from a copy."""
    with tempfile.TemporaryDirectory(prefix="assay-") as folder:
        copies = [_whole_lines(path, Path(folder, str(place))) for place, path in enumerate(files)]
        try:
            return read(copies)
        except AssayError as error:
            if copies != list(files):
                said = str(error)
                for place, path in enumerate(map(_path, files)):
                    said = said.replace(str(Path(folder, str(place), path.name)), str(path))
                error.args = (said,)
                raise
            if not any(_cut(path) for path in map(_path, files)):
                raise
    return _looked(read, files)  # a line was begun after the look at the ends


def _path(file: Path) -> Path:
    from assay.data.readers.registry import named  # late, as above

    return named(file)[1]


def _cut(path: Path) -> bool:
    """Whether a table of lines ends within one, and was written not long ago."""
    if path.suffix.lower() not in _LINES or not path.is_file() or time.time() - path.stat().st_mtime > _WRITTEN:
        return False
    with path.open("rb") as lines:
        size = lines.seek(0, os.SEEK_END)
        whole = _last_end(lines, size)
        lines.seek(whole)
        return whole < size and not (path.suffix.lower() in _JSON and _is_json(lines.read()))


def _whole_lines(file: Path, folder: Path) -> Path:
    """A copy without the last line, where that has no end yet; otherwise the file itself."""
    path = _path(file)
    copy = folder / path.name
    try:
        if not _cut(path):
            return file
        folder.mkdir()
        shutil.copyfile(path, copy)
        with copy.open("r+b") as lines:
            lines.truncate(_last_end(lines, lines.seek(0, os.SEEK_END)))
    except OSError:
        return file  # which those who read it will say
    say(f"{path} ends within a line, which is left out: it may still be written.", err=True)
    return Path(str(file).removesuffix(str(path)) + str(copy))  # NAME= stays


def _last_end(lines: BinaryIO, size: int) -> int:
    """Where the last whole line ends."""
    for start in range(max(size - _BLOCK, 0), -_BLOCK, -_BLOCK):
        lines.seek(max(start, 0))
        found = lines.read(_BLOCK).rfind(b"\n")
        if found >= 0:
            return max(start, 0) + found + 1
    return 0


def _is_json(line: bytes) -> bool:
    try:
        json.loads(line)
    except ValueError:
        return False
    return True
