"""Cut text into windows: which tokens are fed together, and which of them count. Pure code, no model.

``rolling``, the default, is lm-eval's rule (`get_rolling_token_windows`): every token of a document is predicted once.
The model is fed up to ``context`` tokens and predicts the token after each. A window goes on where the one before it
ended, with that one's last token as its first context; the last window of a document reaches back to a full context.
With a stride every window predicts that many tokens and reaches back likewise. Only the first token of a document is
never predicted, unless a start token (BOS) stands before it.

``fresh``, the older rule: windows of ``context`` tokens, each beginning anew, with a BOS token where the tokenizer puts
one. The first token of a window has no context and is not predicted. With a stride below the context a window repeats
the end of the one before as context.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal, Protocol, get_args

import numpy as np
from numpy.typing import NDArray

from assay.errors import InputError, UsageError
from assay.stats.streams import stream_key, words

SHARD_TOKENS = 1 << 16  # about a minute of a small model on a CPU, a second of a large one on a GPU
LONGEST_DEFAULT = 2048  # tokens of context, where the model allows more

DrawnSplit = Literal["preview", "final"]
Prefix = Literal["auto", "none"]
Cut = Literal["rolling", "fresh"]


@dataclass(frozen=True, slots=True)
class Window:
    """Tokens start … stop − 1 of a document, of which first … stop − 1 are predicted."""

    document: int
    start: int
    stop: int
    first: int
    split: DrawnSplit | None = None

    @property
    def length(self) -> int:
        return self.stop - self.start

    @property
    def tokens(self) -> int:
        """How many tokens count."""
        return self.stop - self.first


@dataclass(frozen=True, slots=True)
class Layout:
    """Context, stride, start token and rule: everything that determines which tokens count."""

    context: int
    stride: int | None = None  # None: as long as the room, so that windows do not overlap
    bos: bool = False  # a start token stands before a document (rolling) or before every window (fresh)
    cut: Cut = "rolling"

    def __post_init__(self) -> None:
        if self.cut not in get_args(Cut):
            raise UsageError(f"cut must be one of {', '.join(get_args(Cut))}, but got {self.cut!r}.")
        least = 2 + (self.bos and self.cut == "fresh")
        if self.context < least:
            raise UsageError(f"context must be at least {least} tokens, but got {self.context}.")
        if self.stride is not None and not 1 <= self.stride <= self.context:
            raise UsageError(f"stride must be from 1 to the context of {self.context} tokens, but got {self.stride}.")

    @property
    def room(self) -> int:
        """Tokens of a full window: the predicted ones (rolling), or all of its text (fresh)."""
        return self.context if self.cut == "rolling" else self.context - self.bos

    @property
    def step(self) -> int:
        """Tokens from one window to the next."""
        return min(self.stride or self.room, self.room)

    @property
    def overlaps(self) -> bool:
        return self.step < self.room

    def is_full(self, window: Window) -> bool:
        return (window.tokens if self.cut == "rolling" else window.length) == self.room

    def mark(self, window: Window) -> int:
        """The token a window is named after: its first predicted one, or its first one (fresh)."""
        return window.first if self.cut == "rolling" else window.start

    def begin(self, window: Window) -> int:
        """Where a window's own tokens begin, after those repeated as context."""
        return window.first if self.cut == "rolling" or self.overlaps else window.start

    def row(self, ids: NDArray[np.int64], window: Window, start_token: int | None) -> list[int]:
        """The token ids of a window; the last ones are predicted, and the very last is not fed to the model."""
        row: list[int] = ids[window.start : window.stop].tolist()
        starts = self.cut == "fresh" or window.first == 0
        return [start_token, *row] if start_token is not None and starts else row


def windows_of(lengths: Sequence[int], layout: Layout) -> list[Window]:
    """The windows of documents of these lengths, in order.

    >>> [(w.start, w.stop, w.first) for w in windows_of([10], Layout(context=4))]
    [(0, 5, 1), (4, 9, 5), (5, 10, 9)]
    >>> [(w.start, w.stop, w.first) for w in windows_of([10], Layout(context=4, cut="fresh"))]
    [(0, 4, 1), (4, 8, 5), (8, 10, 9)]
    """
    cut = _rolling if layout.cut == "rolling" else _fresh
    return [window for index, length in enumerate(lengths) for window in cut(index, length, layout)]


