"""`tune_run`: train a base model, record every step, save the result, and score the validation windows with it."""

import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from os import PathLike, fspath
from pathlib import Path
from typing import Any, Literal

from assay.data import read_table
from assay.data.generations import Prompts, TableSource, read_prompts
from assay.data.training.run_folder import AT_START, EVENTS, GENERATIONS, MANIFEST, WINDOWS, read_manifest, read_run
from assay.data.writing_systems import is_japanese
from assay.engines import LOCAL, Engine
from assay.errors import UsageError
from assay.files.places import check_begun, check_replaceable, discard, recover, replacement, swap
from assay.files.stores.addresses import address_of, is_copy
from assay.files.writing import remove_parts
from assay.names import with_addresses
from assay.scoring import score
from assay.scoring.characters import characters
from assay.scoring.checkpoint import definition_digest
from assay.scoring.decoding import Decoding, encoded_prompts
from assay.scoring.generation import generate_answers
from assay.scoring.loading import load_model, load_tokenizer, tokenized
from assay.scoring.models_and_texts import Document, ModelSpec, Text, read_documents, texts_digest
from assay.scoring.windows import Layout, Plan, windows_of
from assay.training.fitting import Settings, batches_of_rows, fit, remove_checkpoints
from assay.training.recorder import IN_A_STORE, OWNER, TRAINED, Schedule, refuse_another, remove_scratch, scratch

#: The validation is rows as the Trainer sees them, each beginning anew, so that the loss recorded along the way and the
#: loss of the scored windows are of the same tokens.
CUT: Literal["fresh"] = "fresh"


def _nothing() -> None:
    """On a disk everything is kept already."""


@dataclass(frozen=True, slots=True)
class TrainedRun:
    """A complete training run; `assay.tune` accepts it like its folder."""

    folder: Path
    arm: str
    seed: int
    learning_rate: float
    validation_loss: float  # nats per token, over the windows
    windows: int

    def __fspath__(self) -> str:
        return str(self.folder)

    @property
    def generations(self) -> Path | None:
        """What the trained model answered, if it was asked."""
        file = self.folder / GENERATIONS
        return file if file.is_file() else None

    def __str__(self) -> str:
        loss = f"validation loss {self.validation_loss:.4f} nats per token ({self.windows:,} windows)"
        return f"{self.arm}, seed {self.seed}, rate {self.learning_rate:g}: {loss} → {with_addresses(str(self.folder))}"


@dataclass(frozen=True)
class _Task:
    """What runs at different learning rates share."""

    base: str
    train: Sequence[Document]
    valid: Sequence[Document]
    context: int
    schedule: Schedule
    prompts: Prompts | None
    decoding: Decoding
    keep: Callable[[], None] = _nothing  # called when the run is whole enough for another machine to go on with it


@dataclass(frozen=True)
class _Trials:
    """Runs of a sweep as work for an engine: a block is a folder, or an address, and the settings to train with."""

    task: _Task
    overwrite: bool
    sweep: bool

    def prepare(self) -> Callable[[tuple[str, Settings]], TrainedRun]:
        return self._run

    def _run(self, trial: tuple[str, Settings]) -> TrainedRun:
        where, settings = trial
        address = address_of(where)
        if address is None:
            return self._complete(settings, Path(where))
        from assay.files.stores.mirrors import mirrored  # late: few runs are in a store

        with mirrored(address, IN_A_STORE) as (folder, keep):
            return self._complete(settings, folder, keep)

    def _complete(self, settings: Settings, folder: Path, keep: Callable[[], None] | None = None) -> TrainedRun:
        task = self.task if keep is None else replace(self.task, keep=keep)
        return _complete(task, settings, folder, overwrite=self.overwrite, sweep=self.sweep)


