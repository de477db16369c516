"""`assay reliability RESULTS…`."""

from pathlib import Path
from typing import Annotated

import typer

from assay.cli import options, which_results
from assay.cli.option_groups import with_groups
from assay.cli.shown import Outputs


@with_groups
def reliability(
    results: Annotated[
        list[Path],
        typer.Argument(
            metavar="RESULTS…", help="Tables with a column run, or logs of inspect with epochs; [NAME=]PATH."
        ),
    ],
    columns: options.Columns = None,
    cluster: options.Cluster = None,
    files_are_runs: Annotated[
        bool, options.option("Each file is one run of its model.", "--files-are-runs", panel=options.DATA)
    ] = False,
    missing: options.MissingAnswers = "drop",
    picked: which_results.PicksToCompare = which_results.TO_COMPARE,
    level: options.Level = options.DESIGN.level,
    power: Annotated[float, options.option("Power of the detectable differences.", panel=options.STATISTICS)] = 0.8,
    *,
    out: Outputs,
) -> None:
    """Would another run say the same?

    Intraclass correlations, the noise of a score between runs, whether the order of models repeats, where the variance
    comes from, and the smallest difference that the noise lets one see.

    Example: assay reliability runs.csv
    """
    from assay.analyses.reliability import reliability as run  # late: --help and errors of usage need none of it
    from assay.stats.planning.plans import Goal

    out.check(results)
    result = run(
        *results,
        goal=Goal(level=level, power=power),
        columns=columns,
        cluster=cluster,
        files_are_runs=files_are_runs,
        missing=missing,
        selection=picked.selection(),
    )
    out.show(result)
