"""The runs that ship with the package, and their numbers read in another way."""

import json
from pathlib import Path
from typing import Any

from assay.data import read_table
from assay.examples import RUNS
from assay.stats.units import Floats

ARMS = ("lora", "lora-embeddings", "full")
LORA, EMBEDDINGS, FULL = ([RUNS / f"{arm}-{seed}" for seed in range(3)] for arm in ARMS)


def losses(run: Path) -> tuple[Floats, Floats]:
    table = read_table(run / "windows")
    order = table.ids.sorted.order
    return table.numbers["loss"][order], table.numbers["tokens"][order]


def last_validation(run: Path) -> dict[str, Any]:
    lines = (run / "events.jsonl").read_text(encoding="utf-8").splitlines()
    events: list[dict[str, Any]] = [json.loads(line) for line in lines]
    return [event for event in events if event["kind"] == "validation"][-1]


def mean_loss(run: Path) -> float:
    """Over tokens."""
    loss, tokens = losses(run)
    return float((loss * tokens).sum() / tokens.sum())
