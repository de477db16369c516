"""Memory by part (T2): what the tensors themselves take, and activations as the rest of the peak."""

import ctypes
import os
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch

_STATUS = Path("/proc/self/status")
_CLEAR = Path("/proc/self/clear_refs")


def bytes_of(tensors: Iterable[Any]) -> int:
    """Of tensors, each storage once; anything else counts nothing."""
    seen: dict[int, int] = {}
    for tensor in tensors:
        if isinstance(tensor, torch.Tensor) and tensor.device.type != "meta":
            storage = tensor.untyped_storage()
            seen[storage.data_ptr()] = storage.nbytes()
    return sum(seen.values())


def parameter_bytes(model: Any) -> int:
    return bytes_of([*model.parameters(), *model.buffers()])


def gradient_bytes(model: Any) -> int:
    """While the gradients are there, that is before the optimizer's step ends."""
    return bytes_of(parameter.grad for parameter in model.parameters() if parameter.grad is not None)


def optimizer_bytes(optimizer: Any) -> int:
    """Of the optimizer's state, whatever wraps it."""
    inner = getattr(optimizer, "optimizer", optimizer)
    return bytes_of(value for state in inner.state.values() for value in state.values()) if inner is not None else 0


def count_parameters(model: Any) -> dict[str, int]:
    """All and trainable; tied weights count once. Quantized weights count as many numbers as they stand for."""
    found = {"total": 0, "trainable": 0}
    for parameter in {id(p): p for p in model.parameters()}.values():
        size = parameter.numel() or getattr(parameter, "ds_numel", 0)
        if type(parameter).__name__ == "Params4bit":  # two numbers in a byte
            size *= 2 * getattr(parameter, "quant_storage", torch.uint8).itemsize
        found["total"] += size
        found["trainable"] += size if parameter.requires_grad else 0
    return found


class Peak:
    """The peak since it was last reset: of the allocator on a GPU, of the resident set elsewhere."""

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
    def aside(self) -> Iterator[None]:
        """What is measured meanwhile is not training's: neither its peak, nor what it leaves behind."""
        _give_back()
        held = self.resident()
        yield
        self.reset()
        self.before += max(self.resident() - held, 0)

    def resident(self) -> int:
        """What the process holds now."""
        if self.cuda:
            return int(torch.cuda.memory_allocated(self.device))
        return _status("VmRSS") or _most_resident()

    def measured(self, *, parameters: int, gradients: int, optimizer: int) -> dict[str, int]:
        """The parts, with activations as what of the peak no other part explains."""
        parts = {"parameters": parameters, "gradients": gradients, "optimizer": optimizer}
        if self.cuda:
            peak = int(torch.cuda.max_memory_allocated(self.device))
            rest = peak - sum(parts.values())
            extra = {"reserved": int(torch.cuda.max_memory_reserved(self.device))}
        else:
            peak = _status("VmHWM") or _most_resident()
            rest = peak - self.before - gradients - optimizer  # the parameters were there before
            extra = {"resident": self.resident()}
        return parts | {"activations": max(rest, 0), "peak": peak} | extra


def _give_back() -> None:
    """Freed memory goes back to the system, or it would be taken for memory in use."""
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None) if sys.platform == "linux" else None
    if trim is not None:  # the GNU library has it
        trim(0)


def _status(name: str) -> int | None:
    """A line of the kernel's account of this process, in bytes; ``None`` where there is no such account."""
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
