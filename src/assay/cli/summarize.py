"""`assay summarize RESULTS…`."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from assay.cli import options, which_results
from assay.cli.option_groups import with_groups
from assay.cli.shown import Outputs
from assay.design import Design, Method


@with_groups
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
    lower_is_better: options.LowerIsBetter = None,
    missing: options.MissingAnswers = "drop",
    picked: which_results.AnswerPicks = which_results.OF_ANSWERS,
    method: Annotated[
        Method,
        options.option("Interval; auto is agresti-coull for scores from 0 to 1, else bca.", panel=options.STATISTICS),
    ] = "auto",
    level: options.Level = options.DESIGN.level,
    population: options.Population = None,
    groups: options.TaskGroups = None,
    at: Annotated[
        Sequence[int] | None,
        options.option(
            "pass@k and pass^k of items with several attempts, for these k. (default: 1 and the most that all have)",
            panel=options.STATISTICS,
            value="K,…",
            parser=options.attempts_in,
        ),
    ] = None,
    *,
    out: Outputs,
) -> None:
    """How good is it, and how sure are we?

    The mean score, or the loss with perplexity and bits per byte, of one model or of fifty, each with its interval.
    Runs of a model are averaged item by item; where they are right or wrong, pass@k and pass^k stand beside the mean.

    Example: assay summarize results/base results/int4 --metric acc
    """
    from assay.analyses.summarize import summarize as run  # late: --help and errors of usage need none of it

    out.check(results)
    result = run(
        *results,
        design=Design(method=method, level=level),
        groups=groups,
        at=at,
        columns=columns,
        cluster=cluster,
        split=split,
        lower_is_better=lower_is_better,
        missing=missing,
        population=population,
        selection=picked.selection(),
    )
    out.show(result)
