"""`assay tune run`: train for real, record it, and score the validation windows with what was learned."""

import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from assay.errors import InputError, UsageError

if TYPE_CHECKING:
    from assay.scoring.texts import Document
    from assay.training.fitting import Settings
    from assay.training.recorder import Schedule

_TEXT = "Text"
_TRAINING = "Training"
_RECORD = "What is recorded, every so many steps (0: never)"


def run(
    base: Annotated[str, typer.Option(metavar="MODEL", help="The model to adapt: a folder or hub name.")],
    train: Annotated[list[Path], typer.Option(metavar="TEXT", help="What to learn from; may be repeated.")],
    valid: Annotated[list[Path], typer.Option(metavar="TEXT", help="Held-out text; may be repeated.")],
    output: Annotated[Path, typer.Option("-o", "--output", metavar="RUN", help="The folder of the run.")],
    method: Annotated[Literal["lora", "full"], typer.Option(help="An adapter, or every weight.")] = "lora",
    rank: Annotated[int, typer.Option(help="Rank of LoRA.", rich_help_panel=_TRAINING)] = 16,
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
    field: Annotated[
        str | None, typer.Option(metavar="COLUMN", help="The text column of tables.", rich_help_panel=_TEXT)
    ] = None,
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
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace the run that is there.")] = False,
) -> None:
    """Train with LoRA or in full, record every step, and score the validation text with the result.

    Killed and started again with the same arguments, it goes on from its last checkpoint. `assay tune` compares runs.
    """
    settings_of, schedule_of = _late()
    settings = settings_of(
        method=method, rank=rank, learning_rate=lr, steps=steps, rows=rows, seed=seed, checkpoint=checkpoint
    )
    schedule = schedule_of(step=every_step, validation=every_validation, memory=every_memory, quality=every_quality)
    rates = _rates(lrs)
    task = _Task(base, _documents(train, field, split_on), _documents(valid, field, split_on), context, schedule)
    if not rates:
        _trained(task, settings, output, overwrite=overwrite, sweep=False)
    for rate in rates:
        chosen = replace(settings, learning_rate=rate)
        _trained(task, chosen, output / f"lr-{rate:g}", overwrite=overwrite, sweep=True)


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


@dataclass(frozen=True)
class _Task:
    """What every run of a command shares."""

    base: str
    train: "Sequence[Document]"
    valid: "Sequence[Document]"
    context: int
    schedule: "Schedule"


def _trained(task: _Task, settings: "Settings", folder: Path, *, overwrite: bool, sweep: bool) -> None:
    from assay.data.training_logs import MANIFEST, WINDOWS, read_run
    from assay.training.fitting import TRAINED

    if overwrite and folder.exists():
        if not (folder / MANIFEST).is_file():
            raise InputError(f"{folder}: not a training run, and only a run is overwritten; name another folder.")
        shutil.rmtree(folder)
    try:
        from transformers import AutoModelForCausalLM, AutoTokenizer
        from transformers.utils import logging
    except ImportError as error:
        raise UsageError(
            f"training needs the extra hf ({error.name} is missing): pip install 'assay-eval[hf]'."
        ) from error
    logging.set_verbosity_error()  # type: ignore[no-untyped-call]
    logging.disable_progress_bar()  # type: ignore[no-untyped-call]
    try:
        tokenizer = AutoTokenizer.from_pretrained(task.base)
        model = AutoModelForCausalLM.from_pretrained(task.base, use_safetensors=True)
    except (OSError, ValueError) as error:
        said = str(error).splitlines()[0].rstrip(".")
        raise InputError(f"{task.base}: the model cannot be loaded ({said}); name a folder or a hub model.") from error
    about = _about(task, tokenizer, sweep=sweep)
    if (folder / MANIFEST).is_file():
        _check_same(folder, settings, about)
    if not _finished(folder):
        _fit(task, settings, folder, model, tokenizer, about)
    if settings.method == "full":
        _save_tokenizer(task.base, tokenizer, folder / TRAINED)
    scored = _scored(task, settings, folder)
    log = read_run(folder, None)
    typer.echo(f"{log.arm}, seed {settings.seed}, rate {settings.learning_rate:g}: {scored} → {folder}")
    assert (folder / WINDOWS).is_dir()


def _finished(folder: Path) -> bool:
    """Whether a run was trained to its end and saved."""
    from assay.data.training_logs import EVENTS, MANIFEST
    from assay.training.fitting import TRAINED

    there = all((folder / name).exists() for name in (MANIFEST, EVENTS, TRAINED))
    return there and (folder / EVENTS).read_bytes().rstrip().rpartition(b"\n")[2].startswith(b'{"kind": "end"')


def _check_same(folder: Path, settings: "Settings", about: Mapping[str, Any]) -> None:
    """A run that is there must be the one that was asked for, also if there is nothing left to do."""
    from assay.data.training_logs import read_manifest

    found, wanted = read_manifest(folder), {**about, **asdict(settings)}
    known = found | found.get("settings", {})
    changed = sorted(name for name, value in wanted.items() if known.get(name) != value)
    if changed:
        raise InputError(
            f"{folder}: holds another training run ({', '.join(changed)} differ); "
            "name another folder, or --overwrite it."
        )


