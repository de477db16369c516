"""What a loaded model does, found out on a few tokens."""

from math import isnan
from typing import Any

import torch

from assay.errors import InputError
from assay.names import listed, one_line

_TOKENS = 12


@torch.no_grad()  # not inference_mode: buffers made on the way may be trained with
def check_causal(model: Any, name: str) -> None:
    """Refuse a model that sees what it predicts: change the last token, and no earlier log-probability may move."""
    size = model.get_input_embeddings().weight.shape[0]
    row = [(7 * place + 3) % size for place in range(_TOKENS)]
    other = [*row[:-1], (row[-1] + max(1, size // 2)) % size]
    first, second = (_log_probabilities(model, ids) for ids in (row, other))
    moved = float((first[:-1] - second[:-1]).abs().max())
    if not moved <= _rounding(model.dtype) * max(1.0, float(first.abs().max())):
        raise InputError(_not_causal(model, name, moved))


def _log_probabilities(model: Any, ids: list[int]) -> torch.Tensor:
    """(tokens, vocabulary)"""
    logits = model(input_ids=torch.tensor([ids], device=model.device), use_cache=False).logits[0]
    return torch.log_softmax(logits.double().cpu(), dim=-1)


def _rounding(dtype: torch.dtype) -> float:
    """How far a causal model may move, relative to its numbers.

    A dense model does not move at all. Mixtures of experts and 8-bit kernels do, by rounding: what stands later
    changes which rows are multiplied together.
    """
    return 1e-5 if dtype in (torch.float32, torch.float64) else 2 * torch.finfo(dtype).eps


def _not_causal(model: Any, name: str, moved: float) -> str:
    if isnan(moved):
        return f"{one_line(name)}: the model gives no numbers (NaN); {_no_numbers(model)}"
    made = ", ".join(map(str, getattr(model.config, "architectures", None) or ())) or type(model).__name__
    return (
        f"{one_line(name)}: {one_line(made)} is not a causal language model: another last token moves the "
        f"log-probabilities before it by up to {moved:.2g}, so it has seen what it predicts; score a model that reads "
        "from left to right."
    )


def _no_numbers(model: Any) -> str:
    """Why a model gives NaN, and what to do."""
    bad = [key for key, value in model.named_parameters() if not bool(torch.isfinite(value).all())]
    if bad:
        return f"its weights are not finite ({listed(bad)}): download or save it again."
    if model.dtype in (torch.float32, torch.float64):
        return "its weights are finite, but too large to compute with: download or save it again."
    return "load it with `dtype='float32'`."


@torch.inference_mode()
def splits_into_body_and_head(model: Any) -> bool:
    """Is the model's forward nothing but its head after its body?"""
    head = model.get_output_embeddings()
    if head is None or not hasattr(model, "base_model") or model.base_model is model:
        return False
    size = min(model.config.get_text_config().vocab_size, 97)
    probe = torch.arange(8, device=model.device).remainder(size)[None]
    whole = model(input_ids=probe, use_cache=False).logits
    body = model.base_model(input_ids=probe, use_cache=False)
    states = getattr(body, "last_hidden_state", None)
    return states is not None and torch.allclose(head(states).float(), whole.float(), rtol=1e-3, atol=1e-4)
