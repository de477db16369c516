"""`assay compare A B`."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from assay.cli import options, which_results
from assay.cli.option_groups import with_groups
from assay.cli.shown import Outputs
from assay.cli.workers import HERE, OnWorkers
from assay.design import Design, Scheme


@with_groups
def compare(
    a: Annotated[
        Path,
        typer.Argument(
            metavar="A", help="Results of A: a table, a run, files of a harness; [NAME=]PATH. Of both with --a and --b."
        ),
    ],
    b: Annotated[Path | None, typer.Argument(metavar="B", help="Results of B.")] = None,
    a_model: options.ModelA = None,
    b_model: options.ModelB = None,
    columns: options.Columns = None,
    cluster: options.Cluster = None,
    split: options.Split = None,
    per: options.Per = None,
    lower_is_better: options.LowerIsBetter = None,
    missing: options.MissingAnswers = "drop",
    picked: which_results.PicksToCompare = which_results.TO_COMPARE,
    method: options.IntervalMethod = options.DESIGN.method,
    level: options.Level = options.DESIGN.level,
    scheme: Annotated[
        Scheme,
        options.option("Draw windows uniformly or ∝ tokens; auto looks at the token counts.", panel=options.STATISTICS),
    ] = options.DESIGN.scheme,
    resamples: options.Resamples = options.DESIGN.resamples,
    seed: options.Seed = options.DESIGN.seed,
    test: options.PairedTest = options.DESIGN.test,
    by: options.TasksBy = None,
    total: options.TaskTotal = None,
    groups: options.TaskGroups = None,
    adjust: Annotated[
        Literal["product", "holm", "bh"] | None,
        options.option(
            "Adjust p-values and intervals for the number of tasks. (default: product)", panel=options.STATISTICS
        ),
    ] = None,
    margin: Annotated[
        float | None,
        options.option(
            "Differences below M do not matter: the verdict may be 'equivalent'.", panel=options.STATISTICS, value="M"
        ),
    ] = None,
    population: options.Population = None,
    at: Annotated[
        int | None,
        options.option(
            "Compare pass@K: one of K attempts at an item is right.",
            "--at",
            panel=options.STATISTICS,
            value="K",
            parser=options.attempt_in,
        ),
    ] = None,
    every: Annotated[
        bool,
        options.option("With --at: all K attempts are right (pass^K).", "--every", panel=options.STATISTICS),
    ] = False,
    *,
    junit: options.Junit = None,
    where: OnWorkers = HERE,
    out: Outputs,
) -> None:
    """Is B different from A, by how much, and how sure can one be?

    A and B hold losses (window, tokens, loss) or scores (item, score), paired by id, or are what lm-eval, inspect,
    lighteval, HELM or a completions server wrote. For losses the difference is in
    nats per token and the ratio is of perplexities; --margin is on the scale of the difference.

    Several tasks (a column task, or those of a harness) have a row each, and a total with the verdict.

    Example: assay compare base.csv int4.csv --cluster passage
    """
    from assay.analyses.suite import compare_or_suite as run  # late: --help and errors of usage need none of it

    out.check([a, b], junit)
    design = Design(method=method, level=level, scheme=scheme, resamples=resamples, seed=seed, test=test, margin=margin)
    with where.resampling():
        result = run(
            a,
            b,
            by=by,
            total=total,
            groups=groups,
            adjust=adjust,
            design=design,
            models=(a_model, b_model),
            columns=columns,
            cluster=cluster,
            split=split,
            lower_is_better=lower_is_better,
            per=per,
            missing=missing,
            at=at,
            every=every,
            population=population,
            selection=picked.selection(),
        )
    out.show(result, junit=junit)
