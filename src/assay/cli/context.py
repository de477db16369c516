"""`assay context RUN…`."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from assay.cli import options
from assay.cli.option_groups import with_groups
from assay.cli.shown import Outputs
from assay.design import Design


@with_groups
def context(
    runs: Annotated[
        list[Path], typer.Argument(metavar="RUN…", help="Runs of `assay score --keep-tokens`, of the same text.")
    ],
    bins: Annotated[
        str, options.option("Positions 1, 2, 3–4, 5–8, …; or N bins of about as many tokens.", value="log|N")
    ] = "log",
    axis: Annotated[
        Literal["log", "linear"] | None, options.option("Of the chart's positions. (default: as the bins are)")
    ] = None,
    shown: Annotated[
        Literal["loss", "perplexity"], options.option("What the chart draws, above the differences.", "--show")
    ] = "loss",
    method: options.IntervalMethod = options.DESIGN.method,
    level: options.Level = options.DESIGN.level,
    resamples: options.Resamples = options.DESIGN.resamples,
    seed: options.Seed = options.DESIGN.seed,
    *,
    out: Outputs,
) -> None:
    """Does longer context still help?

    Loss and perplexity by the number of tokens before the predicted one, for each run; with several runs, the
    difference of each from the first. Documents are the clusters; what is compared across bins is adjusted for their
    number.

    Example: assay context runs/base runs/int4 --chart context.svg
    """
    from assay.analyses.context import context as run  # late: --help and errors of usage need none of it

    out.check(runs)
    design = Design(method=method, level=level, resamples=resamples, seed=seed)
    result = run(*runs, bins=options.bins_in(bins), axis=axis, shown=shown, design=design)

    out.show(result)