def _about(task: _Task, tokenizer: Any, *, sweep: bool) -> dict[str, Any]:
    from assay.scoring.texts import texts_digest

    return {
        "base": Path(task.base).name,
        "tokenizer": _tokenizer_digest(tokenizer),
        "validation": texts_digest(list(task.valid)) + f"/{task.context}",
        "training": texts_digest(list(task.train)),
        "context": task.context,
        "sweep": sweep,
    }


def _fit(task: _Task, settings: "Settings", folder: Path, model: Any, tokenizer: Any, about: Mapping[str, Any]) -> None:
    from assay.scoring.windows import Layout, windows_of
    from assay.training.fitting import batches_of_rows, fit

    ids = _tokens(tokenizer, task.valid)
    windows = windows_of([len(part) for part in ids], Layout(task.context))
    rows = [ids[w.document][w.start : w.stop] for w in windows]
    fit(
        model,
        _packed(tokenizer, task.train, task.context),
        folder,
        settings=settings,
        validation=batches_of_rows(rows),
        suite=_suite(task, settings, tokenizer),
        schedule=task.schedule,
        about=about,
    )


def _tokens(tokenizer: Any, documents: "Sequence[Document]") -> list[list[int]]:
    from assay.scoring.tokens import tokenized

    return [ids.tolist() for ids, _ in tokenized(tokenizer, [document.text for document in documents])]


def _packed(tokenizer: Any, documents: "Sequence[Document]", context: int) -> list[list[int]]:
    """Documents one after the other, with the end token between them, in full rows."""
    end = [] if tokenizer.eos_token_id is None else [tokenizer.eos_token_id]
    stream = [token for ids in _tokens(tokenizer, documents) for token in (*ids, *end)]
    full = [stream[low : low + context] for low in range(0, len(stream) - context + 1, context)]
    return full or [stream]


def _tokenizer_digest(tokenizer: Any) -> str:
    from hashlib import sha256

    return "sha256:" + sha256(tokenizer.backend_tokenizer.to_str().encode()).hexdigest()


def _save_tokenizer(base: str, tokenizer: Any, folder: Path) -> None:
    """The files of the base, so that it is seen to be the same tokenizer."""
    names = ("tokenizer.json", "tokenizer.model", "vocab.json", "merges.txt", "vocab.txt", "tokenizer_config.json")
    found = [Path(base) / name for name in names if (Path(base) / name).is_file()]
    if not found:
        tokenizer.save_pretrained(folder)
    for file in found:
        shutil.copyfile(file, folder / file.name)


def _suite(task: _Task, settings: "Settings", tokenizer: Any) -> Callable[[Any], Mapping[str, float]]:
    """Character accuracy, overall and by script, of the model as it is: saved, and read back by the scorer."""

    def measure(model: Any) -> dict[str, float]:
        with TemporaryDirectory() as name:
            folder = Path(name)
            model.save_pretrained(folder)
            if settings.method == "full":
                _save_tokenizer(task.base, tokenizer, folder)
            return _accuracies(task, settings, folder)

    return measure


def _spec(task: _Task, settings: "Settings", trained: Path) -> Any:
    from assay.scoring.specs import ModelSpec

    return ModelSpec(task.base, adapter=str(trained)) if settings.method == "lora" else ModelSpec(str(trained))


def _accuracies(task: _Task, settings: "Settings", trained: Path) -> dict[str, float]:
    from assay.scoring.characters import characters
    from assay.scoring.score import Plan

    with TemporaryDirectory() as name:
        (counts,) = characters(
            {"model": _spec(task, settings, trained)},
            [_written(task, Path(name))],
            plan=Plan(context=task.context),
            field="text",
        )
    seen, right = counts.characters.sum(axis=0), counts.right.sum(axis=0)
    found = {name: float(r / n) for name, n, r in zip(counts.scripts, seen, right, strict=True) if n > 0}
    return {"character_accuracy": float(right.sum() / seen.sum()), **found}


def _written(task: _Task, folder: Path) -> Path:
    """The validation documents as one table: the scorer reads files."""
    import json

    path = folder / "valid.jsonl"
    lines = (json.dumps({"text": document.text}, ensure_ascii=False) for document in task.valid)
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def _scored(task: _Task, settings: "Settings", folder: Path) -> str:
    """The validation windows under the trained model, into the run: what arms are compared on."""
    from assay.data import read_table
    from assay.data.training_logs import WINDOWS
    from assay.scoring.score import Plan
    from assay.scoring.verb import score
    from assay.training.fitting import TRAINED

    with TemporaryDirectory() as name:
        score(
            {settings.arm: _spec(task, settings, folder / TRAINED)},
            [_written(task, Path(name))],
            folder / WINDOWS,
            plan=Plan(context=task.context),
            field="text",
        )
    table = read_table(folder / WINDOWS)
    tokens = table.numbers["tokens"]
    loss = float((table.numbers["loss"] * tokens).sum() / tokens.sum())
    return f"validation loss {loss:.4f} nats per token ({len(table):,} windows)"
