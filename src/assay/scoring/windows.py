"""What is scored: which tokens are fed together, and which of them count. Pure code, no model.

A document of L tokens is covered by windows of at most ``room`` tokens (the context, less one for a BOS token where
the model wants one). With a stride equal to the room the windows do not overlap; with a smaller stride each window
repeats the last ``room − stride`` tokens of the one before as context. Every token is predicted at most once. Never
predicted are the first token of a document, unless a BOS stands before it, and the first token of every later
window that has no context.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from assay.errors import InputError, UsageError
from assay.stats.streams import stream_key, words

Split = Literal["preview", "final"]


@dataclass(frozen=True, slots=True)
class Window:
    """Tokens start … stop − 1 of a document, of which first … stop − 1 are predicted."""

    document: int
    start: int
    stop: int
    first: int
    split: Split | None = None

    @property
    def length(self) -> int:
        return self.stop - self.start

    @property
    def tokens(self) -> int:
        """How many tokens count."""
        return self.stop - self.first


@dataclass(frozen=True, slots=True)
class Layout:
    """Context, stride and BOS: everything that decides which tokens count."""

    context: int
    stride: int | None = None  # None: as long as the room, so that windows do not overlap
    bos: bool = False

    def __post_init__(self) -> None:
        if self.context < 2 + self.bos:
            raise UsageError(f"context must be at least {2 + self.bos} tokens, but got {self.context}.")
        if self.stride is not None and not 1 <= self.stride <= self.context:
            raise UsageError(f"stride must be from 1 to the context of {self.context} tokens, but got {self.stride}.")

    @property
    def room(self) -> int:
        """Tokens of text in a window."""
        return self.context - self.bos

    @property
    def step(self) -> int:
        """Tokens from the start of a window to the start of the next."""
        return min(self.stride or self.room, self.room)

    @property
    def overlaps(self) -> bool:
        return self.step < self.room


def windows_of(lengths: Sequence[int], layout: Layout) -> list[Window]:
    """The windows of documents of these lengths, in order.

    >>> [(w.start, w.stop, w.first) for w in windows_of([10], Layout(context=4))]
    [(0, 4, 1), (4, 8, 5), (8, 10, 9)]
    >>> [(w.start, w.stop, w.first) for w in windows_of([7], Layout(context=4, stride=2))]
    [(0, 4, 1), (2, 6, 4), (4, 7, 6)]
    """
    return [window for index, length in enumerate(lengths) for window in _of_document(index, length, layout)]


def _of_document(document: int, length: int, layout: Layout) -> Iterator[Window]:
    start, done = 0, 0  # done: tokens before this one have had their turn
    while done < length:
        stop = min(start + layout.room, length)
        first = done if start < done else start + (0 if start == 0 and layout.bos else 1)
        if first < stop:
            yield Window(document, start, stop, first)
        start, done = start + layout.step, stop


def drawn_windows(windows: Sequence[Window], layout: Layout, preview: int, final: int, seed: int) -> list[Window]:
    """Preview and final windows drawn without replacement, full windows where there are enough; none overlap."""
    if layout.overlaps:
        raise UsageError("--windows draws windows that do not overlap; leave out --stride.")
    wanted = preview + final
    full = [window for window in windows if window.length == layout.room]
    pool = full if len(full) >= wanted else list(windows)
    if len(pool) < wanted:
        raise InputError(
            f"the text has {len(pool)} windows of {layout.context} tokens, {wanted} are needed; "
            "give more text, a shorter --context, or fewer --windows."
        )
    order = np.argsort(words(stream_key(seed, "windows"), 0, len(pool)), kind="stable")[:wanted].tolist()
    chosen = [(pool[place], "preview" if rank < preview else "final") for rank, place in enumerate(order)]
    marked = [replace(window, split="preview" if name == "preview" else "final") for window, name in chosen]
    return sorted(marked, key=lambda window: (window.document, window.start))


def batches_of(windows: Sequence[Window], budget: int) -> list[list[int]]:
    """Indices of windows by length, longest first: a batch of at most ``budget`` tokens hardly needs padding."""
    order = sorted(range(len(windows)), key=lambda i: (-windows[i].length, i))
    batches: list[list[int]] = []
    for index in order:
        longest = windows[batches[-1][0]].length if batches else 0
        fits = batches and (len(batches[-1]) + 1) * longest <= budget
        alike = batches and windows[index].length >= 0.9 * longest
        if fits and alike:
            batches[-1].append(index)
        else:
            batches.append([index])
    return batches
