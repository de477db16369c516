"""`assay reliability RESULTS…`."""

from pathlib import Path
from typing import Annotated

import typer

from assay.cli import options
from assay.cli.shown import Outputs, shows


@shows
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
    errors: options.ErrorAnswers = "missing",
    pair_by: options.PairedBy = "id",
    task: options.Task = None,
    metric: options.MetricName = None,
    filter_name: options.Filter = None,
    scorer: options.Scorer = None,
    format_name: options.FormatName = None,
    reference: options.Reference = None,
    tried: options.Tried = None,
    newest: options.Newest = False,
    allow_different: options.AllowDifferent = None,
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
        selection=options.selection_of(
            task,
            metric,
            filter_name,
            scorer,
            format_name,
            newest=newest,
            allow_different=allow_different,
            errors=errors,
            pair_by=pair_by,
            reference=reference,
            tried=tried,
        ),
    )
    out.show(result)
