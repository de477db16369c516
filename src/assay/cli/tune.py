"""`assay tune RUN…` and `assay tune run`."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from assay.cli import options, output
from assay.cli.dry_run import AS_USUAL, BeforeStart, tune_size
from assay.cli.option_groups import with_groups
from assay.cli.plain_flags import PlainFlags, PlainGroup
from assay.cli.shown import Outputs
from assay.cli.workers import HERE, OnWorkers
from assay.design import Design

_TRAINING = "Training"
_LORA = "LoRA"
_RECORD = "What is recorded, every so many steps (0: never)"
_REPORT = "report"


class _ReportUnlessNamed(PlainGroup):
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


@tune.command(_REPORT, cls=PlainFlags)
@with_groups
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
        options.option("What the others are compared with. (default: the one that trains everything)", value="ARM"),
    ] = None,
    targets: Annotated[
        str | None,
        options.option(
            "What to judge by: japanese, or a JSON or TOML file of limits (assay schema targets). (default: nothing)",
            value="japanese|FILE",
        ),
    ] = None,
    validation: Annotated[
        str | None,
        options.option("The validation set that decides, where logs have several: eval_NAME_loss.", value="NAME"),
    ] = None,
    language_model: Annotated[
        bool,
        options.option("The losses are a language model's: perplexities and grades, too.", "--language-model"),
    ] = False,
    items: Annotated[
        int | None,
        options.option("Items of the test set that accuracies are of, where logs do not say.", value="N"),
    ] = None,
    method: options.IntervalMethod = options.DESIGN.method,
    level: options.Level = options.DESIGN.level,
    seed: options.Seed = options.DESIGN.seed,
    *,
    out: Outputs,
) -> None:
    """What did the runs cost, did they converge, and is one really better?

    Runs of one arm are its seeds. Parameters, memory, time, convergence, gradients, gains, significance on the same
    validation windows and against the untrained base, what follows from them and, if asked, targets.

    Example: assay tune lora=runs/lora full=runs/full --baseline full
    """
    from assay.analyses.tune import tune as analyse  # late: --help and errors of usage need none of it

    out.check(map(Path, runs))
    design = Design(method=method, level=level, seed=seed)
    result = analyse(
        *runs,
        baseline=baseline,
        targets=targets,
        design=design,
        validation=validation,
        language_model=language_model,
        items=items,
        full=out.full,
    )

    def draw(path: Path) -> None:
        from assay.report.charts import write_figures  # late: only if a chart is asked for

        write_figures(result.figures, path, "Training runs")

    out.show(result, draw=draw)


@tune.command("run", cls=PlainFlags)
@with_groups
def run(
    base: Annotated[str, options.option("The model to adapt: a folder or hub name.", value="MODEL")],
    train: Annotated[list[Path], options.option("What to learn from; may be repeated.", value="TEXT")],
    valid: Annotated[list[Path], options.option("Held-out text; may be repeated.", value="TEXT")],
    output_folder: options.RunFolder,
    method: Annotated[Literal["lora", "full"], options.option("An adapter, or every weight.")] = "lora",
    rank: Annotated[int, options.option("Rank of LoRA.", panel=_LORA)] = 16,
    alpha: Annotated[
        int | None, options.option("Scaling of LoRA: alpha / rank. (default: twice the rank)", panel=_LORA)
    ] = None,
    dropout: Annotated[float, options.option("Dropout before LoRA.", panel=_LORA)] = 0.0,
    modules: Annotated[
        str,
        options.option(
            "The linear layers that get LoRA, such as q_proj,v_proj; all-linear: every one but the head.",
            panel=_LORA,
            value="NAME,NAME,…",
        ),
    ] = "all-linear",
    train_embeddings: Annotated[
        bool,
        options.option(
            "Train the embeddings, too, whole: for a language that the base hardly knows. Tied ones stay tied.",
            "--train-embeddings",
            panel=_LORA,
        ),
    ] = False,
    lr: Annotated[float, options.option("Learning rate.", panel=_TRAINING)] = 2e-4,
    lrs: Annotated[
        Sequence[float] | None,
        options.option(
            "Train once at each rate, from the same start on the same data: RUN/lr-R.",
            panel=_TRAINING,
            value="R,R,…",
            parser=options.numbers_in,
        ),
    ] = None,
    steps: Annotated[int, options.option("Steps.", panel=_TRAINING)] = 1000,
    rows: Annotated[int, options.option("Rows of text in a step.", panel=_TRAINING)] = 8,
    seed: Annotated[int, options.option("Seed of the adapter and of the order.", panel=_TRAINING)] = 0,
    checkpoint: Annotated[int, options.option("Steps between checkpoints; 0: none.", panel=_TRAINING, value="N")] = 500,
    context: Annotated[int, options.option("Tokens in a row.", panel=options.TEXT, value="N")] = 512,
    field: options.Field = None,
    split_on: options.SplitOn = None,
    every_step: Annotated[int, options.option("Loss, rate, gradient norm.", panel=_RECORD, value="N")] = 1,
    every_validation: Annotated[int, options.option("Validation loss.", panel=_RECORD, value="N")] = 100,
    every_memory: Annotated[int, options.option("Memory.", panel=_RECORD, value="N")] = 100,
    every_quality: Annotated[int, options.option("Perplexity, character accuracy.", panel=_RECORD, value="N")] = 500,
    generate: Annotated[
        Path | None,
        options.option(
            "A table of prompt and reference, which the trained model answers at the end.",
            panel=options.PROMPTS,
            value="PROMPTS",
        ),
    ] = None,
    temperature: options.Temperature = 0.0,
    max_tokens: options.MaxTokens = 256,
    stop: options.Stop = None,
    overwrite: options.Overwrite = False,
    where: OnWorkers = HERE,
    before: BeforeStart = AS_USUAL,
) -> None:
    """Train with LoRA or in full, record every step, and score the validation text with the result.

    Killed and started again with the same arguments, it goes on from its last checkpoint. `assay tune` compares runs.
    """
    from assay.scoring.decoding import Decoding  # late: --help and errors of usage need none of it
    from assay.training.fitting import Settings
    from assay.training.recorder import Schedule
    from assay.training.run import tune_run

    arms = 1 if lrs is None else len(lrs)
    if not before.goes_on(lambda: tune_size(base, arms, steps, rows, context), train):
        return
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
        learning_rates=lrs,
        context=context,
        schedule=Schedule(step=every_step, validation=every_validation, memory=every_memory, quality=every_quality),
        field=field,
        split_on=split_on,
        generate=generate,
        decoding=Decoding(temperature=temperature, seed=seed, max_tokens=max_tokens, stop=tuple(stop or ())),
        overwrite=overwrite,
        engine=where.chosen(),
        on_run=lambda found: output.say(str(found)),
    )
