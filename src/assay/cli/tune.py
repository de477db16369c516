"""`assay tune RUN…` and `assay tune run`."""

from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from assay.cli import options, output
from assay.cli.tune_run import run
from assay.design import Design, Method

_STATISTICS = "Statistics"
_OUTPUT = "Output"
_REPORT = "report"


class _ReportUnlessNamed(TyperGroup):
    """`assay tune A B` is `assay tune report A B`."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        if args and args[0] not in {*self.commands, "--help"}:
            args = [_REPORT, *args]
        return super().parse_args(ctx, args)


tune = typer.Typer(
    cls=_ReportUnlessNamed,
    help="LoRA or full fine-tuning? Reports on training runs, and trains.\n\n"
    "assay tune RUN_A RUN_B … is short for assay tune report RUN_A RUN_B …",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)


@tune.command(_REPORT)
def report(
    runs: Annotated[
        list[str],
        typer.Argument(
            metavar="RUN…",
            help="Run folders, folders of runs, trainer_state.json, peft results, tables of step and loss; [ARM=]PATH.",
        ),
    ],
    baseline: Annotated[
        str | None,
        typer.Option(
            metavar="ARM", help="What the others are compared with. (default: the one that trains everything)"
        ),
    ] = None,
    targets: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Other targets, as JSON or TOML: perplexity, memory_reduction, …"),
    ] = None,
    validation: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="The validation set that decides, where logs have several: eval_NAME_loss."),
    ] = None,
    language_model: Annotated[
        bool,
        typer.Option("--language-model", help="The losses are a language model's: perplexities and grades, too."),
    ] = False,
    method: Annotated[Method, typer.Option(help="Interval over windows.", rich_help_panel=_STATISTICS)] = "auto",
    level: options.Level = 0.95,
    seed: Annotated[int, typer.Option(help="Seed of random resamples.", rich_help_panel=_STATISTICS)] = 0,
    chart: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Draw losses, gradients and costs to .svg or .png.", rich_help_panel=_OUTPUT),
    ] = None,
    markdown: options.Markdown = None,
    save: output.Save = None,
    as_json: output.Json = False,
) -> None:
    """What did the runs cost, did they converge, and is one really better?

    Runs of one arm are its seeds. Parameters, memory, time, convergence, gradients, gains, significance on the same
    validation windows, targets (met, not met, not measured) and what follows from them.
    """
    from assay.analyses.tune import tune as analyse  # late: --help and errors of usage need none of it
    from assay.analyses.tune.criteria import read_targets

    if chart is not None:
        from assay.report.charts import check_chart

        check_chart(chart)
    output.check_outputs([chart, markdown, save], runs)
    design = Design(method=method, level=level, seed=seed)
    wanted = None if targets is None else read_targets(targets)
    result = analyse(
        *runs,
        baseline=baseline,
        targets=wanted,
        design=design,
        validation=validation,
        language_model=language_model,
    )

    def draw(path: Path) -> None:
        from assay.report.charts import write_figures  # late: only if a chart is asked for

        write_figures(result.figures, path, "Training runs")

    output.show(result, as_json=as_json, save=save, markdown=markdown, chart=chart, draw=draw)


tune.command("run")(run)
