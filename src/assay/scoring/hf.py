"""Log-probabilities from a `transformers` model.

The full float32 logits are never materialised: the model's body gives hidden states, and its head is applied to a chunk
of positions at a time. If head(body(x)) is not what the model computes (logit scaling or soft caps in its forward), a
probe detects it, and the model's own forward is used instead, row by row.
"""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from assay.scoring.loading import (
    check_known,
    find_device,
    load_config,
    load_model,
    load_tokenizer,
    own_bos,
    refusing,
    start_of,
)
from assay.scoring.memory import MemoryShortError, freed, is_short
from assay.scoring.models_and_texts import ModelSpec

CHUNK_BYTES = 16 << 20  # float32 logits at a time: more leaves the cache, less does not keep the threads busy

_ACTIVATION_BYTES = 64 << 20  # of a forward pass, or a tenth of the weights if that is more
_FREE_SHARE = 0.25  # of the memory that a graphics card has left beside the weights
_WIDTHS_ALIVE = 16  # numbers that a forward pass holds at once for a token, as a multiple of the model's width


def longest_input(model: Any) -> int:
    """The longest input of a model, in tokens."""
    config = model.config.get_text_config()
    for name in ("max_position_embeddings", "n_positions", "max_seq_len", "seq_length"):
        length = getattr(config, name, None)
        if isinstance(length, int) and 0 < length < 1 << 24:
            return length
    return 2048


def steady_products() -> None:
    """Ask for matrix products whose bits do not depend on the number of threads, where MKL computes them.

    MKL listens until its first product; a process that has computed with torch before goes on as it did.
    """
    capability = torch.backends.cpu.get_cpu_capability()
    if capability in ("AVX2", "AVX512"):
        os.environ.setdefault("MKL_CBWR", f"{capability},STRICT")


