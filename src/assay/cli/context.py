"""`assay context RUN…`."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from assay.cli import options, output
from assay.design import Design, Method
from assay.errors import UsageError

_STATISTICS = "Statistics"


def context(
    runs: Annotated[
        list[Path], typer.Argument(metavar="RUN…", help="Runs of `assay score --keep-tokens`, of the same text.")
    ],
    bins: Annotated[
        str, typer.Option(metavar="log|N", help="Positions 1, 2, 3–4, 5–8, …; or N bins of about as many tokens.")
    ] = "log",
    chart: Annotated[Path | None, options.chart("the curves")] = None,
    method: Annotated[Method, typer.Option(help="Interval of a single bin.", rich_help_panel=_STATISTICS)] = "auto",
    level: options.Level = 0.95,
    resamples: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            help="Random resamples.  [default: exact for single bins, 10,000 for max-T]",
            rich_help_panel=_STATISTICS,
            show_default=False,
        ),
    ] = None,
    seed: options.Seed = 0,
    save: output.Save = None,
    as_json: output.Json = False,
) -> None:
    """Does longer context still help?

    Loss and perplexity by the number of tokens before the predicted one, for each run; with several runs, the
    difference of each from the first. Documents are the clusters; what is compared across bins is adjusted for their
    number.
    """
    from assay.analyses.context import context as run  # late: --help and errors of usage need none of it

    output.check_outputs([chart, save], runs)
    design = Design(method=method, level=level, resamples=resamples, seed=seed)
    result = run(*runs, bins=_bins(bins), design=design)

    output.show(result, as_json=as_json, save=save, chart=chart)


def _bins(text: str) -> int | Literal["log"]:
    if text == "log":
        return "log"
    try:
        return int(text)
    except ValueError:
        raise UsageError(f"bins must be log or a number of bins, but got {text!r}.") from None
