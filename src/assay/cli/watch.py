"""`assay watch A B`."""

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from assay.cli import options, which_results
from assay.cli.option_groups import with_groups
from assay.cli.output import say
from assay.cli.shown import Outputs
from assay.errors import InputError

if TYPE_CHECKING:
    from assay.analyses.watch.result import Watch

_LONGEST = 86_400  # seconds between two looks


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
    from assay.analyses.watch import watch as run  # late: --help and errors of usage need none of it

    out.check([a, b])

    def look() -> "Watch":
        return run(
            a,
            b,
            models=(a_model, b_model),
            columns=columns,
            cluster=cluster,
            lower_is_better=lower_is_better,
            selection=picked.selection(),
            level=level,
            population=population,
            margin=margin,
        )

    if every is not None and not 0 < every <= _LONGEST:
        raise options.OptionError(f"--every must be above 0 and at most {_LONGEST:,} (a day), but got {every}.")
    found = look()
    while every is not None and found.advice == "continue":
        say(found.sentence, err=True)
        time.sleep(every)
        before, found = found.n, look()
        if found.n < before:
            raise InputError(
                f"{a if b is None else f'{a}, {b}'}: {found.n} {found.unit}s that both models have, and {before} at "
                "the last look; a harness that started anew is watched anew."
            )
    out.show(found)
