"""A model on the workers of an engine: each loads it once, and gets a shard of windows at a time."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from assay.engines import Engine, Workers
from assay.errors import UsageError
from assay.scoring.loading import load_tokenizer, own_bos, start_of
from assay.scoring.models_and_texts import ModelOrEndpoint, ModelSpec

if TYPE_CHECKING:
    from assay.scoring.hf import ModelScorer

#: Rows of token ids, and how many of the last tokens of each count.
BatchRows = tuple[Sequence[Sequence[int]], list[int]]
ShardLosses = list[list[NDArray[np.float64]]]  # by batch, by row


@dataclass(frozen=True, slots=True)
class _Facts:
    """What the driver must know of a model that it does not load."""

    about: dict[str, Any]
    context: int
    batch_tokens: int


@dataclass(frozen=True, slots=True)
class _Scoring:
    """Work for an engine: a block is the batches of a shard, or nothing, which asks for the facts."""

    spec: ModelSpec
    load: "Callable[[ModelSpec], ModelScorer]"

    def prepare(self) -> "Callable[[Sequence[BatchRows] | None], ShardLosses | _Facts]":
        return partial(_answer, self.load(self.spec))


def _answer(scorer: "ModelScorer", block: Sequence[BatchRows] | None) -> ShardLosses | _Facts:
    if block is None:
        return _Facts(scorer.about, scorer.context, scorer.batch_tokens(None))
    return [scorer.losses(rows, counted) for rows, counted in block]


class ScorerOnWorkers:
    """What `ModelScorer` says of a model, and the losses of shards from the workers."""

    def __init__(self, spec: ModelSpec, workers: "Workers[Any, Any]") -> None:
        self.tokenizer = load_tokenizer(spec)
        self.bos, self.start = own_bos(self.tokenizer), start_of(self.tokenizer)
        self._workers = workers
        (facts,) = workers.run([None])
        self.about, self.context, self._batch_tokens = facts.about, facts.context, facts.batch_tokens

    def batch_tokens(self, asked: int | None) -> int:
        """Tokens per forward pass: as requested, or as a worker chose."""
        return self._batch_tokens if asked is None else asked

    def losses(self, rows: Sequence[Sequence[int]], counted: Sequence[int]) -> list[NDArray[np.float64]]:
        """The losses of one batch."""
        (((*found,),),) = self.shards([[(list(rows), list(counted))]])
        return found

    def shards(self, blocks: Sequence[Sequence[BatchRows]]) -> Iterator[ShardLosses]:
        """The losses of shards, in their order."""
        return self._workers.run(blocks)


@contextmanager
def scorer_on_workers(
    spec: ModelOrEndpoint, engine: Engine, load: "Callable[[ModelSpec], ModelScorer]"
) -> Iterator[ScorerOnWorkers]:
    """Load a model on every worker of an engine; they end with the `with` block."""
    if not isinstance(spec, ModelSpec):
        raise UsageError(f"{spec.url}: a server has workers of its own; raise `concurrency` instead of `workers`.")
    with engine.started(_Scoring(spec, load)) as workers:
        yield ScorerOnWorkers(spec, workers)