def tune_run(
    base: str | PathLike[str],
    output: str | PathLike[str],
    *,
    train: Text | Sequence[Text],
    valid: Text | Sequence[Text],
    settings: Settings | None = None,
    learning_rates: Sequence[float] | None = None,
    context: int = 512,
    schedule: Schedule | None = None,
    field: str | None = None,
    split_on: str | None = None,
    generate: TableSource | None = None,
    decoding: Decoding | None = None,
    overwrite: bool = False,
    engine: Engine = LOCAL,
    on_run: Callable[[TrainedRun], None] | None = None,
) -> list[TrainedRun]:
    """Train a base model with LoRA or in full, record every step, and score the validation text with the result.

    Called again with the same arguments after a kill, it resumes from the last checkpoint. With ``learning_rates`` it
    trains once at each, from the same start on the same data, into ``output/lr-RATE``. ``generate`` is a table of
    prompts and references, which the trained model answers at the end, as ``decoding`` says. ``engine`` says where the
    runs of a sweep are trained; all workers must see ``output``, on a disk or in a store. ``on_run`` is called with
    every run when it is complete. `assay.tune` compares runs.

    >>> import tempfile
    >>> import assay
    >>> from assay.models import path
    >>> from assay.training import Settings
    >>> story = [assay.Document(f"story {i}", f"Once there were {i} models. " * 9) for i in range(4)]
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     (run,) = assay.tune_run(
    ...         path("base"), folder, train=story[:3], valid=story[3:], context=32, settings=Settings(steps=2, rank=2)
    ...     )
    ...     report = assay.tune(run)
    >>> run.arm, report.arms[0].runs[0].last_step
    ('lora r=2', 2)
    >>> since_the_base = report.adapted[0]  # the untrained base on the same windows
    >>> since_the_base.windows.n_pairs == run.windows
    True
    """
    settings, place = settings or Settings(), Path(output)
    if not engine.here and is_copy(place) and str(address_of(str(place))).startswith("memory:"):
        raise UsageError(f"{place}: a store in memory is of one process; leave out `workers` and `engine`.")
    rates = None if learning_rates is None else [replace(settings, learning_rate=rate) for rate in learning_rates]
    if rates == []:
        raise UsageError("learning_rates needs at least one rate; leave it out to train at that of the settings.")
    task = _Task(
        fspath(base),
        read_documents(train, field=field, split_on=split_on),
        read_documents(valid, field=field, split_on=split_on),
        context,
        schedule or Schedule(),
        None if generate is None else read_prompts(generate, references=True),
        decoding or Decoding(),
    )
    wanted = {place: settings} if rates is None else {place / f"lr-{one.learning_rate:g}": one for one in rates}
    runs = []
    with engine.started(_Trials(task, overwrite, sweep=rates is not None)) as workers:
        trials = [(_where(folder), chosen) for folder, chosen in wanted.items()]
        for folder, found in zip(wanted, workers.run(trials), strict=True):
            runs.append(replace(found, folder=folder))
            if on_run is not None:
                on_run(runs[-1])
    return runs


def _where(folder: Path) -> str:
    """A folder for a worker, which may stand elsewhere: its whole path, or its address in a store."""
    return str(address_of(str(folder)) if is_copy(folder) else folder.absolute())


def _complete(task: _Task, settings: Settings, folder: Path, *, overwrite: bool, sweep: bool) -> TrainedRun:
    """Train what is missing, and score it.

    A run to be overwritten is kept until the new one, which is made beside it, is complete.
    """
    from assay.scoring.hf import longest_input  # late: torch

    base = ModelSpec(task.base)
    tokenizer, model = load_tokenizer(base), load_model(base)
    if task.context > (longest := longest_input(model)):
        raise UsageError(f"context must be at most the model's {longest} tokens, but got {task.context}.")
    if task.prompts is not None:  # now, not after hours of training
        encoded_prompts(tokenizer, task.prompts.items, task.prompts.texts, task.decoding, longest)
    about = _about(task, tokenizer, sweep=sweep)
    recover(folder, OWNER)
    place = _place(folder, settings, about, overwrite=overwrite)
    found = _trained(task, settings, place, model, tokenizer, about)
    if place != folder:
        swap(folder, OWNER)
    return replace(found, folder=folder)


def _place(folder: Path, settings: Settings, about: Mapping[str, Any], *, overwrite: bool) -> Path:
    """Where to train: in the folder, or beside it if it holds a run that will be replaced."""
    remove_parts(folder / MANIFEST)
    if not overwrite or not folder.exists() or not any(folder.iterdir()):
        if (folder / MANIFEST).is_file():
            refuse_another(folder, _differences(folder, settings, about))  # also if there is nothing left to do
        else:
            check_begun(folder, OWNER)
        return folder
    check_replaceable(folder, OWNER)
    beside = replacement(folder)
    if (beside / MANIFEST).is_file() and not _differences(beside, settings, about):
        return beside
    discard(beside, OWNER)
    return beside


def _trained(
    task: _Task, settings: Settings, folder: Path, model: Any, tokenizer: Any, about: Mapping[str, Any]
) -> TrainedRun:
    remove_scratch(folder)
    if not _finished(folder):
        _fit(task, settings, folder, model, tokenizer, about)
    else:
        _score_base(task, folder, about)
    remove_checkpoints(folder)
    if settings.method == "full":
        _save_tokenizer(task.base, tokenizer, folder / TRAINED)
    task.keep()
    loss, windows = _scored(task, settings, folder)
    if task.prompts is not None:
        trained = {settings.arm: _spec(task, settings, folder / TRAINED)}
        generate_answers(trained, task.prompts, folder / GENERATIONS, decoding=task.decoding)
    return TrainedRun(folder, read_run(folder, None).arm, settings.seed, settings.learning_rate, loss, windows)


def _finished(folder: Path) -> bool:
    """Whether a run was trained to the end and saved."""
    there = all((folder / name).exists() for name in (MANIFEST, EVENTS, TRAINED))
    return there and (folder / EVENTS).read_bytes().rstrip().rpartition(b"\n")[2].startswith(b'{"kind": "end"')


