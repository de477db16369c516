"""One run of `assay tune run`: a base is loaded, trained and saved, and scores the validation windows."""

import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from assay.cli.output import say
from assay.errors import InputError, UsageError
from assay.files.writing import remove_parts

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
    """Train what is not there yet, score it, and say how well it does.

    A run that shall be overwritten stays until the new one, which is made beside it, is complete.
    """
    from assay.files.replacing import recover, swap
    from assay.scoring.hf import longest_input
    from assay.scoring.loading import load_model, load_tokenizer
    from assay.scoring.specs import ModelSpec
    from assay.training.folder import OWNER

    base = ModelSpec(task.base)
    tokenizer, model = load_tokenizer(base), load_model(base)
    if task.context > (longest := longest_input(model)):
        raise UsageError(f"context must be at most the model's {longest} tokens, but got {task.context}.")
    about = _about(task, tokenizer, sweep=sweep)
    recover(folder, OWNER)
    place = _place(folder, settings, about, overwrite=overwrite)
    said = _trained(task, settings, place, model, tokenizer, about)
    if place != folder:
        swap(folder, OWNER)
    say(f"{said} → {folder}")


def _place(folder: Path, settings: "Settings", about: Mapping[str, Any], *, overwrite: bool) -> Path:
    """Where to train: in the folder, or beside it if something is there that will be replaced."""
    from assay.data.training.events import MANIFEST
    from assay.files.replacing import check_begun, check_replaceable, discard, replacement
    from assay.training.folder import OWNER

    remove_parts(folder / MANIFEST)
    if not overwrite or not folder.exists() or not any(folder.iterdir()):
        if (folder / MANIFEST).is_file():
            _check_same(folder, settings, about)
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
    task: Task, settings: "Settings", folder: Path, model: Any, tokenizer: Any, about: Mapping[str, Any]
) -> str:
    from assay.data.training import read_run
    from assay.training.fitting import remove_checkpoints
    from assay.training.folder import TRAINED, remove_scratch

    remove_scratch(folder)
    if not _finished(folder):
        _fit(task, settings, folder, model, tokenizer, about)
    remove_checkpoints(folder)
    if settings.method == "full":
        _save_tokenizer(task.base, tokenizer, folder / TRAINED)
    scored = _scored(task, settings, folder)
    return f"{read_run(folder, None).arm}, seed {settings.seed}, rate {settings.learning_rate:g}: {scored}"


def _finished(folder: Path) -> bool:
    """Whether a run was trained to its end and saved."""
    from assay.data.training.events import EVENTS, MANIFEST
    from assay.training.folder import TRAINED

    there = all((folder / name).exists() for name in (MANIFEST, EVENTS, TRAINED))
    return there and (folder / EVENTS).read_bytes().rstrip().rpartition(b"\n")[2].startswith(b'{"kind": "end"')


def _check_same(folder: Path, settings: "Settings", about: Mapping[str, Any]) -> None:
    """A run that is there must be the one that was asked for, also if there is nothing left to do."""
    changed = _differences(folder, settings, about)
    if changed:
        raise InputError(
            f"{folder}: holds another training run ({', '.join(changed)} differ); "
            "name another folder, or --overwrite it."
        )


def _differences(folder: Path, settings: "Settings", about: Mapping[str, Any]) -> list[str]:
    from assay.data.training.events import read_manifest

    found, wanted = read_manifest(folder), {**about, **asdict(settings)}
    known = found | found.get("settings", {})
    return sorted(name for name, value in wanted.items() if known.get(name) != value)


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
        suite=_suite(task, settings, tokenizer, folder),
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


def _suite(task: Task, settings: "Settings", tokenizer: Any, folder: Path) -> Callable[[Any], Mapping[str, float]]:
    """Character accuracy, overall and by script, of the model as it is: saved, and read back by the scorer."""
    from assay.training.folder import scratch

    def measure(model: Any) -> dict[str, float]:
        with scratch(folder) as place:
            model.save_pretrained(place / "model")
            if settings.method == "full":
                _save_tokenizer(task.base, tokenizer, place / "model")
            return _accuracies(task, settings, place / "model", _written(task, place))

    return measure


def _spec(task: Task, settings: "Settings", trained: Path) -> Any:
    from assay.scoring.specs import ModelSpec

    return ModelSpec(task.base, adapter=str(trained)) if settings.method == "lora" else ModelSpec(str(trained))


def _accuracies(task: Task, settings: "Settings", trained: Path, text: Path) -> dict[str, float]:
    from assay.scoring.characters import characters
    from assay.scoring.run import Plan

    (counts,) = characters(
        {"model": _spec(task, settings, trained)}, [text], plan=Plan(context=task.context, cut=CUT), field="text"
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
    from assay.data.training import WINDOWS
    from assay.scoring import score
    from assay.scoring.run import Plan
    from assay.training.folder import TRAINED, scratch

    with scratch(folder) as place:
        score(
            {settings.arm: _spec(task, settings, folder / TRAINED)},
            [_written(task, place)],
            folder / WINDOWS,
            plan=Plan(context=task.context, cut=CUT),
            field="text",
        )
    table = read_table(folder / WINDOWS)
    tokens = table.numbers["tokens"]
    loss = float((table.numbers["loss"] * tokens).sum() / tokens.sum())
    return f"validation loss {loss:.4f} nats per token ({len(table):,} windows)"
