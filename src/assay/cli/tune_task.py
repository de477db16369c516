"""One run of `assay tune run`: a base is loaded, trained and saved, and scores the validation windows."""

import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Literal

from assay.cli.output import say
from assay.errors import InputError

if TYPE_CHECKING:
    from assay.scoring.texts import Document
    from assay.training.fitting import Settings
    from assay.training.recorder import Schedule


#: The validation is rows as the Trainer sees them, each beginning anew, so that the loss recorded along the way and the
#: loss of the scored windows are of the same tokens.
CUT: Literal["fresh"] = "fresh"


@dataclass(frozen=True)
class Task:
    """What every run of a command shares."""

    base: str
    train: "Sequence[Document]"
    valid: "Sequence[Document]"
    context: int
    schedule: "Schedule"


def trained(task: Task, settings: "Settings", folder: Path, *, overwrite: bool, sweep: bool) -> None:
    """Train what is not there yet, score it, and say how well it does."""
    from assay.data.training_events import MANIFEST
    from assay.data.training_logs import WINDOWS, read_run
    from assay.scoring.loading import load_model, load_tokenizer
    from assay.scoring.specs import ModelSpec
    from assay.training.fitting import TRAINED

    if overwrite and folder.exists():
        if not (folder / MANIFEST).is_file():
            raise InputError(f"{folder}: not a training run, and only a run is overwritten; name another folder.")
        shutil.rmtree(folder)
    base = ModelSpec(task.base)
    tokenizer, model = load_tokenizer(base), load_model(base)
    about = _about(task, tokenizer, sweep=sweep)
    if (folder / MANIFEST).is_file():
        _check_same(folder, settings, about)
    if not _finished(folder):
        _fit(task, settings, folder, model, tokenizer, about)
    if settings.method == "full":
        _save_tokenizer(task.base, tokenizer, folder / TRAINED)
    scored = _scored(task, settings, folder)
    log = read_run(folder, None)
    say(f"{log.arm}, seed {settings.seed}, rate {settings.learning_rate:g}: {scored} → {folder}")
    assert (folder / WINDOWS).is_dir()


def _finished(folder: Path) -> bool:
    """Whether a run was trained to its end and saved."""
    from assay.data.training_events import EVENTS, MANIFEST
    from assay.training.fitting import TRAINED

    there = all((folder / name).exists() for name in (MANIFEST, EVENTS, TRAINED))
    return there and (folder / EVENTS).read_bytes().rstrip().rpartition(b"\n")[2].startswith(b'{"kind": "end"')


def _check_same(folder: Path, settings: "Settings", about: Mapping[str, Any]) -> None:
    """A run that is there must be the one that was asked for, also if there is nothing left to do."""
    from assay.data.training_events import read_manifest

    found, wanted = read_manifest(folder), {**about, **asdict(settings)}
    known = found | found.get("settings", {})
    changed = sorted(name for name, value in wanted.items() if known.get(name) != value)
    if changed:
        raise InputError(
            f"{folder}: holds another training run ({', '.join(changed)} differ); "
            "name another folder, or --overwrite it."
        )


def _about(task: Task, tokenizer: Any, *, sweep: bool) -> dict[str, Any]:
    from assay.scoring.texts import texts_digest

    return {
        "base": Path(task.base).name,
        "tokenizer": _tokenizer_digest(tokenizer),
        "validation": texts_digest(list(task.valid)) + f"/{task.context}",
        "training": texts_digest(list(task.train)),
        "context": task.context,
        "sweep": sweep,
    }


def _fit(task: Task, settings: "Settings", folder: Path, model: Any, tokenizer: Any, about: Mapping[str, Any]) -> None:
    from assay.scoring.windows import Layout, windows_of
    from assay.training.fitting import batches_of_rows, fit

    ids = _tokens(tokenizer, task.valid)
    windows = windows_of([len(part) for part in ids], Layout(task.context, cut=CUT))
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


def _suite(task: Task, settings: "Settings", tokenizer: Any) -> Callable[[Any], Mapping[str, float]]:
    """Character accuracy, overall and by script, of the model as it is: saved, and read back by the scorer."""

    def measure(model: Any) -> dict[str, float]:
        with TemporaryDirectory() as name:
            folder = Path(name)
            model.save_pretrained(folder)
            if settings.method == "full":
                _save_tokenizer(task.base, tokenizer, folder)
            return _accuracies(task, settings, folder)

    return measure


def _spec(task: Task, settings: "Settings", trained: Path) -> Any:
    from assay.scoring.specs import ModelSpec

    return ModelSpec(task.base, adapter=str(trained)) if settings.method == "lora" else ModelSpec(str(trained))


def _accuracies(task: Task, settings: "Settings", trained: Path) -> dict[str, float]:
    from assay.scoring.characters import characters
    from assay.scoring.score import Plan

    with TemporaryDirectory() as name:
        (counts,) = characters(
            {"model": _spec(task, settings, trained)},
            [_written(task, Path(name))],
            plan=Plan(context=task.context, cut=CUT),
            field="text",
        )
    seen, right = counts.characters.sum(axis=0), counts.right.sum(axis=0)
    found = {name: float(r / n) for name, n, r in zip(counts.scripts, seen, right, strict=True) if n > 0}
    return {"character_accuracy": float(right.sum() / seen.sum()), **found}


def _written(task: Task, folder: Path) -> Path:
    """The validation documents as one table: the scorer reads files."""
    import json

    path = folder / "valid.jsonl"
    lines = (json.dumps({"text": document.text}, ensure_ascii=False) for document in task.valid)
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def _scored(task: Task, settings: "Settings", folder: Path) -> str:
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
            plan=Plan(context=task.context, cut=CUT),
            field="text",
        )
    table = read_table(folder / WINDOWS)
    tokens = table.numbers["tokens"]
    loss = float((table.numbers["loss"] * tokens).sum() / tokens.sum())
    return f"validation loss {loss:.4f} nats per token ({len(table):,} windows)"
