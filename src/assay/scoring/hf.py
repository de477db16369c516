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
from transformers.utils.logging import disable_progress_bar

from assay.errors import InputError, UsageError
from assay.scoring.specs import ModelSpec

CHUNK_BYTES = 16 << 20  # float32 logits at a time: more leaves the cache, less does not keep the threads busy

_ACTIVATION_BYTES = 64 << 20  # of a forward pass, or a tenth of the weights if that is more
_WIDTHS_ALIVE = 16  # numbers that a forward pass holds at once for a token, as a multiple of the model's width


class Scorer:
    """A causal language model that gives the loss of every token of a batch."""

    def __init__(self, spec: ModelSpec) -> None:
        self.spec = spec
        disable_progress_bar()  # of loading: a moment, and not ours to show
        self.device = _device(spec.device)
        self.tokenizer = _tokenizer(spec)
        self.model = _model(spec).to(self.device).eval()
        self._split = _splits_into_body_and_head(self.model)
        self._chunk = max(16, CHUNK_BYTES // (4 * self.model.config.get_text_config().vocab_size))
        self._buffer: torch.Tensor | None = None

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

    def batch_tokens(self, asked: int | None) -> int:
        """Tokens in a forward pass: what was asked for, or as many as need little memory beside the weights."""
        if asked is not None:
            return asked
        weights = sum(parameter.numel() * parameter.element_size() for parameter in self.model.parameters())
        token = _WIDTHS_ALIVE * self.model.config.get_text_config().hidden_size * self.model.dtype.itemsize
        return int(min(max(max(_ACTIVATION_BYTES, 0.1 * weights) / token, 1024), 8192))

    @torch.inference_mode()
    def losses(self, rows: Sequence[Sequence[int]], counted: Sequence[int] | None = None) -> list[NDArray[np.float64]]:
        """For each row of token ids the losses of its last tokens, as many as count (default: all but the first)."""
        return self._by_row(rows, [len(row) - 1 for row in rows] if counted is None else counted)

    @torch.inference_mode()
    def losses_and_greedy(
        self, rows: Sequence[Sequence[int]], counted: Sequence[int]
    ) -> tuple[list[NDArray[np.float64]], list[NDArray[np.int64]]]:
        """The same losses, and the token that the model would have written in the place of each that counts."""
        greedy: list[torch.Tensor] = []
        losses = self._by_row(rows, counted, greedy)
        return losses, np.split(torch.cat(greedy).cpu().numpy(), np.cumsum(counted)[:-1])

    def _by_row(
        self, rows: Sequence[Sequence[int]], counted: Sequence[int], greedy: list[torch.Tensor] | None = None
    ) -> list[NDArray[np.float64]]:
        ends = [slice(len(row) - 1 - count, len(row) - 1) for row, count in zip(rows, counted, strict=True)]
        targets = torch.cat([torch.tensor(row[end.start + 1 :]) for row, end in zip(rows, ends, strict=True)])
        losses = self._losses(rows, ends, targets.to(self.device), greedy).double().cpu().numpy()
        return np.split(losses, np.cumsum(counted)[:-1])

    def _losses(
        self,
        rows: Sequence[Sequence[int]],
        ends: Sequence[slice],
        targets: torch.Tensor,
        greedy: list[torch.Tensor] | None,
    ) -> torch.Tensor:
        if self._split:
            hidden = self._states(rows)
            states = torch.cat([hidden[i, end] for i, end in enumerate(ends)])
            return self._chunked(states, targets, self.model.get_output_embeddings(), greedy)
        parts = []  # the model's own logits, of one row at a time
        wanted_by_row = torch.split(targets, [end.stop - end.start for end in ends])
        for row, end, wanted in zip(rows, ends, wanted_by_row, strict=True):
            logits = self.model(input_ids=torch.tensor([row], device=self.device), use_cache=False).logits
            parts.append(self._chunked(logits[0, end], wanted, None, greedy))
        return torch.cat(parts)

    def _states(self, rows: Sequence[Sequence[int]]) -> torch.Tensor:
        """Hidden states before the head; rows are padded at the end, where nothing that counts can see it."""
        longest = max(len(row) for row in rows)
        ids = torch.tensor([[*row, *[0] * (longest - len(row))] for row in rows], device=self.device)
        mask = None
        if any(len(row) < longest for row in rows):
            mask = torch.tensor([[1] * len(row) + [0] * (longest - len(row)) for row in rows], device=self.device)
        states: torch.Tensor = self.model.base_model(
            input_ids=ids, attention_mask=mask, use_cache=False
        ).last_hidden_state
        return states

    def _chunked(
        self, states: torch.Tensor, targets: torch.Tensor, head: Any, greedy: list[torch.Tensor] | None
    ) -> torch.Tensor:
        """The losses of states before the head, or of logits where there is no head to apply; ``greedy`` collects."""
        losses = torch.empty(len(states), device=states.device)
        for low in range(0, len(states), self._chunk):
            some = slice(low, low + self._chunk)
            logits = self._logits(states[some], head)
            if greedy is not None:
                greedy.append(logits.argmax(1))
            losses[some] = _losses_of(logits, targets[some])
        return losses

    def _logits(self, states: torch.Tensor, head: Any) -> torch.Tensor:
        """Logits in float32 that may be overwritten; of a plain head in one buffer, since freed ones pile up."""
        if head is None:
            return states.float()
        if not _plain(head) or states.dtype != torch.float32:
            return head(states).float()  # type: ignore[no-any-return]  # heads have no types
        if self._buffer is None:
            self._buffer = states.new_empty((self._chunk, len(head.weight)))
        return torch.matmul(states, head.weight.T, out=self._buffer[: len(states)])


def _plain(head: Any) -> bool:
    """Is the head a product with its weight, which is where the states are?"""
    return type(head) is torch.nn.Linear and getattr(head, "bias", None) is None and not hasattr(head, "_hf_hook")


def _losses_of(logits: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
    """Cross-entropy without a copy of the logits, which are lost."""
    chosen, most = logits.gather(1, targets[:, None])[:, 0], logits.amax(1, keepdim=True)
    return logits.sub_(most).exp_().sum(1).log_() + (most[:, 0] - chosen)


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