def _rolling(document: int, length: int, layout: Layout) -> Iterator[Window]:
    fed = layout.context
    done = 0 if layout.bos else 1  # tokens before this one have had their turn
    stop = min(done + fed, length)
    while done < stop:
        yield Window(document, max(0, stop - fed - 1), stop, done)
        done, stop = stop, min(stop + layout.step, length)


def _fresh(document: int, length: int, layout: Layout) -> Iterator[Window]:
    start, done = 0, 0  # done: tokens before this one have had their turn
    while done < length:
        stop = min(start + layout.room, length)
        first = done if start < done else start + (0 if start == 0 and layout.bos else 1)
        if first < stop:
            yield Window(document, start, stop, first)
        start, done = start + layout.step, stop


def drawn_windows(windows: Sequence[Window], layout: Layout, preview: int, final: int, seed: int) -> list[Window]:
    """Draw preview and final windows without replacement, full ones if there are enough.

    They share no predicted token.
    """
    if layout.overlaps:
        raise UsageError("`draw` takes windows that do not overlap; leave out `stride`.")
    if min(preview, final) < 1:
        raise UsageError(f"`draw` must take at least 1 preview and 1 final window, but got {preview} and {final}.")
    wanted = preview + final
    full = [window for window in windows if layout.is_full(window)]
    pool = full if len(full) >= wanted else list(windows)
    if len(pool) < wanted:
        raise InputError(
            f"the text has {len(pool)} windows of {layout.context} tokens, {wanted} are needed; "
            "give more text, a shorter `context`, or `draw` fewer."
        )
    order = np.argsort(words(stream_key(seed, "windows"), 0, len(pool)), kind="stable")[:wanted].tolist()
    chosen = [(pool[place], "preview" if rank < preview else "final") for rank, place in enumerate(order)]
    marked = [replace(window, split="preview" if name == "preview" else "final") for window, name in chosen]
    return sorted(marked, key=lambda window: (window.document, window.first))


def batches_of(windows: Sequence[Window], budget: int) -> list[list[int]]:
    """Batches of window indices, longest first, with at most ``budget`` tokens and little padding."""
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What to score of a text, and in what portions."""

    context: int | None = None
    stride: int | None = None
    cut: Cut = "rolling"  # how documents become windows
    prefix: Prefix = "auto"  # the start token before a document
    draw: tuple[int, int] | None = None  # preview and final windows to draw
    seed: int = 0
    batch_tokens: int | None = None  # tokens in a forward pass; None: as the model's size allows
    keep_tokens: bool = False


class Starts(Protocol):
    """The start tokens that a scorer knows."""

    @property
    def bos(self) -> int | None: ...  # the token that its tokenizer puts before a text by itself
    @property
    def start(self) -> int | None: ...  # the tokenizer's BOS token, or else its EOS token


def start_token(plan: Plan, scorer: Starts) -> int | None:
    """The token before a document, or before every window under the older rule."""
    if plan.prefix not in get_args(Prefix):
        raise UsageError(f"prefix must be one of {', '.join(get_args(Prefix))}, but got {plan.prefix!r}.")
    if plan.prefix == "none":
        return None
    return scorer.start if plan.cut == "rolling" else scorer.bos


def layout_for(plan: Plan, model_context: int, *, bos: bool) -> Layout:
    """The layout that the plan and the model's context allow."""
    context = min(model_context, LONGEST_DEFAULT) if plan.context is None else plan.context
    if context > model_context:
        raise UsageError(
            f"context must be at most the model's {model_context} tokens, but got {context}; `rope_scaling='yarn:8'` "
            "stretches rotary positions."
        )
    return Layout(context, plan.stride, bos, plan.cut)


def chosen_windows(lengths: Sequence[int], layout: Layout, plan: Plan) -> list[Window]:
    """The windows to score of documents of these lengths, in the order of the text."""
    windows = windows_of(lengths, layout)
    if not windows:
        raise InputError("the text has no token that can be predicted; give longer documents.")
    if plan.draw is None:
        return windows
    return drawn_windows(windows, layout, *plan.draw, plan.seed)


def shards_of(windows: Sequence[Window], budget: int) -> list[list[list[int]]]:
    """Group batches into shards, the unit that is written at once and resumed."""
    shards: list[list[list[int]]] = []
    size = SHARD_TOKENS
    for batch in batches_of(windows, budget):
        if size >= SHARD_TOKENS:
            shards.append([])
            size = 0
        shards[-1].append(batch)
        size += sum(windows[i].length for i in batch)
    return shards
