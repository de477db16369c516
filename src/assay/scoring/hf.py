"""Log-probabilities from a `transformers` model. The one module of scoring that imports torch.

The full float32 logits never exist: the model's body gives hidden states, and its head is applied to a chunk of
positions at a time. Where head(body(x)) is not what the model computes (logit scaling or soft caps in its forward),
a probe finds out and the model's own forward is used instead, row by row.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from transformers import AutoConfig, AutoModelForCausalLM, AutoTokenizer

from assay.errors import InputError, UsageError
from assay.scoring.specs import ModelSpec

_CHUNK_BYTES = 64 << 20  # float32 logits at a time


class Scorer:
    """A causal language model that gives the loss of every token of a batch."""

    def __init__(self, spec: ModelSpec) -> None:
        self.spec = spec
        self.device = _device(spec.device)
        self.tokenizer = _tokenizer(spec)
        self.model = _model(spec).to(self.device).eval()
        self._split = _splits_into_body_and_head(self.model)
        self._chunk = max(16, _CHUNK_BYTES // (4 * self.model.config.get_text_config().vocab_size))

    @property
    def bos(self) -> int | None:
        """The token that starts a text, if this tokenizer puts one there by itself."""
        started = self.tokenizer("a")["input_ids"]
        bare = self.tokenizer("a", add_special_tokens=False)["input_ids"]
        bos = self.tokenizer.bos_token_id
        return bos if bos is not None and started[:1] == [bos] and bare[:1] != [bos] else None

    @property
    def about(self) -> dict[str, Any]:
        """What decides the numbers besides the files of the model, for the run."""
        folder = Path(self.spec.name)
        return {
            "source": folder.name if folder.is_dir() else self.spec.name,
            "revision": self.spec.revision,
            "dtype": str(self.model.dtype).removeprefix("torch."),
        }

    @property
    def context(self) -> int:
        """The longest input of the model."""
        config = self.model.config.get_text_config()
        for name in ("max_position_embeddings", "n_positions", "max_seq_len", "seq_length"):
            length = getattr(config, name, None)
            if isinstance(length, int) and 0 < length < 1 << 24:
                return length
        return 2048

    @torch.inference_mode()
    def losses(self, rows: Sequence[Sequence[int]]) -> list[NDArray[np.float64]]:
        """For each row of token ids the loss of its tokens 1, 2, … given those before, in nats."""
        longest = max(len(row) for row in rows)
        ids = torch.zeros((len(rows), longest), dtype=torch.long)
        mask = torch.zeros((len(rows), longest), dtype=torch.long)
        for i, row in enumerate(rows):
            ids[i, : len(row)] = torch.tensor(row, dtype=torch.long)
            mask[i, : len(row)] = 1
        ids, mask = ids.to(self.device), mask.to(self.device)
        full = bool(mask.all())
        hidden = self._hidden(ids, None if full else mask)
        found = [self._row_losses(hidden[i, : len(row) - 1], ids[i, 1 : len(row)]) for i, row in enumerate(rows)]
        return [losses.double().cpu().numpy() for losses in found]

    def _hidden(self, ids: torch.Tensor, mask: torch.Tensor | None) -> torch.Tensor:
        """Hidden states before the head, or the logits where the model cannot be split."""
        if self._split:
            states: torch.Tensor = self.model.base_model(
                input_ids=ids, attention_mask=mask, use_cache=False
            ).last_hidden_state
            return states
        logits: torch.Tensor = self.model(input_ids=ids, attention_mask=mask, use_cache=False).logits
        return logits

    def _row_losses(self, states: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
        head = self.model.get_output_embeddings() if self._split else None
        parts = []
        for low in range(0, len(states), self._chunk):
            logits = states[low : low + self._chunk]
            if head is not None:
                logits = head(logits)
            parts.append(
                torch.nn.functional.cross_entropy(logits.float(), targets[low : low + self._chunk], reduction="none")
            )
        return torch.cat(parts)


def _device(asked: str) -> torch.device:
    if asked != "auto":
        try:
            return torch.device(asked)
        except RuntimeError as error:
            raise UsageError(f"device must be auto, cpu, cuda, cuda:1, mps, …, but got {asked!r}.") from error
    if torch.cuda.is_available():
        return torch.device("cuda")
    return torch.device("mps" if torch.backends.mps.is_available() else "cpu")


def _tokenizer(spec: ModelSpec) -> Any:
    try:
        tokenizer = AutoTokenizer.from_pretrained(
            spec.name, revision=spec.revision, trust_remote_code=spec.trust_remote_code
        )
    except (OSError, ValueError) as error:
        raise _refused(spec, "tokenizer", error) from error
    if not tokenizer.is_fast:
        raise InputError(f"{spec.name}: its tokenizer gives no character offsets; use a model with a tokenizer.json.")
    return tokenizer


def _model(spec: ModelSpec) -> Any:
    _refuse_pickle(spec)
    try:
        config = AutoConfig.from_pretrained(spec.name, revision=spec.revision, trust_remote_code=spec.trust_remote_code)
        model = AutoModelForCausalLM.from_pretrained(
            spec.name,
            config=config,
            revision=spec.revision,
            dtype=_dtype(spec.dtype),
            trust_remote_code=spec.trust_remote_code,
            use_safetensors=None if spec.allow_pickle else True,
        )
    except (OSError, ValueError, KeyError, RuntimeError) as error:
        raise _refused(spec, "model", error) from error
    return model if spec.adapter is None else _adapted(model, spec.adapter)


def _adapted(model: Any, adapter: str) -> Any:
    from peft import PeftModel

    try:
        return PeftModel.from_pretrained(model, adapter).get_base_model()  # with its adapter layers in place
    except (OSError, ValueError, RuntimeError) as error:
        raise InputError(f"{adapter}: the adapter cannot be loaded ({_first_line(error)}).") from error


def _refuse_pickle(spec: ModelSpec) -> None:
    """Weights as pickle can run any code when they are loaded."""
    folder = Path(spec.name)
    if spec.allow_pickle or not folder.is_dir() or any(folder.glob("*.safetensors")):
        return
    if any(folder.glob("*.bin")):
        raise InputError(
            f"{spec.name}: its weights are pickle files, which can run code; convert them to safetensors, "
            "or pass --allow-pickle if you trust them."
        )


def _dtype(name: str) -> Any:
    if name == "auto":
        return "auto"
    found = getattr(torch, name, None)
    if not isinstance(found, torch.dtype) or not found.is_floating_point:
        raise UsageError(f"dtype must be auto, float32, bfloat16 or float16, but got {name!r}.")
    return found


def _refused(spec: ModelSpec, what: str, error: Exception) -> InputError:
    said = _first_line(error)
    hint = (
        "" if "trust_remote_code" not in str(error) else " It runs its own code: --trust-remote-code if you trust it."
    )
    return InputError(f"{spec.name}: the {what} cannot be loaded ({said}); name a folder or a hub model.{hint}")


def _first_line(error: Exception) -> str:
    return next((line.strip().rstrip(".") for line in str(error).splitlines() if line.strip()), type(error).__name__)


@torch.inference_mode()
def _splits_into_body_and_head(model: Any) -> bool:
    """Is the model's forward nothing but its head after its body? Tried on a few tokens."""
    head = model.get_output_embeddings()
    if head is None or not hasattr(model, "base_model") or model.base_model is model:
        return False
    size = min(model.config.get_text_config().vocab_size, 97)
    probe = torch.arange(8, device=model.device).remainder(size)[None]
    whole = model(input_ids=probe, use_cache=False).logits
    body = model.base_model(input_ids=probe, use_cache=False)
    states = getattr(body, "last_hidden_state", None)
    return states is not None and torch.allclose(head(states).float(), whole.float(), rtol=1e-3, atol=1e-4)
