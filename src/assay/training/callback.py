"""The callback that records a training run as it happens."""

# ruff: noqa: ARG002  # what the Trainer passes to an event is not ours to choose

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from hashlib import sha256
from math import exp
from pathlib import Path
from time import perf_counter
from typing import Any

import torch
from torch.nn.functional import cross_entropy
from transformers import TrainerCallback

from assay.training.memory import Peak, count_parameters, gradient_bytes, optimizer_bytes, parameter_bytes
from assay.training.recorder import Recorder, Schedule
from assay.version import VERSION

_IGNORED = -100
_CHUNK = 512  # positions whose logits become float32 at a time

#: The suite on the model as it is: names and numbers, such as character_accuracy.
Suite = Callable[[Any], Mapping[str, float]]


class AssayCallback(TrainerCallback):  # type: ignore[misc]  # mypy does not look into transformers
    """Records a run of `transformers.Trainer`, or of a trainer of trl, into a folder that `assay tune` reads.

        trainer.add_callback(AssayCallback("runs/lora-0", validation=trainer.get_eval_dataloader(), arm="lora"))

    ``validation`` is gone through every time a validation loss is due: batches with input_ids and, where some tokens do
    not count, labels or an attention mask. ``suite`` measures what a loss does not say, such as character accuracy,
    every ``schedule.quality`` steps and at the end. ``about`` goes into the manifest. Only the first process writes.

    The Trainer is made to log every ``schedule.step`` steps, and to log a loss that is not a number as what it is.
    """

    def __init__(
        self,
        folder: str | Path,
        *,
        arm: str | None = None,
        validation: Iterable[Mapping[str, Any]] | None = None,
        suite: Suite | None = None,
        schedule: Schedule | None = None,
        about: Mapping[str, Any] | None = None,
    ) -> None:
        self.folder, self.arm = Path(folder), arm
        self.validation, self.suite = validation, suite
        self.schedule, self.about = schedule or Schedule(), dict(about or {})
        self.own_seconds = 0.0  # spent here to record, in all
        self.asked_seconds = 0.0  # spent here to validate, and on the suite
        self._recorder: Recorder | None = None
        self._hook: Any = None
        self._tokens: Any = 0
        self._gradients = 0
        self._began = self._mark = self._busy = 0.0
        self._steps = 0  # since the last line
        self._validated = self._measured = -1

    # ------------------------------------------------------------------------------------------------ events

    def on_train_begin(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        if not state.is_world_process_zero:
            return
        model = kwargs["model"]
        args.logging_nan_inf_filter = False  # it would write a mean over a loss that is not a number
        self._recorder = Recorder(self.folder, self._manifest(args, state, model))
        self._tokens = self._recorder.resume(state.global_step) if self._recorder.resumed else 0
        self._hook = model.register_forward_pre_hook(self._count, with_kwargs=True)
        self._began = perf_counter()
        self._peak = Peak(next(model.parameters()).device)  # before the validation, whose memory is not training's
        if state.global_step == 0:
            self._validate(model, 0)

    def on_step_begin(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        self._mark = perf_counter()

    def on_pre_optimizer_step(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        if self._recorder is not None and self._memory_due(state.global_step + 1):
            with self._timed():
                self._gradients = gradient_bytes(kwargs["model"])

    def on_step_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> Any:
        now = perf_counter()
        self._busy, self._mark, self._steps = self._busy + now - self._mark, now, self._steps + 1
        if state.global_step % self.schedule.step == 0:
            control.should_log = True
        return control

    def on_log(self, args: Any, state: Any, control: Any, logs: Any = None, **kwargs: Any) -> None:
        if self._recorder is None or not logs or "loss" not in logs or "learning_rate" not in logs:
            return
        with self._timed():
            self._write_step(state.global_step, logs)
        self._scheduled(state.global_step, kwargs)

    def on_train_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        if self._recorder is None:
            return
        if self._hook is not None:
            self._hook.remove()
        model, step = kwargs["model"], state.global_step
        wall = perf_counter() - self._began
        self._measure_quality(model, step)
        spent = {"own_seconds": self.own_seconds, "asked_seconds": self.asked_seconds}
        self._recorder.write("end", step, {"wall": wall, **spent})
        self.close()

    def close(self) -> None:
        """Let go of the file, also where the training was broken off."""
        if self._recorder is not None:
            self._recorder.close()
            self._recorder = None

    # ------------------------------------------------------------------------------------------- measurements

    def _manifest(self, args: Any, state: Any, model: Any) -> dict[str, Any]:
        rows = args.per_device_train_batch_size * args.gradient_accumulation_steps * args.world_size
        return {
            "assay": VERSION,
            "arm": self.arm or self.folder.name,
            "parameters": count_parameters(model),
            "seed": args.seed,
            "learning_rate": args.learning_rate,
            "max_steps": state.max_steps,
            "rows_per_step": rows,
            "device": next(model.parameters()).device.type,
            **self.about,
        }

    @contextmanager
    def _timed(self) -> Iterator[None]:
        began = perf_counter()
        yield
        self.own_seconds += perf_counter() - began

    def _write_step(self, step: int, logs: Mapping[str, Any]) -> None:
        assert self._recorder is not None
        busy = self._busy + perf_counter() - self._mark  # the Trainer has fetched the loss: a GPU is done, too
        names = ("loss", "learning_rate", "grad_norm")
        values = {name: float(logs[name]) for name in names if logs.get(name) is not None}
        values |= {"step_seconds": busy / max(self._steps, 1), "tokens": int(self._tokens)}
        if self._steps > 1:
            values["steps"] = self._steps
        self._recorder.write("step", step, values)
        self._busy, self._steps = 0.0, 0

    def _count(self, model: Any, positional: Any, inputs: Mapping[str, Any]) -> None:
        """Tokens that a training step learns from: those with a label, after the first of a row."""
        if model.training and isinstance(inputs.get("input_ids"), torch.Tensor):
            with self._timed():
                self._tokens = self._tokens + (targets_of(inputs) != -100).sum()

    def _memory_due(self, step: int) -> bool:
        return self.schedule.memory > 0 and (step == 1 or self.schedule.due("memory", step))

    def _scheduled(self, step: int, kwargs: Mapping[str, Any]) -> None:
        assert self._recorder is not None
        model = kwargs["model"]
        if self._memory_due(step):
            with self._timed():
                parts = {"parameters": parameter_bytes(model), "gradients": self._gradients}
                parts["optimizer"] = optimizer_bytes(kwargs.get("optimizer"))
                self._recorder.write("memory", step, self._peak.measured(**parts))
        if self.schedule.due("validation", step):
            self._validate(model, step)
        if self.schedule.due("quality", step):
            self._measure_quality(model, step)

    def _validate(self, model: Any, step: int) -> float | None:
        if self.validation is None or self._validated == step:
            return None
        assert self._recorder is not None
        began = perf_counter()
        with self._peak.aside():
            found = validation_loss(model, self.validation)
        seconds = perf_counter() - began
        self._recorder.write("validation", step, found | {"seconds": seconds})
        self._validated = step
        self.asked_seconds += seconds
        if "loss" in found and found["loss"] < 700:  # beyond, the perplexity is no number
            self._recorder.write("quality", step, {"perplexity": exp(found["loss"])})
        return found.get("loss")

    def _measure_quality(self, model: Any, step: int) -> None:
        self._validate(model, step)
        if self.suite is not None and self._measured != step:
            assert self._recorder is not None
            began = perf_counter()
            with self._peak.aside(), _same_randomness(next(model.parameters()).device):
                self._recorder.write("quality", step, dict(self.suite(model)))
            self.asked_seconds += perf_counter() - began
            self._measured = step


def _same_randomness(device: torch.device) -> AbstractContextManager[None]:
    """What is measured shall not change the training, whose dropout goes on where it was."""
    return torch.random.fork_rng(devices=[device] if device.type == "cuda" else [])


# ----------------------------------------------------------------------------------------------------- validation loss


@torch.no_grad()
def validation_loss(model: Any, batches: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """The loss on held-out batches: the sum over predicted tokens through their number; tokens, rows, and a digest.

    The Trainer's own is a mean of batch means weighted by rows, which is something else as soon as rows differ in
    length. The loss with batches weighted by their length is given, too.
    """
    was_training, device = model.training, next(model.parameters()).device
    model.eval()
    total, tokens, rows, hashed = 0.0, 0, 0, sha256()
    of_batches, length = 0.0, 0
    try:
        for batch in batches:
            inputs = {name: value.to(device) for name, value in batch.items() if isinstance(value, torch.Tensor)}
            labels = targets_of(inputs)
            inputs.pop("labels", None)
            logits = model(**inputs, use_cache=False).logits
            found = _sum(logits, labels)
            count, long = int((labels != _IGNORED).sum()), labels.shape[1] + 1
            total, tokens, rows = total + found, tokens + count, rows + len(labels)
            of_batches, length = of_batches + found / max(count, 1) * long, length + long
            hashed.update(labels[labels != _IGNORED].cpu().numpy().astype("<i8").tobytes())
    finally:
        model.train(was_training)
    if not tokens:
        return {"tokens": 0, "rows": rows}
    digest = "sha256:" + hashed.hexdigest()
    source = of_batches / length  # a batch counts by its length, however many rows and however much padding it has
    return {"loss": total / tokens, "source_loss": source, "tokens": tokens, "rows": rows, "digest": digest}


def targets_of(inputs: Mapping[str, torch.Tensor]) -> torch.Tensor:
    """(rows, length − 1) What each position has to predict: the next token, unless it is padding."""
    labels = inputs.get("labels")
    if labels is None:
        labels = inputs["input_ids"]
        mask = inputs.get("attention_mask")
        labels = labels if mask is None else labels.masked_fill(mask == 0, _IGNORED)
    return labels[:, 1:]


def _sum(logits: torch.Tensor, targets: torch.Tensor) -> float:
    total = 0.0
    for low in range(0, targets.shape[1], _CHUNK):
        wanted = targets[:, low : low + _CHUNK]
        some = logits[:, low : low + wanted.shape[1]].float()
        part = cross_entropy(some.flatten(0, 1), wanted.flatten(), ignore_index=_IGNORED, reduction="sum")
        total += float(part.double())
    return total
