"""`assay compare A B`."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from assay.cli import options, output, sources
from assay.design import Design, Scheme
from assay.errors import NoPairsError

_DATA = "Data"
_STATISTICS = "Statistics"


def compare(
    a: Annotated[
        Path,
        typer.Argument(
            metavar="A", help="Results of A: a table, a run, files of a harness; [NAME=]PATH. Of both with --a and --b."
        ),
    ],
    b: Annotated[Path | None, typer.Argument(metavar="B", help="Results of B.")] = None,
    a_model: Annotated[
        str | None, typer.Option("--a", metavar="NAME", help="The model to take from A.", rich_help_panel=_DATA)
    ] = None,
    b_model: Annotated[
        str | None,
        typer.Option(
            "--b", metavar="NAME", help="The model to take from B, or from A if it holds both.", rich_help_panel=_DATA
        ),
    ] = None,
    columns: options.Columns = None,
    cluster: options.Cluster = None,
    split: options.Split = None,
    per: Annotated[
        Literal["byte", "character"] | None,
        typer.Option(
            help="Bits per byte or character of whole documents, also where tokens differ.", rich_help_panel=_DATA
        ),
    ] = None,
    strict: Annotated[
        bool,
        typer.Option("--strict", help="Refuse ids that do not pair, instead of reporting them.", rich_help_panel=_DATA),
    ] = False,
    lower_is_better: options.LowerIsBetter = False,
    task: sources.Task = None,
    metric: sources.MetricName = None,
    filter_name: sources.Filter = None,
    scorer: sources.Scorer = None,
    format_name: sources.FormatName = None,
    newest: sources.Newest = False,
    method: options.IntervalMethod = "auto",
    level: options.Level = 0.95,
    scheme: Annotated[
        Scheme,
        typer.Option(
            help="Draw windows uniformly or ∝ tokens; auto looks at the token counts.", rich_help_panel=_STATISTICS
        ),
    ] = "auto",
    resamples: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            help="Random resamples. (default: exact, infinitely many)",
            rich_help_panel=_STATISTICS,
            show_default=False,
        ),
    ] = None,
    seed: options.Seed = 0,
    test: options.PairedTest = "auto",
    margin: Annotated[
        float | None,
        typer.Option(
            metavar="M",
            help="Differences below M do not matter: the verdict may be 'equivalent'.",
            rich_help_panel=_STATISTICS,
        ),
    ] = None,
    save: output.Save = None,
    as_json: output.Json = False,
) -> None:
    """Is B different from A, by how much, and how sure can one be?

    A and B hold losses (window, tokens, loss) or scores (item, score), paired by id, or are what lm-eval, inspect,
    lighteval, HELM or a completions server wrote. For losses the difference is in
    nats per token and the ratio is of perplexities; --margin is on the scale of the difference.
    """
    from assay.analyses.compare import compare as run  # late: --help and errors of usage need none of it

    output.check_outputs([save], [a, b])
    design = Design(method=method, level=level, scheme=scheme, resamples=resamples, seed=seed, test=test, margin=margin)
    result = run(
        a,
        b,
        design=design,
        models=(a_model, b_model),
        columns=columns,
        cluster=cluster,
        split=split,
        strict=strict,
        lower_is_better=True if lower_is_better else None,
        per=per,
        selection=sources.selection_of(task, metric, filter_name, scorer, format_name, newest=newest),
    )
    if not result.n_pairs:
        raise NoPairsError(result.difference.reason or "no pairs")
    output.show(result, as_json=as_json, save=save)
