"""`assay tune RUN…` and `assay tune run`."""

from pathlib import Path
from typing import Annotated, Any, Literal

import typer
from typer.core import TyperGroup

from assay.cli import options, output
from assay.design import Design, Method
from assay.errors import UsageError

_TRAINING = "Training"
_LORA = "LoRA"
_RECORD = "What is recorded, every so many steps (0: never)"
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
    method: Annotated[Method, typer.Option(help="Interval over windows.", rich_help_panel=options.STATISTICS)] = "auto",
    level: options.Level = 0.95,
    seed: options.Seed = 0,
    chart: Annotated[Path | None, options.chart("losses, gradients and costs")] = None,
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


@tune.command("run")
def run(
    base: Annotated[str, typer.Option(metavar="MODEL", help="The model to adapt: a folder or hub name.")],
    train: Annotated[list[Path], typer.Option(metavar="TEXT", help="What to learn from; may be repeated.")],
    valid: Annotated[list[Path], typer.Option(metavar="TEXT", help="Held-out text; may be repeated.")],
    output_folder: options.RunFolder,
    method: Annotated[Literal["lora", "full"], typer.Option(help="An adapter, or every weight.")] = "lora",
    rank: Annotated[int, typer.Option(help="Rank of LoRA.", rich_help_panel=_LORA)] = 16,
    alpha: Annotated[
        int | None, typer.Option(help="Scaling of LoRA: alpha / rank. (default: twice the rank)", rich_help_panel=_LORA)
    ] = None,
    dropout: Annotated[float, typer.Option(help="Dropout before LoRA.", rich_help_panel=_LORA)] = 0.0,
    modules: Annotated[
        str,
        typer.Option(
            metavar="NAME,NAME,…",
            help="The linear layers that get LoRA, such as q_proj,v_proj; all-linear: every one but the head.",
            rich_help_panel=_LORA,
        ),
    ] = "all-linear",
    train_embeddings: Annotated[
        bool,
        typer.Option(
            "--train-embeddings",
            help="Train the embeddings, too, whole: for a language that the base hardly knows. Tied ones stay tied.",
            rich_help_panel=_LORA,
        ),
    ] = False,
    lr: Annotated[float, typer.Option(help="Learning rate.", rich_help_panel=_TRAINING)] = 2e-4,
    lrs: Annotated[
        str | None,
        typer.Option(
            metavar="R,R,…",
            help="Train once at each rate, from the same start on the same data: RUN/lr-R.",
            rich_help_panel=_TRAINING,
        ),
    ] = None,
    steps: Annotated[int, typer.Option(help="Steps.", rich_help_panel=_TRAINING)] = 1000,
    rows: Annotated[int, typer.Option(help="Rows of text in a step.", rich_help_panel=_TRAINING)] = 8,
    seed: Annotated[int, typer.Option(help="Seed of the adapter and of the order.", rich_help_panel=_TRAINING)] = 0,
    checkpoint: Annotated[
        int, typer.Option(metavar="N", help="Steps between checkpoints; 0: none.", rich_help_panel=_TRAINING)
    ] = 500,
    context: Annotated[int, typer.Option(metavar="N", help="Tokens in a row.", rich_help_panel=options.TEXT)] = 512,
    field: options.Field = None,
    split_on: options.SplitOn = None,
    every_step: Annotated[
        int, typer.Option(metavar="N", help="Loss, rate, gradient norm.", rich_help_panel=_RECORD)
    ] = 1,
    every_validation: Annotated[int, typer.Option(metavar="N", help="Validation loss.", rich_help_panel=_RECORD)] = 100,
    every_memory: Annotated[int, typer.Option(metavar="N", help="Memory.", rich_help_panel=_RECORD)] = 100,
    every_quality: Annotated[
        int, typer.Option(metavar="N", help="Perplexity, character accuracy.", rich_help_panel=_RECORD)
    ] = 500,
    overwrite: options.Overwrite = False,
) -> None:
    """Train with LoRA or in full, record every step, and score the validation text with the result.

    Killed and started again with the same arguments, it goes on from its last checkpoint. `assay tune` compares runs.
    """
    from assay.training.fitting import Settings  # late: --help and errors of usage need none of it
    from assay.training.recorder import Schedule
    from assay.training.run import tune_run

    settings = Settings(
        method=method,
        rank=rank,
        alpha=alpha,
        dropout=dropout,
        modules=modules,
        train_embeddings=train_embeddings,
        learning_rate=lr,
        steps=steps,
        rows=rows,
        seed=seed,
        checkpoint=checkpoint,
    )
    tune_run(
        base,
        output_folder,
        train=train,
        valid=valid,
        settings=settings,
        learning_rates=_rates(lrs),
        context=context,
        schedule=Schedule(step=every_step, validation=every_validation, memory=every_memory, quality=every_quality),
        field=field,
        split_on=options.unescaped(split_on),
        overwrite=overwrite,
        on_run=lambda found: output.say(str(found)),
    )


def _rates(text: str | None) -> list[float] | None:
    if text is None:
        return None
    try:
        return sorted({float(part) for part in text.split(",")})
    except ValueError:
        raise UsageError(f"--lrs must be numbers with commas between them, but got {text!r}.") from None
