"""What is recorded of a training run: a folder with a manifest and events, which files are ours, validation losses."""

import json
import re
import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import sha256
from math import isfinite
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from assay.data.readers.database import copy_columns
from assay.data.runs import owned_files
from assay.data.training.run_folder import (
    AT_START,
    EVENTS,
    GENERATIONS,
    MANIFEST,
    SCHEMA,
    WINDOWS,
    read_events,
    read_manifest,
    rows_file,
    rows_files,
)
from assay.errors import InputError, UsageError, cannot_write
from assay.files.places import Owner, is_run
from assay.files.stores.mirrors import Mirrored
from assay.files.writing import make_folder, write_bytes, write_whole
from assay.scoring.generation_files import record_of, unfinished
from assay.stats.units import Floats, Integers

if TYPE_CHECKING:
    import torch

IGNORED = -100  # the label of what is not predicted
_CHUNK = 512  # positions whose logits become float32 at a time

CHECKPOINTS = "checkpoints"
TRAINED = "trained"  # the folder of the adapter or of the model
UNFINISHED = "trained.part"  # the same, while it is written
SCRATCH = ".scratch"

#: Folders whose whole content is ours, and gone at the end of a run.
_PASSING = frozenset({f"{CHECKPOINTS}/", f"{UNFINISHED}/", f"{SCRATCH}/"})
#: What transformers and peft save of a model, an adapter and a tokenizer.
_SAVED = re.compile(
    r"(adapter_|generation_|tokenizer_|preprocessor_)?config\.json|README\.md|chat_template\.\w+"
    r"|(adapter_)?model(-\d+-of-\d+)?\.safetensors(\.index\.json)?"
    r"|tokenizer\.(json|model)|vocab\.(json|txt)|merges\.txt|(special_tokens_map|added_tokens)\.json"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Schedule:
    """Number of steps between records of each kind (T12); 0 means never."""

    step: int = 1  # loss, learning rate, gradient norm
    validation: int = 100
    memory: int = 100
    quality: int = 500  # perplexity, character accuracy

    def __post_init__(self) -> None:
        for name in ("step", "validation", "memory", "quality"):
            if getattr(self, name) < (1 if name == "step" else 0):
                raise UsageError(f"the period of {name} must be positive, but got {getattr(self, name)}.")

    def due(self, what: str, step: int) -> bool:
        """Whether a kind of record is due at this step."""
        period: int = getattr(self, what)
        return period > 0 and step % period == 0


def refuse_another(folder: Path, changed: Sequence[str]) -> None:
    """Refuse a folder that holds another run."""
    if changed:
        raise InputError(
            f"{folder}: holds another training run ({', '.join(changed)} differ); "
            "name another folder, or replace it with `overwrite=True`."
        )


class Recorder:
    """Appends events, each a line written by one call, so that a kill leaves at most one line cut off."""

    def __init__(self, folder: Path, manifest: Mapping[str, Any]) -> None:
        self.folder = folder
        self._begin({"schema": SCHEMA, **manifest})
        path = folder / EVENTS
        self.resumed = path.exists() and path.stat().st_size > 0
        try:
            self._file = path.open("ab", buffering=0)
        except OSError as error:
            raise cannot_write(path, error, "name another folder") from error
        if self.resumed and path.read_bytes()[-1:] != b"\n":
            self._append(b"\n")

    def _begin(self, manifest: dict[str, Any]) -> None:
        path = self.folder / MANIFEST
        text = json.dumps(manifest, indent=2, sort_keys=True, ensure_ascii=False, allow_nan=False)
        if path.exists():
            found, wanted = read_manifest(self.folder), json.loads(text)
            changed = sorted(name for name in found | wanted if found.get(name) != wanted.get(name))
            refuse_another(self.folder, changed)
            return
        make_folder(self.folder)
        write_bytes(path, (text + "\n").encode())

    def resume(self, step: int) -> int:
        """Resume after this step; return the number of tokens trained on so far."""
        self.write("resume", step, {})
        events, _ = read_events(self.folder / EVENTS)
        return max((event.get("tokens", 0) for event in events if event["kind"] == "step"), default=0)

    def write(self, kind: str, step: int, values: Mapping[str, Any]) -> None:
        event = {"kind": kind, "step": step, **{name: _plain(value) for name, value in values.items()}}
        self._append(json.dumps(event, ensure_ascii=False, allow_nan=False).encode() + b"\n")

    def _append(self, line: bytes) -> None:
        try:
            self._file.write(line)
        except OSError as error:
            raise cannot_write(self.folder / EVENTS, error, "name another folder") from error

    def keep_rows(self, step: int, rows: "RowLosses") -> None:
        """Keep the losses of the validation rows at this step; of other steps only the first stays, see `drop_rows`."""
        columns = rows.columns()
        if columns is not None:
            write_whole(rows_file(self.folder, step), lambda part: copy_columns(columns, part))

    def drop_rows(self, step: int) -> None:
        """Drop the rows of all steps but the first and this one, whose event has been written."""
        for file in rows_files(self.folder):
            if file not in (rows_file(self.folder, 0), rows_file(self.folder, step)):
                file.unlink(missing_ok=True)

    def close(self) -> None:
        self._file.close()

    def __enter__(self) -> "Recorder":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def _plain(value: Any) -> Any:
    """JSON has no NaN or infinity: they become text."""
    if isinstance(value, float) and not isfinite(value):
        return str(value)
    return value


# ---------------------------------------------------------------------------------------------------------- the folder


def _owned(folder: Path) -> set[str] | None:
    if not is_run(folder, MANIFEST):
        return None
    trained = folder / TRAINED
    saved = {f"{TRAINED}/{file.name}" for file in trained.glob("*") if _SAVED.fullmatch(file.name)}
    scored = {f"{part}/{name}" for part in (WINDOWS, AT_START) for name in owned_files(folder / part) or ()}
    rows = {file.name for file in rows_files(folder)}
    return {MANIFEST, EVENTS, *_PASSING, *saved, *scored, *rows, *_written(folder)}


def _written(folder: Path) -> set[str]:
    """The generations, how they were made, and those of a run that was killed."""
    output = folder / GENERATIONS
    return {file.name for file in (output, record_of(output), unfinished(output)) if file.is_file()}


#: Whose a training run is: what may be overwritten.
OWNER = Owner("training run", MANIFEST, _owned, begun=_PASSING | {EVENTS, f"{AT_START}/"})


#: In a store: what says that a run is trained comes after the weights, what says that a checkpoint is whole after it.
IN_A_STORE = Mirrored(
    "training run", MANIFEST, last=(EVENTS, "trainer_state.json"), passing=(f"{UNFINISHED}/", f"{SCRATCH}/")
)


@contextmanager
def scratch(folder: Path) -> Iterator[Path]:
    """A temporary folder inside the run, where the next start removes it after a kill."""
    place = folder / SCRATCH
    remove_scratch(folder)
    place.mkdir(parents=True)
    try:
        yield place
    finally:
        remove_scratch(folder)


def remove_scratch(folder: Path) -> None:
    shutil.rmtree(folder / SCRATCH, ignore_errors=True)


# ----------------------------------------------------------------------------------------------------- validation loss


class RowLosses:
    """The loss of every row of a validation set, in nats, and its tokens.

    Beyond ``most`` rows neighbours are joined two by two, as often as need be: sums stay exact, and the same set is
    joined in the same way in every run.
    """

    def __init__(self, most: int = 65_536) -> None:
        self.most, self.joined = most, 1
        self.sums: list[tuple[float, int]] = []
        self._open: list[tuple[float, int]] = []  # rows of a unit that is not complete

    def add(self, losses: Floats, tokens: Integers) -> None:
        for row in zip(losses.tolist(), tokens.tolist(), strict=True):
            self._open.append(row)
            if len(self._open) == self.joined:
                self.sums.append(_added(self._open))
                self._open = []
            if len(self.sums) == self.most:
                self.sums = [_added(self.sums[i : i + 2]) for i in range(0, self.most, 2)]
                self.joined *= 2

    def columns(self) -> dict[str, NDArray[Any]] | None:
        """As a table of windows; ``None`` where a loss is not finite, or nothing is predicted."""
        units = [*self.sums, *([_added(self._open)] if self._open else [])]
        there = [(number, *unit) for number, unit in enumerate(units) if unit[1] > 0]
        if not there or not all(isfinite(loss) for _, loss, _ in there):
            return None
        return {
            "window": np.array([f"row {number * self.joined + 1:07d}" for number, _, _ in there], dtype=object),
            "tokens": np.array([tokens for *_, tokens in there], dtype=np.int64),
            "loss": np.array([loss / tokens for _, loss, tokens in there]),
        }


def _added(units: Sequence[tuple[float, int]]) -> tuple[float, int]:
    return sum(loss for loss, _ in units), sum(tokens for _, tokens in units)


def validation_loss(model: Any, batches: Iterable[Mapping[str, Any]]) -> tuple[dict[str, Any], RowLosses]:
    """The mean loss per predicted token on held-out batches; also the tokens, rows, and a digest; and row by row.

    The Trainer's own loss is a mean of batch means weighted by rows, which differs as soon as rows differ in length.
    The loss with batches weighted by their length is returned as well.
    """
    import torch  # late: a run is read without it

    was_training, device = model.training, next(model.parameters()).device
    model.eval()
    total, tokens, rows, hashed = 0.0, 0, 0, sha256()
    of_batches, length, kept = 0.0, 0, RowLosses()
    try:
        with torch.no_grad():
            for batch in batches:
                inputs = {name: value.to(device) for name, value in batch.items() if isinstance(value, torch.Tensor)}
                labels = targets_of(inputs)
                inputs.pop("labels", None)
                losses = _row_losses(model(**inputs, use_cache=False).logits, labels)
                counts = (labels != IGNORED).sum(dim=1)
                kept.add(losses.cpu().numpy(), counts.cpu().numpy())
                found, count, long = float(losses.sum()), int(counts.sum()), labels.shape[1] + 1
                total, tokens, rows = total + found, tokens + count, rows + len(labels)
                of_batches, length = of_batches + found / max(count, 1) * long, length + long
                hashed.update(labels[labels != IGNORED].cpu().numpy().astype("<i8").tobytes())
    finally:
        model.train(was_training)
    if not tokens:
        return {"tokens": 0, "rows": rows}, kept
    digest = "sha256:" + hashed.hexdigest()
    source = of_batches / length  # a batch counts by its length, however many rows and however much padding it has
    return {"loss": total / tokens, "source_loss": source, "tokens": tokens, "rows": rows, "digest": digest}, kept


def targets_of(inputs: "Mapping[str, torch.Tensor]") -> "torch.Tensor":
    """(rows, length − 1) The target of each position: the next token, unless it is padding."""
    labels = inputs.get("labels")
    if labels is None:
        labels = inputs["input_ids"]
        mask = inputs.get("attention_mask")
        labels = labels if mask is None else labels.masked_fill(mask == 0, IGNORED)
    return labels[:, 1:]


def _row_losses(logits: "torch.Tensor", targets: "torch.Tensor") -> "torch.Tensor":
    """(rows,) The summed loss of each row, in float64."""
    import torch
    from torch.nn.functional import cross_entropy

    total = torch.zeros(len(targets), dtype=torch.float64, device=logits.device)
    for low in range(0, targets.shape[1], _CHUNK):
        wanted = targets[:, low : low + _CHUNK]
        some = logits[:, low : low + wanted.shape[1]].float()
        part = cross_entropy(some.flatten(0, 1), wanted.flatten(), ignore_index=IGNORED, reduction="none")
        total += part.view(wanted.shape).double().sum(dim=1)
    return total
