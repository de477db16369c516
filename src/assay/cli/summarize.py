"""`assay summarize RESULTS…`."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from assay.cli import options, output, sources
from assay.design import Design


def summarize(
    results: Annotated[
        list[Path],
        typer.Argument(
            metavar="RESULTS…",
            help="Results of one model or of several: tables, runs, files of a harness; [NAME=]PATH.",
        ),
    ],
    columns: options.Columns = None,
    cluster: options.Cluster = None,
    split: options.Split = None,
    lower_is_better: options.LowerIsBetter = False,
    task: sources.Task = None,
    metric: sources.MetricName = None,
    filter_name: sources.Filter = None,
    scorer: sources.Scorer = None,
    format_name: sources.FormatName = None,
    newest: sources.Newest = False,
    method: Annotated[
        Literal["auto", "bca", "bca-plain", "percentile", "t", "studentized"],
        typer.Option(
            help="Interval; auto is agresti-coull for scores from 0 to 1, else bca.", rich_help_panel=options.STATISTICS
        ),
    ] = "auto",
    level: options.Level = 0.95,
    chart: Annotated[Path | None, options.chart("the models")] = None,
    save: output.Save = None,
    as_json: output.Json = False,
) -> None:
    """How good is it, and how sure are we?

    The mean score, or the loss with perplexity and bits per byte, of one model or of fifty, each with its interval.
    Runs of a model are averaged item by item.
    """
    from assay.analyses.summarize import summarize as run  # late: --help and errors of usage need none of it

    output.check_outputs([chart, save], results)
    result = run(
        *results,
        design=Design(method=method, level=level),
        columns=columns,
        cluster=cluster,
        split=split,
        lower_is_better=True if lower_is_better else None,
        selection=sources.selection_of(task, metric, filter_name, scorer, format_name, newest=newest),
    )
    output.show(result, as_json=as_json, save=save, chart=chart)
