"""Four ways to get the losses of a text from the same model: ours, two peers', and no losses at all."""

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import torch

from assay.scoring.hf import ModelScorer
from assay.scoring.models_and_texts import ModelSpec
from assay.scoring.windows import Layout, batches_of, windows_of
from benchmarks.timing.clock import Contender

OURS = "assay score"
BARE = "bare forward passes"
LM_EVAL = "lm-eval, loglikelihood_rolling"
EVALUATE = "evaluate's perplexity recipe"
_EVALUATE_BATCH = 16  # the default of the recipe
_LM_EVAL_BATCH = 16  # of rows as long as the context: the same number of tokens in a batch as ours


@dataclass(frozen=True, slots=True)
class Task:
    """The same work for all."""

    model: Path
    documents: Sequence[str]
    context: int
    threads: int

    @property
    def about(self) -> str:
        return f"{len(self.documents)} documents, context {self.context}, {self.threads} threads"


@dataclass(slots=True)
class Scoring:
    """One contender, and how many tokens it predicted in its last run."""

    name: str
    run: Callable[[], int]
    last: int = 0

    @property
    def contender(self) -> Contender:
        return Contender(self.name, self._timed)

    def _timed(self) -> None:
        self.last = self.run()

    def predicted(self) -> int:
        return self.last


def scorers(task: Task) -> tuple[list[Scoring], list[str]]:
    """The contenders that can run here, and why the others cannot."""
    torch.set_num_threads(task.threads)
    scorer = ModelScorer(ModelSpec(str(task.model), dtype="float32", device="cpu"))
    found = [
        Scoring(OURS, lambda: _ours(scorer, task)),
        Scoring(BARE, lambda: _bare(scorer, task)),
        Scoring(EVALUATE, lambda: _evaluate_recipe(scorer, task)),
    ]
    try:
        harness = _harness(task)
    except ImportError as error:
        return found, [f"lm-eval did not run ({error}); pip install lm-eval==0.4.13."]
    return [*found, Scoring(LM_EVAL, lambda: _rolling(harness, task))], []


def _batches(scorer: ModelScorer, task: Task) -> list[tuple[list[list[int]], list[int]]]:
    """Rows of token ids, and how many tokens of each count: what `assay score` feeds the model with."""
    ids = [scorer.tokenizer(text, add_special_tokens=False)["input_ids"] for text in task.documents]
    layout = Layout(task.context, bos=scorer.start is not None)
    windows = windows_of([len(document) for document in ids], layout)
    batches = batches_of(windows, scorer.batch_tokens(None))
    cut = [layout.row(np.array(ids[window.document]), window, scorer.start) for window in windows]
    return [([cut[i] for i in batch], [windows[i].tokens for i in batch]) for batch in batches]


def _ours(scorer: ModelScorer, task: Task) -> int:
    return sum(len(losses) for rows, counted in _batches(scorer, task) for losses in scorer.losses(rows, counted))


def log_likelihoods(task: Task) -> tuple[float, float, int]:
    """The log-likelihood of all documents: ours and lm-eval's, and how many tokens are predicted."""
    scorer, harness = ModelScorer(ModelSpec(str(task.model), dtype="float32", device="cpu")), _harness(task)
    losses = [loss for rows, counted in _batches(scorer, task) for loss in scorer.losses(rows, counted)]
    requests = [SimpleNamespace(args=(text,)) for text in task.documents]
    theirs = sum(harness.loglikelihood_rolling(requests, disable_tqdm=True))
    assert sum(map(len, losses)) == sum(len(harness.tok_encode(text)) for text in task.documents)
    return -sum(float(loss.sum()) for loss in losses), theirs, sum(map(len, losses))


@torch.inference_mode()
def _bare(scorer: ModelScorer, task: Task) -> int:
    """The same batches through the model's own forward; nothing is done with the logits."""
    total = 0
    for whole, counted in _batches(scorer, task):
        rows = [row[:-1] for row in whole]
        longest = max(len(row) for row in rows)
        ids = torch.tensor([[*row, *[0] * (longest - len(row))] for row in rows])
        mask = torch.tensor([[1] * len(row) + [0] * (longest - len(row)) for row in rows])
        scorer.model(input_ids=ids, attention_mask=None if bool(mask.all()) else mask, use_cache=False)
        total += sum(counted)
    return total


def _evaluate_recipe(scorer: ModelScorer, task: Task) -> int:
    """What `evaluate`'s perplexity does: texts cut to the context, padded in their order, all logits, shifted loss."""
    tokenizer, model = scorer.tokenizer, scorer.model
    lost = torch.nn.CrossEntropyLoss(reduction="none")
    texts = [piece for text in task.documents for piece in _pieces(tokenizer, text, task.context)]
    total = 0
    for low in range(0, len(texts), _EVALUATE_BATCH):
        longest = max(len(piece) for piece in texts[low : low + _EVALUATE_BATCH])
        some = texts[low : low + _EVALUATE_BATCH]
        ids = torch.tensor([[*piece, *[0] * (longest - len(piece))] for piece in some])
        mask = torch.tensor([[1] * len(piece) + [0] * (longest - len(piece)) for piece in some])
        with torch.no_grad():
            logits = model(ids, attention_mask=mask).logits
        shifted, wanted, kept = logits[..., :-1, :].contiguous(), ids[..., 1:].contiguous(), mask[..., 1:].contiguous()
        sums = (lost(shifted.transpose(1, 2), wanted) * kept).sum(1) / kept.sum(1)
        total += int(kept.sum()) if bool(torch.isfinite(sums).all()) else 0
    return total


def _pieces(tokenizer: Any, text: str, context: int) -> list[list[int]]:
    ids = tokenizer(text, add_special_tokens=False)["input_ids"]
    cut = [ids[low : low + context] for low in range(0, len(ids), context)]
    return [piece for piece in cut if len(piece) > 1]


def _harness(task: Task) -> Any:
    from lm_eval.models.huggingface import HFLM

    logging.getLogger("lm_eval").setLevel(logging.ERROR)
    return HFLM(
        pretrained=str(task.model),
        device="cpu",
        dtype="float32",
        batch_size=_LM_EVAL_BATCH,
        max_length=task.context,
        add_bos_token=False,  # or it predicts the BOS token, too, from another one that it puts before it
    )


def _rolling(harness: Any, task: Task) -> int:
    """Every token of a document is predicted, the first from a prefix token; the harness cuts the windows itself."""
    requests = [SimpleNamespace(args=(text,)) for text in task.documents]
    values = harness.loglikelihood_rolling(requests, disable_tqdm=True)
    assert len(values) == len(task.documents)
    return sum(len(harness.tok_encode(text)) for text in task.documents)
