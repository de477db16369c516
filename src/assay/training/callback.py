"""The callback that records a training run, and its memory use by part (T2)."""

# ruff: noqa: ARG002  # what the Trainer passes to an event is not ours to choose

import ctypes
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from math import exp
from pathlib import Path
from time import perf_counter
from typing import Any

import torch
from transformers import TrainerCallback

from assay.training.recorder import IGNORED, Recorder, Schedule, targets_of, validation_loss
from assay.version import VERSION

#: The suite on the model as it is: names and numbers, such as character_accuracy.
Suite = Callable[[Any], Mapping[str, float]]


class AssayCallback(TrainerCallback):  # type: ignore[misc]  # mypy does not look into transformers
    """Records a run of `transformers.Trainer`, or of a trl trainer, in a folder that `assay tune` reads.

        trainer.add_callback(AssayCallback("runs/lora-0", validation=trainer.get_eval_dataloader(), arm="lora"))

    ``validation`` is iterated over whenever a validation loss is due: batches with input_ids and, if some tokens do not
    count, labels or an attention mask. The losses of its rows at the first and the last validation are kept in the
    folder, so that `assay tune` compares runs row by row. ``suite`` measures what a loss does not show, such as
    character accuracy, every ``schedule.quality`` steps and at the end. ``about`` is added to the manifest. Only the
    first process writes.

    The Trainer is made to log every ``schedule.step`` steps, and to log NaN losses as such.
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
        """Close the file, also when training was interrupted."""
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
        """Count the tokens that a training step learns from: those with a label, after the first of a row."""
        if model.training and isinstance(inputs.get("input_ids"), torch.Tensor):
            with self._timed():
                self._tokens = self._tokens + (targets_of(inputs) != IGNORED).sum()

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
        with self._peak.aside() as aside:
            found, rows = validation_loss(model, self.validation)
        self._recorder.keep_rows(step, rows)  # first: an event has its rows
        seconds = perf_counter() - began
        self._recorder.write("validation", step, found | {"seconds": seconds})
        self._recorder.drop_rows(step)
        if step == 0 and self.schedule.memory:  # later, the state of the optimizer would be in it
            self._recorder.write("memory", step, {"inference": aside.peak})
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
    """Keep measurements from disturbing the random state of training (dropout)."""
    return torch.random.fork_rng(devices=[device] if device.type == "cuda" else [])


_STATUS = Path("/proc/self/status")
_CLEAR = Path("/proc/self/clear_refs")


def bytes_of(tensors: Iterable[Any]) -> int:
    """Bytes of tensors, counting each storage once; other objects count as 0."""
    seen: dict[int, int] = {}
    for tensor in tensors:
        if isinstance(tensor, torch.Tensor) and tensor.device.type != "meta":
            storage = tensor.untyped_storage()
            seen[storage.data_ptr()] = storage.nbytes()
    return sum(seen.values())


def parameter_bytes(model: Any) -> int:
    return bytes_of([*model.parameters(), *model.buffers()])


def gradient_bytes(model: Any) -> int:
    """Bytes of the gradients, which exist only until the optimizer's step ends."""
    return bytes_of(parameter.grad for parameter in model.parameters() if parameter.grad is not None)


def optimizer_bytes(optimizer: Any) -> int:
    """Bytes of the optimizer's state, whatever wraps it."""
    inner = getattr(optimizer, "optimizer", optimizer)
    return bytes_of(value for state in inner.state.values() for value in state.values()) if inner is not None else 0


def count_parameters(model: Any) -> dict[str, int]:
    """Total and trainable parameters; tied weights count once, packed quantized weights as the numbers they encode."""
    found = {"total": 0, "trainable": 0}
    for parameter in {id(p): p for p in model.parameters()}.values():
        size = parameter.numel() or getattr(parameter, "ds_numel", 0)
        if type(parameter).__name__ == "Params4bit":  # two numbers in a byte
            size *= 2 * getattr(parameter, "quant_storage", torch.uint8).itemsize
        found["total"] += size
        found["trainable"] += size if parameter.requires_grad else 0
    return found


class Aside:
    """What a measurement beside the training took: its peak, in bytes."""

    peak: int | None = None


class Peak:
    """Peak memory since the last reset: of the allocator on a GPU, of the resident set elsewhere."""

    def __init__(self, device: Any) -> None:
        self.device = torch.device(device)
        self.cuda = self.device.type == "cuda"
        self.reset()
        self.before = self.resident()  # the parameters are in it

    def reset(self) -> None:
        if self.cuda:
            torch.cuda.reset_peak_memory_stats(self.device)
            return
        _give_back()
        if _CLEAR.exists():
            try:
                _CLEAR.write_text("5")  # the kernel forgets the peak of this process
            except OSError:  # not allowed in some containers: the peak is then that of the whole process
                return

    @contextmanager
    def aside(self) -> Iterator["Aside"]:
        """Exclude a measurement from the accounts: neither its peak nor what it leaves behind counts as training's."""
        self.reset()
        held, found = self.resident(), Aside()
        yield found
        found.peak = self.most()
        self.reset()
        self.before += max(self.resident() - held, 0)

    def most(self) -> int:
        """The most memory held since the last reset."""
        if self.cuda:
            return int(torch.cuda.max_memory_allocated(self.device))
        return _status("VmHWM") or _most_resident()

    def resident(self) -> int:
        """Memory held now."""
        if self.cuda:
            return int(torch.cuda.memory_allocated(self.device))
        return _status("VmRSS") or _most_resident()

    def measured(self, *, parameters: int, gradients: int, optimizer: int) -> dict[str, int]:
        """Memory by part; activations are what no other part of the peak explains."""
        parts, peak = {"parameters": parameters, "gradients": gradients, "optimizer": optimizer}, self.most()
        if self.cuda:
            rest = peak - sum(parts.values())
            extra = {
                "allocated": self.resident(),
                "reserved": int(torch.cuda.memory_reserved(self.device)),
                "peak_reserved": int(torch.cuda.max_memory_reserved(self.device)),
            }
        else:
            rest = peak - self.before - gradients - optimizer  # the parameters were there before
            extra = {"resident": self.resident()}
        return parts | {"activations": max(rest, 0), "peak": peak} | extra


def _give_back() -> None:
    """Return freed memory to the system; it would count as memory in use."""
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None) if sys.platform == "linux" else None
    if trim is not None:  # the GNU library has it
        trim(0)


def _status(name: str) -> int | None:
    """A value in /proc/self/status, in bytes; ``None`` where there is no such file."""
    try:
        lines = _STATUS.read_text().splitlines()
    except OSError:
        return None
    found = next((line.split()[1] for line in lines if line.startswith(name + ":")), None)
    return None if found is None else int(found) * 1024


def _most_resident() -> int:
    if os.name == "nt":
        return 0
    import resource

    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most if sys.platform == "darwin" else most * 1024
