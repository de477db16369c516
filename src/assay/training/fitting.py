"""Train a base model on rows of tokens with `transformers.Trainer`, by LoRA or in full, and record it."""

import json
import shutil
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal, get_args

from assay.errors import InputError, UsageError, WriteError, cannot_write
from assay.files.reading import read_json
from assay.progress import Advance, working
from assay.training.recorder import CHECKPOINTS, IGNORED, TRAINED, UNFINISHED, Schedule

TrainingMethod = Literal["lora", "full"]
ALL_LINEAR = "all-linear"  # every linear layer but the head

#: In messages of torch's writer of archives, and of safetensors.
_DISK_SIGNS = ("inline_container", "PytorchStreamWriter", "I/O error")


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """Everything that determines the result, besides the base and the rows."""

    method: TrainingMethod = "lora"
    rank: int = 16
    alpha: int | None = None  # None becomes twice the rank
    dropout: float = 0.0  # before LoRA
    modules: str = ALL_LINEAR  # or comma-separated names
    train_embeddings: bool = False  # whole; without, LoRA leaves them as they are
    learning_rate: float = 2e-4
    steps: int = 1000
    rows: int = 8  # in a step
    warmup: int = 10  # steps
    seed: int = 0
    checkpoint: int = 500  # steps between checkpoints; 0: none

    def __post_init__(self) -> None:
        if self.method not in get_args(TrainingMethod):
            raise UsageError(f"method must be one of {', '.join(get_args(TrainingMethod))}, but got {self.method!r}.")
        if self.alpha is None:
            object.__setattr__(self, "alpha", 2 * self.rank)
        for name in ("rank", "alpha", "steps", "rows"):
            if getattr(self, name) < 1:
                raise UsageError(f"{name} must be at least 1, but got {getattr(self, name)}.")
        if not 0 < self.learning_rate < 1e3:
            raise UsageError(f"the learning rate must be positive, but got {self.learning_rate}.")
        if not 0 <= self.dropout < 1:
            raise UsageError(f"dropout must be from 0 to below 1, but got {self.dropout}.")
        object.__setattr__(self, "modules", _in_order(self.modules))
        if self.method == "full" and self._choices():
            raise UsageError(
                f"`method='full'` trains every weight and has no LoRA to set, but got{self._choices()}; "
                "leave it out, or train with `method='lora'`."
            )

    @property
    def arm(self) -> str:
        """The common name of runs that differ only in their seed."""
        return f"lora r={self.rank}{self._choices()}" if self.method == "lora" else "full"

    def _choices(self) -> str:
        """The LoRA settings, besides the rank, that differ from their defaults."""
        said = [f"alpha={self.alpha}"] * (self.alpha != 2 * self.rank)
        said += [f"dropout={self.dropout:g}"] * (self.dropout > 0)
        said += [f"on {self.modules}"] * (self.modules != ALL_LINEAR)
        said += ["+ embeddings"] * self.train_embeddings
        return "".join(f" {part}" for part in said)


def _in_order(modules: str) -> str:
    """Sort and deduplicate module names, so that runs with the same layers have equal settings."""
    names = sorted({name.strip() for name in modules.split(",")})
    if "" in names or (ALL_LINEAR in names and len(names) > 1):
        raise UsageError(f"modules must be {ALL_LINEAR}, or comma-separated names, but got {modules!r}.")
    return ",".join(names)


def fit(
    model: Any,
    rows: Sequence[Sequence[int]],
    folder: Path,
    *,
    settings: Settings,
    validation: Sequence[Mapping[str, Any]],
    suite: Any = None,
    schedule: Schedule | None = None,
    about: Mapping[str, Any] | None = None,
    before: Callable[[], None] | None = None,
    keep: Callable[[], None] | None = None,
) -> Path:
    """Train a model on rows of tokens; write the log and the trained weights, and return the folder of the weights.

    A killed run resumes from its last checkpoint, or starts over. ``before`` is called before the first step, ``keep``
    after every checkpoint.
    """
    from transformers import Trainer, set_seed

    from assay.training.callback import AssayCallback

    if not rows:
        raise InputError("there is no row of training text; give more text, or a shorter `context`.")
    set_seed(settings.seed)  # before the adapter is made: its start is random
    prepared = with_adapter(model, settings) if settings.method == "lora" else model
    callback = AssayCallback(
        folder,
        arm=settings.arm,
        validation=validation,
        suite=suite,
        schedule=schedule,
        about={"settings": asdict(settings), **(about or {})},
    )
    arguments = _arguments(folder, settings, next(prepared.parameters()).device.type)
    trainer = Trainer(model=prepared, args=arguments, train_dataset=list(rows), data_collator=batch_of)
    _quiet(trainer)
    trainer.add_callback(callback)
    trainer.add_callback(_no_last_checkpoint())
    if before is not None:
        before()
    with (
        _disk_failures(folder, _saved_bytes(prepared)),
        working(f"{folder.name}: training", "steps", settings.steps) as done,
    ):
        try:
            trainer.add_callback(_counting(done))
            if keep is not None:
                trainer.add_callback(_after_checkpoints(keep))
            trainer.train(resume_from_checkpoint=_last_checkpoint(folder, settings.steps))
        finally:
            callback.close()
        _save(prepared, folder)
    remove_checkpoints(folder)
    return folder / TRAINED


