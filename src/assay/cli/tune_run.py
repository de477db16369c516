"""`assay tune run`: train for real, record it, and score the validation windows with what was learned."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from assay.cli import options
from assay.cli.tune_task import Task, trained
from assay.errors import UsageError

if TYPE_CHECKING:
    from assay.scoring.texts import Document
    from assay.training.fitting import Settings
    from assay.training.recorder import Schedule

_TEXT = "Text"
_TRAINING = "Training"
_LORA = "LoRA"
_RECORD = "What is recorded, every so many steps (0: never)"


def run(
    base: Annotated[str, typer.Option(metavar="MODEL", help="The model to adapt: a folder or hub name.")],
    train: Annotated[list[Path], typer.Option(metavar="TEXT", help="What to learn from; may be repeated.")],
    valid: Annotated[list[Path], typer.Option(metavar="TEXT", help="Held-out text; may be repeated.")],
    output: options.RunFolder,
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
    context: Annotated[int, typer.Option(metavar="N", help="Tokens in a row.", rich_help_panel=_TEXT)] = 512,
    field: options.Field = None,
    split_on: Annotated[
        str | None,
        typer.Option(
            metavar="TEXT", help="Where a text is cut into documents; '\\n' is a new line.", rich_help_panel=_TEXT
        ),
    ] = None,
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
    settings_of, schedule_of = _late()
    settings = settings_of(
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
    schedule = schedule_of(step=every_step, validation=every_validation, memory=every_memory, quality=every_quality)
    rates = _rates(lrs)
    task = Task(base, _documents(train, field, split_on), _documents(valid, field, split_on), context, schedule)
    if not rates:
        trained(task, settings, output, overwrite=overwrite, sweep=False)
    for rate in rates:
        chosen = replace(settings, learning_rate=rate)
        trained(task, chosen, output / f"lr-{rate:g}", overwrite=overwrite, sweep=True)


def _late() -> "tuple[type[Settings], type[Schedule]]":
    from assay.training.fitting import Settings
    from assay.training.recorder import Schedule

    return Settings, Schedule


def _rates(text: str | None) -> list[float]:
    if text is None:
        return []
    try:
        return sorted({float(part) for part in text.split(",")})
    except ValueError:
        raise UsageError(f"--lrs must be numbers with commas between them, but got {text!r}.") from None


def _documents(paths: Sequence[Path], field: str | None, split_on: str | None) -> "list[Document]":
    from assay.scoring.texts import read_documents

    cut = None if split_on is None else split_on.replace("\\n", "\n").replace("\\t", "\t")
    return read_documents(paths, field=field, split_on=cut)
