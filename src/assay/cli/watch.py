"""`assay watch A B`."""

import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from assay.cli import options, which_results
from assay.cli.option_groups import with_groups
from assay.cli.output import say
from assay.cli.shown import Outputs
from assay.errors import InputError

if TYPE_CHECKING:
    from assay.data import Panel

_LONGEST = 86_400  # seconds between two looks
_LINES = frozenset({".csv", ".tsv", ".jsonl", ".ndjson"})  # tables that are written line by line
_GIVEN_UP = 600  # seconds without a byte, after which a line that cannot be read is not being written
_LATER = "if it is still being written, look again, or let --every 60 wait for the rest."


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

    def look() -> "Panel":
        chosen = picked.selection()
        return watched(a, b, (a_model, b_model), columns, cluster, chosen, lower_is_better=lower_is_better)

    panel = _whole(look, files, every)
    found = watch_panel(panel, level=level, population=population, margin=margin)
    while every is not None and found.advice == "continue":
        say(found.sentence, err=True)
        time.sleep(every)
        before, panel = panel, _whole(look, files, every)
        check_grown(before, panel, ", ".join(map(str, files)))
        found = watch_panel(panel, level=level, population=population, margin=margin)
    out.show(found)


def _whole(look: Callable[[], "Panel"], files: Sequence[Path], every: float | None) -> "Panel":
    """What ``look`` reads; with ``every``, as soon as no file ends with a line that is still being written."""
    while True:
        cut, why = _within_a_line(files), ""
        if every is None or cut is None or _age(cut) >= every:
            try:
                return look()
            except InputError as error:
                cut, why = cut or _within_a_line(files), f"{error} "
                if cut is None:
                    return look()  # refused again, unless the last line was being written and is now whole
                if every is None:
                    raise InputError(f"{why}{cut} does not end with a whole line: {_LATER}") from error
                if _age(cut) >= max(every, _GIVEN_UP):
                    raise
        say(f"{why}{cut} ends within a line that is still being written: looking again in {every:g} s.", err=True)
        time.sleep(every)


def _age(path: Path) -> float:
    """Seconds since a file was written."""
    return time.time() - path.stat().st_mtime


def _within_a_line(files: Sequence[Path]) -> Path | None:
    """The first table of lines that does not end with a whole one."""
    from assay.data.readers.registry import named  # late, as above

    for path in (named(file)[1] for file in files):
        if path.suffix.lower() in _LINES and path.is_file():
            with path.open("rb") as opened:
                opened.seek(max(path.stat().st_size - 1, 0))
                if opened.read(1) not in (b"", b"\n", b"\r"):
                    return path
    return None
