"""`assay rank RESULTS…`."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from assay.cli import options, output
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
    weights: Annotated[
        Literal["equal", "n", "sqrt", "log"] | None,
        options.option("Weigh items by f(n), n their column weight.", panel=DATA),
    ] = None,
    min_n: Annotated[
        int | None,
        options.option("Only items with a weight of at least N.", "--min-n", panel=DATA, value="N"),
    ] = None,
    lower_is_better: options.LowerIsBetter = None,
    missing: options.MissingAnswers = "drop",
    errors: options.ErrorAnswers = "missing",
    pair_by: options.PairedBy = "id",
    task: options.Task = None,
    metric: options.MetricName = None,
    filter_name: options.Filter = None,
    scorer: options.Scorer = None,
    format_name: options.FormatName = None,
    newest: options.Newest = False,
    adjust: Annotated[
        Literal["holm", "bh", "max-t", "none"],
        options.option("Adjust p-values and intervals for the number of pairs.", panel=STATISTICS),
    ] = "holm",
    test: options.PairedTest = options.DESIGN.test,
    method: options.IntervalMethod = options.DESIGN.method,
    level: options.Level = options.DESIGN.level,
    resamples: options.Resamples = options.DESIGN.resamples,
    seed: options.Seed = options.DESIGN.seed,
    pairs: Annotated[bool, options.option("Show every pair.", "--pairs", panel=OUTPUT)] = False,
    chart: options.ChartFile = None,
    markdown: options.Markdown = None,
    save: options.Save = None,
    as_json: options.Json = False,
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
        columns=columns,
        cluster=cluster,
        split=split,
        lower_is_better=lower_is_better,
        missing=missing,
        selection=options.selection_of(
            task, metric, filter_name, scorer, format_name, newest=newest, errors=errors, pair_by=pair_by
        ),
    )
    text = board.to_text(output.terminal_width(), all_pairs=pairs)
    output.show(board, as_json=as_json, save=save, markdown=markdown, chart=chart, text=text)
