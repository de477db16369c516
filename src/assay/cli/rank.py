"""`assay rank RESULTS…`."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from assay.cli import options, output, sources
from assay.cli.options import DATA, OUTPUT, STATISTICS
from assay.design import Design


def rank(
    results: Annotated[
        list[Path],
        typer.Argument(
            metavar="RESULTS…",
            help="Results of each model: tables, runs, files of a harness; [NAME=]PATH. One file may hold several.",
        ),
    ],
    columns: options.Columns = None,
    cluster: options.Cluster = None,
    split: options.Split = None,
    complete: Annotated[
        bool, typer.Option("--complete", help="Only items that every model has answered.", rich_help_panel=DATA)
    ] = False,
    weights: Annotated[
        Literal["equal", "n", "sqrt", "log"] | None,
        typer.Option(help="Weigh items by f(n), n their column weight.", rich_help_panel=DATA, show_default=False),
    ] = None,
    min_n: Annotated[
        int | None,
        typer.Option("--min-n", metavar="N", help="Only items with a weight of at least N.", rich_help_panel=DATA),
    ] = None,
    lower_is_better: options.LowerIsBetter = False,
    task: sources.Task = None,
    metric: sources.MetricName = None,
    filter_name: sources.Filter = None,
    scorer: sources.Scorer = None,
    format_name: sources.FormatName = None,
    newest: sources.Newest = False,
    adjust: Annotated[
        Literal["holm", "bh", "max-t", "none"],
        typer.Option(help="Adjust p-values and intervals for the number of pairs.", rich_help_panel=STATISTICS),
    ] = "holm",
    test: options.PairedTest = "auto",
    method: options.IntervalMethod = "auto",
    level: options.Level = 0.95,
    resamples: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            help="Random flips and resamples. (default: exact where possible, else 10,000)",
            rich_help_panel=STATISTICS,
            show_default=False,
        ),
    ] = None,
    seed: options.Seed = 0,
    pairs: Annotated[bool, typer.Option("--pairs", help="Show every pair.", rich_help_panel=OUTPUT)] = False,
    chart: Annotated[Path | None, options.chart("the models")] = None,
    markdown: options.Markdown = None,
    save: output.Save = None,
    as_json: output.Json = False,
) -> None:
    """Which models can be told apart?

    Ranks models on the items they share. Every pair is tested as `compare` does, and adjusted for the number of pairs;
    models that are not told apart share a tier. Each model has the ranks that are left to it and its chance of being
    the best.
    """
    from assay.analyses.rank import rank as run  # late: --help and errors of usage need none of it

    output.check_outputs([chart, markdown, save], results)
    board = run(
        *results,
        design=Design(method=method, level=level, resamples=resamples, seed=seed, test=test),
        adjust=adjust,
        weights=weights,
        min_n=min_n,
        complete=complete,
        columns=columns,
        cluster=cluster,
        split=split,
        lower_is_better=True if lower_is_better else None,
        selection=sources.selection_of(task, metric, filter_name, scorer, format_name, newest=newest),
    )
    text = board.to_text(output.terminal_width(), all_pairs=pairs)
    output.show(board, as_json=as_json, save=save, markdown=markdown, chart=chart, text=text)
