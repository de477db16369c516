"""Models that hardly fit into memory: spread over devices, in smaller batches, or one after the other."""

import gc
import re
from collections.abc import Callable, Sequence
from math import inf
from typing import TYPE_CHECKING, Any, TypeVar
from weakref import WeakSet

import numpy as np
from numpy.typing import NDArray

from assay.errors import InputError
from assay.scoring.models_and_texts import ModelSpec

if TYPE_CHECKING:
    from assay.scoring.hf import ModelScorer

SPREAD = "spread"  # a device: all graphics cards, then the memory of the machine
_ROOM = 0.9  # of the free memory of a graphics card: a model needs some beside its weights
_SHORT = re.compile(r"out of memory|can't allocate memory|cannot allocate memory", re.IGNORECASE)

T = TypeVar("T")


class MemoryShortError(InputError):
    """A model, or what it computes, does not fit into memory."""


def is_short(error: BaseException) -> bool:
    """Whether an error says that memory is short: torch's own, of a graphics card or of the machine, or Python's."""
    return isinstance(error, MemoryError) or (isinstance(error, RuntimeError) and bool(_SHORT.search(str(error))))


def freed() -> None:
    """Give back what is not used any more."""
    import torch  # late: few need it

    gc.collect()
    if torch.cuda.is_available():
        torch.cuda.empty_cache()


def spreads(spec: ModelSpec, config: Any) -> bool:
    """Whether a model is spread over all devices: if asked, or if it is left to us and does not fit on one card."""
    import torch  # late: likewise

    if spec.device != "auto" or not torch.cuda.is_available():
        return spec.device == SPREAD
    free, _ = torch.cuda.mem_get_info()
    return weights_bytes(spec, config) > _ROOM * free


def weights_bytes(spec: ModelSpec, config: Any) -> float:
    """The size of a model's weights, from its shape alone; infinite where that cannot be told without its own code."""
    import torch  # late: likewise
    from transformers import AutoModelForCausalLM

    if spec.trust_remote_code:
        return inf
    with torch.device("meta"):
        model: Any = AutoModelForCausalLM.from_config(config)
    kind = getattr(config, "dtype", None) if spec.dtype == "auto" else getattr(torch, spec.dtype)
    size = (kind if isinstance(kind, torch.dtype) else torch.float32).itemsize
    return float(size * sum(parameter.numel() for parameter in model.parameters()))


_IN_TURN: "WeakSet[InTurn]" = WeakSet()


class InTurn:
    """A model that leaves memory where another does not fit beside it, and is loaded again when it is its turn."""

    def __init__(self, load: "Callable[[], ModelScorer]") -> None:
        self._load, self._scorer = load, None
        _IN_TURN.add(self)
        found = self._present()
        self.tokenizer, self.bos, self.start = found.tokenizer, found.bos, found.start
        self.about, self.context, self._batch_tokens = found.about, found.context, found.batch_tokens(None)
        self.halved_to: int | None = None

    _scorer: "ModelScorer | None"

    @property
    def present(self) -> bool:
        """Whether it is in memory."""
        return self._scorer is not None

    def batch_tokens(self, asked: int | None) -> int:
        """Tokens per forward pass, as `ModelScorer` chose them."""
        return self._batch_tokens if asked is None else asked

    def losses(self, rows: Sequence[Sequence[int]], counted: Sequence[int] | None = None) -> list[NDArray[np.float64]]:
        """The losses of the last tokens of each row, as of `ModelScorer`."""
        found = self._with_room(lambda: self._present().losses(rows, counted))
        self.halved_to = None if self._scorer is None else self._scorer.halved_to
        return found

    def leave(self) -> bool:
        """Leave memory; whether it was there."""
        was, self._scorer = self._scorer is not None, None
        return was

    def _present(self) -> "ModelScorer":
        if self._scorer is None:
            self._scorer = self._with_room(self._load)
        return self._scorer

    def _with_room(self, work: Callable[[], T]) -> T:
        """Do what needs memory; where it is short, once more without the others."""
        try:
            return work()
        except MemoryShortError:
            if not [other for other in list(_IN_TURN) if other is not self and other.leave()]:
                raise
        freed()  # here: the error held on to what had been computed
        return work()