@contextmanager
def _disk_failures(folder: Path, needed: int) -> Iterator[None]:
    """Turn disk errors of torch and safetensors into errors of ours: theirs name no file, and no room needed."""
    try:
        yield
    except OSError as error:
        raise cannot_write(error.filename or folder, error, "name another folder") from error
    except Exception as error:
        said = str(error).splitlines()[0] if str(error) else ""
        if not any(sign in said for sign in _DISK_SIGNS):
            raise
        room = f"make room for {max(needed / 1e6, 0.1):,.1f} MB"
        raise WriteError(
            f"{folder}: cannot be written ({said.rstrip('.')}); {room}, then run the same command again."
        ) from error


def _saved_bytes(model: Any) -> int:
    """About what a checkpoint takes: the weights that are trained, and two moments of each in the optimizer."""
    return sum(3 * one.numel() * one.element_size() for one in model.parameters() if one.requires_grad)


def _save(model: Any, folder: Path) -> None:
    """Save under a temporary name first, so that a kill leaves no partial model that looks complete."""
    part = folder / UNFINISHED
    shutil.rmtree(part, ignore_errors=True)
    try:
        model.save_pretrained(part)
        _in_one_order(part / "adapter_config.json")
        shutil.rmtree(folder / TRAINED, ignore_errors=True)
        part.replace(folder / TRAINED)
    finally:
        shutil.rmtree(part, ignore_errors=True)


def _in_one_order(config: Path) -> None:
    """Sort the names of layers, which peft keeps in a set: their order, and so a digest, would differ by process."""
    if config.is_file():
        found = json.loads(config.read_bytes())
        for name in ("target_modules", "exclude_modules"):
            if isinstance(found.get(name), list):
                found[name] = sorted(found[name])
        config.write_text(json.dumps(found, indent=2, sort_keys=True), encoding="utf-8")


def remove_checkpoints(folder: Path) -> None:
    """Remove checkpoints, which a trained and saved run no longer needs."""
    shutil.rmtree(folder / CHECKPOINTS, ignore_errors=True)


