"""`assay rank RESULTS…`."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from assay.cli import options, which_results
from assay.cli.dry_run import AS_USUAL, BeforeStart, rank_size
from assay.cli.option_groups import with_groups
from assay.cli.options import DATA, OUTPUT, STATISTICS
from assay.cli.shown import Outputs
from assay.cli.workers import HERE, OnWorkers
from assay.design import Design


@with_groups
def rank(
    results: Annotated[
        list[Path],
        typer.Argument(
            metavar="RESULTS…",
            help="Results of each model: tables, runs, files of a harness; [NAME=]PATH. One file may hold several.",
        ),
    ],
    previous: Annotated[
        Path | None,
        options.option(
            "A saved board that models join: RESULTS are of old and new ones; says what changed.",
            "--previous",
            panel=DATA,
            value="BOARD.json",
        ),
    ] = None,
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
    picked: which_results.PicksToCompare = which_results.TO_COMPARE,
    by: options.TasksBy = None,
    total: options.TaskTotal = None,
    groups: options.TaskGroups = None,
    adjust: Annotated[
        Literal["holm", "bh", "max-t", "none"] | None,
        options.option(
            "Adjust p-values and intervals for the number of pairs. (default: holm; max-t for several tasks)",
            panel=STATISTICS,
        ),
    ] = None,
    test: options.PairedTest = options.DESIGN.test,
    method: options.IntervalMethod = options.DESIGN.method,
    level: options.Level = options.DESIGN.level,
    resamples: options.Resamples = options.DESIGN.resamples,
    seed: options.Seed = options.DESIGN.seed,
    pairs: Annotated[bool, options.option("Show every pair.", "--pairs", panel=OUTPUT)] = False,
    *,
    where: OnWorkers = HERE,
    before: BeforeStart = AS_USUAL,
    out: Outputs,
) -> None:
    """Which models can be told apart?

    Ranks models on the items they share. Every pair is tested as `compare` does, and adjusted for the number of pairs;
    models that are not told apart share a tier. Each model has the ranks that are left to it and its chance of being
    the best.

    Several tasks (a column task, or those of a harness) are ranked by their mean.

    Example: assay rank a.csv b.csv c.csv --cluster passage --table latex
    """
    from assay.analyses.rank import rank as run  # late: --help and errors of usage need none of it

    out.check(results)
    if not before.goes_on(lambda: rank_size(results, resamples), results):
        return
    with where.resampling():
        board = run(
            *results,
            design=Design(method=method, level=level, resamples=resamples, seed=seed, test=test),
            adjust=adjust,
            by=by,
            total=total,
            groups=groups,
            previous=previous,
            weights=weights,
            min_n=min_n,
            columns=columns,
            cluster=cluster,
            split=split,
            lower_is_better=lower_is_better,
            missing=missing,
            selection=picked.selection(),
        )
    out.show(board, all_pairs=pairs)
