"""`assay survey SURVEY RESULTS…`."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Literal

import typer

from assay.cli import options
from assay.cli import output as shown
from assay.cli.dry_run import AS_USUAL, BeforeStart, survey_size
from assay.cli.option_groups import with_groups
from assay.cli.progress import counting
from assay.cli.shown import Outputs
from assay.cli.workers import HERE, OnWorkers
from assay.design import Design

_WRITTEN = ("survey.json", "survey.md", "statements.md", "cells.csv")  # into -o DIR, besides charts


@with_groups
def survey(
    truth: Annotated[
        Path,
        typer.Argument(metavar="SURVEY", help="The survey: SURVEY.json, or a table of question, segment, n, options."),
    ],
    results: Annotated[
        list[Path], typer.Argument(metavar="RESULTS…", help="Result files, folders of them, or tables of predictions.")
    ],
    output: Annotated[
        Path | None,
        options.option(
            "Write survey.json, survey.md, statements.md, cells.csv and charts.",
            "--output",
            "-o",
            panel=options.OUTPUT,
            value="DIR",
        ),
    ] = None,
    prior: Annotated[
        Path | None, options.option("Another round, as a baseline.", panel=options.DATA, value="SURVEY")
    ] = None,
    summary: Annotated[
        Path | None,
        options.option("The published summary, to compare.", panel=options.DATA, value="SUMMARY"),
    ] = None,
    only: Annotated[
        Sequence[str] | None,
        options.option(
            "Only these analyses: scores, baselines, noise, …",
            panel=options.DATA,
            value="NAME,…",
            parser=options.names_in,
        ),
    ] = None,
    min_n: Annotated[
        int,
        options.option("Leave out answers of fewer respondents.", "--min-n", panel=options.DATA, value="N"),
    ] = 10,
    threshold: Annotated[
        float, options.option("How many cells can reach this score?", panel=options.STATISTICS)
    ] = 0.70,
    variants: Annotated[
        Literal["apart", "merged"],
        options.option("A model at several settings: several models, or its runs.", panel=options.DATA),
    ] = "apart",
    merge: Annotated[
        Path | None,
        options.option("Coarser segments: a table of segment, into.", panel=options.DATA, value="MAPPING"),
    ] = None,
    by: Annotated[
        Literal["category", "segment", "question"] | None,
        options.option("Show the scores by this as well.", panel=options.OUTPUT),
    ] = None,
    marginal: Annotated[
        Literal["left-out", "pooled"],
        options.option(
            "The population marginal: without the segment's people, or only without its row.", panel=options.STATISTICS
        ),
    ] = "left-out",
    test: Annotated[
        Literal["auto", "sign-flip", "t", "wilcoxon"],
        options.option("Paired test.", panel=options.STATISTICS),
    ] = "auto",
    method: options.IntervalMethod = options.DESIGN.method,
    level: options.Level = options.DESIGN.level,
    margin: Annotated[
        float | None,
        options.option(
            "A model this close to a baseline is equal to it. (default: 0.001)", panel=options.STATISTICS, value="SCORE"
        ),
    ] = None,
    resamples: Annotated[
        int | None,
        options.option(
            "Resamples and permutations. (default: exact where possible, 1,000 of respondents, 2,000 shuffles)",
            panel=options.STATISTICS,
            value="N",
        ),
    ] = None,
    seed: options.Seed = options.DESIGN.seed,
    *,
    where: OnWorkers = HERE,
    before: BeforeStart = AS_USUAL,
    out: Outputs,
) -> None:
    """Is this survey benchmark signal or noise?

    Scores predicted answer distributions as the benchmark does, and says what predictors without knowledge would
    score, what a perfect one could, which models can be told apart, and how far it matters who happened to be asked.

    Example: assay survey survey.json results/ -o report
    """
    from assay.analyses.survey import survey as run  # late: --help and errors of usage need none of it

    written = [] if output is None else [output / name for name in _WRITTEN]
    out.check([truth, *results, prior, summary, merge], *written)
    if not before.goes_on(lambda: survey_size(truth, results, only), results):
        return
    design = Design(method=method, level=level, resamples=resamples, seed=seed, test=test, margin=margin)
    with where.resampling():
        report = run(
            truth,
            *results,
            prior=prior,
            summary=summary,
            only=only,
            design=design,
            min_n=min_n,
            threshold=threshold,
            variants=variants,
            marginal=marginal,
            merge=merge,
            by=by,
            progress=counting("survey", "result files"),
        )
    if output is not None:
        from assay.report.files import write_folder  # late: reports load what draws charts

        for path in write_folder(report, output, "survey", report.for_a_paper, report.downloads):
            shown.say(f"Written: {path}", err=True)
    everything = output is None or out.verbose or out.full
    out.show(report, text=None if everything else report.brief)