def _differences(folder: Path, settings: Settings, about: Mapping[str, Any]) -> list[str]:
    found, wanted = read_manifest(folder), {**about, **asdict(settings)}
    known = found | found.get("settings", {})
    return sorted(name for name, value in wanted.items() if known.get(name) != value)


def _about(task: _Task, tokenizer: Any, *, sweep: bool) -> dict[str, Any]:
    return {
        "base": Path(task.base).name,
        "tokenizer": definition_digest(tokenizer),
        "validation": texts_digest(list(task.valid)) + f"/{task.context}",
        "training": texts_digest(list(task.train)),
        "context": task.context,
        "sweep": sweep,
    }


def _fit(task: _Task, settings: Settings, folder: Path, model: Any, tokenizer: Any, about: Mapping[str, Any]) -> None:
    ids = _tokens(tokenizer, task.valid)
    windows = windows_of([len(part) for part in ids], Layout(task.context, cut=CUT))
    rows = [ids[w.document][w.start : w.stop] for w in windows]
    fit(
        model,
        _packed(tokenizer, task.train, task.context),
        folder,
        settings=settings,
        validation=batches_of_rows(rows),
        suite=_suite(task, settings, tokenizer, folder),
        schedule=task.schedule,
        about=about,
        before=lambda: _score_base(task, folder, about),
        keep=task.keep,
    )


def _tokens(tokenizer: Any, documents: Sequence[Document]) -> list[list[int]]:
    return [ids.tolist() for ids, _ in tokenized(tokenizer, [document.text for document in documents])]


def _packed(tokenizer: Any, documents: Sequence[Document], context: int) -> list[list[int]]:
    """Concatenate documents, separated by the end token, and cut them into full rows."""
    end = [] if tokenizer.eos_token_id is None else [tokenizer.eos_token_id]
    stream = [token for ids in _tokens(tokenizer, documents) for token in (*ids, *end)]
    full = [stream[low : low + context] for low in range(0, len(stream) - context + 1, context)]
    return full or [stream]


def _save_tokenizer(base: str, tokenizer: Any, folder: Path) -> None:
    """Copy the base's tokenizer files, so that both have the same digest."""
    names = ("tokenizer.json", "tokenizer.model", "vocab.json", "merges.txt", "vocab.txt", "tokenizer_config.json")
    found = [Path(base) / name for name in names if (Path(base) / name).is_file()]
    if not found:
        tokenizer.save_pretrained(folder)
    for file in found:
        shutil.copyfile(file, folder / file.name)


def _suite(task: _Task, settings: Settings, tokenizer: Any, folder: Path) -> Callable[[Any], Mapping[str, float]]:
    """Measure character accuracy, of Japanese text also by script, of a temporary copy of the model."""

    def measure(model: Any) -> dict[str, float]:
        with scratch(folder) as place:
            model.save_pretrained(place / "model")
            if settings.method == "full":
                _save_tokenizer(task.base, tokenizer, place / "model")
            return _accuracies(task, settings, place / "model")

    return measure


def _spec(task: _Task, settings: Settings, trained: Path) -> ModelSpec:
    return ModelSpec(task.base, adapter=str(trained)) if settings.method == "lora" else ModelSpec(str(trained))


def _accuracies(task: _Task, settings: Settings, trained: Path) -> dict[str, float]:
    plan = Plan(context=task.context, cut=CUT)
    (counts,) = characters({"model": _spec(task, settings, trained)}, _validation(task), plan=plan)
    seen, right = counts.characters.sum(axis=0), counts.right.sum(axis=0)
    overall = {"character_accuracy": float(right.sum() / seen.sum())}
    if not is_japanese(dict(zip(counts.scripts, seen.tolist(), strict=True))):
        return overall
    return overall | {name: float(r / n) for name, n, r in zip(counts.scripts, seen, right, strict=True) if n > 0}


def _validation(task: _Task) -> list[Document]:
    """The validation documents under numbered names, so that windows pair wherever the files were."""
    return [Document(f"valid.jsonl#{number}", one.text) for number, one in enumerate(task.valid, start=1)]


def _score_base(task: _Task, folder: Path, about: Mapping[str, Any]) -> None:
    """Score the windows with the untrained base, which every arm is compared with; a sweep is not."""
    if not about["sweep"]:
        _score(task, "base", ModelSpec(task.base), folder / AT_START)


def _score(task: _Task, name: str, model: ModelSpec, output: Path) -> None:
    score({name: model}, _validation(task), output, plan=Plan(context=task.context, cut=CUT))


def _scored(task: _Task, settings: Settings, folder: Path) -> tuple[float, int]:
    """Score the validation windows, which arms are compared on, into the run; return their loss and number."""
    _score(task, settings.arm, _spec(task, settings, folder / TRAINED), folder / WINDOWS)
    table = read_table(folder / WINDOWS)
    tokens = table.numbers["tokens"]
    return float((table.numbers["loss"] * tokens).sum() / tokens.sum()), len(table)
