"""Runs with the losses of single tokens, as `assay score --keep-tokens` writes them, and their sums by hand."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from assay.data.readers.database import copy_columns
from assay.stats.units import Floats

LAYOUT = {"context": 64, "stride": 64, "bos": False}


@dataclass(frozen=True)
class Tokens:
    """One document's tokens: which, how many stand before each in its window, and their losses."""

    document: str
    position: Sequence[int]
    loss: Sequence[float]
    window: str | None = None
    first: int = 0  # number of the first token in the document


def write_run(
    folder: Path, documents: Sequence[Tokens], *, shards: int = 2, called: str = "m", **manifest: Any
) -> Path:
    """Write a complete run; documents are dealt out to the shards in turn."""
    folder.mkdir(parents=True)
    about = {
        "schema": "assay/run/1",
        "model": {"name": called, "digests": {"tokenizer": "sha256:t"}},
        "text": {"documents": len(documents), "sha256": "sha256:x"},
        "layout": LAYOUT,
        "draw": None,
        "keep_tokens": True,
        "shards": shards,
    }
    (folder / "run.json").write_text(json.dumps(about | manifest), encoding="utf-8")
    for shard in range(shards):
        copy_columns(_columns(documents[shard::shards]), folder / f"tokens-{shard:05d}.parquet")
        (folder / f"windows-{shard:05d}.parquet").write_bytes(b"not read here")
    return folder


def _columns(documents: Sequence[Tokens]) -> Mapping[str, Any]:
    return {
        "window": np.array([d.window or f"{d.document}:0" for d in documents for _ in d.loss], dtype=object),
        "document": np.array([d.document for d in documents for _ in d.loss], dtype=object),
        "token": np.array([d.first + i for d in documents for i in range(len(d.loss))], dtype=np.int64),
        "position": np.array([p for d in documents for p in d.position], dtype=np.int64),
        "loss": np.array([y for d in documents for y in d.loss], dtype=np.float64),
    }


def story(
    seed: int, documents: int, *, longest: int = 64, shortest: int = 8, helps_until: int = 16, shift: float = 0.0
) -> list[Tokens]:
    """Documents of different lengths whose loss falls by 0.3 nats per doubling up to a position, and then no more.

    The text is the seed's; ``shift`` makes a model of it that loses so much more at every token, with noise of its own.
    """
    rng = np.random.default_rng(seed)
    own = np.random.default_rng([seed, round(shift * 1000)])
    found = []
    for i in range(documents):
        length = int(rng.integers(shortest, longest))
        position = np.arange(1, length)
        mean = 3 - 0.3 * np.log2(np.minimum(position, helps_until)) + rng.normal(0, 0.2)
        loss = mean + rng.normal(0, 0.5, length - 1) + shift + (own.normal(0, 0.1, length - 1) if shift else 0.0)
        found.append(Tokens(f"d{i:03}", position.tolist(), loss.tolist()))
    return found


def by_hand(documents: Sequence[Tokens], low: int, high: int) -> tuple[Floats, Floats]:
    """(n,) Summed loss and tokens of the positions low … high, document by document in the order of their names."""
    ordered = sorted(documents, key=lambda d: d.document)
    inside = [(np.asarray(d.position) >= low) & (np.asarray(d.position) <= high) for d in ordered]
    sums = [float(np.asarray(d.loss)[mask].sum()) for d, mask in zip(ordered, inside, strict=True)]
    return np.array(sums), np.array([float(mask.sum()) for mask in inside])
