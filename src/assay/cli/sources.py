"""The options that pick results among the files of a harness: the same for every verb that reads them."""

from typing import TYPE_CHECKING, Annotated, cast

import typer

if TYPE_CHECKING:
    from assay.data.readers import Format, Selection

_PANEL = "Harness files"

Task = Annotated[
    str | None,
    typer.Option(metavar="NAME", help="The task, a group of tasks, or a pattern: 'mmlu_*'.", rich_help_panel=_PANEL),
]
MetricName = Annotated[
    str | None, typer.Option("--metric", metavar="NAME", help="The metric of each item.", rich_help_panel=_PANEL)
]
Filter = Annotated[
    str | None,
    typer.Option(
        "--filter", metavar="NAME", help="The filter of lm-eval's answers, or HELM's split.", rich_help_panel=_PANEL
    ),
]
Scorer = Annotated[str | None, typer.Option(metavar="NAME", help="The scorer of inspect.", rich_help_panel=_PANEL)]
FormatName = Annotated[
    str | None,
    typer.Option(
        "--format",
        metavar="FORMAT",
        help="lm-eval, inspect, lighteval, helm, responses or table; otherwise seen from the content.",
        rich_help_panel=_PANEL,
    ),
]
Newest = Annotated[
    bool, typer.Option("--newest", help="The newest of several runs of a task by a model.", rich_help_panel=_PANEL)
]


def selection_of(
    task: str | None,
    metric: str | None,
    filter_name: str | None,
    scorer: str | None,
    format_name: str | None,
    *,
    newest: bool,
) -> "Selection":
    """What was picked; an unknown format is refused here."""
    from assay.data.readers import Selection  # late: --help needs none of it

    chosen = cast("Format | None", format_name)
    return Selection(task=task, metric=metric, filter=filter_name, scorer=scorer, format=chosen, newest=newest)