def _arguments(folder: Path, settings: Settings, device: str) -> Any:
    from transformers import TrainingArguments

    return TrainingArguments(
        output_dir=str(folder / CHECKPOINTS),
        max_steps=settings.steps,
        per_device_train_batch_size=settings.rows,
        learning_rate=settings.learning_rate,
        lr_scheduler_type="linear",
        warmup_steps=min(settings.warmup, settings.steps // 2),
        weight_decay=0.0,
        max_grad_norm=1.0,
        seed=settings.seed,
        data_seed=settings.seed,
        save_strategy="steps" if 0 < settings.checkpoint < settings.steps else "no",
        save_steps=settings.checkpoint or 500,
        save_total_limit=1,
        logging_strategy="no",  # the callback asks for every step
        report_to=[],
        disable_tqdm=True,
        use_cpu=device == "cpu",
        dataloader_pin_memory=device == "cuda",
        remove_unused_columns=False,
    )


def _quiet(trainer: Any) -> None:
    """Keep the Trainer's log off stdout, which is for results."""
    from transformers.trainer_callback import PrinterCallback

    trainer.remove_callback(PrinterCallback)


def _no_last_checkpoint() -> Any:
    """Skip the checkpoint at the last step: resumed from it, the Trainer would train one step too many."""
    from transformers import TrainerCallback

    class NoLastCheckpoint(TrainerCallback):  # type: ignore[misc]  # mypy does not look into transformers
        def on_step_end(self, args: Any, state: Any, control: Any, **_: Any) -> Any:  # noqa: ARG002
            control.should_save = control.should_save and state.global_step < state.max_steps
            return control

    return NoLastCheckpoint()


def _counting(done: Advance) -> Any:
    """Say after every step how many are done."""
    from transformers import TrainerCallback

    class Counting(TrainerCallback):  # type: ignore[misc]  # mypy does not look into transformers
        def on_step_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:  # noqa: ARG002
            done(state.global_step, state.max_steps)

    return Counting()


def _after_checkpoints(keep: Callable[[], None]) -> Any:
    from transformers import TrainerCallback

    class AfterCheckpoints(TrainerCallback):  # type: ignore[misc]  # mypy does not look into transformers
        def on_save(self, args: Any, state: Any, control: Any, **_: Any) -> None:  # noqa: ARG002
            keep()

    return AfterCheckpoints()


def _last_checkpoint(folder: Path, steps: int) -> str | None:
    """The last complete checkpoint before the last step."""
    found = {_step_of(path): path for path in (folder / CHECKPOINTS).glob("checkpoint-*") if _whole(path)}
    step = max((step for step in found if step < steps), default=None)
    return None if step is None else str(found[step])


def _step_of(checkpoint: Path) -> int:
    step = checkpoint.name.rpartition("-")[2]
    return int(step) if step.isdecimal() else -1


def _whole(checkpoint: Path) -> bool:
    """Whether a checkpoint is complete: the Trainer writes its state last."""
    try:
        read_json(checkpoint / "trainer_state.json")
    except InputError:
        return False
    return True


def batch_of(rows: Sequence[Sequence[int]]) -> dict[str, Any]:
    """Pad rows at the end; padding has no label."""
    import torch

    longest = max(len(row) for row in rows)
    ids = torch.tensor([[*row, *[0] * (longest - len(row))] for row in rows])
    mask = torch.tensor([[1] * len(row) + [0] * (longest - len(row)) for row in rows])
    return {"input_ids": ids, "attention_mask": mask, "labels": ids.masked_fill(mask == 0, IGNORED)}


def batches_of_rows(rows: Sequence[Sequence[int]], size: int = 16) -> list[dict[str, Any]]:
    """Batches for the validation."""
    return [batch_of(rows[low : low + size]) for low in range(0, len(rows), size)]


# ------------------------------------------------------------------------------------------------------------- adapters


def with_adapter(model: Any, settings: Settings) -> Any:
    """Add LoRA to a model; all else is frozen, except embeddings that are to be trained."""
    from peft import LoraConfig, get_peft_model

    names = settings.modules.split(",")
    if settings.modules != ALL_LINEAR:
        _check_modules(model, names)
    tied = settings.train_embeddings and _tied(model)
    config = LoraConfig(
        r=settings.rank,
        lora_alpha=settings.alpha or 2 * settings.rank,
        target_modules=ALL_LINEAR if settings.modules == ALL_LINEAR else names,
        lora_dropout=settings.dropout,
        bias="none",
        task_type="CAUSAL_LM",
        **(_embeddings(model, tied=tied) if settings.train_embeddings else {}),
    )
    with warnings.catch_warnings():  # peft sees to the first itself, and the second is said below
        warnings.filterwarnings("ignore", message="fan_in_fan_out is set to False")
        warnings.filterwarnings("ignore", message="You have requested .ensure_weight_tying.")
        adapted = get_peft_model(model, config)
    if tied and not _tied(model):
        raise InputError(
            "peft cannot keep the input and output embeddings of this model tied, and would train them apart; "
            "leave `train_embeddings` out, or train with `method='full'`."
        )
    return adapted


def _check_modules(model: Any, names: list[str]) -> None:
    found = list(_linear_layers(model))
    for name in names:
        if not any(layer == name or layer.endswith("." + name) for layer in found):
            known = ", ".join(sorted({layer.rpartition(".")[2] for layer in found}))
            raise UsageError(f"`modules`: the model has no linear layer {name!r} besides its head; it has {known}.")


def _linear_layers(model: Any) -> Iterator[str]:
    """Names of the linear layers except the head, as in peft's all-linear."""
    from torch.nn import Linear
    from transformers.pytorch_utils import Conv1D

    head = model.get_output_embeddings()
    return (name for name, part in model.named_modules() if isinstance(part, Linear | Conv1D) and part is not head)


def _tied(model: Any) -> bool:
    """Whether input and output embeddings share their weight."""
    head = model.get_output_embeddings()
    return head is not None and head.weight is model.get_input_embeddings().weight


def _embeddings(model: Any, *, tied: bool) -> dict[str, Any]:
    """LoRA options to train the embeddings in full.

    Tied embeddings are both named, since peft looks for a layer whose name it knows; it makes one copy for both.
    """
    from dataclasses import fields

    from peft import LoraConfig

    if tied and "ensure_weight_tying" not in {field.name for field in fields(LoraConfig)}:
        raise UsageError("training tied embeddings needs peft 0.18 or newer: pip install -U peft.")
    wanted = [part for part in (model.get_input_embeddings(), model.get_output_embeddings()) if part is not None]
    names = [name for name, part in model.named_modules() if any(part is one for one in wanted)]
    return {"modules_to_save": names, **({"ensure_weight_tying": True} if tied else {})}