class ModelScorer:
    """A causal language model that returns the loss of every token of a batch."""

    def __init__(self, spec: ModelSpec) -> None:
        steady_products()
        self.spec = spec
        self.device = find_device(spec.device)
        load_config(spec)  # first: what is wrong with it is not the tokenizer's fault
        self.tokenizer = load_tokenizer(spec)
        model = load_model(spec)
        with refusing(spec.name, "the model cannot be run"):
            spread = getattr(model, "hf_device_map", None) is not None  # its parts are where they belong
            self.model = model.eval() if spread else model.to(self.device).eval()
            self._split = splits_into_body_and_head(self.model)
        self.known = len(self.model.get_input_embeddings().weight)
        self._chunk = max(16, CHUNK_BYTES // (4 * self.model.config.get_text_config().vocab_size))
        self._buffer: torch.Tensor | None = None
        self.halved_to: int | None = None  # tokens of a forward pass, where a larger one did not fit into memory

    @property
    def bos(self) -> int | None:
        """The BOS token, if the tokenizer adds one by itself."""
        return own_bos(self.tokenizer)

    @property
    def start(self) -> int | None:
        """The token before a document: BOS, or else EOS."""
        return start_of(self.tokenizer)

    @property
    def about(self) -> dict[str, Any]:
        """What determines the numbers besides the model's files, for the manifest."""
        folder = Path(self.spec.name)
        scaled = {} if self.spec.rope_scaling is None else {"rope_scaling": self.spec.rope_scaling}
        return {
            "source": folder.name if folder.is_dir() else self.spec.name,
            "revision": self.spec.revision,
            "dtype": str(self.model.dtype).removeprefix("torch."),
            **scaled,
        }

    @property
    def context(self) -> int:
        """The longest input of the model."""
        return longest_input(self.model)

    def batch_tokens(self, asked: int | None) -> int:
        """Tokens per forward pass: as requested, or as many as need little memory beside the weights."""
        if asked is not None:
            return asked
        weights = sum(parameter.numel() * parameter.element_size() for parameter in self.model.parameters())
        token = _WIDTHS_ALIVE * self.model.config.get_text_config().hidden_size * self.model.dtype.itemsize
        room, most = max(_ACTIVATION_BYTES, 0.1 * weights), 8192
        if self.device.type == "cuda":  # what is free beside the weights is measured
            room, most = max(room, _FREE_SHARE * torch.cuda.mem_get_info()[0]), 1 << 16
        return int(min(max(room / token, 1024), most))

    @torch.inference_mode()
    def losses(self, rows: Sequence[Sequence[int]], counted: Sequence[int] | None = None) -> list[NDArray[np.float64]]:
        """The losses of the last tokens of each row, as many as ``counted`` says (default: all but the first)."""
        return self._by_row(rows, [len(row) - 1 for row in rows] if counted is None else counted)

    @torch.inference_mode()
    def losses_and_greedy(
        self, rows: Sequence[Sequence[int]], counted: Sequence[int]
    ) -> tuple[list[NDArray[np.float64]], list[NDArray[np.int64]]]:
        """The same losses, and the greedy token at each counted position."""
        greedy: list[torch.Tensor] = []
        losses = self._by_row(rows, counted, greedy)
        return losses, np.split(torch.cat(greedy).cpu().numpy(), np.cumsum(counted)[:-1])

    def _by_row(
        self, rows: Sequence[Sequence[int]], counted: Sequence[int], greedy: list[torch.Tensor] | None = None
    ) -> list[NDArray[np.float64]]:
        check_known(self.spec.name, self.known, rows)
        size = len(rows) * max(map(len, rows), default=0)
        if len(rows) > 1 and self.halved_to is not None and size > self.halved_to:
            return self._by_halves(rows, counted, greedy)
        before = 0 if greedy is None else len(greedy)
        try:
            return self._at_once(rows, counted, greedy)
        except (RuntimeError, MemoryError) as error:
            if not is_short(error):
                raise
            if len(rows) <= 1:
                raise MemoryShortError(self._too_long(size)) from None
        if greedy is not None:
            del greedy[before:]
        freed()  # here: the error held on to what had been computed
        self.halved_to = max(1, size // 2)
        return self._by_halves(rows, counted, greedy)

    def _by_halves(
        self, rows: Sequence[Sequence[int]], counted: Sequence[int], greedy: list[torch.Tensor] | None
    ) -> list[NDArray[np.float64]]:
        middle = len(rows) // 2
        return self._by_row(rows[:middle], counted[:middle], greedy) + self._by_row(
            rows[middle:], counted[middle:], greedy
        )

    def _too_long(self, tokens: int) -> str:
        return (
            f"{self.spec.name}: a window of {tokens:,} tokens does not fit into memory; give a shorter `context`, "
            "`dtype='bfloat16'`, or `device='spread'` for all graphics cards."
        )

    def _at_once(
        self, rows: Sequence[Sequence[int]], counted: Sequence[int], greedy: list[torch.Tensor] | None
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
            ids = torch.tensor([_fed(row)], device=self.device)
            logits = self.model(input_ids=ids, use_cache=False).logits
            parts.append(self._chunked(logits[0, end], wanted, None, greedy))
        return torch.cat(parts)

    def _states(self, rows: Sequence[Sequence[int]]) -> torch.Tensor:
        """Hidden states before the head; rows are padded at the end, which counted tokens cannot see."""
        fed = [_fed(row) for row in rows]
        longest = max(len(row) for row in fed)
        ids = torch.tensor([[*row, *[0] * (longest - len(row))] for row in fed], device=self.device)
        mask = None
        if any(len(row) < longest for row in fed):
            mask = torch.tensor([[1] * len(row) + [0] * (longest - len(row)) for row in fed], device=self.device)
        states: torch.Tensor = self.model.base_model(
            input_ids=ids, attention_mask=mask, use_cache=False
        ).last_hidden_state
        return states

    def _chunked(
        self, states: torch.Tensor, targets: torch.Tensor, head: Any, greedy: list[torch.Tensor] | None
    ) -> torch.Tensor:
        """Losses of hidden states, or of logits if ``head`` is None; ``greedy`` collects the top tokens."""
        losses = torch.empty(len(states), device=states.device)
        for low in range(0, len(states), self._chunk):
            some = slice(low, low + self._chunk)
            logits = self._logits(states[some], head)
            if greedy is not None:
                greedy.append(logits.argmax(1).to(self.device))
            losses[some] = _losses_of(logits, targets[some].to(logits.device))
        return losses

    def _logits(self, states: torch.Tensor, head: Any) -> torch.Tensor:
        """Float32 logits that may be overwritten; plain heads share one buffer, since freed ones pile up."""
        if head is None:
            return states.float()
        if not _plain(head) or states.dtype != torch.float32:
            return head(states).float()  # type: ignore[no-any-return]  # heads have no types
        if self._buffer is None:
            self._buffer = states.new_empty((self._chunk, len(head.weight)))
        return torch.matmul(states, head.weight.T, out=self._buffer[: len(states)])


def _fed(row: Sequence[int]) -> Sequence[int]:
    """The model's input: the last token is only predicted."""
    return row[:-1] or row


def _plain(head: Any) -> bool:
    """Whether the head is a plain matrix product on the same device as the states."""
    return type(head) is torch.nn.Linear and getattr(head, "bias", None) is None and not hasattr(head, "_hf_hook")


def _losses_of(logits: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
    """Cross-entropy computed in place; the logits are overwritten."""
    chosen, most = logits.gather(1, targets[:, None])[:, 0], logits.amax(1, keepdim=True)
    return logits.sub_(most).exp_().sum(1).log_() + (most[:, 0] - chosen)


@torch.inference_mode()
def splits_into_body_and_head(model: Any) -> bool:
    """Whether the model's forward is just its head applied to its body."""
    head = model.get_output_embeddings()
    if head is None or not hasattr(model, "base_model") or model.base_model is model:
        return False
    size = min(model.config.get_text_config().vocab_size, 97)
    probe = torch.arange(8, device=model.device).remainder(size)[None]
    whole = model(input_ids=probe, use_cache=False).logits
    body = model.base_model(input_ids=probe, use_cache=False)
    states = getattr(body, "last_hidden_state", None)
    return states is not None and torch.allclose(head(states).float(), whole.float(), rtol=1e-3, atol=1e-4)
