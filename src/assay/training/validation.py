"""The loss on held-out batches, weighted by tokens: the sum over predicted tokens through their number (C6).

The Trainer's own is a mean of batch means weighted by rows, which is something else as soon as rows differ in length.
"""

from collections.abc import Iterable, Mapping
from hashlib import sha256
from typing import Any

import torch
from torch.nn.functional import cross_entropy

_IGNORED = -100
_CHUNK = 512  # positions whose logits become float32 at a time


@torch.no_grad()
def validation_loss(model: Any, batches: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """Loss per token, its tokens, rows, a digest of the labels; and the loss with batches weighted by their length."""
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
