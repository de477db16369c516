"""A model on the workers of an engine: loaded once by each, then fed shards of windows or batches of prompts."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from assay.engines import Engine, Workers
from assay.errors import UsageError
from assay.scoring.decoding import Continuation, Decoding, encoded_prompts, prompt_batches
from assay.scoring.loading import check_known, load_tokenizer, own_bos, start_of
from assay.scoring.models_and_texts import ModelOrEndpoint, ModelSpec

if TYPE_CHECKING:
    from assay.scoring.hf import ModelScorer
    from assay.scoring.hf_writer import ModelWriter

#: Rows of token ids, and how many of the last tokens of each count.
BatchRows = tuple[Sequence[Sequence[int]], list[int]]
ShardLosses = list[list[NDArray[np.float64]]]  # by batch, by row
LossesAndGreedy = tuple[list[NDArray[np.float64]], list[NDArray[np.int64]]]  # by row


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

    def prepare(self) -> "Callable[[Sequence[BatchRows] | None], tuple[ShardLosses, int | None] | _Facts]":
        return partial(_answer, self.load(self.spec))


def _answer(scorer: "ModelScorer", block: Sequence[BatchRows] | None) -> tuple[ShardLosses, int | None] | _Facts:
    """The losses of a shard, and to what batches were halved that did not fit into memory."""
    if block is None:
        return _facts(scorer)
    return [scorer.losses(rows, counted) for rows, counted in block], scorer.halved_to


def _facts(scorer: "ModelScorer") -> _Facts:
    return _Facts(scorer.about, scorer.context, scorer.batch_tokens(None))


@dataclass(frozen=True, slots=True)
class _Predicting:
    """Work for an engine: a block is a batch, or nothing, which asks for the facts."""

    spec: ModelSpec
    load: "Callable[[ModelSpec], ModelScorer]"

    def prepare(self) -> "Callable[[BatchRows | None], LossesAndGreedy | _Facts]":
        return partial(_foretold, self.load(self.spec))


def _foretold(scorer: "ModelScorer", block: BatchRows | None) -> LossesAndGreedy | _Facts:
    return _facts(scorer) if block is None else scorer.losses_and_greedy(*block)


class _OnWorkers:
    """What `ModelScorer` says of a model that is loaded elsewhere."""

    def __init__(self, spec: ModelSpec, workers: "Workers[Any, Any]") -> None:
        self.tokenizer = load_tokenizer(spec)
        self.bos, self.start = own_bos(self.tokenizer), start_of(self.tokenizer)
        self._workers = workers
        self.halved_to: int | None = None  # on any worker
        (facts,) = workers.run([None])
        self.about, self.context, self._batch_tokens = facts.about, facts.context, facts.batch_tokens

    def batch_tokens(self, asked: int | None) -> int:
        """Tokens per forward pass: as requested, or as a worker chose."""
        return self._batch_tokens if asked is None else asked


class ScorerOnWorkers(_OnWorkers):
    """The losses of shards from the workers."""

    def losses(self, rows: Sequence[Sequence[int]], counted: Sequence[int]) -> list[NDArray[np.float64]]:
        """The losses of one batch."""
        (((*found,),),) = self.shards([[(list(rows), list(counted))]])
        return found

    def shards(self, blocks: Sequence[Sequence[BatchRows]]) -> Iterator[ShardLosses]:
        """The losses of shards, in their order."""
        for losses, halved_to in self._workers.run(blocks):
            self.halved_to = min(filter(None, (self.halved_to, halved_to)), default=None)
            yield losses


class PredictorOnWorkers(_OnWorkers):
    """The losses and greedy tokens of batches from the workers."""

    def predictions(self, batches: Sequence[BatchRows]) -> Iterator[LossesAndGreedy]:
        """What `ModelScorer.losses_and_greedy` gives of every batch, in their order."""
        return self._workers.run(batches)


@contextmanager
def scorer_on_workers(
    spec: ModelOrEndpoint, engine: Engine, load: "Callable[[ModelSpec], ModelScorer]"
) -> Iterator[ScorerOnWorkers]:
    """Load a model on every worker of an engine; they end with the `with` block."""
    with engine.started(_Scoring(_of_a_model(spec), load)) as workers:
        yield ScorerOnWorkers(_of_a_model(spec), workers)


@contextmanager
def predictor_on_workers(
    spec: ModelSpec, engine: Engine, load: "Callable[[ModelSpec], ModelScorer]"
) -> Iterator[PredictorOnWorkers]:
    """The same for `PredictorOnWorkers`."""
    with engine.started(_Predicting(spec, load)) as workers:
        yield PredictorOnWorkers(spec, workers)


def _of_a_model(spec: ModelOrEndpoint) -> ModelSpec:
    if not isinstance(spec, ModelSpec):
        raise UsageError(f"{spec.url}: a server has workers of its own; raise `concurrency` instead of `workers`.")
    return spec


# ----------------------------------------------------------------------------------------------------------- generating

#: Items of prompts, and the tokens of each.
BatchPrompts = tuple[Sequence[str], Sequence[Sequence[int]]]


@dataclass(frozen=True, slots=True)
class _WriterFacts:
    """What the driver must know of a model that writes elsewhere."""

    context: int
    known: int
    padded: bool


@dataclass(frozen=True, slots=True)
class _Generating:
    """Work for an engine: a block is a batch of prompts, or nothing, which asks for the facts."""

    spec: ModelSpec
    decoding: Decoding
    load: "Callable[[ModelSpec], ModelWriter]"

    def prepare(self) -> "Callable[[BatchPrompts | None], list[Continuation] | _WriterFacts]":
        return partial(_written, self.load(self.spec), self.decoding)


def _written(
    writer: "ModelWriter", decoding: Decoding, block: BatchPrompts | None
) -> list[Continuation] | _WriterFacts:
    if block is None:
        return _WriterFacts(writer.scorer.context, writer.scorer.known, writer.padded)
    return writer.answers(*block, decoding)


class WriterOnWorkers:
    """A model that answers prompts on the workers of an engine, in the batches of `ModelWriter`."""

    served_as = None

    def __init__(self, spec: ModelSpec, workers: "Workers[Any, Any]") -> None:
        self._name, self._tokenizer, self._workers = spec.name, load_tokenizer(spec), workers

    def written(
        self, items: Sequence[str], prompts: Sequence[str], decoding: Decoding, done: frozenset[int]
    ) -> Iterator[dict[int, Continuation]]:
        """Yield the answers of each batch that is not done, in the order of the batches."""
        (facts,) = self._workers.run([None])
        rows = encoded_prompts(self._tokenizer, items, prompts, decoding, facts.context)
        check_known(self._name, facts.known, rows)
        every = prompt_batches([len(row) for row in rows], decoding.batch_size, padded=facts.padded)
        batches = [batch for batch in every if not done.issuperset(batch)]
        blocks = [([items[i] for i in batch], [rows[i] for i in batch]) for batch in batches]
        for batch, found in zip(batches, self._workers.run(blocks), strict=True):
            yield dict(zip(batch, found, strict=True))


@contextmanager
def writer_on_workers(
    spec: ModelOrEndpoint, engine: Engine, decoding: Decoding, load: "Callable[[ModelSpec], ModelWriter]"
) -> Iterator[WriterOnWorkers]:
    """Load a model that writes on every worker of an engine; they end with the `with` block."""
    with engine.started(_Generating(_of_a_model(spec), decoding, load)) as workers:
        yield WriterOnWorkers(_of_a_model(spec), workers)
