"""How text is generated: settings, answers, and the random numbers of a prompt."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from math import isfinite
from typing import Any, Literal, Protocol

import numpy as np

from assay.errors import InputError, UsageError
from assay.names import shown
from assay.scoring.loading import own_bos
from assay.stats.streams import stream_key, words
from assay.stats.units import Floats

Finish = Literal["stop", "length"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Decoding:
    """How text is generated: greedily, unless a temperature says otherwise.

    With a temperature, tokens are drawn from the whole distribution (no top-k, no top-p), each prompt with random
    numbers of its own, which depend on the seed and on its item only.
    """

    temperature: float = 0.0
    seed: int = 0
    max_tokens: int = 256
    stop: tuple[str, ...] = ()  # a text ends before the first of these
    batch_size: int = 16  # prompts at a time, in a local model

    def __post_init__(self) -> None:
        if not (isfinite(self.temperature) and self.temperature >= 0):
            raise UsageError(f"temperature must be 0 (greedy) or a number above, but got {self.temperature}.")
        for name in ("max_tokens", "batch_size"):
            if getattr(self, name) < 1:
                raise UsageError(f"{name} must be at least 1, but got {getattr(self, name)}.")
        if not all(self.stop):
            raise UsageError("stop must be texts of at least one character, but got an empty one.")


@dataclass(frozen=True, slots=True)
class Continuation:
    """What a model wrote, how it ended, and how many tokens it is, if that is known."""

    text: str
    finish: Finish
    tokens: int | None


class Writer(Protocol):
    """A model that answers prompts."""

    @property
    def served_as(self) -> str | None:
        """What a server calls the model that answers."""

    def written(
        self, items: Sequence[str], prompts: Sequence[str], decoding: Decoding, done: frozenset[int]
    ) -> Iterator[dict[int, Continuation]]:
        """Yield answers by the place of their prompt, leaving out those that are done."""


def encoded_prompts(
    tokenizer: Any, items: Sequence[str], prompts: Sequence[str], decoding: Decoding, longest: int
) -> list[list[int]]:
    """The tokens of prompts, after a BOS token if the tokenizer adds one; more than a model takes are refused."""
    bos = own_bos(tokenizer)
    found = []
    for item, prompt in zip(items, prompts, strict=True):
        ids = tokenizer(prompt, add_special_tokens=False, verbose=False)["input_ids"]
        row = list(ids) if bos is None else [bos, *ids]
        if not row:
            raise InputError(f"item {shown(item)}: the tokenizer makes no token of its prompt; take it out.")
        if len(row) + decoding.max_tokens > longest:
            raise InputError(
                f"item {shown(item)}: its prompt of {len(row):,} tokens and {decoding.max_tokens:,} new ones are more "
                f"than the model's {longest:,}; give a smaller `max_tokens`, or shorter prompts."
            )
        found.append(row)
    return found


def prompt_batches(lengths: Sequence[int], size: int, *, padded: bool) -> list[list[int]]:
    """Batches of prompts, longest first, so that too little memory shows at once; not ``padded``: of one length each.

    >>> prompt_batches([3, 5, 3], 2, padded=True), prompt_batches([3, 5, 3], 2, padded=False)
    ([[1, 0], [2]], [[1], [0, 2]])
    """
    order = sorted(range(len(lengths)), key=lambda i: (-lengths[i], i))
    runs = [order] if padded else [list(same) for _, same in groupby(order, key=lengths.__getitem__)]
    return [run[low : low + size] for run in runs for low in range(0, len(run), size)]


def seed_of(seed: int, item: str) -> int:
    """64 bits for one prompt, whichever other prompts there are."""
    return stream_key(seed, f"generation/{item}")


def draws_of(seed: int, item: str, number: int) -> Floats:
    """(number,) Uniform numbers from 0 to 1 for the tokens of one prompt."""
    return (words(seed_of(seed, item), 0, number) >> np.uint64(11)).astype(np.float64) * 2.0**-53


def cut_at(text: str, stops: Sequence[str]) -> str:
    r"""The text before the first of the stops.

    >>> cut_at("one.\ntwo", [".", "\n"])
    'one'
    """
    return text[: min((place for stop in stops if (place := text.find(stop)) >= 0), default=len(text))]
