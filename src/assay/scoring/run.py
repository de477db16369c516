"""Run a model over text and write a run that the other verbs read."""

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from math import exp
from pathlib import Path
from typing import Any, Literal, Protocol, get_args

import numpy as np
from numpy.typing import NDArray

from assay.data import Panel, read_table
from assay.data.runs import Run, create_or_resume, finish
from assay.errors import InputError, UsageError
from assay.results.words import count
from assay.scoring.texts import Document, texts_digest
from assay.scoring.windows import Cut, Layout, Window, batches_of, drawn_windows, windows_of
from assay.version import VERSION

SHARD_TOKENS = 1 << 16  # about a minute of a small model on a CPU, a second of a large one on a GPU
LONGEST_DEFAULT = 2048  # tokens of context, where the model allows more

Prefix = Literal["auto", "none"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What to score of a text, and in which portions."""

    context: int | None = None
    stride: int | None = None
    cut: Cut = "rolling"  # how documents become windows
    prefix: Prefix = "auto"  # the start token before a document
    draw: tuple[int, int] | None = None  # preview and final windows to draw
    seed: int = 0
    batch_tokens: int | None = None  # tokens in a forward pass; None: as the model's size allows
    keep_tokens: bool = False


@dataclass(frozen=True, slots=True)
class Encoded:
    """A document as tokens; ``ends`` says where, in characters, each token ends."""

    document: Document
    ids: NDArray[np.int64]
    ends: NDArray[np.int64]

    def size(self, first: int, stop: int) -> tuple[int, int]:
        """Bytes and characters of the tokens first … stop − 1."""
        low = int(self.ends[first - 1]) if first else 0
        text = self.document.text[low : int(self.ends[stop - 1])]
        return len(text.encode()), len(text)


def summary_of(run: Run) -> str:
    """The loss of a run in one line."""
    panel = Panel.from_tables([read_table(run)], cluster="document")
    loss, tokens = panel.estimate(0), int(panel.denominators.sum())
    counts = f"{count(panel.n, 'window')} of {count(panel.n_clusters or 0, 'document')}, {count(tokens, 'token')}"
    return f"loss {loss:.4f} nats per token, perplexity {exp(loss):.4f} ({counts})"


Progress = Callable[[int, int], None]  # tokens done, tokens in all


class Starts(Protocol):
    """What a scorer knows of tokens before a text."""

    @property
    def bos(self) -> int | None: ...  # the token that its tokenizer puts before a text by itself
    @property
    def start(self) -> int | None: ...  # the tokenizer's BOS token, or else its EOS token


def start_token(plan: Plan, scorer: Starts) -> int | None:
    """The token before a document, or under the older rule before every window."""
    if plan.prefix not in get_args(Prefix):
        raise UsageError(f"prefix must be one of {', '.join(get_args(Prefix))}, but got {plan.prefix!r}.")
    if plan.prefix == "none":
        return None
    return scorer.start if plan.cut == "rolling" else scorer.bos


def layout_for(plan: Plan, model_context: int, *, bos: bool) -> Layout:
    """The layout that the plan and the model's context allow."""
    context = min(model_context, LONGEST_DEFAULT) if plan.context is None else plan.context
    if context > model_context:
        raise UsageError(f"context must be at most the model's {model_context} tokens, but got {context}.")
    return Layout(context, plan.stride, bos, plan.cut)


def chosen_windows(encoded: Sequence[Encoded], layout: Layout, plan: Plan) -> list[Window]:
    """The windows to score, in the order of the text."""
    windows = windows_of([len(document.ids) for document in encoded], layout)
    if not windows:
        raise InputError("the text has no token that can be predicted; give longer documents.")
    if plan.draw is None:
        return windows
    return drawn_windows(windows, layout, *plan.draw, plan.seed)


def shards_of(windows: Sequence[Window], budget: int) -> list[list[list[int]]]:
    """Batches gathered into shards: the unit that is written whole and resumed."""
    shards: list[list[list[int]]] = []
    size = SHARD_TOKENS
    for batch in batches_of(windows, budget):
        if size >= SHARD_TOKENS:
            shards.append([])
            size = 0
        shards[-1].append(batch)
        size += sum(windows[i].length for i in batch)
    return shards


def manifest_of(about: dict[str, Any], documents: Sequence[Document], layout: Layout, plan: Plan) -> dict[str, Any]:
    """Everything that decides a number of the run."""
    return {
        **about,
        "assay": VERSION,
        "text": {"documents": len(documents), "sha256": texts_digest(documents)},
        "layout": asdict(layout) | {"stride": layout.step},
        "draw": None if plan.draw is None else {"preview": plan.draw[0], "final": plan.draw[1], "seed": plan.seed},
        "batch_tokens": plan.batch_tokens,
        "keep_tokens": plan.keep_tokens,
    }


#: Rows of token ids, and how many of the last tokens of each count; the losses of those.
Losses = Callable[[Sequence[Sequence[int]], Sequence[int]], list[NDArray[np.float64]]]


def score_encoded(
    encoded: Sequence[Encoded],
    losses: Losses,
    folder: Path,
    *,
    about: dict[str, Any],
    layout: Layout,
    plan: Plan,
    bos: int | None,
    overwrite: bool = False,
    progress: Progress | None = None,
) -> Run:
    """Score what is missing of a run, shard by shard."""
    windows = chosen_windows(encoded, layout, plan)
    assert plan.batch_tokens is not None  # chosen by whoever knows the model
    shards = shards_of(windows, plan.batch_tokens)
    manifest = manifest_of(about, [e.document for e in encoded], layout, plan) | {"shards": len(shards)}
    run = create_or_resume(folder, manifest, overwrite=overwrite)
    missing = set(run.missing())
    total = sum(window.tokens for window in windows)
    done = sum(windows[i].tokens for n, shard in enumerate(shards) if n not in missing for b in shard for i in b)
    for number in sorted(missing):
        found: dict[int, NDArray[np.float64]] = {}
        for batch in shards[number]:
            rows = [layout.row(encoded[windows[i].document].ids, windows[i], bos) for i in batch]
            for i, values in zip(batch, losses(rows, [windows[i].tokens for i in batch]), strict=True):
                found[i] = _finite(values, encoded, windows[i], layout)
            done += sum(windows[i].tokens for i in batch)
            if progress is not None:
                progress(done, total)
        _write(run, number, encoded, windows, found, layout=layout, keep_tokens=plan.keep_tokens)
    return finish(run)


def _finite(
    losses: NDArray[np.float64], encoded: Sequence[Encoded], window: Window, layout: Layout
) -> NDArray[np.float64]:
    """The losses, unless one is infinite or not a number: such a token is never averaged."""
    good = np.isfinite(losses)
    if not good.all():
        token = window.first + int(np.argmin(good))
        raise InputError(
            f"{_window_id(encoded, window, layout)}: token {token} has the loss {losses[token - window.first]}; "
            "score with `dtype='float32'`, or find out why the model gives it no probability."
        )
    return losses


def _write(
    run: Run,
    number: int,
    encoded: Sequence[Encoded],
    windows: Sequence[Window],
    found: dict[int, NDArray[np.float64]],
    *,
    layout: Layout,
    keep_tokens: bool,
) -> None:
    order = sorted(found)
    if keep_tokens:  # first, so that a shard of windows is never without its tokens
        run.write_shard(number, _token_columns(order, encoded, windows, found, layout), "tokens")
    run.write_shard(number, _window_columns(order, encoded, windows, found, layout))


def _window_id(encoded: Sequence[Encoded], window: Window, layout: Layout) -> str:
    return f"{encoded[window.document].document.name}:{layout.mark(window)}"


def _window_columns(
    order: Sequence[int],
    encoded: Sequence[Encoded],
    windows: Sequence[Window],
    found: dict[int, NDArray[np.float64]],
    layout: Layout,
) -> dict[str, NDArray[Any]]:
    chosen = [windows[i] for i in order]
    sizes = [encoded[w.document].size(w.first, w.stop) for w in chosen]
    columns: dict[str, NDArray[Any]] = {
        "window": np.array([_window_id(encoded, w, layout) for w in chosen], dtype=object),
        "document": np.array([encoded[w.document].document.name for w in chosen], dtype=object),
        "start": np.array([layout.begin(w) for w in chosen], dtype=np.int64),
        "stop": np.array([w.stop for w in chosen], dtype=np.int64),
        "tokens": np.array([w.tokens for w in chosen], dtype=np.int64),
        "bytes": np.array([size[0] for size in sizes], dtype=np.int64),
        "chars": np.array([size[1] for size in sizes], dtype=np.int64),
        "loss": np.array([float(found[i].sum()) / w.tokens for i, w in zip(order, chosen, strict=True)]),
    }
    if chosen and chosen[0].split is not None:
        columns["split"] = np.array([w.split for w in chosen], dtype=object)
    return columns


def _token_columns(
    order: Sequence[int],
    encoded: Sequence[Encoded],
    windows: Sequence[Window],
    found: dict[int, NDArray[np.float64]],
    layout: Layout,
) -> dict[str, NDArray[Any]]:
    chosen = [windows[i] for i in order]
    return {
        "window": np.concatenate([np.full(w.tokens, _window_id(encoded, w, layout), dtype=object) for w in chosen]),
        "document": np.concatenate(
            [np.full(w.tokens, encoded[w.document].document.name, dtype=object) for w in chosen]
        ),
        "token": np.concatenate([np.arange(w.first, w.stop) for w in chosen]),
        "position": np.concatenate([np.arange(w.first, w.stop) - w.start for w in chosen]),
        "loss": np.concatenate([found[i] for i in order]),
    }
